package emulator

import (
	"github.com/hotsplit/hotsplit/emulator/attr"
	"github.com/hotsplit/hotsplit/emulator/expr"
)

// compositeRangeOf holds a key condition against a key of several attributes:
// all hash attributes fixed, sort attributes from the left, and only the last one
// named may be a range.
func (s schema) compositeRangeOf(k *expr.KeyCondition) (keyRange, error) {
	var r keyRange
	for i, a := range s.hash {
		part, named := k.Part(a.name)
		if !named {
			return r, invalid("Query condition missed key schema element: " + a.name)
		}
		if part.Op != expr.Equal {
			return r, invalid("Query key condition not supported")
		}
		if err := a.checkCondition(part.Low, true); err != nil {
			return r, err
		}
		r.hash = append(r.hash, part.Low)
		_ = i
	}
	named := len(s.hash)
	for i, a := range s.sort {
		part, found := k.Part(a.name)
		if !found {
			break
		}
		named++
		if err := a.checkCondition(part.Low, false); err != nil {
			return r, err
		}
		if part.Op == expr.Equal && s.namesMore(k, i+1) {
			r.fixed = append(r.fixed, part.Low)
			continue
		}
		if part.Op == expr.Between {
			if err := a.checkCondition(part.High, false); err != nil {
				return r, err
			}
		}
		r.op, r.low, r.high = part.Op, part.Low, part.High
		break
	}
	if named != len(k.Names()) {
		return r, invalid("Query key condition not supported")
	}
	r.text = s.textOfValues(r.hash)
	return r, nil
}

// namesMore reports whether the condition names the sort attribute at position i.
func (s schema) namesMore(k *expr.KeyCondition, i int) bool {
	if i >= len(s.sort) {
		return false
	}
	_, found := k.Part(s.sort[i].name)
	return found
}

func (s schema) textOfValues(values []attr.Value) string {
	var b attr.Builder
	for i, a := range s.hash {
		b.Set(a.name, values[i])
	}
	return s.keyText(b.Item())
}
