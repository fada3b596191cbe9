package sim

import (
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/hotsplit/hotsplit/capacity"
)

// engine plays one design.
type engine struct {
	work   Workload
	design Design
	start  time.Time
	length time.Duration
	chance *rand.Rand // of the service and of back-offs
	sigma  float64    // of the logarithm of a service time
	space  *keyspace
	gate   *capacity.Gate
	queue  queue
	split  time.Duration // when partitions were last asked to split

	everything          *bundle
	single, singleWrite []*bundle // by owner
	pools               map[*Route]*pool
	free                []*call
	score               score
}

// Run plays one design of the workload.
func Run(w Workload, d Design) (Outcome, error) {
	w.Designs = []Design{d}
	if err := w.Validate(); err != nil {
		return Outcome{}, err
	}
	e := newEngine(w.withDefaults(), d)
	e.sources()
	for len(e.queue.events) > 0 {
		e.step(e.queue.pop())
	}
	return e.outcome(), nil
}

func newEngine(w Workload, d Design) *engine {
	e := &engine{
		work: w, design: d, start: w.Start.UTC(), length: time.Duration(w.Days * 24 * float64(time.Hour)),
		chance: rand.New(rand.NewPCG(w.Seed, 0)), pools: map[*Route]*pool{},
	}
	if w.Latency.P99 > w.Latency.Median {
		const z99 = 2.326
		e.sigma = math.Log(float64(w.Latency.P99)/float64(w.Latency.Median)) / z99
	}
	e.space = newKeyspace(w, d, e.start)
	gate := capacity.GateOptions{}
	if d.ProvisionedRead > 0 {
		gate = capacity.GateOptions{Mode: capacity.Provisioned, Read: d.ProvisionedRead, Write: d.ProvisionedWrite}
	} else if n := float64(d.partitions()); n > capacity.PartitionsDefault {
		gate.WarmRead, gate.WarmWrite = n*capacity.PartitionCeiling.Read, n*capacity.PartitionCeiling.Write
	}
	e.gate = capacity.NewGate(gate, e.start)
	e.single, e.singleWrite = make([]*bundle, w.Rows.Owners), make([]*bundle, w.Rows.Owners)
	e.score.init(e)
	return e
}

func (e *engine) step(ev event) {
	e.score.advance(ev.at)
	if ev.call != nil {
		e.attempt(ev)
		return
	}
	s := ev.source
	e.begin(s, ev.at)
	switch {
	case s.period > 0:
		e.wake(s, ev.at+int64(s.period)+int64(s.chance.Float64()*float64(s.route.Jitter)))
	case s.route.Poll == nil:
		e.wakeNext(s)
	}
}

// begin makes one call.
func (e *engine) begin(s *source, at int64) {
	if e.design.Cache > 0 && s.route.Amplifier && s.route.Poll != nil {
		e.serveSnapshot(s, at)
		return
	}
	e.send(s, s.draw(e), at, false)
}

const memoryTime = time.Millisecond // of a page that a snapshot serves

// serveSnapshot answers a page from the client's snapshot, whose refresh, when
// it is due, nobody waits for.
func (e *engine) serveSnapshot(s *source, at int64) {
	if c := s.client; at-c.refreshed > int64(e.design.Cache) && !c.refreshing {
		c.refreshing = true
		e.send(s, e.allRows(), at, true)
	}
	e.score.finished(s.tally, at, memoryTime, answer{})
	e.pollAgain(s, at+int64(memoryTime))
}

func (e *engine) pollAgain(s *source, at int64) {
	if s.route.Poll != nil {
		e.wake(s, at+int64(within(*s.route.Poll, s.chance)))
	}
}

// send starts the bundle's lanes, or takes the bundle at once when nothing in it
// can be refused.
func (e *engine) send(s *source, b *bundle, at int64, refresh bool) {
	if took, ok := e.takeAtOnce(s, b, at); ok {
		e.over(s, at, took, answer{}, refresh)
		return
	}
	c := e.newCall()
	*c = call{source: s, bundle: b, began: at, end: at, refresh: refresh}
	for range b.width {
		e.startLane(c, at)
	}
}

func (e *engine) newCall() *call {
	if n := len(e.free); n > 0 {
		c := e.free[n-1]
		e.free = e.free[:n-1]
		return c
	}
	return new(call)
}

func (e *engine) startLane(c *call, at int64) {
	if c.failed || c.next == len(c.bundle.lanes) {
		return
	}
	e.queue.push(event{at: at, call: c, lane: int32(c.next)})
	c.next++
	c.open++
}

// safeShare of a ceiling must be left in each bucket for a bundle to be taken at
// once: what else may come while it runs then cannot empty the bucket.
const safeShare = 0.5

