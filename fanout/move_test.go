package fanout_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/hotsplit/hotsplit/emulator"
	"github.com/hotsplit/hotsplit/fanout"
	"github.com/hotsplit/hotsplit/shard"
)

// What the tests' move keeps to; see protocol 1 of the design.
const (
	bound  = 2 * time.Second // a view older than this is looked at again
	margin = time.Second     // between the index's settling and the clearing of a moving set
)

// record is the durable record of the tests' move.
type record struct {
	mu   sync.Mutex
	view fanout.View
}

func (r *record) publish(routing shard.Routing, moving []fanout.MovingRow) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.view = fanout.View{Routing: routing, Moving: moving, Version: r.view.Version + 1}
}

func (r *record) load() fanout.View {
	time.Sleep(10 * time.Millisecond)
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.view
}

// follower is a member: it knows the record as it was within the bound.
type follower struct {
	record *record
	blind  bool // planted fault: does not see the moving set

	mu   sync.Mutex
	view fanout.View
	at   time.Time
}

func (f *follower) refresh() {
	at := time.Now()
	view := f.record.load()
	if f.blind {
		view.Moving = nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if at.After(f.at) {
		f.view, f.at = view, at
	}
}

func (f *follower) known() (fanout.View, time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.view, time.Since(f.at)
}

func (f *follower) View(context.Context) (fanout.View, error) {
	if _, age := f.known(); age > bound/2 {
		f.refresh()
	}
	view, _ := f.known()
	return view, nil
}

func (f *follower) Holds(_ context.Context, v fanout.View) (bool, error) {
	if _, age := f.known(); age > bound {
		f.refresh()
	}
	view, age := f.known()
	return view.Version == v.Version && age <= bound, nil
}

// move takes rows from a to b as protocol 1 says, and back again if asked.
type move struct {
	rig    *rig
	record *record
	a, b   shard.Layout
	lag    time.Duration // the longest of the index
	batch  int
}

func (m *move) enter(phase shard.Phase, generation int64) shard.Routing {
	routing := shard.RoutingFor(phase, m.a, m.b, generation)
	m.record.publish(routing, nil)
	time.Sleep(bound + 20*time.Millisecond)
	return routing
}

// forward runs a move from planned to complete.
func (m *move) forward(t *testing.T, rows []entry) {
	for i, phase := range []shard.Phase{shard.DualRead, shard.WriteNew, shard.Backfill, shard.Verified, shard.Complete} {
		routing := m.enter(phase, int64(i+1))
		if phase == shard.Backfill {
			m.moveAll(t, routing, rows, m.b)
		}
	}
}

// back runs a move from verified to planned.
func (m *move) back(t *testing.T, rows []entry) {
	for i, phase := range []shard.Phase{shard.Verified, shard.Reverting, shard.DualRead, shard.Planned} {
		routing := m.enter(phase, int64(i+10))
		if phase == shard.Reverting {
			m.moveAll(t, routing, rows, m.a)
		}
	}
}

func (m *move) moveAll(t *testing.T, routing shard.Routing, rows []entry, to shard.Layout) {
	for batch := range slices.Chunk(rows, m.batch) {
		var moving []fanout.MovingRow
		for _, e := range batch {
			moving = append(moving, fanout.MovingRow{Key: e.baseKey(), Owner: e.owner})
		}
		m.record.publish(routing, moving)
		time.Sleep(bound + 20*time.Millisecond)
		for _, e := range batch {
			m.rig.stamp(t, e, to.Key(e.owner))
		}
		time.Sleep(m.lag + margin)
		m.record.publish(routing, nil)
	}
}

// stamp moves one row to another key.
func (r *rig) stamp(t *testing.T, e entry, key string) {
	t.Helper()
	_, err := r.client.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{
		TableName: &r.table.Name, Key: e.baseKey(), UpdateExpression: new("SET GSI4PK = :key"),
		ConditionExpression:       new("attribute_exists(PK)"),
		ExpressionAttributeValues: fanout.Item{":key": &types.AttributeValueMemberS{Value: key}},
	})
	must(t, err)
}

// poll reads again and again until stop is closed and counts the answers that
// lack a row or double one.
func poll(stop <-chan struct{}, read func() ([]string, error), want []string) (answers, wrong int, err error) {
	for {
		select {
		case <-stop:
			return answers, wrong, nil
		default:
		}
		got, err := read()
		if err != nil {
			return answers, wrong, err
		}
		answers++
		if !slices.Equal(got, want) {
			wrong++
		}
	}
}

