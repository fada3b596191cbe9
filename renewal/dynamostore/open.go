package dynamostore

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/hotsplit/hotsplit/fanout"
	"github.com/hotsplit/hotsplit/renewal"
	"github.com/hotsplit/hotsplit/shard"
)

// Open writes a new saga with its index key and points its lease at it, or
// answers with the saga that has this id. It is acknowledged only when readers
// under the present routing can see it.
func (s *Store) Open(ctx context.Context, saga renewal.Saga) (renewal.Saga, error) {
	saga, err := saga.Opening(s.now())
	if err != nil {
		return renewal.Saga{}, err
	}
	opened, err := s.write(ctx, saga)
	if err != nil {
		return renewal.Saga{}, fault("open saga "+saga.ID, err)
	}
	if opened.PersonID != saga.PersonID || opened.LeaseID != saga.LeaseID {
		return renewal.Saga{}, fault("open saga "+saga.ID, &renewal.ConflictError{Saga: opened, Why: "the id is another lease's"})
	}
	if err := s.point(ctx, opened); err != nil {
		return renewal.Saga{}, fault("point lease "+saga.LeaseID+" at saga "+saga.ID, err)
	}
	return opened, nil
}

// write puts the row, or finds the one that is there.
func (s *Store) write(ctx context.Context, saga renewal.Saga) (renewal.Saga, error) {
	item, err := s.newItem(ctx, saga)
	if err != nil {
		return renewal.Saga{}, err
	}
	var there fanout.Item
	err = s.routing.Stamped(ctx, saga.PersonID, sagaKey(saga.ID), func(attribute, key string) error {
		item[attribute] = text(key)
		there, err = s.put(ctx, item, attribute)
		if there != nil && textOf(there[attribute]) != key {
			return errStampedBefore
		}
		// A row with this very stamp is our own, of an attempt whose answer was
		// lost, or as good: its stamp is confirmed like that of a new one.
		return err
	})
	switch {
	case errors.Is(err, errStampedBefore):
		return s.adopt(ctx, there)
	case err != nil || there == nil:
		return saga, err
	default:
		return decode(there)
	}
}

// errStampedBefore carries the news out of a stamped write that the row was
// there with another stamp than the one that would be confirmed.
var errStampedBefore = errors.New("saga was stamped before")

func (s *Store) newItem(ctx context.Context, saga renewal.Saga) (fanout.Item, error) {
	item, err := attributevalue.MarshalMap(rowOf(saga))
	if err != nil {
		return nil, fmt.Errorf("encode: %w", err)
	}
	view, err := s.routing.View(ctx)
	if err != nil {
		return nil, err
	}
	// Layouts of a move in place share the sort key, so any view spells it right.
	key, err := view.Routing.Write.SortKeyOf(saga.PersonID, saga.OpenedAt)
	if err != nil {
		return nil, err
	}
	item[view.Routing.Write.SortKey] = text(key)
	maps.Copy(item, sagaKey(saga.ID))
	return item, nil
}

// put writes a row that is new. there is the row that was in its place.
func (s *Store) put(ctx context.Context, item fanout.Item, partitionKey string) (there fanout.Item, err error) {
	out, err := s.client.PutItem(ctx, &dynamodb.PutItemInput{
		TableName: &s.table, Item: item,
		ConditionExpression:                 new("attribute_not_exists(" + partitionAttribute + ")"),
		ReturnConsumedCapacity:              types.ReturnConsumedCapacityIndexes,
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	})
	if failed, refused := refusal(err); refused {
		return failed.Item, nil
	}
	if err != nil {
		return nil, err
	}
	s.wrote(item, partitionKey, out.ConsumedCapacity)
	return nil, nil
}

// adopt answers with a row that was written before. One that no reader of the
// present routing would ask for, because its writer stopped between the write
// and its confirmation, is stamped anew; nobody can be reading it. Every other
// one is left to the runner and the guard.
func (s *Store) adopt(ctx context.Context, item fanout.Item) (renewal.Saga, error) {
	if !isSaga(item) {
		return renewal.Saga{}, fmt.Errorf("%s is not a saga", textOf(item[partitionAttribute]))
	}
	saga, err := decode(item)
	if err != nil {
		return renewal.Saga{}, err
	}
	view, err := s.routing.View(ctx)
	if err != nil {
		return renewal.Saga{}, err
	}
	if seen(view.Routing, item) {
		return saga, nil
	}
	err = s.routing.Stamped(ctx, saga.PersonID, sagaKey(saga.ID), func(attribute, key string) error {
		return s.restamp(ctx, item, attribute, key)
	})
	return saga, err
}

func seen(r shard.Routing, item fanout.Item) bool {
	owner := textOf(item[ownerAttribute])
	for _, l := range r.Read {
		if textOf(item[l.PartitionKey]) == l.Key(owner) {
			return true
		}
	}
	return false
}

func (s *Store) restamp(ctx context.Context, item fanout.Item, attribute, key string) error {
	condition, values := "attribute_not_exists(#k)", fanout.Item{":want": text(key), ":owner": item[ownerAttribute]}
	if have := item[attribute]; have != nil {
		condition, values[":have"] = "#k = :have", have
	}
	_, err := s.client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: &s.table, Key: fanout.Item{partitionAttribute: item[partitionAttribute], sortAttribute: item[sortAttribute]},
		UpdateExpression:          new("SET #k = :want"),
		ConditionExpression:       new("#o = :owner AND " + condition),
		ExpressionAttributeNames:  map[string]string{"#k": attribute, "#o": ownerAttribute},
		ExpressionAttributeValues: values,
	})
	if _, refused := refusal(err); refused {
		return nil // another hand stamped it meanwhile, by a routing that is as new
	}
	return err
}

// point makes the saga its lease's newest, unless a newer one is.
func (s *Store) point(ctx context.Context, saga renewal.Saga) error {
	_, err := s.client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: &s.table, Key: pointerKey(saga.LeaseID),
		UpdateExpression:         new("SET sagaId = :id, openedAt = :opened, #e = :entity"),
		ConditionExpression:      new("attribute_not_exists(openedAt) OR openedAt <= :opened"),
		ExpressionAttributeNames: map[string]string{"#e": entityAttribute},
		ExpressionAttributeValues: fanout.Item{
			":id": text(saga.ID), ":opened": text(moment(saga.OpenedAt)), ":entity": text(pointerEntity),
		},
	})
	if _, refused := refusal(err); refused {
		return nil
	}
	return err
}
