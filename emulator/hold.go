package emulator

import (
	"fmt"
	"time"
)

// HoldIndex keeps halves of the changes of an index from being shown: both if
// none is named. Base writes go on and are admitted as ever.
func (db *DB) HoldIndex(tableName, indexName string, which ...Half) error {
	return db.withIndex(tableName, indexName, func(t *table, ix *index, now time.Time) {
		t.moves.drain(now)
		for _, half := range orBoth(which) {
			t.moves.hold(ix, half)
		}
	})
}

// ReleaseIndex lets held halves be shown: what is overdue is there at once.
func (db *DB) ReleaseIndex(tableName, indexName string, which ...Half) error {
	return db.withIndex(tableName, indexName, func(t *table, ix *index, now time.Time) {
		for _, half := range orBoth(which) {
			t.moves.release(ix, half)
		}
		t.moves.drain(now)
	})
}

// PendingIndex is how many halves of changes an index does not show yet.
func (db *DB) PendingIndex(tableName, indexName string) (int, error) {
	n := 0
	err := db.withIndex(tableName, indexName, func(t *table, ix *index, now time.Time) {
		t.moves.drain(now)
		for _, l := range t.moves.lanes {
			if l.ix == ix {
				n += len(l.steps)
			}
		}
	})
	return n, err
}

func orBoth(which []Half) []Half {
	if len(which) == 0 {
		return []Half{HalfDelete, HalfPut}
	}
	return which
}

func (db *DB) withIndex(tableName, indexName string, do func(*table, *index, time.Time)) error {
	now := db.Now()
	t := db.find(tableName, now)
	if t == nil {
		return fmt.Errorf("index %s of table %s: no such table", indexName, tableName)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	ix := t.index(indexName, now)
	if ix == nil || ix.local {
		return fmt.Errorf("index %s of table %s: no such global index", indexName, tableName)
	}
	do(t, ix, now)
	return nil
}
