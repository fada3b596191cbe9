package migrate_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/hotsplit/hotsplit/emulator"
	"github.com/hotsplit/hotsplit/fanout"
	"github.com/hotsplit/hotsplit/migrate"
	"github.com/hotsplit/hotsplit/shard"
)

// livePlacement gives every key a partition of its own, as the rig wants.
func livePlacement(seed int64) emulator.Options {
	return emulator.Options{Seed: seed, NoTableLimits: true, Placement: emulator.PlacementIsolated, LogEntries: 200_000}
}

// spender writes to one row on the old key that belongs to another entity, at so
// many units a second, and reports what it spends.
type spender struct {
	rate      atomic.Int64
	throttled atomic.Int64
}

func (s *spender) run(ctx context.Context, r *rig, w *migrate.Watcher) {
	client := dynamodb.New(r.client("live").Options(), func(o *dynamodb.Options) { o.RetryMaxAttempts = 1 })
	owed := 0.0
	for n := 0; ctx.Err() == nil; n++ {
		time.Sleep(20 * time.Millisecond)
		for owed += float64(s.rate.Load()) / 50; owed >= 2; owed -= 2 {
			_, err := client.UpdateItem(context.Background(), &dynamodb.UpdateItemInput{
				TableName: new("rig"), Key: rowKey(fmt.Sprint("live", n%40)),
				UpdateExpression:          new("SET beat = :n"),
				ExpressionAttributeValues: migrate.Item{":n": &types.AttributeValueMemberN{Value: fmt.Sprint(n)}},
			})
			var throttle *types.ThrottlingException
			if errors.As(err, &throttle) {
				s.throttled.Add(1)
			} else {
				must(r.t, err)
			}
			w.Count("RenewalSaga", 0, 2)
		}
	}
}

func TestKF15TheOldKeyKeepsRoomForLiveWrites(t *testing.T) {
	bubble(t, livePlacement(15), func(t *testing.T, r *rig) {
		r.spec.Entity = migrate.Entity{Attribute: "entityType", Value: "RenewalSaga"}
		fat := &types.AttributeValueMemberS{Value: strings.Repeat("x", 1300)}
		for i := range 1000 {
			id, entity := fmt.Sprint(i), "RenewalSaga"
			if i >= 960 {
				id, entity = fmt.Sprint("live", i-960), "Other"
			}
			item := rowOf(id, owner(i), "RenewalSaga")
			item["entityType"] = &types.AttributeValueMemberS{Value: entity}
			item["fat"] = fat
			r.put(r.client("setup"), item)
			time.Sleep(4 * time.Millisecond)
		}
		w := r.watch("app")
		defer w.Close()
		live, stop := context.WithCancel(t.Context())
		var writers sync.WaitGroup
		s := &spender{}
		s.rate.Store(700)
		writers.Go(func() { s.run(live, r, w) })

		type sample struct {
			at   time.Time
			rows int
		}
		var moved []sample
		options := quick
		options.Budget = 1000 // as fast as possible
		options.Observe = func(e migrate.Event) {
			if e.Kind == migrate.EventMoved {
				moved = append(moved, sample{time.Now(), e.Rows})
				if len(moved) == 20 {
					s.rate.Store(840)
				}
			}
		}
		_, err := r.runner("runner", options).Move(t.Context())
		stop()
		writers.Wait()
		must(t, err)
		rose := moved[19].at
		before, after := 0, 0
		for i, m := range moved {
			switch {
			case i > 0 && i < 20:
				before += m.rows
			case m.at.After(rose.Add(2 * time.Second)):
				after += m.rows
			}
		}
		perSecond := func(rows int, from, to time.Time) float64 { return float64(rows) / to.Sub(from).Seconds() }
		was, is := perSecond(before, moved[0].at, rose), perSecond(after, rose.Add(2*time.Second), moved[len(moved)-1].at)
		if was > 150 {
			t.Errorf("%.0f rows/s beside 700 units/s of live writes, want at most 150", was)
		}
		if is > was*0.6 {
			t.Errorf("2 s after live load rose: %.0f rows/s, was %.0f", is, was)
		}
		if n := s.throttled.Load(); n > 0 {
			t.Errorf("%d live writes were throttled", n)
		}
		wantUnitsBelow(t, r, "RenewalSaga", 1000)
		t.Logf("%.0f rows/s, then %.0f rows/s", was, is)
	})
}

// wantUnitsBelow looks at what an index key served in each second.
func wantUnitsBelow(t *testing.T, r *rig, key string, limit float64) {
	t.Helper()
	seconds := map[int64]float64{}
	for _, e := range r.db.Log() {
		for _, u := range e.Units {
			if u.Index == "GSI4" && u.Key == key && e.Outcome == "ok" {
				seconds[e.Time.Unix()] += u.Write
			}
		}
	}
	for second, units := range seconds {
		if units > limit {
			t.Errorf("key %s served %.0f write units in second %d, want at most %.0f", key, units, second, limit)
		}
	}
}

