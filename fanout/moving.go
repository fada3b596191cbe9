package fanout

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"golang.org/x/sync/errgroup"

	"github.com/hotsplit/hotsplit/shard"
)

// batchKeysMax is how many keys the service takes in one BatchGetItem.
const batchKeysMax = 100

// rankBase is above every layout's: a strong read of the base table wins.
const rankBase = 2

// movingStrand reads the moving rows of a scope from the base table, or is nil
// where none is moving. From here on the call drops their index copies.
func (c *call) movingStrand(s scope) *strand {
	c.skip = nil
	var keys []Item
	for _, m := range c.view.Moving {
		if !s.owns(m.Owner) {
			continue
		}
		key := baseKey(c.reader.table.baseOf(m.Key))
		if _, twice := c.skip[key]; twice {
			continue
		}
		if c.skip == nil {
			c.skip = make(map[string]struct{}, len(c.view.Moving))
		}
		c.skip[key] = struct{}{}
		keys = append(keys, m.Key)
	}
	if len(keys) == 0 {
		return nil
	}
	return &strand{
		layout: shard.Layout{SortKey: c.view.Routing.To.SortKey},
		rank:   rankBase,
		load: func(ctx context.Context) ([]Item, error) {
			items, err := c.loadMoving(ctx, keys)
			return slices.DeleteFunc(items, func(item Item) bool { return !c.belongs(s, item) }), classify(err)
		},
	}
}

// belongs says whether a row of the base table is one that a strand of the scope
// would hold, were the index up to date. The moving set named an owner; the row
// itself decides.
func (c *call) belongs(s scope, item Item) bool {
	for _, layout := range c.view.Routing.Read {
		key, sort := scalarOf(item[layout.PartitionKey]), scalarOf(item[layout.SortKey])
		if c.ask.bounds().contains(sort) && s.holds(layout, key.text, sort.text) {
			return true
		}
	}
	return false
}

func (c *call) loadMoving(ctx context.Context, keys []Item) ([]Item, error) {
	if c.ask.Filter.Expression != "" {
		return c.filterMoving(ctx, keys)
	}
	var items []Item
	for chunk := range slices.Chunk(keys, batchKeysMax) {
		got, err := c.batchGet(ctx, chunk)
		if err != nil {
			return nil, err
		}
		items = append(items, got...)
	}
	return items, nil
}

// batchGet reads up to 100 rows strongly. Keys that the service leaves are asked
// for again, after a pause.
func (c *call) batchGet(ctx context.Context, keys []Item) ([]Item, error) {
	table := c.reader.table.Name
	var items []Item
	read := func() error {
		for len(keys) > 0 {
			out, err := c.sendBatch(ctx, table, keys)
			if err != nil {
				return err
			}
			items = append(items, out.Responses[table]...)
			left := out.UnprocessedKeys[table].Keys
			if len(left) == len(keys) {
				return fmt.Errorf("batch get %d keys of table %s: %w", len(keys), table, errUnprocessed)
			}
			keys = left
		}
		return nil
	}
	return items, retried(ctx, c.reader.options.AttemptsMax, read(), read)
}

func (c *call) sendBatch(ctx context.Context, table string, keys []Item) (*dynamodb.BatchGetItemOutput, error) {
	in := &dynamodb.BatchGetItemInput{
		RequestItems:           map[string]types.KeysAndAttributes{table: {Keys: keys, ConsistentRead: new(true)}},
		ReturnConsumedCapacity: c.ask.Report.wants(),
	}
	if err := c.reader.options.InFlight.acquire(ctx); err != nil {
		return nil, err
	}
	defer c.reader.options.InFlight.release()
	out, err := c.reader.client.BatchGetItem(ctx, in)
	if err != nil {
		c.ask.Report.add(Shard{}, Cost{Requests: 1})
		return nil, err
	}
	c.ask.Report.add(Shard{}, Cost{
		Requests: attempts(out.ResultMetadata), Pages: 1, Rows: len(out.Responses[table]), Units: units(out.ConsumedCapacity...),
	})
	return out, nil
}

// filterMoving has the service evaluate the filter on each row, which a batch
// read cannot: one strong query a row.
func (c *call) filterMoving(ctx context.Context, keys []Item) ([]Item, error) {
	found := make([][]Item, len(keys))
	g, ctx := errgroup.WithContext(ctx)
	for i, key := range keys {
		g.Go(func() error {
			out, err := c.query(ctx, c.baseInput(key), Shard{})
			if err != nil {
				return err
			}
			found[i] = out.Items
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	return slices.Concat(found...), nil
}

func (c *call) baseInput(key Item) *dynamodb.QueryInput {
	f := c.ask.Filter
	n := names{filter: f.Names}
	values := make(Item, len(f.Values)+2)
	maps.Copy(values, f.Values)
	conditions := make([]string, len(c.reader.table.Key))
	for i, attribute := range c.reader.table.Key {
		short := "base" + strconv.Itoa(i)
		value := ":" + placeholder + short
		values[value] = key[attribute]
		conditions[i] = n.spell(short, attribute) + " = " + value
	}
	condition := strings.Join(conditions, " AND ")
	return &dynamodb.QueryInput{
		TableName:                 &c.reader.table.Name,
		ConsistentRead:            new(true),
		KeyConditionExpression:    &condition,
		FilterExpression:          &f.Expression,
		ExpressionAttributeNames:  n.placeholders(),
		ExpressionAttributeValues: values,
		ReturnConsumedCapacity:    c.ask.Report.wants(),
	}
}
