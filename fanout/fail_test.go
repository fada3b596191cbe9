package fanout_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"go.uber.org/goleak"

	"github.com/hotsplit/hotsplit/emulator"
	"github.com/hotsplit/hotsplit/fanout"
	"github.com/hotsplit/hotsplit/shard"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// spread is 120 rows on 12 shards, several on each.
func spread(t *testing.T, o rigOptions) (*rig, collection) {
	t.Helper()
	c := shape{rows: 120, count: 12, owners: 60, ties: 1, rare: 4}.build("RenewalSaga", 20)
	r := newRig(t, o)
	r.load(t, c.rows, 0)
	return r, c
}

// entryPoints asks for everything in every way and returns what came and the error.
func entryPoints(r *fanout.Reader, owners []string) map[string]func(context.Context, fanout.Query) ([]string, error) {
	return map[string]func(context.Context, fanout.Query) ([]string, error){
		"All": func(ctx context.Context, q fanout.Query) ([]string, error) {
			items, err := fanout.Collect(r.All(ctx, q))
			return idsOf(items), err
		},
		"Owners": func(ctx context.Context, q fanout.Query) ([]string, error) {
			items, err := fanout.Collect(r.Owners(ctx, owners, q))
			return idsOf(items), err
		},
		"Count": func(ctx context.Context, q fanout.Query) ([]string, error) {
			n, err := r.Count(ctx, q)
			return make([]string, n), err
		},
		"Page": func(ctx context.Context, q fanout.Query) ([]string, error) {
			p, err := r.Page(ctx, fanout.PageRequest{Query: q, Limit: 200})
			if err == nil && p.Partial() {
				err = &fanout.PartialError{Failed: p.Failed}
			}
			return idsOf(p.Items), err
		},
	}
}

func ownersOf(rows []entry) []string {
	var owners []string
	for _, e := range rows {
		owners = append(owners, e.owner)
	}
	return slices.Compact(slices.Sorted(slices.Values(owners)))
}

func TestKF08FailedShardsAreNamed(t *testing.T) {
	faults := map[string]emulator.Fault{
		"throttled": {Kind: emulator.FaultThrottle},
		"broken":    {Kind: emulator.FaultError},
		"dropped":   {Kind: emulator.FaultDrop},
	}
	for fault, f := range faults {
		for _, routing := range []string{"static", "dual"} {
			t.Run(fault+" "+routing, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					r, c := spread(t, rigOptions{})
					f.Key, f.Operation, f.Index = "RenewalSaga#5", "Query", "GSI4"
					r.db.Inject(f)
					way := shard.Static(c.layout)
					if routing == "dual" {
						way = shard.StaticDual(layout("RenewalSaga", 0), c.layout, c.layout)
					}
					reader := r.reader(way)
					healthy := slices.DeleteFunc(slices.Clone(c.rows), func(e entry) bool { return e.key == f.Key })
					for name, read := range entryPoints(reader, ownersOf(c.rows)) {
						_, err := read(t.Context(), fanout.Query{})
						fault, ok := errors.AsType[*fanout.ShardError](err)
						if !ok || fault.Key != f.Key || fault.Index != "GSI4" || errors.Is(err, fanout.ErrPartial) {
							t.Errorf("%s: %v, want a ShardError of %s", name, err, f.Key)
						}
						got, err := read(t.Context(), fanout.Query{Partial: true})
						gap, ok := errors.AsType[*fanout.PartialError](err)
						if !ok || len(gap.Failed) != 1 || gap.Failed[0].Key != f.Key {
							t.Errorf("%s, partial: %v, want a PartialError of %s", name, err, f.Key)
						}
						if len(got) != len(healthy) {
							t.Errorf("%s, partial: %d rows, want the %d of the healthy shards", name, len(got), len(healthy))
						}
					}
				})
			})
		}
	}
}

func TestKF08PartialPagesComeBackForTheRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, c := spread(t, rigOptions{})
		reader := r.reader(shard.Static(c.layout))
		for _, limit := range []int{7, 30, 200} {
			for _, descending := range []bool{false, true} {
				var got []string
				cursor, partial := "", 0
				for page := 0; ; page++ {
					fault := 0
					if page < 4 {
						fault = r.db.Inject(emulator.Fault{Kind: emulator.FaultError, Key: fmt.Sprintf("RenewalSaga#%d", 5+page/2), Operation: "Query"})
					}
					p, err := reader.Page(t.Context(), fanout.PageRequest{
						Query: fanout.Query{Partial: true, Descending: descending}, Limit: limit, Cursor: cursor,
					})
					must(t, err)
					r.db.Withdraw(fault)
					if p.Partial() {
						partial++
						if p.Next == "" {
							t.Fatal("a partial page without a cursor for the rest")
						}
					}
					got = append(got, idsOf(p.Items)...)
					if cursor = p.Next; cursor == "" {
						break
					}
				}
				slices.Sort(got)
				if want := slices.Sorted(slices.Values(ids(c.rows))); !slices.Equal(got, want) || partial == 0 {
					t.Fatalf("limit %d, descending %t: %d rows in %d partial pages, want each of %d once", limit, descending, len(got), partial, len(want))
				}
			}
		}
	})
}

