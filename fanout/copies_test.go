package fanout_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/hotsplit/hotsplit/emulator"
	"github.com/hotsplit/hotsplit/fanout"
	"github.com/hotsplit/hotsplit/shard"
)

// TestCopiesAreOneRow: where the index shows a row in both layouts, the copy in the
// layout that the move goes to is the row, and there is one.
func TestCopiesAreOneRow(t *testing.T) {
	a, b := layout("RenewalSaga", 0), layout("RenewalSaga", 4)
	c := shape{rows: 30, count: 0, owners: 5, ties: 2, rare: 1}.build("RenewalSaga", 16)
	r := newRig(t, rigOptions{pageItems: 7})
	for i := range c.rows {
		c.rows[i].status = "old copy"
	}
	r.load(t, c.rows, 0)
	must(t, r.db.HoldIndex(r.table.Name, "GSI4", emulator.HalfDelete))
	for _, e := range c.rows {
		e.status, e.key = "new copy", b.Key(e.owner)
		r.load(t, []entry{e}, 0)
	}
	for want, routing := range map[string]shard.Routing{
		"new copy": shard.RoutingFor(shard.WriteNew, a, b, 1),
		"old copy": {Generation: 1, Read: []shard.Layout{b, a}, Write: a, To: a},
	} {
		for _, source := range []fanout.Source{fanout.Static(routing), watchedBy(routing)} {
			reader := fanout.New(r.client, r.table, source, fanout.Options{})
			check := func(name string, items []fanout.Item, rows []entry, err error) {
				t.Helper()
				must(t, err)
				if got := idsOf(items); !slices.Equal(got, ids(sorted(rows, false))) {
					t.Errorf("%s: %d rows, want each of %d once", name, len(got), len(rows))
				}
				for _, item := range items {
					if got := item["status"].(*types.AttributeValueMemberS).Value; got != want {
						t.Fatalf("%s: the %s, want the %s", name, got, want)
					}
				}
			}
			all, err := fanout.Collect(reader.All(t.Context(), fanout.Query{}))
			check("all", all, c.rows, err)
			one, err := fanout.Collect(reader.Owner(t.Context(), "p1", fanout.Query{}))
			check("owner", one, owned(c.rows, "p1"), err)
			several, err := fanout.Collect(reader.Owners(t.Context(), []string{"p1", "p2"}, fanout.Query{}))
			check("owners", several, owned(c.rows, "p1", "p2"), err)
			page, err := reader.Page(t.Context(), fanout.PageRequest{Limit: 50})
			check("page", page.Items, c.rows, err)
			if n, err := reader.Count(t.Context(), fanout.Query{}); err != nil || n != len(c.rows) {
				t.Errorf("counted %d, %v", n, err)
			}
		}
	}
}

// TestFrozenReadsAreDoneAgain: a request that comes back after the whole move asked
// a key that no row is on any more.
func TestFrozenReadsAreDoneAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := layout("RenewalSaga", 0), layout("RenewalSaga", 4)
		c := shape{rows: 20, count: 0, owners: 4, ties: 1, rare: 1}.build("RenewalSaga", 17)
		r := newRig(t, rigOptions{})
		r.load(t, c.rows, 0)
		rec := &record{}
		m := &move{rig: r, record: rec, a: a, b: b, batch: 20}
		thaw := make(map[string]func(*fanout.Reader) ([]fanout.Item, error))
		thaw["Owner"] = func(r *fanout.Reader) ([]fanout.Item, error) {
			return fanout.Collect(r.Owner(t.Context(), "p1", fanout.Query{}))
		}
		thaw["Page"] = func(r *fanout.Reader) ([]fanout.Item, error) {
			p, err := r.Page(t.Context(), fanout.PageRequest{Owner: "p1"})
			return p.Items, err
		}
		thaw["Count"] = func(r *fanout.Reader) ([]fanout.Item, error) {
			n, err := r.Count(t.Context(), fanout.Query{})
			return make([]fanout.Item, n-len(c.rows)+len(owned(c.rows, "p1"))), err
		}
		for name, read := range thaw {
			rec.publish(shard.RoutingFor(shard.Planned, a, b, 0), nil)
			time.Sleep(bound)
			frozen := false
			r.delays.query = func(string) {
				if !frozen {
					frozen = true
					m.forward(t, c.rows)
				}
			}
			items, err := read(fanout.New(r.client, r.table, &follower{record: rec}, fanout.Options{}))
			r.delays.query = nil
			must(t, err)
			if want := len(owned(c.rows, "p1")); len(items) != want {
				t.Errorf("%s: %d rows, want %d", name, len(items), want)
			}
			m.back(t, c.rows)
		}
	})
}

// restless is a source whose view never holds.
type restless struct{ fanout.Source }

func (restless) Holds(context.Context, fanout.View) (bool, error) { return false, nil }

func TestUnsettledRoutingsEndTheCall(t *testing.T) {
	r, c := spread(t, rigOptions{})
	source := fanout.Static(shard.Static(c.layout))
	reader := fanout.New(r.client, r.table, restless{source}, fanout.Options{})
	for name, read := range entryPoints(reader, ownersOf(c.rows)) {
		if rows, err := read(t.Context(), fanout.Query{}); !errors.Is(err, fanout.ErrUnsettled) || len(rows) > 0 {
			t.Errorf("%s: %d rows, %v", name, len(rows), err)
		}
	}
}
