package migrate

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/hotsplit/hotsplit/shard"
)

// pass reads through all segments of one source once and yields the rows that
// have to move. It goes on from checkpoints.
type pass struct {
	runner   *Runner
	sieve    sieve
	source   Source
	number   int
	segments int
	at       int // segment
	start    Item
	found    int64 // in the segment
	total    int64 // in the pass
	asShown  bool  // drain: take the index's word for the key
	done     map[int]Checkpoint
	refused  map[shard.OwnerClass]int64 // rows whose owner cannot be keyed
}

func (r *Runner) newPass(source Source, number, segments int, from []Checkpoint) *pass {
	p := &pass{
		runner: r, sieve: sieve{spec: r.spec, shelf: r.shelf, way: r.record.way()},
		source: source, number: number, segments: segments,
		done: map[int]Checkpoint{}, refused: map[shard.OwnerClass]int64{},
	}
	for _, c := range from {
		p.done[c.Segment] = c
		p.total += c.Found
	}
	p.enter()
	return p
}

// enter goes on where the segment's checkpoint says, past segments that are done.
func (p *pass) enter() {
	p.start, p.found = nil, 0
	for ; p.at < p.segments; p.at++ {
		c, known := p.done[p.at]
		if known && c.Done {
			continue
		}
		p.start, p.found = c.After, c.Found
		return
	}
}

func (p *pass) more() bool { return p.at < p.segments }

// next reads one page and returns its rows that have to move.
func (p *pass) next(ctx context.Context, limit int) ([]*row, *page, error) {
	items, after, err := p.read(ctx, limit)
	if err != nil {
		return nil, nil, err
	}
	pg := &page{}
	var rows []*row
	for _, item := range items {
		r, class := p.sieve.read(item)
		if class != "" && !p.sieve.home(r) {
			p.refused[class]++
			continue
		}
		if r == nil || class != "" || r.at == r.to {
			continue
		}
		r.page = pg
		rows = append(rows, r)
	}
	pg.left, pg.rows = len(rows), len(rows)
	p.found += int64(len(rows))
	p.total += int64(len(rows))
	pg.position = Checkpoint{
		Pass: p.number, Source: p.source, Segment: p.at, Segments: p.segments,
		After: after, Done: len(after) == 0, Found: p.found,
	}
	if p.start = after; len(after) == 0 {
		p.at++
		p.enter()
	}
	return rows, pg, nil
}

func (p *pass) read(ctx context.Context, limit int) ([]Item, Item, error) {
	if p.source == SourceScan {
		return p.scan(ctx, limit)
	}
	return p.drain(ctx, limit)
}

// drain reads an old key on the index. What it finds is a candidate: the move's
// condition decides.
func (p *pass) drain(ctx context.Context, limit int) ([]Item, Item, error) {
	r, from := p.runner, p.sieve.way.from
	wants := p.sieve.wants()
	if !r.catalog.knowsOwner(r.spec) {
		wants = append([]string{from.PartitionKey}, r.spec.Key...)
	}
	words, names := projection(wants)
	names["#key"] = from.PartitionKey
	key := from.Keys()[p.at]
	out, err := r.client.Query(ctx, &dynamodb.QueryInput{
		TableName: &r.spec.Table, IndexName: &from.Index,
		KeyConditionExpression: new("#key = :key"), ProjectionExpression: words,
		ExpressionAttributeNames: names, ExpressionAttributeValues: Item{":key": str(key)},
		Limit: new(int32(limit)), ExclusiveStartKey: p.start,
	})
	if err != nil {
		return nil, nil, fmt.Errorf("query %s on %s: %w", key, from.Index, err)
	}
	items, err := p.sieve.complete(ctx, r.client, r.catalog, out.Items, p.asShown)
	return items, out.LastEvaluatedKey, err
}

// scan reads a segment of the base table, strongly.
func (p *pass) scan(ctx context.Context, limit int) ([]Item, Item, error) {
	r := p.runner
	in := scanInput(r.spec, p.sieve, p.sieve.wants())
	in.Limit, in.ExclusiveStartKey = new(int32(limit)), p.start
	if p.segments > 1 {
		in.Segment, in.TotalSegments = new(int32(p.at)), new(int32(p.segments))
	}
	out, err := r.client.Scan(ctx, in)
	if err != nil {
		return nil, nil, fmt.Errorf("scan segment %d of %s: %w", p.at, r.spec.Table, err)
	}
	return out.Items, out.LastEvaluatedKey, nil
}

// scanInput scans the base table for rows of the entity that carry an index key,
// strongly. projected names the attributes wanted; nil takes all.
func scanInput(spec Spec, s sieve, projected []string) *dynamodb.ScanInput {
	in := &dynamodb.ScanInput{
		TableName: &spec.Table, ConsistentRead: new(true),
		FilterExpression:         new("attribute_exists(#key)"),
		ExpressionAttributeNames: map[string]string{},
	}
	if projected != nil {
		in.ProjectionExpression, in.ExpressionAttributeNames = projection(projected)
	}
	in.ExpressionAttributeNames["#key"] = s.way.from.PartitionKey
	if spec.Entity.Attribute != "" {
		in.FilterExpression = new("attribute_exists(#key) AND #entity = :entity")
		in.ExpressionAttributeNames["#entity"] = spec.Entity.Attribute
		in.ExpressionAttributeValues = Item{":entity": str(spec.Entity.Value)}
	}
	return in
}
