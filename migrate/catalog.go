package migrate

import (
	"context"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// catalog is what the service says about the table and the index.
type catalog struct {
	table     *types.TableDescription
	index     *types.GlobalSecondaryIndexDescription
	projected func(attribute string) bool // whether index entries carry it
	sortType  types.ScalarAttributeType   // of the index's sort key
}

func describe(ctx context.Context, client ReadAPI, s Spec) (*catalog, error) {
	out, err := client.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &s.Table})
	if err != nil {
		return nil, fmt.Errorf("describe table %s: %w", s.Table, err)
	}
	c := &catalog{table: out.Table}
	for i := range out.Table.GlobalSecondaryIndexes {
		if g := &out.Table.GlobalSecondaryIndexes[i]; g.IndexName != nil && *g.IndexName == s.From.Index {
			c.index = g
		}
	}
	if c.index == nil {
		return c, fmt.Errorf("%w: index: table %s has no index %q", ErrSpec, s.Table, s.From.Index)
	}
	c.projected = projectedBy(c.index, s)
	for _, d := range out.Table.AttributeDefinitions {
		if d.AttributeName != nil && *d.AttributeName == s.From.SortKey {
			c.sortType = d.AttributeType
		}
	}
	return c, nil
}

func projectedBy(index *types.GlobalSecondaryIndexDescription, s Spec) func(string) bool {
	always := append([]string{s.From.PartitionKey, s.From.SortKey}, s.Key...)
	p := index.Projection
	if p == nil || p.ProjectionType == types.ProjectionTypeAll {
		return func(string) bool { return true }
	}
	if p.ProjectionType == types.ProjectionTypeInclude {
		always = append(always, p.NonKeyAttributes...)
	}
	return func(attribute string) bool { return slices.Contains(always, attribute) }
}

// knowsOwner says whether index entries tell whose they are and of which entity.
func (c *catalog) knowsOwner(s Spec) bool {
	return c.projected(s.Owner) && (s.Entity.Attribute == "" || c.projected(s.Entity.Attribute))
}

// rows is how many entries the service last counted on the index; it may be
// hours old.
func (c *catalog) rows() int64 {
	if c.index.ItemCount == nil {
		return 0
	}
	return *c.index.ItemCount
}
