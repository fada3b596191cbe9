package capacity

import "time"

// Charge is what one request takes from one table or index.
type Charge struct {
	Gate      *Gate      // nil when the resource has none of its own
	Partition *Partition // nil to charge the gate alone
	Point     Point      // where in the partition, for heat
	Direction Direction
	Units     float64
}

// Admit takes all charges or none. When one is refused, it says which and why.
//
// A request is asked as a whole: what it wants of one bucket is added up. A large
// one, such as a transaction of megabytes, need not wait for a full bucket; it is
// let through when an openShare of it is there and leaves debt, so that it cannot
// starve behind small ones and the rate still holds.
func Admit(charges []Charge, now time.Time) (refused int, cause Cause, ok bool) {
	for i := range charges {
		if refused, cause, ok := ask(charges, i, now); !ok {
			return refused, cause, false
		}
	}
	for _, c := range charges {
		c.take(now)
	}
	return 0, NoCause, true
}

// openShare is the part of a bucket that opens it for a larger request.
const openShare = 0.25

// ask asks the partition of a charge first, as it is the more telling reason, and
// then its gate: each once, for all that the request wants of it.
func ask(charges []Charge, i int, now time.Time) (refused int, cause Cause, ok bool) {
	c := charges[i]
	if c.Partition != nil {
		same := func(o Charge) bool { return o.Partition == c.Partition && o.Direction == c.Direction }
		total, first := sum(charges, i, same)
		if first && !c.Partition.holds(c.Direction, total, now) {
			c.Partition.refuse(c.Direction)
			return tips(charges, i, same, c.Partition.Level(c.Direction, now)), KeyRangeThroughput, false
		}
	}
	if c.Gate == nil {
		return 0, NoCause, true
	}
	same := func(o Charge) bool { return o.Gate == c.Gate && o.Direction == c.Direction }
	total, first := sum(charges, i, same)
	if !first {
		return 0, NoCause, true
	}
	if cause, level, ok := c.Gate.lane(c.Direction).holds(total, now); !ok {
		return tips(charges, i, same, level), cause, false
	}
	return 0, NoCause, true
}

// sum adds up what the charges from i on want of a bucket, and says whether i is
// the first of them.
func sum(charges []Charge, i int, same func(Charge) bool) (total float64, first bool) {
	for _, c := range charges[:i] {
		if same(c) {
			return 0, false
		}
	}
	for _, c := range charges[i:] {
		if same(c) {
			total += c.Units
		}
	}
	return total, true
}

// tips finds the charge that is too much for what is there.
func tips(charges []Charge, from int, same func(Charge) bool, level float64) int {
	at := from
	for i := from; i < len(charges); i++ {
		if !same(charges[i]) {
			continue
		}
		at = i
		if level -= charges[i].Units; level+slack < 0 {
			break
		}
	}
	return at
}

func (c Charge) take(now time.Time) {
	if c.Partition != nil {
		c.Partition.Charge(c.Direction, c.Units, now)
		if c.Partition.heat != nil {
			c.Partition.heat.add(c.Point, c.Partition.share(c.Direction, c.Units), now)
		}
	}
	if c.Gate != nil {
		c.Gate.lane(c.Direction).charge(c.Units, now)
	}
}

// holds reports whether the bucket is open for n.
func (b *Bucket) holds(n float64, now time.Time) bool {
	b.refill(now)
	return b.level+slack >= min(n, b.capacity*openShare)
}

func (p *Partition) holds(d Direction, units float64, now time.Time) bool {
	b, n := p.bucket(d, units)
	return b.holds(n, now)
}

// holds reports whether the lane is open for units, else which limit is short and
// what is left of it.
func (l *lane) holds(units float64, now time.Time) (Cause, float64, bool) {
	if l.unlimited {
		return NoCause, 0, true
	}
	if l.mode == OnDemand {
		if rate, burst := l.rate(OnDemand, 0, now); rate != l.bucket.Rate() {
			l.bucket.SetRate(rate, burst, now)
		}
		if l.limited && !l.limit.holds(units, now) {
			return MaxOnDemandThroughput, l.limit.level, false
		}
	}
	switch {
	case l.bucket.holds(units, now):
		return NoCause, 0, true
	case l.mode == Provisioned:
		return ProvisionedThroughput, l.bucket.level, false
	}
	return l.onDemandCause(), l.bucket.level, false
}

// charge takes units from an open lane.
func (l *lane) charge(units float64, now time.Time) {
	if l.unlimited {
		return
	}
	l.bucket.refill(now)
	l.bucket.level -= units
	if l.mode == Provisioned {
		return
	}
	if l.limited {
		l.limit.refill(now)
		l.limit.level -= units
	}
	l.peak.add(units, now)
}
