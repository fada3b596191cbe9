package attr_test

import (
	"errors"
	"math/big"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/hotsplit/hotsplit/emulator/attr"
)

func number(t testing.TB, text string) attr.Value {
	t.Helper()
	v, err := attr.Number(text)
	if err != nil {
		t.Fatalf("number %q: %v", text, err)
	}
	return v
}

func TestNumberSpelling(t *testing.T) {
	for text, want := range map[string]string{
		"0": "0", "-0": "0", "0.000": "0", "0e125": "0", "00042": "42", "+3": "3", ".123": "0.123", "5.": "5", "-.5": "-0.5",
		"1.0": "1", "3.1400": "3.14", "1.5E2": "150", "1e+5": "100000", "-17.4E37": "-17400" + strings.Repeat("0", 34),
		"1E-130": "0." + strings.Repeat("0", 129) + "1", "1e125": "1" + strings.Repeat("0", 125), "100e-2": "1", "1000": "1000",
		"12345678901234567890123456789012345678": "12345678901234567890123456789012345678",
		"0.00" + strings.Repeat("9", 38) + "00":  "0.00" + strings.Repeat("9", 38),
	} {
		if got := number(t, text).Text(); got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
}

func TestNumberFaults(t *testing.T) {
	const overflow = "Number overflow. Attempting to store a number with magnitude larger than supported range"
	const underflow = "Number underflow. Attempting to store a number with magnitude smaller than supported range"
	const precision = "Attempting to store more than 38 significant digits in a Number"
	const notNumber = "The parameter cannot be converted to a numeric value: "
	for text, want := range map[string]string{
		"": notNumber, " 1": notNumber + " 1", "1 ": notNumber + "1 ", "abc": notNumber + "abc", "1.2.3": notNumber + "1.2.3",
		"0x10": notNumber + "0x10", "1e": notNumber + "1e", "1e+-2": notNumber + "1e+-2", "NaN": notNumber + "NaN", ".": notNumber + ".", "-": notNumber + "-",
		"1e9223372036854775808": notNumber + "1e9223372036854775808", "1_0": notNumber + "1_0", "١": notNumber + "١",
		"1e126": overflow, "11e125": overflow, "-1e99999999999": overflow, "1e2147483648": overflow, "0e126": overflow,
		"1e-131": underflow, "0.9e-130": underflow, "1e-99999999999": underflow, "0e-131": underflow,
		strings.Repeat("1", 39): precision, "3.14159265358979323846264338327950288419": precision, "1." + strings.Repeat("0", 37) + "1": precision,
	} {
		_, err := attr.Number(text)
		var fault *attr.InvalidError
		if !errors.As(err, &fault) || fault.Message != want {
			t.Errorf("%s: got %v, want %s", text, err, want)
		}
	}
}

func TestArithmetic(t *testing.T) {
	for _, test := range []struct{ a, b, sum, difference string }{
		{"1", "10000000000000000000000", "10000000000000000000001", "-9999999999999999999999"},
		{"0.1", "0.2", "0.3", "-0.1"},
		{"5", "-5", "0", "10"},
		{"9e125", "9e125", "", "0"},
		{"1e50", "1", "", ""},
	} {
		a, b := number(t, test.a), number(t, test.b)
		for _, op := range []struct {
			name string
			do   func(a, b attr.Value) (attr.Value, error)
			want string
		}{{"+", attr.Add, test.sum}, {"-", attr.Sub, test.difference}} {
			got, err := op.do(a, b)
			if op.want == "" && (err == nil || !strings.HasPrefix(err.Error(), "Number overflow")) {
				t.Errorf("%s %s %s: got %v, %v", test.a, op.name, test.b, got, err)
			}
			if op.want != "" && (err != nil || got.Text() != op.want) {
				t.Errorf("%s %s %s: got %v, %v", test.a, op.name, test.b, got, err)
			}
		}
	}
}

// The figures were measured on the service, each by an item on either side of
// the size limit.
func TestNumberSize(t *testing.T) {
	for text, want := range map[string]int{
		"0": 1, "1": 2, "12": 2, "123": 3, "1234": 3, "12345678901234567890123456789012345678": 20, "0042": 2, "100": 2, "1010": 3,
		"0.0000001": 2, "1E125": 2, "1E-100": 2, "1.5": 3, "15": 2, "1.2": 3, "1.200": 3, "1.234": 4, "3.14159": 5, "123456": 4,
		"100.5": 4, "0.15": 2, "-42": 3, "-0": 1,
	} {
		if got := number(t, text).Size(); got != want {
			t.Errorf("%s: size %d, want %d", text, got, want)
		}
	}
}

// numbers draws spellings of numbers that the service stores.
func numbers() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		digits := rapid.StringMatching(`[0-9]{1,38}`).Draw(t, "digits")
		point := rapid.IntRange(0, len(digits)).Draw(t, "point")
		text := rapid.SampledFrom([]string{"", "-", "+"}).Draw(t, "sign") + digits[:point] + "." + digits[point:]
		return text + rapid.SampledFrom([]string{"", "e5", "E-7", "e60", "e-60", "e+1"}).Draw(t, "exponent")
	})
}

