package migrate

import (
	"strconv"
	"strings"
)

// canonicalNumber spells equal numbers alike: sign, digits without zeros at
// either end, and a power of ten. It works on text, because a number of 38
// digits fits no machine type.
func canonicalNumber(s string) string {
	sign := ""
	rest := s
	if strings.HasPrefix(rest, "-") {
		sign, rest = "-", rest[1:]
	}
	rest = strings.TrimPrefix(rest, "+")
	exponent := 0
	if at := strings.IndexAny(rest, "eE"); at >= 0 {
		n, err := strconv.Atoi(rest[at+1:])
		if err != nil {
			return s
		}
		exponent, rest = n, rest[:at]
	}
	whole, fraction, _ := strings.Cut(rest, ".")
	digits := whole + fraction
	exponent -= len(fraction)
	digits = strings.TrimLeft(digits, "0")
	trimmed := strings.TrimRight(digits, "0")
	exponent += len(digits) - len(trimmed)
	if trimmed == "" {
		return "0"
	}
	return sign + trimmed + "e" + strconv.Itoa(exponent)
}
