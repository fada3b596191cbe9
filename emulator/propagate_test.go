package emulator_test

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/hotsplit/hotsplit/emulator"
	"github.com/hotsplit/hotsplit/emulator/attr"
	"pgregory.net/rapid"
)

const before, behind = "RenewalSaga", "RenewalSaga#3"

// rekey moves row 0 to another index key.
func rekey(t *testing.T, db *emulator.DB, key string) {
	t.Helper()
	_, err := db.UpdateItem(t.Context(), &emulator.UpdateItemInput{
		TableName: new("rig"), Key: rowKey(0), UpdateExpression: new("SET GSI4PK = :k"),
		Expressions: emulator.Expressions{Values: map[string]attr.Value{":k": attr.String(key)}},
	})
	if err != nil {
		t.Fatal(err)
	}
}

// places tells where the index shows row 0.
func places(t *testing.T, db *emulator.DB) string {
	return fmt.Sprint(len(onKey(t, db, before)), len(onKey(t, db, behind)))
}

func TestEntriesArriveWithinTheLag(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := rig(t, emulator.Options{})
		for i := range 100 {
			put(t, db, row(i, before))
		}
		if n := len(onKey(t, db, before)); n != 0 {
			t.Errorf("%d entries before 10 ms", n)
		}
		time.Sleep(100 * time.Millisecond)
		if n := len(onKey(t, db, before)); n < 20 || n > 80 {
			t.Errorf("%d of 100 entries after 100 of 10 to 200 ms", n)
		}
		time.Sleep(100 * time.Millisecond)
		if n := len(onKey(t, db, before)); n != 100 {
			t.Errorf("%d entries after 200 ms", n)
		}
	})
}

// KF-10: between the halves of a key change a row is in both places or in none.
func TestOrderOfHalves(t *testing.T) {
	for order, between := range map[emulator.IndexOrder]string{
		emulator.IndexOrderDeleteFirst: "0 0",
		emulator.IndexOrderPutFirst:    "1 1",
	} {
		synctest.Test(t, func(t *testing.T) {
			db := rig(t, emulator.Options{IndexOrder: order})
			put(t, db, row(0, before))
			time.Sleep(time.Second)
			rekey(t, db, behind)
			seen := []string{places(t, db)}
			for range 220 {
				time.Sleep(time.Millisecond)
				if p := places(t, db); p != seen[len(seen)-1] {
					seen = append(seen, p)
				}
			}
			if diff := cmp.Diff([]string{"1 0", between, "0 1"}, seen); diff != "" {
				t.Errorf("order %d: %s", order, diff)
			}
		})
	}
}

func TestHoldAndRelease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := rig(t, emulator.Options{})
		put(t, db, row(0, before))
		time.Sleep(time.Second)
		must(t, db.HoldIndex("rig", "GSI4", emulator.HalfPut))
		rekey(t, db, behind)
		time.Sleep(time.Minute)
		if got := places(t, db); got != "0 0" {
			t.Errorf("put held: %s", got)
		}
		if n, err := db.PendingIndex("rig", "GSI4"); n != 1 || err != nil {
			t.Errorf("%d pending, %v", n, err)
		}
		must(t, db.HoldIndex("rig", "GSI4", emulator.HalfDelete))
		must(t, db.ReleaseIndex("rig", "GSI4", emulator.HalfPut))
		if got := places(t, db); got != "0 1" {
			t.Errorf("put released: %s", got)
		}
		rekey(t, db, before)
		time.Sleep(time.Second)
		if got := places(t, db); got != "1 1" {
			t.Errorf("delete held: %s", got)
		}
		must(t, db.ReleaseIndex("rig", "GSI4"))
		if got := places(t, db); got != "1 0" {
			t.Errorf("all released: %s", got)
		}
		if db.HoldIndex("rig", "nothing") == nil || db.ReleaseIndex("nothing", "GSI4") == nil {
			t.Error("held an index that is not there")
		}
	})
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Whatever is written, held and waited for, in the end the index shows exactly
// the rows that have its keys.
func TestIndexConverges(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		seed := rapid.Int64().Draw(r, "seed")
		var steps []func(*testing.T, *emulator.DB)
		for range rapid.IntRange(1, 60).Draw(r, "steps") {
			steps = append(steps, drawStep(r))
		}
		synctest.Test(t, func(t *testing.T) {
			db := rig(t, emulator.Options{Seed: seed})
			for _, step := range steps {
				step(t, db)
			}
			must(t, db.ReleaseIndex("rig", "GSI4"))
			time.Sleep(time.Second)
			if n, _ := db.PendingIndex("rig", "GSI4"); n != 0 {
				t.Errorf("%d changes still pending", n)
			}
			if diff := cmp.Diff(indexed(t, db, nil), indexed(t, db, new("GSI4"))); diff != "" {
				t.Errorf("base and index differ: %s", diff)
			}
		})
	})
}

func drawStep(r *rapid.T) func(*testing.T, *emulator.DB) {
	n := rapid.IntRange(0, 4).Draw(r, "row")
	key := rapid.SampledFrom([]string{before, behind, ""}).Draw(r, "key")
	half := rapid.SampledFrom([]emulator.Half{emulator.HalfDelete, emulator.HalfPut}).Draw(r, "half")
	switch rapid.IntRange(0, 6).Draw(r, "what") {
	case 0:
		return func(t *testing.T, db *emulator.DB) {
			if _, err := db.DeleteItem(t.Context(), &emulator.DeleteItemInput{TableName: new("rig"), Key: rowKey(n)}); err != nil {
				t.Fatal(err)
			}
		}
	case 1:
		wait := rapid.IntRange(0, 150).Draw(r, "wait")
		return func(*testing.T, *emulator.DB) { time.Sleep(time.Duration(wait) * time.Millisecond) }
	case 2:
		return func(t *testing.T, db *emulator.DB) { must(t, db.HoldIndex("rig", "GSI4", half)) }
	case 3:
		return func(t *testing.T, db *emulator.DB) { must(t, db.ReleaseIndex("rig", "GSI4", half)) }
	default:
		item := row(n, key).With("version", attr.Int(int64(rapid.IntRange(0, 3).Draw(r, "version"))))
		if key == "" {
			item = item.Without("GSI4PK")
		}
		return func(t *testing.T, db *emulator.DB) { put(t, db, item) }
	}
}

// indexed lists the items with both index keys, as the table or the index has
// them.
func indexed(t *testing.T, db *emulator.DB, index *string) []string {
	out, err := db.Scan(t.Context(), &emulator.ScanInput{TableName: new("rig"), IndexName: index})
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	for _, item := range out.Items {
		if item.Has("GSI4PK") {
			texts = append(texts, item.String())
		}
	}
	slices.Sort(texts)
	return texts
}
