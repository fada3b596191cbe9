package sim

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestQuantilesAreNear checks the histogram against the sorted list.
func TestQuantilesAreNear(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := rapid.SliceOfN(rapid.Int64Range(0, int64(5*time.Minute)), 1, 200).Draw(t, "durations")
		var h histogram
		for _, d := range list {
			h.add(time.Duration(d))
		}
		slices.Sort(list)
		for _, q := range []float64{0.01, 0.5, 0.9, 0.99, 1} {
			at := max(0, int(q*float64(len(list))+0.999999)-1)
			want := time.Duration(list[at])
			got := h.quantile(q)
			if diff := got - want; max(diff, -diff) > want/30+2*time.Microsecond {
				t.Fatalf("quantile %v is %v, want %v", q, got, want)
			}
		}
	})
}
