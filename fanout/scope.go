package fanout

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hotsplit/hotsplit/shard"
)

// scope says which strands make up an answer under a routing, and which moving
// rows belong to it.
type scope interface {
	name() string // part of a cursor's fingerprint
	check(shard.Layout) error
	strands(*call, shard.Layout, bounds) []*strand
	owns(owner string) bool                      // by what the moving set says
	holds(l shard.Layout, key, sort string) bool // by what the row says
}

// everything is the scope of All: each key of each layout.
type everything struct{}

func (everything) name() string             { return "" }
func (everything) check(shard.Layout) error { return nil }
func (everything) owns(string) bool         { return true }

func (everything) strands(_ *call, l shard.Layout, in bounds) []*strand {
	keys := l.Keys()
	strands := make([]*strand, len(keys))
	for i, key := range keys {
		strands[i] = &strand{layout: l, key: key, in: in}
	}
	return strands
}

func (everything) holds(l shard.Layout, key, _ string) bool {
	_, err := l.Parse(key)
	return err == nil
}

// oneOwner is the scope of Owner: a stretch of one key of each layout.
type oneOwner string

func (o oneOwner) name() string               { return string(o) }
func (o oneOwner) check(l shard.Layout) error { return l.CheckOwner(string(o)) }
func (o oneOwner) owns(owner string) bool     { return owner == string(o) }

func (o oneOwner) strands(_ *call, l shard.Layout, in bounds) []*strand {
	return []*strand{{layout: l, key: l.Key(string(o)), in: in.within(l.OwnerPrefix(string(o)))}}
}

func (o oneOwner) holds(l shard.Layout, key, sort string) bool {
	return key == l.Key(string(o)) && strings.HasPrefix(sort, l.OwnerPrefix(string(o)))
}

// plan lists the strands of a scope under the call's view, in the order of the
// layouts. A stretch that both layouts spell is asked once, unless the layouts are
// asked in turn: then its rows may have come from the other one meanwhile.
func (c *call) plan(s scope) ([]*strand, error) {
	in := c.ask.bounds()
	var all []*strand
	for i, layout := range c.view.Routing.Read {
		if layout.SortKey == "" {
			return nil, fmt.Errorf("%w: layout %s has no sort key to order by", ErrQuery, layout)
		}
		if err := s.check(layout); err != nil {
			return nil, err
		}
		strands := slices.DeleteFunc(s.strands(c, layout, in), func(t *strand) bool { return t.in.empty() })
		if layout == c.view.Routing.To {
			for _, t := range strands {
				t.rank = 1
			}
		}
		if i > 0 && !c.view.InOrder {
			strands = newcomers(all, strands)
		}
		all = append(all, strands...)
	}
	return all, nil
}

// newcomers lists the strands that are not among those known; a known twin takes
// the higher rank.
func newcomers(known, strands []*strand) []*strand {
	type stretch struct {
		Shard
		in bounds
	}
	at := make(map[stretch]*strand, len(known))
	for _, s := range known {
		at[stretch{s.shard(), s.in}] = s
	}
	return slices.DeleteFunc(strands, func(s *strand) bool {
		twin := at[stretch{s.shard(), s.in}]
		if twin != nil {
			twin.rank = max(twin.rank, s.rank)
		}
		return twin != nil
	})
}
