package emulator

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/hotsplit/hotsplit/capacity"
	"github.com/hotsplit/hotsplit/emulator/attr"
)

// CreateTable makes a table. The answer says CREATING; by default the table is
// ACTIVE right behind it.
func (db *DB) CreateTable(ctx context.Context, in *CreateTableInput) (*TableOutput, error) {
	c := db.begin(ctx, "CreateTable")
	out, err := c.createTable(in)
	return answer(c, out, err)
}

func (c *call) createTable(in *CreateTableInput) (*TableOutput, error) {
	if err := in.check(); err != nil {
		return nil, err
	}
	c.entry.Table = nameOf(*in.TableName)
	db := c.db
	// Reaps a table of this name whose deletion is over.
	db.find(*in.TableName, c.now)
	db.mu.Lock()
	defer db.mu.Unlock()
	if db.tables[c.entry.Table] != nil {
		return nil, newError(CodeResourceInUse, "Table already exists: "+c.entry.Table)
	}
	t := db.newTable(in, c.now)
	db.tables[t.name] = t
	out := t.describe(c.now)
	out.TableStatus = "CREATING"
	for i := range out.GlobalSecondaryIndexes {
		out.GlobalSecondaryIndexes[i].IndexStatus = "CREATING"
	}
	return &TableOutput{Table: out}, nil
}

func (db *DB) newTable(in *CreateTableInput, now time.Time) *table {
	db.made++
	name := nameOf(*in.TableName)
	t := &table{
		db: db, name: name, arn: db.arn(name), number: db.made, created: now,
		id:         fmt.Sprintf("%08x-0000-4000-8000-%012x", uint32(db.opts.Seed), db.made),
		attributes: in.AttributeDefinitions,
		seed:       capacity.Place(uint64(db.opts.Seed), name),
		mode:       modeOf(in.BillingMode),
		throughput: newThroughput(in.ProvisionedThroughput, in.OnDemandThroughput, in.WarmThroughput),
		class:      in.TableClass,
		protected:  in.DeletionProtectionEnabled != nil && *in.DeletionProtectionEnabled,
		sse:        in.SSEEnabled != nil && *in.SSEEnabled,
		tags:       in.Tags,
		lifecycle:  lifecycle{"CREATING", now.Add(db.opts.TableDelay)},
	}
	if t.mode == capacity.OnDemand {
		t.onDemandAt = now
	}
	t.ready.Store(now.Add(db.opts.TableDelay).UnixNano())
	t.schema = schemaOf(in.KeySchema, t.attributes)
	t.keyNames = t.schema.names()
	t.space = db.opts.newSpace(name, "", t.mode, t.throughput, len(in.LocalSecondaryIndexes) > 0, now)
	t.space.arn = t.arn
	t.moves = propagation{
		rng:    newRand(db.opts.Seed, "lag "+name, db.made),
		lagMin: db.opts.LagMin, lagMax: db.opts.LagMax, order: db.opts.IndexOrder,
	}
	t.moves.next.Store(noTime)
	for i := range in.LocalSecondaryIndexes {
		t.local = append(t.local, t.newIndex(&in.LocalSecondaryIndexes[i], true, now))
	}
	for i := range in.GlobalSecondaryIndexes {
		t.global = append(t.global, t.newIndex(&in.GlobalSecondaryIndexes[i], false, now))
	}
	t.sortIndexes()
	return t
}

func modeOf(billing string) capacity.Mode {
	if billing == "PAY_PER_REQUEST" {
		return capacity.OnDemand
	}
	return capacity.Provisioned
}

func newThroughput(p *ProvisionedThroughput, o *OnDemandThroughput, w *WarmThroughput) throughput {
	var tp throughput
	if p != nil {
		tp.read, tp.write = valueOf(p.ReadCapacityUnits), valueOf(p.WriteCapacityUnits)
	}
	tp.cap(o)
	tp.warm(w)
	return tp
}

// cap sets the on-demand maximum; -1 removes it.
func (tp *throughput) cap(o *OnDemandThroughput) {
	if o == nil {
		return
	}
	if v := o.MaxReadRequestUnits; v != nil {
		tp.maxRead = max(0, *v)
	}
	if v := o.MaxWriteRequestUnits; v != nil {
		tp.maxWrite = max(0, *v)
	}
}

func (tp *throughput) warm(w *WarmThroughput) {
	if w == nil {
		return
	}
	tp.warmRead = max(tp.warmRead, valueOf(w.ReadUnitsPerSecond))
	tp.warmWrite = max(tp.warmWrite, valueOf(w.WriteUnitsPerSecond))
}

func valueOf(v *int64) int64 {
	if v == nil {
		return 0
	}
	return *v
}

