package migrate

import (
	"fmt"
	"math"
	"time"
)

// What one index partition takes, and how much of it is left alone.
const (
	partitionWriteUnits = 1000
	headroom            = 0.1
)

const (
	growEvery   = time.Second
	growShare   = 0.05    // of the full pace, for each span without a throttle
	factorMin   = 1. / 64 // of the full pace, however often it was halved
	rateMin     = 0.5     // rows/s: a move that may run at all gets on
	learnWeight = 0.2     // of the newest measurement in what a row costs
)

// pace says how fast rows may move. Each moved row is a write on the key that is
// hot, so it keeps to a budget there, leaves room for what members report, halves
// on a throttle and grows slowly.
type pace struct {
	factor  float64 // of the full pace; 0 means not used yet
	grownAt time.Time
	live    float64 // write units/s that members spend on the fullest old key
	rowCost float64 // write units that a row costs on its old key, as measured
	tokens  float64 // rows that may move now
	filled  time.Time
	rate    float64 // rows/s
	why     string
	limit   int // rows of one request, after a conflict; 0 means no limit
}

// set works out the rate from what the operator wants and what is left.
func (p *pace) set(c Control) {
	if p.factor == 0 {
		p.factor, p.rowCost, p.grownAt = 1, 1, time.Now()
	}
	left := partitionWriteUnits*(1-headroom) - p.live
	units, why := c.Budget, fmt.Sprintf("budget of %.0f write units/s on the old key", c.Budget)
	switch {
	case left < units && p.live < 1:
		units, why = left, "nine tenths of what the old key takes"
	case left < units:
		units = left
		why = fmt.Sprintf("old key at %.0f %% with live traffic", 100*p.live/partitionWriteUnits)
	}
	if p.factor < 1 {
		units *= p.factor
		why = fmt.Sprintf("%.0f %% of the %s after a throttle", 100*p.factor, why)
	}
	rate := max(units/p.rowCost, rateMin)
	if c.Rate > 0 && c.Rate < rate {
		rate, why = c.Rate, "rate set by the operator"
	}
	if c.Paused {
		rate, why = 0, "paused"
		if c.PausedWhy != "" {
			why += ": " + c.PausedWhy
		}
	}
	p.rate, p.why = rate, why
}

// fill adds what time has earned. No more than a second's worth is kept, because
// a partition keeps none.
func (p *pace) fill() {
	now := time.Now()
	if !p.filled.IsZero() {
		p.tokens = min(p.tokens+p.rate*now.Sub(p.filled).Seconds(), max(p.rate/2, 1))
	}
	p.filled = now
}

// allow says how many of want rows may move now, and if none, how long to wait.
func (p *pace) allow(want int) (rows int, wait time.Duration) {
	p.fill()
	if p.rate <= 0 {
		return 0, beatMax
	}
	// A chunk is a quarter of a second's worth, so that the key is hit evenly.
	if p.limit > 0 {
		want = min(want, p.limit)
	}
	chunk := min(float64(want), max(1, math.Floor(p.rate/4)))
	if p.tokens >= chunk {
		return int(chunk), 0
	}
	// Rounded up: a wait of no time at all would be asked for again and again.
	return 0, time.Duration(math.Ceil((chunk-p.tokens)/p.rate*1000)) * time.Millisecond
}

// spent takes rows off the allowance and learns what they cost on the old key.
func (p *pace) spent(rows int, oldUnits float64) {
	p.tokens -= float64(rows)
	if p.limit *= 2; p.limit > chunkMax {
		p.limit = 0
	}
	if rows > 0 && oldUnits > 0 {
		p.rowCost += learnWeight * (max(oldUnits/float64(rows), 1) - p.rowCost)
	}
	if p.factor < 1 && time.Since(p.grownAt) >= growEvery {
		p.factor, p.grownAt = min(1, p.factor+growShare), time.Now()
	}
}

// conflicted halves the next request: the more rows it has, the likelier one of
// them is being written by somebody else.
func (p *pace) conflicted(rows int) { p.limit = max(rows/2, 1) }

// throttled halves the pace.
func (p *pace) throttled() {
	p.factor = max(p.factor/2, factorMin)
	p.grownAt, p.tokens = time.Now(), 0
}

func (p *pace) String() string { return fmt.Sprintf("%.0f rows/s: %s", p.rate, p.why) }
