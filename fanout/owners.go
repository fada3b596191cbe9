package fanout

import (
	"slices"
	"strings"

	"github.com/hotsplit/hotsplit/shard"
)

// probeRows is how many rows a shard's first common read takes at most: what it
// costs to learn whether the shard is small.
const probeRows = 64

// manyOwners is the scope of Owners: stretches of the keys that hold them.
type manyOwners struct {
	owners []string // sorted, each once
	asked  map[string]struct{}
}

func ownersScope(owners []string) manyOwners {
	s := manyOwners{owners: slices.Compact(slices.Sorted(slices.Values(owners)))}
	s.asked = make(map[string]struct{}, len(s.owners))
	for _, owner := range s.owners {
		s.asked[owner] = struct{}{}
	}
	return s
}

func (s manyOwners) name() string { return "" } // no page is of several owners

func (s manyOwners) owns(owner string) bool {
	_, ok := s.asked[owner]
	return ok
}

func (s manyOwners) check(l shard.Layout) error {
	for _, owner := range s.owners {
		if err := l.CheckOwner(owner); err != nil {
			return err
		}
	}
	return nil
}

func (s manyOwners) strands(c *call, l shard.Layout, in bounds) []*strand {
	var all []*strand
	for _, group := range byShard(l, s.owners) {
		all = append(all, c.together(l, group, in, s.owns)...)
	}
	return all
}

func (s manyOwners) holds(l shard.Layout, key, sort string) bool {
	owner := ownerOf(l, sort)
	return s.owns(owner) && key == l.Key(owner)
}

// byShard groups sorted owners by the shard that holds them; each group stays sorted.
func byShard(l shard.Layout, owners []string) [][]string {
	at := make(map[int]int)
	var groups [][]string
	for _, owner := range owners {
		n := l.Shard(owner)
		i, seen := at[n]
		if !seen {
			i = len(groups)
			at[n], groups = i, append(groups, nil)
		}
		groups[i] = append(groups[i], owner)
	}
	return groups
}

// ownerOf is the owner in a sort key; an owner contains no separator.
func ownerOf(l shard.Layout, sort string) string {
	separator := l.OwnerPrefix("")
	owner, _, _ := strings.Cut(sort, separator)
	return owner
}

// together plans the requests for owners that share a shard. What is known of the
// shard decides; what is not known is learned by one bounded common read.
func (c *call) together(l shard.Layout, owners []string, in bounds, wanted func(string) bool) []*strand {
	key := l.Key(owners[0])
	at := Shard{l.Index, key}
	segments, known := c.reader.census.segments(at, l, owners)
	if !known && len(owners) > 1 && !c.view.InOrder && !c.reader.census.large(at) {
		probe := c.segment(l, key, owners, in, wanted)
		probe.limit = probeRows
		for _, owner := range owners {
			probe.probe = append(probe.probe, c.segment(l, key, []string{owner}, in, wanted))
		}
		return []*strand{probe}
	}
	if !known {
		segments = slices.Collect(slices.Chunk(owners, 1))
	}
	strands := make([]*strand, len(segments))
	for i, segment := range segments {
		strands[i] = c.segment(l, key, segment, in, wanted)
	}
	return strands
}

// segment reads the rows from the first to the last of the owners.
func (c *call) segment(l shard.Layout, key string, owners []string, in bounds, wanted func(string) bool) *strand {
	first, last := owners[0], owners[len(owners)-1]
	s := &strand{layout: l, key: key}
	if first == last {
		s.in = in.within(l.OwnerPrefix(first))
	} else {
		s.in = in.spanning(l.OwnerPrefix(first), l.OwnerPrefix(last))
		s.keep = func(sort string) bool { return wanted(ownerOf(l, sort)) }
	}
	if c.ask.Filter.Expression == "" && c.ask.SortKey == (Range{}) && !c.keysOnly {
		s.tally = c.reader.census.open(Shard{l.Index, key}, l, first, last)
	}
	return s
}

// spanning narrows b to the keys from the first prefix to the last.
func (b bounds) spanning(first, last string) bounds {
	n, end := b.within(first), b.within(last)
	end.closePrefix()
	n.prefix, n.whole, n.to = "", false, end.to
	return n
}
