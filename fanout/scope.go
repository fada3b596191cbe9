package fanout

import (
	"fmt"
	"strings"

	"github.com/hotsplit/hotsplit/shard"
)

// scope says which strands make up an answer under a routing, and which moving
// rows belong to it.
type scope struct {
	name    string // part of a cursor's fingerprint
	check   func(shard.Layout) error
	strands func(*call, shard.Layout, bounds) []*strand
	owns    func(owner string) bool                     // by what the moving set says
	holds   func(l shard.Layout, key, sort string) bool // by what the row says
}

var allScope = scope{
	check: func(shard.Layout) error { return nil },
	strands: func(_ *call, l shard.Layout, in bounds) []*strand {
		keys := l.Keys()
		strands := make([]*strand, len(keys))
		for i, key := range keys {
			strands[i] = &strand{layout: l, key: key, in: in}
		}
		return strands
	},
	owns: func(string) bool { return true },
	holds: func(l shard.Layout, key, _ string) bool {
		_, err := l.Parse(key)
		return err == nil
	},
}

func ownerScope(owner string) scope {
	return scope{
		name:  owner,
		check: func(l shard.Layout) error { return l.CheckOwner(owner) },
		strands: func(_ *call, l shard.Layout, in bounds) []*strand {
			return []*strand{{layout: l, key: l.Key(owner), in: in.within(l.OwnerPrefix(owner))}}
		},
		owns: func(o string) bool { return o == owner },
		holds: func(l shard.Layout, key, sort string) bool {
			return key == l.Key(owner) && strings.HasPrefix(sort, l.OwnerPrefix(owner))
		},
	}
}

// plan lists the strands of a scope under the call's view, in the order of the
// layouts. A key that both layouts spell is asked once, unless the layouts are
// asked in turn: then its rows may have come from the other one meanwhile.
func (c *call) plan(s scope) ([]*strand, error) {
	in := c.ask.bounds()
	type asked struct {
		Shard
		from, to scalar
	}
	seen := make(map[asked]*strand)
	var all []*strand
	for _, layout := range c.view.Routing.Read {
		if layout.SortKey == "" {
			return nil, fmt.Errorf("%w: layout %s has no sort key to order by", ErrQuery, layout)
		}
		if err := s.check(layout); err != nil {
			return nil, err
		}
		for _, t := range s.strands(c, layout, in) {
			if layout == c.view.Routing.To {
				t.rank = 1
			}
			this := asked{t.shard(), t.in.from, t.in.to}
			if twin := seen[this]; twin != nil && !c.view.InOrder {
				twin.rank = max(twin.rank, t.rank)
				continue
			}
			if t.in.empty() {
				continue
			}
			seen[this] = t
			all = append(all, t)
		}
	}
	return all, nil
}
