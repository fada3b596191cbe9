package emulator

import (
	"github.com/hotsplit/hotsplit/emulator/attr"
	"github.com/hotsplit/hotsplit/emulator/expr"
)

func (t *table) treeKey(key attr.Item) string {
	var buf [256]byte
	return string(t.schema.appendKey(buf[:0], t.seed, key))
}

// newPut checks an item against the keys of the table and its indexes.
func (t *table) newPut(item attr.Item) (*mutation, error) {
	if err := t.checkItemKeys(item); err != nil {
		return nil, err
	}
	return &mutation{t: t, verb: verbPut, key: item, treeKey: t.treeKey(item), item: item}, nil
}

// newKeyed checks a key.
func (t *table) newKeyed(v verb, key attr.Item) (*mutation, error) {
	if err := t.checkKey(key); err != nil {
		return nil, err
	}
	return &mutation{t: t, verb: v, key: key, treeKey: t.treeKey(key)}, nil
}

// newUpdate checks a key and what an update wants to write.
func (t *table) newUpdate(key attr.Item, update *expr.Update) (*mutation, error) {
	m, err := t.newKeyed(verbUpdate, key)
	if err != nil {
		return nil, err
	}
	m.update = update
	return m, t.checkUpdatePaths(update)
}

// newMutation checks one action of a transaction.
func (t *table) newMutation(v verb, a *TransactAction, update *expr.Update) (*mutation, error) {
	switch v {
	case verbPut:
		return t.newPut(a.Item)
	case verbUpdate:
		return t.newUpdate(a.Key, update)
	}
	return t.newKeyed(v, a.Key)
}

// collectionMetrics estimates the size of the item collection of key, as a range
// of whole gigabytes.
func (t *table) collectionMetrics(key attr.Item) ItemCollectionMetrics {
	t.mu.RLock()
	defer t.mu.RUnlock()
	prefix := string(t.schema.appendPartition(nil, t.seed, key))
	bytes := 0
	count := func(k string, item attr.Item) bool {
		if len(k) < len(prefix) || k[:len(prefix)] != prefix {
			return false
		}
		bytes += item.Size()
		return true
	}
	t.rows.Ascend(prefix, count)
	for _, ix := range t.local {
		ix.entries.Ascend(prefix, count)
	}
	low := float64(bytes >> 30)
	var b attr.Builder
	for _, a := range t.schema.hash {
		b.Set(a.name, key.Get(a.name))
	}
	return ItemCollectionMetrics{ItemCollectionKey: b.Item(), SizeEstimateRangeGB: [2]float64{low, low + 1}}
}
