package emulator

import (
	"net/http"
	"strings"
	"time"

	"github.com/hotsplit/hotsplit/capacity"
)

// cost is what a request takes from one key of a table or an index.
type cost struct {
	space     *space
	ix        *index // for the answer's list of indexes; nil for the table
	treeKey   string // where it strikes; only as exact as its space needs
	key       string // partition key, for people
	sort      string // sort key, when one item is meant
	item      int    // position in a batch or transaction
	direction capacity.Direction
	units     float64
	pages     []*capacity.Partition // a read that went through several partitions
}

// admit takes all costs of a request to t or none, and writes both into heat,
// counters and log.
func (c *call) admit(t *table, costs []cost) error {
	t.meter.Lock()
	defer t.meter.Unlock()
	_, err := c.admitLocked(costs)
	return err
}

// admitLocked is admit under the meters of all tables concerned. It also says
// which cost was refused.
func (c *call) admitLocked(costs []cost) (*cost, error) {
	var buf [8]capacity.Charge
	charges := buf[:0]
	for i := range costs {
		costs[i].space.grow(c.now)
		charges = costs[i].charges(charges, c.now)
	}
	if refused, err := c.take(costs, charges); err != nil {
		return refused, err
	}
	at := 0
	for i := range costs {
		k := &costs[i]
		k.space.counters.consume(k.direction, k.units)
		c.record(k, charges[at].Partition, false)
		at += k.parts()
	}
	return nil, nil
}

// take asks the gates.
func (c *call) take(costs []cost, charges []capacity.Charge) (*cost, error) {
	o := &c.db.opts
	if o.Unlimited {
		for i := range charges {
			charges[i].Partition.Charge(charges[i].Direction, charges[i].Units, c.now)
		}
		return nil, nil
	}
	refused, cause, ok := capacity.Admit(charges, c.now)
	if ok {
		return nil, nil
	}
	k := costOf(costs, refused)
	if c.backlogged(k, cause, charges, refused) {
		return nil, nil
	}
	if o.RefusedWriteBurnsTable && k.ix != nil && k.direction == capacity.Write {
		charges[0].Partition.Charge(capacity.Write, charges[0].Units, c.now)
	}
	k.space.counters.throttle(k.direction, cause)
	c.record(k, charges[refused].Partition, true)
	return k, c.refusal(k, cause)
}

// backlogged accepts a write that an index partition has no units for, as long as
// its debt is below the backlog allowed. The index shows it when the debt is paid.
func (c *call) backlogged(k *cost, cause capacity.Cause, charges []capacity.Charge, refused int) bool {
	limit := float64(c.db.opts.IndexBacklog)
	if limit == 0 || k.ix == nil || k.direction != capacity.Write || cause != capacity.KeyRangeThroughput {
		return false
	}
	if charges[refused].Partition.Level(capacity.Write, c.now) <= -limit {
		return false
	}
	for _, ch := range charges {
		ch.Partition.Charge(ch.Direction, ch.Units, c.now)
	}
	debt := -charges[refused].Partition.Level(capacity.Write, c.now)
	c.behind = time.Duration(debt / c.db.opts.PartitionCeiling.Write * float64(time.Second))
	return true
}

// costOf is the cost that the charge at position refused belongs to.
func costOf(costs []cost, refused int) *cost {
	for i := range costs {
		if refused < costs[i].parts() {
			return &costs[i]
		}
		refused -= costs[i].parts()
	}
	return &costs[len(costs)-1]
}

func (k *cost) parts() int { return max(1, len(k.pages)) }

// charges appends what the gates are asked for. A read of several partitions is
// spread over them evenly.
func (k *cost) charges(dst []capacity.Charge, now time.Time) []capacity.Charge {
	if len(k.pages) == 0 {
		p := point(k.treeKey)
		return append(dst, capacity.Charge{
			Gate: k.space.gate, Partition: k.space.set.Of(p, now), Point: p,
			Direction: k.direction, Units: k.units,
		})
	}
	for _, part := range k.pages {
		dst = append(dst, capacity.Charge{
			Gate: k.space.gate, Partition: part, Point: point(k.treeKey),
			Direction: k.direction, Units: k.units / float64(len(k.pages)),
		})
	}
	return dst
}

func (c *call) refusal(k *cost, cause capacity.Cause) *Error {
	r := capacity.Refusal{
		Mode:                k.space.mode,
		Index:               k.space.index != "",
		Direction:           k.direction,
		Cause:               cause,
		QuotaAsRequestLimit: c.db.opts.QuotaError,
	}
	return &Error{
		Code:    r.Code(),
		Message: r.Message(),
		Status:  http.StatusBadRequest,
		Reasons: []ThrottlingReason{{Reason: r.Reason(), Resource: k.space.arn}},
	}
}

// record writes one cost into the heat of its key and into the log entry.
func (c *call) record(k *cost, p *capacity.Partition, refused bool) {
	h := k.space.heat.at(k.key, p.ID, c.now)
	u := KeyUnits{Table: k.space.table, Index: k.space.index, Partition: p.ID, Key: h.Key, Sort: strings.Clone(k.sort), Refused: refused}
	if u.Key == otherKeys {
		u.Key = strings.Clone(k.key)
	}
	if k.direction == capacity.Write {
		u.Write = k.units
	} else {
		u.Read = k.units
	}
	if refused {
		h.Throttled++
	} else {
		h.Read += u.Read
		h.Write += u.Write
	}
	c.entry.Units = append(c.entry.Units, u)
}

// throttledRequest counts a request that a throttle failed, under the first
// resource that refused.
func (c *call) throttledRequest(t *table, err error) error {
	if e, ok := err.(*Error); ok && len(e.Reasons) > 0 {
		t.meter.Lock()
		defer t.meter.Unlock()
		counts := &t.space.counters.requests
		if *counts == nil {
			*counts = map[string]int64{}
		}
		(*counts)[c.entry.Operation]++
	}
	return err
}
