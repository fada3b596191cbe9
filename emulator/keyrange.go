package emulator

import (
	"github.com/hotsplit/hotsplit/capacity"
	"github.com/hotsplit/hotsplit/emulator/attr"
	"github.com/hotsplit/hotsplit/emulator/expr"
)

// keyRange is a key condition held against a schema: the partition key, leading
// sort attributes that are fixed, and a condition on the one behind them.
type keyRange struct {
	hash  []attr.Value
	fixed []attr.Value
	op    expr.Op
	low   attr.Value
	high  attr.Value
	text  string // partition key, for people
}

func (r keyRange) sorted() bool { return r.op != expr.NoSort || len(r.fixed) > 0 }

// rangeOf holds a key condition against the key.
func (s schema) rangeOf(k *expr.KeyCondition) (keyRange, error) {
	if len(s.hash) > 1 || len(s.sort) > 1 {
		return s.compositeRangeOf(k)
	}
	sort := ""
	if len(s.sort) == 1 {
		sort = s.sort[0].name
	}
	got, err := k.For(s.hash[0].name, sort)
	if err != nil {
		return keyRange{}, exprError(err)
	}
	r := keyRange{hash: []attr.Value{got.Hash}, op: got.Op, low: got.Low, high: got.High, text: got.Hash.Text()}
	if err := s.hash[0].checkCondition(got.Hash, true); err != nil {
		return r, err
	}
	if got.Op == expr.NoSort {
		return r, nil
	}
	err = s.sort[0].checkCondition(got.Low, false)
	if got.Op == expr.Between {
		err = first(err, s.sort[0].checkCondition(got.High, false))
	}
	return r, err
}

// checkCondition checks the value that a key attribute is compared with.
func (a keyAttr) checkCondition(v attr.Value, hash bool) error {
	if v.Kind() != a.kind {
		return invalid("One or more parameter values were invalid: Condition parameter type does not match schema type")
	}
	return first(checkEmptyKey(a.name, v), checkKeySize(hash, v))
}

// appendHash appends what all tree keys of the collection begin with.
func (r keyRange) appendHash(dst []byte, seed uint64) []byte {
	dst = append(dst, make([]byte, hashBytes)...)
	for _, v := range r.hash {
		dst = attr.AppendKey(dst, v)
	}
	putHash(dst, capacity.Place(seed, borrow(dst[hashBytes:])))
	for _, v := range r.fixed {
		dst = attr.AppendKey(dst, v)
	}
	return dst
}

// textEnd is how many bytes AppendKey ends a text with, which a prefix lacks.
const textEnd = 2

// bound sets the edges of a page from a condition on the sort key. Keys are
// self-delimiting, so every condition is one range of tree keys.
func (r keyRange) bound(p *page, prefix string) {
	at := func(v attr.Value) string { return string(attr.AppendKey([]byte(prefix), v)) }
	p.low, p.high = prefix, after(prefix)
	switch r.op {
	case expr.Equal:
		p.low = at(r.low)
		p.high = after(p.low)
	case expr.Less:
		p.high = at(r.low)
	case expr.LessEqual:
		p.high = after(at(r.low))
	case expr.Greater:
		p.low = after(at(r.low))
	case expr.GreaterEqual:
		p.low = at(r.low)
	case expr.Between:
		p.low, p.high = at(r.low), after(at(r.high))
	case expr.BeginsWith:
		begin := at(r.low)
		p.low = begin[:len(begin)-textEnd]
		p.high = after(p.low)
	}
}