func TestPartialCursorsExpireWithTheRouting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, c := spread(t, rigOptions{})
		rec := &record{}
		wide := layout("RenewalSaga", 16)
		rec.publish(shard.RoutingFor(shard.Planned, c.layout, wide, 1), nil)
		reader := fanout.New(r.client, r.table, &follower{record: rec}, fanout.Options{})
		fault := r.db.Inject(emulator.Fault{Kind: emulator.FaultError, Key: "RenewalSaga#5", Operation: "Query"})
		partial, err := reader.Page(t.Context(), fanout.PageRequest{Query: fanout.Query{Partial: true}, Limit: 10})
		must(t, err)
		r.db.Withdraw(fault)
		whole, err := reader.Page(t.Context(), fanout.PageRequest{Limit: 10})
		must(t, err)
		rec.publish(shard.RoutingFor(shard.DualRead, c.layout, wide, 2), nil)
		time.Sleep(bound)
		if _, err := reader.Page(t.Context(), fanout.PageRequest{Limit: 10, Cursor: partial.Next}); !errors.Is(err, fanout.ErrCursorExpired) {
			t.Errorf("partial cursor under a new routing: %v", err)
		}
		next, err := reader.Page(t.Context(), fanout.PageRequest{Limit: 10, Cursor: whole.Next})
		must(t, err)
		if got, want := idsOf(next.Items), ids(sorted(c.rows, false))[10:20]; !slices.Equal(got, want) {
			t.Errorf("whole cursor under a new routing: got %v, want %v", got, want)
		}
	})
}

func TestKF08TimedOutAndCancelledCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, c := spread(t, rigOptions{})
		r.db.Inject(emulator.Fault{Kind: emulator.FaultDelay, Delay: time.Hour, Key: "RenewalSaga#5", Operation: "Query"})
		for name, read := range entryPoints(r.reader(shard.Static(c.layout)), ownersOf(c.rows)) {
			for _, partial := range []bool{false, true} {
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				start := time.Now()
				_, err := read(ctx, fanout.Query{Partial: partial})
				cancel()
				if !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, fanout.ErrPartial) || time.Since(start) > 2*time.Second {
					t.Errorf("%s, partial %t: %v after %v, want a deadline", name, partial, err, time.Since(start))
				}
			}
		}
	})
}

// TestLeavingALoopEndsItsRequests: the bubble ends only when every goroutine has.
func TestLeavingALoopEndsItsRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, c := spread(t, rigOptions{pageItems: 2, delay: 100 * time.Millisecond})
		reader := r.reader(shard.Static(c.layout))
		for n := range 20 {
			seen := 0
			for _, err := range reader.All(t.Context(), fanout.Query{}) {
				must(t, err)
				if seen++; seen > n {
					break
				}
			}
		}
		synctest.Wait()
	})
}

func TestKF16ThrottlesDoNotOutliveTheThrottling(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, c := spread(t, rigOptions{})
		reader := r.reader(shard.Static(c.layout))
		id := r.db.Inject(emulator.Fault{Kind: emulator.FaultThrottle, Index: "GSI4", Operation: "Query", Probability: 0.05})
		var wg sync.WaitGroup
		var mu sync.Mutex
		failed, calls := 0, 0
		healthy := time.Now().Add(3 * time.Second)
		for i := range 500 {
			wg.Go(func() {
				for range 8 {
					_, err := fanout.Collect(reader.Owner(t.Context(), c.rows[i%len(c.rows)].owner, fanout.Query{}))
					mu.Lock()
					calls++
					if err != nil {
						failed++
					}
					mu.Unlock()
					time.Sleep(500 * time.Millisecond)
				}
			})
		}
		time.Sleep(time.Until(healthy))
		r.db.Withdraw(id)
		wg.Wait()
		if failed > 0 {
			t.Errorf("%d of %d reads failed", failed, calls)
		}
		for range 1000 {
			_, err := fanout.Collect(reader.Owner(t.Context(), c.rows[0].owner, fanout.Query{}))
			must(t, err)
		}
	})
}

