package sim_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hotsplit/hotsplit/emulator"
	"github.com/hotsplit/hotsplit/emulator/attr"
	"github.com/hotsplit/hotsplit/shard"
	"github.com/hotsplit/hotsplit/sim"
)

const (
	reachCeiling = 300.0 // of a partition, small so that a search is quick
	reachSeconds = 30
	reachUnits   = 2.5 // of one query: a row of 20 KB
)

// TestReachAgainstTheEmulator finds the highest rate that the emulator serves
// without refusing, and compares it with what the plan says of that placement.
// It asks the engine itself: a search needs a hundred thousand requests.
func TestReachAgainstTheEmulator(t *testing.T) {
	for _, c := range []struct {
		keys, partitions int
		seed             int64
	}{{0, 4, 1}, {8, 4, 1}, {16, 4, 1}, {16, 4, 2}, {16, 16, 3}} {
		t.Run(fmt.Sprintf("%d keys on %d, seed %d", c.keys, c.partitions, c.seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				layout := shard.Layout{Index: "GSI4", PartitionKey: "GSI4PK", SortKey: "GSI4SK", Base: "RenewalSaga", Count: c.keys}
				owners := evenOwners(200)
				homes := learnHomes(t, c.seed, c.partitions, layout)
				predicted := sim.SpreadOver(owners, c.keys).ReachAt(func(shard int) int { return homes[layout.Keys()[shard]] }, c.partitions)
				measured := measureReach(t, c.seed, c.partitions, layout, predicted)
				if diff := math.Abs(measured - predicted); diff > 0.1*measured {
					t.Errorf("plan says %.2f ×, the emulator serves %.2f ×", predicted, measured)
				}
				t.Logf("plan %.2f ×, emulator %.2f ×", predicted, measured)
			})
		})
	}
}

func reachDB(t *testing.T, seed int64, partitions int, layout shard.Layout) *emulator.DB {
	t.Helper()
	db := emulator.New(emulator.Options{
		Seed: seed, Partitions: partitions, LagMax: -1, NoTableLimits: true,
		PartitionCeiling: emulator.Units{Read: reachCeiling, Write: 1e6},
	})
	fill(t, db, layout, sim.Rows{Count: 200, Bytes: 20_000})
	return db
}

func ask(t *testing.T, db *emulator.DB, layout shard.Layout, owner string) bool {
	t.Helper()
	text := "GSI4PK = :p AND begins_with(GSI4SK, :o)"
	table, projection := "sagas", "PK"
	_, err := db.Query(t.Context(), &emulator.QueryInput{
		TableName: &table, IndexName: &layout.Index, KeyConditionExpression: &text, ProjectionExpression: &projection,
		Expressions: emulator.Expressions{Values: map[string]attr.Value{":p": attr.String(layout.Key(owner)), ":o": attr.String(owner + "#")}},
	})
	var refused *emulator.Error
	if err != nil && (!errors.As(err, &refused) || !strings.Contains(refused.Code, "Throttling")) {
		t.Fatal(err)
	}
	return err == nil
}

// learnHomes reads the partition of each key out of the operation log.
func learnHomes(t *testing.T, seed int64, partitions int, layout shard.Layout) map[string]int {
	t.Helper()
	db := reachDB(t, seed, partitions, layout)
	homes := map[string]int{}
	for i := range 200 {
		ask(t, db, layout, sim.OwnerName(i))
	}
	for _, e := range db.Log() {
		for _, u := range e.Units {
			if e.Operation == "Query" {
				homes[u.Key] = u.Partition
			}
		}
	}
	return homes
}

// measureReach searches the highest rate without a refusal around a first guess.
// The full bucket at the start flatters it by a thirtieth.
func measureReach(t *testing.T, seed int64, partitions int, layout shard.Layout, guess float64) float64 {
	t.Helper()
	low, high := 0.5*guess, 1.5*guess
	for high-low > 0.03*guess {
		middle := (low + high) / 2
		if serves(t, seed, partitions, layout, middle) {
			low = middle
		} else {
			high = middle
		}
	}
	return low
}

// serves offers a rate, in partitions, spread evenly over the owners.
func serves(t *testing.T, seed int64, partitions int, layout shard.Layout, rate float64) bool {
	t.Helper()
	db := reachDB(t, seed, partitions, layout)
	pause := time.Duration(float64(time.Second) * reachUnits / (rate * reachCeiling))
	for i := range int(reachSeconds * rate * reachCeiling / reachUnits) {
		if !ask(t, db, layout, sim.OwnerName(i%200)) {
			return false
		}
		time.Sleep(pause)
	}
	return true
}
