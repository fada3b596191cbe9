package sim_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/hotsplit/hotsplit/sim"
)

func evenOwners(n int) []sim.OwnerLoad {
	owners := make([]sim.OwnerLoad, n)
	for i := range owners {
		owners[i] = sim.OwnerLoad{Owner: sim.OwnerName(i), Load: 1, Rows: 1}
	}
	return owners
}

// TestReachMatchesPhysics compares with the table of physics.md, 3.8.
func TestReachMatchesPhysics(t *testing.T) {
	owners := evenOwners(200_000) // so many that the shards are equal
	for _, c := range []struct {
		keys, partitions int
		mean             float64
	}{{1, 4, 1}, {4, 4, 2.045}, {8, 4, 2.370}, {12, 4, 2.555}, {16, 4, 2.680}, {32, 4, 2.960}, {16, 8, 3.980}, {16, 16, 5.510}, {64, 32, 12.170}} {
		t.Run(fmt.Sprintf("%d on %d", c.keys, c.partitions), func(t *testing.T) {
			got := sim.SpreadOver(owners, c.keys).ReachOn(c.partitions, 1).Mean
			if math.Abs(got-c.mean) > 0.03*c.mean {
				t.Errorf("reaches %.3f, physics says %.3f", got, c.mean)
			}
		})
	}
}

func TestRecommendations(t *testing.T) {
	for _, c := range []struct {
		name  string
		in    sim.PlanInput
		cure  sim.Cure
		keys  []int // any of
		warms bool
	}{
		{"the ADR's", sim.PlanInput{Owners: evenOwners(179), PeakRead: 3000, Refused: true}, sim.CureShard, []int{12, 16}, true},
		{"quiet", sim.PlanInput{Owners: evenOwners(179), PeakRead: 900}, sim.CureNone, []int{0}, false},
		{"one item", sim.PlanInput{Owners: evenOwners(179), PeakWrite: 950, HeaviestItem: 0.8}, sim.CureItem, []int{0}, false},
		{"one owner", sim.PlanInput{Owners: append(evenOwners(100), sim.OwnerLoad{Owner: "big", Load: 200}), PeakRead: 3000, Refused: true}, sim.CureOwner, []int{0}, false},
		{"few owners", sim.PlanInput{Owners: evenOwners(20), PeakRead: 1500}, sim.CureShard, []int{2, 4}, false},
		{"one reader", sim.PlanInput{Owners: evenOwners(179), PeakRead: 1500, Callers: []sim.CallerShare{{"list", 0.9}}}, sim.CureCache, []int{2, 4, 8}, false},
		{"large", sim.PlanInput{Owners: evenOwners(100_000), PeakWrite: 1000, Refused: true, Headroom: 4}, sim.CureShard, []int{24, 32}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := sim.PlanFor(c.in)
			if p.Cure != c.cure || !slices.Contains(c.keys, p.Recommended) || (p.WarmRead > 0) != c.warms {
				t.Errorf("cure %s, %d keys, warm %v; want %s, one of %v, warming %v\n%q", p.Cure, p.Recommended, p.WarmRead, c.cure, c.keys, c.warms, p.Reasons)
			}
			if len(p.Reasons) == 0 {
				t.Error("no reason is given")
			}
		})
	}
}
