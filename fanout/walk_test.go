package fanout_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"pgregory.net/rapid"

	"github.com/hotsplit/hotsplit/fanout"
	"github.com/hotsplit/hotsplit/shard"
)

// collection is an entity with its rows, one of many on the rig's table.
type collection struct {
	layout shard.Layout
	rows   []entry
	fill   int
}

// shape is how the rows of a collection lie.
type shape struct {
	rows, count, owners int
	skew                float64 // of the rows that go to the first owner
	ties                int     // rows of an owner that share a sort key
	rare                int     // one row in so many has status "rare"
}

func (s shape) build(base string, seed uint64) collection {
	rng := rand.New(rand.NewPCG(seed, 1))
	c := collection{layout: layout(base, s.count)}
	times := make(map[string]int)
	for i := range s.rows {
		owner := fmt.Sprintf("p%d", rng.IntN(s.owners))
		if rng.Float64() < s.skew {
			owner = "p0"
		}
		sort := opened(owner, times[owner]/s.ties)
		if s.ties > 5 {
			sort = fmt.Sprintf("%06d", i/s.ties) // ties across owners and shards
		}
		times[owner]++
		status := "common"
		if rng.IntN(s.rare) == 0 {
			status = "rare"
		}
		id := fmt.Sprintf("%s-%04d", base, rng.IntN(10000)*10000+i)
		c.rows = append(c.rows, entry{id: id, owner: owner, sort: sort, key: c.layout.Key(owner), status: status})
	}
	return c
}

// collections are small for the most part: the cases differ in shape, not in size.
func collections() []collection {
	var all []collection
	for i := range uint64(120) {
		rng := rand.New(rand.NewPCG(i, 2))
		s := shape{
			rows:   int(i) / 3,
			count:  []int{0, 1, 2, 3, 5, 7, 8}[rng.IntN(7)],
			owners: 1 + rng.IntN(30),
			skew:   []float64{0, 0, 0.5, 1}[rng.IntN(4)],
			ties:   []int{1, 1, 2, 3, 20}[rng.IntN(5)],
			rare:   []int{1, 3, 20}[rng.IntN(3)],
		}
		all = append(all, s.build(fmt.Sprintf("C%d", i), i))
	}
	for i, s := range []shape{
		{rows: 239, count: 16, owners: 120, ties: 1, rare: 5},
		{rows: 240, count: 12, owners: 50, ties: 1, rare: 100},
		{rows: 400, count: 12, owners: 1, ties: 9, rare: 30},
		{rows: 1000, count: 16, owners: 700, skew: 0.3, ties: 2, rare: 200},
		{rows: 5000, count: 12, owners: 900, skew: 0.2, ties: 7, rare: 500},
	} {
		all = append(all, s.build(fmt.Sprintf("L%d", i), uint64(i)))
	}
	return all
}

var rareOnly = fanout.Filter{
	Expression: "#s = :rare",
	Names:      map[string]string{"#s": "status"},
	Values:     fanout.Item{":rare": &types.AttributeValueMemberS{Value: "rare"}},
}

// walkCase is a way through a collection.
type walkCase struct {
	collection collection
	query      fanout.Query
	sizes      []int
}

func (w walkCase) String() string {
	return fmt.Sprintf("%d rows on %s, descending %t, filter %q, range %v, page sizes %v", len(w.collection.rows),
		w.collection.layout, w.query.Descending, w.query.Filter.Expression, w.query.SortKey, w.sizes)
}

func drawWalk(all []collection) *rapid.Generator[walkCase] {
	return rapid.Custom(func(t *rapid.T) walkCase {
		n := len(all) - 5
		if rapid.IntRange(0, 199).Draw(t, "large") == 199 {
			n = len(all)
		}
		w := walkCase{collection: all[rapid.IntRange(0, n-1).Draw(t, "collection")]}
		w.query.Descending = rapid.Bool().Draw(t, "descending")
		if rapid.Bool().Draw(t, "filtered") {
			w.query.Filter = rareOnly
		}
		if rows := w.collection.rows; len(rows) > 0 && rapid.IntRange(0, 3).Draw(t, "ranged") == 3 {
			ends := []string{rapid.SampledFrom(rows).Draw(t, "from").sort, rapid.SampledFrom(rows).Draw(t, "to").sort}
			slices.Sort(ends)
			w.query.SortKey = fanout.Between(ends[0], ends[1])
		}
		least := min(20, len(w.collection.rows)/20)
		w.sizes = rapid.SliceOfN(rapid.IntRange(1+least, 60), 1, 4).Draw(t, "sizes")
		return w
	})
}

// want is the rows that the walk must return, in their order.
func (w walkCase) want() []entry {
	all := slices.DeleteFunc(slices.Clone(w.collection.rows), func(e entry) bool { return !w.matches(e) })
	return sorted(all, w.query.Descending)
}

