package awsjson

import "github.com/hotsplit/hotsplit/emulator"

func writeGetItem(w *writer, out *emulator.GetItemOutput) {
	w.item("Item", out.Item)
	w.consumed(out.ConsumedCapacity)
}

func writeWrite(w *writer, out *emulator.WriteOutput) {
	w.item("Attributes", out.Attributes)
	w.consumed(out.ConsumedCapacity)
	if m := out.ItemCollectionMetrics; m != nil {
		w.member("ItemCollectionMetrics")
		w.open('{')
		collectionMetrics(w, m)
		w.close('}')
	}
}

func writePage(w *writer, out *emulator.PageOutput) {
	if out.Items != nil {
		w.items("Items", out.Items)
	}
	w.int("Count", int64(out.Count))
	w.int("ScannedCount", int64(out.ScannedCount))
	w.item("LastEvaluatedKey", out.LastEvaluatedKey)
	w.consumed(out.ConsumedCapacity)
}

func writeTransactGetItems(w *writer, out *emulator.TransactGetItemsOutput) {
	w.member("Responses")
	w.open('[')
	for _, i := range out.Responses {
		w.comma()
		w.open('{')
		w.item("Item", i)
		w.close('}')
	}
	w.close(']')
	w.consumedList(out.ConsumedCapacity)
}

func writeTransactWriteItems(w *writer, out *emulator.TransactWriteItemsOutput) {
	w.consumedList(out.ConsumedCapacity)
	w.tableMetrics(out.ItemCollectionMetrics)
}

func (w *writer) consumed(c *emulator.ConsumedCapacity) {
	if c == nil {
		return
	}
	w.member("ConsumedCapacity")
	w.open('{')
	consumedMembers(w, c)
	w.close('}')
}

// consumedList is omitted when nothing was asked for.
func (w *writer) consumedList(list []emulator.ConsumedCapacity) {
	if list == nil {
		return
	}
	w.member("ConsumedCapacity")
	objects(w, list, consumedMembers)
}

func consumedMembers(w *writer, c *emulator.ConsumedCapacity) {
	w.string("TableName", c.TableName)
	w.units(c.CapacityUnits, c.ReadCapacityUnits, c.WriteCapacityUnits)
	if c.Table != nil {
		w.member("Table")
		w.open('{')
		capacityMembers(w, c.Table)
		w.close('}')
	}
	mapped(w, "GlobalSecondaryIndexes", c.GlobalSecondaryIndexes, capacityMembers)
	mapped(w, "LocalSecondaryIndexes", c.LocalSecondaryIndexes, capacityMembers)
}

func capacityMembers(w *writer, c *emulator.Capacity) {
	w.units(c.CapacityUnits, c.ReadCapacityUnits, c.WriteCapacityUnits)
}

func (w *writer) units(all float64, read, write *float64) {
	w.float("CapacityUnits", all)
	if read != nil {
		w.float("ReadCapacityUnits", *read)
	}
	if write != nil {
		w.float("WriteCapacityUnits", *write)
	}
}

func collectionMetrics(w *writer, m *emulator.ItemCollectionMetrics) {
	w.item("ItemCollectionKey", m.ItemCollectionKey)
	w.member("SizeEstimateRangeGB")
	w.open('[')
	for _, size := range m.SizeEstimateRangeGB {
		w.comma()
		w.number(size)
	}
	w.close(']')
}

// tableMetrics writes the collection metrics of a batch or transaction.
func (w *writer) tableMetrics(tables []emulator.TableItemCollectionMetrics) {
	if tables == nil {
		return
	}
	w.member("ItemCollectionMetrics")
	w.open('{')
	for _, t := range tables {
		w.key(t.TableName)
		objects(w, t.Metrics, collectionMetrics)
	}
	w.close('}')
}
