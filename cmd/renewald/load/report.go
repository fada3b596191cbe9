package load

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Report is what came back, by route.
type Report struct {
	Routes map[string]*Route

	mu    sync.Mutex
	began time.Time
	took  time.Duration
}

// Route is what one route answered.
type Route struct {
	Requests int
	Status   map[int]int // 0 is no answer
	Stale    int         // good answers older than 15 s
	latency  *hdrhistogram.Histogram
}

func newReport() *Report { return &Report{Routes: map[string]*Route{}, began: time.Now()} }

const latencyMax = time.Minute

func (r *Report) add(route string, took time.Duration, status int, stale bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	have := r.Routes[route]
	if have == nil {
		have = &Route{Status: map[int]int{}, latency: hdrhistogram.New(1, latencyMax.Microseconds(), 3)}
		r.Routes[route] = have
	}
	have.Requests++
	have.Status[status]++
	if stale {
		have.Stale++
	}
	_ = have.latency.RecordValue(min(took, latencyMax).Microseconds())
}

func (r *Report) finish() { r.took = time.Since(r.began) }

// Percentile is a latency of the route, p from 0 to 100.
func (r *Route) Percentile(p float64) time.Duration {
	return time.Duration(r.latency.ValueAtQuantile(p)) * time.Microsecond
}

// Failed counts answers that nobody should see: none at all, and 5xx other than
// 503.
func (r *Report) Failed() int {
	failed := 0
	for _, route := range r.Routes {
		for status, n := range route.Status {
			if status == 0 || status >= 500 && status != 503 {
				failed += n
			}
		}
	}
	return failed
}

// Busy counts answers that asked to come back later.
func (r *Report) Busy() int {
	busy := 0
	for _, route := range r.Routes {
		busy += route.Status[503] + route.Status[429]
	}
	return busy
}

func (r *Report) String() string {
	var text strings.Builder
	fmt.Fprintf(&text, "%-8s %9s %8s %9s %9s %9s %7s  %s\n", "route", "requests", "per s", "p50", "p99", "max", "stale", "status")
	for _, name := range slices.Sorted(maps.Keys(r.Routes)) {
		route := r.Routes[name]
		var statuses []string
		for _, status := range slices.Sorted(maps.Keys(route.Status)) {
			statuses = append(statuses, fmt.Sprintf("%s×%d", statusWord(status), route.Status[status]))
		}
		fmt.Fprintf(&text, "%-8s %9d %8.1f %9s %9s %9s %7d  %s\n", name, route.Requests, float64(route.Requests)/r.took.Seconds(),
			short(route.Percentile(50)), short(route.Percentile(99)), short(route.Percentile(100)), route.Stale, strings.Join(statuses, " "))
	}
	fmt.Fprintf(&text, "failed %d, asked to come back %d, in %s\n", r.Failed(), r.Busy(), r.took.Round(time.Second))
	return text.String()
}

func statusWord(status int) string {
	if status == 0 {
		return "none"
	}
	return fmt.Sprint(status)
}

func short(d time.Duration) string { return d.Round(10 * time.Microsecond).String() }
