package emulator

import (
	"slices"
	"sync"
	"time"
)

// LogEntry is one request as the operation log keeps it.
type LogEntry struct {
	Sequence  uint64 // counts from 1 over the life of the DB
	Time      time.Time
	Caller    string
	Operation string
	Table     string // the first one that the request named
	Index     string
	Units     []KeyUnits
	Outcome   string // "ok", an error code, or "dropped" when a fault lost the answer
	Reasons   []ThrottlingReason
	Fault     string // name of the scripted fault that struck, if any
}

// KeyUnits is what a request consumed, or was refused, at one key of a table or
// an index.
type KeyUnits struct {
	Table, Index string // Index is "" for the table itself
	Partition    int    // ID of the physical partition
	Key          string // partition key
	Sort         string // sort key, when one item was meant
	Read, Write  float64
	Refused      bool // this is the gate that refused the request
}

// operationLog is a ring of the latest entries.
type operationLog struct {
	mu       sync.Mutex
	limit    int
	entries  []LogEntry
	sequence uint64
}

func (l *operationLog) add(e *LogEntry) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sequence++
	e.Sequence = l.sequence
	if len(l.entries) < l.limit {
		l.entries = append(l.entries, LogEntry{})
	}
	slot := &l.entries[(l.sequence-1)%uint64(l.limit)]
	units := append(slot.Units[:0], e.Units...)
	*slot = *e
	slot.Units = units
}

func (l *operationLog) since(sequence uint64) []LogEntry {
	l.mu.Lock()
	defer l.mu.Unlock()
	first := uint64(1)
	if n := uint64(len(l.entries)); l.sequence > n {
		first = l.sequence - n + 1
	}
	first = max(first, sequence+1)
	if first > l.sequence {
		return nil
	}
	out := make([]LogEntry, 0, l.sequence-first+1)
	for s := first; s <= l.sequence; s++ {
		e := l.entries[(s-1)%uint64(l.limit)]
		e.Units = slices.Clone(e.Units)
		out = append(out, e)
	}
	return out
}

// Log is the operation log, oldest entry first. It keeps Options.LogEntries.
func (db *DB) Log() []LogEntry { return db.log.since(0) }

// LogSince is the part of the operation log behind the entry with that sequence
// number. A gap to the first entry returned tells that entries were lost.
func (db *DB) LogSince(sequence uint64) []LogEntry { return db.log.since(sequence) }
