package emulator

import (
	"fmt"
	"strings"
)

func (in *TransactWriteItemsInput) check() error {
	var c constraints
	c.returnConsumedCapacity(in.ReturnConsumedCapacity)
	c.returnItemCollectionMetrics(in.ReturnItemCollectionMetrics)
	if t := in.ClientRequestToken; t != nil && len(*t) > clientTokenBytes {
		c.found = nil
		c.unnamed("ClientRequestToken", "Member must have length less than or equal to 36")
		return c.err()
	}
	c.transactItems(in.TransactItems != nil, len(in.TransactItems))
	if err := c.err(); err != nil {
		return err
	}
	for i := range in.TransactItems {
		item := &in.TransactItems[i]
		if item.actions() != 1 {
			return invalid("TransactItems can only contain one of Check, Put, Update or Delete")
		}
		v, a := item.action()
		c.action(v, a, fmt.Sprintf("transactItems.%d.member.", i+1))
	}
	return c.err()
}

func (c *constraints) transactItems(present bool, n int) {
	switch {
	case !c.required(present, "transactItems"):
	case n == 0:
		c.violated("'[]'", "transactItems", "Member must have length greater than or equal to 1")
	case n > transactItemsMax:
		c.violated("'["+strings.TrimSuffix(strings.Repeat("TransactItem, ", n), ", ")+"]'", "transactItems", "Member must have length less than or equal to 100")
	}
}

var verbMembers = [...]string{verbPut: "put.", verbUpdate: "update.", verbDelete: "delete.", verbCheck: "conditionCheck."}

func (c *constraints) action(v verb, a *TransactAction, path string) {
	path += verbMembers[v]
	switch {
	case !c.required(a.TableName != nil, path+"tableName"):
	case *a.TableName == "":
		c.unnamed(path+"tableName", "Member must have length greater than or equal to 1")
	case !strings.HasPrefix(*a.TableName, "arn:"):
		c.nameText(*a.TableName, path+"tableName")
	}
	if v == verbPut {
		c.required(!a.Item.IsNil(), path+"item")
	} else {
		c.required(!a.Key.IsNil(), path+"key")
	}
	if v == verbUpdate {
		c.required(a.UpdateExpression != nil, path+"updateExpression")
	}
	if v == verbCheck {
		c.required(a.ConditionExpression != nil, path+"conditionExpression")
	}
	c.enum(a.ReturnValuesOnConditionCheckFailure, path+"returnValuesOnConditionCheckFailure", "ALL_OLD", "NONE")
}
