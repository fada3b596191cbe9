package temporalsaga_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/hotsplit/hotsplit/emulator"
	"github.com/hotsplit/hotsplit/emulator/awsjson"
	"github.com/hotsplit/hotsplit/renewal"
	"github.com/hotsplit/hotsplit/renewal/dynamostore"
	"github.com/hotsplit/hotsplit/shard"
)

// openStore is a store on an emulated table of its own, with the workflow's clock.
func openStore(t *testing.T, now func() time.Time) renewal.Store {
	t.Helper()
	client := dynamodb.New(dynamodb.Options{
		Region: "us-east-1", Credentials: aws.AnonymousCredentials{},
		HTTPClient: &http.Client{Transport: awsjson.Transport(emulator.New(emulator.Options{}))},
	})
	layout := shard.Layout{Index: "renewal-saga-person-index", PartitionKey: "GSI4PK", SortKey: "GSI4SK", Base: "RenewalSaga", Count: 16}
	if err := dynamostore.CreateTable(t.Context(), client, "propflow", layout, dynamostore.Warm{}); err != nil {
		t.Fatal(err)
	}
	return dynamostore.New(client, "propflow", dynamostore.Static(shard.Static(layout)), dynamostore.Options{Now: now})
}
