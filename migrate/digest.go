package migrate

import (
	"bytes"
	"encoding/binary"
	"hash/maphash"
	"maps"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// appendCanonical spells a value so that equal values are spelled alike and
// others are not: numbers by value, sets without order, NULL unlike absent and
// unlike empty.
func appendCanonical(dst []byte, v types.AttributeValue) []byte {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return appendPart(dst, 'S', v.Value)
	case *types.AttributeValueMemberN:
		return appendPart(dst, 'N', canonicalNumber(v.Value))
	case *types.AttributeValueMemberB:
		return appendPart(dst, 'B', string(v.Value))
	case *types.AttributeValueMemberBOOL:
		if v.Value {
			return append(dst, 'T')
		}
		return append(dst, 'F')
	case *types.AttributeValueMemberNULL:
		return append(dst, '0')
	case *types.AttributeValueMemberSS:
		return appendSet(dst, 's', v.Value)
	case *types.AttributeValueMemberNS:
		numbers := make([]string, len(v.Value))
		for i, n := range v.Value {
			numbers[i] = canonicalNumber(n)
		}
		return appendSet(dst, 'n', numbers)
	case *types.AttributeValueMemberBS:
		parts := make([]string, len(v.Value))
		for i, b := range v.Value {
			parts[i] = string(b)
		}
		return appendSet(dst, 'b', parts)
	case *types.AttributeValueMemberL:
		dst = appendSize(append(dst, 'L'), len(v.Value))
		for _, e := range v.Value {
			dst = appendCanonical(dst, e)
		}
		return dst
	case *types.AttributeValueMemberM:
		return appendItem(append(dst, 'M'), v.Value, nil)
	}
	return append(dst, '?')
}

// Equal says whether two values are one value to the service: numbers by value,
// sets without order, NULL unlike absent and unlike empty.
func Equal(a, b types.AttributeValue) bool {
	return bytes.Equal(appendCanonical(nil, a), appendCanonical(nil, b))
}

// appendItem spells the attributes for which keep is true; nil keeps all.
func appendItem(dst []byte, item Item, keep func(string) bool) []byte {
	names := slices.Sorted(maps.Keys(item))
	if keep != nil {
		names = slices.DeleteFunc(names, func(name string) bool { return !keep(name) })
	}
	dst = appendSize(dst, len(names))
	for _, name := range names {
		dst = appendCanonical(appendPart(dst, 'K', name), item[name])
	}
	return dst
}

func appendSet(dst []byte, kind byte, parts []string) []byte {
	dst = appendSize(append(dst, kind), len(parts))
	for _, p := range slices.Sorted(slices.Values(parts)) {
		dst = appendPart(dst, kind, p)
	}
	return dst
}

func appendPart(dst []byte, kind byte, text string) []byte {
	return append(appendSize(append(dst, kind), len(text)), text...)
}

func appendSize(dst []byte, n int) []byte { return binary.BigEndian.AppendUint32(dst, uint32(n)) }

// digester turns rows into 64 bits, for one verification in one process.
type digester struct {
	seed maphash.Seed
	keep func(string) bool // the attributes that index entries carry
	key  []string          // base key
	buf  []byte
}

// id is the digest of a row's base key.
func (d *digester) id(item Item) uint64 {
	d.buf = d.buf[:0]
	for _, name := range d.key {
		d.buf = appendCanonical(d.buf, item[name])
	}
	return maphash.Bytes(d.seed, d.buf)
}

// content is the digest of what an index entry of the row carries.
func (d *digester) content(item Item) uint64 {
	d.buf = appendItem(d.buf[:0], item, d.keep)
	return maphash.Bytes(d.seed, d.buf)
}

func (d *digester) text(s string) uint64 { return maphash.String(d.seed, s) }
