package conformance

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// retried makes the client try again, for requests so large that a table may be
// too busy for them.
func retried(o *dynamodb.Options) {
	o.Retryer = retry.AddWithMaxBackoffDelay(retry.AddWithMaxAttempts(retry.NewStandard(), 20), time.Second)
}

// The SDK makes types of the service's errors, with all that is in them.
func testTypedErrors(t *testing.T, s Subject) {
	b := newProbe(t, s)
	b.fill("p", 1, item{"v": text("old")})
	put := &dynamodb.PutItemInput{
		TableName: b.table, Item: b.key("p", 0), ConditionExpression: aws.String("attribute_not_exists(pk)"),
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}
	_, err := b.client.PutItem(b.Context(), put)
	var failed *types.ConditionalCheckFailedException
	if !errors.As(err, &failed) || failed.ErrorMessage() != "The conditional request failed" {
		t.Fatalf("condition: %v", err)
	}
	if v, ok := failed.Item["v"].(*types.AttributeValueMemberS); !ok || v.Value != "old" {
		t.Errorf("item of a failed condition: %v", failed.Item)
	}

	_, err = b.client.TransactWriteItems(b.Context(), &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{
		{Delete: &types.Delete{TableName: b.table, Key: b.key("p", 9)}},
		{Put: &types.Put{TableName: b.table, Item: b.key("p", 0), ConditionExpression: put.ConditionExpression,
			ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld}},
	}})
	var cancelled *types.TransactionCanceledException
	if !errors.As(err, &cancelled) || len(cancelled.CancellationReasons) != 2 {
		t.Fatalf("transaction: %v", err)
	}
	if r := cancelled.CancellationReasons; *r[0].Code != "None" || *r[1].Code != "ConditionalCheckFailed" || r[1].Item["v"] == nil {
		t.Errorf("reasons: %+v", r)
	}

	_, err = b.client.GetItem(b.Context(), &dynamodb.GetItemInput{TableName: aws.String("conformance-no-such-table"), Key: b.key("p", 0)})
	var missing *types.ResourceNotFoundException
	if !errors.As(err, &missing) {
		t.Errorf("missing table: %v", err)
	}
	_, err = b.client.CreateTable(b.Context(), &dynamodb.CreateTableInput{
		TableName: b.table, BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("pk"), AttributeType: types.ScalarAttributeTypeS}},
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("pk"), KeyType: types.KeyTypeHash}},
	})
	var inUse *types.ResourceInUseException
	if !errors.As(err, &inUse) {
		t.Errorf("a table twice: %v", err)
	}
}

// 25 writes and 100 reads fit a batch.
func testBatches(t *testing.T, s Subject) {
	b := newProbe(t, s)
	b.fill("p", 100, item{"v": text("x")})
	var keys []map[string]types.AttributeValue
	for i := range 100 {
		keys = append(keys, b.key("p", i))
	}
	out, err := b.client.BatchGetItem(b.Context(), &dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{
		*b.table: {Keys: keys, ConsistentRead: aws.Bool(true), ProjectionExpression: aws.String("sk")},
	}})
	b.must(err)
	if got := sequence(out.Responses[*b.table]); len(got) != 100 || len(distinct(got)) != 100 || len(out.UnprocessedKeys) != 0 {
		t.Errorf("%d items, unprocessed %v", len(got), out.UnprocessedKeys)
	}
}

// A token makes a transaction happen once, however often it is sent.
func testToken(t *testing.T, s Subject) {
	b := newProbe(t, s)
	in := &dynamodb.TransactWriteItemsInput{
		ClientRequestToken: aws.String(fmt.Sprint("token-", time.Now().UnixNano())),
		TransactItems: []types.TransactWriteItem{{Update: &types.Update{
			TableName: b.table, Key: b.key("p", 0), UpdateExpression: aws.String("ADD n :one"), ExpressionAttributeValues: item{":one": number(1)},
		}}},
		ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal,
	}
	for range 3 {
		_, err := b.client.TransactWriteItems(b.Context(), in)
		b.must(err)
	}
	got, err := b.client.GetItem(b.Context(), &dynamodb.GetItemInput{TableName: b.table, Key: b.key("p", 0), ConsistentRead: aws.Bool(true)})
	b.must(err)
	if n, ok := got.Item["n"].(*types.AttributeValueMemberN); !ok || n.Value != "1" {
		t.Errorf("after three requests with one token: %v", got.Item)
	}
	in.TransactItems[0].Update.ExpressionAttributeValues = item{":one": number(2)}
	_, err = b.client.TransactWriteItems(b.Context(), in)
	var mismatch *types.IdempotentParameterMismatchException
	if !errors.As(err, &mismatch) {
		t.Errorf("another request with the token: %v", err)
	}
}

