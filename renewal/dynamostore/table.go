package dynamostore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/hotsplit/hotsplit/shard"
)

// ControlClient is what CreateTable needs of *dynamodb.Client.
type ControlClient interface {
	CreateTable(context.Context, *dynamodb.CreateTableInput, ...func(*dynamodb.Options)) (*dynamodb.CreateTableOutput, error)
	DescribeTable(context.Context, *dynamodb.DescribeTableInput, ...func(*dynamodb.Options)) (*dynamodb.DescribeTableOutput, error)
}

// Warm is the throughput that an index is created with, beyond what on-demand
// gives a new one. The zero value asks for none.
type Warm struct{ ReadUnits, WriteUnits int64 }

// tableWaitMax bounds the wait for a new table; an index of an empty one is
// built in a minute or two.
const tableWaitMax = 5 * time.Minute

// CreateTable makes the table and its saga index, on demand, and waits until
// both can be used. A table that is there is left alone, and refused where it
// lacks the index.
func CreateTable(ctx context.Context, client ControlClient, table string, layout shard.Layout, warm Warm) error {
	_, err := client.CreateTable(ctx, tableInput(table, layout, warm))
	var there *types.ResourceInUseException
	if err != nil && !errors.As(err, &there) {
		return fmt.Errorf("create table %s: %w", table, err)
	}
	out, err := dynamodb.NewTableExistsWaiter(client).WaitForOutput(ctx, &dynamodb.DescribeTableInput{TableName: &table}, tableWaitMax)
	if err != nil {
		return fmt.Errorf("wait for table %s: %w", table, err)
	}
	has := slices.ContainsFunc(out.Table.GlobalSecondaryIndexes, func(g types.GlobalSecondaryIndexDescription) bool {
		return g.IndexName != nil && *g.IndexName == layout.Index
	})
	if !has {
		return fmt.Errorf("table %s has no index %s: create the index first", table, layout.Index)
	}
	return nil
}

func tableInput(table string, layout shard.Layout, warm Warm) *dynamodb.CreateTableInput {
	var attributes []types.AttributeDefinition
	for _, name := range []string{partitionAttribute, sortAttribute, layout.PartitionKey, layout.SortKey} {
		attributes = append(attributes, types.AttributeDefinition{AttributeName: &name, AttributeType: types.ScalarAttributeTypeS})
	}
	index := types.GlobalSecondaryIndex{
		IndexName: &layout.Index, KeySchema: keys(layout.PartitionKey, layout.SortKey),
		// The timeline is read from the row alone; projected, it would multiply
		// the units of every write on the index.
		Projection: &types.Projection{ProjectionType: types.ProjectionTypeInclude, NonKeyAttributes: projected},
	}
	if warm != (Warm{}) {
		index.WarmThroughput = &types.WarmThroughput{ReadUnitsPerSecond: &warm.ReadUnits, WriteUnitsPerSecond: &warm.WriteUnits}
	}
	return &dynamodb.CreateTableInput{
		TableName: &table, BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: attributes, KeySchema: keys(partitionAttribute, sortAttribute),
		GlobalSecondaryIndexes: []types.GlobalSecondaryIndex{index},
	}
}

// projected is what the lists show.
var projected = []string{
	entityAttribute, "id", ownerAttribute, "leaseId", "openedAt", "personName", "propertyId", "unit", "leaseEnd",
	"state", "stateSince", "updatedAt", "version", "rentCents", "offerExpires", "attempts", "lastError", "archived",
}

func keys(partition, sort string) []types.KeySchemaElement {
	return []types.KeySchemaElement{
		{AttributeName: &partition, KeyType: types.KeyTypeHash},
		{AttributeName: &sort, KeyType: types.KeyTypeRange},
	}
}