func (w walkCase) matches(e entry) bool {
	if w.query.Filter.Expression != "" && e.status != "rare" {
		return false
	}
	if w.query.SortKey == (fanout.Range{}) {
		return true
	}
	from := w.query.SortKey.From.(*types.AttributeValueMemberS).Value
	to := w.query.SortKey.To.(*types.AttributeValueMemberS).Value
	return from <= e.sort && e.sort <= to
}

// requestsMax is the bound that a walk keeps to: for each page every shard is
// asked once, and again where its share was too small, twice as much each time.
// Rows that a filter hides are read a bounded number of times.
func (w walkCase) requestsMax(pages int) int {
	shards := max(1, w.collection.layout.Count)
	return pages*(3*shards+8) + len(w.collection.rows)/8
}

// fataler is what *testing.T and *rapid.T share.
type fataler interface {
	Helper()
	Fatalf(string, ...any)
}

// walk pages to the end and returns the rows and how many pages it took.
func (w walkCase) walk(t fataler, r *fanout.Reader, between func(page int, p fanout.Page)) (got []string, pages int) {
	t.Helper()
	ctx := testContext(t)
	for cursor := ""; ; pages++ {
		size := w.sizes[pages%len(w.sizes)]
		page, err := r.Page(ctx, fanout.PageRequest{Query: w.query, Limit: size, Cursor: cursor})
		if err != nil {
			t.Fatalf("%v: page %d: %v", w, pages, err)
		}
		got = append(got, idsOf(page.Items)...)
		if len(page.Items) > size || (len(page.Items) < size && page.Next != "" && w.query.Filter.Expression == "") {
			t.Fatalf("%v: page %d has %d rows, want %d", w, pages, len(page.Items), size)
		}
		if between != nil {
			between(pages, page)
		}
		if cursor = page.Next; cursor == "" {
			return got, pages + 1
		}
		if pages > len(w.collection.rows)+50 {
			t.Fatalf("%v: no end after %d pages", w, pages)
		}
	}
}

func (w walkCase) check(t fataler, r *fanout.Reader) {
	t.Helper()
	var report fanout.Report
	w.query.Report = &report
	got, pages := w.walk(t, r, nil)
	if want := ids(w.want()); !slices.Equal(got, want) {
		t.Fatalf("%v:\ngot  %v\nwant %v", w, got, want)
	}
	if n := report.Total().Requests; n > w.requestsMax(pages) {
		t.Fatalf("%v: %d requests for %d pages, want at most %d", w, n, pages, w.requestsMax(pages))
	}
}

// checks sets how many cases the next rapid.Check of the test draws.
func checks(t *testing.T, n int) {
	t.Helper()
	f := flag.Lookup("rapid.checks")
	before := f.Value.String()
	must(t, f.Value.Set(fmt.Sprint(n)))
	t.Cleanup(func() { must(t, f.Value.Set(before)) })
}

// readers gives each collection a reader of its own.
func readers(r *rig, all []collection) map[string]*fanout.Reader {
	readers := make(map[string]*fanout.Reader, len(all))
	for _, c := range all {
		readers[c.layout.Base] = r.reader(shard.Static(c.layout))
	}
	return readers
}

func TestWalkAllEquality(t *testing.T) {
	checks(t, 8000)
	all := collections()
	r := newRig(t, rigOptions{})
	for _, c := range all {
		r.load(t, c.rows, c.fill)
	}
	readers := readers(r, all)
	walks := drawWalk(all)
	rapid.Check(t, func(t *rapid.T) {
		w := walks.Draw(t, "walk")
		w.check(t, readers[w.collection.layout.Base])
	})
}

// delays holds each request up by a time of its own, in virtual time.
type delays struct {
	next   http.RoundTripper
	before func() (after func()) // where set, called around each request
	query  func(key string)      // where set, called before each query of a key
	mu     sync.Mutex
	rng    *rand.Rand
	most   time.Duration
}

func (d *delays) RoundTrip(request *http.Request) (*http.Response, error) {
	d.mu.Lock()
	wait := time.Duration(0)
	if d.most > 0 {
		wait = time.Duration(d.rng.Int64N(int64(d.most)))
	}
	d.mu.Unlock()
	if d.before != nil {
		defer d.before()()
	}
	if d.query != nil && strings.HasSuffix(request.Header.Get("X-Amz-Target"), ".Query") {
		d.query(queriedKey(request))
	}
	if wait > 0 {
		time.Sleep(wait)
	}
	return d.next.RoundTrip(request)
}

