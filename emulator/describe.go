package emulator

import (
	"time"

	"github.com/hotsplit/hotsplit/capacity"
)

// describe tells about t, whose lock is held.
func (t *table) describe(now time.Time) *TableDescription {
	d := &TableDescription{
		TableName: t.name, TableARN: t.arn, TableID: t.id,
		TableStatus:               t.lifecycle.status(now),
		CreationDateTime:          t.created,
		AttributeDefinitions:      t.attributes,
		KeySchema:                 t.schema.elements(),
		ItemCount:                 int64(t.rows.Len()),
		TableSizeBytes:            t.bytes,
		BillingMode:               "PROVISIONED",
		ProvisionedThroughput:     t.throughput.describe(t.mode),
		OnDemandThroughput:        t.throughput.describeCap(),
		WarmThroughput:            t.db.opts.describeWarm(t.mode, t.throughput),
		TableClass:                t.class,
		DeletionProtectionEnabled: t.protected,
		SSEEnabled:                t.sse,
	}
	if t.mode == capacity.OnDemand {
		d.BillingMode = "PAY_PER_REQUEST"
	}
	d.LastUpdateToPayPerRequest = t.onDemandAt
	for _, ix := range t.local {
		d.LocalSecondaryIndexes = append(d.LocalSecondaryIndexes, ix.describe(t, now))
	}
	for _, ix := range t.global {
		if ix.lifecycle.status(now) != "" {
			d.GlobalSecondaryIndexes = append(d.GlobalSecondaryIndexes, ix.describe(t, now))
		}
	}
	return d
}

func (ix *index) describe(t *table, now time.Time) IndexDescription {
	d := IndexDescription{
		IndexName: ix.name, IndexARN: ix.arn,
		KeySchema: ix.schema.elements(), Projection: ix.projection,
		ItemCount: int64(ix.entries.Len()), IndexSizeBytes: ix.bytes,
	}
	if ix.local {
		return d
	}
	d.IndexStatus = ix.lifecycle.status(now)
	d.Backfilling = ix.backfilled && d.IndexStatus == "CREATING"
	d.ProvisionedThroughput = ix.throughput.describe(t.mode)
	d.OnDemandThroughput = ix.throughput.describeCap()
	d.WarmThroughput = t.db.opts.describeWarm(t.mode, ix.throughput)
	return d
}

func (s schema) elements() []KeySchemaElement {
	var out []KeySchemaElement
	for _, a := range s.hash {
		out = append(out, KeySchemaElement{new(a.name), "HASH"})
	}
	for _, a := range s.sort {
		out = append(out, KeySchemaElement{new(a.name), "RANGE"})
	}
	return out
}

func (tp throughput) describe(mode capacity.Mode) ProvisionedThroughputDescription {
	d := ProvisionedThroughputDescription{
		NumberOfDecreasesToday: tp.decreases,
		LastIncreaseDateTime:   tp.increased,
		LastDecreaseDate:       tp.decreased,
	}
	if mode == capacity.Provisioned {
		d.ReadCapacityUnits, d.WriteCapacityUnits = tp.read, tp.write
	}
	return d
}

func (tp throughput) describeCap() *OnDemandThroughput {
	if tp.maxRead == 0 && tp.maxWrite == 0 {
		return nil
	}
	unlimited := func(v int64) *int64 {
		if v == 0 {
			return new(int64(-1))
		}
		return new(v)
	}
	return &OnDemandThroughput{unlimited(tp.maxRead), unlimited(tp.maxWrite)}
}

func (o Options) describeWarm(mode capacity.Mode, tp throughput) *WarmThroughput {
	read, write := int64(o.OnDemandStart.Read), int64(o.OnDemandStart.Write)
	if mode == capacity.Provisioned {
		read, write = tp.read, tp.write
	}
	return &WarmThroughput{
		ReadUnitsPerSecond:  new(max(read, tp.warmRead)),
		WriteUnitsPerSecond: new(max(write, tp.warmWrite)),
		Status:              "ACTIVE",
	}
}

// byName lists the indexes in the order in which the service checks them.
func (t *table) byName() []*index { return *t.sorted.Load() }
