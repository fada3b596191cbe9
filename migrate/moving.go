package migrate

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/hotsplit/hotsplit/fanout"
)

// movingSet is the content of the MOVING items: the rows whose key may change
// right now. Rows beyond what one item holds go to MOVING#1 and so on, all of
// one version.
type movingSet struct {
	Format  int            `json:"format"`
	Version int64          `json:"version"`
	Token   int64          `json:"token"`
	Rows    []movingRowDoc `json:"rows"`
}

// movingRowDoc is one row: the base key's values in the order of the record's
// key attributes, and the owner.
type movingRowDoc struct {
	Key   []types.AttributeValue `json:"k"`
	Owner string                 `json:"o"`
}

// movingBytesMax is how much of an item's 400 KB its rows may take.
const movingBytesMax = 320 << 10

// errSetBehind says that the moving set is older than the record claims, which a
// torn read can show. Read again.
var errSetBehind = errors.New("migrate: moving set is behind the record")

func movingName(part int) string {
	if part == 0 {
		return movingItem
	}
	return fmt.Sprintf("%s#%d", movingItem, part)
}

// readMoving fetches the moving set that the mark names, or a later one.
func (s shelf) readMoving(ctx context.Context, client ReadAPI, mark MovingMark) ([]fanout.MovingRow, error) {
	if mark.Rows == 0 {
		return nil, nil
	}
	var rows []fanout.MovingRow
	var version int64
	for part := range max(mark.Items, 1) {
		item, err := s.get(ctx, client, movingName(part))
		if err != nil {
			return nil, err
		}
		set, err := decodeMoving(item)
		if err != nil {
			return nil, fmt.Errorf("read moving set of %s: %w", s.prefix, err)
		}
		if set.Version < mark.Version || (part > 0 && set.Version != version) {
			return nil, fmt.Errorf("%w: version %d, the record says %d", errSetBehind, set.Version, mark.Version)
		}
		version = set.Version
		for _, row := range set.Rows {
			rows = append(rows, fanout.MovingRow{Key: s.keyOf(row), Owner: row.Owner})
		}
	}
	return rows, nil
}

func (s shelf) keyOf(row movingRowDoc) Item {
	key := make(Item, len(s.key))
	for i, name := range s.key {
		if i < len(row.Key) {
			key[name] = row.Key[i]
		}
	}
	return key
}

func (s shelf) docOf(row fanout.MovingRow) movingRowDoc {
	doc := movingRowDoc{Owner: row.Owner, Key: make([]types.AttributeValue, len(s.key))}
	for i, name := range s.key {
		doc.Key[i] = row.Key[name]
	}
	return doc
}

// The set is coded by hand: it is the largest item and read by every member each
// time it changes.
func (m movingSet) encode() types.AttributeValue {
	rows := make([]types.AttributeValue, len(m.Rows))
	for i, r := range m.Rows {
		rows[i] = &types.AttributeValueMemberM{Value: Item{
			"k": &types.AttributeValueMemberL{Value: r.Key},
			"o": str(r.Owner),
		}}
	}
	return &types.AttributeValueMemberM{Value: Item{
		"format": num(int64(m.Format)), "version": num(m.Version), "token": num(m.Token),
		"rows": &types.AttributeValueMemberL{Value: rows},
	}}
}

func decodeMoving(item Item) (movingSet, error) {
	var set movingSet
	b, ok := item[body].(*types.AttributeValueMemberM)
	if !ok {
		return set, errSetBehind
	}
	for name, target := range map[string]any{"format": &set.Format, "version": &set.Version, "token": &set.Token} {
		if err := attributevalue.Unmarshal(b.Value[name], target); err != nil {
			return set, fmt.Errorf("%s: %w", name, err)
		}
	}
	if set.Format != Format {
		return set, fmt.Errorf("%w: moving set of format %d", ErrFormat, set.Format)
	}
	rows, _ := b.Value["rows"].(*types.AttributeValueMemberL)
	if rows == nil {
		return set, nil
	}
	for _, v := range rows.Value {
		m, ok := v.(*types.AttributeValueMemberM)
		if !ok {
			return set, fmt.Errorf("%w: a moving row is not a map", ErrFormat)
		}
		owner, _ := textOf(m.Value["o"])
		key, _ := m.Value["k"].(*types.AttributeValueMemberL)
		if key == nil {
			return set, fmt.Errorf("%w: a moving row has no key", ErrFormat)
		}
		set.Rows = append(set.Rows, movingRowDoc{Key: key.Value, Owner: owner})
	}
	return set, nil
}

// bytesOf estimates what a row takes of a MOVING item.
func bytesOf(row fanout.MovingRow) int {
	size := len(row.Owner) + 16
	for _, v := range row.Key {
		_, text := scalar(v)
		size += len(text) + 8
	}
	return size
}
