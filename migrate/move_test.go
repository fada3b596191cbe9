package migrate_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/hotsplit/hotsplit/emulator"
	"github.com/hotsplit/hotsplit/migrate"
	"github.com/hotsplit/hotsplit/shard"
)

func TestMoveWholeWay(t *testing.T) {
	for _, fence := range []migrate.Fence{migrate.FenceTransaction, migrate.FenceClock} {
		for _, source := range []migrate.Source{migrate.SourceDrain, migrate.SourceScan} {
			t.Run(string(fence)+" "+string(source), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { moveWholeWay(t, fence, source) })
			})
		}
	}
}

func moveWholeWay(t *testing.T, fence migrate.Fence, source migrate.Source) {
	r := newRig(t, emulator.Options{Seed: 1})
	r.load(100)
	a, b := r.watch("a"), r.watch("b")
	defer a.Close()
	defer b.Close()
	crowd := r.poll(500*time.Millisecond, ids(100), a, b)
	began, first := time.Now(), len(r.db.Log())
	runner := r.runner("runner", migrate.Options{Fence: fence, Source: source, Alone: true, Watch: 5 * time.Second, Observe: func(e migrate.Event) {
		if testing.Verbose() {
			t.Logf("%6.2fs %s %s %s", time.Since(began).Seconds(), e.Phase, e.Kind, e.Text)
		}
	}})
	summary, err := runner.Move(t.Context())
	must(t, err)
	crowd.halt(t)
	if summary.Phase != shard.Complete || summary.Progress.Moved != 100 {
		t.Errorf("summary %+v, want 100 rows moved and complete", summary)
	}
	r.wantOn(r.spec.To)
	requests := map[string]int{}
	for _, e := range r.db.Log()[first:] {
		requests[e.Caller]++
	}
	t.Logf("%.1f virtual seconds, %d reads, requests %v", time.Since(began).Seconds(), crowd.reads, requests)
}
