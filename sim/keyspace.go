package sim

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"time"

	"github.com/hotsplit/hotsplit/capacity"
	"github.com/hotsplit/hotsplit/shard"
)

const pageBytes = 1 << 20

// keyspace is the index as one design keys it: where each owner's rows lie.
type keyspace struct {
	design  Design
	rows    Rows
	table   Table
	keys    []string
	points  []capacity.Point
	ofKey   []*capacity.Partition // valid while nothing splits
	shard   []int                 // of each owner
	popular []float64             // cumulative, of owners
	set     *capacity.Set
	base    []*capacity.Partition // the table's partitions, in hash order
}

func newKeyspace(w Workload, d Design, start time.Time) *keyspace {
	k := &keyspace{design: d, rows: w.Rows, table: w.Table}
	layout := shard.Layout{Base: w.Rows.Base, Count: d.Shards}
	k.keys = layout.Keys()
	k.shard = make([]int, w.Rows.Owners)
	if d.OwnerKey {
		k.keys = make([]string, w.Rows.Owners)
	}
	for i := range k.shard {
		owner := OwnerName(i)
		k.shard[i] = layout.Shard(owner)
		if d.OwnerKey {
			k.keys[i], k.shard[i] = owner, i
		}
	}
	k.set = capacity.NewSet(capacity.SetOptions{Partitions: d.partitions(), Split: d.Split}, start)
	k.base = capacity.NewSet(capacity.SetOptions{Partitions: w.Table.Partitions}, start).All()
	for _, key := range k.keys {
		k.points = append(k.points, capacity.Point{Hash: capacity.Place(w.Seed, key)})
	}
	k.place(start)
	k.popular = zipf(w.Rows.Owners, w.Rows.Skew)
	return k
}

// OwnerName is the id of the i-th owner of every simulated workload.
func OwnerName(i int) string { return fmt.Sprintf("person-%05d", i) }

func (k *keyspace) place(now time.Time) {
	k.ofKey = k.ofKey[:0]
	for _, p := range k.points {
		k.ofKey = append(k.ofKey, k.set.Of(p, now))
	}
}

// homes numbers the partitions and says which holds each key.
func (k *keyspace) homes() []int {
	all, homes := k.set.All(), make([]int, len(k.ofKey))
	for i, p := range k.ofKey {
		homes[i] = slices.Index(all, p)
	}
	return homes
}

// zipf gives cumulative shares of n owners; exponent 0 makes all equal.
func zipf(n int, exponent float64) []float64 {
	shares, sum := make([]float64, n), 0.0
	for i := range shares {
		sum += math.Pow(float64(i+1), -exponent)
		shares[i] = sum
	}
	for i := range shares {
		shares[i] /= sum
	}
	return shares
}

func (k *keyspace) pick(chance *rand.Rand) int {
	return min(sort.SearchFloat64s(k.popular, chance.Float64()), len(k.popular)-1)
}

// rowsOf is how many rows an owner has: the rows are dealt out in turn.
func (k *keyspace) rowsOf(owner int) int {
	n := k.rows.Count / k.rows.Owners
	if owner < k.rows.Count%k.rows.Owners {
		n++
	}
	return n
}

// request is one request to the service.
type request struct {
	key       int32 // of the index; onTable is a page of a table scan
	partition int32 // of the table, for a page of a table scan
	write     bool
	units     float64 // on the index, or of the scan
	base      float64 // on the table, of a write
	bytes     int     // that the answer carries
	sort      string  // where in the key, when partitions split
}

const onTable = -1

// ofOwner reads one owner's rows.
func (k *keyspace) ofOwner(owner int) request {
	size := k.rowsOf(owner) * k.rows.Bytes
	return request{
		key: int32(k.shard[owner]), bytes: size, sort: OwnerName(owner),
		units: capacity.PageUnits(size, 1, capacity.Eventual),
	}
}

// write writes one row of an owner, and its index entry.
func (k *keyspace) write(owner int) request {
	units := capacity.WriteUnits(k.rows.Bytes, k.rows.Bytes)
	return request{key: int32(k.shard[owner]), write: true, units: units, base: units, sort: OwnerName(owner)}
}

// all reads every row: each key's pages one after the other, or the whole table
// where no key holds all rows together.
func (k *keyspace) all() [][]request {
	if k.design.OwnerKey {
		return [][]request{k.scan()}
	}
	sizes := make([]int, len(k.keys))
	for owner, key := range k.shard {
		sizes[key] += k.rowsOf(owner) * k.rows.Bytes
	}
	lanes := make([][]request, len(k.keys))
	for key, size := range sizes {
		lanes[key] = pages(request{key: int32(key)}, size)
	}
	return lanes
}

func pages(template request, size int) []request {
	var lane []request
	for first := true; first || size > 0; first = false {
		r := template
		r.bytes = min(size, pageBytes)
		r.units = capacity.PageUnits(r.bytes, 1, capacity.Eventual)
		lane = append(lane, r)
		size -= r.bytes
	}
	return lane
}

func (k *keyspace) scan() []request {
	lane := pages(request{key: onTable}, int(k.table.Bytes))
	for i := range lane {
		lane[i].partition = int32(i * k.table.Partitions / len(lane))
	}
	return lane
}
