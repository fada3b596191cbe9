package migrate_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/hotsplit/hotsplit/emulator"
	"github.com/hotsplit/hotsplit/emulator/awsjson"
	"github.com/hotsplit/hotsplit/fanout"
	"github.com/hotsplit/hotsplit/migrate"
	"github.com/hotsplit/hotsplit/shard"
)

func TestKF04RaisingTheCountIsRefused(t *testing.T) {
	bubble(t, emulator.Options{Seed: 4}, func(t *testing.T, r *rig) {
		r.load(24)
		_, err := r.runner("runner", quick).Move(t.Context())
		must(t, err)
		for _, count := range []int{16, 8} {
			_, err := migrate.Watch(t.Context(), r.client("app"), rigSpec(0, count), migrate.WatchOptions{})
			if !errors.Is(err, migrate.ErrMismatch) || !strings.Contains(err.Error(), "RenewalSaga ×12") {
				t.Errorf("count %d: %v, want a refusal that says what the record holds", count, err)
			}
		}
		w := r.watch("app")
		defer w.Close()
		rows, err := fanout.Collect(r.reader("app", w).All(t.Context(), fanout.Query{}))
		must(t, err)
		if len(rows) != 24 {
			t.Errorf("listed %d rows, want all 24", len(rows))
		}
	})
}

func TestKF10NoRowIsInvisibleWhileItsKeyMoves(t *testing.T) {
	for name, c := range map[string]struct {
		late    emulator.Half
		watched bool
	}{
		"put late":                     {emulator.HalfPut, true},
		"delete late":                  {emulator.HalfDelete, true},
		"put late, moving set ignored": {emulator.HalfPut, false},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, emulator.Options{Seed: 10}, func(t *testing.T, r *rig) { kf10(t, r, c.late, c.watched) })
		})
	}
}

// kf10 moves rows while one half of each key change shows up to 3 s late. With
// the moving set ignored, readers must be seen to miss rows: the check can fail.
func kf10(t *testing.T, r *rig, late emulator.Half, watched bool) {
	r.load(300)
	w := r.watch("app")
	defer w.Close()
	source := fanout.Source(w)
	if !watched {
		source = blind{w}
	}
	crowd := r.poll(250*time.Millisecond, ids(300), source)
	hold, stop := context.WithCancel(t.Context())
	var held sync.WaitGroup
	held.Go(func() {
		for hold.Err() == nil {
			must(t, r.db.HoldIndex("rig", "GSI4", late))
			select {
			case <-hold.Done():
			case <-time.After(3 * time.Second):
			}
			must(t, r.db.ReleaseIndex("rig", "GSI4", late))
		}
	})
	_, err := r.runner("runner", quick).Move(t.Context())
	stop()
	held.Wait()
	must(t, err)
	if watched {
		crowd.halt(t)
		return
	}
	crowd.stop()
	crowd.wg.Wait()
	if len(crowd.missed) == 0 {
		t.Error("readers without the moving set missed nothing, so this check proves nothing")
	}
}

// blind is a planted fault: a member that ignores the moving set.
type blind struct{ *migrate.Watcher }

func (b blind) View(ctx context.Context) (fanout.View, error) {
	view, err := b.Watcher.View(ctx)
	view.Moving = nil
	return view, err
}

// onPublish calls do once, after rows were read and published, before they move.
func onPublish(do func()) migrate.Options {
	options, done := quick, false
	options.Observe = func(e migrate.Event) {
		if e.Kind == migrate.EventPublished && !done {
			done = true
			do()
		}
	}
	return options
}

func TestKF11DeletedRowsStayDeleted(t *testing.T) {
	for _, fence := range []migrate.Fence{migrate.FenceTransaction, migrate.FenceClock} {
		bubble(t, emulator.Options{Seed: 11}, func(t *testing.T, r *rig) {
			r.load(60)
			options := onPublish(func() {
				for i := range 10 {
					r.remove(fmt.Sprint(i))
				}
				for i := 10; i < 15; i++ {
					r.remove(fmt.Sprint(i))
					r.put(r.client("user"), rowOf(fmt.Sprint(i), "newcomer", "RenewalSaga"))
				}
			})
			options.Fence = fence
			summary, err := r.runner("runner", options).Move(t.Context())
			must(t, err)
			rows := r.base()
			for i := range 10 {
				if _, there := rows[fmt.Sprintf("RSAGA#%d", i)]; there {
					t.Errorf("row %d came back to life", i)
				}
			}
			r.wantOn(r.spec.To)
			if len(rows) != 50 || summary.Progress.Gone != 10 || summary.Progress.Changed != 5 {
				t.Errorf("%d rows, %+v; want 50, 10 gone, 5 changed", len(rows), summary.Progress)
			}
		})
	}
}

