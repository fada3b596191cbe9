package migrate

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"golang.org/x/sync/errgroup"
)

const (
	settleFirst    = 60 * time.Millisecond // an index follows within a fraction of a second
	settleEvery    = 100 * time.Millisecond
	settleEveryMax = time.Second
	settleInFlight = 8
)

// settle looks at the batches that are moved and due. It returns 0 when it
// looked, else how long until the next look.
func (c *convoy) settle(ctx context.Context) (time.Duration, error) {
	wait := beatMax
	for _, b := range c.batches {
		if len(b.rows) > 0 || b.clear {
			continue
		}
		if due := time.Until(b.lookAt); due > 0 {
			wait = min(wait, due)
			continue
		}
		return 0, c.lookAt(ctx, b)
	}
	return wait, nil
}

// lookAt sees whether the index shows a batch where its rows are, and has done
// so for the margin: one look may have hit a replica that is ahead of others.
func (c *convoy) lookAt(ctx context.Context, b *batch) error {
	settled, err := c.r.settled(ctx, b.moved, c.way)
	if err != nil {
		return err
	}
	b.looks++
	margin := c.r.record.Bounds.Settle
	switch {
	case !settled:
		b.settledAt = time.Time{}
		b.lookAt = time.Now().Add(min(settleEvery<<min(b.looks, 8), settleEveryMax))
	case b.settledAt.IsZero():
		b.settledAt = time.Now()
		b.lookAt = b.settledAt.Add(margin)
	default:
		b.clear = true
		c.r.tell(ctx, Event{Kind: EventSettled, Rows: len(b.moved), Text: fmt.Sprintf("%d rows settled", len(b.moved))})
	}
	return nil
}

// settled says whether the index shows every row under the key that it carries
// in the base table and under no other of the two layouts. Rows that do not look
// settled are read from the base table: they may have been deleted or stamped
// anew by somebody else.
func (r *Runner) settled(ctx context.Context, rows []*row, w way) (bool, error) {
	suspects, err := r.unsettled(ctx, rows)
	if err != nil || len(suspects) == 0 {
		return len(suspects) == 0, err
	}
	keys := make([]Item, len(suspects))
	for i, row := range suspects {
		keys[i] = row.key
	}
	s := sieve{spec: r.spec, shelf: r.shelf, way: w}
	now, err := batchGet(ctx, r.client, r.spec.Table, r.spec.Key, keys, s.wants())
	if err != nil {
		return false, err
	}
	changed := false
	for _, row := range suspects {
		carries, sort := "", row.sort
		if item, there := now[keyText(r.spec.Key, row.key)]; there {
			carries, _ = textOf(item[w.from.PartitionKey])
			if now := item[w.from.SortKey]; now != nil {
				sort = now
			} else {
				carries = "" // without a sort key the index does not hold it
			}
		}
		// A user may have changed the sort key alone: the entry is elsewhere then.
		if carries != row.to || !sameScalar(sort, row.sort) {
			row.to, row.sort, changed = carries, sort, true
		}
	}
	if !changed {
		return false, nil
	}
	suspects, err = r.unsettled(ctx, suspects)
	return len(suspects) == 0, err
}

// glimpse is one query of a settle look: a stretch of one index key in which
// some rows are expected and some must not be.
type glimpse struct {
	key     string
	expect  map[string]*row
	absent  map[string]*row
	lo, hi  types.AttributeValue
	ranged  bool
	missing []*row
}

