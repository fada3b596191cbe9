package emulator

import (
	"context"
	"slices"
	"time"

	"github.com/hotsplit/hotsplit/capacity"
)

// UpdateTable changes the throughput of a table, or creates or deletes one index.
func (db *DB) UpdateTable(ctx context.Context, in *UpdateTableInput) (*TableOutput, error) {
	c := db.begin(ctx, "UpdateTable")
	out, err := c.updateTable(in)
	return answer(c, out, err)
}

func (c *call) updateTable(in *UpdateTableInput) (*TableOutput, error) {
	if err := in.check(); err != nil {
		return nil, err
	}
	t, err := c.control(in.TableName, "Requested resource not found: Table: %s not found")
	if err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if s := t.lifecycle.status(c.now); s != "ACTIVE" {
		return nil, newError(CodeResourceInUse, "Attempt to change a resource which is still in use: Table is being "+changing[s]+": "+t.name)
	}
	if err := t.checkUpdate(in, c.now); err != nil {
		return nil, err
	}
	t.update(in, c.now)
	out := t.describe(c.now)
	out.TableStatus = "UPDATING"
	for _, u := range in.GlobalSecondaryIndexUpdates {
		markIndex(out.GlobalSecondaryIndexes, u)
	}
	return &TableOutput{Table: out}, nil
}

// markIndex shows the status that an index update begins with, however short.
func markIndex(list []IndexDescription, u IndexUpdate) {
	for i := range list {
		switch {
		case u.Create != nil && list[i].IndexName == *u.Create.IndexName:
			list[i].IndexStatus, list[i].Backfilling = "CREATING", true
		case u.Update != nil && list[i].IndexName == *u.Update.IndexName:
			list[i].IndexStatus = "UPDATING"
		}
	}
}

// update carries out a checked update.
func (t *table) update(in *UpdateTableInput, now time.Time) {
	t.dropDeleted(now)
	t.define(in.AttributeDefinitions)
	if in.BillingMode != "" && modeOf(in.BillingMode) != t.mode {
		t.mode = modeOf(in.BillingMode)
		if t.mode == capacity.OnDemand {
			t.onDemandAt = now
			t.switched = append(t.switched, now)
		}
	}
	t.throughput.change(in.ProvisionedThroughput, in.OnDemandThroughput, in.WarmThroughput, now)
	if in.TableClass != "" {
		t.class = in.TableClass
	}
	if in.DeletionProtectionEnabled != nil {
		t.protected = *in.DeletionProtectionEnabled
	}
	if in.SSEEnabled != nil {
		t.sse = *in.SSEEnabled
	}
	for _, u := range in.GlobalSecondaryIndexUpdates {
		t.updateIndex(u, now)
	}
	t.lifecycle = lifecycle{"UPDATING", now.Add(t.db.opts.TableDelay)}
	t.reconfigure(now)
}

// change raises or lowers what is asked for.
func (tp *throughput) change(p *ProvisionedThroughput, o *OnDemandThroughput, w *WarmThroughput, now time.Time) {
	if p != nil {
		read, write := *p.ReadCapacityUnits, *p.WriteCapacityUnits
		if read > tp.read || write > tp.write {
			tp.increased = now
		}
		if read < tp.read || write < tp.write {
			tp.decreased = now
			tp.decreases++
		}
		tp.read, tp.write = read, write
	}
	tp.cap(o)
	tp.warm(w)
}

func (t *table) define(list []AttributeDefinition) {
	// A new slice: descriptions given out earlier share the old one.
	t.attributes = slices.Clone(t.attributes)
	for _, d := range list {
		if !contains(definedNames(t.attributes), *d.AttributeName) {
			t.attributes = append(t.attributes, d)
		}
	}
}

func (t *table) updateIndex(u IndexUpdate, now time.Time) {
	switch {
	case u.Create != nil:
		ix := t.newIndex(u.Create, false, now)
		ix.backfilled = true
		ix.build(&t.rows)
		t.global = append(slices.Clip(t.global), ix)
	case u.Update != nil:
		ix := t.index(*u.Update.IndexName, now)
		ix.throughput.change(u.Update.ProvisionedThroughput, u.Update.OnDemandThroughput, u.Update.WarmThroughput, now)
		ix.lifecycle = lifecycle{"UPDATING", now.Add(t.db.opts.TableDelay)}
	default:
		ix := t.index(*u.Delete.IndexName, now)
		t.moves.drop(ix)
		ix.lifecycle = lifecycle{"DELETING", now.Add(t.db.opts.TableDelay)}
	}
	t.dropDeleted(now)
}

// dropDeleted lets go of indexes whose deletion is over, and of definitions that
// nothing uses any more.
func (t *table) dropDeleted(now time.Time) {
	t.global = slices.DeleteFunc(slices.Clone(t.global), func(ix *index) bool { return ix.lifecycle.status(now) == "" })
	t.attributes = slices.DeleteFunc(slices.Clone(t.attributes), func(d AttributeDefinition) bool { return !t.isKey(*d.AttributeName) })
	t.sortIndexes()
}

func (t *table) isKey(name string) bool {
	if t.schema.has(name) {
		return true
	}
	for _, list := range [][]*index{t.local, t.global} {
		for _, ix := range list {
			if ix.schema.has(name) {
				return true
			}
		}
	}
	return false
}

// reconfigure makes gates and partitions follow.
func (t *table) reconfigure(now time.Time) {
	t.meter.Lock()
	defer t.meter.Unlock()
	t.space.reconfigure(t.db.opts, t.mode, t.throughput, now)
	for _, ix := range t.global {
		ix.space.reconfigure(t.db.opts, t.mode, ix.throughput, now)
	}
}

// sortIndexes keeps the indexes that still take writes in order of their names.
func (t *table) sortIndexes() {
	sorted := slices.Clone(t.local)
	for _, ix := range t.global {
		if ix.lifecycle.passing != "DELETING" {
			sorted = append(sorted, ix)
		}
	}
	slices.SortFunc(sorted, func(a, b *index) int {
		if a.name < b.name {
			return -1
		}
		return 1
	})
	t.sorted.Store(&sorted)
}
