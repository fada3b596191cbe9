package heat_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hotsplit/hotsplit/heat"
)

const (
	table = "propflow-prod"
	index = "renewal-saga-person-index"
)

var began = time.Date(2026, 6, 1, 9, 0, 0, 0, time.UTC)

// second is one second of a planted workload.
type second func(chance *rand.Rand, at time.Time, observe func(heat.Event))

// read asks key n times for units each.
func read(key, owner, caller string, n int, units float64) second {
	return func(_ *rand.Rand, at time.Time, observe func(heat.Event)) {
		for range n {
			observe(heat.Event{Time: at, Operation: "Query", Table: table, Index: index, Key: key, Sort: owner, Caller: caller, Read: units, Primary: true})
		}
	}
}

// readOwners asks a constant key for n random owners.
func readOwners(key, caller string, n, owners int, units float64) second {
	return func(chance *rand.Rand, at time.Time, observe func(heat.Event)) {
		for range n {
			read(key, fmt.Sprintf("person-%d#", chance.IntN(owners)), caller, 1, units)(chance, at, observe)
		}
	}
}

// refuse has n attempts refused on the way of an operation.
func refuse(operation, onIndex, key, caller, reason string, n int) second {
	return func(_ *rand.Rand, at time.Time, observe func(heat.Event)) {
		observe(heat.Event{Time: at, Operation: operation, Table: table, Index: onIndex, Key: key, Caller: caller, Throttled: n, Reason: reason})
	}
}

func write(operation, key, sort, caller string, n int, units float64, item bool) second {
	return func(_ *rand.Rand, at time.Time, observe func(heat.Event)) {
		for i := range n {
			s := sort
			if strings.Contains(s, "%") {
				s = fmt.Sprintf(sort, at.UnixNano()+int64(i))
			}
			observe(heat.Event{Time: at, Operation: operation, Table: table, Index: index, Key: key, Sort: s, Item: item, Caller: caller, Write: units, Primary: true})
		}
	}
}

func both(parts ...second) second {
	return func(chance *rand.Rand, at time.Time, observe func(heat.Event)) {
		for _, p := range parts {
			p(chance, at, observe)
		}
	}
}

// during limits a workload to the given seconds.
func during(s second, from, until int) second {
	return func(chance *rand.Rand, at time.Time, observe func(heat.Event)) {
		if n := int(at.Sub(began) / time.Second); n >= from && n < until {
			s(chance, at, observe)
		}
	}
}

func every(s second, period, length int) second {
	return func(chance *rand.Rand, at time.Time, observe func(heat.Event)) {
		if int(at.Sub(began)/time.Second)%period < length {
			s(chance, at, observe)
		}
	}
}

func record(o heat.Options, seconds int, load second) heat.Report {
	r, chance := heat.NewRecorder(o), rand.New(rand.NewPCG(1, 2))
	for i := range seconds {
		load(chance, began.Add(time.Duration(i)*time.Second), r.Observe)
	}
	r.Flush()
	return r.Report()
}

const (
	readRange  = "IndexReadKeyRangeThroughputExceeded"
	writeRange = "IndexWriteKeyRangeThroughputExceeded"
)

var background = readOwners("RenewalSaga", "renewals/list", 20, 179, 0.5)

