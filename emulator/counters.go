package emulator

import (
	"slices"

	"github.com/hotsplit/hotsplit/capacity"
)

// counters count what CloudWatch would, for one table or index.
type counters struct {
	consumed  Units
	throttled [2]int64                                     // events by direction
	causes    [2][capacity.MaxOnDemandThroughput + 1]int64 // events by direction and cause
	requests  map[string]int64                             // throttled requests by operation
	failed    int64                                        // conditions
	expired   int64                                        // items, by TTL
}

// Counter is one CloudWatch metric with its dimensions, counted since the table
// or index was made.
type Counter struct {
	Metric    string // such as WriteKeyRangeThroughputThrottleEvents
	Table     string // "" for the account
	Index     string // "" unless the metric is about an index
	Operation string // ThrottledRequests only
	Value     float64
}

var (
	consumedMetrics  = [2]string{"ConsumedReadCapacityUnits", "ConsumedWriteCapacityUnits"}
	throttledMetrics = [2]string{"ReadThrottleEvents", "WriteThrottleEvents"}
	causeMetrics     = [...]string{
		capacity.KeyRangeThroughput:    "KeyRangeThroughputThrottleEvents",
		capacity.ProvisionedThroughput: "ProvisionedThroughputThrottleEvents",
		capacity.AccountLimit:          "AccountLimitThrottleEvents",
		capacity.MaxOnDemandThroughput: "MaxOnDemandThroughputThrottleEvents",
	}
	directions = [2]string{"Read", "Write"}
)

func (c *counters) consume(d capacity.Direction, units float64) {
	if d == capacity.Write {
		c.consumed.Write += units
	} else {
		c.consumed.Read += units
	}
}

func (c *counters) throttle(d capacity.Direction, cause capacity.Cause) {
	c.throttled[d]++
	c.causes[d][cause]++
}

func (c *counters) list(table, index string) []Counter {
	var out []Counter
	add := func(metric, operation string, v float64) {
		out = append(out, Counter{metric, table, index, operation, v})
	}
	for d, consumed := range []float64{c.consumed.Read, c.consumed.Write} {
		add(consumedMetrics[d], "", consumed)
		add(throttledMetrics[d], "", float64(c.throttled[d]))
		for cause, name := range causeMetrics {
			if name != "" {
				add(directions[d]+name, "", float64(c.causes[d][cause]))
			}
		}
	}
	if index == "" {
		add("ConditionalCheckFailedRequests", "", float64(c.failed))
		add("TimeToLiveDeletedItemCount", "", float64(c.expired))
	}
	for _, operation := range sortedKeys(c.requests) {
		add("ThrottledRequests", operation, float64(c.requests[operation]))
	}
	return out
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// Counters are the metrics of all tables and global indexes under their
// CloudWatch names.
func (db *DB) Counters() []Counter {
	now := db.Now()
	var out []Counter
	for _, name := range db.names(now) {
		if t := db.find(name, now); t != nil {
			out = append(out, t.countersList()...)
		}
	}
	return append(out,
		Counter{Metric: "UserErrors", Value: float64(db.userErrors.Load())},
		Counter{Metric: "SystemErrors", Value: float64(db.systemErrors.Load())})
}

func (t *table) countersList() []Counter {
	t.mu.RLock()
	defer t.mu.RUnlock()
	t.meter.Lock()
	defer t.meter.Unlock()
	out := t.space.counters.list(t.name, "")
	for _, ix := range t.global {
		out = append(out, ix.space.counters.list(t.name, ix.name)...)
	}
	return out
}
