package emulator

import (
	"container/heap"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/hotsplit/hotsplit/emulator/attr"
)

// Half is one of the two index writes of a key change.
type Half uint8

// The halves of a key change. A change in place is a put.
const (
	HalfDelete Half = iota
	HalfPut

	halves = 2
)

// propagation is the index changes of one table that are on their way. Changes of
// one tree key, which means of one item at one index key, happen in the order of
// the base writes; all others overtake each other as their lag has it. So every
// index ends up where the last base write says.
type propagation struct {
	rng      *rand.Rand
	lagMin   time.Duration
	lagMax   time.Duration
	order    IndexOrder
	lanes    map[laneKey]*lane
	due      laneHeap
	sequence uint64
	// next is when the first change is due, in nanoseconds since the epoch, for
	// readers that do not hold the table's lock.
	next atomic.Int64
}

type laneKey struct {
	ix  *index
	key string
}

// lane is the changes waiting for one tree key, in order.
type lane struct {
	laneKey
	steps []step
	at    int // position in the heap, -1 when parked because its half is held
}

type step struct {
	half     Half
	item     attr.Item // for a put
	due      time.Time
	sequence uint64
}

// enqueue schedules the halves of a change.
func (p *propagation) enqueue(c change, now time.Time, backlog bool) {
	if p.lagMax < 0 && !backlog && len(p.lanes) == 0 && c.ix.held == ([halves]bool{}) {
		c.apply()
		return
	}
	deleteDue, putDue := p.draw(now)
	if c.oldKey != "" && c.oldKey != c.newKey {
		p.add(laneKey{c.ix, c.oldKey}, step{half: HalfDelete, due: deleteDue})
	}
	if c.newKey != "" {
		p.add(laneKey{c.ix, c.newKey}, step{half: HalfPut, due: putDue, item: c.new})
	}
}

// draw is when each half of a change is due.
func (p *propagation) draw(now time.Time) (deleteDue, putDue time.Time) {
	if p.lagMax < 0 {
		return now, now
	}
	a, b := p.lag(), p.lag()
	switch {
	case p.order == IndexOrderDeleteFirst && a > b, p.order == IndexOrderPutFirst && a < b:
		a, b = b, a
	}
	return now.Add(a), now.Add(b)
}

func (p *propagation) lag() time.Duration {
	return p.lagMin + time.Duration(p.rng.Int64N(int64(p.lagMax-p.lagMin)+1))
}

func (p *propagation) add(key laneKey, s step) {
	s.sequence = p.sequence
	p.sequence++
	l := p.lanes[key]
	if l == nil {
		if p.lanes == nil {
			p.lanes = map[laneKey]*lane{}
		}
		l = &lane{laneKey: key, at: parked}
		p.lanes[key] = l
	}
	l.steps = append(l.steps, s)
	if len(l.steps) == 1 {
		p.schedule(l)
	}
}

const parked = -1

// schedule puts a lane into the heap unless its first step is held.
func (p *propagation) schedule(l *lane) {
	if l.ix.held[l.steps[0].half] {
		l.at = parked
		return
	}
	heap.Push(&p.due, l)
	p.note()
}

func (p *propagation) note() {
	if len(p.due) == 0 {
		p.next.Store(noTime)
		return
	}
	p.next.Store(p.due[0].steps[0].due.UnixNano())
}

// pending reports whether something is due at now. It needs no lock.
func (p *propagation) pending(now time.Time) bool { return p.next.Load() <= now.UnixNano() }

// drain applies what is due.
func (p *propagation) drain(now time.Time) {
	for len(p.due) > 0 && !p.due[0].steps[0].due.After(now) {
		p.advance(heap.Pop(&p.due).(*lane))
	}
	p.note()
}

// advance applies the first step of a lane and schedules the next.
func (p *propagation) advance(l *lane) {
	s := l.steps[0]
	if s.half == HalfDelete {
		l.ix.remove(l.key)
	} else {
		l.ix.put(l.key, s.item)
	}
	l.steps = l.steps[1:]
	if len(l.steps) == 0 {
		delete(p.lanes, l.laneKey)
		return
	}
	p.schedule(l)
}

// hold keeps a half of an index from happening.
func (p *propagation) hold(ix *index, half Half) {
	ix.held[half] = true
	for _, l := range p.lanes {
		if l.ix == ix && l.at != parked && l.steps[0].half == half {
			heap.Remove(&p.due, l.at)
			l.at = parked
		}
	}
	p.note()
}

// release lets a held half happen: what is overdue happens at the next look.
func (p *propagation) release(ix *index, half Half) {
	ix.held[half] = false
	for _, l := range p.lanes {
		if l.ix == ix && l.at == parked && l.steps[0].half == half {
			p.schedule(l)
		}
	}
	p.note()
}

// drop forgets the changes of an index that is deleted.
func (p *propagation) drop(ix *index) {
	for key, l := range p.lanes {
		if l.ix != ix {
			continue
		}
		if l.at != parked {
			heap.Remove(&p.due, l.at)
		}
		delete(p.lanes, key)
	}
	p.note()
}

// laneHeap orders lanes by when their first step is due.
type laneHeap []*lane

func (h laneHeap) Len() int { return len(h) }

func (h laneHeap) Less(i, j int) bool {
	a, b := h[i].steps[0], h[j].steps[0]
	if a.due.Equal(b.due) {
		return a.sequence < b.sequence
	}
	return a.due.Before(b.due)
}

func (h laneHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].at, h[j].at = i, j
}

func (h *laneHeap) Push(x any) {
	l := x.(*lane)
	l.at = len(*h)
	*h = append(*h, l)
}

func (h *laneHeap) Pop() any {
	last := len(*h) - 1
	l := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	l.at = parked
	return l
}
