package emulator_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hotsplit/hotsplit/emulator"
	"github.com/hotsplit/hotsplit/emulator/attr"
)

func describe(t *testing.T, db *emulator.DB) *emulator.TableDescription {
	t.Helper()
	out, err := db.DescribeTable(t.Context(), &emulator.DescribeTableInput{TableName: new("rig")})
	must(t, err)
	return out.Table
}

// An index made on a live table is built, refuses readers until it is active, and
// misses nothing that is written meanwhile.
func TestIndexOnALiveTable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := emulator.Options{Unlimited: true, TableDelay: time.Minute}
		db := rig(t, o)
		if err := putRow(db, t.Context(), 1, "k"); err == nil {
			t.Error("a table that is being created takes items")
		}
		time.Sleep(time.Minute)
		put(t, db, row(1, "k").With("n", attr.Int(1)), row(2, "k").With("n", attr.Int(2)), row(9, "k").With("n", attr.String("no number")))
		out, err := db.UpdateTable(t.Context(), &emulator.UpdateTableInput{
			TableName:            new("rig"),
			AttributeDefinitions: []emulator.AttributeDefinition{{new("n"), "N"}},
			GlobalSecondaryIndexUpdates: []emulator.IndexUpdate{{Create: &emulator.IndexSpec{
				IndexName: new("byNumber"), KeySchema: []emulator.KeySchemaElement{{new("n"), "HASH"}},
				Projection: &emulator.Projection{ProjectionType: "KEYS_ONLY"},
			}}},
		})
		must(t, err)
		if d := out.Table; d.TableStatus != "UPDATING" || d.GlobalSecondaryIndexes[1].IndexStatus != "CREATING" || !d.GlobalSecondaryIndexes[1].Backfilling {
			t.Errorf("%+v", d)
		}
		put(t, db, row(3, "k").With("n", attr.Int(3)))
		scan := &emulator.ScanInput{TableName: new("rig"), IndexName: new("byNumber")}
		_, err = db.Scan(t.Context(), scan)
		if e := wantCode(t, err, emulator.CodeValidation); !strings.Contains(e.Message, "backfilling") {
			t.Error(e)
		}
		_, err = db.UpdateTable(t.Context(), &emulator.UpdateTableInput{TableName: new("rig"), BillingMode: "PAY_PER_REQUEST"})
		wantCode(t, err, emulator.CodeResourceInUse)
		time.Sleep(time.Minute)
		page, err := db.Scan(t.Context(), scan)
		must(t, err)
		if page.Count != 3 || page.Items[0].Len() != 3 {
			t.Errorf("%+v", page)
		}
		deleteIndex(t, db, "byNumber")
		if _, err := db.Scan(t.Context(), scan); err == nil {
			t.Error("an index that is being deleted is read")
		}
		time.Sleep(time.Minute)
		if d := describe(t, db); len(d.GlobalSecondaryIndexes) != 1 || d.TableStatus != "ACTIVE" {
			t.Errorf("%+v", d)
		}
		_, err = db.DeleteTable(t.Context(), &emulator.DeleteTableInput{TableName: new("rig")})
		must(t, err)
		if d := describe(t, db); d.TableStatus != "DELETING" {
			t.Errorf("%+v", d)
		}
		time.Sleep(time.Minute)
		_, err = db.DescribeTable(t.Context(), &emulator.DescribeTableInput{TableName: new("rig")})
		wantCode(t, err, emulator.CodeResourceNotFound)
	})
}

func deleteIndex(t *testing.T, db *emulator.DB, name string) {
	t.Helper()
	_, err := db.UpdateTable(t.Context(), &emulator.UpdateTableInput{
		TableName: new("rig"), GlobalSecondaryIndexUpdates: []emulator.IndexUpdate{{Delete: &emulator.IndexSpec{IndexName: &name}}},
	})
	must(t, err)
}

