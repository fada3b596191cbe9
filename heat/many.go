package heat

import (
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// recordMany records batches and transactions. The service says what each table
// cost, not each item, so the items share it evenly.
func (c *call) recordMany(in, out any) {
	switch in := in.(type) {
	case *dynamodb.BatchGetItemInput:
		c.event.Operation = "BatchGetItem"
		o, _ := out.(*dynamodb.BatchGetItemOutput)
		c.batchGet(in, o)
	case *dynamodb.BatchWriteItemInput:
		c.event.Operation = "BatchWriteItem"
		o, _ := out.(*dynamodb.BatchWriteItemOutput)
		c.batchWrite(in, o)
	case *dynamodb.TransactWriteItemsInput:
		c.event.Operation = "TransactWriteItems"
		var costs []types.ConsumedCapacity
		if o, ok := out.(*dynamodb.TransactWriteItemsOutput); ok && o != nil {
			costs = o.ConsumedCapacity
		}
		c.writeAll(transactSubjects(in.TransactItems), costs)
	case *dynamodb.TransactGetItemsInput:
		c.event.Operation = "TransactGetItems"
		var costs []types.ConsumedCapacity
		if o, ok := out.(*dynamodb.TransactGetItemsOutput); ok && o != nil {
			costs = o.ConsumedCapacity
		}
		var subjects []subject
		for _, t := range in.TransactItems {
			if t.Get != nil {
				subjects = append(subjects, subject{table: deref(t.Get.TableName), key: t.Get.Key})
			}
		}
		c.readAll(subjects, costs)
	}
}

func (c *call) batchGet(in *dynamodb.BatchGetItemInput, out *dynamodb.BatchGetItemOutput) {
	var subjects []subject
	for table, asked := range in.RequestItems {
		for _, key := range asked.Keys {
			subjects = append(subjects, subject{table: table, key: key})
		}
	}
	if out == nil {
		c.readAll(subjects, nil)
		return
	}
	c.readAll(subjects, out.ConsumedCapacity)
	for table, left := range out.UnprocessedKeys {
		c.refuse(Resource{Table: table}, "unknown", len(left.Keys), false)
	}
}

func (c *call) batchWrite(in *dynamodb.BatchWriteItemInput, out *dynamodb.BatchWriteItemOutput) {
	var subjects []subject
	for table, requests := range in.RequestItems {
		for _, w := range requests {
			switch {
			case w.PutRequest != nil:
				subjects = append(subjects, subject{table: table, key: w.PutRequest.Item, item: w.PutRequest.Item})
			case w.DeleteRequest != nil:
				subjects = append(subjects, subject{table: table, key: w.DeleteRequest.Key})
			}
		}
	}
	if out == nil {
		c.writeAll(subjects, nil)
		return
	}
	c.writeAll(subjects, out.ConsumedCapacity)
	for table, left := range out.UnprocessedItems {
		c.refuse(Resource{Table: table}, "unknown", len(left), false)
	}
}

func transactSubjects(items []types.TransactWriteItem) []subject {
	var subjects []subject
	for _, t := range items {
		switch {
		case t.Put != nil:
			subjects = append(subjects, subject{table: deref(t.Put.TableName), key: t.Put.Item, item: t.Put.Item})
		case t.Update != nil:
			subjects = append(subjects, subject{table: deref(t.Update.TableName), key: t.Update.Key})
		case t.Delete != nil:
			subjects = append(subjects, subject{table: deref(t.Delete.TableName), key: t.Delete.Key})
		case t.ConditionCheck != nil:
			subjects = append(subjects, subject{table: deref(t.ConditionCheck.TableName), key: t.ConditionCheck.Key})
		}
	}
	return subjects
}

func (c *call) readAll(subjects []subject, costs []types.ConsumedCapacity) {
	perTable := countTables(subjects)
	for _, s := range subjects {
		consumed := 0.0
		if cost := costOf(costs, s.table); cost != nil {
			consumed = units(cost) / float64(perTable[s.table])
		}
		c.read(s, consumed)
	}
}

func (c *call) writeAll(subjects []subject, costs []types.ConsumedCapacity) {
	perTable := countTables(subjects)
	for _, s := range subjects {
		c.write(s, costOf(costs, s.table), 1/float64(perTable[s.table]))
	}
}

func countTables(subjects []subject) map[string]int {
	counts := map[string]int{}
	for _, s := range subjects {
		counts[s.table]++
	}
	return counts
}

func costOf(costs []types.ConsumedCapacity, table string) *types.ConsumedCapacity {
	for i := range costs {
		if deref(costs[i].TableName) == table {
			return &costs[i]
		}
	}
	return nil
}
