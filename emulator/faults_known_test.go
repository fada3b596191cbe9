package emulator_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"
	"github.com/hotsplit/hotsplit/emulator"
	"github.com/hotsplit/hotsplit/emulator/awsjson"
)

// sdk is a real client on the in-process wire, without retries.
func sdk(db *emulator.DB) *dynamodb.Client {
	return dynamodb.New(dynamodb.Options{
		Region: "us-east-1", Credentials: aws.AnonymousCredentials{},
		HTTPClient: &http.Client{Transport: awsjson.Transport(db)}, RetryMaxAttempts: 1,
	})
}

// isolated is the rig of known-faults.md: every index key on a partition of its
// own, no limits of the table as a whole.
func isolated(t testing.TB) *emulator.DB {
	return rig(t, emulator.Options{Placement: emulator.PlacementIsolated, NoTableLimits: true})
}

func sagaItem(i int, key string) map[string]types.AttributeValue {
	item := map[string]types.AttributeValue{
		"PK":        &types.AttributeValueMemberS{Value: fmt.Sprintf("RSAGA#%d", i)},
		"SK":        &types.AttributeValueMemberS{Value: "META"},
		"updatedAt": &types.AttributeValueMemberS{Value: time.Now().String()},
	}
	if key != "" {
		item["GSI4PK"] = &types.AttributeValueMemberS{Value: key}
		item["GSI4SK"] = &types.AttributeValueMemberS{Value: fmt.Sprintf("person-%d#", i)}
	}
	return item
}

// offer puts rows at a steady rate for a time and returns the throttles.
func offer(t *testing.T, client *dynamodb.Client, perSecond, seconds int, item func(i int) map[string]types.AttributeValue) (throttled []error) {
	t.Helper()
	for i := range perSecond * seconds {
		_, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: new("rig"), Item: item(i)})
		if err != nil {
			throttled = append(throttled, err)
		}
		time.Sleep(time.Second / time.Duration(perSecond))
	}
	return throttled
}

// KF-01: on-demand billing does not save an index with one partition key.
func TestKF01OneKeyThrottlesOnDemand(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := isolated(t)
		client := sdk(db)
		hot := offer(t, client, 1500, 5, func(i int) map[string]types.AttributeValue { return sagaItem(i%400, "RenewalSaga") })
		if len(hot) < 1000 {
			t.Errorf("%d throttles on one key, want 1,500 and the stored second less", len(hot))
		}
		cool := offer(t, client, 1500, 5, func(i int) map[string]types.AttributeValue {
			return sagaItem(1000+i%396, fmt.Sprintf("RenewalSaga#%d", i%12))
		})
		if len(cool) != 0 {
			t.Errorf("%d throttles on 12 keys: %v", len(cool), cool[0])
		}
		e, ok := errors.AsType[*types.ThrottlingException](hot[0])
		if !ok || len(e.ThrottlingReasons) != 1 {
			t.Fatalf("throttle %v", hot[0])
		}
		if got := aws.ToString(e.ThrottlingReasons[0].Reason) + " " + aws.ToString(e.ThrottlingReasons[0].Resource); got !=
			"IndexWriteKeyRangeThroughputExceeded arn:aws:dynamodb:us-east-1:123456789012:table/rig/index/GSI4" {
			t.Error(got)
		}
	})
}

