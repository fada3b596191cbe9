package emulator

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/hotsplit/hotsplit/capacity"
	"github.com/hotsplit/hotsplit/emulator/attr"
	"github.com/tidwall/btree"
)

// table is one table with its indexes. Items are immutable, so a reader holds the
// lock only while it walks a tree.
type table struct {
	db      *DB
	name    string
	arn     string
	id      string
	number  int // of the tables ever made
	created time.Time
	schema  schema
	seed    uint64
	// keyNames are the attributes of the key.
	keyNames []string

	// ready and ends bound the time in which items are served, in nanoseconds since
	// the epoch: the end of CREATING, and that of DELETING or 0.
	ready, ends atomic.Int64

	mu         sync.RWMutex
	rows       btree.Map[string, attr.Item]
	bytes      int64
	local      []*index
	global     []*index
	sorted     atomic.Pointer[[]*index] // all that take writes, by name
	moves      propagation
	attributes []AttributeDefinition
	mode       capacity.Mode
	onDemandAt time.Time   // when it became on-demand
	switched   []time.Time // to on-demand, by UpdateTable
	throughput throughput
	lifecycle  lifecycle
	class      string
	protected  bool
	sse        bool
	tags       []Tag
	ttl        timeToLive

	meter sync.Mutex // guards what is in space, here and in the indexes; taken last
	space *space
}

// gone reports whether the deletion of t is over.
func (t *table) gone(now time.Time) bool {
	ends := t.ends.Load()
	return ends != 0 && now.UnixNano() >= ends
}

// serves reports whether t takes requests for items.
func (t *table) serves(now time.Time) bool {
	return now.UnixNano() >= t.ready.Load() && t.ends.Load() == 0
}

// index is the index called name, if it still is.
func (t *table) index(name string, now time.Time) *index {
	for _, ix := range t.local {
		if ix.name == name {
			return ix
		}
	}
	for _, ix := range t.global {
		if ix.name == name && ix.lifecycle.status(now) != "" {
			return ix
		}
	}
	return nil
}

func (t *table) put(key string, item attr.Item) {
	old, _ := t.rows.Set(key, item)
	t.bytes += int64(item.Size() - old.Size())
}

func (t *table) remove(key string) {
	old, _ := t.rows.Delete(key)
	t.bytes -= int64(old.Size())
}
