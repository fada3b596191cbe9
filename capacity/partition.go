package capacity

import "time"

// Direction is what a charge is for.
type Direction uint8

// Reads and writes are limited apart.
const (
	Read Direction = iota
	Write
)

// Ceiling is what one physical partition serves in a second.
type Ceiling struct{ Read, Write float64 }

// PartitionCeiling is that of every physical partition, of tables and indexes
// alike, in any billing mode.
var PartitionCeiling = Ceiling{Read: 3000, Write: 1000}

// partitionBurst is how long unused capacity of a partition lasts: no burst
// above the ceiling is stored.
const partitionBurst = time.Second

// Partition is one physical partition.
type Partition struct {
	ID int // in order of creation, for displays

	ceiling Ceiling
	coupled bool
	read    Bucket // holds both as a share of the ceiling when coupled
	write   Bucket
	used    Use
	heat    *heat // nil when nothing splits
}

// Use is what was admitted and refused so far.
type Use struct {
	Read, Write                   float64
	ReadThrottled, WriteThrottled int64
}

func newPartition(id int, c Ceiling, coupled bool, now time.Time) *Partition {
	p := &Partition{ID: id, ceiling: c, coupled: coupled}
	if coupled {
		p.read = NewBucket(1, partitionBurst, now)
		return p
	}
	p.read = NewBucket(c.Read, partitionBurst, now)
	p.write = NewBucket(c.Write, partitionBurst, now)
	return p
}

// Take takes units for a request to point and reports whether there were enough.
func (p *Partition) Take(d Direction, units float64, point Point, now time.Time) bool {
	b, n := p.bucket(d, units)
	if !b.Take(n, now) {
		p.refuse(d)
		return false
	}
	p.count(d, units)
	if p.heat != nil {
		p.heat.add(point, p.share(d, units), now)
	}
	return true
}

// GiveBack undoes a Take, when another gate refuses the same request. The heat
// that it left stays: the partition was asked.
func (p *Partition) GiveBack(d Direction, units float64) {
	b, n := p.bucket(d, units)
	b.giveBack(n)
	p.count(d, -units)
}

// Charge takes units even if there are not enough: for a cost that is known only
// when the work is done.
func (p *Partition) Charge(d Direction, units float64, now time.Time) {
	b, n := p.bucket(d, units)
	b.refill(now)
	b.level -= n
	p.count(d, units)
}

// Level is how many units could be taken now.
func (p *Partition) Level(d Direction, now time.Time) float64 {
	b, one := p.bucket(d, 1)
	return b.Level(now) / one
}

// Ceiling is what the partition serves in a second.
func (p *Partition) Ceiling() Ceiling { return p.ceiling }

// Used is what the partition served and refused since it was made.
func (p *Partition) Used() Use { return p.used }

func (p *Partition) bucket(d Direction, units float64) (*Bucket, float64) {
	if p.coupled {
		return &p.read, p.share(d, units)
	}
	if d == Write {
		return &p.write, units
	}
	return &p.read, units
}

func (p *Partition) share(d Direction, units float64) float64 {
	if d == Write {
		return units / p.ceiling.Write
	}
	return units / p.ceiling.Read
}

func (p *Partition) count(d Direction, units float64) {
	if d == Write {
		p.used.Write += units
	} else {
		p.used.Read += units
	}
}

func (p *Partition) refuse(d Direction) {
	if d == Write {
		p.used.WriteThrottled++
	} else {
		p.used.ReadThrottled++
	}
}
