package sim

import "time"

// bundle is what a call asks: lanes run side by side, at most width at once, and
// the requests of a lane one after the other.
type bundle struct {
	lanes    [][]request
	width    int
	requests int
	sums     []keySum
	parts    []partitionSum
	quiet    *pool
}

type keySum struct {
	key         int32
	read, write float64
}

type partitionSum struct {
	at          int // index among the keyspace's keys whose partition it is
	read, write float64
}

func (e *engine) newBundle(lanes [][]request, width int, quiet *pool) *bundle {
	b := &bundle{lanes: lanes, width: width, quiet: quiet}
	if width <= 0 || width > len(lanes) {
		b.width = len(lanes)
	}
	byKey := map[int32]int{}
	for _, lane := range lanes {
		b.requests += len(lane)
		for _, r := range lane {
			at, seen := byKey[r.key]
			if !seen {
				at = len(b.sums)
				byKey[r.key] = at
				b.sums = append(b.sums, keySum{key: r.key})
			}
			if r.write {
				b.sums[at].write += r.units
			} else {
				b.sums[at].read += r.units
			}
		}
	}
	b.parts = e.partitionSums(b.sums)
	return b
}

func (e *engine) partitionSums(sums []keySum) []partitionSum {
	var parts []partitionSum
	for _, s := range sums {
		if s.key == onTable {
			return nil // a scan is never taken at once
		}
		found := false
		for i := range parts {
			if e.space.ofKey[parts[i].at] == e.space.ofKey[s.key] {
				parts[i].read += s.read
				parts[i].write += s.write
				found = true
			}
		}
		if !found {
			parts = append(parts, partitionSum{int(s.key), s.read, s.write})
		}
	}
	return parts
}

// pool holds how long the bundles of one kind take when nothing is refused. They
// are asked millions of times, so the times are drawn once and used again.
type pool struct{ times []time.Duration }

const poolSize = 4096

func (e *engine) quietTime(b *bundle) time.Duration {
	if p := b.quiet; len(p.times) >= poolSize {
		return p.times[e.chance.IntN(poolSize)]
	}
	took := e.sampleTime(b)
	b.quiet.times = append(b.quiet.times, took)
	return took
}

func (e *engine) sampleTime(b *bundle) time.Duration {
	free := make([]time.Duration, b.width)
	var end time.Duration
	for _, lane := range b.lanes {
		least := 0
		for i := range free {
			if free[i] < free[least] {
				least = i
			}
		}
		for i := range lane {
			free[least] += e.serviceTime(lane[i].bytes)
		}
		end = max(end, free[least])
	}
	return end
}

// call is one call of a route: a page load, a sweep, a write.
type call struct {
	source  *source
	bundle  *bundle
	began   int64
	end     int64
	next    int // lane to start
	open    int // lanes running
	failed  bool
	gaps    int  // requests that failed and were left out
	refresh bool // fills a snapshot; nobody waits for it
}
