package capacity

import (
	"math"
	"sort"
	"strings"
	"time"
)

// Point is where an item lies: the hash of its partition key, then its sort key
// in a spelling whose byte order is the sort order.
type Point struct {
	Hash uint64
	Sort string
}

// Compare orders points as they lie on the line.
func (p Point) Compare(o Point) int {
	switch {
	case p.Hash < o.Hash:
		return -1
	case p.Hash > o.Hash:
		return 1
	default:
		return strings.Compare(p.Sort, o.Sort)
	}
}

// Place is the hash of a partition key. Production's function is unpublished, so
// the seed stands for it: another seed is another layout of the same keys.
func Place(seed uint64, key string) uint64 {
	h := seed ^ 14695981039346656037
	for i := range len(key) {
		h = (h ^ uint64(key[i])) * 1099511628211
	}
	return mix(h)
}

// mix spreads FNV's weak high bits over the whole word (the splitmix64 finalizer).
func mix(h uint64) uint64 {
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>27) * 0x94d049bb133111eb
	return h ^ h>>31
}

// PartitionsDefault is what a new on-demand table or index starts with.
const PartitionsDefault = 4

// PartitionsFor is the least number of partitions that serves the rates, as
// provisioned or warmed.
func PartitionsFor(read, write float64) int {
	return max(1, int(math.Ceil(max(read/PartitionCeiling.Read, write/PartitionCeiling.Write))))
}

// SetOptions shapes the partitions of a table or an index.
type SetOptions struct {
	Partitions int     // 0 means PartitionsDefault
	Ceiling    Ceiling // zero fields mean PartitionCeiling
	Coupled    bool    // reads and writes share one bucket
	// Isolated gives every partition key a physical partition of its own, so that
	// "per key" and "per partition" are the same. Such a set neither grows nor splits.
	Isolated bool
	Split    SplitOptions // zero: no split for heat
}

func (o SetOptions) withDefaults() SetOptions {
	if o.Partitions == 0 {
		o.Partitions = PartitionsDefault
	}
	if o.Ceiling.Read == 0 {
		o.Ceiling.Read = PartitionCeiling.Read
	}
	if o.Ceiling.Write == 0 {
		o.Ceiling.Write = PartitionCeiling.Write
	}
	return o
}

// Set is the physical partitions of one table or index: ranges of the line of
// points, each with its owner. Ranges only ever split.
type Set struct {
	options  SetOptions
	ranges   []keyRange // sorted by start; the first starts at the zero Point
	isolated map[uint64]*Partition
	made     int
}

type keyRange struct {
	start Point
	*Partition
}

// NewSet makes partitions of equal hash ranges.
func NewSet(o SetOptions, now time.Time) *Set {
	o = o.withDefaults()
	s := &Set{options: o}
	if o.Isolated {
		s.isolated = map[uint64]*Partition{}
		return s
	}
	width := math.MaxUint64/uint64(o.Partitions) + 1
	if o.Partitions == 1 {
		width = 0
	}
	for i := range o.Partitions {
		s.ranges = append(s.ranges, keyRange{Point{Hash: uint64(i) * width}, s.newPartition(now)})
	}
	return s
}

func (s *Set) newPartition(now time.Time) *Partition {
	p := newPartition(s.made, s.options.Ceiling, s.options.Coupled, now)
	if s.options.Split.enabled() {
		p.heat = newHeat(now)
	}
	s.made++
	return p
}

// Of is the partition that owns point.
func (s *Set) Of(point Point, now time.Time) *Partition {
	if s.isolated != nil {
		return s.alone(point.Hash, now)
	}
	return s.ranges[s.index(point)].Partition
}

func (s *Set) alone(hash uint64, now time.Time) *Partition {
	p := s.isolated[hash]
	if p == nil {
		p = s.newPartition(now)
		s.isolated[hash] = p
	}
	return p
}

func (s *Set) index(point Point) int {
	return sort.Search(len(s.ranges), func(i int) bool { return s.ranges[i].start.Compare(point) > 0 }) - 1
}

// Touched appends to dst the partitions that a read from one point to another,
// both included, goes through, empty ones too.
func (s *Set) Touched(dst []*Partition, from, to Point, now time.Time) []*Partition {
	if s.isolated != nil {
		return s.touchedAlone(dst, from, to, now)
	}
	for i := s.index(from); i < len(s.ranges) && s.ranges[i].start.Compare(to) <= 0; i++ {
		dst = append(dst, s.ranges[i].Partition)
	}
	return dst
}

func (s *Set) touchedAlone(dst []*Partition, from, to Point, now time.Time) []*Partition {
	if from.Hash == to.Hash {
		return append(dst, s.alone(from.Hash, now))
	}
	for hash, p := range s.isolated {
		if from.Hash <= hash && hash <= to.Hash {
			dst = append(dst, p)
		}
	}
	return dst
}

// lastSort is longer than any spelling of a sort key, whose bytes are 1024 at most.
var lastSort = strings.Repeat("\xff", 4096)

// Last is a point behind all sort keys of a hash.
func Last(hash uint64) Point { return Point{Hash: hash, Sort: lastSort} }

// All is every partition, in order of the line; of an isolated set in order of
// creation.
func (s *Set) All() []*Partition {
	var all []*Partition
	for _, r := range s.ranges {
		all = append(all, r.Partition)
	}
	for _, p := range s.isolated {
		all = append(all, p)
	}
	if s.isolated != nil {
		sort.Slice(all, func(i, j int) bool { return all[i].ID < all[j].ID })
	}
	return all
}

// Len is the number of partitions.
func (s *Set) Len() int { return len(s.ranges) + len(s.isolated) }

// Grow splits the widest hash ranges until there are n partitions, as a higher
// warm or provisioned throughput does. It never merges.
func (s *Set) Grow(n int, now time.Time) {
	for s.isolated == nil && len(s.ranges) < n {
		at, half := s.widest()
		if half == 0 {
			return
		}
		s.splitAt(at, Point{Hash: s.ranges[at].start.Hash + half}, now)
	}
}

// widest is the range that spans most hashes, and half of its width.
func (s *Set) widest() (at int, half uint64) {
	for i := range s.ranges {
		end := uint64(math.MaxUint64)
		if i+1 < len(s.ranges) {
			end = s.ranges[i+1].start.Hash - 1
		}
		// Rounded up, so that equal power-of-two ranges stay equal.
		if h := (end - s.ranges[i].start.Hash + 1) / 2; i+1 < len(s.ranges) && h > half {
			at, half = i, h
		} else if h := (end-s.ranges[i].start.Hash)/2 + 1; i+1 == len(s.ranges) && h > half {
			at, half = i, h
		}
	}
	return at, half
}

// splitAt cuts range i at point, which lies inside it. Both halves start with
// full buckets: each is on a node of its own.
func (s *Set) splitAt(i int, point Point, now time.Time) {
	s.ranges = append(s.ranges, keyRange{})
	copy(s.ranges[i+2:], s.ranges[i+1:])
	s.ranges[i+1] = keyRange{point, s.newPartition(now)}
}
