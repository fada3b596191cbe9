package migrate

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Stamp is the index key that a new row carries, and by which view.
type Stamp struct {
	Owner      string
	Attribute  string // of the index's partition key
	Key        string
	Generation int64
	mark       int64
}

// Stamp is the key for a new row of owner. Put it into the row, write the row,
// then call Confirm before the write is acknowledged to anybody. The error wraps
// shard.ErrOwner, ErrUnknownPhase, or ErrStale, which alone is worth a retry.
func (w *Watcher) Stamp(ctx context.Context, owner string) (Stamp, error) {
	l, err := w.current(ctx)
	if err != nil {
		return Stamp{}, err
	}
	return w.stampBy(l, owner)
}

func (w *Watcher) stampBy(l look, owner string) (Stamp, error) {
	routing := l.routing(w.spec)
	if l.found && !l.record.Phase.Known() {
		return Stamp{}, fmt.Errorf("%w: %q", ErrUnknownPhase, l.record.Phase)
	}
	if err := routing.Write.CheckOwner(owner); err != nil {
		return Stamp{}, err
	}
	return Stamp{
		Owner: owner, Attribute: routing.Write.PartitionKey, Key: routing.Key(owner),
		Generation: routing.Generation, mark: l.mark,
	}, nil
}

// repairsMax bounds how often one row is stamped again because phases kept
// changing under it.
const repairsMax = 16

// Confirm takes the second look at the bound, once the row's write was answered:
// a row that was stamped by a view that no longer held is stamped again. key is
// the row's base primary key. It returns the stamp that the row now has. An
// error wraps ErrStale or is the table's: the row is written and not
// acknowledged; call Confirm again.
func (w *Watcher) Confirm(ctx context.Context, s Stamp, key Item) (Stamp, error) {
	for range repairsMax {
		if w.confirms(s.mark) {
			return s, nil
		}
		l, err := w.refresh(ctx, time.Now())
		if err != nil {
			return s, err
		}
		want, err := w.stampBy(l, s.Owner)
		if err != nil {
			return s, err
		}
		if want.Key == s.Key {
			return want, nil
		}
		if err := w.restamp(ctx, s, want, key); err != nil {
			return s, err
		}
		s = want
	}
	return s, fmt.Errorf("%w: the phase changed %d times under one write", ErrStale, repairsMax)
}

// restamp changes the key of a row that nobody was told of yet. A row that is
// gone, or that somebody else has stamped since, is left alone.
func (w *Watcher) restamp(ctx context.Context, have, want Stamp, key Item) error {
	_, err := w.client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: &w.spec.Table, Key: key,
		UpdateExpression:          new("SET #k = :want"),
		ConditionExpression:       new("attribute_exists(#b) AND #o = :o AND #k = :have"),
		ExpressionAttributeNames:  map[string]string{"#k": have.Attribute, "#b": w.spec.Key[0], "#o": w.spec.Owner},
		ExpressionAttributeValues: Item{":want": str(want.Key), ":have": str(have.Key), ":o": str(have.Owner)},
	})
	var failed *types.ConditionalCheckFailedException
	if err != nil && !errors.As(err, &failed) {
		return fmt.Errorf("stamp a row of %q with %q: %w", have.Owner, want.Key, err)
	}
	return nil
}
