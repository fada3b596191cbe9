package emulator

import (
	"math"
	"time"

	"github.com/hotsplit/hotsplit/capacity"
	"github.com/hotsplit/hotsplit/emulator/attr"
	"github.com/tidwall/btree"
)

// index is a local or global secondary index: a second order of the rows of a
// table that have its key attributes.
type index struct {
	name   string
	arn    string
	local  bool
	schema schema
	base   schema   // of the table
	all    bool     // projection ALL
	kept   []string // names shown, when not all are
	// keyNames are the attributes of a LastEvaluatedKey.
	keyNames []string
	seed     uint64 // of the placement
	ties     uint64 // seed of the order among equal keys; 0 keeps them in base order

	projection Projection
	lifecycle  lifecycle
	backfilled bool // made on a table that had rows
	throughput throughput

	// entries holds whole items, shared with the table: what the index does not
	// project is left out when it is read.
	entries btree.Map[string, attr.Item]
	bytes   int64
	held    [halves]bool
	space   *space
}

// treeKey is where item lies in the index: placement hash, index key, and the
// base key behind it, for index keys are not unique. Among equal index keys the
// order is that of a seeded hash: stable, and not one to rely on.
func (ix *index) treeKey(item attr.Item) string {
	var buf [256]byte
	b := ix.schema.appendPartition(buf[:0], ix.seed, item)
	b = ix.schema.appendSort(b, item)
	return string(ix.appendTie(b, item))
}

func (ix *index) appendTie(b []byte, item attr.Item) []byte {
	start := len(b)
	if ix.ties != 0 {
		b = append(b, make([]byte, hashBytes)...)
	}
	keyStart := len(b)
	for _, a := range ix.base.hash {
		b = attr.AppendKey(b, item.Get(a.name))
	}
	b = ix.base.appendSort(b, item)
	if ix.ties != 0 {
		putHash(b[start:], capacity.Place(ix.ties, borrow(b[keyStart:])))
	}
	return b
}

// project is what the index shows of item.
func (ix *index) project(item attr.Item) attr.Item {
	if ix.all {
		return item
	}
	return item.Pick(ix.kept)
}

// projects reports whether the index shows the attribute.
func (ix *index) projects(name string) bool {
	if ix.all {
		return true
	}
	for _, kept := range ix.kept {
		if kept == name {
			return true
		}
	}
	return false
}

func (ix *index) size(item attr.Item) int {
	if ix.all {
		return item.Size()
	}
	n := 0
	for _, name := range ix.kept {
		if v := item.Get(name); !v.IsZero() {
			n += len(name) + v.Size()
		}
	}
	return n
}

// change is what a write of a base item does to one index.
type change struct {
	ix             *index
	oldKey, newKey string // "" where the item is not in the index
	new            attr.Item
	cost           capacity.IndexCost
}

// changeOf compares what the index shows of an item before and after a write. It
// reports false when the index is not touched.
func (ix *index) changeOf(old, new attr.Item) (change, bool) {
	had, has := ix.schema.holds(old), ix.schema.holds(new)
	if !had && !has {
		return change{}, false
	}
	sameKey := had && has && ix.sameKey(old, new)
	if sameKey && ix.sameView(old, new) {
		return change{}, false
	}
	c := change{ix: ix, new: new}
	var before, after capacity.Entry
	if had {
		c.oldKey = ix.treeKey(old)
		before = capacity.Entry{Present: true, Key: c.oldKey, Size: ix.size(old)}
	}
	if has {
		c.newKey = c.oldKey
		if !sameKey {
			c.newKey = ix.treeKey(new)
		}
		after = capacity.Entry{Present: true, Key: c.newKey, Size: ix.size(new)}
	}
	c.cost = capacity.CostOfChange(before, after, false)
	return c, true
}

func (ix *index) sameKey(a, b attr.Item) bool {
	for _, k := range ix.schema.attrs() {
		if !attr.Equal(a.Get(k.name), b.Get(k.name)) {
			return false
		}
	}
	return true
}

func (ix *index) sameView(a, b attr.Item) bool {
	if ix.all {
		return a.Equal(b)
	}
	for _, name := range ix.kept {
		if !attr.Equal(a.Get(name), b.Get(name)) {
			return false
		}
	}
	return true
}

func (ix *index) put(key string, item attr.Item) {
	old, replaced := ix.entries.Set(key, item)
	if replaced {
		ix.bytes -= int64(ix.size(old))
	}
	ix.bytes += int64(ix.size(item))
}

func (ix *index) remove(key string) {
	if old, found := ix.entries.Delete(key); found {
		ix.bytes -= int64(ix.size(old))
	}
}

// build fills a new index from the rows of its table.
func (ix *index) build(rows *btree.Map[string, attr.Item]) {
	rows.Scan(func(_ string, item attr.Item) bool {
		if ix.schema.holds(item) {
			ix.put(ix.treeKey(item), item)
		}
		return true
	})
}

// lifecycle is a status that ends by itself when its time has come.
type lifecycle struct {
	passing string // CREATING UPDATING DELETING
	until   time.Time
}

func (l lifecycle) status(now time.Time) string {
	if l.passing != "" && now.Before(l.until) {
		return l.passing
	}
	if l.passing == "DELETING" {
		return ""
	}
	return "ACTIVE"
}

const noTime = math.MaxInt64
