package emulator_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hotsplit/hotsplit/emulator"
)

// The seed is the only source of chance: the same requests at the same times give
// the same log, index and heat, and another seed gives others.
func TestSameSeedSameRun(t *testing.T) {
	first, again, other := recordRun(t, 1), recordRun(t, 1), recordRun(t, 2)
	if first != again {
		t.Error("two runs of a seed differ")
	}
	if first == other {
		t.Error("the seed does not matter")
	}
}

func recordRun(t *testing.T, seed int64) string {
	var b strings.Builder
	synctest.Test(t, func(t *testing.T) {
		o := emulator.Options{Seed: seed, PartitionCeiling: emulator.Units{Write: 20, Read: 20}}
		o.SplitForHeat.Minutes = 1
		db := rig(t, o)
		db.Inject(emulator.Fault{Kind: emulator.FaultError, Probability: 0.1})
		rng := rand.New(rand.NewPCG(7, 7))
		for range 2000 {
			if err := anything(t, db, rng); err != nil {
				fmt.Fprintln(&b, err)
			}
			time.Sleep(20 * time.Millisecond)
			if rng.IntN(50) == 0 {
				fmt.Fprintln(&b, onKeyOrError(t, db, "k1"))
			}
		}
		for _, e := range db.Log() {
			fmt.Fprintf(&b, "%+v\n", e)
		}
		fmt.Fprintf(&b, "%+v\n%+v\n", db.Heat(time.Time{}), db.Counters())
	})
	return b.String()
}

func onKeyOrError(t *testing.T, db *emulator.DB, key string) string {
	out, err := db.Scan(t.Context(), &emulator.ScanInput{TableName: new("rig"), IndexName: new("GSI4")})
	if err != nil {
		return err.Error()
	}
	return fmt.Sprint(out.Items)
}
