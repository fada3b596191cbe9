package shard_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/hotsplit/hotsplit/shard"
)

func TestKF05OwnersThatWouldBeAmbiguousAreRefused(t *testing.T) {
	for owner, class := range map[string]shard.OwnerClass{
		"": shard.OwnerEmpty, "A#": shard.OwnerSeparator, "#B": shard.OwnerSeparator, "a#3": shard.OwnerSeparator,
		"RenewalSaga#3": shard.OwnerSeparator, `\#`: shard.OwnerSeparator, "a\xff": shard.OwnerNotUTF8,
		strings.Repeat("x", 1000): shard.OwnerTooLong,
	} {
		_, err := shard.SortKey(owner, time.Now())
		refused, ok := errors.AsType[*shard.OwnerError](err)
		if !ok || refused.Class != class || !errors.Is(err, shard.ErrOwner) {
			t.Errorf("%.20q: got %v, want class %q", owner, err, class)
		}
	}
	for _, owner := range []string{"A", "a%b", "a|b", "a\nb", "a\x00b", "🏠"} {
		if err := shard.CheckOwner(owner, ""); err != nil {
			t.Errorf("%q: %v", owner, err)
		}
	}
}

func TestKF05NoTwoOwnersShareASortKey(t *testing.T) {
	alphabet := rapid.StringOf(rapid.SampledFrom([]rune(`#%|a\` + "\n\x00")))
	opened := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	rapid.Check(t, func(t *rapid.T) {
		a, b := alphabet.Draw(t, "a"), alphabet.Draw(t, "b")
		keyA, errA := shard.SortKey(a, opened)
		keyB, errB := shard.SortKey(b, opened)
		if errA == nil && errB == nil && (keyA == keyB) != (a == b) {
			t.Fatalf("%q and %q share %q", a, b, keyA)
		}
		if errA == nil && errB == nil && a != b && strings.HasPrefix(keyA, shard.OwnerPrefix(b)) {
			t.Fatalf("a read of %q would find the rows of %q", b, a)
		}
	})
}

func TestSortKeyReadsBackAndOrdersByTime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		owner := rapid.StringMatching(`[a-z0-9-]{1,40}`).Draw(t, "owner")
		times := rapid.SliceOfN(rapid.Int64Range(0, 4102444800000), 2, 8).Draw(t, "times")
		slices.Sort(times)
		last := ""
		for _, milli := range times {
			opened := time.UnixMilli(milli).In(time.FixedZone("", 7200))
			key, err := shard.SortKey(owner, opened)
			if err != nil || key < last {
				t.Fatalf("%q after %q, %v", key, last, err)
			}
			last = key
			gotOwner, gotTime, err := shard.ParseSortKey(key)
			if err != nil || gotOwner != owner || !gotTime.Equal(opened) {
				t.Fatalf("%q reads back as %q %v, %v", key, gotOwner, gotTime, err)
			}
		}
	})
}

func TestParseSortKeyRefuses(t *testing.T) {
	for _, key := range []string{"", "p", "p#", "#2026-03-01T12:00:00.000Z", "p#2026-03-01T12:00:00Z", "p#2026-03-01T12:00:00.0000Z", "p#2026-03-01T12:00:00.000+01:00"} {
		if owner, opened, err := shard.ParseSortKey(key); !errors.Is(err, shard.ErrSortKey) {
			t.Errorf("ParseSortKey(%q) = %q %v, %v, want ErrSortKey", key, owner, opened, err)
		}
	}
	if _, err := shard.SortKey("p", time.Date(12026, 1, 1, 0, 0, 0, 0, time.UTC)); !errors.Is(err, shard.ErrSortKey) {
		t.Errorf("year 12026: %v, want ErrSortKey", err)
	}
}

func TestAnotherSeparator(t *testing.T) {
	l := shard.Layout{Base: "Saga", Count: 4, Separator: "|"}
	key, err := l.SortKeyOf("a#b", time.Unix(0, 0))
	if err != nil || key != "a#b|1970-01-01T00:00:00.000Z" || !strings.HasPrefix(l.Key("a#b"), "Saga|") {
		t.Errorf("%q, %v, key %q", key, err, l.Key("a#b"))
	}
}
