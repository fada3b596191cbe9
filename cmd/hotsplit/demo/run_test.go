package demo_test

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hotsplit/hotsplit/cmd/hotsplit/demo"
)

// In a bubble the demonstration runs in virtual time: what it measures does not
// depend on how busy the machine is.
func run(t *testing.T, o demo.Options) (result *demo.Result) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		var err error
		if result, err = demo.Run(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	})
	return result
}

func TestTheADRsCaseIsHotAndThenCool(t *testing.T) {
	r := run(t, demo.Options{Seconds: 3, Seed: 7})
	if faults := r.Faults(); len(faults) > 0 {
		t.Errorf("not proved: %s\n%s", strings.Join(faults, "; "), r.Table())
	}
	if r.Before.Throttled == 0 || r.After.Throttled > 0 || r.Peak.After >= r.Peak.Before {
		t.Errorf("hot before and cool after is what it shows:\n%s", r.Table())
	}
	if r.Rows.Total != demo.DefaultRows || r.Rows.OnShards != demo.DefaultRows || r.Owners.Checked != demo.DefaultPersons {
		t.Errorf("rows %+v, owners %+v", r.Rows, r.Owners)
	}
	var page bytes.Buffer
	if err := r.WriteReport(&page); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"RenewalSaga#15", "backfill", "<svg", "3000"} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("the report lacks %q", want)
		}
	}
}

// A dual read without a moving set is what everybody writes first. If it passes,
// the checker is blind.
func TestNaiveDualReadMissesRows(t *testing.T) {
	r := run(t, demo.Options{Seconds: 1, Seed: 7, NaiveDualRead: true})
	if r.Reads.Missed == 0 || len(r.Faults()) == 0 {
		t.Errorf("a dual read without a moving set missed nothing: %+v", r.Reads)
	}
}

func TestSmallShapes(t *testing.T) {
	for _, o := range []demo.Options{{Rows: 1, Shards: 1}, {Rows: 17, Shards: 2}, {Rows: 30, Shards: 64}} {
		o.Seconds = 1
		r := run(t, o)
		if faults := r.Faults(); len(faults) > 0 || r.Rows.OnShards != o.Rows {
			t.Errorf("%d rows on %d shards: %v, %+v", o.Rows, o.Shards, faults, r.Rows)
		}
		if !strings.Contains(r.Verdict(), "was not hot") {
			t.Errorf("%d rows cannot make a key hot, and the verdict must say so: %s", o.Rows, r.Verdict())
		}
	}
}

func TestInterruptEndsItCleanly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		if _, err := demo.Run(ctx, demo.Options{Seconds: 60}); ctx.Err() == nil || err == nil {
			t.Errorf("interrupted while the key was hot: %v", err)
		}
	})
}
