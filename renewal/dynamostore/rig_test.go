package dynamostore_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/hotsplit/hotsplit/emulator"
	"github.com/hotsplit/hotsplit/emulator/awsjson"
	"github.com/hotsplit/hotsplit/renewal"
	"github.com/hotsplit/hotsplit/renewal/dynamostore"
	"github.com/hotsplit/hotsplit/shard"
)

const table = "propflow"

var (
	legacy  = shard.Layout{Index: "renewal-saga-person-index", PartitionKey: "GSI4PK", SortKey: "GSI4SK", Base: "RenewalSaga"}
	sharded = func() shard.Layout { l := legacy; l.Count = 16; return l }()
	nine    = time.Date(2026, 12, 1, 9, 0, 0, 0, time.UTC)
)

type rig struct {
	t      *testing.T
	db     *emulator.DB
	client *dynamodb.Client
	store  *dynamostore.Store
}

func newRig(t *testing.T, routing shard.Routing, options emulator.Options) *rig {
	t.Helper()
	db := emulator.New(options)
	r := &rig{t: t, db: db, client: clientOf(db)}
	if err := dynamostore.CreateTable(t.Context(), r.client, table, routing.Write, dynamostore.Warm{}); err != nil {
		t.Fatal(err)
	}
	r.store = dynamostore.New(r.client, table, dynamostore.Static(routing), dynamostore.Options{Now: func() time.Time { return nine }})
	return r
}

func clientOf(db *emulator.DB) *dynamodb.Client {
	return dynamodb.New(dynamodb.Options{
		Region: "us-east-1", Credentials: aws.AnonymousCredentials{},
		HTTPClient: &http.Client{Transport: awsjson.Transport(db)},
	})
}

func draft(i int) renewal.Saga {
	return renewal.Saga{
		PersonID: fmt.Sprintf("person-%03d", i), LeaseID: fmt.Sprintf("lease-%03d", i), PropertyID: "elm-street",
		Unit: fmt.Sprint(i), LeaseEnd: nine.AddDate(0, 3, 0),
	}
}

func (r *rig) open(i int) renewal.Saga {
	r.t.Helper()
	saga, err := r.store.Open(r.t.Context(), draft(i))
	if err != nil {
		r.t.Fatal(err)
	}
	return saga
}

func (r *rig) move(id, op string, to renewal.State) renewal.Saga {
	r.t.Helper()
	saga, err := r.store.Transition(r.t.Context(), id, renewal.Change{Op: op, To: to})
	if err != nil {
		r.t.Fatal(err)
	}
	return saga
}

// rows is every saga's item, from the base table.
func (r *rig) rows() []map[string]types.AttributeValue {
	r.t.Helper()
	var rows []map[string]types.AttributeValue
	pages := dynamodb.NewScanPaginator(r.client, &dynamodb.ScanInput{
		TableName: aws.String(table), ConsistentRead: aws.Bool(true), FilterExpression: aws.String("entityType = :s"),
		ExpressionAttributeValues: map[string]types.AttributeValue{":s": &types.AttributeValueMemberS{Value: "RenewalSaga"}},
	})
	for pages.HasMorePages() {
		page, err := pages.NextPage(context.WithoutCancel(r.t.Context()))
		if err != nil {
			r.t.Fatal(err)
		}
		rows = append(rows, page.Items...)
	}
	return rows
}

func s(row map[string]types.AttributeValue, name string) string {
	if v, ok := row[name].(*types.AttributeValueMemberS); ok {
		return v.Value
	}
	return ""
}
