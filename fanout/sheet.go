package fanout

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync"
)

// sheet is a page while it is being filled.
type sheet struct {
	call    *call
	limit   int
	strands []*strand
	first   int // strands of the layout that is asked first, where layouts are asked in turn
	rows    []row
	failed  []*ShardError
	after   *position
}

// openSheet plans a page that continues m.
func (c *call) openSheet(s scope, limit int, m mark, continued bool) (*sheet, error) {
	if continued {
		if err := c.view.admit(m); err != nil {
			return nil, err
		}
	}
	strands, err := c.plan(s)
	if err != nil {
		return nil, err
	}
	if moving := c.movingStrand(s); moving != nil {
		strands = append(strands, moving)
	}
	honoured := c.view.honours(m) && len(m.states) == len(strands)
	if m.partial && !honoured {
		return nil, ErrCursorExpired
	}
	for i, t := range strands {
		own := state{stage: stageShared}
		if honoured {
			own = m.states[i]
		}
		t.resume(c, own, m.at)
	}
	p := &sheet{call: c, limit: limit, strands: strands, after: m.at}
	if c.view.InOrder {
		for p.first < len(strands) && strands[p.first].layout == c.view.Routing.Read[0] {
			p.first++
		}
	}
	return p, nil
}

// fill reads until the page's rows are known. Layouts that are asked in turn are
// read in turn: the first one beyond the last row that the page could have.
func (p *sheet) fill(ctx context.Context) error {
	if err := p.fillFrom(ctx, p.strands[:p.first]); err != nil {
		return err
	}
	return p.fillFrom(ctx, p.strands)
}

func (p *sheet) fillFrom(ctx context.Context, strands []*strand) error {
	for round := 0; ; round++ {
		behind := p.behind(strands)
		if len(behind) == 0 || (round >= roundsMax && p.moved(strands)) {
			return nil
		}
		if err := p.read(ctx, behind); err != nil {
			return err
		}
	}
}

// behind lists the strands that may hold an unread row of the page: those not
// read beyond the last row that the page has so far.
func (p *sheet) behind(strands []*strand) []*strand {
	p.gather()
	o := p.call.order
	last, full := scalar{}, len(p.rows) >= p.limit
	if full {
		last = p.rows[p.limit-1].place.sort
	} else {
		last, full = promise(o, strands, p.limit-len(p.rows))
	}
	var behind []*strand
	for _, s := range strands {
		if s.done {
			continue
		}
		short := len(p.rows) < p.limit && !s.promised()
		if short || !s.started || !full || o.compareSort(s.bound, last) <= 0 {
			behind = append(behind, s)
		}
	}
	return behind
}

// promise is the sort key up to which promised rows are read first, where there are
// enough of them to make up the page. Two thirds of that many do as a rule, as a
// shard that is read gives more than its first row.
func promise(o order, strands []*strand, rows int) (scalar, bool) {
	var heads []scalar
	for _, s := range strands {
		if !s.done && s.promised() {
			heads = append(heads, s.bound)
		}
	}
	if len(heads) < rows {
		return scalar{}, false
	}
	slices.SortFunc(heads, o.compareSort)
	return heads[(2*rows+2)/3-1], true
}

// gather merges what the strands have read, one copy of each row.
func (p *sheet) gather() {
	p.rows = p.rows[:0]
	for _, s := range p.strands {
		p.rows = append(p.rows, s.rows...)
	}
	slices.SortFunc(p.rows, func(a, b row) int {
		if c := p.call.order.compare(a.place, b.place); c != 0 {
			return c
		}
		return b.rank - a.rank
	})
	p.rows = slices.CompactFunc(p.rows, func(a, b row) bool { return a.place.compare(b.place) == 0 })
}

// edge is the first sort key that an unread row may have.
func (p *sheet) edge() (at position, ok bool) {
	for _, s := range p.strands {
		if s.done || !s.started {
			continue
		}
		if !ok || p.call.order.compareSort(s.bound, at.sort) < 0 {
			at, ok = position{sort: s.bound, edge: true}, true
		}
	}
	return at, ok
}

// moved says that the page, cut off where it is, ends after it began. Without
// that a group of equal sort keys longer than a page's work would be read for ever.
func (p *sheet) moved(strands []*strand) bool {
	for _, s := range strands {
		if !s.done && !s.started {
			return false
		}
	}
	edge, ok := p.edge()
	return ok && (p.after == nil || p.call.order.compareSort(edge.sort, p.after.sort) > 0)
}

// read asks the given strands for a page each, at once.
func (p *sheet) read(ctx context.Context, behind []*strand) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	answers := make([]answer, len(behind))
	sharers := p.sharers()
	var pages sync.WaitGroup
	for i, s := range behind {
		s.limit = p.ration(s, sharers)
		ask := func() {
			if answers[i] = s.ask(ctx, p.call, s.limit); answers[i].err != nil && !p.call.ask.Partial {
				cancel()
			}
		}
		if i == len(behind)-1 {
			ask()
		} else {
			pages.Go(ask)
		}
	}
	pages.Wait()
	return p.accept(ctx, behind, answers)
}

