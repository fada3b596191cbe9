package fanout

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"
)

// redoneMax bounds how often in a row a read is done again without a row yielded.
const redoneMax = 20

// stream yields the rows of a scope in order, each under a view that held after
// it was read.
func (r *Reader) stream(ctx context.Context, q Query, s scope) iter.Seq2[Item, error] {
	return func(yield func(Item, error) bool) {
		w := &walk{reader: r, ask: q, scope: s, yield: yield}
		err := q.validate(r.table, s)
		if err == nil {
			err = w.run(ctx)
		}
		if err != nil && !errors.Is(err, errStopped) {
			yield(nil, err)
		}
	}
}

// errStopped: the consumer left the loop.
var errStopped = errors.New("stopped")

// walk is one stream on its way through the global order.
type walk struct {
	reader   *Reader
	ask      Query
	scope    scope
	yield    func(Item, error) bool
	keysOnly bool // see Count
	last     *position
	place    position              // what last points to
	failed   map[Shard]*ShardError // not asked again
}

func (w *walk) run(ctx context.Context) error {
	for redone := 0; redone < redoneMax; redone++ {
		before := w.place
		err := w.epoch(ctx)
		if !errors.Is(err, errChanged) {
			if err == nil {
				err = partial(w.failed)
			}
			return err
		}
		if w.place != before {
			redone = 0
		}
	}
	return fmt.Errorf("read table %s: %w", w.reader.table.Name, ErrUnsettled)
}

// epoch walks on under one view, until the end or until the view does not hold.
func (w *walk) epoch(ctx context.Context) error {
	c, err := w.reader.begin(ctx, w.ask)
	if err != nil {
		return err
	}
	c.keysOnly = w.keysOnly
	if c.view.InOrder {
		return w.turns(ctx, c)
	}
	strands, err := c.plan(w.scope)
	if err != nil {
		return err
	}
	if moving := c.movingStrand(w.scope); moving != nil {
		strands = append(strands, moving)
	}
	for _, s := range strands {
		s.resume(c, state{}, w.last)
	}
	strands = slices.DeleteFunc(strands, func(s *strand) bool { return s.done || w.failed[s.shard()] != nil })
	if len(strands) == 1 && strands[0].probe == nil {
		return w.alone(ctx, c, strands[0])
	}
	ctx, cancel := context.WithCancel(ctx)
	m := &merge{call: c, walk: w, ctx: ctx, cancel: cancel, front: front{order: c.order}, blocked: strands}
	defer m.close()
	return m.run()
}

// alone walks one strand: there is nothing to merge and nothing to read ahead.
func (w *walk) alone(ctx context.Context, c *call, s *strand) error {
	for !s.done {
		a := s.ask(ctx, c, s.limit)
		if a.err != nil {
			fault := s.fault(w.reader.table, a.err)
			if w.ask.Partial && ctx.Err() == nil {
				w.fail(fault)
				return nil
			}
			return fault
		}
		s.accept(c, a)
		if err := c.holds(ctx); err != nil {
			return err
		}
		for ; s.at < s.ready; s.at++ {
			w.place, w.last = s.head().place, &w.place
			if !w.yield(s.head().item, nil) {
				return errStopped
			}
		}
	}
	return nil
}

// turnRows is how many rows are read at a time where layouts are asked in turn.
const turnRows = 250

// turns walks page by page, in each of which the layouts are asked in turn. Were
// the second read further than the first, a row could leave the first meanwhile
// and have been missed in both.
func (w *walk) turns(ctx context.Context, c *call) error {
	for {
		p, err := c.openSheet(w.scope, turnRows, mark{at: w.last}, false)
		if err != nil {
			return err
		}
		for _, s := range p.strands {
			s.done = s.done || w.failed[s.shard()] != nil
		}
		if err := p.fill(ctx); err != nil {
			return err
		}
		if err := c.holds(ctx); err != nil {
			return err
		}
		rows, at := p.cut()
		for _, f := range p.failed {
			w.fail(f)
		}
		for _, r := range rows {
			if !w.yield(r.item, nil) {
				return errStopped
			}
		}
		if !p.unread(rows) {
			return nil
		}
		w.place = *at
		w.last = &w.place
	}
}

