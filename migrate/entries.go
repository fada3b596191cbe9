package migrate

import (
	"cmp"
	"slices"
)

// entry is what is remembered of an index entry.
type entry struct {
	id      uint64 // digest of the base key
	content uint64
	key     uint32 // number of the index key
	twice   bool   // seen under another key too
	matched bool   // a base row answered for it
}

// entries is what was seen of an index: a sorted slice, which holds a million
// rows in a third of what a map takes.
type entries []entry

// sorted orders the entries by id and folds those of one row into one.
func (e entries) sorted() entries {
	slices.SortFunc(e, func(a, b entry) int { return cmp.Or(cmp.Compare(a.id, b.id), cmp.Compare(a.key, b.key)) })
	kept := e[:0]
	for _, one := range e {
		if n := len(kept); n > 0 && kept[n-1].id == one.id {
			kept[n-1].twice = true
			continue
		}
		kept = append(kept, one)
	}
	return kept
}

// find is the entry of a row, nil where the index showed none.
func (e entries) find(id uint64) *entry {
	at, there := slices.BinarySearchFunc(e, id, func(one entry, id uint64) int { return cmp.Compare(one.id, id) })
	if !there {
		return nil
	}
	return &e[at]
}
