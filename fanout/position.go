package fanout

import (
	"encoding/binary"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// kind is the type of a key attribute. The zero kind is no value at all.
type kind byte

const (
	kindNone   kind = 0
	kindString kind = 'S'
	kindNumber kind = 'N'
	kindBinary kind = 'B'
)

// scalar is the value of a key attribute: a string, a number or bytes.
type scalar struct {
	kind kind
	text string // a number's digits, or the raw bytes
}

func scalarOf(v types.AttributeValue) scalar {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return scalar{kindString, v.Value}
	case *types.AttributeValueMemberN:
		return scalar{kindNumber, v.Value}
	case *types.AttributeValueMemberB:
		return scalar{kindBinary, string(v.Value)}
	}
	return scalar{}
}

func (s scalar) value() types.AttributeValue {
	switch s.kind {
	case kindString:
		return &types.AttributeValueMemberS{Value: s.text}
	case kindNumber:
		return &types.AttributeValueMemberN{Value: s.text}
	case kindBinary:
		return &types.AttributeValueMemberB{Value: []byte(s.text)}
	}
	return nil
}

func (s scalar) compare(t scalar) int {
	switch {
	case s.kind != t.kind:
		return int(s.kind) - int(t.kind)
	case s.kind == kindNumber:
		return compareNumbers(s.text, t.text)
	default:
		return strings.Compare(s.text, t.text)
	}
}

func (s scalar) appendTo(b []byte) []byte {
	b = append(b, byte(s.kind))
	b = binary.AppendUvarint(b, uint64(len(s.text)))
	return append(b, s.text...)
}

// position is a place in the global order. An edge stands before every row of its
// sort key, in the direction of the walk.
type position struct {
	sort scalar
	base [2]scalar // the base primary key; the second is none where the table has one key attribute
	edge bool
}

// compare orders two rows ascending.
func (p position) compare(q position) int {
	if c := p.sort.compare(q.sort); c != 0 {
		return c
	}
	if c := p.base[0].compare(q.base[0]); c != 0 {
		return c
	}
	return p.base[1].compare(q.base[1])
}

// order walks positions in one direction.
type order struct{ descending bool }

func (o order) compare(p, q position) int {
	if o.descending {
		return q.compare(p)
	}
	return p.compare(q)
}

func (o order) compareSort(s, t scalar) int {
	if o.descending {
		return t.compare(s)
	}
	return s.compare(t)
}

// after says that a row at p comes after the place mark.
func (o order) after(p, mark position) bool {
	if mark.edge {
		return o.compareSort(p.sort, mark.sort) >= 0
	}
	return o.compare(p, mark) > 0
}

// row is an item with its place in the global order.
type row struct {
	item  Item
	place position
	rank  int // where two copies of a row meet, the higher rank wins
}

// baseKey spells a base primary key so that distinct keys have distinct spellings.
func baseKey(base [2]scalar) string {
	return string(base[1].appendTo(base[0].appendTo(nil)))
}

func (t Table) baseOf(item Item) (base [2]scalar) {
	for i, name := range t.Key {
		base[i] = scalarOf(item[name])
	}
	return base
}
