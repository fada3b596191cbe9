package emulator_test

import (
	"flag"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hotsplit/hotsplit/emulator"
	"github.com/hotsplit/hotsplit/emulator/attr"
)

var rewrite = flag.Bool("rewrite", false, "write testdata/scenarios.txt anew from what the emulator does")

const scenarioFile = "testdata/scenarios.txt"

// TestScenarios runs the commands of every scenario in a bubble of its own and
// compares what they print with the text behind the arrow.
func TestScenarios(t *testing.T) {
	text, err := os.ReadFile(scenarioFile)
	if err != nil {
		t.Fatal(err)
	}
	blocks := strings.Split(string(text), "\n\n")
	t.Run("blocks", func(t *testing.T) {
		for i := range blocks {
			t.Run(strconv.Itoa(i+1), func(t *testing.T) {
				t.Parallel()
				blocks[i] = runScenario(t, blocks[i])
			})
		}
	})
	out := strings.Join(blocks, "\n\n")
	if *rewrite {
		if err := os.WriteFile(scenarioFile, []byte(out), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if out != string(text) {
		t.Fatalf("scenarios differ; look at: go test ./emulator -run Scenario -rewrite && git diff\n%s", firstDifference(string(text), out))
	}
}

func firstDifference(want, got string) string {
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range min(len(w), len(g)) {
		if w[i] != g[i] {
			return fmt.Sprintf("line %d\nwant %s\ngot  %s", i+1, w[i], g[i])
		}
	}
	return "one is longer"
}

// runScenario keeps comments and commands of a block and prints its results anew.
func runScenario(t *testing.T, block string) string {
	var out []string
	synctest.Test(t, func(t *testing.T) {
		s := &scenario{t: t}
		for _, line := range strings.Split(strings.TrimRight(block, "\n"), "\n") {
			switch {
			case strings.HasPrefix(line, "  "): // an old result
			case strings.HasPrefix(line, "#"), line == "":
				out = append(out, line)
			default:
				out = append(out, line)
				for _, result := range s.command(line) {
					out = append(out, "  "+result)
				}
			}
		}
	})
	if strings.HasSuffix(block, "\n") {
		out = append(out, "")
	}
	return strings.Join(out, "\n")
}

// scenario is one table under load.
type scenario struct {
	t    *testing.T
	db   *emulator.DB
	turn int
	args map[string]string

	filler  attr.Value
	outside *tally // of the rows outside the index in a mixed load
}

func (s *scenario) command(line string) []string {
	words := strings.Fields(line)
	s.args = map[string]string{}
	for _, w := range words[1:] {
		k, v, _ := strings.Cut(w, "=")
		s.args[k] = v
	}
	switch words[0] {
	case "table":
		s.table()
		return nil
	case "load":
		return s.load()
	case "closed":
		return s.closed()
	case "placements":
		return s.placements()
	case "counters":
		return s.counters()
	case "partitions":
		return s.partitions()
	case "update":
		return s.updateTable()
	case "units":
		return s.units()
	case "refusal":
		return s.refusal()
	case "fill":
		s.fill()
		return nil
	case "scan":
		return s.scan()
	case "wait":
		time.Sleep(s.duration("for"))
		return nil
	}
	s.t.Fatalf("unknown command %q", line)
	return nil
}

func (s *scenario) number(name string, fallback float64) float64 {
	v, given := s.args[name]
	if !given {
		return fallback
	}
	f, err := strconv.ParseFloat(v, 64)
	if err != nil {
		s.t.Fatalf("%s=%s: %v", name, v, err)
	}
	return f
}

func (s *scenario) has(name string) bool { _, given := s.args[name]; return given }

func (s *scenario) duration(name string) time.Duration {
	d, err := time.ParseDuration(s.args[name])
	if err != nil {
		s.t.Fatal(err)
	}
	return d
}

// table opens a table with one index. The table itself is warm, so that only the
// index limits, unless "cold" is given.
func (s *scenario) table() {
	o := emulator.Options{Seed: int64(s.number("seed", 1)), LogEntries: 1, LagMax: -1, IndexBacklog: int(s.number("backlog", 0))}
	if s.has("isolated") {
		o.Placement = emulator.PlacementIsolated
	}
	if s.has("coupled") {
		o.CoupledUnits = true
	}
	o.NoTableLimits = s.has("no-table-limits")
	o.QuotaError = s.has("quota-error")
	o.TableQuota = emulator.Units{Read: s.number("quota", 0), Write: s.number("quota", 0)}
	o.SplitForHeat.Minutes = int(s.number("split-minutes", 0))
	s.open(o)
}

func (s *scenario) open(o emulator.Options) {
	s.db = emulator.New(o)
	in := rigTable()
	if s.has("provisioned") {
		in.BillingMode = "PROVISIONED"
		in.ProvisionedThroughput = provisioned(s.number("rcu", 1000), s.number("provisioned", 0))
		in.GlobalSecondaryIndexes[0].ProvisionedThroughput = provisioned(s.number("rcu", 1000), s.number("index", 0))
	} else if !s.has("cold") {
		in.WarmThroughput = &emulator.WarmThroughput{ReadUnitsPerSecond: new(int64(40000)), WriteUnitsPerSecond: new(int64(40000))}
	}
	if s.has("warm-index") {
		in.GlobalSecondaryIndexes[0].WarmThroughput = &emulator.WarmThroughput{
			ReadUnitsPerSecond: new(int64(12000)), WriteUnitsPerSecond: new(int64(s.number("warm-index", 0))),
		}
	}
	if s.has("maximum") {
		in.OnDemandThroughput = &emulator.OnDemandThroughput{MaxReadRequestUnits: new(int64(s.number("maximum", 0))), MaxWriteRequestUnits: new(int64(s.number("maximum", 0)))}
	}
	if s.has("index-maximum") {
		in.GlobalSecondaryIndexes[0].OnDemandThroughput = &emulator.OnDemandThroughput{
			MaxReadRequestUnits: new(int64(s.number("index-maximum", 0))), MaxWriteRequestUnits: new(int64(s.number("index-maximum", 0))),
		}
	}
	if _, err := s.db.CreateTable(s.t.Context(), in); err != nil {
		s.t.Fatal(err)
	}
}

func provisioned(read, write float64) *emulator.ProvisionedThroughput {
	return &emulator.ProvisionedThroughput{ReadCapacityUnits: new(int64(read)), WriteCapacityUnits: new(int64(write))}
}

// load offers requests at a steady rate, whatever comes back.
func (s *scenario) load() []string {
	seconds, every := int(s.number("seconds", 10)), int(s.number("report", 0))
	if every == 0 {
		every = seconds
	}
	// One request a tick, or as many as a tick of a millisecond takes.
	perSecond := s.number("rate", 0) / s.unitsEach()
	tick := max(time.Millisecond, time.Duration(float64(time.Second)/perSecond))
	var lines []string
	tally := newTally()
	s.outside = newTally()
	start := time.Now()
	sent := 0
	for second := every; second <= seconds; second += every {
		for at := time.Since(start); at < time.Duration(second)*time.Second; at = time.Since(start) {
			for ; float64(sent) <= perSecond*at.Seconds(); sent++ {
				tally.add(s.request())
			}
			time.Sleep(tick)
		}
		lines = append(lines, fmt.Sprintf("seconds %d to %d: %s", second-every+1, second, tally.rates(every, s.unitsEach())))
		tally.accepted, tally.throttled = 0, 0
	}
	if n := s.outside.accepted + s.outside.throttled; n > 0 {
		lines = append(lines, fmt.Sprintf("of these, rows outside the index: %d accepted, %d throttled", s.outside.accepted, s.outside.throttled))
	}
	return append(lines, tally.reasons...)
}

// closed sends one request after the other and waits whenever one is throttled,
// so that all keys get the same load. It prints what a second carries.
func (s *scenario) closed() []string {
	s.settle()
	s.carried(2 * time.Second)
	return []string{fmt.Sprintf("%d/s", s.round(s.carried(time.Duration(s.number("seconds", 10))*time.Second)))}
}

// settle uses up what was stored, until the first throttle.
func (s *scenario) settle() {
	for s.request() == nil {
	}
}

func (s *scenario) carried(d time.Duration) float64 {
	n := 0
	end := time.Now().Add(d)
	for time.Now().Before(end) {
		if s.request() != nil {
			s.turn-- // the same key again
			time.Sleep(time.Duration(s.unitsEach()) * time.Millisecond)
			continue
		}
		n++
	}
	return float64(n) * s.unitsEach() / d.Seconds()
}

// unitsEach is what one write of the size asked for costs, so that a load can be
// told in units and needs few requests.
func (s *scenario) unitsEach() float64 { return max(1, math.Ceil(s.number("kb", 0))) }

func (s *scenario) round(v float64) int { return int(v/10+0.5) * 10 }

// placements repeats a closed load over many placements of the same keys.
func (s *scenario) placements() []string {
	n := int(s.number("of", 100))
	var got []float64
	for seed := range n {
		s.open(emulator.Options{Seed: int64(seed), LogEntries: 1, LagMax: -1, Partitions: int(s.number("partitions", 4)), NoTableLimits: true})
		s.settle()
		got = append(got, s.carried(time.Second))
	}
	slices.Sort(got)
	mean := 0.0
	for _, v := range got {
		mean += v / float64(n)
	}
	return []string{fmt.Sprintf("mean %d/s, p5 %d/s, p95 %d/s", s.round(mean), s.round(got[n*5/100]), s.round(got[n*95/100]))}
}

// rowsMax is how many rows a load goes round.
const rowsMax = 480

// request makes the next request of the kind asked for.
func (s *scenario) request() error {
	i := s.turn
	s.turn++
	if s.has("read") {
		return s.read(i)
	}
	return s.write(i)
}

func (s *scenario) key(i int) attr.Value {
	if n := int(s.number("keys", 1)); n > 1 {
		return attr.String(fmt.Sprintf("RenewalSaga#%d", i%n))
	}
	return attr.String("RenewalSaga")
}

func rowKey(i int) attr.Item {
	return attr.New(map[string]attr.Value{"PK": attr.String(fmt.Sprintf("RSAGA#%d", i)), "SK": attr.String("META")})
}

func (s *scenario) write(i int) error {
	n := i * 239 % rowsMax // all rows, not in order
	switch kind := s.args["write"]; kind {
	case "mixed": // in turn a row that the index shows and one that it does not
		if i%2 == 0 {
			return s.put(s.row(fmt.Sprintf("RSAGA#%d", n), i, s.key(n), sortKey(n)))
		}
		s.outside.add(s.put(s.row(fmt.Sprintf("plain %d", n), i, attr.Value{}, attr.Value{})))
		return nil
	case "row": // one row that is not in the index
		return s.put(s.row("RSAGA#0", i, attr.Value{}, attr.Value{}))
	case "visible": // an attribute that the index shows
		return s.put(s.row(fmt.Sprintf("RSAGA#%d", n), i, s.key(n), sortKey(n)))
	case "move": // the sort key of the index
		return s.put(s.row(fmt.Sprintf("RSAGA#%d", n), 0, s.key(n), sortKey(i)))
	case "rising": // new rows behind all others
		return s.put(s.row(fmt.Sprintf("rising %d", i), i, s.key(i), sortKey(i)))
	case "item": // one row again and again
		return s.put(s.row("one", i, s.key(0), sortKey(0)))
	default:
		s.t.Fatalf("unknown write %q", kind)
	}
	return nil
}

// row builds a row of the size asked for.
func (s *scenario) row(pk string, version int, key, sort attr.Value) attr.Item {
	var b attr.Builder
	b.Set("PK", attr.String(pk))
	b.Set("SK", attr.String("META"))
	b.Set("GSI4PK", key)
	b.Set("GSI4SK", sort)
	b.Set("at", attr.Int(int64(version)))
	if kb := s.number("kb", 0); kb > 0 {
		b.Set("free", s.free(int(kb*1024)-200))
	}
	return b.Item()
}

// free is a value of n bytes.
func (s *scenario) free(n int) attr.Value {
	if s.filler.Size() != n {
		s.filler = attr.String(strings.Repeat("x", n))
	}
	return s.filler
}

func sortKey(i int) attr.Value { return attr.String(fmt.Sprintf("%012d", i)) }

func (s *scenario) put(item attr.Item) error {
	_, err := s.db.PutItem(s.t.Context(), &emulator.PutItemInput{TableName: new("rig"), Item: item})
	return err
}