// accept takes the answers in. Of several failures it reports the one that is
// not merely the cancelling of the others.
func (p *sheet) accept(ctx context.Context, strands []*strand, answers []answer) error {
	var worst error
	for i, s := range strands {
		err := answers[i].err
		if err == nil {
			s.accept(p.call, answers[i])
			p.call.reader.learn(answers[i])
			continue
		}
		fault := s.fault(p.call.reader.table, err)
		if worst == nil || errors.Is(worst, context.Canceled) {
			worst = fault
		}
		s.done, s.rows, s.failed = true, nil, fault
		p.failed = append(p.failed, fault)
	}
	if worst != nil && (!p.call.ask.Partial || ctx.Err() != nil || len(p.failed) == len(p.strands)) {
		return worst
	}
	return nil
}

// sharers is among how many strands the page's rows are likely to be spread.
func (p *sheet) sharers() int {
	n := 0
	for _, s := range p.strands {
		if s.load == nil && (!s.done || len(s.rows) > 0) {
			n++
		}
	}
	return n
}

// askedRowsMax is the most rows that one request of a page asks for.
const askedRowsMax = 10_000

// ration is how many rows to ask a strand for: its share of the page and some
// slack, in whole units of what a read is charged by; twice as many each time
// that two askings were not enough.
func (p *sheet) ration(s *strand, sharers int) int {
	if s.limit > 0 {
		if s.evaluated > s.limit {
			return min(s.limit*2, askedRowsMax)
		}
		return s.limit
	}
	if sharers == 1 {
		again := 0
		if s.after != nil && !s.after.edge && s.own.stage == stageShared {
			again = 1 // the last row of the page before
		}
		return p.limit + 1 + again
	}
	share := float64(p.limit) / float64(sharers)
	want := math.Ceil(share + math.Sqrt(share))
	if perUnit := p.call.reader.rowsPerUnit(); perUnit >= 2 {
		blocks := max(1, math.Round(want/perUnit))
		want = min(blocks*math.Floor(perUnit), 2*want)
	}
	return min(int(want), p.limit+1)
}

// page cuts the sheet to its limit and mints the cursor that continues it.
func (p *sheet) page(from mark) (Page, error) {
	p.gather()
	rows, at := p.cut()
	page := Page{Items: make([]Item, len(rows)), Failed: p.failed}
	for i, r := range rows {
		page.Items[i] = r.item
	}
	if len(p.failed) == 0 && !p.unread(rows) {
		return page, nil
	}
	view := p.call.view
	next := mark{
		query: from.query, base: view.baseMark(), layout: view.layoutMark(),
		generation: view.Routing.Generation, partial: len(p.failed) > 0, at: at,
	}
	if view.settled() {
		next.states = p.states(at)
	}
	page.Next = next.encode()
	return page, nil
}

// cut is the page's rows and the position that they reach.
func (p *sheet) cut() ([]row, *position) {
	rows, at := p.rows, p.after
	if edge, unread := p.edge(); unread {
		n := 0
		for n < len(rows) && p.call.order.compareSort(rows[n].place.sort, edge.sort) < 0 {
			n++
		}
		rows = rows[:n]
		if n < p.limit {
			return rows, &edge
		}
	}
	rows = rows[:min(p.limit, len(rows))]
	if len(rows) > 0 {
		at = &rows[len(rows)-1].place
	}
	return rows, at
}

// unread says whether any healthy strand may have rows after the given ones.
func (p *sheet) unread(rows []row) bool {
	return len(p.rows) > len(rows) || slices.ContainsFunc(p.strands, func(s *strand) bool { return !s.done })
}

const (
	// hiddenRowsMin is how many filtered rows make it worth a cursor's bytes not to
	// read them again.
	hiddenRowsMin = 32
	// headBytesMax bounds what a cursor spends on the next row of each shard.
	headBytesMax = 1500
)

// states says for each strand what the shared position cannot. Unless that takes
// too many bytes it also names each shard's next row, so that the next page asks
// those shards alone that can have a part in it, and for no row twice.
func (p *sheet) states(at *position) []state {
	states, bytes := p.statesWith(at, true)
	if bytes > headBytesMax {
		states, _ = p.statesWith(at, false)
	}
	return states
}

func (p *sheet) statesWith(at *position, heads bool) (states []state, bytes int) {
	states = make([]state, len(p.strands))
	for i, s := range p.strands {
		states[i] = p.state(s, at, heads)
		bytes += len(states[i].at.sort.text)
	}
	return states, bytes
}

func (p *sheet) state(s *strand, at *position, heads bool) state {
	if s.failed != nil {
		return s.owed()
	}
	if s.evaluated == 0 && s.started && !s.done {
		return s.own // known from the cursor before, and not needed for this page
	}
	o := p.call.order
	left := slices.IndexFunc(s.rows, func(r row) bool { return at == nil || o.after(r.place, *at) })
	hidden := s.evaluated-len(s.rows) >= hiddenRowsMin
	switch {
	case left < 0 && s.done:
		return state{stage: stageFinished}
	case left < 0 && hidden:
		return state{stage: stageAfter, at: position{
			sort: scalarOf(s.next[s.layout.SortKey]), base: p.call.reader.table.baseOf(s.next),
		}}
	case left >= 0 && (hidden || heads):
		return state{stage: stageFrom, at: position{sort: s.rows[left].place.sort, edge: true}}
	}
	return state{stage: stageShared}
}
