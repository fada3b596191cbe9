package fanout_test

import (
	"testing"

	"github.com/hotsplit/hotsplit/fanout"
	"github.com/hotsplit/hotsplit/shard"
)

// TestAllocationsPerRow: what fanout allocates for each row, beyond the SDK's own.
func TestAllocationsPerRow(t *testing.T) {
	c := adr("RenewalSaga", 1, 1)
	r := newRig(t, rigOptions{})
	r.load(t, c.rows, 100)
	reader := r.reader(shard.Static(c.layout))
	key := c.layout.Key(c.rows[0].owner)
	raw := testing.AllocsPerRun(50, func() { rawQuery(t, r.client, key, c.rows[0].owner+"#") })
	for name, read := range map[string]func() ([]fanout.Item, error){
		"Owner": func() ([]fanout.Item, error) {
			return fanout.Collect(reader.Owner(t.Context(), c.rows[0].owner, fanout.Query{}))
		},
		"All": func() ([]fanout.Item, error) { return fanout.Collect(reader.All(t.Context(), fanout.Query{})) },
		"Page": func() ([]fanout.Item, error) {
			p, err := reader.Page(t.Context(), fanout.PageRequest{Limit: len(c.rows)})
			return p.Items, err
		},
	} {
		ours := testing.AllocsPerRun(50, func() {
			if items, err := read(); err != nil || len(items) != len(c.rows) {
				t.Fatalf("%s: %d rows, %v", name, len(items), err)
			}
		})
		perRow := (ours - raw) / float64(len(c.rows))
		t.Logf("%s: %.0f allocations, the SDK %.0f: %.2f a row", name, ours, raw, perRow)
		if perRow > 2 {
			t.Errorf("%s: %.2f allocations a row beyond the SDK's, want at most 2", name, perRow)
		}
	}
}