func (w *walk) fail(f *ShardError) {
	if w.failed == nil {
		w.failed = make(map[Shard]*ShardError)
	}
	w.failed[Shard{f.Index, f.Key}] = f
}

// merge is the k-way merge of one epoch.
type merge struct {
	call    *call
	walk    *walk
	ctx     context.Context
	cancel  context.CancelFunc
	pages   sync.WaitGroup
	front   front
	blocked []*strand // whose next row is not known
	unsure  bool      // a page came in since the view was last seen to hold
}

// close waits for the pages on their way: no request outlives the stream.
func (m *merge) close() {
	m.cancel()
	m.pages.Wait()
}

func (m *merge) run() error {
	for {
		if err := m.unblock(); err != nil {
			return err
		}
		if m.unsure {
			if err := m.call.holds(m.ctx); err != nil {
				return err
			}
			m.unsure = false
		}
		if len(m.front.strands) == 0 {
			return nil
		}
		if err := m.emit(); err != nil {
			return err
		}
	}
}

// emit yields rows until a strand runs dry.
func (m *merge) emit() error {
	w := m.walk
	for len(m.front.strands) > 0 && (len(m.blocked) == 0 || m.passes()) {
		s := m.front.strands[0]
		r := s.head()
		copied := w.last != nil && w.place.compare(r.place) == 0
		if !copied {
			w.place, w.last = r.place, &w.place
			if !w.yield(r.item, nil) {
				return errStopped
			}
		}
		m.advance(s)
	}
	return nil
}

func (m *merge) advance(s *strand) {
	s.rows[s.at].item = nil
	s.at++
	switch {
	case s.at < s.ready:
		m.front.fixTop()
		if s.at == s.prefetch && !s.done {
			m.start(s)
		}
	default:
		m.front.dropTop()
		if !s.done {
			m.blocked = append(m.blocked, s)
		}
	}
}

// passes says whether the next known row comes before all that is not known.
func (m *merge) passes() bool {
	if len(m.front.strands) == 0 {
		return false
	}
	next := m.front.strands[0].head().place.sort
	for _, s := range m.blocked {
		if !s.started || m.call.order.compareSort(next, s.bound) >= 0 {
			return false
		}
	}
	return true
}

// unblock reads pages until the next row of the global order is known.
func (m *merge) unblock() error {
	for len(m.blocked) > 0 && !m.passes() {
		for _, s := range m.blocked[1:] {
			m.start(s)
		}
		s := m.blocked[0]
		if err := m.take(s); err != nil {
			return err
		}
		if s.blocked() && s.probe == nil {
			continue
		}
		m.blocked = append(m.blocked[1:], s.split(m.call)...)
		if s.at < s.ready {
			m.front.push(s)
		}
	}
	for _, s := range m.blocked {
		m.start(s)
	}
	return nil
}

// start asks for the next page of s in the background, unless it is on its way.
func (m *merge) start(s *strand) {
	if s.answer != nil {
		return
	}
	s.answer = make(chan answer, 1)
	m.pages.Go(func() { s.answer <- s.ask(m.ctx, m.call, s.limit) })
}

// take waits for the next page of s and accepts it.
func (m *merge) take(s *strand) error {
	var a answer
	if s.answer == nil {
		a = s.ask(m.ctx, m.call, s.limit)
	} else {
		a = <-s.answer
		s.answer = nil
	}
	if a.err != nil {
		return m.fail(s, a.err)
	}
	s.accept(m.call, a)
	m.unsure = true
	return nil
}

// fail ends the call, or the strand alone where a partial answer will do.
func (m *merge) fail(s *strand, err error) error {
	fault := s.fault(m.call.reader.table, err)
	if !m.call.ask.Partial || m.ctx.Err() != nil {
		return fault
	}
	s.done = true
	m.walk.fail(fault)
	m.unsure = true
	return nil
}
