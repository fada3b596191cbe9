package migrate

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"golang.org/x/sync/errgroup"
)

// outcome is what became of one row's move.
type outcome int

const (
	outcomeNone    outcome = iota // unknown: send it again
	outcomeMoved                  // by this request
	outcomeAlready                // the row carries the new key: an answer was lost, or a batch is repeated
	outcomeGone                   // the row was deleted
	outcomeChanged                // its owner or key is another: the next pass looks again
	outcomeFailed                 // the service refuses the change for good
)

// moveResult is what became of a chunk. Rows that are not done are sent again.
type moveResult struct {
	done     []*row
	outcomes map[outcome]int
	oldUnits float64 // write units that the chunk cost on its old keys
}

func (m *moveResult) add(r *row, o outcome) {
	if o == outcomeNone {
		return
	}
	if m.outcomes == nil {
		m.outcomes = map[outcome]int{}
	}
	m.outcomes[o]++
	m.done = append(m.done, r)
}

// mover changes the index key of published rows.
type mover interface {
	// move tries every row once. Rows that are done are in the result even where
	// it returns an error.
	move(ctx context.Context, rows []*row) (moveResult, error)
}

func (r *Runner) mover() mover {
	if r.opts.Fence == FenceClock {
		return clockMover{r}
	}
	return transactionMover{r}
}

// rowEdit is the one change that a row ever sees: one attribute, and only while
// the row exists, is still its owner's, and still carries the key that was seen.
func rowEdit(s Spec, r *row, attribute string) (update, condition *string, names map[string]string, values Item) {
	return new("SET #k = :to"),
		new("attribute_exists(#b) AND #o = :o AND #k = :at"),
		map[string]string{"#k": attribute, "#b": s.Key[0], "#o": s.Owner},
		Item{":to": str(r.to), ":at": str(r.at), ":o": str(r.owner)}
}

// refusedBy tells from the row as it is why its condition failed.
func refusedBy(r *row, attribute string, now Item) outcome {
	if len(now) == 0 {
		return outcomeGone
	}
	if key, _ := textOf(now[attribute]); key == r.to {
		return outcomeAlready
	}
	return outcomeChanged
}

// transactionMover moves a chunk in one transaction that checks the record, so
// that nothing lands after a take-over or a change of phase.
type transactionMover struct{ r *Runner }

func (m transactionMover) move(ctx context.Context, rows []*row) (moveResult, error) {
	r, attribute := m.r, m.r.record.way().from.PartitionKey
	fence := newEdit().is("lease.token", r.token).is("generation", r.record.Generation)
	writes := []types.TransactWriteItem{fence.check(r.shelf.table, r.shelf.at(recordItem))}
	for _, row := range rows {
		update, condition, names, values := rowEdit(r.spec, row, attribute)
		writes = append(writes, types.TransactWriteItem{Update: &types.Update{
			TableName: &r.spec.Table, Key: row.key,
			UpdateExpression: update, ConditionExpression: condition,
			ExpressionAttributeNames: names, ExpressionAttributeValues: values,
			ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
		}})
	}
	out, err := r.client.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{
		TransactItems: writes, ReturnConsumedCapacity: types.ReturnConsumedCapacityIndexes,
	})
	var result moveResult
	var canceled *types.TransactionCanceledException
	switch {
	case err == nil:
		for _, row := range rows {
			result.add(row, outcomeMoved)
		}
		result.oldUnits = oldUnits(out.ConsumedCapacity, r.record.way().from.Index)
		return result, nil
	case errors.As(err, &canceled):
		return m.canceled(ctx, rows, attribute, canceled.CancellationReasons)
	default:
		return result, fmt.Errorf("move %d rows: %w", len(rows), err)
	}
}

