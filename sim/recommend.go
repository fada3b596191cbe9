package sim

import (
	"fmt"
	"math"
	"slices"

	"github.com/hotsplit/hotsplit/capacity"
)

// Cure is what helps.
type Cure string

// The cures.
const (
	CureShard Cure = "shard" // spread the key over N keys
	CureCache Cure = "cache" // most of the load is one caller's repeated reading
	CureOwner Cure = "owner" // one owner alone is too much: a finer split is needed
	CureItem  Cure = "item"  // one item alone is: caching or splitting it
	CureNone  Cure = "none"  // nothing needs a cure
)

// steps are the numbers of keys that are recommended: few enough to compare.
var steps = []int{2, 4, 8, 12, 16, 24, 32, 48, 64, 96, 128}

const (
	quietLoad    = 0.4  // of a partition, up to which a key needs nothing
	itemShare    = 0.5  // of a key's load, that makes an item the cause
	cacheShare   = 0.7  // of a key's load, that makes one reading caller the cause
	evenMax      = 1.6  // heaviest shard over the mean, of an even enough spread
	ownersPerKey = 4    // fewest, for keys to be even
	placedWell   = 0.95 // of placements that reach the target
)

// recommend fills what the plan advises and why.
func (p *Plan) recommend() {
	in := p.Input
	p.Partitions = in.Partitions
	target := in.target()
	owners := in.sorted()
	switch {
	case in.PeakLoad() < quietLoad && !in.Refused:
		p.Cure = CureNone
		p.say("The key's busiest second used %s of one partition: it needs no cure now.", percent(in.PeakLoad()))
		return
	case in.HeaviestItem >= itemShare:
		p.Cure = CureItem
		p.say("One item takes %s of the key's load. It stays on one partition however many keys there are: cache it, or split its contents.", percent(in.HeaviestItem))
		return
	case len(owners) > 0 && p.Candidates[0].OwnerShare*target > 1:
		p.Cure = CureOwner
		p.say("One owner, %q, takes %s of the load: %s of one partition at the planned peak. Its rows stay together, so no number of keys by owner carries it. Find out why it is asked for so much, or shard by something finer.",
			owners[0].Owner, percent(p.Candidates[0].OwnerShare), percent(p.Candidates[0].OwnerShare*target))
		return
	}
	p.Cure = CureShard
	p.Recommended = p.fewest(target)
	p.warm(target)
	p.explain(target)
	p.amplifiers(target)
}

func (p *Plan) say(format string, args ...any) {
	p.Reasons = append(p.Reasons, fmt.Sprintf(format, args...))
}

// fewest is the smallest step whose keys spread evenly, carry the target, and do so
// on no more partitions than there are keys: fewer keys would need an index warmed
// for partitions that stay empty.
func (p *Plan) fewest(target float64) int {
	best := steps[0]
	for _, n := range steps {
		c := p.At(n)
		if len(p.Input.Owners) < ownersPerKey*n && n > steps[0] {
			break
		}
		best = n
		if c.AfterSplits >= target && c.HeaviestShare*float64(n) <= evenMax && p.partitionsFor(c, target) <= max(n, p.Input.Partitions) {
			break
		}
	}
	return best
}

// partitionsFor is the fewest partitions on which nearly all placements of c
// reach the target, in doublings of what there is.
func (p *Plan) partitionsFor(c Candidate, target float64) int {
	for n := p.Input.Partitions; ; n *= 2 {
		if n > 2*KeysMax || c.ReachOn(n, p.Input.Seed).Low >= min(target, placedWell*c.AfterSplits) {
			return n
		}
	}
}

// warm sets the partitions that the index should be warmed for.
func (p *Plan) warm(target float64) {
	p.Partitions = p.partitionsFor(p.At(p.Recommended), target)
	if more := float64(p.Partitions - p.Input.Partitions); more > 0 {
		ceiling := capacity.PartitionCeiling
		p.WarmRead, p.WarmWrite = ceiling.Read*float64(p.Partitions), ceiling.Write*float64(p.Partitions)
		p.WarmMoney = more * (ceiling.Read*p.Input.Prices.WarmReadUnits + ceiling.Write*p.Input.Prices.WarmWriteUnits)
	}
}

