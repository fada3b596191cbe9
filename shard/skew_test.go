package shard_test

import (
	"crypto/sha256"
	"encoding/base32"
	"encoding/binary"
	"fmt"
	"testing"
)

// idShapes are the ids that applications use. Each gives the same ids on every
// run, spread as their generators spread them.
var idShapes = map[string]func(i int) string{
	"sequential": func(i int) string { return fmt.Sprintf("person-%d", i) },
	"uuid4": func(i int) string {
		b := randomBytes(i)
		return uuid(b, 4)
	},
	"uuid7": func(i int) string {
		b := randomBytes(i)
		putMilli(b, i)
		return uuid(b, 7)
	},
	"ulid": func(i int) string {
		b := randomBytes(i)
		putMilli(b, i)
		return base32.NewEncoding("0123456789ABCDEFGHJKMNPQRSTVWXYZ").WithPadding(base32.NoPadding).EncodeToString(b[:16])
	},
	"tenant/user": func(i int) string { return fmt.Sprintf("tenant-%04d/user-%04d", i/1000, i%1000) },
}

func randomBytes(i int) []byte {
	sum := sha256.Sum256(fmt.Appendf(nil, "seed %d", i))
	return sum[:16]
}

func putMilli(b []byte, i int) {
	var milli [8]byte
	binary.BigEndian.PutUint64(milli[:], uint64(1_760_000_000_000+37*i))
	copy(b[:6], milli[2:])
}

func uuid(b []byte, version byte) string {
	b[6], b[8] = b[6]&0x0f|version<<4, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:16])
}

func TestSkewOfRealIDs(t *testing.T) {
	const ids = 100_000
	for shape, id := range idShapes {
		for _, count := range []int{2, 4, 8, 12, 16, 32, 64} {
			l, rows := sagas(count), make([]int, count)
			for i := range ids {
				rows[l.Shard(id(i))]++
			}
			heaviest := 0
			for _, n := range rows {
				heaviest = max(heaviest, n)
			}
			if mean := float64(ids) / float64(count); float64(heaviest) >= 1.15*mean {
				t.Errorf("%s on %d shards: the heaviest has %d rows, mean %.0f", shape, count, heaviest, mean)
			}
		}
	}
}

func BenchmarkKey(b *testing.B) {
	l := sagas(16)
	for b.Loop() {
		l.Key("c0a8012e-77aa-4c53-8d19-2f60b1e4a7d3")
	}
}