func TestKF12UsersChangesSurvive(t *testing.T) {
	bubble(t, emulator.Options{Seed: 12}, func(t *testing.T, r *rig) {
		r.recreate(t, types.Projection{ProjectionType: types.ProjectionTypeInclude, NonKeyAttributes: []string{"status"}})
		want := map[string]migrate.Item{}
		for i := range 50 {
			item := rowOf(fmt.Sprint(i), owner(i), "RenewalSaga")
			item["note"] = &types.AttributeValueMemberM{Value: migrate.Item{
				"deep": &types.AttributeValueMemberL{Value: []types.AttributeValue{&types.AttributeValueMemberNULL{Value: true}, &types.AttributeValueMemberN{Value: "12345678901234567890123456789012345678"}}},
			}}
			item["bytes"] = &types.AttributeValueMemberB{Value: []byte{0, 255, byte(i)}}
			item["tags"] = &types.AttributeValueMemberSS{Value: []string{"a", "b"}}
			item["version"] = &types.AttributeValueMemberN{Value: "1"}
			r.put(r.client("setup"), item)
			want[text(item, "PK")] = item
		}
		time.Sleep(time.Second)
		ctx, stop := context.WithCancel(t.Context())
		var user sync.WaitGroup
		user.Go(func() {
			client := r.client("user")
			for n := 0; ctx.Err() == nil; n++ {
				pk := fmt.Sprintf("RSAGA#%d", n%50)
				amount, status := fmt.Sprint(n), fmt.Sprint("s", n%7)
				_, err := client.UpdateItem(context.Background(), &dynamodb.UpdateItemInput{
					TableName: new("rig"), Key: rowKey(fmt.Sprint(n % 50)),
					UpdateExpression:         new("SET amount = :a, #s = :s"),
					ExpressionAttributeNames: map[string]string{"#s": "status"},
					ExpressionAttributeValues: migrate.Item{
						":a": &types.AttributeValueMemberN{Value: amount}, ":s": &types.AttributeValueMemberS{Value: status},
					},
				})
				must(t, err)
				want[pk]["amount"] = &types.AttributeValueMemberN{Value: amount}
				want[pk]["status"] = &types.AttributeValueMemberS{Value: status}
				time.Sleep(20 * time.Millisecond)
			}
		})
		_, err := r.runner("runner", quick).Move(t.Context())
		stop()
		user.Wait()
		must(t, err)
		for pk, item := range want {
			item["GSI4PK"] = &types.AttributeValueMemberS{Value: r.spec.To.Key(text(item, "personId"))}
			want[pk] = item
		}
		if diff := cmp.Diff(want, r.base(), sdkValues...); diff != "" {
			t.Errorf("rows (-want +got):\n%s", diff)
		}
		for _, e := range r.db.Log() {
			if e.Caller == "runner" && (e.Operation == "PutItem" || e.Operation == "BatchWriteItem") {
				t.Errorf("the runner sent %s", e.Operation)
			}
		}
	})
}

func TestKF13TwoRunnersAndAKill(t *testing.T) {
	for _, fence := range []migrate.Fence{migrate.FenceTransaction, migrate.FenceClock} {
		bubble(t, emulator.Options{Seed: 13}, func(t *testing.T, r *rig) {
			r.load(400)
			w := r.watch("app")
			defer w.Close()
			crowd := r.poll(time.Second, ids(400), w)
			line := &wire{next: awsjson.Transport(r.db)}
			options := quick
			options.Fence = fence
			options.Observe = func(e migrate.Event) {
				if e.Kind == migrate.EventMoved && line.moved.Add(int64(e.Rows)) >= 160 {
					line.cut()
				}
			}
			first := must1(migrate.NewRunner(line.client("first"), r.spec, options))
			ended := make(chan error, 1)
			go func() { _, err := first.Move(context.Background()); ended <- err }()
			time.Sleep(5 * time.Second)
			options.Observe = nil
			_, err := r.runner("second", options).Move(t.Context())
			var held *migrate.LeaseError
			if !errors.As(err, &held) {
				t.Errorf("second runner beside the first: %v, want a refusal that names it", err)
			}
			for !line.dead.Load() {
				time.Sleep(time.Second)
			}
			summary, err := r.runner("second", options).Move(t.Context())
			must(t, err)
			if err := <-ended; err == nil {
				t.Error("the killed runner reports success")
			}
			crowd.halt(t)
			r.wantOn(r.spec.To)
			writes := r.rowWrites("first") + r.rowWrites("second")
			if writes > 400+100 {
				t.Errorf("%d row writes for 400 rows", writes)
			}
			_ = summary
		})
	}
}

