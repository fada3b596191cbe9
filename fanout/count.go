package fanout

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Count is how many rows All would yield. Where every row stands on one layout
// the service counts and sends no rows; the read units are those of reading them.
// With Query.Partial a *PartialError comes with the count of the healthy shards.
func (r *Reader) Count(ctx context.Context, q Query) (int, error) {
	if err := q.validate(r.table, everything{}); err != nil {
		return 0, err
	}
	for range redoneMax {
		c, err := r.begin(ctx, q)
		if err != nil {
			return 0, err
		}
		if !c.view.settled() || len(c.view.Routing.Read) > 1 {
			return r.countRows(ctx, q)
		}
		n, err := c.countShards(ctx)
		if !errors.Is(err, errChanged) {
			return n, err
		}
	}
	return 0, fmt.Errorf("count table %s: %w", r.table.Name, ErrUnsettled)
}

// countRows reads the rows' keys: two copies of a row are one row.
func (r *Reader) countRows(ctx context.Context, q Query) (int, error) {
	n := 0
	w := &walk{reader: r, ask: q, scope: everything{}, keysOnly: true, yield: func(Item, error) bool {
		n++
		return true
	}}
	return n, w.run(ctx)
}

// countShards has the service count each shard, all at once.
func (c *call) countShards(ctx context.Context) (int, error) {
	strands, err := c.plan(everything{})
	if err != nil {
		return 0, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	counts, faults := make([]int, len(strands)), make([]error, len(strands))
	var shards sync.WaitGroup
	for i, s := range strands {
		shards.Go(func() {
			if counts[i], faults[i] = c.countShard(ctx, s); faults[i] != nil && !c.ask.Partial {
				cancel()
			}
		})
	}
	shards.Wait()
	failed := make(map[Shard]*ShardError)
	var worst error
	for i, s := range strands {
		if faults[i] == nil {
			continue
		}
		fault := s.fault(c.reader.table, faults[i])
		failed[s.shard()] = fault
		if worst == nil || errors.Is(worst, context.Canceled) {
			worst = fault
		}
	}
	if worst != nil && (!c.ask.Partial || ctx.Err() != nil) {
		return 0, worst
	}
	if err := c.holds(ctx); err != nil {
		return 0, err
	}
	return total(counts), partial(failed)
}

func total(counts []int) int {
	sum := 0
	for _, n := range counts {
		sum += n
	}
	return sum
}

func (c *call) countShard(ctx context.Context, s *strand) (int, error) {
	input := c.input(s)
	input.Select = types.SelectCount
	for n := 0; ; {
		out, err := c.query(ctx, input, s.shard())
		if err != nil {
			return 0, err
		}
		n += int(out.Count)
		if out.LastEvaluatedKey == nil {
			return n, nil
		}
		input.ExclusiveStartKey = out.LastEvaluatedKey
	}
}