// TTL deletes step by step, at no charge, and what it deletes leaves the index.
func TestTTLReaper(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := rig(t, emulator.Options{})
		_, err := db.UpdateTimeToLive(t.Context(), &emulator.UpdateTimeToLiveInput{
			TableName:               new("rig"),
			TimeToLiveSpecification: &emulator.TimeToLiveSpecification{AttributeName: new("ttl"), Enabled: new(true)},
		})
		must(t, err)
		at := func(d time.Duration) attr.Value { return attr.Int(time.Now().Add(d).Unix()) }
		put(t, db,
			row(1, "k").With("ttl", at(time.Hour)), row(2, "k").With("ttl", at(time.Hour)), row(3, "k").With("ttl", at(3*time.Hour)),
			row(4, "k").With("ttl", attr.String("soon")), row(5, "k").With("ttl", at(-6*365*24*time.Hour)), row(6, "k"))
		if n := db.ReapTTL(0); n != 0 {
			t.Errorf("%d expired at once", n)
		}
		time.Sleep(2 * time.Hour)
		used := counter(db, "ConsumedWriteCapacityUnits")
		if a, b, c := db.ReapTTL(1), db.ReapTTL(1), db.ReapTTL(0); a != 1 || b != 1 || c != 0 {
			t.Errorf("reaped %d, %d, %d", a, b, c)
		}
		time.Sleep(time.Second)
		if got := len(onKey(t, db, "k")); got != 4 {
			t.Errorf("%d entries left", got)
		}
		if got := counter(db, "ConsumedWriteCapacityUnits"); got != used {
			t.Errorf("expiry cost %v units", got-used)
		}
	})
}

// A local index is read strongly, follows its table at once and shares its
// partitions.
func TestLocalIndex(t *testing.T) {
	db := emulator.New(emulator.Options{})
	in := rigTable()
	in.GlobalSecondaryIndexes = nil
	in.AttributeDefinitions = in.AttributeDefinitions[:3]
	in.LocalSecondaryIndexes = []emulator.IndexSpec{{
		IndexName: new("byKey"), KeySchema: []emulator.KeySchemaElement{{new("PK"), "HASH"}, {new("GSI4PK"), "RANGE"}},
		Projection: &emulator.Projection{ProjectionType: "KEYS_ONLY"},
	}}
	_, err := db.CreateTable(t.Context(), in)
	must(t, err)
	for i, key := range []string{"c", "a", "b", "a"} {
		put(t, db, row(0, key).With("SK", attr.String(fmt.Sprint(i))))
	}
	q := &emulator.QueryInput{
		TableName: new("rig"), IndexName: new("byKey"), ConsistentRead: true, KeyConditionExpression: new("PK = :k"),
		Expressions:            emulator.Expressions{Values: map[string]attr.Value{":k": attr.String("RSAGA#0")}},
		ReturnConsumedCapacity: "INDEXES",
	}
	out, err := db.Query(t.Context(), q)
	must(t, err)
	var order string
	for _, item := range out.Items {
		order += item.Get("GSI4PK").Text()
		if item.Has("GSI4SK") {
			t.Error("an attribute that is not projected")
		}
	}
	if c := out.ConsumedCapacity; order != "aabc" || c.LocalSecondaryIndexes["byKey"].CapacityUnits != 1 || c.Table.CapacityUnits != 0 {
		t.Errorf("%s %+v", order, c)
	}
	q.Select = "ALL_ATTRIBUTES"
	out, err = db.Query(t.Context(), q)
	must(t, err)
	if c := out.ConsumedCapacity; !out.Items[0].Has("GSI4SK") || c.Table.CapacityUnits != 4 {
		t.Errorf("fetched %v for %+v", out.Items[0], c)
	}
}

// A table may become on-demand four times a day.
func TestModeSwitches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := emulator.New(emulator.Options{})
		in := rigTable()
		in.GlobalSecondaryIndexes, in.AttributeDefinitions = nil, in.AttributeDefinitions[:2]
		_, err := db.CreateTable(t.Context(), in)
		must(t, err)
		toProvisioned := &emulator.UpdateTableInput{TableName: new("rig"), BillingMode: "PROVISIONED", ProvisionedThroughput: provisioned(5, 5)}
		toOnDemand := &emulator.UpdateTableInput{TableName: new("rig"), BillingMode: "PAY_PER_REQUEST"}
		for range 4 {
			_, err := db.UpdateTable(t.Context(), toProvisioned)
			must(t, err)
			_, err = db.UpdateTable(t.Context(), toOnDemand)
			must(t, err)
		}
		_, err = db.UpdateTable(t.Context(), toProvisioned)
		must(t, err)
		_, err = db.UpdateTable(t.Context(), toOnDemand)
		wantCode(t, err, emulator.CodeLimitExceeded)
		time.Sleep(25 * time.Hour)
		_, err = db.UpdateTable(t.Context(), toOnDemand)
		must(t, err)
	})
}