func TestKF14ResumesFromCheckpoints(t *testing.T) {
	for _, source := range []migrate.Source{migrate.SourceDrain, migrate.SourceScan} {
		bubble(t, emulator.Options{Seed: 14, Unlimited: true, LogEntries: 200_000}, func(t *testing.T, r *rig) {
			const rows, kills, segments = 2000, 20, 8
			r.load(rows)
			starter := r.runner("starter", quick)
			must(t, starter.Start(t.Context()))
			must(t, starter.AdvanceTo(t.Context(), shard.Backfill))
			must(t, starter.Release(t.Context()))
			budget := 2000.0
			must(t, must1(migrate.OpenLedger(r.client("ops"), r.spec)).Set(t.Context(), migrate.Settings{Budget: &budget}))
			last := int64(0)
			for kill := range kills {
				line := &wire{next: awsjson.Transport(r.db)}
				options := quick
				options.Source, options.Segments, options.BatchRows = source, segments, 60
				chunks := 0
				ctx, die := context.WithCancel(t.Context())
				options.Observe = func(e migrate.Event) {
					if e.Kind == migrate.EventMoved {
						if chunks++; chunks > 3+kill%5 {
							line.cut()
							die()
						}
					}
				}
				runner := must1(migrate.NewRunner(line.client("runner"), r.spec, options))
				_, _ = runner.Move(ctx)
				die()
				record, err := must1(migrate.OpenLedger(r.client("ops"), r.spec)).Load(t.Context())
				must(t, err)
				if record.Progress.Moved < last {
					t.Errorf("progress went from %d to %d", last, record.Progress.Moved)
				}
				last = record.Progress.Moved
			}
			options := quick
			options.Source, options.Segments = source, segments
			_, err := r.runner("runner", options).Move(t.Context())
			must(t, err)
			r.wantOn(r.spec.To)
			if writes := r.rowWrites("runner"); writes != rows {
				t.Errorf("%d row writes, want %d", writes, rows)
			}
		})
	}
}

func TestKF14OtherSegmentCountIsRefused(t *testing.T) {
	bubble(t, emulator.Options{Seed: 15}, func(t *testing.T, r *rig) {
		r.load(400)
		line := &wire{next: awsjson.Transport(r.db)}
		options := quick
		options.Source, options.Segments, options.BatchRows = migrate.SourceScan, 8, 25
		options.Observe = func(e migrate.Event) {
			if e.Kind == migrate.EventSettled && line.moved.Add(int64(e.Rows)) > 150 {
				line.cut()
			}
		}
		_, _ = must1(migrate.NewRunner(line.client("runner"), r.spec, options)).Move(t.Context())
		options.Segments, options.Observe = 4, nil
		_, err := r.runner("runner", options).Move(t.Context())
		if !errors.Is(err, migrate.ErrCheckpoint) {
			t.Errorf("resume with 4 segments after 8: %v, want a refusal", err)
		}
	})
}

// wire is a process's way to the service. Once cut, nothing passes any more, as
// if the process had been killed; while frozen, requests wait.
type wire struct {
	next   http.RoundTripper
	dead   atomic.Bool
	moved  atomic.Int64
	frozen atomic.Pointer[chan struct{}]
	only   func(*http.Request) bool // freezes these requests alone; nil freezes all
}

func (w *wire) cut() { w.dead.Store(true) }

func (w *wire) freeze() { c := make(chan struct{}); w.frozen.CompareAndSwap(nil, &c) }

func (w *wire) thaw() {
	if c := w.frozen.Swap(nil); c != nil {
		close(*c)
	}
}

var errCut = errors.New("killed")

func (w *wire) RoundTrip(req *http.Request) (*http.Response, error) {
	if w.dead.Load() {
		return nil, errCut
	}
	if c := w.frozen.Load(); c != nil && (w.only == nil || w.only(req)) {
		<-*c
	}
	return w.next.RoundTrip(req)
}

func (w *wire) client(name string) *dynamodb.Client {
	return dynamodb.New(dynamodb.Options{
		Region: "us-east-1", Credentials: aws.AnonymousCredentials{},
		HTTPClient: &http.Client{Transport: callerHeader{name, w}},
	})
}

// rowWrites counts the rows that a caller changed.
func (r *rig) rowWrites(caller string) int {
	n := 0
	for _, e := range r.db.Log() {
		if e.Caller != caller || e.Outcome != "ok" {
			continue
		}
		for _, u := range e.Units {
			if u.Index == "" && u.Write > 0 && strings.HasPrefix(u.Key, "RSAGA#") {
				n++
			}
		}
	}
	return n
}

var sdkValues = []cmp.Option{cmp.Transformer("value", func(v types.AttributeValue) any {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return "S:" + v.Value
	case *types.AttributeValueMemberN:
		return "N:" + v.Value
	case *types.AttributeValueMemberB:
		return fmt.Sprintf("B:%x", v.Value)
	case *types.AttributeValueMemberSS:
		return "SS:" + strings.Join(slices.Sorted(slices.Values(v.Value)), ",")
	case *types.AttributeValueMemberNULL:
		return nil
	case *types.AttributeValueMemberL:
		return v.Value
	case *types.AttributeValueMemberM:
		return maps.Clone(v.Value)
	}
	return v
})}

// recreate makes the table anew with another projection.
func (r *rig) recreate(t testing.TB, p types.Projection) {
	t.Helper()
	_, err := r.client("setup").DeleteTable(context.Background(), &dynamodb.DeleteTableInput{TableName: new("rig")})
	must(t, err)
	r.createTable(p)
}
