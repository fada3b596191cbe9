package demo

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/hotsplit/hotsplit/emulator"
	"github.com/hotsplit/hotsplit/emulator/awsjson"
	"github.com/hotsplit/hotsplit/migrate"
)

// Index lag of the stage, and of one that makes a dual read without a moving set
// lose rows.
const (
	lagMin, lagMax           = 10 * time.Millisecond, 60 * time.Millisecond
	naiveLagMin, naiveLagMax = 100 * time.Millisecond, 500 * time.Millisecond
)

// warmPartitions is for how many physical partitions table and index are warmed.
const warmPartitions = 16

// stage is the embedded DynamoDB and the clients that talk to it.
type stage struct {
	db     *emulator.DB
	spec   migrate.Spec
	lagMax time.Duration
	meter  atomic.Pointer[meter] // of the application's client
}

func newStage(o Options, spec migrate.Spec) *stage {
	s := &stage{spec: spec, lagMax: lagMax}
	settings := emulator.Options{Seed: o.Seed, LagMin: lagMin, LagMax: lagMax}
	if o.NaiveDualRead {
		settings.LagMin, settings.LagMax, settings.IndexOrder = naiveLagMin, naiveLagMax, emulator.IndexOrderDeleteFirst
		s.lagMax = naiveLagMax
	}
	s.db = emulator.New(settings)
	s.meter.Store(newMeter())
	return s
}

// client is an SDK client as production configures it, retries included. Each
// caller has its own, so that none drains another's retry budget.
func (s *stage) client(caller string, transport http.RoundTripper) *dynamodb.Client {
	return dynamodb.New(dynamodb.Options{
		Region:      "us-east-1",
		Credentials: credentials.NewStaticCredentialsProvider(caller, "demo", ""),
		HTTPClient:  &http.Client{Transport: transport},
	})
}

func (s *stage) plain(caller string) *dynamodb.Client {
	return s.client(caller, awsjson.Transport(s.db))
}

func (s *stage) metered(caller string) *dynamodb.Client {
	return s.client(caller, wire{awsjson.Transport(s.db), &s.meter})
}

// createTable makes table and index for keys of the types that the first row has.
func (s *stage) createTable(ctx context.Context, first item) error {
	layout := s.spec.From
	warm := &types.WarmThroughput{ReadUnitsPerSecond: aws.Int64(warmPartitions * 2500), WriteUnitsPerSecond: aws.Int64(warmPartitions * 1000)}
	input := &dynamodb.CreateTableInput{
		TableName: &s.spec.Table, BillingMode: types.BillingModePayPerRequest, WarmThroughput: warm,
		KeySchema: keySchema(s.spec.Key),
		GlobalSecondaryIndexes: []types.GlobalSecondaryIndex{{
			IndexName: &layout.Index, WarmThroughput: warm, Projection: &types.Projection{ProjectionType: types.ProjectionTypeAll},
			KeySchema: keySchema(indexKey(layout.PartitionKey, layout.SortKey)),
		}},
	}
	for _, name := range slices.Concat(s.spec.Key, indexKey(layout.PartitionKey, layout.SortKey)) {
		input.AttributeDefinitions = append(input.AttributeDefinitions, types.AttributeDefinition{
			AttributeName: &name, AttributeType: scalarType(first[name]),
		})
	}
	if _, err := s.plain("loader").CreateTable(ctx, input); err != nil {
		return fmt.Errorf("create table %s: %w", s.spec.Table, err)
	}
	return nil
}

func indexKey(partition, sort string) []string {
	if sort == "" {
		return []string{partition}
	}
	return []string{partition, sort}
}

func keySchema(names []string) []types.KeySchemaElement {
	schema := make([]types.KeySchemaElement, len(names))
	for i, kind := range []types.KeyType{types.KeyTypeHash, types.KeyTypeRange}[:len(names)] {
		schema[i] = types.KeySchemaElement{AttributeName: &names[i], KeyType: kind}
	}
	return schema
}

func scalarType(v types.AttributeValue) types.ScalarAttributeType {
	switch v.(type) {
	case *types.AttributeValueMemberN:
		return types.ScalarAttributeTypeN
	case *types.AttributeValueMemberB:
		return types.ScalarAttributeTypeB
	default:
		return types.ScalarAttributeTypeS
	}
}

// batchRows is how many rows BatchWriteItem takes. Source: service quotas.
const batchRows = 25

// loadPause is how long a load waits for units of the hot key.
const loadPause = 50 * time.Millisecond

// load writes the rows, as fast as the hot key takes them, and waits for the
// index.
func (s *stage) load(ctx context.Context, rows []item, progress func(done int)) error {
	client := s.plain("loader")
	done := 0
	for batch := range slices.Chunk(rows, batchRows) {
		requests := make([]types.WriteRequest, len(batch))
		for i, row := range batch {
			requests[i].PutRequest = &types.PutRequest{Item: row}
		}
		if err := s.writeBatch(ctx, client, requests); err != nil {
			return fmt.Errorf("load rows from %d on: %w", done, err)
		}
		done += len(batch)
		progress(done)
	}
	return sleep(ctx, s.lagMax+loadPause)
}

func (s *stage) writeBatch(ctx context.Context, client *dynamodb.Client, requests []types.WriteRequest) error {
	for len(requests) > 0 {
		out, err := client.BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{
			RequestItems: map[string][]types.WriteRequest{s.spec.Table: requests},
		})
		if err != nil {
			return err
		}
		requests = out.UnprocessedItems[s.spec.Table]
		if len(requests) > 0 {
			if err := sleep(ctx, loadPause); err != nil {
				return err
			}
		}
	}
	return nil
}

// scan reads the rows of the entity from the base table, strongly.
func (s *stage) scan(ctx context.Context) ([]item, error) {
	var rows []item
	pages := dynamodb.NewScanPaginator(s.plain("auditor"), &dynamodb.ScanInput{TableName: &s.spec.Table, ConsistentRead: aws.Bool(true)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("scan table %s: %w", s.spec.Table, err)
		}
		rows = append(rows, page.Items...)
	}
	return rows, nil
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
