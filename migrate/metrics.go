package migrate

import (
	"github.com/hotsplit/hotsplit/shard"
)

// Metric is one figure for a monitoring system, in Prometheus' terms.
type Metric struct {
	Name    string
	Help    string
	Counter bool // it only rises
	Labels  map[string]string
	Value   float64
}

// Metrics lists what the guard has seen so far. Not for use while a look is
// under way; call it from Observe.
func (g *Guard) Metrics() []Metric {
	move := map[string]string{"move": g.spec.Name}
	r := g.report
	unknown := 0.0
	if r.Unknown != "" {
		unknown = 1
	}
	metrics := []Metric{
		{Name: "hotsplit_guard_looks_total", Help: "Looks at the keys that were left.", Counter: true, Labels: move, Value: float64(r.Looks)},
		{Name: "hotsplit_guard_failures_total", Help: "Looks that could not find out.", Counter: true, Labels: move, Value: float64(r.Failures)},
		{Name: "hotsplit_guard_stragglers_total", Help: "Rows found on a key that was left.", Counter: true, Labels: move, Value: float64(r.Found)},
		{Name: "hotsplit_guard_healed_total", Help: "Such rows that were moved.", Counter: true, Labels: move, Value: float64(r.Healed)},
		{Name: "hotsplit_guard_unknown", Help: "1 where the last look could not find out.", Labels: move, Value: unknown},
		{Name: "hotsplit_members_behind", Help: "Members that go by an older generation.", Labels: move, Value: float64(len(r.Behind))},
	}
	for _, p := range shard.Phases() {
		value := 0.0
		if p == r.Phase {
			value = 1
		}
		metrics = append(metrics, Metric{
			Name: "hotsplit_phase", Help: "1 for the phase that the move is in.",
			Labels: map[string]string{"move": g.spec.Name, "phase": string(p)}, Value: value,
		})
	}
	return metrics
}