// watched moves rows there and back while readers of every kind poll, and returns
// how many answers they got and how many of them were wrong.
func watched(t *testing.T, order emulator.IndexOrder, from, to int, blind bool) (answers, wrong int) {
	const lag = 3 * time.Second
	a, b := layout("RenewalSaga", from), layout("RenewalSaga", to)
	c := shape{rows: 100, count: from, owners: 30, ties: 2, rare: 3}.build("RenewalSaga", 10)
	r := newRig(t, rigOptions{lag: lag, order: order, delay: 3 * time.Second, pageItems: 20})
	r.load(t, c.rows, 0)
	time.Sleep(lag + margin)
	rec := &record{}
	rec.publish(shard.RoutingFor(shard.Planned, a, b, 0), nil)
	m := &move{rig: r, record: rec, a: a, b: b, lag: lag, batch: 25}

	want := ids(sorted(c.rows, false))
	rare := walkCase{collection: c, query: fanout.Query{Filter: rareOnly}}
	owner := c.rows[0].owner
	reader := func() *fanout.Reader {
		return fanout.New(r.client, r.table, &follower{record: rec, blind: blind}, fanout.Options{})
	}
	collect := func(r *fanout.Reader, q fanout.Query) ([]string, error) {
		items, err := fanout.Collect(r.All(t.Context(), q))
		return idsOf(items), err
	}
	one, several, all, filtered, paged, counted := reader(), reader(), reader(), reader(), reader(), reader()
	polls := []struct {
		read func() ([]string, error)
		want []string
	}{
		{func() ([]string, error) { return collect(all, fanout.Query{}) }, want},
		{func() ([]string, error) { return collect(filtered, fanout.Query{Filter: rareOnly}) }, ids(rare.want())},
		{func() ([]string, error) {
			items, err := fanout.Collect(one.Owner(t.Context(), owner, fanout.Query{}))
			return idsOf(items), err
		}, ids(sorted(owned(c.rows, owner), false))},
		{func() ([]string, error) {
			items, err := fanout.Collect(several.Owners(t.Context(), []string{"p1", "p2", "p3", "p4"}, fanout.Query{}))
			return idsOf(items), err
		}, ids(sorted(owned(c.rows, "p1", "p2", "p3", "p4"), false))},
		{func() ([]string, error) { return pagesOf(t, paged, 17) }, want},
		{func() ([]string, error) {
			n, err := counted.Count(t.Context(), fanout.Query{})
			return []string{fmt.Sprint(n)}, err
		}, []string{fmt.Sprint(len(want))}},
	}
	stop := make(chan struct{})
	var readers sync.WaitGroup
	var mu sync.Mutex
	for _, p := range polls {
		readers.Go(func() {
			n, bad, err := poll(stop, p.read, p.want)
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			answers, wrong = answers+n, wrong+bad
		})
	}
	m.forward(t, c.rows)
	m.back(t, c.rows)
	close(stop)
	readers.Wait()
	return answers, wrong
}

func owned(rows []entry, owners ...string) []entry {
	return slices.DeleteFunc(slices.Clone(rows), func(e entry) bool { return !slices.Contains(owners, e.owner) })
}

// pagesOf walks with one cursor across whatever phase it is.
func pagesOf(t *testing.T, r *fanout.Reader, limit int) ([]string, error) {
	var all []string
	for cursor := ""; ; {
		p, err := r.Page(t.Context(), fanout.PageRequest{Limit: limit, Cursor: cursor})
		if err != nil {
			return all, err
		}
		all = append(all, idsOf(p.Items)...)
		if cursor = p.Next; cursor == "" {
			return all, nil
		}
	}
}

func TestKF10EveryListIsWholeWhileRowsMove(t *testing.T) {
	for _, c := range []struct {
		name     string
		order    emulator.IndexOrder
		from, to int
	}{
		{"delete first, 0 to 16", emulator.IndexOrderDeleteFirst, 0, 16},
		{"delete first, 16 to 12", emulator.IndexOrderDeleteFirst, 16, 12},
		{"put first, 0 to 12", emulator.IndexOrderPutFirst, 0, 12},
		{"either, 8 to 16", emulator.IndexOrderDrawn, 8, 16},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				answers, wrong := watched(t, c.order, c.from, c.to, false)
				if wrong > 0 || answers < 100 {
					t.Fatalf("%d of %d answers lacked or doubled a row", wrong, answers)
				}
				t.Logf("%d answers", answers)
			})
		})
	}
}

