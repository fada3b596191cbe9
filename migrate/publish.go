package migrate

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/hotsplit/hotsplit/fanout"
)

// movingItemsMax bounds the items of one moving set, and with them the memory of
// each member and the size of the transaction that writes them.
const movingItemsMax = 4

// publish makes rows the moving set. Members that poll from now on see it; who
// looked before does not, which is what the waits are for.
func (r *Runner) publish(ctx context.Context, rows []fanout.MovingRow) error {
	sets := r.movingSets(rows)
	mark := MovingMark{Version: r.record.Moving.Version + 1, Rows: len(rows), Items: len(sets)}
	err := r.publishSets(ctx, sets, mark)
	if !errors.Is(err, errCondition) {
		return err
	}
	now, err := r.load(ctx)
	if err != nil {
		return err
	}
	if now.Lease.Token != r.token {
		r.token = 0
		return fmt.Errorf("%w: %s", ErrLeaseLost, r.shelf.prefix)
	}
	landed := now.Moving == mark
	r.record = now
	if landed {
		return nil // our own change, whose answer was lost
	}
	return fmt.Errorf("publish moving set %d: %w", mark.Version, errConflict)
}

func (r *Runner) movingSets(rows []fanout.MovingRow) []movingSet {
	var sets []movingSet
	size := movingBytesMax
	for _, row := range rows {
		if size += bytesOf(row); size >= movingBytesMax {
			sets = append(sets, movingSet{Format: Format, Version: r.record.Moving.Version + 1, Token: r.token})
			size = bytesOf(row)
		}
		set := &sets[len(sets)-1]
		set.Rows = append(set.Rows, r.shelf.docOf(row))
	}
	return sets
}

func (r *Runner) publishSets(ctx context.Context, sets []movingSet, mark MovingMark) error {
	record := newEdit().is("moving.version", mark.Version-1).put("moving", mark).put("progress", r.progress)
	if len(sets) == 0 {
		return r.fenced(ctx, record)
	}
	if r.opts.Fence == FenceTransaction {
		return r.publishAtOnce(ctx, sets, mark, record)
	}
	for part, set := range sets {
		e := newEdit()
		token, version := e.path("token"), e.path("version")
		t := e.value(r.token)
		e.conditions = append(e.conditions, fmt.Sprintf("(attribute_not_exists(%s) OR %s < %s OR (%s = %s AND %s < %s))",
			e.name(body), token, t, token, t, version, e.value(set.Version)))
		_, err := sendEdit(ctx, r.client, r.shelf, movingName(part), e.top(body, set.encode()))
		if errors.Is(err, errCondition) && r.wrote(ctx, part, set) {
			continue
		}
		if err != nil {
			return err
		}
	}
	return r.fenced(ctx, record)
}

// wrote recognises a part that was written by a request whose answer was lost.
func (r *Runner) wrote(ctx context.Context, part int, set movingSet) bool {
	item, err := r.shelf.get(ctx, r.client, movingName(part))
	if err != nil {
		return false
	}
	there, err := decodeMoving(item)
	return err == nil && there.Token == set.Token && there.Version == set.Version && len(there.Rows) == len(set.Rows)
}

// publishAtOnce writes set and record in one transaction.
func (r *Runner) publishAtOnce(ctx context.Context, sets []movingSet, mark MovingMark, record *edit) error {
	record.is("lease.token", r.token).raise("lease.beat", 1)
	writes := []types.TransactWriteItem{record.transact(r.shelf.table, r.shelf.at(recordItem))}
	for part, set := range sets {
		writes = append(writes, newEdit().top(body, set.encode()).transact(r.shelf.table, r.shelf.at(movingName(part))))
	}
	_, err := r.client.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: writes})
	if err == nil {
		r.record.Moving = mark
		r.record.Lease.Beat++
		return nil
	}
	var canceled *types.TransactionCanceledException
	if errors.As(err, &canceled) {
		return fmt.Errorf("publish moving set %d: %w", mark.Version, reasonOf(canceled.CancellationReasons))
	}
	return fmt.Errorf("publish moving set %d: %w", mark.Version, err)
}

// reasonOf is the gravest of a transaction's reasons.
func reasonOf(reasons []types.CancellationReason) error {
	err := errConflict
	for _, reason := range reasons {
		if reason.Code == nil {
			continue
		}
		switch *reason.Code {
		case "ConditionalCheckFailed":
			return errCondition
		case "ThrottlingError", "ProvisionedThroughputExceeded", "RequestLimitExceeded":
			err = errThrottled
		case "ValidationError", "ItemCollectionSizeLimitExceeded":
			text := ""
			if reason.Message != nil {
				text = *reason.Message
			}
			return fmt.Errorf("migrate: transaction refused: %s %s", *reason.Code, text)
		}
	}
	return err
}

// takeOver reads the moving set that was found with the lease. It counts as just
// published: what is left of it is moved, seen settled, and then cleared.
func (r *Runner) takeOver(ctx context.Context, found Record) error {
	r.inherited = nil
	if found.Lease.Holder != "" {
		r.tell(ctx, Event{Kind: EventLease, Text: fmt.Sprintf("took over from %s, which fell silent", found.Lease.Holder)})
	}
	if r.record.Moving.Rows == 0 {
		return nil
	}
	rows, err := r.shelf.readMoving(ctx, r.client, r.record.Moving)
	if err != nil {
		return err
	}
	keys := make([]Item, len(rows))
	for i, row := range rows {
		keys[i] = row.Key
	}
	s := sieve{spec: r.spec, shelf: r.shelf, way: r.record.way()}
	now, err := batchGet(ctx, r.client, r.spec.Table, r.spec.Key, keys, s.wants())
	if err != nil {
		return err
	}
	for _, m := range rows {
		kept := row{key: m.Key, owner: m.Owner}
		if item, there := now[keyText(r.spec.Key, m.Key)]; there {
			if read, class := s.read(item); read != nil && class == "" {
				kept = *read
			}
		}
		r.inherited = append(r.inherited, kept)
	}
	// Written again under our token, so that no write of the runner before can
	// replace it.
	return r.publish(ctx, rows)
}
