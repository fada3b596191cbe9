package emulator_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/hotsplit/hotsplit/emulator"
	"github.com/hotsplit/hotsplit/emulator/attr"
)

func putRow(db *emulator.DB, ctx context.Context, i int, key string) error {
	_, err := db.PutItem(ctx, &emulator.PutItemInput{TableName: new("rig"), Item: row(i, key)})
	return err
}

func getRow(db *emulator.DB, ctx context.Context, i int) (attr.Item, error) {
	out, err := db.GetItem(ctx, &emulator.GetItemInput{TableName: new("rig"), Key: rowKey(i)})
	if err != nil {
		return attr.Item{}, err
	}
	return out.Item, nil
}

func TestScriptedFaults(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := t.Context()
		db := rig(t, lean())

		id := db.Inject(emulator.Fault{Kind: emulator.FaultThrottle, Operation: "PutItem", Index: "GSI4", Key: "hot"})
		e := wantCode(t, putRow(db, ctx, 1, "hot"), emulator.CodeThrottling)
		if e.Reasons[0].Reason != "IndexWriteKeyRangeThroughputExceeded" || e.Reasons[0].Resource != "arn:aws:dynamodb:us-east-1:123456789012:table/rig/index/GSI4" {
			t.Errorf("%+v", e.Reasons)
		}
		must(t, putRow(db, ctx, 1, "cool"))
		if !db.Withdraw(id) || db.Withdraw(id) {
			t.Error("withdrawn not once")
		}
		must(t, putRow(db, ctx, 1, "hot"))

		id = db.Inject(emulator.Fault{Kind: emulator.FaultError, Caller: "sweeper", Count: 2})
		sweeper := emulator.WithCaller(ctx, "sweeper")
		for range 2 {
			if e := wantCode(t, putRow(db, sweeper, 2, "k"), emulator.CodeInternal); e.Status != http.StatusInternalServerError {
				t.Errorf("status %d", e.Status)
			}
		}
		if item, err := getRow(db, sweeper, 2); err != nil || !item.IsNil() {
			t.Errorf("an error that wrote: %v %v", item, err)
		}
		db.Withdraw(id)

		id = db.Inject(emulator.Fault{Kind: emulator.FaultDrop, Operation: "PutItem", Every: 2})
		must(t, putRow(db, ctx, 3, "k"))
		if err := putRow(db, ctx, 4, "k"); !errors.Is(err, emulator.ErrDropped) {
			t.Errorf("dropped: %v", err)
		}
		if item, err := getRow(db, ctx, 4); err != nil || item.IsNil() {
			t.Errorf("dropped before it was committed: %v %v", item, err)
		}
		db.Withdraw(id)

		db.Inject(emulator.Fault{Kind: emulator.FaultDelay, Key: "RSAGA#5", Delay: 3 * time.Second})
		start := time.Now()
		must(t, putRow(db, ctx, 5, "k"))
		if d := time.Since(start); d != 3*time.Second {
			t.Errorf("delayed %v", d)
		}
		impatient, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		if err := putRow(db, impatient, 5, "k"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a delay outlasts its caller: %v", err)
		}
		log := db.Log()
		if last := log[len(log)-1]; last.Fault != "delay" || last.Outcome != context.DeadlineExceeded.Error() {
			t.Errorf("%+v", last)
		}
	})
}

// The same seed strikes the same requests.
func TestFaultsAreDeterministic(t *testing.T) {
	strikes := func(seed int64) string {
		o := lean()
		o.Seed = seed
		db := rig(t, o)
		db.Inject(emulator.Fault{Kind: emulator.FaultError, Probability: 0.3, Skip: 5})
		var s string
		for i := range 100 {
			s += fmt.Sprint(putRow(db, t.Context(), i, "k") != nil, " ")
		}
		if f := db.Faults()[0]; f.Matched != 100 || f.Struck < 15 || f.Struck > 45 {
			t.Errorf("%+v", f)
		}
		return s
	}
	if again := strikes(7); strikes(7) != again {
		t.Error("two runs of a seed differ")
	}
	if strikes(7) == strikes(8) {
		t.Error("the seed does not matter")
	}
}

