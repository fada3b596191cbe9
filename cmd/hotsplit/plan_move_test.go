package main

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/hotsplit/hotsplit/emulator"
	"github.com/hotsplit/hotsplit/emulator/awsjson"
	"github.com/hotsplit/hotsplit/migrate"
	"github.com/hotsplit/hotsplit/shard"
	"github.com/hotsplit/hotsplit/sim"
)

// TestPlannedMoveTakesThatLong moves rows on the emulator in virtual time and
// compares with what the plan said.
func TestPlannedMoveTakesThatLong(t *testing.T) {
	for _, c := range []struct{ rows, bytes int }{{179, 20_000}, {2000, 900}} {
		t.Run(fmt.Sprintf("%d rows of %d bytes", c.rows, c.bytes), func(t *testing.T) {
			planned := sim.PlanMove(sim.MoveInput{Rows: c.rows, RowBytes: c.bytes, EntryBytes: c.bytes}, sim.Prices{})
			var took time.Duration
			synctest.Test(t, func(t *testing.T) { took = moveRows(t, c.rows, c.bytes) })
			t.Logf("planned %v (%v moving rows), took %v", planned.Total, planned.Backfill, took)
			if diff := planned.Total - took; max(diff, -diff) > took*15/100 {
				t.Errorf("planned %v, took %v: more than 15 %% apart", planned.Total, took)
			}
		})
	}
}

func moveRows(t *testing.T, rows, bytes int) time.Duration {
	t.Helper()
	db := emulator.New(emulator.Options{Seed: 1})
	client := dynamodb.New(dynamodb.Options{
		Region: "us-east-1", Credentials: aws.AnonymousCredentials{}, HTTPClient: &http.Client{Transport: awsjson.Transport(db)},
	})
	openSagas(t, client, rows, bytes, func(i int) {
		if i%20 == 19 {
			time.Sleep(time.Second) // below the old key's ceiling
		}
	})
	time.Sleep(time.Minute)
	spec := sagaSpec(t)
	runner, err := migrate.NewRunner(client, spec, migrate.Options{Holder: "test", Alone: true})
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	if _, err := runner.Move(t.Context()); err != nil {
		t.Fatal(err)
	}
	took := time.Since(began)
	if err := runner.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	return took
}

func sagaSpec(t *testing.T) migrate.Spec {
	t.Helper()
	spec, err := migrate.Spec{
		Name: "renewal-saga", Table: "propflow", Key: []string{"PK", "SK"}, Owner: "personId",
		Index: "gsi4", PartitionKey: "GSI4PK", SortKey: "GSI4SK",
		From: shard.Layout{Base: "RenewalSaga"}, To: shard.Layout{Base: "RenewalSaga", Count: 16},
	}.Resolve()
	if err != nil {
		t.Fatal(err)
	}
	return spec
}

// openSagas makes the table and its rows on the old key; pace is called after each.
func openSagas(t *testing.T, client *dynamodb.Client, rows, bytes int, pace func(i int)) {
	t.Helper()
	text := func(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }
	key := func(pk, sk string) []types.KeySchemaElement {
		return []types.KeySchemaElement{{AttributeName: &pk, KeyType: types.KeyTypeHash}, {AttributeName: &sk, KeyType: types.KeyTypeRange}}
	}
	var attributes []types.AttributeDefinition
	for _, name := range []string{"PK", "SK", "GSI4PK", "GSI4SK"} {
		attributes = append(attributes, types.AttributeDefinition{AttributeName: aws.String(name), AttributeType: types.ScalarAttributeTypeS})
	}
	if _, err := client.CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName: aws.String("propflow"), BillingMode: types.BillingModePayPerRequest, KeySchema: key("PK", "SK"), AttributeDefinitions: attributes,
		GlobalSecondaryIndexes: []types.GlobalSecondaryIndex{{
			IndexName: aws.String("gsi4"), KeySchema: key("GSI4PK", "GSI4SK"), Projection: &types.Projection{ProjectionType: types.ProjectionTypeAll},
		}},
	}); err != nil {
		t.Fatal(err)
	}
	for i := range rows {
		person := sim.OwnerName(i)
		if _, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("propflow"), Item: map[string]types.AttributeValue{
			"PK": text("RSAGA#" + person), "SK": text("META"), "personId": text(person), "GSI4PK": text("RenewalSaga"),
			"GSI4SK": text(person + "#2026-05-22T06:00:00.000Z"), "body": text(strings.Repeat("x", bytes-150)),
		}}); err != nil {
			t.Fatal(err)
		}
		pace(i)
	}
}
