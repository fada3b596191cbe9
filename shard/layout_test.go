package shard_test

import (
	"errors"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/hotsplit/hotsplit/shard"
)

func sagas(count int) shard.Layout {
	return shard.Layout{Index: "gsi4", PartitionKey: "GSI4PK", SortKey: "GSI4SK", Base: "RenewalSaga", Count: count}
}

func TestKF03TopBitNeverGivesANegativeShard(t *testing.T) {
	for _, c := range []struct {
		owner    string
		hash     uint64
		n12, n16 int
	}{
		{"person-2", 0xaa7334ec51a7eef8, 8, 8},
		{"person-6", 0xab9e826acadfcdfd, 5, 13},
		{"person-1000002", 0xca782300822ec60f, 11, 15},
		{"Łukasz", 0xc57b4f3ac483cacc, 8, 12},
		{"c0a8012e-77aa-4c53-8d19-2f60b1e4a7d3", 0x993707f2db7e747d, 5, 13},
		{"01HZX3K9V7Q2M8N4T6B5C1D0EF", 0xfdc2c5966879075e, 10, 14},
	} {
		if got := shard.Hash(c.owner); got != c.hash {
			t.Errorf("Hash(%q) = %x, want %x", c.owner, got, c.hash)
		}
		if got := sagas(12).Shard(c.owner); got != c.n12 {
			t.Errorf("%q of 12: %d, want %d", c.owner, got, c.n12)
		}
		if got := sagas(16).Shard(c.owner); got != c.n16 {
			t.Errorf("%q of 16: %d, want %d", c.owner, got, c.n16)
		}
	}
	for _, c := range []struct {
		hash     uint64
		n12, n16 int
	}{{0x8000000000000000, 8, 0}, {0xffffffffffffffff, 3, 15}} {
		if shard.Reduce(c.hash, 12) != c.n12 || shard.Reduce(c.hash, 16) != c.n16 {
			t.Errorf("Reduce(%x) = %d and %d, want %d and %d", c.hash, shard.Reduce(c.hash, 12), shard.Reduce(c.hash, 16), c.n12, c.n16)
		}
	}
}

func TestKF03EveryByteStringHasAShardThatReadersVisit(t *testing.T) {
	digits := regexp.MustCompile(`^RenewalSaga#[0-9]+$`)
	random := rand.New(rand.NewPCG(1, 2))
	counts := []int{1, 2, 3, 5, 7, 10, 12, 16, 100}
	buffer := make([]byte, 24)
	for i := range 1_000_000 {
		for j := range buffer {
			buffer[j] = byte(random.Uint32())
		}
		owner, l := string(buffer[:random.IntN(len(buffer))]), sagas(counts[i%len(counts)])
		n := l.Shard(owner)
		if n < 0 || n >= l.Count {
			t.Fatalf("%q of %d: shard %d", owner, l.Count, n)
		}
		if i%101 != 0 {
			continue
		}
		key := l.Key(owner)
		if parsed, err := l.Parse(key); !digits.MatchString(key) || err != nil || parsed != n {
			t.Fatalf("%q of %d: key %q parses to %d, %v", owner, l.Count, key, parsed, err)
		}
	}
}

func TestKeysAreTheKeysThatOwnersGet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := sagas(rapid.IntRange(0, 200).Draw(t, "count"))
		owner := rapid.String().Draw(t, "owner")
		if keys := l.Keys(); keys[l.Shard(owner)] != l.Key(owner) {
			t.Fatalf("%v: %q is not at its place in %v", l, l.Key(owner), keys)
		}
	})
}

func TestParseRefuses(t *testing.T) {
	for _, key := range []string{
		"", "RenewalSaga", "RenewalSaga#", "RenewalSaga#16", "RenewalSaga#01", "RenewalSaga#-1", "RenewalSaga#+1",
		"RenewalSaga#1 ", "RenewalSaga#١", "renewalsaga#1", "RenewalSaga##1", "RenewalSaga#1#1", "RenewalSaga#99999999999999999999", "X#1",
	} {
		if n, err := sagas(16).Parse(key); !errors.Is(err, shard.ErrKey) {
			t.Errorf("Parse(%q) = %d, %v, want ErrKey", key, n, err)
		}
	}
	if _, err := sagas(0).Parse("RenewalSaga#0"); !errors.Is(err, shard.ErrKey) {
		t.Errorf("the unsharded layout took a shard key: %v", err)
	}
	nested := shard.Layout{Base: "a#3", Count: 10}
	if n, err := nested.Parse("a#3#7"); err != nil || n != 7 {
		t.Errorf("a base with a separator: %d, %v, want 7: the last separator decides", n, err)
	}
}

func TestValidateNamesEachField(t *testing.T) {
	if err := sagas(16).Validate(); err != nil {
		t.Fatal(err)
	}
	for field, l := range map[string]shard.Layout{
		"index":        {PartitionKey: "p", Base: "b"},
		"partitionKey": {Index: "i", Base: "b"},
		"base":         {Index: "i", PartitionKey: "p"},
		"count":        {Index: "i", PartitionKey: "p", Base: "b", Count: -1},
		"sortKey":      {Index: "i", PartitionKey: "p", SortKey: "p", Base: "b"},
		"separator":    {Index: "i", PartitionKey: "p", Base: "b", Separator: "0"},
	} {
		if err := l.Validate(); !errors.Is(err, shard.ErrLayout) || !strings.Contains(err.Error(), ": "+field+" ") {
			t.Errorf("%s: got %v, want an ErrLayout that names it", field, err)
		}
	}
	tooLong := sagas(16)
	tooLong.Base = strings.Repeat("x", shard.PartitionKeyBytesMax)
	if err := tooLong.Validate(); !errors.Is(err, shard.ErrLayout) {
		t.Errorf("a base of %d bytes: %v", len(tooLong.Base), err)
	}
}

func TestInPlace(t *testing.T) {
	other := sagas(16)
	other.Index = "gsi5"
	if !sagas(0).InPlace(sagas(16)) || sagas(0).InPlace(other) {
		t.Error("in place is: same index and key attributes, whatever the count")
	}
}
