package heat

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go/middleware"
)

// call is one finished SDK call being turned into events.
type call struct {
	recorder *Recorder
	ctx      context.Context
	event    Event // what is common to the call's events
}

// subject is one item or key range that a call is about.
type subject struct {
	table string
	key   map[string]types.AttributeValue // the base key, where the request shows it
	item  map[string]types.AttributeValue // the whole item, where it does
}

func (c *call) record(in, out any, metadata middleware.Metadata, err error) {
	switch in := in.(type) {
	case *dynamodb.QueryInput:
		o, _ := out.(*dynamodb.QueryOutput)
		c.query(in, o)
	case *dynamodb.ScanInput:
		c.event.Operation, c.event.Table, c.event.Index = "Scan", deref(in.TableName), deref(in.IndexName)
		if o, ok := out.(*dynamodb.ScanOutput); ok && o != nil {
			c.event.Read = units(o.ConsumedCapacity)
		}
		c.emit(c.event)
	case *dynamodb.GetItemInput:
		var cost *types.ConsumedCapacity
		if o, ok := out.(*dynamodb.GetItemOutput); ok && o != nil {
			cost = o.ConsumedCapacity
		}
		c.event.Operation = "GetItem"
		c.read(subject{table: deref(in.TableName), key: in.Key}, units(cost))
	case *dynamodb.PutItemInput:
		var cost *types.ConsumedCapacity
		if o, ok := out.(*dynamodb.PutItemOutput); ok && o != nil {
			cost = o.ConsumedCapacity
		}
		c.event.Operation = "PutItem"
		c.write(subject{table: deref(in.TableName), key: in.Item, item: in.Item}, cost, 1)
	case *dynamodb.UpdateItemInput:
		var cost *types.ConsumedCapacity
		s := subject{table: deref(in.TableName), key: in.Key}
		if o, ok := out.(*dynamodb.UpdateItemOutput); ok && o != nil {
			cost, s.item = o.ConsumedCapacity, o.Attributes
		}
		c.event.Operation = "UpdateItem"
		c.write(s, cost, 1)
	case *dynamodb.DeleteItemInput:
		var cost *types.ConsumedCapacity
		s := subject{table: deref(in.TableName), key: in.Key}
		if o, ok := out.(*dynamodb.DeleteItemOutput); ok && o != nil {
			cost, s.item = o.ConsumedCapacity, o.Attributes
		}
		c.event.Operation = "DeleteItem"
		c.write(s, cost, 1)
	default:
		c.recordMany(in, out)
	}
	c.refusals(metadata, err)
}

func (c *call) query(in *dynamodb.QueryInput, out *dynamodb.QueryOutput) {
	e := &c.event
	e.Operation, e.Table, e.Index = "Query", deref(in.TableName), deref(in.IndexName)
	keys := c.recorder.schemas.index(e.Table, e.Index)
	if e.Index == "" {
		keys = c.recorder.schemas.base(e.Table, nil)
	}
	asked := parseCondition(deref(in.KeyConditionExpression), in.ExpressionAttributeNames, in.ExpressionAttributeValues, keys.PartitionKey)
	e.Key, e.Sort, e.Item = asked.partition, asked.sort, asked.item
	if out != nil {
		e.Read = units(out.ConsumedCapacity)
	}
	c.emit(*e)
}

func (c *call) emit(e Event) {
	e.Primary = true
	c.recorder.Observe(e)
}

// read records one item read by its base key.
func (c *call) read(s subject, consumed float64) {
	c.event.Table, c.event.Item = s.table, true
	c.event.Key, c.event.Sort = c.baseKey(s)
	c.event.Read = consumed
	c.emit(c.event)
}

// baseKey is the partition and sort key of s. A table without sort key has one
// item a key, which the key itself names.
func (c *call) baseKey(s subject) (partition, sort string) {
	keys := c.recorder.schemas.base(s.table, s.key)
	partition, sort = keys.of(s.key)
	if sort == "" {
		sort = partition
	}
	return partition, sort
}

// write records one item written, and its part of each index, for a request that
// wrote several items and shares cost among them.
func (c *call) write(s subject, cost *types.ConsumedCapacity, share float64) {
	c.event.Table, c.event.Item, c.event.Index = s.table, true, ""
	c.event.Key, c.event.Sort = c.baseKey(s)
	c.event.Write = share * tableUnits(cost)
	c.emit(c.event)
	if cost == nil {
		return
	}
	for index, used := range cost.GlobalSecondaryIndexes {
		e := c.event
		e.Index, e.Item, e.Write = index, false, share*value(used.CapacityUnits)
		e.Key, e.Sort = c.indexKey(s, index)
		c.recorder.Observe(e)
	}
}

// indexKey is where s lies on an index, as far as request or answer show it.
func (c *call) indexKey(s subject, index string) (partition, sort string) {
	if partition, sort = c.recorder.schemas.index(s.table, index).of(s.item); partition != "" {
		return partition, sort
	}
	return indexKeyOf(c.ctx, index), ""
}

func units(c *types.ConsumedCapacity) float64 {
	if c == nil {
		return 0
	}
	return value(c.CapacityUnits)
}

// tableUnits is the table's own part of what a write cost.
func tableUnits(c *types.ConsumedCapacity) float64 {
	if c != nil && c.Table != nil {
		return value(c.Table.CapacityUnits)
	}
	return units(c)
}

func value(f *float64) float64 {
	if f == nil {
		return 0
	}
	return *f
}