func (e *engine) takeAtOnce(s *source, b *bundle, at int64) (time.Duration, bool) {
	if b.parts == nil || e.design.Split.Share > 0 {
		return 0, false
	}
	now := e.start.Add(time.Duration(at))
	ceiling := capacity.PartitionCeiling
	for _, p := range b.parts {
		partition := e.space.ofKey[p.at]
		if p.read > 0 && partition.Level(capacity.Read, now)-p.read < safeShare*ceiling.Read ||
			p.write > 0 && partition.Level(capacity.Write, now)-p.write < safeShare*ceiling.Write {
			return 0, false
		}
	}
	for _, p := range b.parts {
		if _, ok := e.gate.Take(capacity.Read, p.read, now); !ok {
			return 0, false
		}
		if _, ok := e.gate.Take(capacity.Write, p.write, now); !ok {
			return 0, false
		}
		partition := e.space.ofKey[p.at]
		partition.Charge(capacity.Read, p.read, now)
		partition.Charge(capacity.Write, p.write, now)
	}
	for _, sum := range b.sums {
		e.score.serve(sum.key, sum.read, sum.write)
		if sum.write > 0 {
			e.score.units.TableWrite += sum.write
		}
	}
	e.score.requests += b.requests
	s.client.succeededFirst(b.requests)
	return e.quietTime(b), true
}

// attempt lets one attempt of a request reach the service.
func (e *engine) attempt(ev event) {
	c := ev.call
	r := &c.bundle.lanes[ev.lane][ev.position]
	e.score.requests++
	if e.admit(r, ev.at) {
		c.source.client.succeeded(int(ev.tries) + 1)
		end := ev.at + int64(e.serviceTime(r.bytes))
		e.proceed(ev, end)
		return
	}
	e.score.refuse(c.source.tally, r.key)
	answered := ev.at + int64(e.serviceTime(0))
	pause, again := c.source.client.backoff(int(ev.tries)+1, e.chance)
	if again {
		e.queue.push(event{at: answered + int64(pause), call: c, lane: ev.lane, position: ev.position, tries: ev.tries + 1})
		return
	}
	switch {
	case c.failed:
	case c.source.route.Tolerant && !c.refresh:
		c.gaps++
	default:
		c.failed = true
		e.over(c.source, c.began, time.Duration(answered-c.began), answer{failed: true}, c.refresh)
	}
	e.closeLane(c, answered)
}

func (e *engine) proceed(ev event, end int64) {
	c := ev.call
	if next := ev.position + 1; int(next) < len(c.bundle.lanes[ev.lane]) && !c.failed {
		e.queue.push(event{at: end, call: c, lane: ev.lane, position: next})
		return
	}
	e.closeLane(c, end)
}

// closeLane ends a lane. The call is over for its caller at the first failure,
// or when all lanes are done; lanes that still run run out.
func (e *engine) closeLane(c *call, at int64) {
	c.open--
	c.end = max(c.end, at)
	e.startLane(c, at)
	if c.open > 0 {
		return
	}
	if !c.failed {
		e.over(c.source, c.began, time.Duration(c.end-c.began), answer{gaps: c.gaps > 0}, c.refresh)
	}
	e.free = append(e.free, c)
}

// answer is what the caller got.
type answer struct{ failed, gaps bool }

func (e *engine) over(s *source, began int64, took time.Duration, a answer, refresh bool) {
	if refresh {
		s.client.refreshing = false
		if !a.failed {
			s.client.refreshed = began + int64(took)
		}
		e.score.refreshed(began, a.failed)
		return
	}
	e.score.finished(s.tally, began, took, a)
	e.pollAgain(s, began+int64(took))
}

// admit asks the gates for one request.
func (e *engine) admit(r *request, at int64) bool {
	now := e.start.Add(time.Duration(at))
	d := capacity.Read
	if r.write {
		d = capacity.Write
	}
	if r.key == onTable {
		ok := e.space.base[r.partition].Take(d, r.units, capacity.Point{}, now)
		if ok {
			e.score.units.TableRead += r.units
		}
		return ok
	}
	partition, point := e.partitionOf(r, now)
	if !partition.Take(d, r.units, point, now) {
		return false
	}
	if _, ok := e.gate.Take(d, r.units, now); !ok {
		partition.GiveBack(d, r.units)
		return false
	}
	e.score.units.TableWrite += r.base
	if r.write {
		e.score.serve(r.key, 0, r.units)
	} else {
		e.score.serve(r.key, r.units, 0)
	}
	return true
}

func (e *engine) partitionOf(r *request, now time.Time) (*capacity.Partition, capacity.Point) {
	point := e.space.points[r.key]
	if e.design.Split.Share == 0 {
		return e.space.ofKey[r.key], point
	}
	if since := now.Sub(e.start); since-e.split >= time.Second {
		e.split = since
		e.space.set.SplitHot(now)
	}
	point.Sort = r.sort
	return e.space.set.Of(point, now), point
}

// serviceTime is how long a served request takes.
func (e *engine) serviceTime(bytes int) time.Duration {
	l := e.work.Latency
	d := float64(l.Median)
	if e.sigma > 0 {
		d *= math.Exp(e.sigma * e.chance.NormFloat64())
	}
	return time.Duration(d) + time.Duration(float64(l.PerMB)*float64(bytes)/pageBytes)
}

func sortTimes(times []int64) { slices.Sort(times) }
