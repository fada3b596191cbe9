package migrate_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hotsplit/hotsplit/emulator"
	"github.com/hotsplit/hotsplit/migrate"
	"github.com/hotsplit/hotsplit/shard"
)

// bubble runs a test in virtual time on a fresh rig.
func bubble(t *testing.T, o emulator.Options, test func(t *testing.T, r *rig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { test(t, newRig(t, o)) })
}

// quick are the options of a test that is about something else than the watch.
var quick = migrate.Options{Alone: true, Watch: -1}

func must1[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func (r *rig) ledger() *migrate.Ledger {
	return must1(migrate.OpenLedger(r.client("ops"), r.spec))
}

func TestRollbackFromEveryPhase(t *testing.T) {
	for _, phase := range []shard.Phase{shard.Planned, shard.DualRead, shard.WriteNew, shard.Backfill, shard.Verified, shard.Complete} {
		t.Run(string(phase), func(t *testing.T) {
			bubble(t, emulator.Options{Seed: 2}, func(t *testing.T, r *rig) {
				r.load(40)
				a := r.watch("a")
				defer a.Close()
				crowd := r.poll(600*time.Millisecond, ids(40), a)
				runner := r.runner("runner", quick)
				must(t, runner.Start(t.Context()))
				must(t, runner.AdvanceTo(t.Context(), phase))
				_, err := runner.Rollback(t.Context())
				must(t, err)
				if got := runner.Record().Phase; got != shard.Planned {
					t.Errorf("phase %s, want planned", got)
				}
				r.wantOn(r.spec.From)
				_, err = r.runner("again", quick).Move(t.Context())
				must(t, err)
				crowd.halt(t)
				r.wantOn(r.spec.To)
			})
		})
	}
}

func TestGrowthLeavesRowsThatStay(t *testing.T) {
	for _, to := range []int{32, 12} {
		bubble(t, emulator.Options{Seed: 3}, func(t *testing.T, r *rig) { growth(t, r, to) })
	}
}

func growth(t *testing.T, r *rig, to int) {
	r.spec = rigSpec(0, 16)
	r.load(60)
	a := r.watch("a")
	defer a.Close()
	crowd := r.poll(600*time.Millisecond, ids(60), a)
	first := r.runner("first", quick)
	_, err := first.Move(t.Context())
	must(t, err)
	must(t, first.Archive(t.Context()))
	must(t, first.Release(t.Context()))
	r.spec = rigSpec(16, to)
	stay := 0
	for i := range 30 {
		if r.spec.From.Key(owner(i)) == r.spec.To.Key(owner(i)) {
			stay += 2
		}
	}
	summary, err := r.runner("second", quick).Move(t.Context())
	must(t, err)
	crowd.halt(t)
	r.wantOn(r.spec.To)
	if got, want := summary.Progress.Moved, int64(60-stay); got != want {
		t.Errorf("16 to %d moved %d rows, want %d: %d of 60 keep their key", to, got, want, stay)
	}
	if written := r.rowWrites("second"); written != 60-stay {
		t.Errorf("16 to %d: %d row writes, want %d", to, written, 60-stay)
	}
}

func TestProbeGoesBothWaysAndIsSeenByNobody(t *testing.T) {
	bubble(t, emulator.Options{Seed: 4}, func(t *testing.T, r *rig) {
		r.load(4)
		report, err := r.runner("runner", quick).Probe(t.Context())
		must(t, err)
		if report.Forth <= 0 || report.Back <= 0 {
			t.Errorf("report %+v, want times", report)
		}
		if n := len(r.base()); n != 4 {
			t.Errorf("%d rows, want the 4 that were there", n)
		}
	})
}

func TestDryRunWritesNothing(t *testing.T) {
	bubble(t, emulator.Options{Seed: 5}, func(t *testing.T, r *rig) {
		r.load(20)
		mark := len(r.db.Log())
		plan, err := migrate.DryRun(t.Context(), r.client("dry"), r.spec, migrate.Options{})
		must(t, err)
		if len(plan.Steps) != 5 || plan.Facts.ToMove != 20 {
			t.Errorf("plan %+v, want 5 steps and 20 rows to move", plan)
		}
		if !errors.Is(plan.Err(), migrate.ErrRefused) {
			t.Errorf("plan refuses with %v, want the question whether others read", plan.Err())
		}
		for _, e := range r.db.Log()[mark:] {
			switch e.Operation {
			case "GetItem", "Query", "Scan", "BatchGetItem", "DescribeTable", "DescribeContinuousBackups":
			default:
				t.Errorf("dry run sent %s", e.Operation)
			}
		}
	})
}

func TestDraftReadsTheTable(t *testing.T) {
	bubble(t, emulator.Options{Seed: 6}, func(t *testing.T, r *rig) {
		r.load(20)
		spec, notes, err := migrate.Draft(t.Context(), r.client("init"), "rig", "")
		must(t, err)
		resolved, err := spec.Resolve()
		must(t, err)
		want := rigSpec(0, 16)
		want.Name, want.Separator = "renewalsaga", "#"
		want.From.Separator, want.To.Separator = "#", "#"
		want.Prefix = "HOTSPLIT#renewalsaga"
		if diff := cmp.Diff(want, resolved); diff != "" {
			t.Errorf("draft (-want +got):\n%s\nnotes %v", diff, notes)
		}
	})
}

func TestSnapshotSurvivesTheMoveAndSeesALoss(t *testing.T) {
	bubble(t, emulator.Options{Seed: 7}, func(t *testing.T, r *rig) {
		r.load(40)
		snapshot, err := migrate.TakeSnapshot(t.Context(), r.client("ops"), r.spec, migrate.SnapshotOptions{Sample: 10, Seed: 1})
		must(t, err)
		data, err := json.Marshal(snapshot)
		must(t, err)
		snapshot, err = migrate.ParseSnapshot(data)
		must(t, err)
		_, err = r.runner("runner", quick).Move(t.Context())
		must(t, err)
		report, err := migrate.VerifyAgainst(t.Context(), r.client("ops"), r.spec, snapshot, migrate.VerifyOptions{})
		must(t, err)
		if report.Err() != nil || report.Owners.Checked != 10 || report.Owners.Identical != 10 {
			t.Errorf("report %+v, want 10 identical owners", report)
		}
		r.restamp(t, snapshot.Owners[0].Owner, "RenewalSaga#99")
		time.Sleep(time.Second)
		report, err = migrate.VerifyAgainst(t.Context(), r.client("ops"), r.spec, snapshot, migrate.VerifyOptions{})
		must(t, err)
		if !errors.Is(report.Err(), migrate.ErrDiverged) || report.Owners.Identical != 9 {
			t.Errorf("report %v %v, want one owner that differs", report.Err(), report.Owners)
		}
	})
}

func TestStatusIsOneLine(t *testing.T) {
	bubble(t, emulator.Options{Seed: 8}, func(t *testing.T, r *rig) {
		r.load(10)
		a := r.watch("a")
		defer a.Close()
		runner := r.runner("runner", quick)
		must(t, runner.Start(t.Context()))
		must(t, runner.AdvanceTo(t.Context(), shard.WriteNew))
		status, err := r.ledger().Status(t.Context())
		must(t, err)
		line := status.String()
		for _, want := range []string{"renewal-saga write-new", "moved 0/", "members 1"} {
			if !strings.Contains(line, want) {
				t.Errorf("status %q does not say %q", line, want)
			}
		}
		if strings.Contains(line, "\n") {
			t.Errorf("status %q is more than a line", line)
		}
		events, err := r.ledger().Events(t.Context(), 0)
		must(t, err)
		if len(events) != 2 || events[1].Text != "dual-read -> write-new" {
			t.Errorf("events %v, want the two changes of phase", events)
		}
	})
}

func TestPauseReachesARunningMove(t *testing.T) {
	bubble(t, emulator.Options{Seed: 9}, func(t *testing.T, r *rig) {
		r.load(300)
		options := quick
		var moved []time.Time
		options.Observe = func(e migrate.Event) {
			if e.Kind != migrate.EventMoved {
				return
			}
			if moved = append(moved, time.Now()); len(moved) == 1 {
				must(t, r.ledger().Pause(context.Background(), "lunch"))
				time.AfterFunc(time.Minute, func() { must(t, r.ledger().Resume(context.Background())) })
			}
		}
		summary, err := r.runner("runner", options).Move(t.Context())
		must(t, err)
		longest := time.Duration(0)
		for i := 1; i < len(moved); i++ {
			longest = max(longest, moved[i].Sub(moved[i-1]))
		}
		if longest < 55*time.Second || longest > 65*time.Second || summary.Progress.Moved != 300 {
			t.Errorf("longest pause %v with %d rows moved, want about a minute and 300", longest, summary.Progress.Moved)
		}
	})
}

func TestGuardFindsHealsAndNames(t *testing.T) {
	bubble(t, emulator.Options{Seed: 10}, func(t *testing.T, r *rig) {
		r.load(20)
		_, err := r.runner("runner", quick).Move(t.Context())
		must(t, err)
		guard := must1(migrate.NewGuard(r.client("guard"), r.spec, migrate.GuardOptions{Blame: []string{"status"}}))
		report, err := guard.Once(t.Context())
		must(t, err)
		must(t, report.Err())
		r.put(r.client("old"), rowOf("late", "person-3", "RenewalSaga"))
		time.Sleep(time.Second)
		report, err = guard.Once(t.Context())
		must(t, err)
		if !errors.Is(report.Err(), migrate.ErrDrift) || len(report.Stragglers) != 1 || report.Stragglers[0].Blame["status"] != "open" {
			t.Errorf("report %+v, want one straggler and who wrote it", report)
		}
		healer := must1(migrate.NewGuard(r.client("guard"), r.spec, migrate.GuardOptions{Heal: true, Full: true}))
		r.restamp(t, "person-5", "RenewalSaga#11")
		time.Sleep(time.Second)
		report, err = healer.Once(t.Context())
		must(t, err)
		if report.Found != 3 || report.Healed != 3 {
			t.Errorf("found %d, healed %d, want 3 of 3", report.Found, report.Healed)
		}
		r.wantOn(r.spec.To)
		record, err := r.ledger().Load(t.Context())
		must(t, err)
		if record.Phase != shard.Complete {
			t.Errorf("phase %s after healing, want complete", record.Phase)
		}
	})
}

func TestRefusalsSayWhatSinceWhenAndWhatToDo(t *testing.T) {
	bubble(t, emulator.Options{Seed: 42}, func(t *testing.T, r *rig) {
		r.load(4)
		runner := r.runner("runner", quick)
		must(t, runner.Start(t.Context()))
		must(t, runner.AdvanceTo(t.Context(), shard.DualRead))
		err := runner.Archive(t.Context())
		gate := &migrate.GateError{}
		if !errors.As(err, &gate) || gate.Why == "" || gate.Since == "" || gate.Do == "" {
			t.Errorf("archive in dual-read: %v, want what, since when and what to do", err)
		}
		_, err = runner.Rollback(t.Context())
		must(t, err)
		must(t, runner.Archive(t.Context()))
		if _, err = runner.Advance(t.Context()); !errors.Is(err, migrate.ErrRefused) {
			t.Errorf("advance of an archived move: %v, want a refusal", err)
		}
		must(t, runner.Release(t.Context()))
		_, err = r.runner("again", quick).Move(t.Context())
		must(t, err)
		r.wantOn(r.spec.To)
	})
}