// canceled sorts the rows of a transaction that did not happen. Rows that were
// not at fault are sent again.
func (m transactionMover) canceled(ctx context.Context, rows []*row, attribute string, reasons []types.CancellationReason) (moveResult, error) {
	var result moveResult
	if len(reasons) != len(rows)+1 {
		return result, fmt.Errorf("move %d rows: %w", len(rows), reasonOf(reasons))
	}
	if code(reasons[0]) == "ConditionalCheckFailed" {
		m.r.token = 0
		return result, fmt.Errorf("move %d rows: %w: %s", len(rows), ErrLeaseLost, m.r.shelf.prefix)
	}
	var passes error
	for i, row := range rows {
		switch code(reasons[i+1]) {
		case "", "None":
		case "ConditionalCheckFailed":
			o, err := m.r.whyRefused(ctx, row, attribute, reasons[i+1].Item)
			if err != nil {
				return result, err
			}
			result.add(row, o)
		case "ValidationError", "ItemCollectionSizeLimitExceeded":
			result.add(row, outcomeFailed)
		default:
			passes = reasonOf(reasons[i+1 : i+2])
		}
	}
	if code(reasons[0]) != "None" && code(reasons[0]) != "" {
		passes = reasonOf(reasons[:1])
	}
	if passes != nil && len(result.done) == 0 {
		return result, fmt.Errorf("move %d rows: %w", len(rows), passes)
	}
	return result, nil
}

func code(reason types.CancellationReason) string {
	if reason.Code == nil {
		return ""
	}
	return *reason.Code
}

// whyRefused looks at the row itself where the service did not send it along.
func (r *Runner) whyRefused(ctx context.Context, row *row, attribute string, now Item) (outcome, error) {
	if len(now) > 0 {
		return refusedBy(row, attribute, now), nil
	}
	words, names := projection(append([]string{attribute, r.spec.Owner}, r.spec.Key...))
	out, err := r.client.GetItem(ctx, &dynamodb.GetItemInput{
		TableName: &r.spec.Table, Key: row.key, ConsistentRead: new(true),
		ProjectionExpression: words, ExpressionAttributeNames: names,
	})
	if err != nil {
		return outcomeNone, fmt.Errorf("look at a row that did not move: %w", err)
	}
	return refusedBy(row, attribute, out.Item), nil
}

// oldUnits is what a move cost on the key that is left: of the index's writes,
// one half deletes there and one half puts elsewhere.
func oldUnits(consumed []types.ConsumedCapacity, index string) float64 {
	sum := 0.0
	for _, c := range consumed {
		if u := c.GlobalSecondaryIndexes[index].CapacityUnits; u != nil {
			sum += *u
		}
	}
	return sum / 2
}

// clockMover moves single rows, each sent only while the lease was confirmed
// not long ago on this host's clock.
type clockMover struct{ r *Runner }

const clockInFlight = 8

func (m clockMover) move(ctx context.Context, rows []*row) (moveResult, error) {
	if time.Since(m.r.beatAt) > m.r.record.Bounds.Lease/4 {
		if err := m.r.beat(ctx); err != nil {
			return moveResult{}, err
		}
	}
	limit := m.r.beatAt.Add(m.r.record.Bounds.Lease / 2)
	outcomes, units := make([]outcome, len(rows)), make([]float64, len(rows))
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(clockInFlight)
	for i, row := range rows {
		g.Go(func() (err error) {
			if time.Now().After(limit) {
				return nil
			}
			limited, cancel := context.WithDeadline(gctx, limit)
			defer cancel()
			outcomes[i], units[i], err = m.moveOne(limited, row)
			return err
		})
	}
	err := g.Wait()
	var result moveResult
	for i, row := range rows {
		result.add(row, outcomes[i])
		result.oldUnits += units[i]
	}
	return result, err
}

func (m clockMover) moveOne(ctx context.Context, row *row) (outcome, float64, error) {
	attribute, index := m.r.record.way().from.PartitionKey, m.r.record.way().from.Index
	update, condition, names, values := rowEdit(m.r.spec, row, attribute)
	out, err := m.r.client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: &m.r.spec.Table, Key: row.key,
		UpdateExpression: update, ConditionExpression: condition,
		ExpressionAttributeNames: names, ExpressionAttributeValues: values,
		ReturnConsumedCapacity:              types.ReturnConsumedCapacityIndexes,
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	})
	var failed *types.ConditionalCheckFailedException
	switch {
	case err == nil && out.ConsumedCapacity != nil:
		return outcomeMoved, oldUnits([]types.ConsumedCapacity{*out.ConsumedCapacity}, index), nil
	case err == nil:
		return outcomeMoved, 0, nil
	case errors.As(err, &failed):
		o, err := m.r.whyRefused(ctx, row, attribute, failed.Item)
		return o, 0, err
	default:
		return outcomeNone, 0, fmt.Errorf("move a row: %w", err)
	}
}