func TestKF16AThrottleStormEndsAndNobodyElsePays(t *testing.T) {
	bubble(t, emulator.Options{Seed: 16}, func(t *testing.T, r *rig) {
		r.load(200)
		w := r.watch("app")
		defer w.Close()
		crowd := r.poll(500*time.Millisecond, ids(200), w)
		var storm int
		options := quick
		options.Observe = func(e migrate.Event) {
			if e.Kind == migrate.EventPublished && storm == 0 {
				storm = r.db.Inject(emulator.Fault{Kind: emulator.FaultThrottle, Caller: "runner", Probability: 0.8})
				time.AfterFunc(20*time.Second, func() { r.db.Withdraw(storm) })
			}
		}
		summary, err := r.runner("runner", options).Move(t.Context())
		must(t, err)
		crowd.halt(t)
		if summary.Progress.Moved+summary.Progress.AlreadyDone != 200 {
			t.Errorf("%+v, want all 200 moved", summary.Progress)
		}
		r.wantOn(r.spec.To)
	})
}

func TestKF17LostAnswersAreOwnWrites(t *testing.T) {
	for _, fence := range []migrate.Fence{migrate.FenceTransaction, migrate.FenceClock} {
		bubble(t, emulator.Options{Seed: 17}, func(t *testing.T, r *rig) {
			r.load(200)
			w := r.watch("app")
			defer w.Close()
			crowd := r.poll(time.Second, ids(200), w)
			for _, operation := range []string{"UpdateItem", "TransactWriteItems", "DeleteItem"} {
				r.db.Inject(emulator.Fault{Kind: emulator.FaultDrop, Operation: operation, Every: 4})
			}
			options := quick
			options.Fence = fence
			summary, err := r.runner("runner", options).Move(t.Context())
			must(t, err)
			crowd.halt(t)
			r.wantOn(r.spec.To)
			p := summary.Progress
			if p.Changed != 0 || p.Gone != 0 || p.Failed != 0 || p.Moved+p.AlreadyDone != 200 {
				t.Errorf("%s: %+v, want 200 rows moved and no conflict", fence, p)
			}
			if fence == migrate.FenceClock && p.AlreadyDone == 0 {
				t.Error("no answer of a row's move was lost, so this proves nothing")
			}
			_, err = r.runner("back", options).Rollback(t.Context())
			must(t, err)
			r.wantOn(r.spec.From)
		})
	}
}

func TestKF18NoFalseAlarmsAndEachDefectFound(t *testing.T) {
	for seed := range int64(2) {
		bubble(t, emulator.Options{Seed: seed, LagMin: time.Millisecond, LagMax: 3 * time.Second, Unlimited: true}, func(t *testing.T, r *rig) {
			r.load(200)
			time.Sleep(5 * time.Second)
			_, err := r.runner("runner", quick).Move(t.Context())
			must(t, err)
			busy, stop := context.WithCancel(t.Context())
			var users sync.WaitGroup
			users.Go(func() { r.churn(busy) })
			time.Sleep(2 * time.Second)
			report, err := migrate.Verify(t.Context(), r.client("verify"), r.spec, migrate.VerifyOptions{})
			must(t, err)
			if report.Err() != nil || report.Rows.Rechecks == 0 {
				t.Errorf("seed %d: %v with %d rechecks, want no alarm: %v", seed, report.Err(), report.Rows.Rechecks, report.Findings)
			}
			r.restamp(t, owner(90), "RenewalSaga")
			time.Sleep(5 * time.Second)
			report, err = migrate.Verify(t.Context(), r.client("verify"), r.spec, migrate.VerifyOptions{})
			must(t, err)
			if report.Rows.Defects != 2 || report.Kinds[migrate.KindOldKey] != 2 {
				t.Errorf("seed %d: %v, want the 2 planted defects: %v", seed, report.Kinds, report.Findings)
			}
			sampled, err := migrate.Verify(t.Context(), r.client("verify"), r.spec, migrate.VerifyOptions{Sample: 50, Seed: 3})
			must(t, err)
			if sampled.Owners.Checked != 50 {
				t.Errorf("sampled %d owners, want 50", sampled.Owners.Checked)
			}
			stop()
			users.Wait()
		})
	}
}

