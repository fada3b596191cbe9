package sim_test

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/hotsplit/hotsplit/sim"
)

// TestSeedDecidesEverything plays one day twice.
func TestSeedDecidesEverything(t *testing.T) {
	w := adr(t)
	w.Days = 1
	play := func(seed uint64) string {
		w.Seed = seed
		o, err := sim.Run(w, sim.Design{Name: "as is"})
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(o)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	first := play(85)
	if play(85) != first {
		t.Error("two runs of one seed differ")
	}
	if play(86) == first {
		t.Error("two seeds give the same run")
	}
}

// sentryEvents is what the ADR counts in six weeks.
const sentryEvents = 4481

// TestADR plays what docs/decisions/0003 says of the ADR's workload.
func TestADR(t *testing.T) {
	if testing.Short() {
		t.Skip("plays six weeks twice")
	}
	w := adr(t)
	w.Designs = []sim.Design{{Name: "as is"}, {Name: "16 shards", Shards: 16}}
	outcomes, err := sim.Compare(w)
	if err != nil {
		t.Fatal(err)
	}
	asIs, sharded := outcomes[0], outcomes[1]
	if diff := asIs.Events - sentryEvents; max(diff, -diff) > sentryEvents/20 {
		t.Errorf("as is has %d throttle events, want within 5 %% of %d", asIs.Events, sentryEvents)
	}
	if asIs.Episodes < 10 {
		t.Errorf("%d episodes: not bursty", asIs.Episodes)
	}
	quiet := 0
	for _, h := range asIs.Hours {
		if h.Events == 0 {
			quiet++
		}
	}
	if quiet < 9*len(asIs.Hours)/10 {
		t.Errorf("only %d of %d hours are quiet: constant, not bursty", quiet, len(asIs.Hours))
	}
	if sharded.Throttled != 0 || sharded.UserErrors != 0 {
		t.Errorf("16 shards: %d throttled, %d errors", sharded.Throttled, sharded.UserErrors)
	}
}

// TestMoreCapacityDoesNotHelp is the ADR's rejected alternative: no table-level
// throughput lifts one partition.
func TestMoreCapacityDoesNotHelp(t *testing.T) {
	w := slice(sim.Retry{Model: sim.RetrySDK}, 60)
	asIs, err := sim.Run(w, sim.Design{Name: "as is"})
	if err != nil {
		t.Fatal(err)
	}
	more, err := sim.Run(w, sim.Design{Name: "more", ProvisionedRead: 40000, ProvisionedWrite: 40000})
	if err != nil {
		t.Fatal(err)
	}
	if asIs.Throttled == 0 || more.Throttled != asIs.Throttled {
		t.Errorf("throttled %d, with more capacity %d: want the same and some", asIs.Throttled, more.Throttled)
	}
}

// TestHeatSplitsHelpOnlyAfterMinutes keeps one key saturated.
func TestHeatSplitsHelpOnlyAfterMinutes(t *testing.T) {
	w := slice(sim.Retry{Model: sim.RetrySDK}, 60)
	w.Days *= 10
	d := sim.Design{Name: "splits", Partitions: 1}
	d.Split.Share, d.Split.Sustain = 0.7, 5*time.Minute
	o, err := sim.Run(w, d)
	if err != nil {
		t.Fatal(err)
	}
	if o.Partitions < 2 {
		t.Errorf("%d partition after twenty hot minutes", o.Partitions)
	}
	w.Days /= 10
	if o, err = sim.Run(w, d); err != nil || o.Partitions != 1 {
		t.Errorf("%d partitions after two hot minutes, error %v", o.Partitions, err)
	}
}

func TestWorkloadFaultsAreAllReported(t *testing.T) {
	w := sim.Workload{Days: -1, Routes: []sim.Route{{Reads: "everything"}}, Designs: []sim.Design{{}, {Name: "x", Shards: -1}}}
	_, err := sim.Compare(w)
	if !errors.Is(err, sim.ErrWorkload) {
		t.Fatalf("error %v, want ErrWorkload", err)
	}
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok || len(joined.Unwrap()) < 7 {
		t.Errorf("not all faults are reported: %v", err)
	}
}
