package conformance

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// sdkTests lists the promises that are asked for through the SDK.
var sdkTests = []sdkTest{
	{"paging", testPaging},
	{"index paging", testIndexPaging},
	{"parallel scan", testParallelScan},
	{"page size", testPageSize},
	{"typed errors", testTypedErrors},
	{"batches", testBatches},
	{"token", testToken},
	{"waiters", testWaiters},
	{"limits of a transaction", testTransactionLimits},
	{"tags", testTags},
}

// probe is what an SDK test works with: a client, and a table of its own.
type probe struct {
	*testing.T
	client *dynamodb.Client
	table  *string
}

// newProbe creates a table with the key (pk S, sk N) and the indexes given.
func newProbe(t *testing.T, s Subject, indexes ...types.GlobalSecondaryIndex) *probe {
	b := &probe{t, s.Client(), aws.String(fmt.Sprintf("conformance-%d", time.Now().UnixNano()))}
	definitions := []types.AttributeDefinition{
		{AttributeName: aws.String("pk"), AttributeType: types.ScalarAttributeTypeS},
		{AttributeName: aws.String("sk"), AttributeType: types.ScalarAttributeTypeN},
	}
	if indexes != nil {
		definitions = append(definitions, types.AttributeDefinition{AttributeName: aws.String("g"), AttributeType: types.ScalarAttributeTypeS})
	}
	_, err := b.client.CreateTable(b.Context(), &dynamodb.CreateTableInput{
		TableName: b.table, BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: definitions, GlobalSecondaryIndexes: indexes,
		KeySchema: []types.KeySchemaElement{
			{AttributeName: aws.String("pk"), KeyType: types.KeyTypeHash}, {AttributeName: aws.String("sk"), KeyType: types.KeyTypeRange},
		},
	})
	b.must(err)
	t.Cleanup(func() {
		_, err := b.client.DeleteTable(context.Background(), &dynamodb.DeleteTableInput{TableName: b.table})
		if missing := (*types.ResourceNotFoundException)(nil); err != nil && !errors.As(err, &missing) {
			t.Errorf("delete table: %v", err)
		}
	})
	b.must(dynamodb.NewTableExistsWaiter(b.client).Wait(b.Context(), &dynamodb.DescribeTableInput{TableName: b.table}, waitMax))
	return b
}

func (b *probe) must(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

type item = map[string]types.AttributeValue

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }
func number(n int) types.AttributeValue  { return &types.AttributeValueMemberN{Value: fmt.Sprint(n)} }

func (b *probe) key(pk string, sk int) item { return item{"pk": text(pk), "sk": number(sk)} }

// fill puts n items of a collection, in batches, each with the extra attributes.
func (b *probe) fill(pk string, n int, extra item) {
	b.Helper()
	var batch []types.WriteRequest
	for i := range n {
		it := b.key(pk, i)
		for name, v := range extra {
			it[name] = v
		}
		batch = append(batch, types.WriteRequest{PutRequest: &types.PutRequest{Item: it}})
		if len(batch) == 25 || i == n-1 {
			out, err := b.client.BatchWriteItem(b.Context(), &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{*b.table: batch}})
			b.must(err)
			if len(out.UnprocessedItems) != 0 {
				b.Fatalf("unprocessed: %v", out.UnprocessedItems)
			}
			batch = nil
		}
	}
}

// sequence reads the sort keys of items.
func sequence(items []item) []string {
	keys := make([]string, len(items))
	for i, it := range items {
		if n, ok := it["sk"].(*types.AttributeValueMemberN); ok {
			keys[i] = n.Value
		}
	}
	return keys
}

// until repeats ask until it is content.
func (b *probe) until(what string, ask func() bool) {
	b.Helper()
	for deadline := time.Now().Add(waitMax); !ask(); time.Sleep(waitStep) {
		if time.Now().After(deadline) {
			b.Fatalf("%s: not within %s", what, waitMax)
		}
	}
}