// unsettled lists the rows that the index does not show where they are.
func (r *Runner) unsettled(ctx context.Context, rows []*row) ([]*row, error) {
	glimpses := r.glimpses(rows)
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(settleInFlight)
	for _, one := range glimpses {
		g.Go(func() error { return r.look1(gctx, one) })
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	var missing []*row
	for _, one := range glimpses {
		missing = append(missing, one.missing...)
	}
	slices.SortFunc(missing, func(a, b *row) int {
		return strings.Compare(keyText(r.spec.Key, a.key), keyText(r.spec.Key, b.key))
	})
	return slices.Compact(missing), nil
}

func (r *Runner) glimpses(rows []*row) []*glimpse {
	byKey := map[string]*glimpse{}
	var order []*glimpse
	at := func(key string, one *row) *glimpse {
		g := byKey[key]
		if g == nil {
			g = &glimpse{key: key, expect: map[string]*row{}, absent: map[string]*row{}, lo: one.sort, hi: one.sort, ranged: true}
			byKey[key] = g
			order = append(order, g)
		}
		g.widen(one.sort)
		return g
	}
	for _, row := range rows {
		if row.sort == nil {
			continue // the index does not hold it
		}
		id := keyText(r.spec.Key, row.key)
		if row.to != "" {
			at(row.to, row).expect[id] = row
		}
		if row.at != "" && row.at != row.to {
			at(row.at, row).absent[id] = row
		}
	}
	return order
}

// widen has the stretch include a sort key. Sort keys that have no plain order of
// bytes leave it unbounded.
func (g *glimpse) widen(sort types.AttributeValue) {
	low, ok1 := orderOf(g.lo, sort)
	high, ok2 := orderOf(g.hi, sort)
	if !ok1 || !ok2 {
		g.ranged = false
		return
	}
	if low > 0 {
		g.lo = sort
	}
	if high < 0 {
		g.hi = sort
	}
}

// orderOf compares two sort keys of strings or of bytes.
func orderOf(a, b types.AttributeValue) (int, bool) {
	switch a := a.(type) {
	case *types.AttributeValueMemberS:
		if b, ok := b.(*types.AttributeValueMemberS); ok {
			return strings.Compare(a.Value, b.Value), true
		}
	case *types.AttributeValueMemberB:
		if b, ok := b.(*types.AttributeValueMemberB); ok {
			return bytes.Compare(a.Value, b.Value), true
		}
	}
	return 0, false
}

// sameScalar says whether two key values are one.
func sameScalar(a, b types.AttributeValue) bool {
	ka, ta := scalar(a)
	kb, tb := scalar(b)
	return ka == kb && ta == tb
}

// glimpseRowsMin is how many entries a stretch may have beyond twice its rows
// before its rows are looked up one by one.
const glimpseRowsMin = 100

// look1 reads a glimpse's stretch and notes the rows that are not as expected. A
// stretch that holds many other rows is not read: its rows are looked up.
func (r *Runner) look1(ctx context.Context, g *glimpse) error {
	found := map[string]bool{}
	if g.ranged {
		limit := 2*(len(g.expect)+len(g.absent)) + glimpseRowsMin
		more, err := r.lookFor(ctx, g.key, g.lo, g.hi, limit, found)
		if err != nil {
			return err
		}
		g.ranged = !more
	}
	for _, rows := range []map[string]*row{g.expect, g.absent} {
		for id, row := range rows {
			if g.ranged || found[id] {
				continue
			}
			if _, err := r.lookFor(ctx, g.key, row.sort, row.sort, pageRowsMax, found); err != nil {
				return err
			}
		}
	}
	for id, row := range g.expect {
		if !found[id] {
			g.missing = append(g.missing, row)
		}
	}
	for id, row := range g.absent {
		if found[id] {
			g.missing = append(g.missing, row)
		}
	}
	return nil
}

// lookFor notes the rows that an index key shows between two sort keys. It says
// whether there were more than limit.
func (r *Runner) lookFor(ctx context.Context, key string, lo, hi types.AttributeValue, limit int, found map[string]bool) (bool, error) {
	layout := r.spec.From
	words, names := projection(r.spec.Key)
	names["#key"], names["#sort"] = layout.PartitionKey, layout.SortKey
	in := &dynamodb.QueryInput{
		TableName: &r.spec.Table, IndexName: &layout.Index,
		KeyConditionExpression: new("#key = :key AND #sort BETWEEN :lo AND :hi"), ProjectionExpression: words,
		ExpressionAttributeNames:  names,
		ExpressionAttributeValues: Item{":key": str(key), ":lo": lo, ":hi": hi},
	}
	for left := limit; left > 0; {
		in.Limit = new(int32(left))
		out, err := r.client.Query(ctx, in)
		if err != nil {
			return false, fmt.Errorf("look at %s on %s: %w", key, layout.Index, err)
		}
		for _, item := range out.Items {
			found[keyText(r.spec.Key, item)] = true
		}
		if len(out.LastEvaluatedKey) == 0 {
			return false, nil
		}
		left -= len(out.Items)
		in.ExclusiveStartKey = out.LastEvaluatedKey
	}
	return true, nil
}
