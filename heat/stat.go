package heat

import (
	"github.com/hotsplit/hotsplit/capacity"
)

// resourceStat is what is kept of one table or index.
type resourceStat struct {
	id          Resource
	read, write float64
	requests    int
	throttled   int
	failed      int
	current     cell // the second being filled
	peakRead    peak
	peakWrite   peak
	reasons     map[string]int
	writtenVia  map[string]int // refused operations by name
	keys        *topK[string, keyStat]
	callers     *topK[pair, use]
	owners      *topK[pair, use]
	items       *topK[pair, use]
}

// pair is a part of a key's use: the key and who used it.
type pair struct{ key, part string }

// use is what a part took.
type use struct {
	read, write float64
	requests    int
	throttled   int
	failed      int
}

func (u *use) add(e Event) {
	u.read += e.Read
	u.write += e.Write
	u.throttled += e.Throttled
	if e.Primary {
		u.requests++
	}
	if e.Failed {
		u.failed++
	}
}

// peak is the busiest second.
type peak struct {
	units float64
	at    int64 // Unix seconds
}

func (p *peak) see(units float64, second int64) {
	if units > p.units {
		*p = peak{units, second}
	}
}

// keyStat is what is kept of one partition key value.
type keyStat struct {
	use
	peakRead, peakWrite peak
	throttledSeconds    int
	hot                 episodes
	inserts, higher     int // puts with a sort key, and those above all before
	highest             string
}

// episodes counts stretches of hot seconds.
type episodes struct {
	seconds, count, longest int
	began, last             int64
}

func (h *episodes) see(second int64) {
	h.seconds++
	if h.count == 0 || second > h.last+episodeGap {
		h.count++
		h.began = second
	}
	h.last = second
	h.longest = max(h.longest, int(second-h.began)+1)
}

func newResourceStat(id Resource, keys int) *resourceStat {
	return &resourceStat{
		id:         id,
		reasons:    map[string]int{},
		writtenVia: map[string]int{},
		keys:       newTopK[string, keyStat](keys),
		callers:    newTopK[pair, use](pairsMax),
		owners:     newTopK[pair, use](pairsMax),
		items:      newTopK[pair, use](pairsMax),
	}
}

func (s *resourceStat) observe(e Event, weight float64) {
	s.read += e.Read
	s.write += e.Write
	s.current.read += e.Read
	s.current.write += e.Write
	s.throttled += e.Throttled
	if e.Primary {
		s.requests++
	}
	if e.Failed {
		s.failed++
	}
	if e.Throttled > 0 {
		s.reason(e)
	}
	k := &s.keys.add(e.Key, weight).value
	k.add(e)
	k.insert(e)
	if e.Caller != "" {
		s.callers.add(pair{e.Key, e.Caller}, weight).value.add(e)
	}
	if e.Owner != "" {
		s.owners.add(pair{e.Key, e.Owner}, weight).value.add(e)
	}
	if e.Item && e.Sort != "" {
		s.items.add(pair{e.Key, e.Sort}, weight).value.add(e)
	}
}

func (s *resourceStat) reason(e Event) {
	reason := e.Reason
	if reason == "" {
		reason = "unknown"
	}
	if len(s.reasons) <= reasonsMax || s.reasons[reason] > 0 {
		s.reasons[reason] += e.Throttled
	}
	if isWrite(e.Operation) {
		s.writtenVia[e.Operation] += e.Throttled
	}
}

// insert watches whether new sort keys keep rising: then they all land at one
// end of the key's range, and a split there never helps.
func (k *keyStat) insert(e Event) {
	if e.Operation != "PutItem" || e.Sort == "" {
		return
	}
	k.inserts++
	if e.order > k.highest {
		k.higher++
		k.highest = e.order
	}
}

// closeKey folds one key's finished second.
func (s *resourceStat) closeKey(key string, second int64, c cell) {
	counter := s.keys.byKey[key]
	if counter == nil {
		return
	}
	k := &counter.value
	k.peakRead.see(c.read, second)
	k.peakWrite.see(c.write, second)
	if c.throttled > 0 {
		k.throttledSeconds++
	}
	if c.hot() {
		k.hot.see(second)
	}
}

func (s *resourceStat) closeSecond(second int64) {
	s.peakRead.see(s.current.read, second)
	s.peakWrite.see(s.current.write, second)
	s.current = cell{}
}

// hot says that the second came near a partition's ceiling, or was refused.
func (c cell) hot() bool {
	return c.throttled > 0 ||
		c.read >= hotShare*capacity.PartitionCeiling.Read ||
		c.write >= hotShare*capacity.PartitionCeiling.Write
}
