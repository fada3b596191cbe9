package emulator

import (
	"unsafe"

	"github.com/hotsplit/hotsplit/capacity"
	"github.com/hotsplit/hotsplit/emulator/attr"
	"github.com/hotsplit/hotsplit/emulator/expr"
)

// lookup is one checked read of one item.
type lookup struct {
	t          *table
	key        attr.Item
	treeKey    string
	projection *expr.Projection
	level      capacity.Consistency
}

// find reads the item, whole.
func (l *lookup) find() attr.Item {
	l.t.mu.RLock()
	item, _ := l.t.rows.Get(l.treeKey)
	l.t.mu.RUnlock()
	return item
}

// cost is what it takes to read item, which may be absent.
func (l *lookup) cost(item attr.Item) cost {
	return cost{
		space: l.t.space, treeKey: l.treeKey,
		key: l.t.schema.keyText(l.key), sort: l.t.schema.sortText(l.key),
		direction: capacity.Read, units: capacity.ReadUnits(item.Size(), l.level),
	}
}

// show is the part of item that was asked for.
func (l *lookup) show(item attr.Item) attr.Item {
	if l.projection == nil || item.IsNil() {
		return item
	}
	return l.projection.Apply(item)
}

func (l *lookup) faultKeys() []string { return []string{l.t.schema.keyText(l.key)} }

func consistency(strong bool) capacity.Consistency {
	if strong {
		return capacity.Strong
	}
	return capacity.Eventual
}

// borrow is b as a string for as long as b is not written to. It saves a copy for
// tree keys that are only looked up.
func borrow(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
