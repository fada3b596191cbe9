package fanout

import (
	"cmp"
	"math"
	"slices"
	"sync"

	"github.com/hotsplit/hotsplit/shard"
)

// ownersKnownMax bounds what a census remembers; past it, it starts anew.
const ownersKnownMax = 1 << 16

// census is what a reader has learned of how much owners take on each shard. It
// plans requests and decides no answer, so it may be out of date.
type census struct {
	mu     sync.Mutex
	shards map[Shard]*sizes
	owners int
}

// sizes is what the owners of a stretch of a shard take, in their order. Between
// the first and the last there is no other owner.
type sizes struct {
	owners []ownerSize
	large  bool // too many rows to read them all for a few owners
}

type ownerSize struct {
	owner string
	bytes int
}

// large says that a common read of the shard once did not reach its end.
func (c *census) large(at Shard) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.shards[at]
	return s != nil && s.large
}

func (c *census) markLarge(at Shard) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.shard(at).large = true
}

func (c *census) shard(at Shard) *sizes {
	if c.shards == nil {
		c.shards = make(map[Shard]*sizes)
	}
	s := c.shards[at]
	if s == nil {
		s = &sizes{}
		c.shards[at] = s
	}
	return s
}

// segments groups sorted owners of one shard into common reads that together cost
// no more than one read each; false where too little is known of what lies between.
func (c *census) segments(at Shard, l shard.Layout, owners []string) ([][]string, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.shards[at]
	if s == nil || len(s.owners) == 0 || len(owners) < 2 {
		return nil, false
	}
	if owners[0] < s.owners[0].owner || owners[len(owners)-1] > s.owners[len(s.owners)-1].owner {
		return nil, false
	}
	return s.segments(owners), true
}

// segments joins neighbours, the cheapest pair first, while the sum of units stays
// within that of reading one by one.
func (s *sizes) segments(owners []string) [][]string {
	segments := slices.Collect(slices.Chunk(owners, 1))
	budget := 0.0
	for {
		best, change := -1, math.Inf(1)
		for i := range len(segments) - 1 {
			joined := append(slices.Clone(segments[i]), segments[i+1]...)
			if d := s.units(joined) - s.units(segments[i]) - s.units(segments[i+1]); d < change {
				best, change = i, d
			}
		}
		if best < 0 || change > budget {
			return segments
		}
		budget -= change
		segments[best] = append(slices.Clone(segments[best]), segments[best+1]...)
		segments = slices.Delete(segments, best+1, best+2)
	}
}

// units is what one read from the first owner to the last costs.
func (s *sizes) units(owners []string) float64 {
	from, _ := s.find(owners[0])
	to, found := s.find(owners[len(owners)-1])
	if found {
		to++
	}
	bytes := 0
	for _, o := range s.owners[from:to] {
		bytes += o.bytes
	}
	return math.Max(1, math.Ceil(float64(bytes)/readUnitBytes)) / 2
}

func (s *sizes) find(owner string) (int, bool) {
	return slices.BinarySearchFunc(s.owners, owner, func(o ownerSize, owner string) int {
		return cmp.Compare(o.owner, owner)
	})
}

// tally counts what the owners of a stretch take while it is read.
type tally struct {
	census      *census
	at          Shard
	layout      shard.Layout
	first, last string
	seen        []ownerSize
}

// open starts to count the stretch from the first owner to the last.
func (c *census) open(at Shard, l shard.Layout, first, last string) *tally {
	return &tally{census: c, at: at, layout: l, first: first, last: last}
}

// add counts a row. Rows come in the order of the walk, so an owner's rows come
// together.
func (t *tally) add(sort string, item Item) {
	if t == nil {
		return
	}
	owner := ownerOf(t.layout, sort)
	if n := len(t.seen); n > 0 && t.seen[n-1].owner == owner {
		t.seen[n-1].bytes += itemBytes(item)
		return
	}
	t.seen = append(t.seen, ownerSize{owner, itemBytes(item)})
}

// finish hands the count over: the whole stretch was read.
func (t *tally) finish() {
	if t == nil {
		return
	}
	seen := t.seen
	slices.SortFunc(seen, func(a, b ownerSize) int { return cmp.Compare(a.owner, b.owner) })
	for _, end := range []string{t.first, t.last} {
		if i, found := (&sizes{owners: seen}).find(end); !found {
			seen = slices.Insert(seen, i, ownerSize{owner: end})
		}
	}
	t.census.replace(t.at, seen)
}

// replace takes in a stretch that was read. It widens what is known where the two
// touch, and stands alone where they do not.
func (c *census) replace(at Shard, seen []ownerSize) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.shard(at)
	before := len(s.owners)
	s.owners = joined(s.owners, seen)
	c.owners += len(s.owners) - before
	if c.owners > ownersKnownMax {
		c.shards, c.owners = nil, 0
	}
}

// joined puts new over old: what old knows outside new is kept where the
// stretches overlap.
func joined(old, new []ownerSize) []ownerSize {
	if len(old) == 0 {
		return new
	}
	first, last := new[0].owner, new[len(new)-1].owner
	if last < old[0].owner || first > old[len(old)-1].owner {
		if len(old) > len(new) {
			return old
		}
		return new
	}
	var all []ownerSize
	for _, o := range old {
		if o.owner < first {
			all = append(all, o)
		}
	}
	all = append(all, new...)
	for _, o := range old {
		if o.owner > last {
			all = append(all, o)
		}
	}
	return all
}