// churn updates 125 rows a second and creates and deletes 12, all on the right
// shard.
func (r *rig) churn(ctx context.Context) {
	client := r.client("user")
	for n := 0; ctx.Err() == nil; n++ {
		time.Sleep(8 * time.Millisecond)
		_, err := client.UpdateItem(context.Background(), &dynamodb.UpdateItemInput{
			TableName: new("rig"), Key: rowKey(fmt.Sprint(n % 170)),
			UpdateExpression:          new("SET beat = :n"),
			ExpressionAttributeValues: migrate.Item{":n": &types.AttributeValueMemberN{Value: fmt.Sprint(n)}},
		})
		must(r.t, err)
		if n%10 == 0 {
			o := owner(500 + n)
			r.put(client, rowOf(fmt.Sprint("new", n), o, r.spec.To.Key(o)))
		}
		if n%10 == 5 && n > 400 {
			r.remove(fmt.Sprint("new", n-405))
		}
	}
}

func TestKF19TheWayBackTakesEverything(t *testing.T) {
	bubble(t, emulator.Options{Seed: 19}, func(t *testing.T, r *rig) {
		r.load(100)
		w := r.watch("app")
		defer w.Close()
		_, err := r.runner("runner", quick).Move(t.Context())
		must(t, err)
		user := r.client("user")
		for i := range 50 {
			o := owner(200 + i)
			r.put(user, rowOf(fmt.Sprint("later", i), o, r.spec.To.Key(o)))
		}
		for i := range 20 {
			r.remove(fmt.Sprint(i))
		}
		for i := 20; i < 30; i++ { // a new owner, and the key that goes with it
			o := owner(300 + i)
			r.put(user, rowOf(fmt.Sprint(i), o, r.spec.To.Key(o)))
		}
		writing, stop := context.WithCancel(t.Context())
		var writers sync.WaitGroup
		writers.Go(func() { r.open(writing, w, "during") })
		_, err = r.runner("back", quick).Rollback(t.Context())
		must(t, err)
		stop()
		writers.Wait()
		r.wantOn(r.spec.From)
		time.Sleep(time.Second)
		old := r.reader("old", fanout.Static(shard.Static(r.spec.From)))
		rows, err := fanout.Collect(old.All(t.Context(), fanout.Query{}))
		must(t, err)
		if want := len(r.base()); len(rows) != want || want < 130 {
			t.Errorf("the old reader sees %d of %d rows", len(rows), want)
		}
		_, err = r.runner("again", quick).Move(t.Context())
		must(t, err)
		r.wantOn(r.spec.To)
	})
}

// open creates rows as an application does: stamp, write, confirm.
func (r *rig) open(ctx context.Context, w *migrate.Watcher, name string) {
	client := r.client("writer")
	for n := 0; ctx.Err() == nil; n++ {
		o := owner(n % 60)
		stamp, err := w.Stamp(context.Background(), o)
		must(r.t, err)
		id := fmt.Sprint(name, n)
		r.put(client, rowOf(id, o, stamp.Key))
		_, err = w.Confirm(context.Background(), stamp, rowKey(id))
		must(r.t, err)
		time.Sleep(200 * time.Millisecond)
	}
}

func TestKF20OldWritersAreFoundAndHealed(t *testing.T) {
	bubble(t, emulator.Options{Seed: 20}, func(t *testing.T, r *rig) {
		r.load(60)
		w := r.watch("new")
		crowd := r.poll(2*time.Second, ids(60), w)
		old, stop := context.WithCancel(t.Context())
		var writers sync.WaitGroup
		writers.Go(func() {
			for n := 0; old.Err() == nil; n++ {
				r.put(r.client("old"), rowOf(fmt.Sprint("old", n), owner(n), "RenewalSaga"))
				time.Sleep(3 * time.Second)
			}
		})
		options := migrate.Options{Alone: true, Watch: 20 * time.Second}
		runner := r.runner("runner", options)
		_, err := runner.Move(t.Context())
		gate := &migrate.GateError{}
		if !errors.As(err, &gate) || gate.Gate != "stragglers" && gate.Gate != "left" {
			t.Errorf("complete beside an old writer: %v, want a refusal", err)
		}
		stop()
		writers.Wait()
		_, err = runner.Move(t.Context())
		must(t, err)
		crowd.halt(t)
		must(t, w.Close())
		r.wantOn(r.spec.To)

		guard := must1(migrate.NewGuard(r.client("guard"), r.spec, migrate.GuardOptions{Heal: true, Every: 10 * time.Minute, For: 24 * time.Hour}))
		time.AfterFunc(20*time.Hour, func() { r.put(r.client("old"), rowOf("a-day-late", owner(7), "RenewalSaga")) })
		report, err := guard.Watch(t.Context())
		must(t, err)
		if report.Found != 1 || report.Healed != 1 || !errors.Is(report.Err(), migrate.ErrDrift) {
			t.Errorf("guard: found %d, healed %d, %v", report.Found, report.Healed, report.Err())
		}
		r.wantOn(r.spec.To)
	})
}
