package emulator_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/hotsplit/hotsplit/emulator"
)

// fill writes rows to one index key until it refuses, and returns how many went.
func fillKey(t *testing.T, db *emulator.DB, key string) int {
	for i := range 10_000 {
		if err := putRow(db, t.Context(), i, key); err != nil {
			wantCode(t, err, emulator.CodeThrottling)
			return i
		}
	}
	t.Fatal("never refused")
	return 0
}

// An allowed backlog takes more writes, which the index shows when it has worked
// them off.
func TestIndexBacklog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := emulator.Options{Placement: emulator.PlacementIsolated, NoTableLimits: true, LagMax: -1, IndexBacklog: 500}
		db := rig(t, o)
		if n := fillKey(t, db, "k"); n != 1500 {
			t.Errorf("%d writes, want a second's 1,000 and the backlog", n)
		}
		scan := &emulator.ScanInput{TableName: new("rig"), IndexName: new("GSI4")}
		for _, want := range []struct {
			after time.Duration
			rows  int
		}{{0, 1000}, {250 * time.Millisecond, 1250}, {250 * time.Millisecond, 1500}} {
			time.Sleep(want.after)
			if n := len(walkScan(t, db, &emulator.ScanInput{TableName: scan.TableName, IndexName: scan.IndexName})); n < want.rows-2 || n > want.rows+2 {
				t.Errorf("%d rows shown after %v more, want %d", n, want.after, want.rows)
			}
		}
	})
}

// Whether a write that an index refuses consumes the table's units is unknown, so
// it is an option.
func TestRefusedWriteBurnsTable(t *testing.T) {
	for _, burns := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			db := rig(t, emulator.Options{
				Placement: emulator.PlacementIsolated, NoTableLimits: true, RefusedWriteBurnsTable: burns,
			})
			n := fillKey(t, db, "k")
			for range 100 {
				if putRow(db, t.Context(), n, "k") == nil {
					t.Fatal("accepted")
				}
			}
			used := 0.0
			for _, p := range db.Heat(time.Now())[0].Partitions {
				used += p.Used.Write
			}
			if want := map[bool]float64{false: 1000, true: 1101}[burns]; used != want {
				t.Errorf("burns %v: %v units of the table, want %v", burns, used, want)
			}
		})
	}
}

func TestCoupledUnits(t *testing.T) {
	for _, coupled := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			db := rig(t, emulator.Options{Placement: emulator.PlacementIsolated, NoTableLimits: true, CoupledUnits: coupled})
			for range 1000 {
				must(t, putRow(db, t.Context(), 0, "k"))
			}
			_, err := getRow(db, t.Context(), 0)
			if refused := err != nil; refused != coupled {
				t.Errorf("coupled %v: read refused %v", coupled, refused)
			}
		})
	}
}
