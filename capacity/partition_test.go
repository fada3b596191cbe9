package capacity_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/hotsplit/hotsplit/capacity"
	"pgregory.net/rapid"
)

var start = time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)

// drive offers a charge rate times a second for a time and counts what passed.
func drive(rate int, d time.Duration, now *time.Time, take func(i int, now time.Time) bool) int {
	step := time.Second / time.Duration(rate)
	passed := 0
	for i := 0; time.Duration(i)*step < d; i++ {
		if take(i, *now) {
			passed++
		}
		*now = now.Add(step)
	}
	return passed
}

// One key is flat at 1,000 writes a second; only the first second may also spend
// the second that the bucket holds.
func TestOneKeyIsFlat(t *testing.T) {
	set := capacity.NewSet(capacity.SetOptions{}, start)
	point := capacity.Point{Hash: capacity.Place(1, "RenewalSaga")}
	now := start
	write := func(units float64) func(int, time.Time) bool {
		return func(_ int, now time.Time) bool {
			return set.Of(point, now).Take(capacity.Write, units, point, now)
		}
	}
	drive(5000, 2*time.Second, &now, write(1))
	if got := drive(5000, 10*time.Second, &now, write(1)); got < 9999 || got > 10001 {
		t.Errorf("10 s of one-unit writes: %d passed, want 10,000", got)
	}
	if got := drive(5000, 10*time.Second, &now, write(2)); got < 4999 || got > 5001 {
		t.Errorf("10 s of key-changing updates: %d passed, want 5,000", got)
	}
	now = now.Add(time.Hour)
	if got := drive(10000, time.Second, &now, write(1)); got < 1999 || got > 2000 {
		t.Errorf("a second after an idle hour: %d passed, want the stored 1,000 and the second's own", got)
	}
	if u := set.Of(point, now).Used(); u.WriteThrottled == 0 || u.Read != 0 {
		t.Errorf("used %+v", u)
	}
}

func TestReadsAndWritesAreApart(t *testing.T) {
	for _, coupled := range []bool{false, true} {
		set := capacity.NewSet(capacity.SetOptions{Partitions: 1, Coupled: coupled}, start)
		p := set.All()[0]
		if !p.Take(capacity.Read, 3000, capacity.Point{}, start) {
			t.Fatal("a full second of reads is refused")
		}
		if got := p.Take(capacity.Write, 1, capacity.Point{}, start); got == coupled {
			t.Errorf("coupled %v: write after a second's reads passed: %v", coupled, got)
		}
		want := 1000.0
		if !coupled {
			want = 1499 - 500 // the write above, a half second later
		}
		if got := p.Level(capacity.Write, start.Add(time.Second)); got != want && got != 1000 {
			t.Errorf("coupled %v: level %v a second later", coupled, got)
		}
	}
}

// A page larger than the bucket passes when it is full, and is paid for.
func TestLargeAmountLeavesDebt(t *testing.T) {
	b := capacity.NewBucket(10, time.Second, start)
	if !b.Take(128, start) {
		t.Fatal("a full bucket refuses what it can never hold")
	}
	if b.Take(1, start.Add(11*time.Second)) {
		t.Error("the debt is forgotten")
	}
	if !b.Take(1, start.Add(12*time.Second)) {
		t.Error("the debt is never paid")
	}
	if b.Level(start) > 10 {
		t.Error("a clock that jumps back fills the bucket")
	}
}