func TestKF10IgnoringTheMovingSetIsNoticed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		if answers, wrong := watched(t, emulator.IndexOrderDeleteFirst, 0, 16, true); wrong == 0 {
			t.Fatalf("none of %d answers lacked a row: the check cannot fail", answers)
		}
	})
}

// TestKF10StaticRoutingGapIsShort: without a moving set a row may be missing while
// the index shows its delete and not yet its put, and no longer.
func TestKF10StaticRoutingGapIsShort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const lag = 500 * time.Millisecond
		a, b := layout("RenewalSaga", 0), layout("RenewalSaga", 12)
		c := shape{rows: 1000, count: 0, owners: 100, ties: 1, rare: 1}.build("RenewalSaga", 11)
		r := newRig(t, rigOptions{lag: lag, order: emulator.IndexOrderDeleteFirst, delay: 20 * time.Millisecond})
		r.load(t, c.rows, 0)
		time.Sleep(time.Second)
		stop := make(chan struct{})
		var mover sync.WaitGroup
		mover.Go(func() {
			defer close(stop)
			for _, e := range c.rows {
				r.stamp(t, e, b.Key(e.owner))
				time.Sleep(50 * time.Millisecond)
			}
		})
		reader := r.reader(shard.StaticDual(a, b, b))
		missing := make(map[string]int)
		for polling := true; polling; {
			select {
			case <-stop:
				polling = false
			case <-time.After(2 * time.Second):
			}
			items, err := fanout.Collect(reader.All(t.Context(), fanout.Query{}))
			must(t, err)
			listed := make(map[string]bool)
			for _, id := range idsOf(items) {
				if listed[id] {
					t.Fatalf("%s came twice", id)
				}
				listed[id] = true
			}
			for _, e := range c.rows {
				if listed[e.id] {
					missing[e.id] = 0
				} else if missing[e.id]++; missing[e.id] > 1 {
					t.Fatalf("%s is missing in two polls in a row", e.id)
				}
			}
		}
		mover.Wait()
	})
}

// TestStaticRoutingReadsTheOldLayoutFirst: a row that leaves the old key after it
// was asked is seen there; one that left before is seen on the new key.
func TestStaticRoutingReadsTheOldLayoutFirst(t *testing.T) {
	a, b := layout("RenewalSaga", 0), layout("RenewalSaga", 4)
	c := shape{rows: 600, count: 0, owners: 50, ties: 1, rare: 1}.build("RenewalSaga", 12)
	r := newRig(t, rigOptions{pageItems: 20})
	r.load(t, c.rows, 0)
	moved := 0
	reader := r.reader(shard.StaticDual(a, b, b))
	byPlace := sorted(c.rows, true)
	var got []string
	for item, err := range reader.All(t.Context(), fanout.Query{}) {
		must(t, err)
		got = append(got, idsOf([]fanout.Item{item})...)
		if moved < len(byPlace) { // rows that were not yielded yet leave, the last ones first
			e := byPlace[moved]
			r.stamp(t, e, b.Key(e.owner))
			moved++
		}
	}
	if want := ids(sorted(c.rows, false)); !slices.Equal(got, want) {
		t.Fatalf("got %d rows of %d, each once", len(slices.Compact(slices.Sorted(slices.Values(got)))), len(want))
	}
}

// TestKF09MovingRowsAreReadAsTheyAre: what the base table says of a moving row
// wins over its index entry, also that it is gone, changed, or another's now.
func TestKF09MovingRowsAreReadAsTheyAre(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := layout("RenewalSaga", 0), layout("RenewalSaga", 4)
		r := newRig(t, rigOptions{lag: 10 * time.Second})
		var rows []entry
		for i := range 6 {
			rows = append(rows, entry{id: fmt.Sprintf("R%d", i), owner: "ann", sort: opened("ann", i), key: a.Base, status: "rare"})
		}
		r.load(t, rows, 0)
		time.Sleep(11 * time.Second)
		var moving []fanout.MovingRow
		for _, e := range rows {
			moving = append(moving, fanout.MovingRow{Key: e.baseKey(), Owner: e.owner})
		}
		rec := &record{}
		rec.publish(shard.RoutingFor(shard.Backfill, a, b, 1), append(moving, moving[0]))
		r.delete(t, rows[0])
		r.stamp(t, rows[1], b.Key("ann"))
		rows[2].status = "common"
		rows[3].owner, rows[3].sort = "bob", opened("bob", 3)
		rows[4].key = "elsewhere"
		r.load(t, rows[2:5], 0)
		reader := fanout.New(r.client, r.table, &follower{record: rec}, fanout.Options{})
		for name, want := range map[string][]string{"": {"R1", "R2", "R5"}, "filtered": {"R1", "R5"}} {
			q := fanout.Query{Report: &fanout.Report{}}
			if name != "" {
				q.Filter = rareOnly
			}
			items, err := fanout.Collect(reader.Owner(t.Context(), "ann", q))
			must(t, err)
			if got := idsOf(items); !slices.Equal(got, want) {
				t.Errorf("%s: got %v, want %v", name, got, want)
			}
			if q.Report.Base().Units == 0 {
				t.Error("reading the base table is not in the report")
			}
		}
		all, err := fanout.Collect(reader.All(t.Context(), fanout.Query{}))
		must(t, err)
		if got := idsOf(all); !slices.Equal(got, []string{"R1", "R2", "R5", "R3"}) {
			t.Errorf("all: %v", got)
		}
	})
}

