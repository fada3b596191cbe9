package e2e_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/hotsplit/hotsplit/emulator"
	"github.com/hotsplit/hotsplit/emulator/awsjson"
	"github.com/hotsplit/hotsplit/renewal"
	"github.com/hotsplit/hotsplit/renewal/dynamostore"
	"github.com/hotsplit/hotsplit/renewal/temporalsaga"
	"github.com/hotsplit/hotsplit/shard"
)

const tableName = "propflow"

var (
	legacy  = shard.Layout{Index: "renewal-saga-person-index", PartitionKey: "GSI4PK", SortKey: "GSI4SK", Base: "RenewalSaga"}
	sharded = func() shard.Layout { l := legacy; l.Count = 16; return l }()
)

// table is the application's table in an emulated DynamoDB, in this process or
// behind an address.
type table struct {
	t      *testing.T
	db     *emulator.DB // nil when it is elsewhere
	client *dynamodb.Client
}

func newTable(t *testing.T) *table {
	t.Helper()
	db := emulator.New(emulator.Options{})
	x := &table{t: t, db: db, client: dynamodb.New(dynamodb.Options{
		Region: "us-east-1", Credentials: aws.AnonymousCredentials{}, HTTPClient: &http.Client{Transport: awsjson.Transport(db)},
	})}
	if err := dynamostore.CreateTable(t.Context(), x.client, tableName, sharded, dynamostore.Warm{}); err != nil {
		t.Fatal(err)
	}
	return x
}

// tableAt is the table as another process sees it.
func tableAt(endpoint string) *table {
	return &table{client: dynamodb.New(dynamodb.Options{
		Region: "us-east-1", BaseEndpoint: &endpoint, Credentials: credentials.NewStaticCredentialsProvider("worker", "x", ""),
	})}
}

// endpoint opens the table to other processes.
func (x *table) endpoint() string {
	listener := httptest.NewServer(awsjson.Handler(x.db))
	x.t.Cleanup(listener.Close)
	return listener.URL
}

func (x *table) store() renewal.Store {
	return dynamostore.New(x.client, tableName, dynamostore.Static(shard.Static(sharded)), dynamostore.Options{})
}

func (x *table) open() []renewal.Saga {
	x.t.Helper()
	sagas, err := x.store().OpenSagas(x.t.Context())
	if err != nil {
		x.t.Fatal(err)
	}
	return sagas
}

// openSaga opens a saga as the page does when automation is off.
func (x *table) openSaga(lease temporalsaga.Lease) {
	x.t.Helper()
	_, err := x.store().Open(x.t.Context(), renewal.Saga{
		PersonID: lease.PersonID, LeaseID: lease.ID, PropertyID: lease.PropertyID, Unit: lease.Unit, LeaseEnd: lease.Ends,
	})
	if err != nil {
		x.t.Fatal(err)
	}
}

func (x *table) moveBehindItsBack(lease temporalsaga.Lease, to renewal.State) {
	x.t.Helper()
	if _, err := x.store().Transition(x.t.Context(), lease.SagaID(), renewal.Change{Op: "another-hand", To: to}); err != nil {
		x.t.Fatal(err)
	}
}

// dropRent leaves a lease without the rent that an offer is made from.
func (x *table) dropRent(lease temporalsaga.Lease) {
	x.t.Helper()
	_, err := x.client.UpdateItem(x.t.Context(), &dynamodb.UpdateItemInput{
		TableName: aws.String(tableName), UpdateExpression: aws.String("REMOVE rentCents"),
		Key: map[string]types.AttributeValue{"PK": s("LEASE#" + lease.ID), "SK": s("META")},
	})
	if err != nil {
		x.t.Fatal(err)
	}
}

// letters counts the letters of a saga by kind.
func (x *table) letters(sagaID string) map[string]int {
	x.t.Helper()
	return x.allLetters()[sagaID]
}

// allLetters counts the letters of every saga by kind.
func (x *table) allLetters() map[string]map[string]int {
	x.t.Helper()
	sent := map[string]map[string]int{}
	pages := dynamodb.NewScanPaginator(x.client, &dynamodb.ScanInput{
		TableName: aws.String(tableName), FilterExpression: aws.String("entityType = :letter"),
		ExpressionAttributeValues: map[string]types.AttributeValue{":letter": s("Letter")},
	})
	for pages.HasMorePages() {
		page, err := pages.NextPage(x.t.Context())
		if err != nil {
			x.t.Fatal(err)
		}
		for _, letter := range page.Items {
			saga := text(letter["sagaId"])
			if sent[saga] == nil {
				sent[saga] = map[string]int{}
			}
			sent[saga][text(letter["kind"])]++
		}
	}
	return sent
}

func s(value string) types.AttributeValue { return &types.AttributeValueMemberS{Value: value} }

func text(value types.AttributeValue) string {
	if s, ok := value.(*types.AttributeValueMemberS); ok {
		return s.Value
	}
	return ""
}
