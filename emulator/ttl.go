package emulator

import (
	"context"
	"strconv"
	"time"

	"github.com/hotsplit/hotsplit/emulator/attr"
)

// timeToLive is the TTL setting of a table.
type timeToLive struct {
	attribute string // "" when disabled
	on        bool
	changed   time.Time
}

// UpdateTimeToLive switches the expiry of items on or off. Items expire when
// ReapTTL is called.
func (db *DB) UpdateTimeToLive(ctx context.Context, in *UpdateTimeToLiveInput) (*UpdateTimeToLiveOutput, error) {
	c := db.begin(ctx, "UpdateTimeToLive")
	out, err := c.updateTTL(in)
	return answer(c, out, err)
}

func (c *call) updateTTL(in *UpdateTimeToLiveInput) (*UpdateTimeToLiveOutput, error) {
	if err := in.check(); err != nil {
		return nil, err
	}
	t, err := c.control(in.TableName, "Requested resource not found: Table: %s not found")
	if err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	spec := *in.TimeToLiveSpecification
	name, on := *spec.AttributeName, *spec.Enabled
	switch {
	case on && t.ttl.on && t.ttl.attribute == name:
		return nil, invalid("TimeToLive is already enabled")
	case on && t.ttl.on:
		return nil, invalid("TimeToLive is active on a different AttributeName: current AttributeName is " + t.ttl.attribute)
	case !on && !t.ttl.on:
		return nil, invalid("TimeToLive is already disabled")
	case !on && t.ttl.attribute != name:
		return nil, invalid("TimeToLive is active on a different AttributeName: current AttributeName is " + t.ttl.attribute)
	}
	t.ttl = timeToLive{attribute: name, on: on, changed: c.now}
	return &UpdateTimeToLiveOutput{TimeToLiveSpecification: spec}, nil
}

func (in *UpdateTimeToLiveInput) check() error {
	var c constraints
	c.tableName(in.TableName)
	const path = "timeToLiveSpecification"
	if s := in.TimeToLiveSpecification; c.required(s != nil, path) {
		if c.required(s.AttributeName != nil, path+".attributeName") {
			c.textLength(*s.AttributeName, path+".attributeName", 1, nameLengthMax)
		}
		c.required(s.Enabled != nil, path+".enabled")
	}
	return c.err()
}

// DescribeTimeToLive tells the TTL setting of a table.
func (db *DB) DescribeTimeToLive(ctx context.Context, in *DescribeTimeToLiveInput) (*DescribeTimeToLiveOutput, error) {
	c := db.begin(ctx, "DescribeTimeToLive")
	t, err := c.control(in.TableName, "Requested resource not found: Table: %s not found")
	if err != nil {
		return nil, c.end(err)
	}
	t.mu.RLock()
	defer t.mu.RUnlock()
	out := &DescribeTimeToLiveOutput{TimeToLiveStatus: "DISABLED"}
	switch settling := c.now.Before(t.ttl.changed.Add(db.opts.TableDelay)); {
	case t.ttl.on && settling:
		out.TimeToLiveStatus, out.AttributeName = "ENABLING", t.ttl.attribute
	case t.ttl.on:
		out.TimeToLiveStatus, out.AttributeName = "ENABLED", t.ttl.attribute
	case settling && t.ttl.attribute != "":
		out.TimeToLiveStatus, out.AttributeName = "DISABLING", t.ttl.attribute
	}
	return answer(c, out, nil)
}

// ttlAgeMax is how old an expiry may be: the service takes older ones for
// mistakes and leaves the items alone.
const ttlAgeMax = 5 * 365 * 24 * time.Hour

// ReapTTL deletes the expired items of all tables, limit of them at most (0 means
// all), as the service does in the background at no charge. It returns how many.
func (db *DB) ReapTTL(limit int) int {
	now := db.Now()
	n := 0
	for _, name := range db.names(now) {
		if t := db.find(name, now); t != nil && (limit == 0 || n < limit) {
			n += t.reap(limit-n, now)
		}
	}
	return n
}

// reap deletes expired items, limit of them if limit is positive.
func (t *table) reap(limit int, now time.Time) int {
	c := t.db.begin(WithCaller(context.Background(), "ttl"), "TTL")
	c.entry.Table = t.name
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.ttl.on || now.Before(t.ttl.changed.Add(t.db.opts.TableDelay)) {
		return 0
	}
	var expired []string
	t.rows.Scan(func(key string, item attr.Item) bool {
		if t.ttl.expired(item, now) {
			expired = append(expired, key)
		}
		return limit <= 0 || len(expired) < limit
	})
	for _, key := range expired {
		item, _ := t.rows.Get(key)
		m := &mutation{t: t, verb: verbDelete, key: item, treeKey: key}
		if e, err := m.decide(); err == nil {
			e.commit(c)
		}
		c.entry.Units = append(c.entry.Units, KeyUnits{Table: t.name, Key: t.schema.keyText(item), Sort: t.schema.sortText(item)})
	}
	if len(expired) > 0 {
		t.meter.Lock()
		t.space.counters.expired += int64(len(expired))
		t.meter.Unlock()
		_ = c.end(nil)
	}
	return len(expired)
}

func (l timeToLive) expired(item attr.Item, now time.Time) bool {
	v := item.Get(l.attribute)
	if v.Kind() != attr.KindN {
		return false
	}
	seconds, err := strconv.ParseFloat(v.Text(), 64)
	if err != nil {
		return false
	}
	at := time.Unix(int64(seconds), 0)
	return !at.After(now) && now.Sub(at) < ttlAgeMax
}
