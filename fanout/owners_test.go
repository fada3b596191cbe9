package fanout_test

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"pgregory.net/rapid"

	"github.com/hotsplit/hotsplit/emulator"
	"github.com/hotsplit/hotsplit/fanout"
	"github.com/hotsplit/hotsplit/shard"
)

// oneByOne is what reading the owners one after the other costs.
func oneByOne(t *testing.T, r *fanout.Reader, owners []string) (ids []string, cost fanout.Cost) {
	t.Helper()
	var report fanout.Report
	for _, owner := range owners {
		items, err := fanout.Collect(r.Owner(t.Context(), owner, fanout.Query{Report: &report}))
		must(t, err)
		ids = append(ids, idsOf(items)...)
	}
	return ids, report.Total()
}

func TestOwnersCostNoMoreThanOneByOne(t *testing.T) {
	for _, c := range []struct {
		persons, fill, requestsMax int
	}{
		{50, 100, 16},
		{50, sagaBytes, 16}, // the ADR's list page: 50 persons hold the 239 rows
		{120, 100, 16},
		{120, sagaBytes, 50},
		{239, 300, 50},
	} {
		t.Run(fmt.Sprintf("%d persons, rows of %d B", c.persons, c.fill+150), func(t *testing.T) {
			table := adr("RenewalSaga", 16, c.persons)
			r := newRig(t, rigOptions{})
			r.load(t, table.rows, c.fill)
			reader := r.reader(shard.Static(table.layout))
			var owners []string // with others between them
			for i := range 50 {
				owners = append(owners, table.rows[i*c.persons/50].owner)
			}
			_, apart := oneByOne(t, reader, owners)
			var want []string
			for _, e := range sorted(owned(table.rows, owners...), false) {
				want = append(want, e.id)
			}
			for call := range 4 {
				var report fanout.Report
				items, err := fanout.Collect(reader.Owners(t.Context(), owners, fanout.Query{Report: &report}))
				must(t, err)
				if got := idsOf(items); !slices.Equal(got, want) {
					t.Fatalf("got %v, want %v", got, want)
				}
				cost := report.Total()
				t.Logf("call %d: %+v; one by one %+v", call, cost, apart)
				if call > 0 && (cost.Units > apart.Units || cost.Requests > c.requestsMax) {
					t.Errorf("call %d: %d requests and %.1f units, want at most %d and the %.1f of one by one",
						call, cost.Requests, cost.Units, c.requestsMax, apart.Units)
				}
			}
		})
	}
}

// TestOwnersLeaveLargeShardsAlone: one bounded common read finds out.
func TestOwnersLeaveLargeShardsAlone(t *testing.T) {
	l := layout("RenewalSaga", 1)
	var rows []entry
	for i := range 3000 {
		owner := fmt.Sprintf("p%04d", i/3)
		rows = append(rows, entry{id: fmt.Sprintf("R%04d", i), owner: owner, sort: opened(owner, i), key: l.Key(owner), status: "open"})
	}
	r := newRig(t, rigOptions{})
	r.load(t, rows, 300)
	reader := r.reader(shard.Static(l))
	owners := []string{"p0003", "p0500", "p0999"}
	for _, descending := range []bool{false, true} {
		for call := range 2 {
			var report fanout.Report
			items, err := fanout.Collect(reader.Owners(t.Context(), owners, fanout.Query{Report: &report, Descending: descending}))
			must(t, err)
			if got := idsOf(items); !slices.Equal(got, ids(sorted(owned(rows, owners...), descending))) {
				t.Fatalf("got %v", got)
			}
			if cost := report.Total(); cost.Requests != 3 || cost.Units > 4 {
				t.Errorf("call %d, descending %t: %+v, want 3 requests", call, descending, cost)
			}
		}
	}
}