func TestAdmitIsAllOrNothing(t *testing.T) {
	table := capacity.NewSet(capacity.SetOptions{}, start).All()[0]
	gate := capacity.NewGate(capacity.GateOptions{}, start)
	hot := capacity.NewSet(capacity.SetOptions{}, start).All()[0]
	hot.Take(capacity.Write, 999, capacity.Point{}, start)
	charges := []capacity.Charge{
		{Gate: gate, Partition: table, Direction: capacity.Write, Units: 1},
		{Partition: hot, Direction: capacity.Write, Units: 1}, // delete and put of one
		{Partition: hot, Direction: capacity.Write, Units: 1}, // key on one partition
	}
	refused, cause, ok := capacity.Admit(charges, start)
	if ok || refused != 2 || cause != capacity.KeyRangeThroughput {
		t.Fatalf("refused %d, cause %v, ok %v", refused, cause, ok)
	}
	if got := table.Level(capacity.Write, start); got != 1000 {
		t.Errorf("the table's partition was charged: %v left", got)
	}
	if got := hot.Level(capacity.Write, start); got != 1 {
		t.Errorf("the index partition was charged: %v left", got)
	}
	if u := table.Used(); u.Write != 0 {
		t.Errorf("used %+v", u)
	}
	if _, _, ok := capacity.Admit(charges, start.Add(10*time.Millisecond)); !ok {
		t.Error("refused although tokens are back")
	}
}

// However requests come, a partition never serves more than its ceiling plus the
// one second it stores, and never starves below it.
func TestPartitionServesItsCeiling(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := capacity.NewSet(capacity.SetOptions{Partitions: 1}, start).All()[0]
		now, served, refused := start, 0.0, false
		for range rapid.IntRange(1, 200).Draw(t, "requests") {
			now = now.Add(time.Duration(rapid.IntRange(0, 50).Draw(t, "pause")) * time.Millisecond)
			units := float64(rapid.IntRange(1, 400).Draw(t, "units"))
			if p.Take(capacity.Write, units, capacity.Point{}, now) {
				served += units
				continue
			}
			refused = true
			if left := p.Level(capacity.Write, now); left >= units {
				t.Fatalf("refused %v with %v left", units, left)
			}
		}
		most := 1000 + 1000*now.Sub(start).Seconds()
		if served > most+1e-3 {
			t.Fatalf("served %v of %v in %v", served, most, now.Sub(start))
		}
		if refused && served < most-1000-400 {
			t.Fatalf("refused after only %v of %v", served, most)
		}
	})
}

func TestBucketRateChanges(t *testing.T) {
	b := capacity.NewBucket(100, time.Second, start)
	b.Take(100, start)
	b.SetRate(300, time.Second, start)
	if got := b.Level(start); got != 200 {
		t.Errorf("grown bucket holds %v, want the 200 it gained", got)
	}
	b.SetRate(50, time.Second, start)
	if got := b.Level(start); got != 50 {
		t.Errorf("shrunk bucket holds %v, want 50", got)
	}
	if got := fmt.Sprint(b.Rate()); got != "50" {
		t.Errorf("rate %s", got)
	}
}

// A transaction of megabytes is asked as a whole: it passes with a quarter of a
// bucket there, whatever it wants of one partition, and is paid for.
func TestAdmitLargeRequest(t *testing.T) {
	p := capacity.NewSet(capacity.SetOptions{Partitions: 1}, start).All()[0]
	gate := capacity.NewGate(capacity.GateOptions{}, start)
	var charges []capacity.Charge
	for range 10 {
		charges = append(charges, capacity.Charge{Gate: gate, Partition: p, Direction: capacity.Write, Units: 700})
	}
	p.Take(capacity.Write, 700, capacity.Point{}, start)
	if _, _, ok := capacity.Admit(charges, start); !ok {
		t.Fatal("refused with 300 of 1,000 units there")
	}
	one := []capacity.Charge{{Gate: gate, Partition: p, Direction: capacity.Write, Units: 1}}
	if _, cause, ok := capacity.Admit(one, start.Add(6*time.Second)); ok || cause != capacity.KeyRangeThroughput {
		t.Errorf("the debt is forgotten: %v %v", cause, ok)
	}
	if _, _, ok := capacity.Admit(one, start.Add(7*time.Second)); !ok {
		t.Error("the debt is never paid")
	}
}