// Waiters see a table come and go.
func testWaiters(t *testing.T, s Subject) {
	b := newProbe(t, s)
	_, err := b.client.DeleteTable(b.Context(), &dynamodb.DeleteTableInput{TableName: b.table})
	b.must(err)
	b.must(dynamodb.NewTableNotExistsWaiter(b.client).Wait(b.Context(), &dynamodb.DescribeTableInput{TableName: b.table}, waitMax))
	list := dynamodb.NewListTablesPaginator(b.client, &dynamodb.ListTablesInput{})
	for list.HasMorePages() {
		page, err := list.NextPage(b.Context())
		b.must(err)
		for _, name := range page.TableNames {
			if name == *b.table {
				t.Errorf("%s is listed after its deletion", name)
			}
		}
	}
}

// 100 actions and 4 MB fit a transaction.
func testTransactionLimits(t *testing.T, s Subject) {
	b := newProbe(t, s)
	puts := func(n, size int) error {
		var list []types.TransactWriteItem
		for i := range n {
			list = append(list, types.TransactWriteItem{Put: &types.Put{TableName: b.table, Item: item{
				"pk": text(fmt.Sprint("p", i)), "sk": number(i), "p": text(strings.Repeat("x", size)),
			}}})
		}
		_, err := b.client.TransactWriteItems(b.Context(), &dynamodb.TransactWriteItemsInput{TransactItems: list}, retried)
		return err
	}
	b.must(puts(100, 10))
	if err := puts(12, 350_000); err == nil || !strings.Contains(err.Error(), "ValidationException") {
		t.Errorf("4.2 MB in one transaction: %v", err)
	}
	var gets []types.TransactGetItem
	for i := range 100 {
		gets = append(gets, types.TransactGetItem{Get: &types.Get{TableName: b.table, Key: b.key(fmt.Sprint("p", i), i)}})
	}
	out, err := b.client.TransactGetItems(b.Context(), &dynamodb.TransactGetItemsInput{TransactItems: gets})
	b.must(err)
	for i, r := range out.Responses {
		if got := sequence([]item{r.Item}); got[0] != fmt.Sprint(i) {
			t.Errorf("response %d is %v", i, r.Item)
		}
	}
}

// Tags come, change and go.
func testTags(t *testing.T, s Subject) {
	b := newProbe(t, s)
	described, err := b.client.DescribeTable(b.Context(), &dynamodb.DescribeTableInput{TableName: b.table})
	b.must(err)
	arn := described.Table.TableArn
	tags := func(want string) {
		t.Helper()
		got := ""
		b.until("tags "+want, func() bool {
			out, err := b.client.ListTagsOfResource(b.Context(), &dynamodb.ListTagsOfResourceInput{ResourceArn: arn})
			b.must(err)
			var list []string
			for _, tag := range out.Tags {
				list = append(list, *tag.Key+"="+*tag.Value)
			}
			got = strings.Join(distinct(list), " ")
			return got == want
		})
	}
	tags("")
	_, err = b.client.TagResource(b.Context(), &dynamodb.TagResourceInput{ResourceArn: arn, Tags: []types.Tag{
		{Key: aws.String("env"), Value: aws.String("test")}, {Key: aws.String("team"), Value: aws.String("a")},
	}})
	b.must(err)
	tags("env=test team=a")
	_, err = b.client.TagResource(b.Context(), &dynamodb.TagResourceInput{ResourceArn: arn, Tags: []types.Tag{{Key: aws.String("env"), Value: aws.String("live")}}})
	b.must(err)
	tags("env=live team=a")
	_, err = b.client.UntagResource(b.Context(), &dynamodb.UntagResourceInput{ResourceArn: arn, TagKeys: []string{"team", "nobody"}})
	b.must(err)
	tags("env=live")
}