func TestOwnersEqualTheModel(t *testing.T) {
	checks(t, 1000)
	all := collections()[:122]
	r := newRig(t, rigOptions{pageItems: 30})
	for i := range all {
		all[i].rows = slices.DeleteFunc(all[i].rows, func(e entry) bool { return len(e.sort) < 8 }) // ties across owners name none
		r.load(t, all[i].rows, 0)
	}
	static := readers(r, all)
	rapid.Check(t, func(t *rapid.T) {
		c := rapid.SampledFrom(all).Draw(t, "collection")
		var owners []string
		for _, n := range rapid.SliceOf(rapid.IntRange(0, 31)).Draw(t, "owners") {
			owners = append(owners, fmt.Sprintf("p%d", n))
		}
		reader := static[c.layout.Base]
		if rapid.Bool().Draw(t, "dual") {
			wide := c.layout
			wide.Count += 4
			reader = r.reader(shard.StaticDual(wide, c.layout, c.layout))
		}
		w := walkCase{collection: collection{layout: c.layout, rows: owned(c.rows, owners...)}}
		w.query.Descending = rapid.Bool().Draw(t, "descending")
		if rapid.Bool().Draw(t, "filtered") {
			w.query.Filter = rareOnly
		}
		items, err := fanout.Collect(reader.Owners(testContext(t), owners, w.query))
		if want := ids(w.want()); err != nil || !slices.Equal(idsOf(items), want) {
			t.Fatalf("owners %v of %s: %v\ngot  %v\nwant %v", owners, c.layout, err, idsOf(items), want)
		}
	})
}

func TestOwnerTakesARangeWithinTheOwner(t *testing.T) {
	c := shape{rows: 200, count: 4, owners: 10, ties: 1, rare: 1}.build("RenewalSaga", 30)
	r := newRig(t, rigOptions{})
	r.load(t, c.rows, 0)
	reader := r.reader(shard.Static(c.layout))
	q := fanout.Query{SortKey: fanout.Between(opened("p3", 2), opened("p3", 5)), Descending: true}
	w := walkCase{collection: collection{rows: owned(c.rows, "p3")}, query: q}
	items, err := fanout.Collect(reader.Owner(t.Context(), "p3", q))
	must(t, err)
	page, err := reader.Page(t.Context(), fanout.PageRequest{Query: q, Owner: "p3"})
	must(t, err)
	want := ids(w.want())
	if len(want) != 4 || !slices.Equal(idsOf(items), want) || !slices.Equal(idsOf(page.Items), want) {
		t.Errorf("got %v and %v, want %v", idsOf(items), idsOf(page.Items), want)
	}
	if none, err := fanout.Collect(reader.Owner(t.Context(), "p4", q)); err != nil || len(none) > 0 {
		t.Errorf("the range of another owner: %v, %v", none, err)
	}
}

// gauge counts the requests that are on the way at one time.
type gauge struct {
	now, most atomic.Int64
}

func (g *gauge) watch(next *delays) {
	next.before = func() func() {
		g.most.Store(max(g.most.Load(), g.now.Add(1)))
		return func() { g.now.Add(-1) }
	}
}

func TestRequestsInFlightAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, c := spread(t, rigOptions{delay: 50 * time.Millisecond})
		var g gauge
		g.watch(r.delays)
		shared := fanout.NewInFlight(5)
		var calls sync.WaitGroup
		for range 10 {
			reader := fanout.New(r.client, r.table, fanout.Static(shard.Static(c.layout)), fanout.Options{InFlight: shared})
			calls.Go(func() {
				_, err := fanout.Collect(reader.All(t.Context(), fanout.Query{}))
				if err != nil {
					t.Error(err)
				}
			})
		}
		calls.Wait()
		if got := g.most.Load(); got != 5 {
			t.Errorf("%d requests at a time, want 5", got)
		}
	})
}

func TestAttemptsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, c := spread(t, rigOptions{})
		once := dynamodb.New(r.client.Options(), func(o *dynamodb.Options) { o.RetryMaxAttempts = 1 })
		r.db.Inject(emulator.Fault{Kind: emulator.FaultError, Key: "RenewalSaga#5", Operation: "Query"})
		for tries, want := range map[int]int{0: 3, 1: 1, 6: 6} {
			reader := fanout.New(once, r.table, fanout.Static(shard.Static(c.layout)), fanout.Options{AttemptsMax: tries})
			var report fanout.Report
			if _, err := fanout.Collect(reader.Owner(t.Context(), ownerOn(c.layout, 5), fanout.Query{Report: &report})); err == nil {
				t.Fatal("no error")
			}
			if got := report.Shards()[fanout.Shard{Index: "GSI4", Key: "RenewalSaga#5"}].Requests; got != want {
				t.Errorf("AttemptsMax %d: %d attempts, want %d", tries, got, want)
			}
		}
	})
}

