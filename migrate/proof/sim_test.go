package proof

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

var (
	seeds     = flag.Int("seeds", 12, "how many worlds to play")
	firstSeed = flag.Int64("seed", 1, "the first seed")
	mutant    = flag.String("mutant", "", "fault to plant: a name of the catalogue, or all")
	within    = flag.Int64("within", 2000, "seeds within which a planted fault must be found")
)

// playSeed runs one world in a bubble of its own.
func playSeed(t *testing.T, seed int64, m Mutant) (out Outcome) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { out = Run(t.Context(), seed, m) })
	return out
}

// TestSim plays worlds. `make sim SEEDS=n` plays many.
func TestSim(t *testing.T) {
	if *mutant != "" {
		t.Skip("a mutant is planted: see TestMutants")
	}
	passed, failed, moved, began := 0, 0, int64(0), time.Now()
	for i := range *seeds {
		seed := *firstSeed + int64(i)
		out := playSeed(t, seed, "")
		moved += out.Moved
		if len(out.Faults) == 0 {
			passed++
		} else {
			failed++
			t.Errorf("seed %d, in phase %s:\n  %s\nthe story:\n  %s\nreplay: go test ./migrate/proof -run 'TestSim$' -args -seeds 1 -seed %d",
				seed, out.Phase, strings.Join(out.Faults, "\n  "), strings.Join(out.Story, "\n  "), seed)
		}
		if *seeds > 100 && (i+1)%100 == 0 {
			fmt.Fprintf(os.Stderr, "%d of %d worlds, %d failed, %.1f a second\n", i+1, *seeds, failed, float64(i+1)/time.Since(began).Seconds())
		}
	}
	fmt.Printf("%d passed, %d failed\n", passed, failed)
	t.Logf("%d rows moved, %.1f worlds a second", moved, float64(*seeds)/time.Since(began).Seconds())
}

// TestMutants plants each fault and wants it found: a simulator that cannot fail
// proves nothing. -mutant NAME plants one, -mutant all the whole catalogue; without
// the flag those that are found within a few seeds stand for the rest.
func TestMutants(t *testing.T) {
	for _, m := range Mutants() {
		if *mutant != "all" && *mutant != string(m) && !(*mutant == "" && quick[m]) {
			continue
		}
		t.Run(string(m), func(t *testing.T) {
			for seed := *firstSeed; seed < *firstSeed+*within; seed++ {
				if out := playSeed(t, seed, m); len(out.Faults) > 0 {
					t.Logf("caught by seed %d: %s", seed, out.Faults[0])
					return
				}
			}
			t.Errorf("not found within %d seeds", *within)
		})
	}
}

var quick = map[Mutant]bool{mutantReadsOld: true, mutantDropsPayload: true, mutantWrongKey: true, mutantTouches: true}
