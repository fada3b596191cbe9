package capacity_test

import (
	"math"
	"testing"

	"github.com/hotsplit/hotsplit/capacity"
)

// The table of physics 3.8, which was sampled; ours is exact.
func TestExpectationTable(t *testing.T) {
	for _, c := range []struct {
		keys, partitions int
		mean             float64
	}{
		{1, 4, 1000}, {1, 64, 1000},
		{4, 4, 2045}, {4, 8, 2780}, {4, 16, 3325}, {4, 32, 3645}, {4, 64, 3815},
		{8, 4, 2370}, {8, 8, 3275}, {8, 16, 4245}, {8, 32, 5485}, {8, 64, 6515},
		{12, 4, 2555}, {12, 8, 3680}, {12, 16, 4960}, {12, 32, 6200}, {12, 64, 7885},
		{16, 4, 2680}, {16, 8, 3980}, {16, 16, 5510}, {16, 32, 7070}, {16, 64, 8740},
		{32, 4, 2960}, {32, 8, 4665}, {32, 16, 6860}, {32, 32, 9450}, {32, 64, 12440},
		{64, 4, 3200}, {64, 8, 5325}, {64, 16, 8305}, {64, 32, 12170}, {64, 64, 16760},
	} {
		got := capacity.Expect(c.keys, c.partitions, capacity.PartitionCeiling.Write).Mean()
		if math.Abs(got-c.mean) > c.mean*0.01 {
			t.Errorf("%d keys on %d partitions: mean %.0f, want %.0f", c.keys, c.partitions, got, c.mean)
		}
	}
}

func TestExpectationSpread(t *testing.T) {
	for _, c := range []struct {
		keys, partitions    int
		p5, p95             float64
		atLeast3000, within float64
	}{
		{4, 4, 1333, 4000, 0.09, 0.01},
		{8, 4, 1600, 2667, 0.04, 0.01},
		{12, 4, 1714, 3000, 0.40, 0.01},
		{16, 4, 2000, 3200, 0.31, 0.01},
		{32, 4, 2286, 3556, 0.43, 0.01},
		{64, 4, 2667, 3765, 0.76, 0.01},
		{12, 16, 3000, 6000, 0.99, 0.02},
		{16, 16, 4000, 8000, 1, 0.01},
	} {
		e := capacity.Expect(c.keys, c.partitions, 1000)
		p5, p95, chance := e.Percentile(0.05), e.Percentile(0.95), e.Reaches(3000)
		if math.Round(p5) != c.p5 || math.Round(p95) != c.p95 || math.Abs(chance-c.atLeast3000) > c.within {
			t.Errorf("%d keys on %d partitions: p5 %.0f p95 %.0f, at least 3,000 in %.3f; want %.0f %.0f %.2f",
				c.keys, c.partitions, p5, p95, chance, c.p5, c.p95, c.atLeast3000)
		}
	}
}

// N=16, P=4: 5 keys in 29 %, 6 in 38 %, 7 in 21 %, 4 in 1.5 % of layouts.
func TestFullestPartition(t *testing.T) {
	e := capacity.Expect(16, 4, 1000)
	for keys, want := range map[int]float64{4: 0.015, 5: 0.29, 6: 0.38, 7: 0.21} {
		if got := e.Fullest(keys); math.Abs(got-want) > 0.006 {
			t.Errorf("fullest partition holds %d keys in %.3f, want %.3f", keys, got, want)
		}
	}
	if got := e.Fullest(3) + e.Fullest(17); got != 0 {
		t.Errorf("impossible fullest partition has chance %v", got)
	}
}

func TestManyKeysAreSampled(t *testing.T) {
	exact, sampled := capacity.Expect(512, 16, 1000), capacity.Expect(513, 16, 1000)
	if a, b := exact.Mean(), sampled.Mean(); math.Abs(a-b) > a*0.02 {
		t.Errorf("512 keys %.0f, 513 keys %.0f", a, b)
	}
	if got := capacity.Expect(0, 0, 1000).Mean(); got != 1000 {
		t.Errorf("no key, no partition: %v", got)
	}
}
