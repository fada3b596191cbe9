package capacity

import "time"

// Mode is a billing mode.
type Mode uint8

// The billing modes.
const (
	OnDemand Mode = iota
	Provisioned
)

// ProvisionedBurst is how long unused provisioned capacity is kept.
const ProvisionedBurst = 300 * time.Second

// What a new on-demand table or index serves at once, and the quotas.
const (
	OnDemandReadInitial  = 12000
	OnDemandWriteInitial = 4000
	QuotaRead            = 40000 // for a table, and for each of its indexes
	QuotaWrite           = 40000
	AccountQuotaRead     = 80000 // of all provisioned tables of a region
	AccountQuotaWrite    = 80000
)

// GateOptions is the throughput of a table or a global index.
type GateOptions struct {
	Mode                Mode
	Read, Write         float64 // units per second, provisioned
	MaxRead, MaxWrite   float64 // on-demand maximum set by the user; 0 means none
	WarmRead, WarmWrite float64 // warm throughput; 0 means a new table's
	// Quota of an on-demand table or index; 0 means QuotaRead and QuotaWrite.
	QuotaRead, QuotaWrite float64
	// Unlimited opens the gate: only partitions limit.
	Unlimited bool
}

// Gate is the rate of a table or of a global index as a whole.
type Gate struct{ read, write lane }

// NewGate makes a full gate.
func NewGate(o GateOptions, now time.Time) *Gate {
	g := &Gate{}
	g.configure(o, now)
	return g
}

// Configure changes the throughput. Peaks already reached are kept.
func (g *Gate) Configure(o GateOptions, now time.Time) { g.configure(o, now) }

func (g *Gate) configure(o GateOptions, now time.Time) {
	g.read.configure(o, o.Read, o.MaxRead, or(o.WarmRead, OnDemandReadInitial), or(o.QuotaRead, QuotaRead), now)
	g.write.configure(o, o.Write, o.MaxWrite, or(o.WarmWrite, OnDemandWriteInitial), or(o.QuotaWrite, QuotaWrite), now)
}

func or(v, fallback float64) float64 {
	if v == 0 {
		return fallback
	}
	return v
}

// Take takes units, or says which limit refuses.
func (g *Gate) Take(d Direction, units float64, now time.Time) (Cause, bool) {
	return g.lane(d).take(units, now)
}

// GiveBack undoes a Take.
func (g *Gate) GiveBack(d Direction, units float64, now time.Time) { g.lane(d).giveBack(units, now) }

// Serves is the rate that the gate lets through at now, in units per second.
func (g *Gate) Serves(d Direction, now time.Time) float64 { return g.lane(d).serves(now) }

// Ceiling is the on-demand ceiling: twice the peak, at least what is warm. The
// partitions behind the gate grow to PartitionsFor it.
func (g *Gate) Ceiling(d Direction, now time.Time) float64 { return g.lane(d).peak.ceiling(now) }

func (g *Gate) lane(d Direction) *lane {
	if d == Write {
		return &g.write
	}
	return &g.read
}

// lane is one direction of a gate.
type lane struct {
	mode      Mode
	unlimited bool
	bucket    Bucket // the provisioned rate, or the on-demand ceiling
	limit     Bucket // the user's on-demand maximum
	limited   bool
	quota     float64
	peak      peak
}

func (l *lane) configure(o GateOptions, provisioned, limit, warm, quota float64, now time.Time) {
	l.unlimited, l.quota = o.Unlimited, quota
	l.peak.warm(warm)
	rate, burst := l.rate(o.Mode, provisioned, now)
	if l.bucket.at.IsZero() || l.mode != o.Mode {
		l.bucket = NewBucket(rate, burst, now)
	} else {
		l.bucket.SetRate(rate, burst, now)
	}
	l.mode = o.Mode
	switch limited := limit > 0 && o.Mode == OnDemand; {
	case limited && l.limited:
		l.limit.SetRate(limit, time.Second, now)
	case limited:
		l.limit = NewBucket(limit, time.Second, now)
		fallthrough
	default:
		l.limited = limited
	}
}

func (l *lane) rate(m Mode, provisioned float64, now time.Time) (float64, time.Duration) {
	if m == Provisioned {
		return provisioned, ProvisionedBurst
	}
	return min(l.peak.ceiling(now), l.quota), time.Second
}

func (l *lane) serves(now time.Time) float64 {
	if l.mode == Provisioned {
		return l.bucket.Rate()
	}
	rate, _ := l.rate(OnDemand, 0, now)
	if l.limited {
		rate = min(rate, l.limit.Rate())
	}
	return rate
}

func (l *lane) take(units float64, now time.Time) (Cause, bool) {
	if l.unlimited {
		return 0, true
	}
	if l.mode == Provisioned {
		return ProvisionedThroughput, l.bucket.Take(units, now)
	}
	if rate, burst := l.rate(OnDemand, 0, now); rate != l.bucket.Rate() {
		l.bucket.SetRate(rate, burst, now)
	}
	if l.limited && !l.limit.Take(units, now) {
		return MaxOnDemandThroughput, false
	}
	if !l.bucket.Take(units, now) {
		if l.limited {
			l.limit.giveBack(units)
		}
		return l.onDemandCause(), false
	}
	l.peak.add(units, now)
	return 0, true
}

// onDemandCause tells the quota from the ceiling. A ceiling is what the
// partitions could serve, so production reports it as a key range.
func (l *lane) onDemandCause() Cause {
	if l.bucket.Rate() >= l.quota {
		return AccountLimit
	}
	return KeyRangeThroughput
}

func (l *lane) giveBack(units float64, now time.Time) {
	if l.unlimited {
		return
	}
	l.bucket.giveBack(units)
	if l.mode == Provisioned {
		return
	}
	if l.limited {
		l.limit.giveBack(units)
	}
	l.peak.add(-units, now)
}
