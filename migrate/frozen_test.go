package migrate_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/hotsplit/hotsplit/emulator"
	"github.com/hotsplit/hotsplit/emulator/awsjson"
	"github.com/hotsplit/hotsplit/fanout"
	"github.com/hotsplit/hotsplit/migrate"
	"github.com/hotsplit/hotsplit/shard"
)

// A runner is frozen with a move in hand, replaced, and thaws after the rows went
// back: the move must not land. Without the fence this loses rows, see
// protocol-model.py nofence.
func TestThawedRunnerMovesNothing(t *testing.T) {
	bubble(t, emulator.Options{Seed: 30}, func(t *testing.T, r *rig) {
		r.load(60)
		line := &wire{next: awsjson.Transport(r.db), only: func(req *http.Request) bool {
			return strings.HasSuffix(req.Header.Get("X-Amz-Target"), ".TransactWriteItems")
		}}
		options := quick
		options.Observe = func(e migrate.Event) {
			if e.Kind == migrate.EventPublished {
				line.freeze() // the next transaction is the move
			}
		}
		first := must1(migrate.NewRunner(line.client("first"), r.spec, options))
		ended := make(chan error, 1)
		go func() { _, err := first.Move(context.Background()); ended <- err }()
		time.Sleep(20 * time.Second)
		second := r.runner("second", quick)
		must(t, second.Start(t.Context()))
		must(t, second.AdvanceTo(t.Context(), shard.Verified))
		r.wantOn(r.spec.To)
		_, err := second.Rollback(t.Context())
		must(t, err)
		line.thaw()
		if err := <-ended; !errors.Is(err, migrate.ErrLeaseLost) {
			t.Errorf("the thawed runner ends with %v, want that it lost the lease", err)
		}
		r.wantOn(r.spec.From)
		if n := r.rowWrites("first"); n != 0 {
			t.Errorf("the thawed runner changed %d rows", n)
		}
	})
}

// A writer is frozen between stamp and write for a minute while the move goes
// from planned to complete. The row must be right before it is acknowledged.
func TestFrozenWriterIsRepairedBeforeItAcknowledges(t *testing.T) {
	bubble(t, emulator.Options{Seed: 31}, func(t *testing.T, r *rig) {
		r.load(20)
		line := &wire{next: awsjson.Transport(r.db)}
		w := must1(migrate.Watch(t.Context(), line.client("writer"), r.spec, migrate.WatchOptions{Member: "writer"}))
		stamp, err := w.Stamp(t.Context(), "person-3")
		must(t, err)
		if stamp.Key != "RenewalSaga" {
			t.Fatalf("stamped %q before the move", stamp.Key)
		}
		line.freeze()
		began := time.Now()
		_, err = r.runner("runner", quick).Move(t.Context())
		must(t, err)
		if took := time.Since(began); took < 15*time.Second || took > 10*time.Minute {
			t.Errorf("the move took %v beside a silent member", took)
		}
		line.thaw()
		r.put(line.client("writer"), rowOf("late", "person-3", stamp.Key))
		confirmed, err := w.Confirm(t.Context(), stamp, rowKey("late"))
		must(t, err)
		if want := r.spec.To.Key("person-3"); confirmed.Key != want {
			t.Errorf("confirmed %q, want %q", confirmed.Key, want)
		}
		r.wantOn(r.spec.To)
		must(t, w.Close())
	})
}

func TestMemberOutOfReachRefuses(t *testing.T) {
	bubble(t, emulator.Options{Seed: 32}, func(t *testing.T, r *rig) {
		r.load(10)
		must(t, r.runner("runner", quick).Start(t.Context()))
		line := &wire{next: awsjson.Transport(r.db)}
		w := must1(migrate.Watch(t.Context(), line.client("app"), r.spec, migrate.WatchOptions{}))
		line.cut()
		time.Sleep(10 * time.Second)
		if _, err := w.Stamp(t.Context(), "person-1"); !errors.Is(err, migrate.ErrStale) {
			t.Errorf("stamp: %v, want ErrStale", err)
		}
		if _, err := w.View(t.Context()); !errors.Is(err, migrate.ErrStale) {
			t.Errorf("view: %v, want ErrStale", err)
		}
		line.dead.Store(false)
		time.Sleep(2 * time.Second)
		_, err := w.Stamp(t.Context(), "person-1")
		must(t, err)
		must(t, w.Close())
		must(t, w.Close())
	})
}

func TestUnknownPhaseReadsBothAndWritesNothing(t *testing.T) {
	bubble(t, emulator.Options{Seed: 33}, func(t *testing.T, r *rig) {
		r.load(10)
		runner := r.runner("runner", quick)
		must(t, runner.Start(t.Context()))
		must(t, runner.Release(t.Context()))
		r.setRecord(t, "phase", &types.AttributeValueMemberS{Value: "sideways"})
		r.setRecord(t, "novelty", &types.AttributeValueMemberS{Value: "kept"})
		w := r.watch("app")
		defer w.Close()
		view, err := w.View(t.Context())
		must(t, err)
		if len(view.Routing.Read) != 2 {
			t.Errorf("reads %v, want both layouts", view.Routing.Read)
		}
		if _, err := w.Stamp(t.Context(), "person-1"); !errors.Is(err, migrate.ErrUnknownPhase) {
			t.Errorf("stamp: %v, want ErrUnknownPhase", err)
		}
		must(t, r.ledger().Pause(t.Context(), "x"))
		if got := text(r.record(t), "novelty"); got != "kept" {
			t.Errorf("a field of a newer release is %q, want kept", got)
		}
	})
}

