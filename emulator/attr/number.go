package attr

import (
	"math"
	"strconv"
	"strings"

	"github.com/cockroachdb/apd/v3"
)

// Limits of the service's numbers.
const (
	digitsMax   = 38
	exponentMax = 125
	exponentMin = -130
)

// arithmetic computes exactly: two numbers in range never need more digits than
// this, so it is the check afterwards that refuses a result, never a rounding.
var arithmetic = apd.Context{Precision: exponentMax - exponentMin + 2*digitsMax, MaxExponent: apd.MaxExponent, MinExponent: apd.MinExponent}

// Number makes an N of text in any spelling that the service accepts. The error
// is an *InvalidError.
func Number(text string) (Value, error) {
	raw, err := appendNumber([]byte{byte(KindN)}, text)
	if err != nil {
		return Value{}, err
	}
	return Value{string(raw)}, nil
}

// appendNumber appends the canonical spelling of text: plain notation, no plus
// sign, no zero that says nothing.
func appendNumber(dst []byte, text string) ([]byte, *InvalidError) {
	if isCanonicalInteger(text) {
		return append(dst, text...), nil
	}
	d, err := parseDecimal(text)
	if err != nil {
		return dst, err
	}
	return d.append(dst), nil
}

// isCanonicalInteger finds the common spelling that needs no work: an integer of
// few digits.
func isCanonicalInteger(s string) bool {
	if len(s) > 1 && s[0] == '-' && s != "-0" {
		s = s[1:]
	}
	if s == "" || len(s) > digitsMax || s[0] == '0' && len(s) > 1 {
		return false
	}
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return true
}

// parseDecimal reads sign, digits with an optional point, and an optional exponent.
func parseDecimal(text string) (decimal, *InvalidError) {
	var d decimal
	malformed := invalid(messageNotNumber + ": " + text)
	if text == "" {
		malformed.Older = messageNotNumber
		return d, malformed
	}
	s := text
	if s[0] == '+' || s[0] == '-' {
		d.negative = s[0] == '-'
		s = s[1:]
	}
	mantissa, exponent, ok := cutExponent(s)
	if !ok {
		return d, malformed
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	if whole+fraction == "" || !allDigits(whole) || !allDigits(fraction) {
		return d, malformed
	}
	digits := strings.TrimLeft(whole+fraction, "0")
	if digits == "" {
		return decimal{}, checkExponent(exponent)
	}
	zeros := len(whole) + len(fraction) - len(digits)
	d.exponent = exponent + len(whole) - zeros - 1
	d.digits = strings.TrimRight(digits, "0")
	return d, d.check()
}

// cutExponent splits "12.5e-3". An exponent that does not fit 64 bits is no
// exponent; one that is merely useless is brought near the range.
func cutExponent(s string) (mantissa string, exponent int, ok bool) {
	at := strings.IndexAny(s, "eE")
	if at < 0 {
		return s, 0, true
	}
	mantissa, text := s[:at], s[at+1:]
	unsigned := strings.TrimPrefix(strings.TrimPrefix(text, "+"), "-")
	if text == "" || len(text)-len(unsigned) > 1 || unsigned == "" || !allDigits(unsigned) {
		return "", 0, false
	}
	exponent, err := strconv.Atoi(text)
	if err != nil {
		return "", 0, false
	}
	return mantissa, min(max(exponent, -math.MaxInt32), math.MaxInt32), true
}

func allDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return true
}

// check refuses what the service does not store.
func (d decimal) check() *InvalidError {
	if err := checkExponent(d.exponent); err != nil {
		return err
	}
	if len(d.digits) > digitsMax {
		return invalid(messagePrecision)
	}
	return nil
}

// checkExponent holds for zero, too, by the exponent that it is written with.
func checkExponent(exponent int) *InvalidError {
	switch {
	case exponent >= math.MaxInt32:
		// The older checks count in 32 bits and come out at the other end.
		return &InvalidError{Message: messageOverflow, Older: messageUnderflow}
	case exponent > exponentMax:
		return invalid(messageOverflow)
	case exponent < exponentMin:
		return invalid(messageUnderflow)
	}
	return nil
}

// append spells d canonically.
func (d decimal) append(dst []byte) []byte {
	if d.digits == "" {
		return append(dst, '0')
	}
	if d.negative {
		dst = append(dst, '-')
	}
	point := d.exponent + 1
	if point <= 0 {
		dst = append(dst, "0."...)
		dst = appendZeros(dst, -point)
		return append(dst, d.digits...)
	}
	if point >= len(d.digits) {
		dst = append(dst, d.digits...)
		return appendZeros(dst, point-len(d.digits))
	}
	dst = append(dst, d.digits[:point]...)
	dst = append(dst, '.')
	return append(dst, d.digits[point:]...)
}

func appendZeros(dst []byte, n int) []byte {
	for range n {
		dst = append(dst, '0')
	}
	return dst
}

// Add is a + b. The error is an *InvalidError: the sum is out of the service's range.
func Add(a, b Value) (Value, error) { return compute(arithmetic.Add, a, b) }

// Sub is a - b. The error is an *InvalidError: the difference is out of the service's range.
func Sub(a, b Value) (Value, error) { return compute(arithmetic.Sub, a, b) }

func compute(op func(d, x, y *apd.Decimal) (apd.Condition, error), a, b Value) (Value, error) {
	var x, y, result apd.Decimal
	if _, _, err := x.SetString(a.Text()); err != nil {
		return Value{}, invalid(messageNotNumber + ": " + a.Text())
	}
	if _, _, err := y.SetString(b.Text()); err != nil {
		return Value{}, invalid(messageNotNumber + ": " + b.Text())
	}
	if _, err := op(&result, &x, &y); err != nil {
		return Value{}, invalid(messageOverflow)
	}
	v, err := Number(result.Text('E'))
	if err != nil && err.Error() == messagePrecision {
		// The service calls it an overflow when a result needs more digits.
		return Value{}, invalid(messageOverflow)
	}
	return v, err
}
