package emulator

import (
	"encoding/binary"
	"strconv"

	"github.com/hotsplit/hotsplit/capacity"
	"github.com/hotsplit/hotsplit/emulator/attr"
)

// keyAttr is one attribute of a key.
type keyAttr struct {
	name string
	kind attr.Kind
}

// schema is the key of a table or an index. A table has one hash attribute and
// at most one sort attribute; a global index may have four of each.
type schema struct {
	hash, sort []keyAttr
	all        []keyAttr // both
}

func (s schema) attrs() []keyAttr { return s.all }

func (s schema) names() []string {
	names := make([]string, 0, len(s.hash)+len(s.sort))
	for _, a := range s.attrs() {
		names = append(names, a.name)
	}
	return names
}

func (s schema) has(name string) bool {
	for _, a := range s.hash {
		if a.name == name {
			return true
		}
	}
	for _, a := range s.sort {
		if a.name == name {
			return true
		}
	}
	return false
}

// holds reports whether item has every key attribute, with values that a key may
// have: others can be in a table from before it had the index.
func (s schema) holds(item attr.Item) bool {
	for _, a := range s.hash {
		if !a.accepts(item.Get(a.name), hashKeyBytesMax) {
			return false
		}
	}
	for _, a := range s.sort {
		if !a.accepts(item.Get(a.name), sortKeyBytesMax) {
			return false
		}
	}
	return true
}

func (a keyAttr) accepts(v attr.Value, bytesMax int) bool {
	if v.Kind() != a.kind {
		return false
	}
	n := len(v.Text())
	return a.kind == attr.KindN || 0 < n && n <= bytesMax
}

// hashBytes is the width of the placement hash in front of every tree key.
const hashBytes = 8

// appendPartition appends the part of the tree key that an item collection
// shares: the placement hash and the partition key. Trees are ordered by it, so
// a physical partition, a scan segment and a collection are all ranges.
func (s schema) appendPartition(dst []byte, seed uint64, item attr.Item) []byte {
	start := len(dst)
	dst = append(dst, make([]byte, hashBytes)...)
	for _, a := range s.hash {
		dst = attr.AppendKey(dst, item.Get(a.name))
	}
	putHash(dst[start:], capacity.Place(seed, borrow(dst[start+hashBytes:])))
	return dst
}

func (s schema) appendSort(dst []byte, item attr.Item) []byte {
	for _, a := range s.sort {
		dst = attr.AppendKey(dst, item.Get(a.name))
	}
	return dst
}

// appendKey appends the tree key of a table's item.
func (s schema) appendKey(dst []byte, seed uint64, item attr.Item) []byte {
	return s.appendSort(s.appendPartition(dst, seed, item), item)
}

func putHash(dst []byte, h uint64) { binary.BigEndian.PutUint64(dst, h) }

// point is where a tree key lies on the line of partitions.
func point(treeKey string) capacity.Point {
	return capacity.Point{Hash: hashOf(treeKey), Sort: treeKey[hashBytes:]}
}

func hashOf(treeKey string) uint64 {
	var h uint64
	for i := range hashBytes {
		h = h<<8 | uint64(treeKey[i])
	}
	return h
}

// keyText spells the partition key of item for people: the plain text of one
// attribute, quoted texts of several, so that different keys look different.
func (s schema) keyText(item attr.Item) string { return textOf(s.hash, item) }

func (s schema) sortText(item attr.Item) string { return textOf(s.sort, item) }

func textOf(key []keyAttr, item attr.Item) string {
	if len(key) == 1 {
		return item.Get(key[0].name).Text()
	}
	var b []byte
	for i, a := range key {
		if i > 0 {
			b = append(b, ' ')
		}
		b = strconv.AppendQuote(b, item.Get(a.name).Text())
	}
	return string(b)
}
