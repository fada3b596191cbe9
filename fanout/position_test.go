package fanout

import (
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

func TestCompareNumbersIsExact(t *testing.T) {
	number := rapid.StringMatching(`-?[0-9]{1,20}(\.[0-9]{1,18})?(E[+-]?[0-9]{1,2})?`)
	rapid.Check(t, func(t *rapid.T) {
		a, b := number.Draw(t, "a"), number.Draw(t, "b")
		x, _ := new(big.Rat).SetString(a)
		y, _ := new(big.Rat).SetString(b)
		if got, want := sign(compareNumbers(a, b)), x.Cmp(y); got != want {
			t.Fatalf("compareNumbers(%s, %s) = %d, want %d", a, b, got, want)
		}
	})
}

func sign(n int) int { return min(1, max(-1, n)) }

func TestPrefixEndBoundsThePrefix(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		prefix := rapid.StringN(1, 8, -1).Draw(t, "prefix")
		rest := rapid.String().Draw(t, "rest")
		end := prefixEnd(prefix)
		if end != "" && !(prefix+rest < end) {
			t.Fatalf("%q is not below the end %q of prefix %q", prefix+rest, end, prefix)
		}
	})
}

func TestBaseKeysOfDistinctKeysDiffer(t *testing.T) {
	part := rapid.StringMatching(`[A#|%\x00SN]{0,4}`)
	rapid.Check(t, func(t *rapid.T) {
		key := func(name string) [2]scalar {
			return [2]scalar{{kindString, part.Draw(t, name+"PK")}, {kindString, part.Draw(t, name+"SK")}}
		}
		a, b := key("a"), key("b")
		if (a == b) != (baseKey(a) == baseKey(b)) {
			t.Fatalf("%q and %q", a, b)
		}
	})
}
