package fanout_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/hotsplit/hotsplit/fanout"
	"github.com/hotsplit/hotsplit/shard"
)

var rewrite = flag.Bool("rewrite", false, "write golden files anew")

const readingDoc = "../docs/reading.md"

// pattern is one line of the table in docs/reading.md.
type pattern struct {
	name string
	read func(*fanout.Reader, fanout.Query) (calls int, err error)
}

// patterns are the reads of the ADR's application.
func patterns(t *testing.T, table collection) []pattern {
	var fifty []string
	for i := range 50 {
		fifty = append(fifty, table.rows[i*120/50].owner)
	}
	collect := func(items []fanout.Item, err error) (int, error) { return 1, err }
	pages := func(limit int) func(*fanout.Reader, fanout.Query) (int, error) {
		return func(r *fanout.Reader, q fanout.Query) (n int, err error) {
			for cursor := ""; ; {
				p, err := r.Page(t.Context(), fanout.PageRequest{Query: q, Limit: limit, Cursor: cursor})
				if n++; err != nil || p.Next == "" {
					return n, err
				}
				cursor = p.Next
			}
		}
	}
	return []pattern{
		{"`Owner`: one person, 2 rows", func(r *fanout.Reader, q fanout.Query) (int, error) {
			return collect(fanout.Collect(r.Owner(t.Context(), fifty[1], q)))
		}},
		{"50 × `Owner`: the list page without `Owners`", func(r *fanout.Reader, q fanout.Query) (int, error) {
			for _, owner := range fifty {
				if _, err := fanout.Collect(r.Owner(t.Context(), owner, q)); err != nil {
					return 1, err
				}
			}
			return 1, nil
		}},
		{"`Owners`: the list page, 50 persons", func(r *fanout.Reader, q fanout.Query) (int, error) {
			return collect(fanout.Collect(r.Owners(t.Context(), fifty, q)))
		}},
		{"`All`: a sweep, 239 rows", func(r *fanout.Reader, q fanout.Query) (int, error) {
			return collect(fanout.Collect(r.All(t.Context(), q)))
		}},
		{"`Count`", func(r *fanout.Reader, q fanout.Query) (int, error) {
			_, err := r.Count(t.Context(), q)
			return 1, err
		}},
		{"`Page` of 10, on average", pages(10)},
		{"`Page` of 25, on average", pages(25)},
		{"`Page` of 50, on average", pages(50)},
		{"`Page` of 100, on average", pages(100)},
	}
}

// TestReadingTableIsMeasured: the table in docs/reading.md is what the embedded
// DynamoDB charges. go test ./fanout -run ReadingTable -rewrite writes it.
func TestReadingTableIsMeasured(t *testing.T) {
	var text strings.Builder
	for _, fill := range []int{sagaBytes, 300} {
		fmt.Fprintf(&text, "\nRows of %d bytes:\n\n%s", fill+150, measured(t, fill))
	}
	doc, err := os.ReadFile(readingDoc)
	must(t, err)
	before, rest, _ := strings.Cut(string(doc), "<!-- measured -->\n")
	_, after, found := strings.Cut(rest, "<!-- end of measured -->")
	if !found {
		t.Fatalf("%s has no place for the measured table", readingDoc)
	}
	want := before + "<!-- measured -->\n" + text.String() + "\n<!-- end of measured -->" + after
	if *rewrite {
		must(t, os.WriteFile(readingDoc, []byte(want), 0o644))
		return
	}
	if string(doc) != want {
		t.Errorf("%s does not say what was measured; run with -rewrite and look at the difference\n%s", readingDoc, text.String())
	}
}

// measured is the table for rows of one size.
func measured(t *testing.T, fill int) string {
	old, sharded := adr("Whole", 0, 120), adr("RenewalSaga", 16, 120)
	r := newRig(t, rigOptions{})
	r.load(t, old.rows, fill)
	r.load(t, sharded.rows, fill)
	legacy := layout("RenewalSaga", 0)
	ways := []shard.Routing{
		shard.Static(old.layout), shard.Static(sharded.layout),
		shard.RoutingFor(shard.WriteNew, legacy, sharded.layout, 1),
	}
	var text strings.Builder
	text.WriteString("| read | before: 1 key | | after: 16 keys | | while a move is open: 17 keys | |\n")
	text.WriteString("|---|--:|--:|--:|--:|--:|--:|\n")
	text.WriteString("| | requests | units | requests | units | requests | units |\n")
	for i := range patterns(t, old) {
		fmt.Fprintf(&text, "| %s |", patterns(t, old)[i].name)
		for _, way := range ways {
			reader := fanout.New(r.client, r.table, watchedBy(way), fanout.Options{})
			cost, calls := measure(t, reader, patterns(t, old)[i])
			fmt.Fprintf(&text, " %.1f | %.1f |", float64(cost.Requests)/float64(calls), cost.Units/float64(calls))
		}
		text.WriteString("\n")
	}
	return text.String()
}

// watchedBy is a source whose routing never changes, of which a member could say
// so at any time.
func watchedBy(way shard.Routing) fanout.Source {
	rec := &record{}
	rec.publish(way, nil)
	return &follower{record: rec}
}

// measure asks once to let the reader learn, and then for the table.
func measure(t *testing.T, reader *fanout.Reader, p pattern) (fanout.Cost, int) {
	t.Helper()
	_, err := p.read(reader, fanout.Query{})
	must(t, err)
	var report fanout.Report
	calls, err := p.read(reader, fanout.Query{Report: &report})
	must(t, err)
	return report.Total(), calls
}
