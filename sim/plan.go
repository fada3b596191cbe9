package sim

import (
	"cmp"
	"slices"

	"github.com/hotsplit/hotsplit/capacity"
)

// PlanInput is what a number of shard keys is chosen from.
type PlanInput struct {
	Owners     []OwnerLoad `json:"owners"`
	Partitions int         `json:"partitions"` // that the index has now; 0 means 4
	Seed       uint64      `json:"seed"`

	// PeakRead and PeakWrite are the old key's busiest second in units. When it was
	// refused then, more was asked for than was served.
	PeakRead  float64 `json:"peakRead"`
	PeakWrite float64 `json:"peakWrite"`
	Refused   bool    `json:"refused"`
	Headroom  float64 `json:"headroom"` // of growth to allow for; 0 means 2

	Callers       []CallerShare `json:"callers"` // of the key's load
	HeaviestItem  float64       `json:"heaviestItem"`
	AllReadsHour  float64       `json:"allReadsPerHour"` // reads of all rows
	ListOwners    int           `json:"listOwners"`      // asked for by one load of the list page
	ListLoadsHour float64       `json:"listLoadsPerHour"`

	Move   MoveInput `json:"move"`
	Prices Prices    `json:"prices"`
}

// CallerShare is one caller's share of the key's load.
type CallerShare struct {
	Name  string  `json:"name"`
	Share float64 `json:"share"`
}

// Candidate is one number of keys.
type Candidate struct {
	Spread
	Now         Reach   `json:"now"`         // on the partitions that exist
	Warmed      Reach   `json:"warmed"`      // on the partitions that are recommended
	AfterSplits float64 `json:"afterSplits"` // each key on a partition of its own
	Limit       float64 `json:"limit"`
	PeakLoad    float64 `json:"peakLoad"` // the heaviest shard at today's peak, in shares of a partition

	ExtraRequestsAll  int     `json:"extraRequestsAll"`     // for reading all rows once
	ExtraUnitsAll     float64 `json:"extraUnitsAll"`        // at most, when shards are nearly empty
	ExtraRequestsHour float64 `json:"extraRequestsPerHour"` // of today's reads of all
	ExtraMonth        float64 `json:"extraMonth"`           // money
	ListRequests      int     `json:"listRequests"`         // for one load of the list page, asked owner by owner or shard by shard
	IdleUnitsHour     float64 `json:"idleUnitsPerHour"`     // of polling all shards every 4 s when nothing is in them
}

// Plan weighs every number of keys.
type Plan struct {
	Input       PlanInput   `json:"input"`
	Candidates  []Candidate `json:"candidates"`
	Recommended int         `json:"recommended"` // keys; 0 means do not shard
	Partitions  int         `json:"partitions"`  // to warm the index for
	WarmRead    float64     `json:"warmRead"`    // units a second; 0 leaves it as it is
	WarmWrite   float64     `json:"warmWrite"`
	WarmMoney   float64     `json:"warmMoney"` // once
	Cure        Cure        `json:"cure"`
	Reasons     []string    `json:"reasons"`
	Move        Move        `json:"move"`
}

// KeysMax is the largest number of keys that is weighed.
const KeysMax = 128

// PlanFor weighs 1 to KeysMax keys and recommends one number, or none.
func PlanFor(in PlanInput) Plan {
	if in.Partitions == 0 {
		in.Partitions = capacity.PartitionsDefault
	}
	if in.Headroom == 0 {
		in.Headroom = 2
	}
	in.Prices = in.Prices.WithDefaults()
	p := Plan{Input: in, Move: PlanMove(in.Move, in.Prices)}
	hashed := hashes(in.Owners)
	for n := 1; n <= KeysMax; n++ {
		p.Candidates = append(p.Candidates, in.candidate(hashed, n))
	}
	p.recommend()
	for i := range p.Candidates {
		p.Candidates[i].Warmed = p.Candidates[i].ReachOn(p.Partitions, in.Seed)
	}
	return p
}

const (
	pollSeconds  = 4   // between polls of a list page, for the idle figure
	emptyUnits   = 0.5 // of an eventually consistent query that finds nothing
	hoursOfMonth = 30 * 24
)

func (in PlanInput) candidate(hashed []uint64, n int) Candidate {
	c := Candidate{Spread: spread(in.Owners, hashed, n)}
	c.Now = c.ReachOn(in.Partitions, in.Seed)
	c.AfterSplits, c.Limit = c.afterSplits(in.quota()), c.limit(in.quota())
	c.PeakLoad = in.PeakLoad() * c.HeaviestShare
	c.ExtraRequestsAll = n - 1
	c.ExtraUnitsAll = emptyUnits * float64(n-1)
	c.ExtraRequestsHour = float64(c.ExtraRequestsAll) * in.AllReadsHour
	c.ExtraMonth = c.ExtraUnitsAll * in.AllReadsHour * hoursOfMonth * in.Prices.ReadMillion / 1e6
	c.ListRequests = min(in.ListOwners, n)
	c.IdleUnitsHour = emptyUnits * float64(n) * 3600 / pollSeconds
	return c
}

// PeakLoad is the old key's busiest second in shares of one partition's ceiling.
func (in PlanInput) PeakLoad() float64 {
	return max(in.PeakRead/capacity.PartitionCeiling.Read, in.PeakWrite/capacity.PartitionCeiling.Write)
}

// quota is the index's own, in partitions, for the direction that is nearer to
// its ceiling.
func (in PlanInput) quota() float64 {
	if in.PeakWrite/capacity.PartitionCeiling.Write > in.PeakRead/capacity.PartitionCeiling.Read {
		return capacity.QuotaWrite / capacity.PartitionCeiling.Write
	}
	return capacity.QuotaRead / capacity.PartitionCeiling.Read
}

// target is the throughput to plan for, in partitions: the peak with headroom. A
// peak that was refused is taken as at least a full partition and half again.
func (in PlanInput) target() float64 {
	peak := in.PeakLoad()
	if in.Refused {
		peak = max(peak, 1) * refusedFactor
	}
	return peak * in.Headroom
}

// refusedFactor is how much more than what was served is taken to have been
// wanted, when some was refused. Nobody can know; retries hide it.
const refusedFactor = 1.5

// At is the candidate with n keys, 1 to KeysMax.
func (p Plan) At(n int) Candidate { return p.Candidates[n-1] }

// sorted gives the owners, heaviest first.
func (in PlanInput) sorted() []OwnerLoad {
	return slices.SortedFunc(slices.Values(in.Owners), func(a, b OwnerLoad) int {
		return cmp.Or(cmp.Compare(b.Load, a.Load), cmp.Compare(a.Owner, b.Owner))
	})
}

// With is the plan for a number of keys that somebody chose.
func (p Plan) With(keys int) Plan {
	p.Reasons = nil
	p.say("%d keys were asked for; the plan would be %d.", keys, p.Recommended)
	p.Recommended, p.Cure, p.Partitions, p.WarmRead, p.WarmWrite, p.WarmMoney = keys, CureShard, p.Input.Partitions, 0, 0, 0
	target := p.Input.target()
	p.warm(target)
	p.explain(target)
	for i := range p.Candidates {
		p.Candidates[i].Warmed = p.Candidates[i].ReachOn(p.Partitions, p.Input.Seed)
	}
	return p
}
