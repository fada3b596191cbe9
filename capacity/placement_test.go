package capacity_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/hotsplit/hotsplit/capacity"
	"pgregory.net/rapid"
)

func TestPartitionsFor(t *testing.T) {
	for _, c := range []struct {
		read, write float64
		want        int
	}{{1, 1, 1}, {0, 10000, 10}, {3001, 1, 2}, {0, 3200, 4}, {0, 6000, 6}, {12000, 4000, 4}, {48000, 16000, 16}} {
		if got := capacity.PartitionsFor(c.read, c.write); got != c.want {
			t.Errorf("%v reads, %v writes: %d partitions, want %d", c.read, c.write, got, c.want)
		}
	}
}

// Placements of real key names spread as random ones do: 16 keys on 4 partitions
// reach 2,680 on average.
func TestPlacementIsRandom(t *testing.T) {
	sum := 0.0
	const placements = 3000
	for seed := range uint64(placements) {
		set := capacity.NewSet(capacity.SetOptions{}, start)
		counts, most := map[int]int{}, 0
		for i := range 16 {
			p := set.Of(capacity.Point{Hash: capacity.Place(seed, fmt.Sprintf("RenewalSaga#%d", i))}, start)
			counts[p.ID]++
			most = max(most, counts[p.ID])
		}
		sum += 16 / float64(most) * 1000
	}
	if mean := sum / placements; math.Abs(mean-2680) > 2680*0.02 {
		t.Errorf("mean %.0f, want 2,680", mean)
	}
}

func TestGrowKeepsRangesEqual(t *testing.T) {
	for _, from := range []int{1, 2, 4} {
		set := capacity.NewSet(capacity.SetOptions{Partitions: from}, start)
		set.Grow(16, start)
		set.Grow(3, start)
		counts := map[int]int{}
		random := rand.New(rand.NewPCG(1, 2))
		for range 16000 {
			counts[set.Of(capacity.Point{Hash: random.Uint64()}, start).ID]++
		}
		if set.Len() != 16 || len(counts) != 16 {
			t.Fatalf("%d partitions, %d hit", set.Len(), len(counts))
		}
		for id, n := range counts {
			if n < 850 || n > 1150 {
				t.Errorf("from %d: partition %d holds %d of 16,000", from, id, n)
			}
		}
	}
}

func TestIsolatedKeys(t *testing.T) {
	set := capacity.NewSet(capacity.SetOptions{Isolated: true}, start)
	seen := map[*capacity.Partition]bool{}
	for i := range 12 {
		seen[set.Of(capacity.Point{Hash: capacity.Place(0, fmt.Sprint(i))}, start)] = true
	}
	if set.Grow(64, start); len(seen) != 12 || set.Len() != 12 || len(set.All()) != 12 {
		t.Errorf("%d partitions for 12 keys", len(seen))
	}
}

// Each point has one owner, before and after splits, and a read from end to end
// touches every partition once.
func TestRangesCoverTheLine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 70).Draw(t, "partitions")
		set := capacity.NewSet(capacity.SetOptions{Partitions: n}, start)
		set.Grow(rapid.IntRange(1, 80).Draw(t, "grown"), start)
		touched := set.Touched(nil, capacity.Point{}, capacity.Last(math.MaxUint64), start)
		if len(touched) != set.Len() {
			t.Fatalf("a scan touches %d of %d", len(touched), set.Len())
		}
		hash := rapid.Uint64().Draw(t, "hash")
		at := capacity.Point{Hash: hash, Sort: rapid.String().Draw(t, "sort")}
		one := set.Touched(nil, capacity.Point{Hash: hash}, capacity.Last(hash), start)
		if len(one) != 1 || one[0] != set.Of(at, start) {
			t.Fatalf("a collection that was never cut touches %d partitions", len(one))
		}
	})
}

var splitting = capacity.SetOptions{Split: capacity.SplitOptions{Share: 0.8, Sustain: 3 * time.Minute}}

// heat drives one set with the points that next gives, at 2,000 writes a second,
// and returns what passed in the last minute.
func heat(set *capacity.Set, minutes int, next func(i int) capacity.Point) int {
	now, passed := start, 0
	for range minutes {
		passed = drive(2000, time.Minute, &now, func(i int, now time.Time) bool {
			set.SplitHot(now)
			p := next(i)
			return set.Of(p, now).Take(capacity.Write, 1, p, now)
		})
	}
	return passed
}

func TestSplitForHeat(t *testing.T) {
	hash := capacity.Place(1, "RenewalSaga")
	random := rand.New(rand.NewPCG(3, 4))
	any := func(int) capacity.Point {
		return capacity.Point{Hash: hash, Sort: fmt.Sprintf("person-%04d", random.IntN(1000))}
	}
	for _, c := range []struct {
		name    string
		minutes int
		next    func(i int) capacity.Point
		least   int // passed in the last minute
		most    int
	}{
		{"before the threshold", 3, any, 59000, 61100},
		{"inside one collection", 6, any, 114000, 120000},
		{"one item", 12, func(int) capacity.Point { return capacity.Point{Hash: hash, Sort: "x"} }, 59000, 61100},
		{"rising sort keys", 12, func(i int) capacity.Point { return capacity.Point{Hash: hash, Sort: fmt.Sprintf("%09d", i)} }, 59000, 61100},
	} {
		set := capacity.NewSet(splitting, start)
		if got := heat(set, c.minutes, c.next); got < c.least || got > c.most {
			t.Errorf("%s: %d passed in minute %d, want %d to %d", c.name, got, c.minutes, c.least, c.most)
		}
	}
}

func TestSplitKeepsCollections(t *testing.T) {
	o := splitting
	o.Partitions, o.Split.KeepCollections = 1, true
	set := capacity.NewSet(o, start)
	low, high := capacity.Point{Hash: 1, Sort: "a"}, capacity.Point{Hash: 2}
	heat(set, 8, func(i int) capacity.Point {
		if i%2 == 0 {
			return high
		}
		return capacity.Point{Hash: 1, Sort: fmt.Sprint(i * 7919 % 1000)}
	})
	if a, b := set.Of(low, start), set.Of(high, start); a == b || set.Len() != 2 {
		t.Errorf("%d partitions, both collections on one: %v", set.Len(), a == b)
	}
}

func TestShortSpikesNeverSplit(t *testing.T) {
	set := capacity.NewSet(splitting, start)
	now := start
	random := rand.New(rand.NewPCG(5, 6))
	for range 20 {
		drive(1000, 90*time.Second, &now, func(_ int, now time.Time) bool {
			p := capacity.Point{Hash: 7, Sort: fmt.Sprint(random.IntN(1000))}
			set.SplitHot(now)
			return set.Of(p, now).Take(capacity.Write, 1, p, now)
		})
		now = now.Add(2 * time.Minute)
	}
	if set.Len() != capacity.PartitionsDefault {
		t.Errorf("%d partitions", set.Len())
	}
}
