package emulator_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/hotsplit/hotsplit/emulator"
	"github.com/hotsplit/hotsplit/emulator/attr"
)

func rig(t testing.TB, o emulator.Options) *emulator.DB {
	t.Helper()
	db := emulator.New(o)
	if _, err := db.CreateTable(t.Context(), rigTable()); err != nil {
		t.Fatal(err)
	}
	return db
}

// rigTable is the table of known-faults.md.
func rigTable() *emulator.CreateTableInput {
	return &emulator.CreateTableInput{
		TableName:   new("rig"),
		BillingMode: "PAY_PER_REQUEST",
		AttributeDefinitions: []emulator.AttributeDefinition{
			{new("PK"), "S"}, {new("SK"), "S"}, {new("GSI4PK"), "S"}, {new("GSI4SK"), "S"},
		},
		KeySchema: []emulator.KeySchemaElement{{new("PK"), "HASH"}, {new("SK"), "RANGE"}},
		GlobalSecondaryIndexes: []emulator.IndexSpec{{
			IndexName:  new("GSI4"),
			KeySchema:  []emulator.KeySchemaElement{{new("GSI4PK"), "HASH"}, {new("GSI4SK"), "RANGE"}},
			Projection: &emulator.Projection{ProjectionType: "ALL"},
		}},
	}
}

func row(i int, key string) attr.Item {
	return attr.New(map[string]attr.Value{
		"PK":     attr.String(fmt.Sprintf("RSAGA#%d", i)),
		"SK":     attr.String("META"),
		"GSI4PK": attr.String(key),
		"GSI4SK": attr.String(fmt.Sprintf("person-%d#2026", i)),
	})
}

// put stores items and fails the test on any error.
func put(t testing.TB, db *emulator.DB, items ...attr.Item) {
	t.Helper()
	for _, item := range items {
		if _, err := db.PutItem(t.Context(), &emulator.PutItemInput{TableName: new("rig"), Item: item}); err != nil {
			t.Fatal(err)
		}
	}
}

// onKey lists the base partition keys that the index shows at a key, in order.
func onKey(t testing.TB, db *emulator.DB, key string) []string {
	t.Helper()
	out, err := db.Query(t.Context(), &emulator.QueryInput{
		TableName: new("rig"), IndexName: new("GSI4"), KeyConditionExpression: new("GSI4PK = :k"),
		Expressions: emulator.Expressions{Values: map[string]attr.Value{":k": attr.String(key)}},
	})
	if err != nil {
		t.Fatal(err)
	}
	names := []string{}
	for _, item := range out.Items {
		names = append(names, item.Get("PK").Text())
	}
	return names
}

// wantCode fails the test unless err is an answer of that code.
func wantCode(t testing.TB, err error, code string) *emulator.Error {
	t.Helper()
	e, ok := errors.AsType[*emulator.Error](err)
	if !ok || e.Code != code {
		t.Fatalf("got %v, want %s", err, code)
	}
	return e
}
