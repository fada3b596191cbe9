package dynamostore

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/hotsplit/hotsplit/fanout"
	"github.com/hotsplit/hotsplit/renewal"
)

// decisionsMax bounds how often one change is decided again because other hands
// were first.
const decisionsMax = 16

// Transition makes a change in one conditional write.
func (s *Store) Transition(ctx context.Context, id string, c renewal.Change) (renewal.Saga, error) {
	return s.change(ctx, "change saga "+id, id, func(saga renewal.Saga) (renewal.Saga, bool, error) {
		return saga.Apply(c, s.now())
	})
}

// Archive takes an ended saga off the list, once.
func (s *Store) Archive(ctx context.Context, id string) (renewal.Saga, error) {
	return s.change(ctx, "archive saga "+id, id, func(saga renewal.Saga) (renewal.Saga, bool, error) {
		return saga.Archive(s.now())
	})
}

// change reads the row, decides and writes what was decided while the row has
// the version that the decision was taken on.
func (s *Store) change(ctx context.Context, what, id string, decide func(renewal.Saga) (renewal.Saga, bool, error)) (renewal.Saga, error) {
	item, err := s.item(ctx, id)
	if err != nil {
		return renewal.Saga{}, err
	}
	for range decisionsMax {
		before, err := decode(item)
		if err != nil {
			return renewal.Saga{}, fault(what, err)
		}
		after, applied, err := decide(before)
		if err != nil || !applied {
			return after, fault(what, err)
		}
		item, err = s.update(ctx, item, before, after)
		if err != nil {
			return renewal.Saga{}, fault(what, err)
		}
		if item == nil {
			return after, nil
		}
	}
	return renewal.Saga{}, fault(what, fmt.Errorf("%w: other hands were first %d times", renewal.ErrUnavailable, decisionsMax))
}

// update writes the fields that changed. now is nil when that was done, and the
// row as it stands when its version had moved on.
func (s *Store) update(ctx context.Context, item fanout.Item, before, after renewal.Saga) (now fanout.Item, err error) {
	in, err := s.updateInput(before, after)
	if err != nil {
		return nil, err
	}
	out, err := s.client.UpdateItem(ctx, in)
	if failed, refused := refusal(err); refused {
		if !isSaga(failed.Item) {
			return nil, renewal.ErrNotFound
		}
		return failed.Item, nil
	}
	if err != nil {
		return nil, err
	}
	s.updated(ctx, item, out.ConsumedCapacity)
	return nil, nil
}

func (s *Store) updated(ctx context.Context, item fanout.Item, consumed *types.ConsumedCapacity) {
	if view, err := s.routing.View(ctx); err == nil {
		s.wrote(item, view.Routing.Write.PartitionKey, consumed)
	}
}

func (s *Store) updateInput(before, after renewal.Saga) (*dynamodb.UpdateItemInput, error) {
	old, err := attributevalue.MarshalMap(changingOf(before))
	if err != nil {
		return nil, fmt.Errorf("encode: %w", err)
	}
	fields, err := attributevalue.MarshalMap(changingOf(after))
	if err != nil {
		return nil, fmt.Errorf("encode: %w", err)
	}
	// An older program's row may lack attributes that read as their zero value,
	// so the version alone, which always changes, is left to the comparison.
	maps.DeleteFunc(fields, func(name string, value types.AttributeValue) bool { return same(old[name], value) })
	names := map[string]string{"#entity": entityAttribute, "#version": "version"}
	values := fanout.Item{":saga": text(sagaEntity)}
	var sets []string
	for i, name := range slices.Sorted(maps.Keys(fields)) {
		names[fmt.Sprint("#f", i)], values[fmt.Sprint(":f", i)] = name, fields[name]
		sets = append(sets, fmt.Sprintf("#f%d = :f%d", i, i))
	}
	condition := "#entity = :saga AND attribute_not_exists(#version)"
	if before.Version != 0 {
		condition, values[":version"] = "#entity = :saga AND #version = :version", old["version"]
	}
	return &dynamodb.UpdateItemInput{
		TableName: &s.table, Key: sagaKey(before.ID),
		UpdateExpression:                    new("SET " + strings.Join(sets, ", ")),
		ConditionExpression:                 &condition,
		ExpressionAttributeNames:            names,
		ExpressionAttributeValues:           values,
		ReturnConsumedCapacity:              types.ReturnConsumedCapacityIndexes,
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}, nil
}

// same compares scalars; the timeline always differs.
func same(a, b types.AttributeValue) bool {
	switch a := a.(type) {
	case *types.AttributeValueMemberS:
		b, ok := b.(*types.AttributeValueMemberS)
		return ok && a.Value == b.Value
	case *types.AttributeValueMemberN:
		b, ok := b.(*types.AttributeValueMemberN)
		return ok && a.Value == b.Value
	case *types.AttributeValueMemberBOOL:
		b, ok := b.(*types.AttributeValueMemberBOOL)
		return ok && a.Value == b.Value
	default:
		return false
	}
}
