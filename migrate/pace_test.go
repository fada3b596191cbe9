package migrate_test

import (
	"testing"
	"time"

	"github.com/hotsplit/hotsplit/emulator"
	"github.com/hotsplit/hotsplit/migrate"
)

// The wait for readers and for the index must not cost pace: batches overlap.
func TestMoveKeepsToItsBudget(t *testing.T) {
	for _, c := range []struct {
		budget float64
		rows   int
	}{{100, 1500}, {400, 2000}} {
		bubble(t, emulator.Options{Seed: 40, Unlimited: true}, func(t *testing.T, r *rig) {
			r.load(c.rows)
			var first, last time.Time
			options := quick
			options.Budget = c.budget
			options.Observe = func(e migrate.Event) {
				if e.Kind == migrate.EventMoved {
					if first.IsZero() {
						first = time.Now()
					}
					last = time.Now()
				}
			}
			mark := len(r.db.Log())
			summary, err := r.runner("runner", options).Move(t.Context())
			must(t, err)
			rate := float64(summary.Progress.Moved) / last.Sub(first).Seconds()
			if rate < 0.9*c.budget || rate > 1.05*c.budget {
				t.Errorf("%.0f rows/s under a budget of %.0f", rate, c.budget)
			}
			checkpoints := 0
			for _, e := range r.db.Log()[min(mark, len(r.db.Log())):] {
				for _, u := range e.Units {
					if u.Sort == "CHECKPOINT#0000" && u.Write > 0 {
						checkpoints++
					}
				}
			}
			if limit := c.rows / 50; checkpoints > limit {
				t.Errorf("%d checkpoints for %d rows, want under 2 %%", checkpoints, c.rows)
			}
			t.Logf("%.0f rows/s of %.0f, %d checkpoints", rate, c.budget, checkpoints)
		})
	}
}