func TestNobodyReportsNeedsTheOperator(t *testing.T) {
	bubble(t, emulator.Options{Seed: 34}, func(t *testing.T, r *rig) {
		r.load(10)
		_, err := r.runner("runner", migrate.Options{Watch: -1}).Move(t.Context())
		gate := &migrate.GateError{}
		if !errors.As(err, &gate) || gate.Gate != string(migrate.QuestionWait) {
			t.Errorf("a move without members: %v, want the question whether to go on", err)
		}
		var asked []migrate.QuestionKind
		_, err = r.runner("runner", migrate.Options{Watch: -1, Confirm: func(_ context.Context, q migrate.Question) error {
			asked = append(asked, q.Kind)
			return nil
		}}).Move(t.Context())
		must(t, err)
		if want := "[wait wait alone wait wait wait wait]"; fmt.Sprint(asked) != want {
			t.Errorf("asked %v, want %v", asked, want)
		}
	})
}

func TestProjectionsAndPlainKeys(t *testing.T) {
	bubble(t, emulator.Options{Seed: 35}, func(t *testing.T, r *rig) {
		r.recreate(t, types.Projection{ProjectionType: types.ProjectionTypeKeysOnly})
		r.load(60)
		_, err := r.runner("runner", quick).Move(t.Context())
		must(t, err)
		r.wantOn(r.spec.To)
		_, err = r.runner("runner", quick).Rollback(t.Context())
		must(t, err)
		r.wantOn(r.spec.From)
	})
	bubble(t, emulator.Options{Seed: 36}, func(t *testing.T, r *rig) {
		r.plainKey(t)
		r.load(60)
		w := must1(migrate.Watch(t.Context(), r.client("app"), r.spec, migrate.WatchOptions{}))
		_, err := r.runner("runner", quick).Move(t.Context())
		must(t, err)
		r.wantOn(r.spec.To)
		members, err := r.ledger().Members(t.Context())
		must(t, err)
		events, err := r.ledger().Events(t.Context(), 0)
		must(t, err)
		if len(members) != 1 || len(events) != 6 {
			t.Errorf("%d members and %d events in a table without a sort key, want 1 and 6", len(members), len(events))
		}
		must(t, w.Close())
		members, err = r.ledger().Members(t.Context())
		must(t, err)
		if len(members) != 0 {
			t.Errorf("%d members after the only one left", len(members))
		}
	})
}

func TestUnshardableRowsAreRefusedOrLeftByName(t *testing.T) {
	bubble(t, emulator.Options{Seed: 37}, func(t *testing.T, r *rig) {
		r.load(20)
		r.put(r.client("setup"), rowOf("odd", "a#b", "RenewalSaga"))
		_, err := r.runner("runner", quick).Move(t.Context())
		gate := &migrate.GateError{}
		if !errors.As(err, &gate) || gate.Gate != "unshardable" {
			t.Fatalf("a row of owner a#b: %v, want a refusal", err)
		}
		must(t, r.ledger().Set(t.Context(), migrate.Settings{Excluded: []string{string(shard.OwnerSeparator)}}))
		_, err = r.runner("runner", quick).Move(t.Context())
		must(t, err)
		if key := text(r.base()["RSAGA#odd"], "GSI4PK"); key != "RenewalSaga" {
			t.Errorf("the row that was left behind carries %q", key)
		}
	})
}

// A step of the moving set is never skipped: a reader that holds the set of an
// older version is done again.
func TestHoldsAnswersForEarlierViewsWithinTheBound(t *testing.T) {
	bubble(t, emulator.Options{Seed: 38}, func(t *testing.T, r *rig) {
		r.load(4)
		runner := r.runner("runner", quick)
		must(t, runner.Start(t.Context()))
		w := r.watch("app")
		defer w.Close()
		before, err := w.View(t.Context())
		must(t, err)
		must(t, runner.AdvanceTo(t.Context(), shard.DualRead))
		held, err := w.Holds(t.Context(), before)
		must(t, err)
		if held {
			t.Error("a view of planned holds after everybody agreed on dual-read")
		}
		var _ fanout.Source = w
	})
}

// A user changes the index's sort key of rows that are on the way: they settle
// all the same, under both sources.
func TestSortKeysMayChangeOnTheWay(t *testing.T) {
	for _, source := range []migrate.Source{migrate.SourceDrain, migrate.SourceScan} {
		bubble(t, emulator.Options{Seed: 39}, func(t *testing.T, r *rig) {
			r.load(400)
			options, done := quick, false
			options.Source, options.BatchRows = source, 40
			options.Observe = func(e migrate.Event) {
				if e.Kind != migrate.EventMoved || done {
					return
				}
				done = true
				for i := range 400 {
					_, err := r.client("user").UpdateItem(context.Background(), &dynamodb.UpdateItemInput{
						TableName: new("rig"), Key: rowKey(fmt.Sprint(i)), UpdateExpression: new("SET GSI4SK = :s"),
						ExpressionAttributeValues: migrate.Item{":s": &types.AttributeValueMemberS{Value: owner(i/2) + "#2027"}},
					})
					must(t, err)
				}
			}
			_, err := r.runner("runner", options).Move(t.Context())
			must(t, err)
			r.wantOn(r.spec.To)
		})
	}
}
