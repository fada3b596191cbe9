package fanout

import (
	"strconv"
	"strings"
)

// compareNumbers orders two decimal numbers of up to 38 digits by value without
// going through a float, which would make neighbours equal.
func compareNumbers(a, b string) int {
	if a == b {
		return 0
	}
	x, y := parseDecimal(a), parseDecimal(b)
	if x.sign != y.sign {
		return x.sign - y.sign
	}
	return x.sign * x.compareMagnitude(y)
}

// decimal is sign × 0.digits × 10^exponent, digits without leading and trailing zeros.
type decimal struct {
	sign     int
	digits   string
	exponent int
}

func parseDecimal(s string) decimal {
	d := decimal{sign: 1}
	if rest, negative := strings.CutPrefix(s, "-"); negative {
		d.sign, s = -1, rest
	}
	s = strings.TrimPrefix(s, "+")
	if at := strings.IndexAny(s, "eE"); at >= 0 {
		d.exponent, _ = strconv.Atoi(s[at+1:])
		s = s[:at]
	}
	whole, fraction, _ := strings.Cut(s, ".")
	digits := whole + fraction
	d.exponent += len(whole)
	trimmed := strings.TrimLeft(digits, "0")
	d.exponent -= len(digits) - len(trimmed)
	d.digits = strings.TrimRight(trimmed, "0")
	if d.digits == "" {
		return decimal{}
	}
	return d
}

func (d decimal) compareMagnitude(e decimal) int {
	if d.exponent != e.exponent {
		return d.exponent - e.exponent
	}
	return strings.Compare(d.digits, e.digits)
}
