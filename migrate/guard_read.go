package migrate

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// readLeft visits the rows that the index shows under keys of the layout that
// was left. Keys that the other layout spells too are visited with Full alone:
// most of their rows are where they belong, and reading them costs what reading
// everything costs.
func (g *Guard) readLeft(ctx context.Context, s sieve, visit func(Item)) error {
	for _, key := range s.way.from.Keys() {
		if _, shared := s.way.to.Parse(key); shared == nil && !g.opts.Full {
			continue
		}
		in := &dynamodb.QueryInput{
			TableName: &s.spec.Table, IndexName: &s.way.from.Index,
			KeyConditionExpression:    new("#key = :key"),
			ExpressionAttributeNames:  map[string]string{"#key": s.way.from.PartitionKey},
			ExpressionAttributeValues: Item{":key": str(key)},
		}
		for {
			out, err := g.client.Query(ctx, in)
			if err != nil {
				return fmt.Errorf("query %s on %s: %w", key, s.way.from.Index, err)
			}
			items, err := s.complete(ctx, g.client, g.catalog, out.Items, false)
			if err != nil {
				return err
			}
			for _, item := range items {
				visit(item)
			}
			if len(out.LastEvaluatedKey) == 0 {
				break
			}
			in.ExclusiveStartKey = out.LastEvaluatedKey
		}
	}
	return nil
}

// readBase visits every row of the entity in the base table, strongly.
func (g *Guard) readBase(ctx context.Context, s sieve, visit func(Item)) error {
	in := scanInput(s.spec, s, append(s.wants(), g.opts.Blame...))
	for {
		out, err := g.client.Scan(ctx, in)
		if err != nil {
			return fmt.Errorf("scan %s: %w", s.spec.Table, err)
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
