package migrate

import (
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// edit is a conditional change of single fields of an item's body. Whole items
// are not put over existing ones: a field that this release does not know stays.
type edit struct {
	set        []string
	conditions []string
	names      map[string]string
	values     map[string]types.AttributeValue
	err        error
}

func newEdit() *edit {
	return &edit{names: map[string]string{}, values: map[string]types.AttributeValue{}}
}

// path spells a field of the body, e.g. "lease.token", in placeholders.
func (e *edit) path(field string) string {
	words := append([]string{body}, strings.Split(field, ".")...)
	for i, w := range words {
		words[i] = e.name(w)
	}
	return strings.Join(words, ".")
}

func (e *edit) name(attribute string) string {
	for placeholder, known := range e.names {
		if known == attribute {
			return placeholder
		}
	}
	placeholder := fmt.Sprintf("#n%d", len(e.names))
	e.names[placeholder] = attribute
	return placeholder
}

func (e *edit) value(v any) string {
	av, ok := v.(types.AttributeValue)
	if !ok {
		var err error
		if av, err = attributevalue.MarshalWithOptions(v, byJSON); err != nil {
			e.err = err
		}
	}
	placeholder := fmt.Sprintf(":v%d", len(e.values))
	e.values[placeholder] = av
	return placeholder
}

// put sets a field of the body.
func (e *edit) put(field string, v any) *edit {
	e.set = append(e.set, e.path(field)+" = "+e.value(v))
	return e
}

// raise adds n to a number of the body.
func (e *edit) raise(field string, n int64) *edit {
	p := e.path(field)
	e.set = append(e.set, p+" = "+p+" + "+e.value(n))
	return e
}

// top sets an attribute beside the body.
func (e *edit) top(attribute string, v types.AttributeValue) *edit {
	e.set = append(e.set, e.name(attribute)+" = "+e.value(v))
	return e
}

// is requires that a field of the body equals v.
func (e *edit) is(field string, v any) *edit {
	e.conditions = append(e.conditions, e.path(field)+" = "+e.value(v))
	return e
}

// exists requires that the item is there.
func (e *edit) exists() *edit {
	e.conditions = append(e.conditions, "attribute_exists("+e.name(body)+")")
	return e
}

// absent requires that the item is not there.
func (e *edit) absent() *edit {
	e.conditions = append(e.conditions, "attribute_not_exists("+e.name(body)+")")
	return e
}

func (e *edit) update() *string { return new("SET " + strings.Join(e.set, ", ")) }

func (e *edit) condition() *string {
	if len(e.conditions) == 0 {
		return nil
	}
	return new(strings.Join(e.conditions, " AND "))
}

// boundValues is nil where the edit has none: the service refuses an empty map.
func (e *edit) boundValues() map[string]types.AttributeValue {
	if len(e.values) == 0 {
		return nil
	}
	return e.values
}

func (e *edit) input(table string, key Item) *dynamodb.UpdateItemInput {
	return &dynamodb.UpdateItemInput{
		TableName: &table, Key: key,
		UpdateExpression: e.update(), ConditionExpression: e.condition(),
		ExpressionAttributeNames: e.names, ExpressionAttributeValues: e.boundValues(),
		ReturnValues: types.ReturnValueAllNew,
	}
}

func (e *edit) transact(table string, key Item) types.TransactWriteItem {
	return types.TransactWriteItem{Update: &types.Update{
		TableName: &table, Key: key,
		UpdateExpression: e.update(), ConditionExpression: e.condition(),
		ExpressionAttributeNames: e.names, ExpressionAttributeValues: e.boundValues(),
	}}
}

func (e *edit) check(table string, key Item) types.TransactWriteItem {
	return types.TransactWriteItem{ConditionCheck: &types.ConditionCheck{
		TableName: &table, Key: key, ConditionExpression: e.condition(),
		ExpressionAttributeNames: e.names, ExpressionAttributeValues: e.boundValues(),
	}}
}
