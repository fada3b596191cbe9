package attr

import (
	"encoding/binary"
	"iter"
	"strconv"
	"unicode/utf8"
)

// Kind is the type of an attribute value. The zero Kind is that of no value.
type Kind uint8

// The kinds, in the order in which the service declares them.
const (
	KindNone Kind = iota
	KindS
	KindN
	KindB
	KindSS
	KindNS
	KindBS
	KindM
	KindL
	KindNULL
	KindBOOL
)

var kindNames = [...]string{"", "S", "N", "B", "SS", "NS", "BS", "M", "L", "NULL", "BOOL"}

// String is the kind's name on the wire.
func (k Kind) String() string { return kindNames[k] }

// IsSet reports whether values of the kind are sets.
func (k Kind) IsSet() bool { return k == KindSS || k == KindNS || k == KindBS }

// Element is the kind of a set's elements, KindNone for anything but a set.
func (k Kind) Element() Kind {
	if k.IsSet() {
		return k - KindSS + KindS
	}
	return KindNone
}

// ParseKind is the kind of a wire name, KindNone for an unknown one.
func ParseKind(name string) Kind {
	for k := KindS; k <= KindBOOL; k++ {
		if kindNames[k] == name {
			return k
		}
	}
	return KindNone
}

// The tag byte holds the kind and, above it, one flag whose meaning depends on
// the kind. kindIllegal tags a value that was well-formed but is not legal.
const (
	kindMask    = 0x0f
	flag        = 0x10 // S: needs no escape in JSON; BOOL: true
	kindIllegal = Kind(0x0f)
)

// Value is one attribute value. The zero Value is no value.
//
// Payload by kind: S, N and B their bytes (N in canonical spelling); L and sets
// a count and then each element with its length before it; M the raw Item.
type Value struct{ raw string }

// Kind is the value's type. An illegal value has none.
func (v Value) Kind() Kind {
	if v.raw == "" {
		return KindNone
	}
	if k := Kind(v.raw[0] & kindMask); k != kindIllegal {
		return k
	}
	return KindNone
}

// IsZero reports whether v is no value at all.
func (v Value) IsZero() bool { return v.raw == "" }

// Err says why v, as it came over the wire, is not a legal value.
func (v Value) Err() error {
	if v.raw != "" && Kind(v.raw[0]&kindMask) == kindIllegal {
		return parseFault(v.raw[1:])
	}
	return nil
}

func illegal(err *InvalidError) Value { return Value{string(rune(kindIllegal)) + err.spell()} }

// Text is the payload of S, N (canonical spelling) and B (raw bytes).
func (v Value) Text() string {
	switch v.Kind() {
	case KindS, KindN, KindB:
		return v.raw[1:]
	}
	return ""
}

// Bool is the payload of BOOL.
func (v Value) Bool() bool { return v.Kind() == KindBOOL && v.raw[0]&flag != 0 }

// Map is the payload of M; it shares v's bytes. For other kinds it is nil.
func (v Value) Map() Item {
	if v.Kind() != KindM {
		return Item{}
	}
	return Item{v.raw[1:]}
}

// Len counts the elements of L and sets and the members of M.
func (v Value) Len() int {
	switch k := v.Kind(); {
	case k == KindM:
		return v.Map().Len()
	case k == KindL || k.IsSet():
		n, _ := uvarint(v.raw[1:])
		return n
	}
	return 0
}

// All yields the elements of L and sets.
func (v Value) All() iter.Seq[Value] {
	return func(yield func(Value) bool) {
		if k := v.Kind(); k != KindL && !k.IsSet() {
			return
		}
		n, w := uvarint(v.raw[1:])
		rest := v.raw[1+w:]
		for range n {
			size, w := uvarint(rest)
			if !yield(Value{rest[w : w+size]}) {
				return
			}
			rest = rest[w+size:]
		}
	}
}

// Index is element i of L or of a set, no value when there is none.
func (v Value) Index(i int) Value {
	if i < 0 || i >= v.Len() {
		return Value{}
	}
	for e := range v.All() {
		if i == 0 {
			return e
		}
		i--
	}
	return Value{}
}

// Depth is 0 for scalars and sets, and one more than the deepest member for L and M.
func (v Value) Depth() int {
	deepest := 0
	switch v.Kind() {
	case KindL:
		for e := range v.All() {
			deepest = max(deepest, e.Depth())
		}
	case KindM:
		deepest = v.Map().depth()
	default:
		return 0
	}
	return deepest + 1
}

// String spells v as JSON, for messages and tests.
func (v Value) String() string {
	if v.IsZero() {
		return "no value"
	}
	if err := v.Err(); err != nil {
		return "illegal value: " + err.Error()
	}
	return string(AppendValueJSON(nil, v))
}

// Null is the NULL value.
var Null = Value{string(rune(KindNULL))}

// Text values: a string is marked once, when it is made, if JSON can carry it as it is.

// String makes an S.
func String(s string) Value { return Value{string(appendText(nil, s))} }

func appendText(dst []byte, s string) []byte {
	tag := byte(KindS)
	if plainJSON(s) {
		tag |= flag
	}
	return append(append(dst, tag), s...)
}

// Binary makes a B of raw bytes.
func Binary(bytes string) Value { return Value{string(rune(KindB)) + bytes} }

// Bool makes a BOOL.
func Bool(b bool) Value {
	tag := KindBOOL
	if b {
		tag |= flag
	}
	return Value{string(rune(tag))}
}

// Int makes an N.
func Int(n int64) Value { return Value{string(rune(KindN)) + strconv.FormatInt(n, 10)} }

// List makes an L.
func List(elements []Value) Value { return sequence(KindL, elements) }

// Map makes an M. A nil Item is an empty map.
func Map(i Item) Value {
	if i.IsNil() {
		i = Empty()
	}
	return Value{string(rune(KindM)) + i.raw}
}

// Set makes a set of the elements, which must be of the set's element kind, at
// least one, and distinct; anything else is a mistake of the caller.
func Set(kind Kind, elements []Value) Value {
	if !kind.IsSet() || len(elements) == 0 {
		panic("attr: set of kind " + kind.String() + " with no element")
	}
	for _, e := range elements {
		if e.Kind() != kind.Element() {
			panic("attr: element of kind " + e.Kind().String() + " in a set of kind " + kind.String())
		}
	}
	return sequence(kind, inOrder(elements))
}

// sequence lays elements out behind a count.
func sequence(kind Kind, elements []Value) Value {
	size := 1 + binary.MaxVarintLen32
	for _, e := range elements {
		size += binary.MaxVarintLen32 + len(e.raw)
	}
	raw := make([]byte, 0, size)
	raw = append(raw, byte(kind))
	raw = binary.AppendUvarint(raw, uint64(len(elements)))
	for _, e := range elements {
		raw = binary.AppendUvarint(raw, uint64(len(e.raw)))
		raw = append(raw, e.raw...)
	}
	return Value{string(raw)}
}

// uvarint reads a length at the start of s and says how many bytes it took. What
// it reads was written by this package, so it is never cut short.
func uvarint(s string) (n, width int) {
	if s[0] < utf8.RuneSelf {
		return int(s[0]), 1
	}
	for shift := 0; ; shift += 7 {
		b := s[width]
		width++
		n |= int(b&0x7f) << shift
		if b < utf8.RuneSelf {
			return n, width
		}
	}
}