func TestPlantedWorkloads(t *testing.T) {
	saturated := both(readOwners("RenewalSaga", "renewals/list", 300, 179, 7.5), readOwners("RenewalSaga", "sweep/health", 50, 179, 10),
		refuse("Query", index, "RenewalSaga", "renewals/detail", readRange, 40))
	spread := func(chance *rand.Rand, at time.Time, observe func(heat.Event)) {
		for range 200 {
			read(fmt.Sprintf("RenewalSaga#%d", chance.IntN(16)), fmt.Sprintf("person-%d#", chance.IntN(5000)), "renewals/list", 1, 2.5)(chance, at, observe)
		}
	}
	var crowd []second
	for i := range 5 {
		key := fmt.Sprintf("RenewalSaga#%d", i)
		crowd = append(crowd, readOwners(key, "renewals/list", 200, 500, 3), refuse("Query", index, key, "renewals/list", readRange, 3))
	}
	for _, c := range []struct {
		name    string
		seconds int
		load    second
		rule    heat.Rule
		outcome heat.Outcome
		key     string
		caller  string
	}{
		{"constant key saturated", 120, saturated, heat.HotPartitionKey, heat.Hot, "RenewalSaga", "renewals/list"},
		{"bursts that come back", 1200, both(background, every(saturated, 200, 6)), heat.HotPartitionKey, heat.Hot, "RenewalSaga", "renewals/list"},
		{"one short burst", 600, both(background, during(saturated, 300, 304)), heat.ShortBurst, heat.Hot, "RenewalSaga", "renewals/list"},
		{"borderline above", 120, readOwners("RenewalSaga", "renewals/list", 1000, 179, 2.5), heat.HotPartitionKey, heat.Hot, "RenewalSaga", "renewals/list"},
		{"borderline below", 120, readOwners("RenewalSaga", "renewals/list", 900, 179, 2.5), heat.NothingHot, heat.Cold, "RenewalSaga", ""},
		{"noise only", 300, spread, heat.NothingHot, heat.Cold, "", ""},
		{"hot item", 120, both(write("UpdateItem", "Counters", "total", "billing", 900, 1, true), background), heat.HotItem, heat.Hot, "Counters", "billing"},
		{"hot owner", 120, both(read("RenewalSaga", "person-7#", "inbound/voice", 1100, 2.5), background), heat.HotOwner, heat.Hot, "RenewalSaga", "inbound/voice"},
		{"index refuses the table's writes", 120, refuse("UpdateItem", index, "", "workflow", writeRange, 25), heat.IndexBackPressure, heat.Hot, "", "workflow"},
		{"provisioned rate", 120, both(spread, refuse("Query", index, "RenewalSaga#1", "renewals/list", "IndexReadProvisionedThroughputExceeded", 9)), heat.TableLimit, heat.Hot, "", "renewals/list"},
		{"user's maximum", 120, both(spread, refuse("GetItem", "", "RSAGA#1", "renewals/detail", "TableReadMaxOnDemandThroughputExceeded", 9)), heat.TableLimit, heat.Hot, "", "renewals/detail"},
		{"account quota", 120, both(spread, refuse("GetItem", "", "RSAGA#1", "renewals/detail", "TableReadAccountLimitExceeded", 9)), heat.AccountLimit, heat.Hot, "", "renewals/detail"},
		{"rising sort key", 120, write("PutItem", "Events", "%020d#x", "events", 950, 1, true), heat.RisingSortKey, heat.Hot, "Events", ""},
		{"crowded partition", 120, both(crowd...), heat.CrowdedPartition, heat.Hot, "", "renewals/list"},
		{"too little", 5, background, heat.CannotTell, heat.Untold, "", ""},
		{"nothing", 0, background, heat.CannotTell, heat.Untold, "", ""},
		{"refused for no known reason", 120, both(background, refuse("PutItem", "", "", "importer", "", 2)), heat.CannotTell, heat.Untold, "", "importer"},
	} {
		t.Run(c.name, func(t *testing.T) {
			rep := record(heat.Options{}, c.seconds, c.load)
			at := slices.IndexFunc(rep.Verdicts, func(v heat.Verdict) bool { return v.Rule == c.rule })
			if at < 0 {
				t.Fatalf("no %s in %v", c.rule, rep.Verdicts)
			}
			v := rep.Verdicts[at]
			if c.key != "" && v.Key != c.key {
				t.Errorf("key %q, want %q", v.Key, c.key)
			}
			if c.caller != "" && !slices.Contains(v.Callers, c.caller) {
				t.Errorf("callers %q, want %q among them", v.Callers, c.caller)
			}
			if got := rep.Outcome(); got != c.outcome {
				t.Errorf("outcome %q, want %q: %v", got, c.outcome, rep.Verdicts)
			}
			t.Log(rep.Paragraph())
		})
	}
}

func TestHashedKeysKeepVerdicts(t *testing.T) {
	rising := write("PutItem", "Events", "%020d#x", "events", 950, 1, true)
	rep := record(heat.Options{HashKeys: true, Salt: "s"}, 120, rising)
	var rules []heat.Rule
	for _, v := range rep.Verdicts {
		rules = append(rules, v.Rule)
		if strings.Contains(v.Text, "Events") {
			t.Errorf("the key shows in %q", v.Text)
		}
	}
	if !slices.Contains(rules, heat.RisingSortKey) {
		t.Errorf("rules %v, want %s among them", rules, heat.RisingSortKey)
	}
}

func TestMapSpansTheWholeTrace(t *testing.T) {
	rep := record(heat.Options{Span: true, Columns: 100}, 1000, background)
	if rep.Map.StepSeconds != 16 || len(rep.Map.Rows) != 1 || len(rep.Map.Rows[0].Cells) > 100 {
		t.Fatalf("step %d, %d rows", rep.Map.StepSeconds, len(rep.Map.Rows))
	}
	if got := rep.Map.Rows[0].Cells[3].Read; got != 10 {
		t.Errorf("a cell reads %v, want the busiest second's 10", got)
	}
}