// TestKF09StaleIndexRowsConverge: the list is at most one lag old.
func TestKF09StaleIndexRowsConverge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const lag = 3 * time.Second
		l := layout("RenewalSaga", 12)
		c := shape{rows: 60, count: 12, owners: 20, ties: 1, rare: 1}.build("RenewalSaga", 13)
		r := newRig(t, rigOptions{lag: lag})
		r.load(t, c.rows, 0)
		time.Sleep(lag + time.Second)
		for _, e := range c.rows[:30] {
			r.delete(t, e)
		}
		reader := r.reader(shard.Static(l))
		_, err := fanout.Collect(reader.All(t.Context(), fanout.Query{}))
		must(t, err)
		time.Sleep(lag + time.Second)
		items, err := fanout.Collect(reader.All(t.Context(), fanout.Query{}))
		must(t, err)
		if got, want := idsOf(items), ids(sorted(c.rows[30:], false)); !slices.Equal(got, want) {
			t.Fatalf("got %v, want %v", got, want)
		}
	})
}

// TestKF04EveryPhaseSeesEveryRow: the count of shards comes with the routing, so
// raising it reads both layouts until the rows have moved.
func TestKF04EveryPhaseSeesEveryRow(t *testing.T) {
	for _, to := range []int{16, 8} {
		from := layout("RenewalSaga", 12)
		c := shape{rows: 120, count: 12, owners: 40, ties: 1, rare: 1}.build("RenewalSaga", 14)
		r := newRig(t, rigOptions{})
		r.load(t, c.rows, 0)
		want := ids(sorted(c.rows, false))
		for _, phase := range shard.Phases() {
			routing := shard.RoutingFor(phase, from, layout("RenewalSaga", to), 1)
			if len(routing.Read) == 1 && routing.Read[0] != from {
				continue // complete: gated until no row is left on 12
			}
			items, err := fanout.Collect(r.reader(routing).All(t.Context(), fanout.Query{}))
			must(t, err)
			if got := idsOf(items); !slices.Equal(got, want) {
				t.Errorf("12 to %d, %s: %d of %d rows", to, phase, len(got), len(want))
			}
		}
	}
}

// TestPagesAreReadAgainWhenTheRoutingChangedMeanwhile: rows move between two
// requests of one page, from where it was not read yet to where it was.
func TestPagesAreReadAgainWhenTheRoutingChangedMeanwhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := layout("RenewalSaga", 0), layout("RenewalSaga", 4)
		c := shape{rows: 40, count: 0, owners: 10, ties: 1, rare: 1}.build("RenewalSaga", 15)
		r := newRig(t, rigOptions{})
		r.load(t, c.rows, 0)
		order := sorted(c.rows, false)
		rec := &record{}
		rec.publish(shard.RoutingFor(shard.Backfill, a, b, 1), nil)
		var asked atomic.Int64
		r.delays.query = func(key string) {
			if key != a.Base || asked.Add(1) != 2 {
				return
			}
			// The old key is asked for more, and all shards were asked before.
			rec.publish(shard.RoutingFor(shard.Backfill, a, b, 1), nil)
			for _, e := range order[20:30] {
				r.stamp(t, e, b.Key(e.owner))
			}
			time.Sleep(bound + time.Second)
		}
		reader := fanout.New(r.client, r.table, &follower{record: rec}, fanout.Options{})
		var report fanout.Report
		page, err := reader.Page(t.Context(), fanout.PageRequest{Query: fanout.Query{Report: &report}, Limit: 30})
		must(t, err)
		if got, want := idsOf(page.Items), ids(order[:30]); !slices.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
		if report.Redone() != 1 {
			t.Errorf("redone %d times, want once", report.Redone())
		}
	})
}
