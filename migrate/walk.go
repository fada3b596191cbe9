package migrate

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"golang.org/x/sync/errgroup"
)

const walkInFlight = 8

// verifyPageRows bounds what the pages on the way take of memory: decoded, a row
// takes many times what it takes on the wire.
const verifyPageRows = 250

// walkIndex reads every key of both layouts.
func (v *verification) walkIndex(ctx context.Context, mine func(uint64) bool) (entries, error) {
	seen := make(entries, 0, min(v.catalog.rows()+v.catalog.rows()/8, rowsAtOnce))
	err := v.walk(ctx, nil, func(n int, item Item) {
		if _, told := item[v.spec.Entity.Attribute]; told && v.sieve.others(item) {
			return
		}
		if id := v.digest.id(item); mine(id) {
			seen = append(seen, entry{id: id, content: v.digest.content(item), key: uint32(n)})
		}
	})
	return seen.sorted(), err
}

// walk visits the entries of the index keys whose number wanted names; nil visits
// all. Visits do not overlap.
func (v *verification) walk(ctx context.Context, wanted map[uint32]bool, visit func(key int, item Item)) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(walkInFlight)
	for n, key := range v.keys {
		if wanted != nil && !wanted[uint32(n)] {
			continue
		}
		g.Go(func() error {
			return v.queryKey(ctx, key, nil, func(item Item) {
				v.mu.Lock()
				defer v.mu.Unlock()
				visit(n, item)
			})
		})
	}
	return g.Wait()
}

// queryKey reads one index key to its end; narrow adds a condition.
func (v *verification) queryKey(ctx context.Context, key string, narrow func(*dynamodb.QueryInput), visit func(Item)) error {
	layout := v.record.From
	in := &dynamodb.QueryInput{
		TableName: &v.spec.Table, IndexName: &layout.Index,
		KeyConditionExpression:    new("#key = :key"),
		ExpressionAttributeNames:  map[string]string{"#key": layout.PartitionKey},
		ExpressionAttributeValues: Item{":key": str(key)},
	}
	in.Limit = new(int32(verifyPageRows))
	if narrow != nil {
		narrow(in)
	}
	for {
		if err := v.opts.alive(ctx); err != nil {
			return err
		}
		out, err := v.client.Query(ctx, in)
		if err != nil {
			return fmt.Errorf("query %s on %s: %w", key, layout.Index, err)
		}
		for _, item := range out.Items {
			visit(item)
		}
		if len(out.LastEvaluatedKey) == 0 {
			return nil
		}
		in.ExclusiveStartKey = out.LastEvaluatedKey
	}
}

// scanBase reads the base table strongly and holds each row against its entry.
// Entries that stay unmatched have no row.
func (v *verification) scanBase(ctx context.Context, mine func(uint64) bool, seen entries) error {
	return v.scan(ctx, func(item Item) {
		id := v.digest.id(item)
		if !mine(id) {
			return
		}
		e := seen.find(id)
		if e != nil {
			e.matched = true
		}
		v.hold(item, e)
	})
}

// scan visits every row of the base table that carries an index key. Visits do
// not overlap; between pages, suspects are looked at again.
func (v *verification) scan(ctx context.Context, visit func(Item)) error {
	segments := v.opts.Segments
	if v.catalog.rows() < pageRowsMax {
		segments = 1
	}
	projected := v.projected()
	g, gctx := errgroup.WithContext(ctx)
	for segment := range segments {
		g.Go(func() error {
			in := scanInput(v.spec, v.sieve, projected)
			in.Limit = new(int32(verifyPageRows))
			if segments > 1 {
				in.Segment, in.TotalSegments = new(int32(segment)), new(int32(segments))
			}
			for {
				if err := v.opts.alive(gctx); err != nil {
					return err
				}
				out, err := v.client.Scan(gctx, in)
				if err != nil {
					return fmt.Errorf("scan segment %d of %s: %w", segment, v.spec.Table, err)
				}
				v.mu.Lock()
				for _, item := range out.Items {
					visit(item)
				}
				v.mu.Unlock()
				if err := v.recheckMany(gctx); err != nil {
					return err
				}
				if len(out.LastEvaluatedKey) == 0 {
					return nil
				}
				in.ExclusiveStartKey = out.LastEvaluatedKey
			}
		})
	}
	return g.Wait()
}

// projected lists the attributes to compare, where the index does not carry all.
func (v *verification) projected() []string {
	p := v.catalog.index.Projection
	if p == nil || p.ProjectionType == "ALL" || p.ProjectionType == "" {
		return nil
	}
	return append(v.sieve.wants(), p.NonKeyAttributes...)
}

// extras looks again at the entries that no base row answered for.
func (v *verification) extras(ctx context.Context, seen entries) error {
	wanted := map[uint32]bool{}
	for _, e := range seen {
		if !e.matched {
			wanted[e.key] = true
		}
	}
	if len(wanted) == 0 {
		return nil
	}
	return v.walk(ctx, wanted, func(n int, item Item) {
		e := seen.find(v.digest.id(item))
		if e == nil || e.matched {
			return
		}
		e.matched = true
		if v.sieve.shelf.holds(item) {
			return
		}
		v.suspects = append(v.suspects, &suspect{key: only(v.spec.Key, item), keys: []string{v.keys[n]}, sort: item[v.record.From.SortKey]})
	})
}
