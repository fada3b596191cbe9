package heat

import (
	"cmp"
	"slices"
	"time"
)

// Report is what was seen, and what it means.
type Report struct {
	Source     string           `json:"source,omitempty"`
	From       time.Time        `json:"from"`
	To         time.Time        `json:"to"`
	Resolution Seconds          `json:"resolutionSeconds"` // the shortest time that figures are for
	Seconds    int              `json:"seconds"`           // that saw a request
	Requests   int              `json:"requests"`
	Failed     int              `json:"failed"` // requests refused to their caller, retries exhausted
	Hashed     bool             `json:"hashed,omitempty"`
	Resources  []ResourceReport `json:"resources"`
	Verdicts   []Verdict        `json:"verdicts"`
	Map        *Map             `json:"map,omitempty"`
}

// Seconds is a number of seconds.
type Seconds int

// ResourceReport is the use of one table or index.
type ResourceReport struct {
	Resource
	Use
	PeakRead   Peak           `json:"peakRead"`
	PeakWrite  Peak           `json:"peakWrite"`
	Reasons    map[string]int `json:"reasons,omitempty"`    // refused attempts by reason
	WrittenVia map[string]int `json:"writtenVia,omitempty"` // refused writes by operation
	Keys       []KeyReport    `json:"keys"`                 // heaviest first
	Callers    []Part         `json:"callers,omitempty"`
	// ConsumedRead and ConsumedWrite are averages a second by CloudWatch's minutes,
	// where that is the source; then Keys may be empty.
	Consumed *Consumed `json:"consumed,omitempty"`
}

// Consumed is the busiest minute's average use a second.
type Consumed struct {
	Read  float64 `json:"read"`
	Write float64 `json:"write"`
}

// Use is what was taken and refused.
type Use struct {
	Read      float64 `json:"read"`  // units
	Write     float64 `json:"write"` // units
	Requests  int     `json:"requests"`
	Throttled int     `json:"throttled"` // attempts
	Failed    int     `json:"failed"`    // requests whose retries were exhausted
}

func (u use) report() Use { return Use{u.read, u.write, u.requests, u.throttled, u.failed} }

// Peak is the busiest second.
type Peak struct {
	Units float64   `json:"units"`
	At    time.Time `json:"at"`
}

func (p peak) report() Peak {
	if p.units == 0 {
		return Peak{}
	}
	return Peak{p.units, time.Unix(p.at, 0).UTC()}
}

// KeyReport is the use of one partition key value. Its load is at least Load
// and at most Load+Error, in partition-seconds.
type KeyReport struct {
	Key string `json:"key"`
	Use
	Load             float64 `json:"load"`
	Error            float64 `json:"error"`
	Share            float64 `json:"share"` // of the resource's load
	PeakRead         Peak    `json:"peakRead"`
	PeakWrite        Peak    `json:"peakWrite"`
	HotSeconds       int     `json:"hotSeconds"` // near the ceiling, or refused
	Episodes         int     `json:"episodes"`   // stretches of hot seconds
	LongestSeconds   int     `json:"longestSeconds"`
	ThrottledSeconds int     `json:"throttledSeconds"`
	Inserts          int     `json:"inserts"`
	Rising           float64 `json:"rising"` // share of inserts above all earlier sort keys
	Callers          []Part  `json:"callers,omitempty"`
	Owners           []Part  `json:"owners,omitempty"`
	Items            []Part  `json:"items,omitempty"`
}

// Part is one caller's, owner's or item's part of a key's or resource's load.
type Part struct {
	Name  string  `json:"name"`
	Share float64 `json:"share"`
	Error float64 `json:"error,omitempty"` // of Share, downwards
	Use
}

const (
	keysReportedMax  = 50
	partsReportedMax = 12
)

