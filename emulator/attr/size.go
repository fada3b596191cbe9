package attr

import "strings"

// Size is the number of bytes that the service counts for v, without its name.
// The rule for N is unpublished; this one was found by probing the service.
func (v Value) Size() int {
	switch v.Kind() {
	case KindS, KindB:
		return len(v.raw) - 1
	case KindN:
		return numberSize(v.raw[1:])
	case KindBOOL, KindNULL:
		return 1
	case KindM:
		m := v.Map()
		return 3 + m.Len() + m.Size()
	case KindL:
		size := 3
		for e := range v.All() {
			size += 1 + e.Size()
		}
		return size
	case KindSS, KindNS, KindBS:
		size := 0
		for e := range v.All() {
			size += e.Size()
		}
		return size
	}
	return 0
}

// numberSize counts two digits a byte, aligned to an even exponent, one byte for
// the exponent and one for a minus sign.
func numberSize(canonical string) int {
	if canonical == "0" {
		return 1
	}
	n := parseCanonical(canonical)
	size := 1 + (len(n.digits)+1)/2
	if len(n.digits)%2 == 0 && n.exponent%2 == 0 {
		size++
	}
	if n.negative {
		size++
	}
	return size
}

// decimal is a number as 0.d1d2d3… × 10^(exponent+1): digits without zeros at
// either end, exponent that of the first digit. Zero has no digits.
type decimal struct {
	negative bool
	digits   string
	exponent int
}

// parseCanonical takes a canonical spelling apart.
func parseCanonical(s string) decimal {
	var d decimal
	if strings.HasPrefix(s, "-") {
		d.negative, s = true, s[1:]
	}
	whole, fraction, _ := strings.Cut(s, ".")
	if whole == "0" {
		digits := strings.TrimLeft(fraction, "0")
		d.exponent = len(digits) - len(fraction) - 1
		d.digits = digits
		return d
	}
	d.exponent = len(whole) - 1
	if fraction == "" {
		d.digits = strings.TrimRight(whole, "0")
		return d
	}
	d.digits = whole + fraction
	return d
}
