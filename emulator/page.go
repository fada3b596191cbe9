package emulator

import (
	"math"

	"github.com/hotsplit/hotsplit/capacity"
	"github.com/hotsplit/hotsplit/emulator/attr"
	"github.com/hotsplit/hotsplit/emulator/expr"
	"github.com/tidwall/btree"
)

// page is one page of Query or Scan: a range of a tree and what to show of it.
type page struct {
	t          *table
	ix         *index // nil for the table itself
	low, high  string // of tree keys, low included, high not; high "" means no end
	after      string // exclusive start; "" starts at the edge
	reverse    bool
	limit      int // items evaluated; 0 means no limit
	level      capacity.Consistency
	whole      bool // show base attributes that a local index does not project
	count      bool
	filter     *expr.Condition
	projection *expr.Projection
	key        string // partition key queried, for people
}

// walked is what a page evaluated.
type walked struct {
	items []attr.Item
	bytes int
	last  string // tree key of the last item
	more  bool
}

func (p *page) tree() *btree.Map[string, attr.Item] {
	if p.ix == nil {
		return &p.t.rows
	}
	return &p.ix.entries
}

func (p *page) size(item attr.Item) int {
	if p.ix == nil {
		return item.Size()
	}
	return p.ix.size(item)
}

// walk evaluates the page. It closes before an item that would make it too large,
// so it always has one item if there is one.
func (p *page) walk(o *Options) walked {
	var w walked
	w.items = make([]attr.Item, 0, min(orDefault(p.limit, 64), 64))
	step := func(key string, item attr.Item) bool {
		if key == p.after {
			return true
		}
		if !p.inside(key) {
			return false
		}
		size := p.size(item)
		full := w.bytes+size > o.PageBytes || o.PageItems > 0 && len(w.items) == o.PageItems
		if full && len(w.items) > 0 {
			w.more = true
			return false
		}
		w.items = append(w.items, item)
		w.bytes += size
		w.last = key
		w.more = p.limit > 0 && len(w.items) == p.limit
		return !w.more
	}
	p.t.mu.RLock()
	defer p.t.mu.RUnlock()
	switch {
	case !p.reverse:
		p.tree().Ascend(max(p.low, p.after), step)
	case p.after != "" && (p.high == "" || p.after < p.high):
		p.tree().Descend(p.after, step)
	case p.high != "":
		p.tree().Descend(p.high, func(key string, item attr.Item) bool {
			return key == p.high || step(key, item)
		})
	default:
		p.tree().Reverse(step)
	}
	return w
}

func (p *page) inside(key string) bool {
	if p.reverse {
		return key >= p.low
	}
	return p.high == "" || key < p.high
}

// costs are what the page takes from the index or table it walked, and from the
// table for attributes that a local index does not have.
func (p *page) costs(w walked, o *Options) []cost {
	c := cost{space: p.t.space, ix: p.ix, key: p.key, direction: capacity.Read}
	if p.ix != nil {
		c.space = p.ix.space
	}
	from, to := p.span(w)
	c.treeKey = from
	touched := 1
	if o.Placement != PlacementIsolated {
		c.pages, touched = c.space.touched(from, to), 0
		touched = len(c.pages)
	}
	c.units = capacity.PageUnits(w.bytes, max(1, touched), p.level)
	if touched == 1 {
		c.pages = nil
	}
	costs := []cost{c}
	if p.whole && p.ix != nil && !p.ix.all {
		costs = append(costs, p.fetched(w))
	}
	return costs
}

// fetched is the cost of reading whole items of the table for a local index.
func (p *page) fetched(w walked) cost {
	c := cost{space: p.t.space, treeKey: p.edge(p.low), key: p.key, direction: capacity.Read}
	for _, item := range w.items {
		c.units += capacity.ReadUnits(item.Size(), p.level)
	}
	return c
}

// span is the range of tree keys that the page went through.
func (p *page) span(w walked) (from, to string) {
	from, to = p.edge(p.low), p.highest()
	if p.reverse {
		if p.after != "" {
			to = p.after
		}
		if w.more {
			from = w.last
		}
		return from, to
	}
	if p.after != "" {
		from = p.after
	}
	if w.more {
		to = w.last
	}
	return from, to
}

func (p *page) edge(key string) string {
	if len(key) < hashBytes {
		return string(make([]byte, hashBytes))
	}
	return key
}

// highest is a tree key that no key of the range exceeds.
func (p *page) highest() string {
	if p.high == "" {
		return "\xff\xff\xff\xff\xff\xff\xff\xff\xff"
	}
	if len(p.high) == hashBytes {
		// A scan segment ends before this hash.
		var b [hashBytes]byte
		putHash(b[:], hashOf(p.high)-1)
		return string(b[:]) + "\xff"
	}
	return p.high
}

// touched are the partitions between two tree keys. The table's meter is not held
// yet: a split in between moves a charge to a neighbour, no more.
func (s *space) touched(from, to string) []*capacity.Partition {
	if !s.split && hashOf(from) == hashOf(to) {
		return nil
	}
	return s.set.Touched(nil, point(from), point(to), s.grown)
}

// output shows the items of the page that pass the filter.
func (p *page) output(w walked) *PageOutput {
	out := &PageOutput{ScannedCount: len(w.items)}
	var shown []attr.Item
	if !p.count {
		shown = w.items[:0]
	}
	for _, item := range w.items {
		view := item
		if p.ix != nil && !p.whole {
			view = p.ix.project(item)
		}
		if p.filter != nil && !p.filter.Match(view) {
			continue
		}
		out.Count++
		if p.count {
			continue
		}
		if p.projection != nil {
			view = p.projection.Apply(view)
		}
		shown = append(shown, view)
	}
	if !p.count {
		out.Items = shown
	}
	return out
}

// startKey is the LastEvaluatedKey behind an item: the keys of the index and of
// the table.
func (p *page) startKey(item attr.Item) attr.Item {
	if p.ix == nil {
		return item.Pick(p.t.keyNames)
	}
	return item.Pick(p.ix.keyNames)
}

// run is the whole of a page behind its checks.
func (c *call) run(p *page, named, capacityLevel string) (*PageOutput, error) {
	if p.ix != nil && !p.ix.local && p.t.moves.pending(c.now) {
		p.t.mu.Lock()
		p.t.moves.drain(c.now)
		p.t.mu.Unlock()
	}
	w := p.walk(&c.db.opts)
	var last attr.Item
	if w.more {
		last = p.startKey(w.items[len(w.items)-1])
	}
	costs := p.meteredCosts(w, &c.db.opts)
	if err := c.admit(p.t, costs); err != nil {
		return nil, c.throttledRequest(p.t, err)
	}
	out := p.output(w)
	out.LastEvaluatedKey = last
	if capacityLevel != "" {
		b := bill{named: named, level: capacityLevel}
		b.add(costs)
		out.ConsumedCapacity = b.consumed(false)
	}
	return out, nil
}

func (p *page) meteredCosts(w walked, o *Options) []cost {
	p.t.meter.Lock()
	defer p.t.meter.Unlock()
	return p.costs(w, o)
}

// after is the smallest text behind all that begin with prefix.
func after(prefix string) string {
	b := []byte(prefix)
	for i := len(b) - 1; i >= 0; i-- {
		if b[i] < math.MaxUint8 {
			b[i]++
			return string(b[:i+1])
		}
	}
	return ""
}
