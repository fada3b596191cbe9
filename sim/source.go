package sim

import (
	"math/rand/v2"
	"time"

	"github.com/hotsplit/hotsplit/capacity"
)

// source makes the calls of a route: one session of a page, or the whole of a
// sweep, a stream or a series of bursts.
type source struct {
	route  *Route
	tally  *tally
	client *client
	chance *rand.Rand
	bundle *bundle // what each call asks; nil when it is drawn for each
	period time.Duration
	until  int64   // after which the source is gone; 0 is never
	times  []int64 // of bursts and streams, in order
}

// client is what the routes of one process share.
type client struct {
	*retrier
	refreshed  int64 // when the snapshot was filled; before zero when never
	refreshing bool
}

// sources makes every source of the workload and queues its first wake.
func (e *engine) sources() {
	clients := map[string]*client{}
	staggered, sweeps := 0, 0
	for i := range e.work.Routes {
		if r := &e.work.Routes[i]; r.Every > 0 && r.Amplifier {
			sweeps++
		}
	}
	for i := range e.work.Routes {
		r := &e.work.Routes[i]
		c := clients[r.Client]
		if c == nil {
			c = &client{retrier: newRetrier(e.design.retry(e.work)), refreshed: -int64(time.Hour)}
			clients[r.Client] = c
		}
		s := source{route: r, tally: e.tallyOf(r), client: c, chance: rand.New(rand.NewPCG(e.work.Seed, uint64(i)+1))}
		switch {
		case r.Surge != nil:
			e.surges(s)
		case r.Poll != nil:
			for range r.Sessions {
				e.session(s, 0, 0)
			}
		case r.Every > 0:
			offset := r.Offset
			if e.design.Stagger && r.Amplifier {
				offset = time.Duration(staggered) * r.Every / time.Duration(sweeps)
				staggered++
			}
			e.sweep(s, offset)
		case r.PerHour > 0:
			e.stream(s)
		default:
			e.bursts(s)
		}
	}
}

func (d Design) retry(w Workload) Retry {
	r := w.Retry
	if d.Retry.Model != "" {
		r.Model = d.Retry.Model
	}
	if d.Retry.Attempts > 0 {
		r.Attempts = d.Retry.Attempts
	}
	return r
}

// session adds one open page from a time on.
func (e *engine) session(template source, from, until int64) {
	s := template
	s.until = until
	s.chance = rand.New(rand.NewPCG(template.chance.Uint64(), 0))
	if s.route.Reads == "owners" {
		s.bundle = e.fanOut(s.route, s.chance)
	} else if s.route.Reads == "all" {
		s.bundle = e.allRows()
	}
	e.wake(&s, from+int64(s.chance.Float64()*float64(s.route.Poll.Max)))
}

// fanOut is a page over some of the owners, one query each.
func (e *engine) fanOut(r *Route, chance *rand.Rand) *bundle {
	owners := chance.Perm(e.work.Rows.Owners)
	owners = owners[:min(r.Owners, len(owners))]
	lanes := make([][]request, len(owners))
	for i, owner := range owners {
		lanes[i] = []request{e.space.ofOwner(owner)}
	}
	return e.newBundle(lanes, r.Parallel, e.poolOf(r))
}

// poolOf is the pool of a route: its bundles are alike.
func (e *engine) poolOf(r *Route) *pool {
	if e.pools[r] == nil {
		e.pools[r] = &pool{}
	}
	return e.pools[r]
}

func (e *engine) allRows() *bundle {
	if e.everything == nil {
		e.everything = e.newBundle(e.space.all(), 0, &pool{})
	}
	return e.everything
}

func (e *engine) surges(template source) {
	r := template.route
	common := rand.New(rand.NewPCG(e.work.Seed, capacity.Place(0, r.Surge.Name)))
	for _, at := range e.moments(r.Surge.PerWeek, r.Hours, common) {
		length := within(r.Surge.Length, common)
		for range between(r.Surge.Sessions, template.chance) {
			e.session(template, at, at+int64(length))
		}
	}
}

func (e *engine) sweep(s source, offset time.Duration) {
	s.period = s.route.Every
	if s.route.Reads == "all" {
		s.bundle = e.allRows()
	}
	e.wake(&s, int64(offset))
}

func (e *engine) stream(s source) {
	perWeek := s.route.PerHour * 24 * 7
	s.times = e.moments(perWeek, Hours{}, s.chance)
	e.wakeNext(&s)
}

func (e *engine) bursts(s source) {
	b := s.route.Burst
	for _, at := range e.moments(b.PerWeek, s.route.Hours, s.chance) {
		one := s
		one.times = nil
		for range between(b.Calls, s.chance) {
			one.times = append(one.times, at+int64(s.chance.Float64()*float64(b.Over)))
		}
		sortTimes(one.times)
		e.wakeNext(&one)
	}
}

// moments are times of a Poisson process, so many a week, that fall into hours.
func (e *engine) moments(perWeek float64, hours Hours, chance *rand.Rand) []int64 {
	const week = 7 * 24 * time.Hour
	open := e.openShare(hours)
	if open == 0 {
		return nil
	}
	var times []int64
	for at := 0.0; ; {
		at += chance.ExpFloat64() / perWeek * float64(week) * open
		if at >= float64(e.length) {
			return times
		}
		if hours.contain(e.start.Add(time.Duration(at))) {
			times = append(times, int64(at))
		}
	}
}

// openShare is the share of a week that hours cover.
func (e *engine) openShare(hours Hours) float64 {
	open := 0
	for hour := range 7 * 24 {
		if hours.contain(e.start.Truncate(time.Hour).Add(time.Duration(hour) * time.Hour)) {
			open++
		}
	}
	return float64(open) / (7 * 24)
}

func within(r Range, chance *rand.Rand) time.Duration {
	return r.Min + time.Duration(chance.Float64()*float64(r.Max-r.Min))
}

func between(r [2]int, chance *rand.Rand) int { return r[0] + chance.IntN(r[1]-r[0]+1) }

func (e *engine) wakeNext(s *source) {
	if len(s.times) == 0 {
		return
	}
	at := s.times[0]
	s.times = s.times[1:]
	e.wake(s, at)
}

// wake queues the source's next call, put off to its hours.
func (e *engine) wake(s *source, at int64) {
	if s.times == nil && s.route.Surge == nil {
		at = e.nextOpen(s.route.Hours, at)
	}
	if at < int64(e.length) && (s.until == 0 || at < s.until) {
		e.queue.push(event{at: at, source: s})
	}
}

func (e *engine) nextOpen(hours Hours, at int64) int64 {
	t := e.start.Add(time.Duration(at))
	if hours.contain(t) {
		return at
	}
	for range 8 * 24 {
		t = t.Truncate(time.Hour).Add(time.Hour)
		if hours.contain(t) {
			return int64(t.Sub(e.start)) + (at % int64(time.Minute)) // not all at the stroke of the hour
		}
	}
	return int64(e.length)
}

// draw is what one call of s asks.
func (s *source) draw(e *engine) *bundle {
	if s.bundle != nil {
		return s.bundle
	}
	owner := e.space.pick(s.chance)
	made := e.single[owner]
	if s.route.Writes != "" {
		made = e.singleWrite[owner]
	}
	if made != nil {
		return made
	}
	if s.route.Writes != "" {
		made = e.newBundle([][]request{{e.space.write(owner)}}, 1, e.poolOf(s.route))
		e.singleWrite[owner] = made
		return made
	}
	made = e.newBundle([][]request{{e.space.ofOwner(owner)}}, 1, e.poolOf(s.route))
	e.single[owner] = made
	return made
}