func rational(t *rapid.T, text string) *big.Rat {
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		t.Fatalf("no rational: %s", text)
	}
	return r
}

func TestNumberProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := numbers().Draw(t, "a"), numbers().Draw(t, "b")
		x, errX := attr.Number(a)
		y, errY := attr.Number(b)
		if errX != nil || errY != nil {
			t.Skip("out of range")
		}
		rx, ry := rational(t, a), rational(t, b)
		if rational(t, x.Text()).Cmp(rx) != 0 {
			t.Fatalf("%s became %s", a, x.Text())
		}
		if again, err := attr.Number(x.Text()); err != nil || !attr.Equal(again, x) {
			t.Fatalf("%s is not canonical: %v, %v", x.Text(), again, err)
		}
		order, ok := attr.Compare(x, y)
		if !ok || sign(order) != rx.Cmp(ry) {
			t.Fatalf("%s against %s: %d", a, b, order)
		}
		if keys := strings.Compare(key(x), key(y)); keys != rx.Cmp(ry) {
			t.Fatalf("keys of %s and %s: %d", a, b, keys)
		}
		if sum, err := attr.Add(x, y); err == nil && rational(t, sum.Text()).Cmp(new(big.Rat).Add(rx, ry)) != 0 {
			t.Fatalf("%s + %s = %s", a, b, sum.Text())
		}
		if difference, err := attr.Sub(x, y); err == nil && rational(t, difference.Text()).Cmp(new(big.Rat).Sub(rx, ry)) != 0 {
			t.Fatalf("%s - %s = %s", a, b, difference.Text())
		}
	})
}

func sign(n int) int { return min(max(n, -1), 1) }

func key(v attr.Value) string { return string(attr.AppendKey(nil, v)) }

// Text keys are drawn from what separators and escapes are made of: two pairs of
// keys laid end to end are never the same bytes, and they order pair by pair.
func TestKeysNeverCollide(t *testing.T) {
	text := rapid.StringOf(rapid.RuneFrom([]rune{'#', '\\', '|', '%', 0, 1, 2, 'A', 'é', 0xff, 0x10ffff}))
	kinds := rapid.SampledFrom([]func(string) attr.Value{attr.String, attr.Binary})
	rapid.Check(t, func(t *rapid.T) {
		kind := kinds.Draw(t, "kind")
		a := []string{text.Draw(t, "a0"), text.Draw(t, "a1")}
		b := []string{text.Draw(t, "b0"), text.Draw(t, "b1")}
		joined := func(pair []string) string {
			return string(attr.AppendKey(attr.AppendKey(nil, kind(pair[0])), kind(pair[1])))
		}
		if got, want := strings.Compare(joined(a), joined(b)), slices.Compare(a, b); got != want {
			t.Fatalf("%q against %q: keys %d, texts %d", a, b, got, want)
		}
	})
}

func FuzzNumber(f *testing.F) {
	for _, seed := range []string{"0", "-1.5e10", "1e125", ".5", "1e-130", "00.100", "9e99999999999"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		v, err := attr.Number(text)
		if err != nil {
			return
		}
		again, err := attr.Number(v.Text())
		if err != nil || !attr.Equal(again, v) || v.Size() > 22 || len(v.Text()) > 300 {
			t.Fatalf("%q became %q, then %v, %v, size %d", text, v.Text(), again, err, v.Size())
		}
	})
}
