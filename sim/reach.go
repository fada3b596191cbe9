package sim

import (
	"math/rand/v2"
	"slices"

	"github.com/hotsplit/hotsplit/shard"
)

// OwnerLoad is one owner's part of the load: in any unit, as long as it is the
// same for all.
type OwnerLoad struct {
	Owner string  `json:"owner"`
	Load  float64 `json:"load"`
	Rows  int     `json:"rows,omitempty"`
	Bytes int     `json:"bytes,omitempty"` // of its index entries
}

// Spread is how owners' load falls on a number of keys.
type Spread struct {
	Keys          int     `json:"keys"`
	Heaviest      int     `json:"heaviest"`      // the heaviest shard's number
	HeaviestShare float64 `json:"heaviestShare"` // of the load
	HeaviestRows  int     `json:"heaviestRows"`
	OwnerShare    float64 `json:"ownerShare"` // the heaviest owner's, of the load
	shares        []float64
}

// SpreadOver gives the exact spread of owners over n keys, by the shard function
// that will place them.
func SpreadOver(owners []OwnerLoad, n int) Spread { return spread(owners, hashes(owners), n) }

// hashes are the owners' hashes, which do not depend on the number of keys.
func hashes(owners []OwnerLoad) []uint64 {
	out := make([]uint64, len(owners))
	for i, o := range owners {
		out[i] = shard.Hash(o.Owner)
	}
	return out
}

func spread(owners []OwnerLoad, hashes []uint64, n int) Spread {
	s := Spread{Keys: n, shares: make([]float64, max(n, 1))}
	rows := make([]int, max(n, 1))
	total := 0.0
	for i, o := range owners {
		at := shard.Reduce(hashes[i], n)
		s.shares[at] += o.Load
		rows[at] += o.Rows
		total += o.Load
	}
	if total == 0 {
		return s
	}
	for i := range s.shares {
		s.shares[i] /= total
		if s.shares[i] > s.shares[s.Heaviest] {
			s.Heaviest = i
		}
	}
	for _, o := range owners {
		s.OwnerShare = max(s.OwnerShare, o.Load/total)
	}
	s.HeaviestShare, s.HeaviestRows = s.shares[s.Heaviest], rows[s.Heaviest]
	return s
}

// EvenSpread is the spread of n equally loaded keys.
func EvenSpread(n int) Spread {
	s := Spread{Keys: n, HeaviestShare: 1 / float64(n), shares: make([]float64, n)}
	for i := range s.shares {
		s.shares[i] = 1 / float64(n)
	}
	return s
}

// Reach is the throughput that a spread reaches, as a multiple of what one
// partition serves: over random placements of the keys on partitions, since the
// service's own placement cannot be known.
type Reach struct {
	Partitions int     `json:"partitions"`
	Mean       float64 `json:"mean"`
	Low        float64 `json:"low"`  // 5 % of placements reach less
	High       float64 `json:"high"` // 5 % reach more
}

const placements = 2000

// ReachOn computes the reach on so many partitions, from seeded placements.
func (s Spread) ReachOn(partitions int, seed uint64) Reach {
	chance := rand.New(rand.NewPCG(seed, uint64(s.Keys)<<32|uint64(partitions)))
	reached, load := make([]float64, placements), make([]float64, partitions)
	sum := 0.0
	for i := range reached {
		clear(load)
		for _, share := range s.shares {
			load[chance.IntN(partitions)] += share
		}
		reached[i] = 1 / slices.Max(load)
		sum += reached[i]
	}
	slices.Sort(reached)
	return Reach{partitions, sum / placements, reached[placements/20], reached[placements-1-placements/20]}
}

// ReachAt is the reach of one known placement: home gives the partition, from 0,
// of each shard.
func (s Spread) ReachAt(home func(shard int) int, partitions int) float64 {
	load := make([]float64, partitions)
	for i, share := range s.shares {
		load[home(i)] += share
	}
	return 1 / slices.Max(load)
}

// afterSplits is the reach once every key has a partition of its own, and limit
// the one that nothing passes: one owner's rows stay together, and the index has a
// quota, given in partitions.
func (s Spread) afterSplits(quota float64) float64 { return upTo(quota, s.HeaviestShare) }

func (s Spread) limit(quota float64) float64 { return upTo(quota, s.OwnerShare) }

func upTo(quota, share float64) float64 {
	if share == 0 {
		return quota
	}
	return min(quota, 1/share)
}