// TestTypedKeys: numbers order as numbers to the last of 38 digits and bytes as
// bytes, in streams, pages and cursors.
func TestTypedKeys(t *testing.T) {
	r := newRig(t, rigOptions{})
	table := fanout.Table{Name: "typed", Key: []string{"id"}}
	number, binary := types.ScalarAttributeTypeN, types.ScalarAttributeTypeB
	_, err := r.client.CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName: &table.Name, BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{
			{AttributeName: aws.String("id"), AttributeType: binary},
			{AttributeName: aws.String("group"), AttributeType: types.ScalarAttributeTypeS},
			{AttributeName: aws.String("order"), AttributeType: number},
		},
		KeySchema: []types.KeySchemaElement{{AttributeName: aws.String("id"), KeyType: types.KeyTypeHash}},
		GlobalSecondaryIndexes: []types.GlobalSecondaryIndex{{
			IndexName: aws.String("by-group"),
			KeySchema: []types.KeySchemaElement{
				{AttributeName: aws.String("group"), KeyType: types.KeyTypeHash},
				{AttributeName: aws.String("order"), KeyType: types.KeyTypeRange},
			},
			Projection: &types.Projection{ProjectionType: types.ProjectionTypeAll},
		}},
	})
	must(t, err)
	l := shard.Layout{Index: "by-group", PartitionKey: "group", SortKey: "order", Base: "T", Count: 3}
	orders := []string{
		"-12345678901234567890123456789012345678", "-12345678901234567890123456789012345677", "-1", "-0.5", "0",
		"0.00000000000000000000000000000000000001", "2", "2", "10", "12345678901234567890123456789012345677", "12345678901234567890123456789012345678",
	}
	var want [][]byte
	for i, order := range orders {
		id := []byte{byte(i), 0, 0xff}
		want = append(want, id)
		_, err := r.client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &table.Name, Item: fanout.Item{
			"id":    &types.AttributeValueMemberB{Value: id},
			"group": &types.AttributeValueMemberS{Value: l.Key(fmt.Sprint(i))},
			"order": &types.AttributeValueMemberN{Value: order},
		}})
		must(t, err)
	}
	reader := fanout.New(r.client, table, fanout.Static(shard.Static(l)), fanout.Options{})
	idsIn := func(items []fanout.Item) (ids [][]byte) {
		for _, item := range items {
			ids = append(ids, item["id"].(*types.AttributeValueMemberB).Value)
		}
		return ids
	}
	for _, descending := range []bool{false, true} {
		if descending {
			slices.Reverse(want)
		}
		q := fanout.Query{Descending: descending}
		items, err := fanout.Collect(reader.All(t.Context(), q))
		must(t, err)
		if got := idsIn(items); !slices.EqualFunc(got, want, slices.Equal) {
			t.Errorf("descending %t: all %v, want %v", descending, got, want)
		}
		for limit := 1; limit <= 4; limit++ {
			var got [][]byte
			for cursor := ""; ; {
				page, err := reader.Page(t.Context(), fanout.PageRequest{Query: q, Limit: limit, Cursor: cursor})
				must(t, err)
				got = append(got, idsIn(page.Items)...)
				if cursor = page.Next; cursor == "" {
					break
				}
			}
			if !slices.EqualFunc(got, want, slices.Equal) {
				t.Errorf("descending %t, pages of %d: %v, want %v", descending, limit, got, want)
			}
		}
	}
}

// TestPageUnits: what pages cost against the same pages on one unsharded key, for
// rows of 2 KB on 16 shards.
func TestPageUnits(t *testing.T) {
	table, whole := adr("RenewalSaga", 16, 120), adr("Whole", 0, 120)
	r := newRig(t, rigOptions{})
	r.load(t, table.rows, table.fill)
	r.load(t, whole.rows, whole.fill)
	reader := r.reader(shard.Static(table.layout))
	walkUnits(t, reader, 50) // learns the size of a row
	for limit := 10; limit <= 100; limit += 5 {
		cost, pages := walkUnits(t, reader, limit)
		unsharded := rawWalkUnits(t, r.client, "Whole", limit)
		t.Logf("pages of %d: %.1f units each, %.2f of unsharded", limit, cost.Units/float64(pages), cost.Units/unsharded)
		if cost.Units > 3*unsharded {
			t.Errorf("pages of %d: %.1f units, more than 3 × %.1f", limit, cost.Units, unsharded)
		}
	}
}
