package emulator_test

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/hotsplit/hotsplit/emulator"
	"github.com/hotsplit/hotsplit/emulator/attr"
)

func txPut(item attr.Item) emulator.TransactWriteItem {
	return emulator.TransactWriteItem{Put: &emulator.TransactAction{TableName: new("rig"), Item: item}}
}

func txCheck(i int, condition string) emulator.TransactWriteItem {
	return emulator.TransactWriteItem{ConditionCheck: &emulator.TransactAction{
		TableName: new("rig"), Key: rowKey(i), ConditionExpression: &condition, ReturnValuesOnConditionCheckFailure: "ALL_OLD",
	}}
}

func TestTransactionIsAllOrNothing(t *testing.T) {
	db := rig(t, lean())
	put(t, db, row(1, "k"))
	_, err := db.TransactWriteItems(t.Context(), &emulator.TransactWriteItemsInput{
		TransactItems: []emulator.TransactWriteItem{txPut(row(2, "k")), txCheck(1, "attribute_not_exists(PK)")},
	})
	e := wantCode(t, err, emulator.CodeTransactionCanceled)
	if e.Cancellation[0].Code != "None" || e.Cancellation[1].Code != "ConditionalCheckFailed" || !e.Cancellation[1].Item.Equal(row(1, "k")) {
		t.Errorf("%+v", e.Cancellation)
	}
	if item, _ := getRow(db, t.Context(), 2); !item.IsNil() {
		t.Error("half a transaction happened")
	}
}

func TestTransactionUnits(t *testing.T) {
	for doubled, index := range map[bool]float64{false: 1, true: 2} {
		o := lean()
		o.TransactionIndexUnits = doubled
		db := rig(t, o)
		in := &emulator.TransactWriteItemsInput{
			TransactItems:      []emulator.TransactWriteItem{txPut(row(1, "k")), txCheck(2, "attribute_not_exists(PK)")},
			ClientRequestToken: new("token"), ReturnConsumedCapacity: "INDEXES",
		}
		out, err := db.TransactWriteItems(t.Context(), in)
		must(t, err)
		c := out.ConsumedCapacity[0]
		if c.Table.CapacityUnits != 4 || c.GlobalSecondaryIndexes["GSI4"].CapacityUnits != index || *c.WriteCapacityUnits != 4+index {
			t.Errorf("doubled %v: %+v %+v", doubled, c, c.GlobalSecondaryIndexes)
		}
		again, err := db.TransactWriteItems(t.Context(), in)
		must(t, err)
		if c := again.ConsumedCapacity[0]; c.WriteCapacityUnits != nil || *c.ReadCapacityUnits != 4 {
			t.Errorf("a replay costs %+v", c)
		}
	}
}

func TestTransactionTokens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := rig(t, lean())
		in := func(item attr.Item) *emulator.TransactWriteItemsInput {
			return &emulator.TransactWriteItemsInput{
				TransactItems: []emulator.TransactWriteItem{txPut(item)}, ClientRequestToken: new("token"),
			}
		}
		_, err := db.TransactWriteItems(t.Context(), in(row(1, "a")))
		must(t, err)
		put(t, db, row(1, "b"))
		_, err = db.TransactWriteItems(t.Context(), in(row(1, "a")))
		must(t, err)
		if item, _ := getRow(db, t.Context(), 1); !item.Equal(row(1, "b")) {
			t.Error("a replay wrote again")
		}
		_, err = db.TransactWriteItems(t.Context(), in(row(1, "c")))
		wantCode(t, err, emulator.CodeIdempotentMismatch)
		time.Sleep(10*time.Minute + time.Second)
		_, err = db.TransactWriteItems(t.Context(), in(row(1, "c")))
		must(t, err)
	})
}

func TestThrottledTransaction(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := isolated(t)
		for i := range 1000 {
			must(t, putRow(db, t.Context(), i, "K0"))
		}
		_, err := db.TransactWriteItems(t.Context(), &emulator.TransactWriteItemsInput{
			TransactItems: []emulator.TransactWriteItem{txPut(row(5000, "cool")), txPut(row(5001, "K0"))},
		})
		e := wantCode(t, err, emulator.CodeTransactionCanceled)
		if diff := cmp.Diff([]string{"None", "ThrottlingError"}, []string{e.Cancellation[0].Code, e.Cancellation[1].Code}); diff != "" {
			t.Error(diff)
		}
		if e.Cancellation[1].Message == "" || e.Cancellation[0].Message != "" {
			t.Errorf("%+v", e.Cancellation)
		}
	})
}

// Readers of transactions never see a part of one.
func TestTransactionsAreIsolated(t *testing.T) {
	db := rig(t, lean())
	write := func(version int64) {
		items := make([]emulator.TransactWriteItem, 5)
		for i := range items {
			items[i] = txPut(row(i, "k").With("version", attr.Int(version)))
		}
		if _, err := db.TransactWriteItems(t.Context(), &emulator.TransactWriteItemsInput{TransactItems: items}); err != nil {
			t.Error(err)
		}
	}
	write(0)
	var wg sync.WaitGroup
	for w := range 3 {
		wg.Go(func() {
			for v := range 200 {
				write(int64(w*1000 + v))
			}
		})
	}
	for range 3 {
		wg.Go(func() {
			in := &emulator.TransactGetItemsInput{}
			for i := range 5 {
				in.TransactItems = append(in.TransactItems, emulator.TransactGetItem{Get: &emulator.TransactGet{TableName: new("rig"), Key: rowKey(i)}})
			}
			for range 200 {
				out, err := db.TransactGetItems(t.Context(), in)
				if err != nil {
					t.Error(err)
					return
				}
				for _, item := range out.Responses {
					if !attr.Equal(item.Get("version"), out.Responses[0].Get("version")) {
						t.Error("a torn read")
						return
					}
				}
			}
		})
	}
	wg.Wait()
}
