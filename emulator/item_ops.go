package emulator

import (
	"context"

	"github.com/hotsplit/hotsplit/emulator/attr"
	"github.com/hotsplit/hotsplit/emulator/expr"
)

// GetItem reads one item.
func (db *DB) GetItem(ctx context.Context, in *GetItemInput) (*GetItemOutput, error) {
	c := db.begin(ctx, "GetItem")
	out, err := c.getItem(in)
	return answer(c, out, err)
}

func (c *call) getItem(in *GetItemInput) (*GetItemOutput, error) {
	projection, err := in.check(&c.db.exprs)
	if err != nil {
		return nil, err
	}
	t, err := c.table(in.TableName)
	if err != nil {
		return nil, err
	}
	l := lookup{t: t, key: in.Key, projection: projection, level: consistency(in.ConsistentRead)}
	if err := t.checkKey(in.Key); err != nil {
		return nil, err
	}
	if err := t.checkProjectionPaths(projection); err != nil {
		return nil, err
	}
	if err := c.suffer(t, "", l.faultKeys); err != nil {
		return nil, err
	}
	l.treeKey = t.treeKey(in.Key)
	item := l.find()
	costs := [1]cost{l.cost(item)}
	if err := c.admit(t, costs[:]); err != nil {
		return nil, c.throttledRequest(t, err)
	}
	out := &GetItemOutput{Item: l.show(item)}
	if in.ReturnConsumedCapacity != "" {
		b := bill{named: *in.TableName, level: in.ReturnConsumedCapacity}
		b.add(costs[:])
		out.ConsumedCapacity = b.consumed(false)
	}
	return out, nil
}

// PutItem creates or replaces one item.
func (db *DB) PutItem(ctx context.Context, in *PutItemInput) (*PutItemOutput, error) {
	c := db.begin(ctx, "PutItem")
	out, err := c.putItem(in)
	return answer(c, out, err)
}

func (c *call) putItem(in *PutItemInput) (*PutItemOutput, error) {
	condition, err := in.check(&c.db.exprs)
	if err != nil {
		return nil, err
	}
	t, err := c.table(in.TableName)
	if err != nil {
		return nil, err
	}
	m, err := t.newPut(in.Item)
	if err := first(err, checkItemSize(in.Item.Size())); err != nil {
		return nil, err
	}
	if err := t.checkConditionPaths(condition); err != nil {
		return nil, err
	}
	m.condition, m.showOld = condition, in.ReturnValuesOnConditionCheckFailure == "ALL_OLD"
	b := bill{named: *in.TableName, level: in.ReturnConsumedCapacity}
	e, err := c.write(m, &b)
	if err != nil {
		return nil, err
	}
	out := t.writeOutput(&b, m.key, in.ReturnItemCollectionMetrics)
	if in.ReturnValues == "ALL_OLD" {
		out.Attributes = e.old
	}
	return out, nil
}

// DeleteItem removes one item.
func (db *DB) DeleteItem(ctx context.Context, in *DeleteItemInput) (*DeleteItemOutput, error) {
	c := db.begin(ctx, "DeleteItem")
	out, err := c.deleteItem(in)
	return answer(c, out, err)
}

func (c *call) deleteItem(in *DeleteItemInput) (*DeleteItemOutput, error) {
	condition, err := in.check(&c.db.exprs)
	if err != nil {
		return nil, err
	}
	t, err := c.table(in.TableName)
	if err != nil {
		return nil, err
	}
	m, err := t.newKeyed(verbDelete, in.Key)
	if err != nil {
		return nil, err
	}
	if err := t.checkConditionPaths(condition); err != nil {
		return nil, err
	}
	m.condition, m.showOld = condition, in.ReturnValuesOnConditionCheckFailure == "ALL_OLD"
	b := bill{named: *in.TableName, level: in.ReturnConsumedCapacity}
	e, err := c.write(m, &b)
	if err != nil {
		return nil, err
	}
	out := t.writeOutput(&b, m.key, in.ReturnItemCollectionMetrics)
	if in.ReturnValues == "ALL_OLD" {
		out.Attributes = e.old
	}
	return out, nil
}

// UpdateItem changes one item, creating it if absent.
func (db *DB) UpdateItem(ctx context.Context, in *UpdateItemInput) (*UpdateItemOutput, error) {
	c := db.begin(ctx, "UpdateItem")
	out, err := c.updateItem(in)
	return answer(c, out, err)
}

func (c *call) updateItem(in *UpdateItemInput) (*UpdateItemOutput, error) {
	update, condition, err := in.check(&c.db.exprs)
	if err != nil {
		return nil, err
	}
	t, err := c.table(in.TableName)
	if err != nil {
		return nil, err
	}
	m, err := t.newUpdate(in.Key, update)
	if err != nil {
		return nil, err
	}
	if update != nil && update.Charge() > itemBytesMax {
		return nil, invalid(messageUpdateSize)
	}
	if err := t.checkConditionPaths(condition); err != nil {
		return nil, err
	}
	m.condition, m.showOld = condition, in.ReturnValuesOnConditionCheckFailure == "ALL_OLD"
	b := bill{named: *in.TableName, level: in.ReturnConsumedCapacity}
	e, err := c.write(m, &b)
	if err != nil {
		return nil, err
	}
	out := t.writeOutput(&b, m.key, in.ReturnItemCollectionMetrics)
	out.Attributes = returned(in.ReturnValues, update, e)
	return out, nil
}

// returned is the part of an updated item that was asked for; empty parts are not
// shown at all.
func returned(want string, update *expr.Update, e effect) attr.Item {
	var oldPart, newPart attr.Item
	if update != nil && (want == "UPDATED_OLD" || want == "UPDATED_NEW") {
		oldPart, newPart = update.Changed(e.old, e.new)
	}
	var shown attr.Item
	switch want {
	case "ALL_OLD":
		shown = e.old
	case "ALL_NEW":
		shown = e.new
	case "UPDATED_OLD":
		shown = oldPart
	case "UPDATED_NEW":
		shown = newPart
	}
	if shown.Len() == 0 {
		return attr.Item{}
	}
	return shown
}

func (t *table) writeOutput(b *bill, key attr.Item, metricsLevel string) *WriteOutput {
	out := &WriteOutput{ConsumedCapacity: b.consumed(false)}
	if metricsLevel == "SIZE" && len(t.local) > 0 {
		out.ItemCollectionMetrics = new(t.collectionMetrics(key))
	}
	return out
}

// table is the table that a request names, if it serves items.
func (c *call) table(name *string) (*table, error) {
	t, err := c.db.readable(*name, c.now)
	if err != nil {
		return nil, err
	}
	c.entry.Table = t.name
	return t, nil
}