func (p *Plan) explain(target float64) {
	in, n := p.Input, p.Recommended
	c := p.At(n)
	asked := "used"
	if in.Refused {
		asked = "was served (and refused more)"
	}
	p.say("The old key %s %s of one partition in its busiest second; with room for growth by %s × the plan is for %.1f partitions' worth.",
		asked, percent(in.PeakLoad()), trim(in.Headroom), target)
	p.say("%d keys: the heaviest shard, number %d, takes %s of the load (an even share is %s), the heaviest owner %s.",
		n, c.Heaviest, percent(c.HeaviestShare), percent(1/float64(n)), percent(c.OwnerShare))
	p.say("On the %d partitions of a fresh index %d keys buy about %.1f × one partition, not %d × (5 to 95 %% of placements: %.1f to %.1f): several keys share a partition until DynamoDB splits for heat, which takes minutes of sustained load. Each key on its own would reach %.1f ×.",
		in.Partitions, n, c.Now.Mean, n, c.Now.Low, c.Now.High, c.AfterSplits)
	if p.WarmRead > 0 {
		w := c.ReachOn(p.Partitions, in.Seed)
		p.say("Warm the index to %.0f read and %.0f write units a second (%d partitions) before the move: %.1f × on average, at least %.1f × in 95 %% of placements. It is paid once and cannot be lowered.",
			p.WarmRead, p.WarmWrite, p.Partitions, w.Mean, w.Low)
	} else {
		p.say("No warm throughput is needed for that: 95 %% of placements reach at least %.1f ×.", c.Now.Low)
	}
	if len(in.Owners) < ownersPerKey*n {
		p.say("There are only %d owners for %d keys; more keys would mostly be empty.", len(in.Owners), n)
	}
	p.neighbours(n)
}

// neighbours says what the next smaller and larger step would change.
func (p *Plan) neighbours(n int) {
	at := slices.Index(steps, n)
	if at > 0 {
		less := p.At(steps[at-1])
		p.say("%d keys would do with %d requests fewer for reading all, and put %s on the heaviest shard (%s of a partition at today's peak, against %s).",
			less.Keys, n-less.Keys, percent(less.HeaviestShare), percent(less.PeakLoad), percent(p.At(n).PeakLoad))
	}
	if at+1 < len(steps) {
		more := p.At(steps[at+1])
		p.say("%d keys would cost %d requests more for reading all, and bring the heaviest shard to %s.",
			more.Keys, more.Keys-n, percent(more.HeaviestShare))
	}
}

// amplifiers says when one caller's repeated reading is most of the load, which
// a cache removes.
func (p *Plan) amplifiers(target float64) {
	in := p.Input
	if len(in.Callers) == 0 || in.Callers[0].Share < cacheShare || in.PeakWrite/capacity.PartitionCeiling.Write > in.PeakRead/capacity.PartitionCeiling.Read {
		return
	}
	top := in.Callers[0]
	left := target * (1 - top.Share)
	if left < quietLoad {
		p.Cure = CureCache
		p.say("%s alone makes %s of the load. A cache or one read of all rows in its place would leave %s of a partition at the planned peak: do that first, and shard if growth calls for it.",
			top.Name, percent(top.Share), percent(left))
		return
	}
	p.say("%s alone makes %s of the load: a cache there is worth doing as well, and leaves %.1f partitions' worth.", top.Name, percent(top.Share), left)
}

func percent(share float64) string {
	if share < 0.1 {
		return fmt.Sprintf("%.1f %%", 100*share)
	}
	return fmt.Sprintf("%.0f %%", 100*share)
}

func trim(f float64) string {
	if f == math.Trunc(f) {
		return fmt.Sprintf("%.0f", f)
	}
	return fmt.Sprintf("%.1f", f)
}
