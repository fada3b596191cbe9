package demo

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/hotsplit/hotsplit/shard"
)

// item is a row as the SDK spells it.
type item = map[string]types.AttributeValue

// archivedShare is the ADR's production: 60 of 239 sagas are archived.
const archivedShare = 60.0 / 239

// itemBytes is about what a saga of the ADR's table weighs.
const itemBytes = 2000

var statuses = []string{"opened", "preparing", "prepared", "offered", "negotiating", "accepted"}

// sagas makes rows of the ADR's shape over a number of persons.
type sagas struct {
	random *rand.Rand
	layout shard.Layout
	opened time.Time
}

// person is the owner of the i-th row: every person has one before anybody has two.
func person(i, persons int) string { return fmt.Sprintf("person-%06d", i%persons) }

func (s *sagas) row(id, owner string, archived bool) (item, error) {
	s.opened = s.opened.Add(time.Duration(1+s.random.IntN(3600)) * time.Second)
	sortKey, err := s.layout.SortKeyOf(owner, s.opened)
	if err != nil {
		return nil, err
	}
	it := item{
		"PK": text("RSAGA#" + id), "SK": text("META"), "entityType": text("RenewalSaga"),
		"personId": text(owner), "leaseId": text("lease-" + id), "propertyId": text(fmt.Sprintf("property-%02d", s.random.IntN(24))),
		"status": text(statuses[s.random.IntN(len(statuses))]), "archived": &types.AttributeValueMemberBOOL{Value: archived},
		"openedAt": text(s.opened.UTC().Format(time.RFC3339)), "version": number(1),
		"offer": &types.AttributeValueMemberM{Value: item{
			"monthlyRent": number(900 + s.random.IntN(2600)), "months": number(12), "currency": text("USD"),
		}},
		"contacts":            &types.AttributeValueMemberSS{Value: []string{owner + "@example.com", "office@example.com"}},
		s.layout.SortKey:      text(sortKey),
		s.layout.PartitionKey: text(s.layout.Key(owner)),
	}
	it["notes"] = text(s.prose(itemBytes - 450))
	return it, nil
}

func (s *sagas) prose(bytes int) string {
	words := strings.Fields("renewal terms sent to the resident who asked about parking and the second bedroom before the notice period ends")
	var b strings.Builder
	for b.Len() < bytes {
		b.WriteString(words[s.random.IntN(len(words))])
		b.WriteByte(' ')
	}
	return b.String()[:bytes]
}

// synthetic makes rows: the ADR's 179 open and 60 archived ones scaled to count.
func synthetic(count, persons int, layout shard.Layout, random *rand.Rand) ([]item, error) {
	s := &sagas{random: random, layout: layout, opened: time.Date(2026, 5, 22, 6, 0, 0, 0, time.UTC)}
	rows := make([]item, 0, count)
	open := count - int(float64(count)*archivedShare+0.5)
	for i := range count {
		row, err := s.row(fmt.Sprintf("%06d", i), person(i, persons), i >= open)
		if err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
	return rows, nil
}

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

func number(n int) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.Itoa(n)}
}

func textOf(it item, name string) string {
	s, ok := it[name].(*types.AttributeValueMemberS)
	if !ok {
		return ""
	}
	return s.Value
}

// boolOf is false where the attribute is missing.
func boolOf(it item, name string) bool {
	b, ok := it[name].(*types.AttributeValueMemberBOOL)
	return ok && b.Value
}

// exportLineBytesMax is room for an item of 400 KB spelled in base64 and JSON.
const exportLineBytesMax = 4 << 20

// ErrInput is wrapped by every error about an export file that cannot be used.
// Do not retry; the error names the line.
var ErrInput = errors.New("input")

// ReadExport reads rows in DynamoDB's export format, one {"Item":{…}} a line,
// gzipped or not. Values keep their exact spelling.
func ReadExport(r io.Reader) ([]item, error) {
	buffered := bufio.NewReader(r)
	if magic, _ := buffered.Peek(2); bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		unzipped, err := gzip.NewReader(buffered)
		if err != nil {
			return nil, fmt.Errorf("%w: gzip: %w", ErrInput, err)
		}
		buffered = bufio.NewReader(unzipped)
	}
	lines := bufio.NewScanner(buffered)
	lines.Buffer(nil, exportLineBytesMax)
	var rows []item
	for n := 1; lines.Scan(); n++ {
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		row, err := exportedItem(lines.Bytes())
		if err != nil {
			return nil, fmt.Errorf("%w: line %d: %w", ErrInput, n, err)
		}
		rows = append(rows, row)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%w: line %d: %w", ErrInput, len(rows)+1, err)
	}
	if len(rows) == 0 {
		return nil, fmt.Errorf(`%w: no rows; want one {"Item":{…}} a line`, ErrInput)
	}
	return rows, nil
}

func exportedItem(line []byte) (item, error) {
	var exported struct{ Item json.RawMessage }
	if err := json.Unmarshal(line, &exported); err != nil {
		return nil, err
	}
	if exported.Item == nil {
		return nil, errors.New(`no "Item" member`)
	}
	row, err := attributevalue.UnmarshalMapJSON(exported.Item)
	if err != nil {
		return nil, fmt.Errorf("member Item: %w", err)
	}
	return row, nil
}

// WriteExport writes rows in the format that ReadExport reads, members and sets
// sorted, so that two exports of equal rows are equal bytes.
func WriteExport(w io.Writer, rows []item) error {
	out := bufio.NewWriter(w)
	for _, row := range rows {
		spelled, err := canonicalItem(row)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "{\"Item\":%s}\n", spelled)
	}
	return out.Flush()
}