func TestUnprocessedShare(t *testing.T) {
	db := rig(t, lean())
	db.Inject(emulator.Fault{Kind: emulator.FaultUnprocessed, Share: 0.25})
	writes := emulator.TableWrites{TableName: "rig"}
	keys := emulator.TableKeys{TableName: "rig"}
	for i := range 20 {
		writes.Requests = append(writes.Requests, emulator.WriteRequest{PutRequest: &emulator.PutRequest{Item: row(i, "k")}})
		keys.Keys = append(keys.Keys, rowKey(i))
	}
	out, err := db.BatchWriteItem(t.Context(), &emulator.BatchWriteItemInput{RequestItems: []emulator.TableWrites{writes}})
	must(t, err)
	if len(out.UnprocessedItems) != 1 || len(out.UnprocessedItems[0].Requests) != 5 {
		t.Errorf("%+v", out.UnprocessedItems)
	}
	got, err := db.BatchGetItem(t.Context(), &emulator.BatchGetItemInput{RequestItems: []emulator.TableKeys{keys}})
	must(t, err)
	if len(got.UnprocessedKeys) != 1 || len(got.UnprocessedKeys[0].Keys) != 5 || len(got.Responses[0].Items) != 15 {
		t.Errorf("%+v", got)
	}
}

func TestThrottledBatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := isolated(t)
		batch := func(from int) *emulator.BatchWriteItemInput {
			w := emulator.TableWrites{TableName: "rig"}
			for i := range 25 {
				w.Requests = append(w.Requests, emulator.WriteRequest{PutRequest: &emulator.PutRequest{Item: row(from+i, "K0")}})
			}
			return &emulator.BatchWriteItemInput{RequestItems: []emulator.TableWrites{w}}
		}
		for i := range 39 {
			_, err := db.BatchWriteItem(t.Context(), batch(i*25))
			must(t, err)
		}
		for i := range 15 { // 990 of 1,000 units are gone
			must(t, putRow(db, t.Context(), 10_000+i, "K0"))
		}
		out, err := db.BatchWriteItem(t.Context(), batch(20_000))
		must(t, err)
		if n := len(out.UnprocessedItems[0].Requests); n != 15 {
			t.Errorf("%d unprocessed, want 15", n)
		}
		_, err = db.BatchWriteItem(t.Context(), batch(30_000))
		wantCode(t, err, emulator.CodeThrottling)
		if diff := cmp.Diff(1.0, counter(db, "ThrottledRequests")); diff != "" {
			t.Errorf("only a batch that throttles as a whole counts: %s", diff)
		}
	})
}

// What CloudWatch counts as an error of the user, and what it does not.
func TestErrorCounters(t *testing.T) {
	db := rig(t, lean())
	must(t, putRow(db, t.Context(), 1, "k"))
	_, err := db.PutItem(t.Context(), &emulator.PutItemInput{
		TableName: new("rig"), Item: row(1, "k"), ConditionExpression: new("attribute_not_exists(PK)"),
	})
	wantCode(t, err, emulator.CodeConditionalCheck)
	_, err = db.GetItem(t.Context(), &emulator.GetItemInput{TableName: new("nothing"), Key: rowKey(1)})
	wantCode(t, err, emulator.CodeResourceNotFound)
	db.Inject(emulator.Fault{Kind: emulator.FaultError, Count: 1})
	_, err = getRow(db, t.Context(), 1)
	wantCode(t, err, emulator.CodeInternal)
	for metric, want := range map[string]float64{"ConditionalCheckFailedRequests": 1, "UserErrors": 1, "SystemErrors": 1} {
		if got := counter(db, metric); got != want {
			t.Errorf("%s %v, want %v", metric, got, want)
		}
	}
}

func counter(db *emulator.DB, metric string) float64 {
	sum := 0.0
	for _, c := range db.Counters() {
		if c.Metric == metric {
			sum += c.Value
		}
	}
	return sum
}
