package capacity

import (
	"slices"
	"time"
)

// SplitOptions says when a partition is split for heat. The service's threshold
// is unpublished; the zero value never splits.
type SplitOptions struct {
	Share   float64       // of a ceiling, that a minute's average must reach
	Sustain time.Duration // how long; minutes, as short spikes never split
	// KeepCollections forbids a cut between items of one partition key, as a local
	// secondary index does.
	KeepCollections bool
}

func (o SplitOptions) enabled() bool { return o.Share > 0 && o.Sustain > 0 }

// heatWindow is the time over which load is averaged.
const heatWindow = time.Minute

// samplesMax bounds what is remembered of a partition's load.
const samplesMax = 1024

// heat is the recent load of one partition: how hot, since when, and where.
type heat struct {
	window   time.Time // start of the open window
	load     float64   // shares of a second's ceiling, in the open window
	hotSince time.Time // start of the first of the hot windows; zero when cool
	average  float64   // of the last closed window

	// samples is every stride-th request of the hot time, in order of arrival. When
	// it is full every other one goes and the stride doubles.
	samples []sample
	stride  int
	skipped int
}

type sample struct {
	Point
	share float64
}

func newHeat(now time.Time) *heat { return &heat{window: now, stride: 1} }

func (h *heat) add(p Point, share float64, now time.Time) {
	if now.Sub(h.window) < heatWindow {
		h.load += share
	}
	h.skipped++
	if h.skipped < h.stride {
		return
	}
	h.skipped = 0
	h.samples = append(h.samples, sample{p, share})
	if len(h.samples) == samplesMax {
		for i := range samplesMax / 2 {
			h.samples[i] = h.samples[2*i]
		}
		h.samples = h.samples[:samplesMax/2]
		h.stride *= 2
	}
}

// close ends the windows that are over at now and reports whether the partition
// has been hot for long enough.
func (h *heat) close(o SplitOptions, now time.Time) bool {
	if now.Sub(h.window) < heatWindow {
		return false
	}
	h.average = h.load / heatWindow.Seconds()
	hot := h.average >= o.Share && now.Sub(h.window) < 2*heatWindow
	switch {
	case !hot:
		h.hotSince = time.Time{}
		h.forget()
	case h.hotSince.IsZero():
		h.hotSince = h.window
	}
	h.window = h.window.Add(now.Sub(h.window).Truncate(heatWindow))
	h.load = 0
	return hot && h.window.Sub(h.hotSince) >= o.Sustain
}

func (h *heat) forget() { h.samples, h.stride, h.skipped = h.samples[:0], 1, 0 }

// SplitHot closes heat windows and cuts every partition that stayed hot for long
// enough, at the observed median of its load. It returns how many it cut. A
// caller asks before it takes from a partition, often enough that a minute does
// not pass unseen under load.
func (s *Set) SplitHot(now time.Time) int {
	if !s.options.Split.enabled() || s.isolated != nil {
		return 0
	}
	cuts := 0
	for i := 0; i < len(s.ranges); i++ {
		h := s.ranges[i].heat
		if !h.close(s.options.Split, now) {
			continue
		}
		point, ok := cut(h.samples, s.options.Split.KeepCollections)
		h.forget()
		h.hotSince = time.Time{}
		if ok && s.ranges[i].start.Compare(point) < 0 {
			s.splitAt(i, point, now)
			cuts++
			i++
		}
	}
	return cuts
}

// cut finds the point that halves the load best. It finds none when one item is
// all there is, and none inside a collection whose sort keys only rise or fall:
// there the load would move to one side at once.
func cut(arrived []sample, keepCollections bool) (Point, bool) {
	sorted := slices.Clone(arrived)
	slices.SortStableFunc(sorted, func(a, b sample) int { return a.Compare(b.Point) })
	total := 0.0
	for _, s := range sorted {
		total += s.share
	}
	var best Point
	bestLower, found, lower := 0.0, false, 0.0
	rising := map[uint64]bool{}
	for i, s := range sorted {
		if i > 0 && sorted[i-1].Compare(s.Point) != 0 && allowed(arrived, sorted[i-1].Point, s.Point, keepCollections, rising) &&
			(!found || distance(lower, total) < distance(bestLower, total)) {
			best, bestLower, found = boundary(sorted[i-1].Point, s.Point), lower, true
		}
		lower += s.share
	}
	return best, found
}

func distance(lower, total float64) float64 { return max(lower-total/2, total/2-lower) }

// boundary is where a cut between two neighbours lies: on the start of the
// collection if it is another one.
func boundary(a, b Point) Point {
	if a.Hash != b.Hash {
		return Point{Hash: b.Hash}
	}
	return b
}

func allowed(arrived []sample, a, b Point, keepCollections bool, monotonic map[uint64]bool) bool {
	if a.Hash != b.Hash {
		return true
	}
	if keepCollections {
		return false
	}
	m, known := monotonic[a.Hash]
	if !known {
		m = isMonotonic(arrived, a.Hash)
		monotonic[a.Hash] = m
	}
	return !m
}

// isMonotonic reports whether the sort keys of a collection almost always move
// the same way from one request to the next.
func isMonotonic(arrived []sample, hash uint64) bool {
	var up, down int
	last, seen := "", false
	for _, s := range arrived {
		if s.Hash != hash {
			continue
		}
		switch {
		case seen && s.Sort > last:
			up++
		case seen && s.Sort < last:
			down++
		}
		last, seen = s.Sort, true
	}
	return max(up, down) >= 19*min(up, down)
}
