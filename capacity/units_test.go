package capacity_test

import (
	"testing"

	"github.com/hotsplit/hotsplit/capacity"
	"pgregory.net/rapid"
)

const kb = 1024

// The examples of physics.md section 1.
func TestUnitExamples(t *testing.T) {
	for _, c := range []struct {
		name      string
		got, want float64
	}{
		{"absent item, strong", capacity.ReadUnits(0, capacity.Strong), 1},
		{"absent item, eventual", capacity.ReadUnits(0, capacity.Eventual), 0.5},
		{"absent item, transactional", capacity.ReadUnits(0, capacity.Transactional), 2},
		{"batch of 1.5 KB and 6.5 KB", capacity.ReadUnits(3*kb/2, capacity.Strong) + capacity.ReadUnits(13*kb/2, capacity.Strong), 3},
		{"10 items, 40.8 KB, strong", capacity.PageUnits(41779, 1, capacity.Strong), 11},
		{"10 items, 40.8 KB, eventual", capacity.PageUnits(41779, 1, capacity.Eventual), 5.5},
		{"1500 items of 64 B, strong", capacity.PageUnits(1500*64, 1, capacity.Strong), 24},
		{"1500 items of 64 B, eventual", capacity.PageUnits(1500*64, 1, capacity.Eventual), 12},
		{"index query of 8 items of 2000 B", capacity.PageUnits(16000, 1, capacity.Eventual), 2},
		{"empty query", capacity.PageUnits(0, 1, capacity.Eventual), 0.5},
		{"empty scan of 4 partitions", capacity.PageUnits(0, 4, capacity.Eventual), 2},
		{"empty strong scan of 4 partitions", capacity.PageUnits(0, 4, capacity.Strong), 4},
		{"fan-out over 17 empty keys", 17 * capacity.PageUnits(0, 1, capacity.Eventual), 8.5},
		{"fan-out over 13 empty keys", 13 * capacity.PageUnits(0, 1, capacity.Eventual), 6.5},
		{"4096 B", capacity.ReadUnits(4096, capacity.Strong), 1},
		{"4097 B", capacity.ReadUnits(4097, capacity.Strong), 2},
		{"put of 1 KB", capacity.WriteUnits(0, kb), 1},
		{"put of 1 KB and a byte", capacity.WriteUnits(0, kb+1), 2},
		{"update that shrinks", capacity.WriteUnits(5*kb, 10), 5},
		{"delete", capacity.WriteUnits(3*kb, 0), 3},
		{"delete of an absent item", capacity.WriteUnits(0, 0), 1},
		{"transaction of 3 items of 500 B", 3 * capacity.TransactionFactor * capacity.WriteUnits(0, 500), 6},
		{"condition failed, absent", capacity.ConditionFailedUnits(0, 300*kb), 1},
		{"condition failed, 310 KB on 300 KB", capacity.ConditionFailedUnits(300*kb, 310*kb), 310},
	} {
		if c.got != c.want {
			t.Errorf("%s: %v units, want %v", c.name, c.got, c.want)
		}
	}
}

func entry(key string, size int) capacity.Entry {
	return capacity.Entry{Present: true, Key: key, Size: size}
}

// Physics 2.1, and the golden table of KF-24.
func TestIndexCost(t *testing.T) {
	none := capacity.Entry{}
	for _, c := range []struct {
		name     string
		old, new capacity.Entry
		same     bool
		want     capacity.IndexCost
	}{
		{"appears", none, entry("a", 500), false, capacity.IndexCost{Stored: 1}},
		{"appears, 2.5 KB", none, entry("a", 2560), false, capacity.IndexCost{Stored: 3}},
		{"disappears", entry("a", 500), none, false, capacity.IndexCost{Removed: 1}},
		{"key moves", entry("a", 500), entry("b", 500), false, capacity.IndexCost{Removed: 1, Stored: 1}},
		{"key moves, 1.1 KB", entry("a", 1127), entry("b", 1127), false, capacity.IndexCost{Removed: 2, Stored: 2}},
		{"key moves and grows", entry("a", 500), entry("b", 2560), false, capacity.IndexCost{Removed: 1, Stored: 3}},
		{"projected attribute changes", entry("a", 500), entry("a", 510), false, capacity.IndexCost{Stored: 1}},
		{"shrinks in place", entry("a", 2560), entry("a", 500), false, capacity.IndexCost{Stored: 3}},
		{"nothing visible changes", entry("a", 500), entry("a", 500), true, capacity.IndexCost{}},
		{"never in the index", none, none, true, capacity.IndexCost{}},
	} {
		if got := capacity.CostOfChange(c.old, c.new, c.same); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
	if got := (capacity.IndexCost{Removed: 1, Stored: 2}).Times(2).Units(); got != 6 {
		t.Errorf("doubled: %v units, want 6", got)
	}
}

func TestUnitsNeverFallWithSize(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := rapid.IntRange(0, 409600).Draw(t, "a")
		b := rapid.IntRange(a, 409600).Draw(t, "b")
		c := rapid.SampledFrom([]capacity.Consistency{capacity.Eventual, capacity.Strong, capacity.Transactional}).Draw(t, "c")
		if capacity.ReadUnits(a, c) > capacity.ReadUnits(b, c) || capacity.WriteUnits(a, 0) > capacity.WriteUnits(0, b) {
			t.Fatalf("%d bytes cost more than %d", a, b)
		}
		if one, both := capacity.PageUnits(a+b, 1, c), capacity.ReadUnits(a, c)+capacity.ReadUnits(b, c); one > both {
			t.Fatalf("a page costs %v, its items one by one %v", one, both)
		}
	})
}
