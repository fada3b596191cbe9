package emulator

import "github.com/hotsplit/hotsplit/emulator/expr"

func (in *GetItemInput) check(exprs *expr.Cache) (*expr.Projection, error) {
	var c constraints
	c.tableName(in.TableName)
	c.required(!in.Key.IsNil(), "key")
	c.returnConsumedCapacity(in.ReturnConsumedCapacity)
	if err := first(c.err(), in.Legacy.refuse(named("ProjectionExpression", in.ProjectionExpression)...)); err != nil {
		return nil, err
	}
	projection, err := bindProjection(exprs, in.Expressions.Names, in.ProjectionExpression)
	return projection, first(err, valueError(in.Key.Err()))
}

// writeMembers are the members that all single writes share.
type writeMembers struct {
	table                                      *string
	path                                       string // of the item or key
	present                                    bool
	returnValues, capacity, metrics, onFailure string
}

// write checks what single writes share. Without an item or key the service lists
// all that is wrong, one by one; else it stops at a table name that is wrong in
// itself.
func (c *constraints) write(m writeMembers) {
	if !m.present {
		c.returnConsumedCapacity(m.capacity)
		c.olderTableName(m.table)
		c.returnItemCollectionMetrics(m.metrics)
		c.returnValues(m.returnValues)
		c.required(false, m.path)
		c.returnOnFailure(m.onFailure)
		return
	}
	if c.tableName(m.table); len(c.found) > 0 {
		return
	}
	c.returnConsumedCapacity(m.capacity)
	c.returnItemCollectionMetrics(m.metrics)
	c.returnOnFailure(m.onFailure)
	c.returnValues(m.returnValues)
}

// olderTableName is tableName in the wording that repeats the value.
func (c *constraints) olderTableName(name *string) {
	if name != nil && *name == "" {
		c.violated("''", "tableName", "Member must have length greater than or equal to 1")
		return
	}
	c.tableName(name)
}

func (in *PutItemInput) check(exprs *expr.Cache) (*expr.Condition, error) {
	var c constraints
	c.write(writeMembers{
		in.TableName, "item", !in.Item.IsNil(),
		in.ReturnValues, in.ReturnConsumedCapacity, in.ReturnItemCollectionMetrics, in.ReturnValuesOnConditionCheckFailure,
	})
	if err := c.err(); err != nil {
		return nil, err
	}
	legacy := in.Legacy.refuse(named("ConditionExpression", in.ConditionExpression)...)
	if err := first(legacy, checkWrite(in.Item.Err(), in.ReturnValues)); err != nil {
		return nil, in.Expressions.enveloped(in.Item, err)
	}
	_, condition, err := in.Expressions.bindWrite(exprs, nil, in.ConditionExpression, false)
	return condition, in.Expressions.enveloped(in.Item, err)
}

// checkWrite checks the item or key of a put or delete and what it is to answer
// with. A value that nests too deep comes last.
func checkWrite(invalidItem error, returnValues string) error {
	if !isDeep(invalidItem) {
		return first(valueError(invalidItem), checkReturnValues(returnValues))
	}
	return first(checkReturnValues(returnValues), valueError(invalidItem))
}

func checkReturnValues(v string) error {
	if v != "" && v != "NONE" && v != "ALL_OLD" {
		return invalid("ReturnValues can only be ALL_OLD or NONE")
	}
	return nil
}

func (in *DeleteItemInput) check(exprs *expr.Cache) (*expr.Condition, error) {
	var c constraints
	c.write(writeMembers{
		in.TableName, "key", !in.Key.IsNil(),
		in.ReturnValues, in.ReturnConsumedCapacity, in.ReturnItemCollectionMetrics, in.ReturnValuesOnConditionCheckFailure,
	})
	if err := c.err(); err != nil {
		return nil, err
	}
	legacy := in.Legacy.refuse(named("ConditionExpression", in.ConditionExpression)...)
	if err := first(legacy, checkWrite(in.Key.Err(), in.ReturnValues)); err != nil {
		return nil, in.Expressions.enveloped(in.Key, err)
	}
	_, condition, err := in.Expressions.bindWrite(exprs, nil, in.ConditionExpression, false)
	return condition, in.Expressions.enveloped(in.Key, err)
}

func (in *UpdateItemInput) check(exprs *expr.Cache) (*expr.Update, *expr.Condition, error) {
	var c constraints
	c.write(writeMembers{
		in.TableName, "key", !in.Key.IsNil(),
		in.ReturnValues, in.ReturnConsumedCapacity, in.ReturnItemCollectionMetrics, in.ReturnValuesOnConditionCheckFailure,
	})
	if !in.Key.IsNil() && len(c.found) > 1 {
		c.found = c.found[len(c.found)-1:] // the service names one here, ReturnValues before others
	}
	if err := c.err(); err != nil {
		return nil, nil, err
	}
	legacy := in.Legacy.refuse(named("UpdateExpression", in.UpdateExpression, "ConditionExpression", in.ConditionExpression)...)
	if err := first(legacy, valueError(in.Key.Err())); err != nil {
		return nil, nil, in.Expressions.enveloped(in.Key, err)
	}
	update, condition, err := in.Expressions.bindWrite(exprs, in.UpdateExpression, in.ConditionExpression, false)
	return update, condition, in.Expressions.enveloped(in.Key, err)
}

func checkItemSize(size int) error {
	if size > itemBytesMax {
		return invalid("Item size has exceeded the maximum allowed size")
	}
	return nil
}
