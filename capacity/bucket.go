package capacity

import "time"

// Bucket is a token bucket. It starts full.
type Bucket struct {
	rate     float64 // units per second
	capacity float64
	level    float64 // may be below zero after an amount larger than the capacity
	at       time.Time
}

// NewBucket makes a bucket that holds what rate yields in the time burst.
func NewBucket(rate float64, burst time.Duration, now time.Time) Bucket {
	c := rate * burst.Seconds()
	return Bucket{rate: rate, capacity: c, level: c, at: now}
}

// refill brings the level up to now. A clock that jumps back adds nothing.
func (b *Bucket) refill(now time.Time) {
	if d := now.Sub(b.at); d > 0 {
		b.level = min(b.capacity, b.level+b.rate*d.Seconds())
		b.at = now
	}
}

// slack forgives what floating point loses over many refills, so that a bucket
// that is refilled in a thousand small steps holds what one large step gives.
const slack = 1e-6

// Take takes n and reports whether there was enough. An amount that the bucket
// can never hold is given to a full bucket, which then stays closed until the
// debt is paid: else a large page could never be read from a small table.
func (b *Bucket) Take(n float64, now time.Time) bool {
	b.refill(now)
	if b.level+slack < min(n, b.capacity) {
		return false
	}
	b.level -= n
	return true
}

// giveBack undoes a Take.
func (b *Bucket) giveBack(n float64) { b.level = min(b.capacity, b.level+n) }

// Level is how much is there.
func (b *Bucket) Level(now time.Time) float64 {
	b.refill(now)
	return b.level
}

// Rate is how much comes in a second.
func (b *Bucket) Rate() float64 { return b.rate }

// SetRate changes rate and capacity. What was there stays, as far as it fits; a
// bucket that grows gets the difference, as a new one would be full.
func (b *Bucket) SetRate(rate float64, burst time.Duration, now time.Time) {
	b.refill(now)
	c := rate * burst.Seconds()
	if c > b.capacity {
		b.level += c - b.capacity
	}
	b.rate, b.capacity, b.level = rate, c, min(c, b.level)
}
