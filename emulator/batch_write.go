package emulator

import (
	"context"
	"slices"

	"github.com/hotsplit/hotsplit/emulator/attr"
)

// BatchWriteItem puts and deletes up to 25 items, each on its own.
func (db *DB) BatchWriteItem(ctx context.Context, in *BatchWriteItemInput) (*BatchWriteItemOutput, error) {
	c := db.begin(ctx, "BatchWriteItem")
	out, err := c.batchWrite(in)
	return answer(c, out, err)
}

// tableMutations are the checked writes of one table of a batch.
type tableMutations struct {
	*TableWrites
	t         *table
	mutations []*mutation
}

func (c *call) batchWrite(in *BatchWriteItemInput) (*BatchWriteItemOutput, error) {
	if err := in.check(); err != nil {
		return nil, err
	}
	writes := make([]tableMutations, len(in.RequestItems))
	for i := range in.RequestItems {
		var err error
		if writes[i], err = c.mutations(&in.RequestItems[i]); err != nil {
			return nil, err
		}
	}
	out := &BatchWriteItemOutput{}
	served := 0
	var throttle error
	for _, w := range writes {
		if err := c.suffer(w.t, "", w.faultKeys); err != nil {
			return nil, err
		}
		n, err := c.batchWriteTable(w, in, out)
		served += n
		throttle = first(throttle, err)
	}
	if served == 0 && throttle != nil {
		return nil, c.throttledRequest(writes[0].t, throttle)
	}
	return out, nil
}

func (w tableMutations) faultKeys() []string {
	var keys []string
	for _, m := range w.mutations {
		keys = append(keys, m.faultKeys()...)
	}
	return keys
}

func (in *BatchWriteItemInput) check() error {
	var c constraints
	c.returnConsumedCapacity(in.ReturnConsumedCapacity)
	c.returnItemCollectionMetrics(in.ReturnItemCollectionMetrics)
	c.required(in.RequestItems != nil, "requestItems")
	if err := c.err(); err != nil {
		return err
	}
	if len(in.RequestItems) == 0 {
		c.unnamed("RequestItems", "Member must have length greater than or equal to 1")
	}
	if slices.ContainsFunc(in.RequestItems, func(w TableWrites) bool { return !isMapName(w.TableName) }) {
		c.violated("'"+in.spell()+"'", "requestItems", mapNameConstraint)
	}
	if slices.ContainsFunc(in.RequestItems, func(w TableWrites) bool { return len(w.Requests) == 0 || len(w.Requests) > batchWriteMax }) {
		c.violated("'"+in.spell()+"'", "requestItems", mapWritesConstraint)
	}
	return first(c.err(), in.checkRequests())
}

func (in *BatchWriteItemInput) checkRequests() error {
	total := 0
	for i := range in.RequestItems {
		for _, r := range in.RequestItems[i].Requests {
			if err := r.check(); err != nil {
				return err
			}
		}
		if total += len(in.RequestItems[i].Requests); total > batchWriteMax {
			return invalid("Too many items requested for the BatchWriteItem call")
		}
	}
	return nil
}

func (r WriteRequest) check() error {
	switch {
	case r.PutRequest != nil && r.DeleteRequest != nil:
		return invalid("Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported datatypes")
	case r.PutRequest != nil:
		if r.PutRequest.Item.IsNil() {
			return invalid("1 validation error detected: Value null at 'requestItems.member.member.putRequest.item' failed to satisfy constraint: Member must not be null")
		}
		return olderValueError(r.PutRequest.Item.Err())
	case r.DeleteRequest != nil:
		if r.DeleteRequest.Key.IsNil() {
			return invalid("1 validation error detected: Value null at 'requestItems.member.member.deleteRequest.key' failed to satisfy constraint: Member must not be null")
		}
		return olderValueError(r.DeleteRequest.Key.Err())
	}
	return invalid("Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported datatypes")
}

func (c *call) mutations(w *TableWrites) (tableMutations, error) {
	out := tableMutations{TableWrites: w}
	t, err := c.table(&w.TableName)
	if err != nil {
		return out, err
	}
	out.t = t
	seen := make(map[string]bool, len(w.Requests))
	for _, r := range w.Requests {
		m, err := t.newBatched(r)
		if err != nil {
			return out, err
		}
		if err := checkItemSize(m.item.Size()); err != nil {
			return out, err
		}
		if seen[m.treeKey] {
			return out, invalid(duplicateKeysText)
		}
		seen[m.treeKey] = true
		out.mutations = append(out.mutations, m)
	}
	return out, nil
}

func (t *table) newBatched(r WriteRequest) (*mutation, error) {
	if r.PutRequest != nil {
		return t.newBatchedPut(r.PutRequest.Item)
	}
	key := r.DeleteRequest.Key
	if err := t.checkKey(key); err != nil {
		return nil, err
	}
	return &mutation{t: t, verb: verbDelete, key: key, treeKey: t.treeKey(key)}, nil
}

// newBatchedPut checks an item as newPut does, but reports a key that is missing or
// of a wrong type as batches do.
func (t *table) newBatchedPut(item attr.Item) (*mutation, error) {
	for _, a := range t.schema.attrs() {
		if item.Get(a.name).Kind() != a.kind {
			return nil, keyMismatch()
		}
	}
	return t.newPut(item)
}

// batchWriteTable carries out the writes of one table. What is throttled stays
// unprocessed.
func (c *call) batchWriteTable(w tableMutations, in *BatchWriteItemInput, out *BatchWriteItemOutput) (served int, throttle error) {
	b := bill{named: w.TableName, level: in.ReturnConsumedCapacity}
	var left []WriteRequest
	var metrics []ItemCollectionMetrics
	skip := c.leave(len(w.mutations))
	for i, m := range w.mutations {
		if i >= len(w.mutations)-skip {
			left = append(left, w.Requests[i])
			continue
		}
		if err := c.writeBatched(m, &b); err != nil {
			throttle = first(throttle, err)
			left = append(left, w.Requests[i])
			continue
		}
		served++
		if in.ReturnItemCollectionMetrics == "SIZE" && len(w.t.local) > 0 {
			metrics = append(metrics, w.t.collectionMetrics(m.key))
		}
	}
	if len(left) > 0 {
		out.UnprocessedItems = append(out.UnprocessedItems, TableWrites{TableName: w.TableName, Requests: left})
	}
	if metrics != nil {
		out.ItemCollectionMetrics = append(out.ItemCollectionMetrics, TableItemCollectionMetrics{w.TableName, metrics})
	}
	if cc := b.consumed(false); cc != nil {
		out.ConsumedCapacity = append(out.ConsumedCapacity, *cc)
	}
	return served, throttle
}

func (c *call) writeBatched(m *mutation, b *bill) error {
	m.t.mu.Lock()
	defer m.t.mu.Unlock()
	e, err := m.decide()
	if err != nil {
		return err
	}
	var buf [6]cost
	costs := e.costs(buf[:0], 1, 1)
	if err := c.admit(m.t, costs); err != nil {
		return err
	}
	b.add(costs)
	e.commit(c)
	return nil
}
