package emulator_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

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

func TestSmoke(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := t.Context()
		db := rig(t, emulator.Options{})
		for i := range 10 {
			if _, err := db.PutItem(ctx, &emulator.PutItemInput{TableName: new("rig"), Item: row(i, "RenewalSaga"), ReturnConsumedCapacity: "INDEXES"}); err != nil {
				t.Fatal(err)
			}
		}
		q := &emulator.QueryInput{
			TableName: new("rig"), IndexName: new("GSI4"),
			KeyConditionExpression: new("GSI4PK = :k"),
			Expressions:            emulator.Expressions{Values: map[string]attr.Value{":k": attr.String("RenewalSaga")}},
			Limit:                  new(3),
		}
		out, err := db.Query(ctx, q)
		if err != nil {
			t.Fatal(err)
		}
		if out.Count != 0 {
			t.Fatalf("entries before the lag: %d", out.Count)
		}
		time.Sleep(time.Second)
		n := 0
		for {
			out, err := db.Query(ctx, q)
			if err != nil {
				t.Fatal(err)
			}
			n += out.Count
			if out.LastEvaluatedKey.IsNil() {
				break
			}
			q.ExclusiveStartKey = out.LastEvaluatedKey
		}
		if n != 10 {
			t.Fatalf("%d rows, want 10", n)
		}
		for _, e := range db.Log()[:3] {
			t.Logf("%+v", e)
		}
	})
}