// Report says what was seen so far. The second that is being filled counts in the
// sums, and not yet in peaks and the map.
func (r *Recorder) Report() Report {
	r.mu.Lock()
	rep := Report{
		From: r.first.UTC(), To: r.last.UTC(), Resolution: 1, Seconds: r.seconds,
		Requests: r.requests, Failed: r.failed, Hashed: r.options.HashKeys, Map: r.heatmap.report(),
	}
	for _, s := range r.order {
		rep.Resources = append(rep.Resources, s.report())
	}
	r.mu.Unlock()
	slices.SortStableFunc(rep.Resources, func(a, b ResourceReport) int {
		return cmp.Or(cmp.Compare(b.Throttled, a.Throttled), cmp.Compare(load(b.Read, b.Write), load(a.Read, a.Write)))
	})
	rep.Verdicts = Judge(rep)
	return rep
}

func (s *resourceStat) report() ResourceReport {
	rep := ResourceReport{
		Resource:   s.id,
		Use:        Use{s.read, s.write, s.requests, s.throttled, s.failed},
		PeakRead:   s.peakRead.report(),
		PeakWrite:  s.peakWrite.report(),
		Reasons:    cloned(s.reasons),
		WrittenVia: cloned(s.writtenVia),
		Callers:    s.callersOfAll(),
	}
	for _, c := range s.keys.heaviest(keysReportedMax) {
		rep.Keys = append(rep.Keys, s.keyReport(c))
	}
	return rep
}

func cloned(m map[string]int) map[string]int {
	if len(m) == 0 {
		return nil
	}
	out := make(map[string]int, len(m))
	for k, v := range m {
		out[k] = v
	}
	return out
}

func (s *resourceStat) keyReport(c *counter[string, keyStat]) KeyReport {
	k := c.value
	rep := KeyReport{
		Key: c.key, Use: k.use.report(), Load: c.weight - c.err, Error: c.err,
		PeakRead: k.peakRead.report(), PeakWrite: k.peakWrite.report(),
		HotSeconds: k.hot.seconds, Episodes: k.hot.count, LongestSeconds: k.hot.longest,
		ThrottledSeconds: k.throttledSeconds, Inserts: k.inserts,
		Callers: partsOf(s.callers, c.key, c.weight),
		Owners:  partsOf(s.owners, c.key, c.weight),
		Items:   partsOf(s.items, c.key, c.weight),
	}
	if s.keys.total > 0 {
		rep.Share = rep.Load / s.keys.total
	}
	if k.inserts > 0 {
		rep.Rising = float64(k.higher) / float64(k.inserts)
	}
	return rep
}

// partsOf lists the heaviest parts of one key, out of a table of all keys' parts.
func partsOf(t *topK[pair, use], key string, whole float64) []Part {
	if whole == 0 {
		return nil
	}
	var parts []Part
	for _, c := range t.heaviest(len(t.heap)) {
		if c.key.key != key || len(parts) == partsReportedMax {
			continue
		}
		parts = append(parts, Part{c.key.part, c.weight / whole, c.err / whole, c.value.report()})
	}
	return parts
}

func (s *resourceStat) callersOfAll() []Part {
	sums := map[string]*Part{}
	for _, c := range s.callers.heap {
		p := sums[c.key.part]
		if p == nil {
			p = &Part{Name: c.key.part}
			sums[c.key.part] = p
		}
		p.Share += c.weight / s.keys.total
		p.Error += c.err / s.keys.total
		p.Use = p.plus(c.value.report())
	}
	var parts []Part
	for _, p := range sums {
		parts = append(parts, *p)
	}
	slices.SortFunc(parts, func(a, b Part) int {
		return cmp.Or(cmp.Compare(b.Share, a.Share), cmp.Compare(a.Name, b.Name))
	})
	return parts[:min(len(parts), partsReportedMax)]
}

func (u Use) plus(o Use) Use {
	return Use{u.Read + o.Read, u.Write + o.Write, u.Requests + o.Requests, u.Throttled + o.Throttled, u.Failed + o.Failed}
}
