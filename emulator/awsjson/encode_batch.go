package awsjson

import (
	"github.com/hotsplit/hotsplit/emulator"
	"github.com/hotsplit/hotsplit/emulator/attr"
)

func writeBatchGetItem(w *writer, out *emulator.BatchGetItemOutput) {
	w.member("Responses")
	w.open('{')
	for _, t := range out.Responses {
		w.key(t.TableName)
		w.itemList(t.Items)
	}
	w.close('}')
	w.member("UnprocessedKeys")
	w.open('{')
	for i := range out.UnprocessedKeys {
		t := &out.UnprocessedKeys[i]
		w.key(t.TableName)
		w.open('{')
		unprocessedKeys(w, t)
		w.close('}')
	}
	w.close('}')
	w.consumedList(out.ConsumedCapacity)
}

// unprocessedKeys can be sent again as they are.
func unprocessedKeys(w *writer, t *emulator.TableKeys) {
	w.items("Keys", t.Keys)
	if t.ConsistentRead {
		w.bool("ConsistentRead", true)
	}
	if t.ProjectionExpression != nil {
		w.string("ProjectionExpression", *t.ProjectionExpression)
	}
	if t.Names != nil {
		w.member("ExpressionAttributeNames")
		w.open('{')
		for _, name := range sortedKeys(t.Names) {
			w.key(name)
			w.quoted(t.Names[name])
		}
		w.close('}')
	}
}

func writeBatchWriteItem(w *writer, out *emulator.BatchWriteItemOutput) {
	w.member("UnprocessedItems")
	w.open('{')
	for _, t := range out.UnprocessedItems {
		w.key(t.TableName)
		objects(w, t.Requests, writeRequestMembers)
	}
	w.close('}')
	w.tableMetrics(out.ItemCollectionMetrics)
	w.consumedList(out.ConsumedCapacity)
}

func writeRequestMembers(w *writer, r *emulator.WriteRequest) {
	name, member, item := "PutRequest", "Item", attr.Item{}
	if r.DeleteRequest != nil {
		name, member, item = "DeleteRequest", "Key", r.DeleteRequest.Key
	} else if r.PutRequest != nil {
		item = r.PutRequest.Item
	}
	w.member(name)
	w.open('{')
	w.item(member, item)
	w.close('}')
}
