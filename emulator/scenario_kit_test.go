package emulator_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/hotsplit/hotsplit/emulator"
	"github.com/hotsplit/hotsplit/emulator/attr"
)

// tally counts what a load got, and every kind of throttle once.
type tally struct {
	accepted, throttled int
	reasons             []string
	seen                map[string]bool
}

func newTally() *tally { return &tally{seen: map[string]bool{}} }

func (t *tally) add(err error) {
	if err == nil {
		t.accepted++
		return
	}
	t.throttled++
	e, _ := errors.AsType[*emulator.Error](err)
	text := e.Code
	for _, r := range e.Reasons {
		text += ", " + r.Reason + " of " + r.Resource
	}
	if !t.seen[text] {
		t.seen[text] = true
		t.reasons = append(t.reasons, text, `"`+e.Message+`"`)
	}
}

func (t *tally) rates(seconds int, units float64) string {
	rate := func(n int) float64 { return math.Round(float64(n) * units / float64(seconds)) }
	return fmt.Sprintf("%.0f/s accepted, %.0f/s throttled", rate(t.accepted), rate(t.throttled))
}

// refusal asks until it is refused, and says how.
func (s *scenario) refusal() []string {
	tally := newTally()
	for range 100_000 {
		if err := s.request(); err != nil {
			tally.add(err)
			return tally.reasons
		}
	}
	return []string{"never refused"}
}

// fill makes rows at one index key, once earlier loads are forgotten.
func (s *scenario) fill() {
	time.Sleep(2 * time.Second)
	free := attr.String(strings.Repeat("x", int(s.number("kb", 0)*1024)))
	for i := range int(s.number("rows", 0)) {
		if err := s.put(rowKey(i).With("GSI4PK", s.key(0)).With("GSI4SK", sortKey(i)).With("free", free)); err != nil {
			s.t.Fatal(err)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// scan prints what a scan of the table costs.
func (s *scenario) scan() []string {
	var lines []string
	for _, strong := range []bool{false, true} {
		out, err := s.db.Scan(s.t.Context(), &emulator.ScanInput{TableName: new("rig"), ConsistentRead: strong, ReturnConsumedCapacity: "TOTAL"})
		if err != nil {
			s.t.Fatal(err)
		}
		lines = append(lines, fmt.Sprintf("strong %v: %d rows, %g units", strong, out.Count, out.ConsumedCapacity.CapacityUnits))
	}
	return lines
}

// read asks for one item strongly, or for all rows at an index key.
func (s *scenario) read(i int) error {
	ctx := s.t.Context()
	if s.args["read"] == "item" {
		_, err := s.db.GetItem(ctx, &emulator.GetItemInput{TableName: new("rig"), Key: rowKey(0), ConsistentRead: true})
		return err
	}
	_, err := s.db.Query(ctx, &emulator.QueryInput{
		TableName: new("rig"), IndexName: new("GSI4"), KeyConditionExpression: new("GSI4PK = :k"),
		Expressions: emulator.Expressions{Values: map[string]attr.Value{":k": s.key(i)}},
	})
	return err
}

// counters prints the CloudWatch counters that are not zero.
func (s *scenario) counters() []string {
	var lines []string
	for _, c := range s.db.Counters() {
		if c.Value == 0 || s.has("throttles") && !strings.Contains(c.Metric, "Throttle") {
			continue
		}
		where := "table"
		if c.Index != "" {
			where = c.Index
		}
		lines = append(lines, strings.TrimRight(fmt.Sprintf("%s %s %.0f %s", where, c.Metric, c.Value, c.Operation), " "))
	}
	return lines
}

// partitions prints how many partitions the index has.
func (s *scenario) partitions() []string {
	for _, r := range s.db.Heat(time.Now()) {
		if r.Index == "GSI4" {
			return []string{fmt.Sprintf("GSI4 has %d", len(r.Partitions))}
		}
	}
	return nil
}

// updateTable changes throughput.
func (s *scenario) updateTable() []string {
	in := &emulator.UpdateTableInput{TableName: new("rig")}
	if s.has("warm-index") {
		in.GlobalSecondaryIndexUpdates = []emulator.IndexUpdate{{Update: &emulator.IndexSpec{
			IndexName: new("GSI4"), WarmThroughput: &emulator.WarmThroughput{
				ReadUnitsPerSecond: new(int64(12000)), WriteUnitsPerSecond: new(int64(s.number("warm-index", 0))),
			},
		}}}
	}
	if s.has("on-demand") {
		in.BillingMode = "PAY_PER_REQUEST"
	}
	if _, err := s.db.UpdateTable(s.t.Context(), in); err != nil {
		return []string{err.Error()}
	}
	return nil
}

// units prints what single requests cost, from their own answers.
func (s *scenario) units() []string {
	var lines []string
	row := rowKey(0)
	show := func(what string, item attr.Item) {
		out, err := s.db.PutItem(s.t.Context(), &emulator.PutItemInput{TableName: new("rig"), Item: item, ReturnConsumedCapacity: "INDEXES"})
		if err != nil {
			s.t.Fatal(err)
		}
		lines = append(lines, what+": "+spell(out.ConsumedCapacity))
	}
	big := attr.String(strings.Repeat("x", 2000))
	indexed := row.With("GSI4PK", attr.String("RenewalSaga")).With("GSI4SK", sortKey(1))
	show("not in the index", row)
	show("into the index", indexed)
	show("the same again", indexed)
	show("shown attribute, 2.1 KB", indexed.With("free", big))
	show("sort key of the index changes, to 0.1 KB", indexed.With("GSI4SK", sortKey(2)))
	show("partition key of the index changes, to 2.1 KB", indexed.With("GSI4PK", attr.String("RenewalSaga#3")).With("free", big))
	show("out of the index, 2.1 KB before and after", row.With("free", big))
	out, err := s.db.DeleteItem(s.t.Context(), &emulator.DeleteItemInput{TableName: new("rig"), Key: row, ReturnConsumedCapacity: "INDEXES"})
	if err != nil {
		s.t.Fatal(err)
	}
	lines = append(lines, "deleted: "+spell(out.ConsumedCapacity))
	lines = append(lines, "condition fails, no item: "+s.failedUnits(row, "attribute_exists(PK)"))
	show("into the index, 2.1 KB", indexed.With("free", big))
	return append(lines, "condition fails, 2.1 KB there, 0.1 KB attempted: "+s.failedUnits(row, "attribute_not_exists(PK)"))
}

// failedUnits is what a put costs whose condition fails. Its answer does not say,
// the operation log does.
func (s *scenario) failedUnits(item attr.Item, condition string) string {
	_, err := s.db.PutItem(s.t.Context(), &emulator.PutItemInput{TableName: new("rig"), Item: item, ConditionExpression: &condition})
	wantCode(s.t, err, emulator.CodeConditionalCheck)
	var parts []string
	for _, u := range s.db.Log()[0].Units {
		where := "table"
		if u.Index != "" {
			where = u.Index
		}
		parts = append(parts, fmt.Sprintf("%s %g", where, u.Write))
	}
	return strings.Join(parts, ", ")
}

func spell(c *emulator.ConsumedCapacity) string {
	text := fmt.Sprintf("total %g, table %g", c.CapacityUnits, c.Table.CapacityUnits)
	var indexes []string
	for name, units := range c.GlobalSecondaryIndexes {
		indexes = append(indexes, fmt.Sprintf(", %s %g", name, units.CapacityUnits))
	}
	slices.Sort(indexes)
	return text + strings.Join(indexes, "")
}
