package attr

import (
	"slices"
	"strings"
)

// Compare orders two values of one kind among S, N and B: numbers by value, the
// others by their bytes. It is not ok for anything else.
func Compare(a, b Value) (order int, ok bool) {
	k := a.Kind()
	if k != b.Kind() {
		return 0, false
	}
	switch k {
	case KindS, KindB:
		return strings.Compare(a.raw[1:], b.raw[1:]), true
	case KindN:
		return compareNumbers(a.raw[1:], b.raw[1:]), true
	}
	return 0, false
}

func compareNumbers(a, b string) int {
	if a == b {
		return 0
	}
	x, y := parseCanonical(a), parseCanonical(b)
	if s, t := x.sign(), y.sign(); s != t || s == 0 {
		return s - t
	}
	order := x.exponent - y.exponent
	if order == 0 {
		order = strings.Compare(x.digits, y.digits)
	}
	if x.negative {
		return -order
	}
	return order
}

func (d decimal) sign() int {
	switch {
	case d.digits == "" || d.digits == "0":
		return 0
	case d.negative:
		return -1
	}
	return 1
}

// Equal reports whether two values are the same. Sets are equal in any order:
// theirs is always the same.
func Equal(a, b Value) bool { return a.raw == b.raw }

// inOrder sorts the elements of a set as the service does: numbers by value, the
// others by their bytes. It changes elements only if they are not sorted yet.
func inOrder(elements []Value) []Value {
	if !slices.IsSortedFunc(elements, compareElements) {
		elements = slices.SortedFunc(slices.Values(elements), compareElements)
	}
	return elements
}

func compareElements(a, b Value) int {
	order, _ := Compare(a, b)
	return order
}

// Equal reports whether two items have the same fields. No item equals only no item.
func (i Item) Equal(o Item) bool {
	if i.raw == o.raw {
		return true
	}
	if i.IsNil() || o.IsNil() || i.Len() != o.Len() {
		return false
	}
	n, a := i.fields()
	_, b := o.fields()
	for range n {
		var x, y field
		x, a = cutField(a)
		y, b = cutField(b)
		if x.name != y.name || !Equal(x.value, y.value) {
			return false
		}
	}
	return true
}

func cutField(s string) (f field, rest string) {
	size, w := uvarint(s)
	f.name = s[w : w+size]
	s = s[w+size:]
	size, w = uvarint(s)
	f.value = Value{s[w : w+size]}
	return f, s[w+size:]
}

// Bytes of AppendKey. A text ends with endOfText; a zero byte inside it is
// followed by zeroInText, which sorts behind any end.
const (
	endOfText  = 0x01
	zeroInText = 0xff

	numberNegative = 0x00
	numberZero     = 0x01
	numberPositive = 0x02
)

// AppendKey appends bytes that order as Compare does. No key is the beginning of
// another one of its kind, so keys may be laid end to end: the whole orders by
// the first, then by the second, and different pairs never become equal.
func AppendKey(dst []byte, v Value) []byte {
	switch v.Kind() {
	case KindS, KindB:
		return appendTextKey(dst, v.raw[1:])
	case KindN:
		return appendNumberKey(dst, parseCanonical(v.raw[1:]))
	}
	panic("attr: key of kind " + v.Kind().String())
}

func appendTextKey(dst []byte, s string) []byte {
	for {
		at := strings.IndexByte(s, 0)
		if at < 0 {
			break
		}
		dst = append(append(dst, s[:at]...), 0, zeroInText)
		s = s[at+1:]
	}
	return append(append(dst, s...), 0, endOfText)
}

// appendNumberKey writes sign, exponent and digits, each digit as a byte from 2
// to 11 and a 1 behind the last; all of it inverted for a negative number.
func appendNumberKey(dst []byte, d decimal) []byte {
	switch d.sign() {
	case 0:
		return append(dst, numberZero)
	case 1:
		dst = append(dst, numberPositive)
	default:
		dst = append(dst, numberNegative)
	}
	start := len(dst)
	dst = append(dst, byte(d.exponent-exponentMin))
	for i := range len(d.digits) {
		dst = append(dst, d.digits[i]-'0'+2)
	}
	dst = append(dst, 1)
	if d.negative {
		for i := start; i < len(dst); i++ {
			dst[i] = ^dst[i]
		}
	}
	return dst
}
