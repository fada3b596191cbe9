package capacity_test

import (
	"testing"
	"time"

	"github.com/hotsplit/hotsplit/capacity"
)

// take offers rate units a second in hundredths and returns the share that passed.
func take(g *capacity.Gate, d capacity.Direction, rate float64, length time.Duration, now *time.Time) (passed float64, cause capacity.Cause) {
	step := 10 * time.Millisecond
	for end := now.Add(length); now.Before(end); *now = now.Add(step) {
		units := rate * step.Seconds()
		if c, ok := g.Take(d, units, *now); ok {
			passed += units
		} else {
			cause = c
		}
	}
	return passed, cause
}

func TestProvisionedBurst(t *testing.T) {
	now := start
	g := capacity.NewGate(capacity.GateOptions{Mode: capacity.Provisioned, Read: 5, Write: 10}, now)
	// 300 s of 10 units are stored: twice the rate lasts 300 s.
	if passed, cause := take(g, capacity.Write, 20, 299*time.Second, &now); passed < 5979 || cause != 0 {
		t.Errorf("burst: %v passed, cause %v", passed, cause)
	}
	take(g, capacity.Write, 20, 10*time.Second, &now)
	if passed, cause := take(g, capacity.Write, 20, 60*time.Second, &now); passed < 599 || passed > 601 || cause != capacity.ProvisionedThroughput {
		t.Errorf("after the burst: %v passed in a minute, cause %v", passed, cause)
	}
	if passed, _ := take(g, capacity.Read, 5, time.Minute, &now); passed < 299 {
		t.Errorf("reads: %v passed", passed)
	}
}

// Steps half an hour apart: 50k, 100k, 200k. The second that a full gate stores
// counts into the first minute, hence a little more.
func TestOnDemandDoublesThePeak(t *testing.T) {
	now := start
	o := capacity.GateOptions{WarmWrite: 50000, QuotaWrite: 1e9}
	g := capacity.NewGate(o, now)
	for _, ceiling := range []float64{50000, 100000, 200000} {
		if got := g.Ceiling(capacity.Write, now); got < ceiling*0.99 || got > ceiling*1.05 {
			t.Fatalf("ceiling %v, want %v", got, ceiling)
		}
		passed, cause := take(g, capacity.Write, ceiling*1.5, 30*time.Minute, &now)
		if rate := passed / 1800; rate < ceiling*0.99 || rate > ceiling*1.06 || cause != capacity.KeyRangeThroughput {
			t.Fatalf("served %v of %v, cause %v", rate, ceiling, cause)
		}
		now = now.Add(2 * time.Minute) // closes the last window
	}
	now = now.Add(24 * time.Hour)
	if got := g.Ceiling(capacity.Write, now); got < 390000 {
		t.Errorf("ceiling fell to %v", got)
	}
}

func TestOnDemandStartAndQuota(t *testing.T) {
	now := start
	g := capacity.NewGate(capacity.GateOptions{}, now)
	if w, r := g.Serves(capacity.Write, now), g.Serves(capacity.Read, now); w != 4000 || r != 12000 {
		t.Errorf("a new table serves %v writes and %v reads", w, r)
	}
	g.Configure(capacity.GateOptions{WarmWrite: 90000}, now)
	g.Configure(capacity.GateOptions{WarmWrite: 10}, now)
	if got := g.Ceiling(capacity.Write, now); got != 90000 {
		t.Errorf("warm throughput was lowered to %v", got)
	}
	take(g, capacity.Write, 60000, 2*time.Second, &now)
	if passed, cause := take(g, capacity.Write, 60000, 10*time.Second, &now); passed < 399000 || passed > 401000 || cause != capacity.AccountLimit {
		t.Errorf("quota: %v passed in 10 s, cause %v", passed, cause)
	}
	g.Configure(capacity.GateOptions{Unlimited: true}, now)
	if _, cause := take(g, capacity.Write, 1e6, time.Second, &now); cause != 0 {
		t.Errorf("an open gate refuses: %v", cause)
	}
}

func TestOnDemandMaximum(t *testing.T) {
	now := start
	g := capacity.NewGate(capacity.GateOptions{MaxWrite: 100}, now)
	take(g, capacity.Write, 1000, time.Second, &now)
	if passed, cause := take(g, capacity.Write, 1000, 10*time.Second, &now); passed < 990 || passed > 1010 || cause != capacity.MaxOnDemandThroughput {
		t.Errorf("%v passed in 10 s, cause %v", passed, cause)
	}
	if got := g.Serves(capacity.Write, now); got != 100 {
		t.Errorf("serves %v", got)
	}
	g.Configure(capacity.GateOptions{}, now)
	if got := g.Serves(capacity.Write, now); got != 4000 {
		t.Errorf("serves %v without the maximum", got)
	}
}

func TestModeSwitch(t *testing.T) {
	g := capacity.NewGate(capacity.GateOptions{Mode: capacity.Provisioned, Read: 1, Write: 1}, start)
	g.Configure(capacity.GateOptions{}, start)
	if _, ok := g.Take(capacity.Write, 4000, start); !ok {
		t.Error("the on-demand gate kept the provisioned rate")
	}
}
