package sim

import (
	"slices"
	"time"

	"github.com/hotsplit/hotsplit/capacity"
)

// tally is what the calls of one route came to.
type tally struct {
	name       string
	background bool
	calls      int
	failed     int
	gaps       int
	throttled  int
	times      histogram
}

// score is everything that is counted while a design is played.
type score struct {
	tallies   []*tally
	requests  int
	throttled int
	events    int // calls that failed, and refreshes
	episodes  int
	lastEvent int64
	units     Units

	second  int64
	touched []int32
	current []keySecond
	hours   []Hour
	hottest KeyPeak
	fullest float64 // busiest second of any partition, in shares of its ceiling
	home    []int   // the partition of each key, by number, while nothing splits
	sums    []keySecond
	names   []string
	start   time.Time
}

type keySecond struct {
	read, write float64
	throttled   int
	touched     bool
}

// load is the use in shares of a partition's ceiling.
func (k *keySecond) load() float64 {
	return max(k.read/capacity.PartitionCeiling.Read, k.write/capacity.PartitionCeiling.Write)
}

// episodeGap without a throttle event ends an episode.
const episodeGap = int64(5 * time.Minute)

func (s *score) init(e *engine) {
	s.current = make([]keySecond, len(e.space.keys))
	s.names = e.space.keys
	s.home, s.sums = e.space.homes(), make([]keySecond, e.space.set.Len())
	s.start = e.start
	s.lastEvent = -episodeGap - 1
	s.hours = make([]Hour, int(e.length/time.Hour)+2)
	for i := range s.hours {
		s.hours[i].At = e.start.Add(time.Duration(i) * time.Hour)
	}
}

func (e *engine) tallyOf(r *Route) *tally {
	for _, t := range e.score.tallies {
		if t.name == r.Name {
			return t
		}
	}
	t := &tally{name: r.Name, background: r.Background}
	e.score.tallies = append(e.score.tallies, t)
	return t
}

// advance closes the second that was being filled when at is in a later one.
func (s *score) advance(at int64) {
	second := at / int64(time.Second)
	if second == s.second {
		return
	}
	for _, key := range s.touched {
		k := &s.current[key]
		s.see(key, k.load())
		s.sums[s.home[key]].read += k.read
		s.sums[s.home[key]].write += k.write
		*k = keySecond{}
	}
	for i := range s.sums {
		s.fullest = max(s.fullest, s.sums[i].load())
		s.sums[i] = keySecond{}
	}
	s.touched = s.touched[:0]
	s.second = second
}

func (s *score) see(key int32, load float64) {
	h := s.hour(s.second * int64(time.Second))
	if load > h.Load {
		h.Load, h.Key = load, s.names[key]
	}
	if load > s.hottest.Load {
		s.hottest = KeyPeak{s.names[key], load, s.start.Add(time.Duration(s.second) * time.Second)}
	}
}

func (s *score) hour(at int64) *Hour {
	return &s.hours[min(int(at/int64(time.Hour)), len(s.hours)-1)]
}

func (s *score) touch(key int32) *keySecond {
	k := &s.current[key]
	if !k.touched {
		k.touched = true
		s.touched = append(s.touched, key)
	}
	return k
}

func (s *score) serve(key int32, read, write float64) {
	k := s.touch(key)
	k.read += read
	k.write += write
	s.units.IndexRead += read
	s.units.IndexWrite += write
}

func (s *score) refuse(t *tally, key int32) {
	s.throttled++
	t.throttled++
	if key != onTable {
		s.touch(key).throttled++
	}
	s.hour(s.second*int64(time.Second)).Throttled++
}

func (s *score) finished(t *tally, began int64, took time.Duration, a answer) {
	t.calls++
	t.times.add(took)
	if a.gaps {
		t.gaps++
	}
	if a.failed {
		t.failed++
		s.event(began + int64(took))
	}
}

func (s *score) refreshed(began int64, failed bool) {
	if failed {
		s.event(began)
	}
}

func (s *score) event(at int64) {
	s.events++
	s.hour(at).Events++
	if at > s.lastEvent+episodeGap {
		s.episodes++
	}
	s.lastEvent = max(s.lastEvent, at)
}

func (e *engine) outcome() Outcome {
	s := &e.score
	s.advance(int64(e.length) + int64(time.Second))
	o := Outcome{
		Design: e.design, Days: e.work.Days, Requests: s.requests, Throttled: s.throttled, Events: s.events,
		Episodes: s.episodes, Units: s.units, Hottest: s.hottest, Hours: s.hours[:max(1, int(e.length/time.Hour))],
		Partitions: e.space.set.Len(), Fullest: s.fullest,
	}
	for _, t := range s.tallies {
		r := RouteOutcome{
			Name: t.name, Background: t.background, Calls: t.calls, Failed: t.failed, Gaps: t.gaps, Throttled: t.throttled,
			Mean: t.times.mean(), P50: t.times.quantile(0.5), P90: t.times.quantile(0.9), P99: t.times.quantile(0.99), P999: t.times.quantile(0.999), Worst: t.times.worst,
		}
		if !t.background {
			o.UserErrors += t.failed
			o.Gaps += t.gaps
		}
		o.Routes = append(o.Routes, r)
	}
	slices.SortStableFunc(o.Routes, func(a, b RouteOutcome) int {
		switch {
		case a.Background == b.Background:
			return 0
		case b.Background:
			return -1
		}
		return 1
	})
	o.Cost = costOf(e.design, s.units, e.work)
	return o
}
