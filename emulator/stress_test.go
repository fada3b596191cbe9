package emulator_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hotsplit/hotsplit/emulator"
	"github.com/hotsplit/hotsplit/emulator/attr"
)

// Everything at once, for the race detector: no answer but those of the service,
// and in the end the index agrees with the table.
func TestConcurrentUse(t *testing.T) {
	o := emulator.Options{LagMin: 0, LagMax: time.Millisecond, Placement: emulator.PlacementIsolated, LogEntries: 64}
	o.SplitForHeat.Minutes = 1
	db := rig(t, o)
	id := db.Inject(emulator.Fault{Kind: emulator.FaultThrottle, Probability: 0.05})
	var wg sync.WaitGroup
	for w := range 8 {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(1, uint64(w)))
			for range 300 {
				var e *emulator.Error
				if err := anything(t, db, rng); err != nil && (!errors.As(err, &e) || e.Code == emulator.CodeInternal) {
					t.Errorf("answer %v", err)
				}
			}
		})
	}
	wg.Wait()
	db.Withdraw(id)
	must(t, db.ReleaseIndex("rig", "GSI4"))
	for {
		if n, err := db.PendingIndex("rig", "GSI4"); err != nil || n == 0 {
			break
		}
	}
	base, index := indexed(t, db, nil), indexed(t, db, new("GSI4"))
	if a, b := strings.Join(base, "\n"), strings.Join(index, "\n"); a != b {
		t.Errorf("base\n%s\nindex\n%s", a, b)
	}
}

// anything makes one random request.
func anything(t *testing.T, db *emulator.DB, rng *rand.Rand) (err error) {
	ctx, n, key := t.Context(), rng.IntN(20), fmt.Sprint("k", rng.IntN(3))
	switch rng.IntN(12) {
	case 0, 1:
		return putRow(db, ctx, n, key)
	case 2:
		_, err = db.UpdateItem(ctx, &emulator.UpdateItemInput{
			TableName: new("rig"), Key: rowKey(n), UpdateExpression: new("SET GSI4PK = :k, GSI4SK = :k ADD n :one"),
			Expressions: emulator.Expressions{Values: map[string]attr.Value{":k": attr.String(key), ":one": attr.Int(1)}},
		})
	case 3:
		_, err = db.DeleteItem(ctx, &emulator.DeleteItemInput{TableName: new("rig"), Key: rowKey(n)})
	case 4:
		_, err = getRow(db, ctx, n)
	case 5:
		_, err = db.Scan(ctx, &emulator.ScanInput{TableName: new("rig"), IndexName: new("GSI4"), Limit: new(5)})
	case 6:
		_, err = db.Query(ctx, &emulator.QueryInput{
			TableName: new("rig"), IndexName: new("GSI4"), KeyConditionExpression: new("GSI4PK = :k"),
			Expressions: emulator.Expressions{Values: map[string]attr.Value{":k": attr.String(key)}},
		})
	case 7:
		_, err = db.TransactWriteItems(ctx, &emulator.TransactWriteItemsInput{
			TransactItems: []emulator.TransactWriteItem{txPut(row(n, key)), txCheck(n+100, "attribute_not_exists(PK)")},
		})
	case 8:
		_, err = db.UpdateTable(ctx, &emulator.UpdateTableInput{TableName: new("rig"), GlobalSecondaryIndexUpdates: []emulator.IndexUpdate{{
			Update: &emulator.IndexSpec{IndexName: new("GSI4"), OnDemandThroughput: &emulator.OnDemandThroughput{MaxWriteRequestUnits: new(int64(9000))}},
		}}})
	case 9:
		half := emulator.Half(rng.IntN(2))
		must(t, db.HoldIndex("rig", "GSI4", half))
		must(t, db.ReleaseIndex("rig", "GSI4", half))
	case 10:
		_, _, _, _ = db.Heat(time.Time{}), db.Counters(), db.Log(), db.Faults()
		_, err = db.DescribeTable(ctx, &emulator.DescribeTableInput{TableName: new("rig")})
	case 11:
		name := new(fmt.Sprint("other", n))
		in := rigTable()
		in.TableName = name
		if _, err = db.CreateTable(ctx, in); err == nil {
			_, err = db.DeleteTable(ctx, &emulator.DeleteTableInput{TableName: name})
		}
	}
	return err
}