// KF-02: a throttled index refuses the base write, and rows that leave the index
// view alone are never refused.
func TestKF02HotIndexRefusesBaseWrites(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := isolated(t)
		client := sdk(db)
		refused := [2]int{}
		for i := range 2 * 1200 * 5 {
			half := i % 2
			item := sagaItem(half*1000+i/2%400, []string{"RenewalSaga", ""}[half])
			if _, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: new("rig"), Item: item}); err != nil {
				refused[half]++
				continue
			}
			got, err := client.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: new("rig"), ConsistentRead: new(true),
				Key: map[string]types.AttributeValue{"PK": item["PK"], "SK": item["SK"]}})
			if err != nil || !cmp.Equal(got.Item["updatedAt"], item["updatedAt"], cmp.AllowUnexported(types.AttributeValueMemberS{})) {
				t.Fatalf("an acknowledged write is not there: %v %v", got, err)
			}
			if half == 0 {
				time.Sleep(time.Second / 1200)
			}
		}
		if refused[0] == 0 || refused[1] != 0 {
			t.Errorf("refused %v, want some and none", refused)
		}
		for _, e := range db.Log() {
			for _, u := range e.Units {
				if u.Refused && (u.Index != "GSI4" || u.Key != "RenewalSaga") {
					t.Fatalf("refused by %+v", u)
				}
			}
		}
	})
}

// KF-24: what a change costs the index comes from the change, per KB, on both keys.
func TestKF24IndexUnits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := isolated(t)
		client := sdk(db)
		kb := func(item map[string]types.AttributeValue, n int) map[string]types.AttributeValue {
			item["updatedAt"] = &types.AttributeValueMemberS{Value: strings.Repeat("x", n)}
			return item
		}
		for _, c := range []struct {
			name         string
			item         map[string]types.AttributeValue
			index, table float64
		}{
			{"appears", kb(sagaItem(0, "K0"), 1100), 2, 2},
			{"identical", kb(sagaItem(0, "K0"), 1100), 0, 2},
			{"moves: 1.1 KB out, 2.5 KB in", kb(sagaItem(0, "K1"), 2500), 2 + 3, 3},
			{"changes in place: the larger", kb(sagaItem(0, "K1"), 10), 3, 3},
			{"leaves", kb(sagaItem(0, ""), 10), 1, 1},
			{"is not there", kb(sagaItem(0, ""), 20), 0, 1},
		} {
			for _, level := range []types.ReturnConsumedCapacity{types.ReturnConsumedCapacityIndexes, types.ReturnConsumedCapacityTotal} {
				if level == types.ReturnConsumedCapacityTotal && c.index > 0 {
					continue // the change is done; TOTAL is checked on the others
				}
				out, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: new("rig"), Item: c.item, ReturnConsumedCapacity: level})
				must(t, err)
				checkUnits(t, c.name, out.ConsumedCapacity, level, c.index, c.table)
			}
		}
		checkMovedUnits(t, db)
	})
}

func checkUnits(t *testing.T, name string, c *types.ConsumedCapacity, level types.ReturnConsumedCapacity, index, table float64) {
	t.Helper()
	if got := aws.ToFloat64(c.CapacityUnits); got != index+table {
		t.Errorf("%s: total %v, want %v", name, got, index+table)
	}
	if level == types.ReturnConsumedCapacityTotal {
		if c.Table != nil || c.GlobalSecondaryIndexes != nil {
			t.Errorf("%s: TOTAL lists parts", name)
		}
		return
	}
	entry, listed := c.GlobalSecondaryIndexes["GSI4"]
	if listed != (index > 0) || aws.ToFloat64(entry.CapacityUnits) != index {
		t.Errorf("%s: index %v (listed %v), want %v", name, aws.ToFloat64(entry.CapacityUnits), listed, index)
	}
	if got := aws.ToFloat64(c.Table.CapacityUnits); got != table {
		t.Errorf("%s: table %v, want %v", name, got, table)
	}
}

// checkMovedUnits: the same numbers are what the partitions of both keys saw.
func checkMovedUnits(t *testing.T, db *emulator.DB) {
	perKey := map[string]float64{}
	for _, e := range db.Log() {
		for _, u := range e.Units {
			if u.Index == "GSI4" {
				perKey[u.Key] += u.Write
			}
		}
	}
	if diff := cmp.Diff(map[string]float64{"K0": 2 + 2, "K1": 3 + 3 + 1}, perKey); diff != "" {
		t.Error(diff)
	}
}
