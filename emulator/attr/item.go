package attr

import (
	"encoding/binary"
	"iter"
	"slices"
	"strings"
)

// Item is a set of named values, sorted by name: a row, a key, or the payload of
// an M. The zero Item is none at all, which differs from an empty one.
//
// Layout: size in bytes as the service counts them, number of fields, and each
// field as name length, name, value length, value. An illegal item has the size
// illegalSize and its fault behind it.
type Item struct{ raw string }

// illegalSize marks an illegal item; no legal one is this large.
const illegalSize = 1 << 40

const emptyRaw = "\x00\x00"

// Empty is the item without fields.
func Empty() Item { return Item{emptyRaw} }

// New makes an item of fields.
func New(fields map[string]Value) Item {
	var b Builder
	for name, v := range fields {
		b.Set(name, v)
	}
	return b.Item()
}

// IsNil reports whether i is no item at all.
func (i Item) IsNil() bool { return i.raw == "" }

// Err says why i, as it came over the wire, is not a legal item.
func (i Item) Err() error {
	if i.raw == "" {
		return nil
	}
	size, w := uvarint(i.raw)
	if size == illegalSize {
		return parseFault(i.raw[w:])
	}
	return nil
}

func illegalItem(err *InvalidError) Item {
	return Item{string(binary.AppendUvarint(nil, illegalSize)) + err.spell()}
}

// Size is what the service counts: names and values. It takes constant time.
func (i Item) Size() int {
	if i.raw == "" {
		return 0
	}
	size, _ := uvarint(i.raw)
	if size == illegalSize {
		return 0
	}
	return size
}

// fields returns the number of fields and their bytes.
func (i Item) fields() (n int, rest string) {
	if i.raw == "" {
		return 0, ""
	}
	size, w := uvarint(i.raw)
	if size == illegalSize {
		return 0, ""
	}
	n, w2 := uvarint(i.raw[w:])
	return n, i.raw[w+w2:]
}

// Len is the number of fields.
func (i Item) Len() int { n, _ := i.fields(); return n }

// Get is the value called name, no value when there is none.
func (i Item) Get(name string) Value {
	n, rest := i.fields()
	for range n {
		size, w := uvarint(rest)
		field := rest[w : w+size]
		rest = rest[w+size:]
		size, w = uvarint(rest)
		if field == name {
			return Value{rest[w : w+size]}
		}
		if field > name {
			return Value{}
		}
		rest = rest[w+size:]
	}
	return Value{}
}

// Has reports whether a field is called name.
func (i Item) Has(name string) bool { return !i.Get(name).IsZero() }

// All yields the fields in the order of their names.
func (i Item) All() iter.Seq2[string, Value] {
	return func(yield func(string, Value) bool) {
		n, rest := i.fields()
		for range n {
			size, w := uvarint(rest)
			name := rest[w : w+size]
			rest = rest[w+size:]
			size, w = uvarint(rest)
			if !yield(name, Value{rest[w : w+size]}) {
				return
			}
			rest = rest[w+size:]
		}
	}
}

// With is i with name set to v.
func (i Item) With(name string, v Value) Item {
	b := builderOf(i, 1)
	b.Set(name, v)
	return b.Item()
}

// Without is i without the field called name.
func (i Item) Without(name string) Item {
	if !i.Has(name) {
		return i
	}
	b := builderOf(i, 0)
	b.Remove(name)
	return b.Item()
}

// Pick is i cut down to names, such as what an index projects. Names that i does
// not have are passed over.
func (i Item) Pick(names []string) Item {
	b := Builder{fields: make([]field, 0, len(names))}
	for name, v := range i.All() {
		if slices.Contains(names, name) {
			b.fields = append(b.fields, field{name, v})
		}
	}
	if len(b.fields) == i.Len() {
		return i
	}
	return b.Item()
}

func (i Item) depth() int {
	deepest := 0
	for _, v := range i.All() {
		deepest = max(deepest, v.Depth())
	}
	return deepest
}

// String spells i as JSON, for messages and tests.
func (i Item) String() string {
	if i.IsNil() {
		return "no item"
	}
	if err := i.Err(); err != nil {
		return "illegal item: " + err.Error()
	}
	return string(AppendJSON(nil, i))
}

type field struct {
	name  string
	value Value
}

// Builder collects fields of an item. The zero Builder is empty and ready.
type Builder struct {
	fields []field
}

func builderOf(i Item, more int) Builder {
	b := Builder{fields: make([]field, 0, i.Len()+more)}
	for name, v := range i.All() {
		b.fields = append(b.fields, field{name, v})
	}
	return b
}

// Set gives name the value v, in place of one it had. No value removes the field.
func (b *Builder) Set(name string, v Value) {
	at, found := b.find(name)
	switch {
	case v.IsZero() && found:
		b.fields = slices.Delete(b.fields, at, at+1)
	case v.IsZero():
	case found:
		b.fields[at].value = v
	default:
		b.fields = slices.Insert(b.fields, at, field{name, v})
	}
}

// Remove drops the field called name.
func (b *Builder) Remove(name string) { b.Set(name, Value{}) }

func (b *Builder) find(name string) (int, bool) {
	// Names mostly arrive in order, when they come out of another item.
	if n := len(b.fields); n == 0 || b.fields[n-1].name < name {
		return n, false
	}
	return slices.BinarySearchFunc(b.fields, name, func(f field, name string) int {
		return strings.Compare(f.name, name)
	})
}

// Item is the item of the fields set so far.
func (b *Builder) Item() Item { return Item{string(appendFields(nil, b.fields))} }

// appendFields writes the layout of an item whose fields are sorted.
func appendFields(dst []byte, fields []field) []byte {
	size, length := 0, 2*binary.MaxVarintLen32
	for _, f := range fields {
		size += len(f.name) + f.value.Size()
		length += 2*binary.MaxVarintLen32 + len(f.name) + len(f.value.raw)
	}
	dst = slices.Grow(dst, length)
	dst = binary.AppendUvarint(dst, uint64(size))
	dst = binary.AppendUvarint(dst, uint64(len(fields)))
	for _, f := range fields {
		dst = binary.AppendUvarint(dst, uint64(len(f.name)))
		dst = append(dst, f.name...)
		dst = binary.AppendUvarint(dst, uint64(len(f.value.raw)))
		dst = append(dst, f.value.raw...)
	}
	return dst
}