// newIndex makes an empty index.
func (t *table) newIndex(spec *IndexSpec, local bool, now time.Time) *index {
	o := &t.db.opts
	ix := &index{
		name: *spec.IndexName, arn: t.arn + "/index/" + *spec.IndexName, local: local,
		schema: schemaOf(spec.KeySchema, t.attributes), base: t.schema,
		projection: *spec.Projection, all: spec.Projection.ProjectionType == "ALL",
		throughput: newThroughput(spec.ProvisionedThroughput, spec.OnDemandThroughput, spec.WarmThroughput),
		lifecycle:  lifecycle{"CREATING", now.Add(o.TableDelay)},
	}
	ix.keyNames = distinct(slices.Concat(t.keyNames, ix.schema.names()))
	ix.kept = distinct(slices.Concat(ix.keyNames, spec.Projection.NonKeyAttributes))
	if local {
		ix.seed, ix.space = t.seed, t.space
		return ix
	}
	ix.seed = capacity.Place(t.seed, ix.name)
	ix.ties = ix.seed | 1
	ix.space = o.newSpace(t.name, ix.name, t.mode, ix.throughput, false, now)
	ix.space.arn = ix.arn
	return ix
}

func distinct(names []string) []string {
	var out []string
	for _, n := range names {
		if !contains(out, n) {
			out = append(out, n)
		}
	}
	return out
}

func schemaOf(key []KeySchemaElement, definitions []AttributeDefinition) schema {
	var s schema
	for _, k := range key {
		a := keyAttr{name: *k.AttributeName, kind: kindOf(*k.AttributeName, definitions)}
		if k.KeyType == "HASH" {
			s.hash = append(s.hash, a)
		} else {
			s.sort = append(s.sort, a)
		}
	}
	s.all = slices.Concat(s.hash, s.sort)
	return s
}

func kindOf(name string, definitions []AttributeDefinition) attr.Kind {
	for _, d := range definitions {
		if *d.AttributeName == name {
			switch d.AttributeType {
			case "N":
				return attr.KindN
			case "B":
				return attr.KindB
			}
		}
	}
	return attr.KindS
}

// DescribeTable tells about a table.
func (db *DB) DescribeTable(ctx context.Context, in *DescribeTableInput) (*TableOutput, error) {
	c := db.begin(ctx, "DescribeTable")
	t, err := c.control(in.TableName, "Requested resource not found: Table: %s not found")
	if err != nil {
		return nil, c.end(err)
	}
	t.mu.RLock()
	defer t.mu.RUnlock()
	return answer(c, &TableOutput{Table: t.describe(c.now)}, nil)
}

// control is the table of an operation that is about the table itself.
func (c *call) control(name *string, notFound string) (*table, error) {
	var v constraints
	v.tableName(name)
	if err := v.err(); err != nil {
		return nil, err
	}
	c.entry.Table = nameOf(*name)
	t := c.db.find(*name, c.now)
	if t == nil {
		return nil, newError(CodeResourceNotFound, fmt.Sprintf(notFound, c.entry.Table))
	}
	return t, nil
}

// DeleteTable removes a table with all that is in it.
func (db *DB) DeleteTable(ctx context.Context, in *DeleteTableInput) (*TableOutput, error) {
	c := db.begin(ctx, "DeleteTable")
	out, err := c.deleteTable(in)
	return answer(c, out, err)
}

func (c *call) deleteTable(in *DeleteTableInput) (*TableOutput, error) {
	t, err := c.control(in.TableName, "Requested resource not found: Table: %s not found")
	if err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if s := t.lifecycle.status(c.now); s != "ACTIVE" {
		return nil, newError(CodeResourceInUse, "Attempt to change a resource which is still in use: Table is being "+changing[s]+": "+t.name)
	}
	if t.protected {
		return nil, invalid("Resource cannot be deleted as it is currently protected against deletion. Disable deletion protection first.")
	}
	until := c.now.Add(c.db.opts.TableDelay)
	t.lifecycle = lifecycle{"DELETING", until}
	t.ends.Store(until.UnixNano())
	out := t.describe(c.now)
	out.TableStatus = "DELETING"
	out.GlobalSecondaryIndexes, out.LocalSecondaryIndexes = nil, nil
	return &TableOutput{Table: out}, nil
}

var changing = map[string]string{"CREATING": "created", "UPDATING": "updated", "DELETING": "deleted"}

const listTablesMax = 100

// ListTables lists the names of tables in order.
func (db *DB) ListTables(ctx context.Context, in *ListTablesInput) (*ListTablesOutput, error) {
	c := db.begin(ctx, "ListTables")
	if err := in.check(); err != nil {
		return nil, c.end(err)
	}
	limit := listTablesMax
	if in.Limit != nil {
		limit = *in.Limit
	}
	out := &ListTablesOutput{TableNames: []string{}}
	for _, name := range db.names(c.now) {
		if in.ExclusiveStartTableName != nil && name <= *in.ExclusiveStartTableName {
			continue
		}
		if len(out.TableNames) == limit {
			out.LastEvaluatedTableName = out.TableNames[limit-1]
			break
		}
		out.TableNames = append(out.TableNames, name)
	}
	return answer(c, out, nil)
}

func (in *ListTablesInput) check() error {
	var c constraints
	if n := in.ExclusiveStartTableName; n != nil {
		if len(*n) < nameLengthMin {
			c.violated("'"+*n+"'", "exclusiveStartTableName", "Member must have length greater than or equal to 3")
		}
		c.nameText(*n, "exclusiveStartTableName")
	}
	c.atLeast(in.Limit, "limit", 1)
	c.atMost(in.Limit, "limit", listTablesMax)
	return c.err()
}