// queriedKey is the partition key that a query of fanout names.
func queriedKey(request *http.Request) string {
	var query struct {
		ExpressionAttributeValues map[string]struct{ S string }
	}
	body, err := io.ReadAll(request.Body)
	request.Body = io.NopCloser(bytes.NewReader(body))
	if err == nil {
		err = json.Unmarshal(body, &query)
	}
	if err != nil {
		panic(err)
	}
	return query.ExpressionAttributeValues[":hs_pk"].S
}

func TestWalkUnderDelaysWithStreams(t *testing.T) {
	checks(t, 2000)
	all := collections()[:122]
	var r *rig
	synctest.Test(t, func(t *testing.T) { // every bubble begins at the same time, so the table is there in all
		r = newRig(t, rigOptions{pageItems: 7})
		for _, c := range all {
			r.load(t, c.rows, c.fill)
		}
		r.delays.most = 20 * time.Millisecond
	})
	readers := readers(r, all)
	walks := drawWalk(all)
	rapid.Check(t, func(rt *rapid.T) {
		w, paged := walks.Draw(rt, "walk"), rapid.Bool().Draw(rt, "paged")
		if fault := inBubble(t, func(t fataler) { w.stream(t, readers[w.collection.layout.Base], paged) }); fault != "" {
			rt.Fatalf("%s", fault)
		}
	})
}

// stream reads the walk's rows in pages, or in one stream and as a count.
func (w walkCase) stream(t fataler, r *fanout.Reader, paged bool) {
	t.Helper()
	want := ids(w.want())
	if paged {
		if got, _ := w.walk(t, r, nil); !slices.Equal(got, want) {
			t.Fatalf("%v: pages\ngot  %v\nwant %v", w, got, want)
		}
		return
	}
	items, err := fanout.Collect(r.All(testContext(t), w.query))
	if err != nil || !slices.Equal(idsOf(items), want) {
		t.Fatalf("%v: all, %v\ngot  %v\nwant %v", w, err, idsOf(items), want)
	}
	if n, err := r.Count(testContext(t), w.query); err != nil || n != len(items) {
		t.Fatalf("%v: counted %d of %d rows, %v", w, n, len(items), err)
	}
}

// verdict is a fataler of its own: rapid's may not be used inside a bubble.
type verdict string

func (v *verdict) Helper() {}

func (v *verdict) Fatalf(format string, args ...any) {
	*v = verdict(fmt.Sprintf(format, args...))
	runtime.Goexit()
}

// inBubble runs f in virtual time and returns the fault that it found.
func inBubble(t *testing.T, f func(fataler)) string {
	var v verdict
	synctest.Test(t, func(*testing.T) {
		var wg sync.WaitGroup
		wg.Go(func() { f(&v) })
		wg.Wait()
	})
	return string(v)
}

// TestWalkWhileRowsComeAndGo: rows that nobody touches come once and in order,
// whatever is deleted and inserted between two pages.
func TestWalkWhileRowsComeAndGo(t *testing.T) {
	checks(t, 500)
	r := newRig(t, rigOptions{})
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		n++
		s := shape{
			rows: rapid.IntRange(0, 50).Draw(t, "rows"), count: rapid.SampledFrom([]int{0, 1, 3, 6}).Draw(t, "count"),
			owners: rapid.IntRange(1, 12).Draw(t, "owners"), ties: rapid.SampledFrom([]int{1, 3, 9}).Draw(t, "ties"), rare: 3,
		}
		c := s.build(fmt.Sprintf("D%d", n), rapid.Uint64().Draw(t, "seed"))
		r.load(t, c.rows, 0)
		w := walkCase{collection: c, sizes: rapid.SliceOfN(rapid.IntRange(1, 20), 1, 3).Draw(t, "sizes")}
		w.query.Descending = rapid.Bool().Draw(t, "descending")
		if rapid.Bool().Draw(t, "filtered") {
			w.query.Filter = rareOnly
		}
		touched := make(map[string]bool)
		got, _ := w.walk(t, r.reader(shard.Static(c.layout)), func(page int, _ fanout.Page) {
			for range rapid.IntRange(0, 2).Draw(t, "deleted") {
				if len(c.rows) > 0 {
					e := rapid.SampledFrom(c.rows).Draw(t, "row")
					touched[e.id] = true
					r.delete(t, e)
				}
			}
			if page > 10 {
				return // or a walk might never end
			}
			for i := range rapid.IntRange(0, 2).Draw(t, "inserted") {
				owner := fmt.Sprintf("p%d", rapid.IntRange(0, 12).Draw(t, "owner"))
				e := entry{
					id: fmt.Sprintf("%s-new-%d-%d", c.layout.Base, page, i), owner: owner,
					sort: opened(owner, rapid.IntRange(0, 5).Draw(t, "time")), key: c.layout.Key(owner), status: "rare",
				}
				touched[e.id] = true
				r.load(t, []entry{e}, 0)
			}
		})
		untouched := func(id string) bool { return !touched[id] }
		want := slices.DeleteFunc(ids(w.want()), func(id string) bool { return touched[id] })
		if kept := filtered(got, untouched); !slices.Equal(kept, want) {
			t.Fatalf("%v, touched %v\ngot  %v\nwant %v", w, touched, kept, want)
		}
		slices.Sort(got)
		if once := slices.Compact(slices.Clone(got)); len(once) != len(got) {
			t.Fatalf("%v: a row came twice: %s", w, strings.Join(got, " "))
		}
	})
}