func TestUnavailableIndexes(t *testing.T) {
	r, c := spread(t, rigOptions{pageItems: 5})
	var report fanout.Report
	missing := c.layout
	missing.Index = "GSI5"
	for name, read := range entryPoints(r.reader(shard.Static(missing)), ownersOf(c.rows)) {
		for _, partial := range []bool{false, true} {
			if _, err := read(t.Context(), fanout.Query{Report: &report, Partial: partial}); !errors.Is(err, fanout.ErrIndexUnavailable) {
				t.Errorf("%s of a missing index, partial %t: %v", name, partial, err)
			}
		}
	}
	if n := report.Total().Requests; n > 8*60 {
		t.Errorf("%d requests to an index that is not there", n)
	}
	elsewhere := fanout.New(r.client, fanout.Table{Name: "nowhere", Key: r.table.Key}, fanout.Static(shard.Static(c.layout)), fanout.Options{})
	if _, err := fanout.Collect(elsewhere.All(t.Context(), fanout.Query{})); !errors.Is(err, fanout.ErrIndexUnavailable) {
		t.Errorf("missing table: %v", err)
	}
	reader := r.reader(shard.Static(c.layout))
	seen := 0
	var last error
	for _, err := range reader.All(t.Context(), fanout.Query{}) {
		if last = err; err != nil {
			break
		}
		if seen++; seen == 1 {
			_, err := r.client.UpdateTable(t.Context(), &dynamodb.UpdateTableInput{
				TableName: &r.table.Name,
				GlobalSecondaryIndexUpdates: []types.GlobalSecondaryIndexUpdate{
					{Delete: &types.DeleteGlobalSecondaryIndexAction{IndexName: new("GSI4")}},
				},
			})
			must(t, err)
		}
	}
	if !errors.Is(last, fanout.ErrIndexUnavailable) || seen == 0 {
		t.Errorf("index deleted after %d rows: %v", seen, last)
	}
}

func TestBadQueriesAreRefusedBeforeTheyAreAsked(t *testing.T) {
	unreachable := dynamodb.New(dynamodb.Options{Region: "us-east-1", HTTPClient: &http.Client{Transport: refuse{t}}})
	l := layout("RenewalSaga", 12)
	reader := fanout.New(unreachable, sagas, fanout.Static(shard.Static(l)), fanout.Options{})
	number := fanout.Range{From: &types.AttributeValueMemberN{Value: "1"}, To: &types.AttributeValueMemberS{Value: "1"}}
	queries := map[string]fanout.Query{
		"filter on a base key":       {Filter: fanout.Filter{Expression: "PK = :v", Values: fanout.Item{":v": number.To}}},
		"filter on a named base key": {Filter: fanout.Filter{Expression: "attribute_exists(#a) AND size(#k) > :v", Names: map[string]string{"#a": "a", "#k": "SK"}}},
		"values without a filter":    {Filter: fanout.Filter{Values: fanout.Item{":v": number.To}}},
		"reserved name":              {Filter: fanout.Filter{Expression: "#hs_pk = a", Names: map[string]string{"#hs_pk": "b"}}},
		"mixed range":                {SortKey: number},
		"range of a map":             {SortKey: fanout.Range{From: &types.AttributeValueMemberM{}}},
	}
	for name, q := range queries {
		for entry, read := range entryPoints(reader, []string{"p1"}) {
			if _, err := read(t.Context(), q); !errors.Is(err, fanout.ErrQuery) {
				t.Errorf("%s, %s: %v", name, entry, err)
			}
		}
	}
	numbers := fanout.Query{SortKey: fanout.Range{To: &types.AttributeValueMemberN{Value: "1"}}}
	if _, err := fanout.Collect(reader.Owner(t.Context(), "p1", numbers)); !errors.Is(err, fanout.ErrQuery) {
		t.Errorf("numbers in an owner's range: %v", err)
	}
	for _, limit := range []int{-1, 1001} {
		if _, err := reader.Page(t.Context(), fanout.PageRequest{Limit: limit}); !errors.Is(err, fanout.ErrQuery) {
			t.Errorf("limit %d: %v", limit, err)
		}
	}
	for _, owner := range []string{"", "a#", "#b", "a#3", "RenewalSaga#3", "\xff"} {
		_, one := fanout.Collect(reader.Owner(t.Context(), owner, fanout.Query{}))
		_, many := fanout.Collect(reader.Owners(t.Context(), []string{"p1", owner}, fanout.Query{}))
		if !errors.Is(one, shard.ErrOwner) || !errors.Is(many, shard.ErrOwner) {
			t.Errorf("owner %q: %v, %v", owner, one, many)
		}
	}
	if rows, err := fanout.Collect(reader.Owners(t.Context(), nil, fanout.Query{})); err != nil || len(rows) > 0 {
		t.Errorf("no owners: %v, %v", rows, err)
	}
}

// refuse fails the test when a request is sent.
type refuse struct{ t *testing.T }

func (r refuse) RoundTrip(*http.Request) (*http.Response, error) {
	r.t.Error("a request was sent")
	return nil, errors.New("refused")
}

func TestLargeRowsPass(t *testing.T) {
	c := shape{rows: 30, count: 3, owners: 12, ties: 2, rare: 1}.build("RenewalSaga", 21)
	r := newRig(t, rigOptions{})
	for _, e := range c.rows {
		r.load(t, []entry{e}, 380<<10)
	}
	reader := r.reader(shard.Static(c.layout))
	walkCase{collection: c, sizes: []int{4, 1, 9}}.check(t, reader)
	items, err := fanout.Collect(reader.All(t.Context(), fanout.Query{}))
	must(t, err)
	if got := idsOf(items); !slices.Equal(got, ids(sorted(c.rows, false))) {
		t.Errorf("got %v", got)
	}
}