func filtered(all []string, keep func(string) bool) []string {
	var kept []string
	for _, s := range all {
		if keep(s) {
			kept = append(kept, s)
		}
	}
	return kept
}

func TestKF06CursorsPointBehindTheLastReturnedRow(t *testing.T) {
	c := shape{rows: 240, count: 12, owners: 80, ties: 1, rare: 1}.build("RenewalSaga", 6)
	for _, pageItems := range []int{0, 3} {
		r := newRig(t, rigOptions{pageItems: pageItems})
		r.load(t, c.rows, 0)
		reader := r.reader(shard.Static(c.layout))
		for _, size := range []int{1, 2, 3, 7, 10, 11, 12, 13, 50, 239, 240, 241} {
			w := walkCase{collection: c, sizes: []int{size}}
			if pageItems == 0 {
				w.check(t, reader)
				continue
			}
			if got, _ := w.walk(t, reader, nil); !slices.Equal(got, ids(w.want())) {
				t.Fatalf("%v, pages cut at %d rows: got %v", w, pageItems, got)
			}
		}
	}
}

func TestEveryPageSizeWalksOnce(t *testing.T) {
	c := shape{rows: 120, count: 8, owners: 40, skew: 0.2, ties: 2, rare: 1}.build("RenewalSaga", 7)
	r := newRig(t, rigOptions{})
	r.load(t, c.rows, 0)
	reader := r.reader(shard.Static(c.layout))
	for size := 1; size <= 60; size++ {
		for _, descending := range []bool{false, true} {
			walkCase{collection: c, sizes: []int{size}, query: fanout.Query{Descending: descending}}.check(t, reader)
		}
	}
}

func TestKF07EmptyPagesAreNotTheEnd(t *testing.T) {
	l := layout("RenewalSaga", 12)
	var rows []entry
	for n := range 12 {
		owner := ownerOn(l, n)
		for i := range 80 {
			status := "common"
			if n%2 == 0 && i >= 60 || n%2 == 1 && i%4 == 0 {
				status = "rare" // even shards: three pages of 20 rows match nothing, then matches follow
			}
			rows = append(rows, entry{
				id: fmt.Sprintf("R%02d-%02d", n, i), owner: owner, sort: opened(owner, i), key: l.Key(owner), status: status,
			})
		}
	}
	r := newRig(t, rigOptions{pageItems: 20})
	r.load(t, rows, 0)
	w := walkCase{collection: collection{layout: l, rows: rows}, sizes: []int{10}, query: fanout.Query{Filter: rareOnly}}
	w.check(t, r.reader(shard.Static(l)))
}

// TestPageEndsWhereAFilterHidesTooMuch: a page does a bounded amount of work and
// says that there may be more.
func TestPageEndsWhereAFilterHidesTooMuch(t *testing.T) {
	l := layout("RenewalSaga", 2)
	owner := ownerOn(l, 1)
	var rows []entry
	for i := range 600 {
		rows = append(rows, entry{id: fmt.Sprintf("R%03d", i), owner: owner, sort: opened(owner, i), key: l.Key(owner), status: "common"})
	}
	rows[599].status = "rare"
	r := newRig(t, rigOptions{pageItems: 20})
	r.load(t, rows, 0)
	var report fanout.Report
	w := walkCase{collection: collection{layout: l, rows: rows}, sizes: []int{5}, query: fanout.Query{Filter: rareOnly, Report: &report}}
	short := 0
	got, pages := w.walk(t, r.reader(shard.Static(l)), func(_ int, p fanout.Page) {
		if len(p.Items) == 0 && p.Next != "" {
			short++
		}
	})
	if !slices.Equal(got, []string{"R599"}) {
		t.Fatalf("got %v", got)
	}
	if short == 0 {
		t.Fatal("no page ended early: the work of one page has no bound")
	}
	if n := report.Total().Requests; n > 60 {
		t.Fatalf("%d requests for 600 rows in pages of 20: hidden rows were read again and again", n)
	}
	t.Logf("%d pages, %d requests", pages, report.Total().Requests)
}

// ownerOn is an owner that l puts on the nth shard.
func ownerOn(l shard.Layout, n int) string {
	for i := 0; ; i++ {
		if owner := fmt.Sprintf("person-%d", i); l.Shard(owner) == n {
			return owner
		}
	}
}
