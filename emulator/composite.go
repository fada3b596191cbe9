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
	for _, a := range s.hash {
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
	}
	named := len(s.hash)
	for i, a := range s.sort {
		part, found := k.Part(a.name)
		if !found {
			break
		}
		named++
		if err := first(a.checkPrefix(part.Op), a.checkCondition(part.Low, false)); err != nil {
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
	if err := s.checkGap(k, named-len(s.hash), r.op); err != nil {
		return r, err
	}
	if named != len(k.Names()) {
		return r, invalid("Query key condition not supported")
	}
	r.text = s.textOfValues(r.hash)
	return r, nil
}

// checkGap refuses a condition on a sort attribute behind one that is not fixed.
// taken are the sort attributes used, of which the last is held to op.
func (s schema) checkGap(k *expr.KeyCondition, taken int, op expr.Op) error {
	fixed := taken
	if taken > 0 && op != expr.Equal {
		fixed--
	}
	for i := len(s.sort) - 1; i > fixed; i-- {
		if _, found := k.Part(s.sort[i].name); !found {
			continue
		}
		var open []string
		for _, a := range s.sort[fixed:i] {
			if part, found := k.Part(a.name); !found || part.Op != expr.Equal {
				open = append(open, a.name)
			}
		}
		return invalid("RANGE key attributes " + join(open) +
			" must have equality conditions specified in the query because a condition is present on key attribute " + s.sort[i].name)
	}
	return nil
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

// checkPrefix refuses begins_with on numbers, which have no beginnings.
func (a keyAttr) checkPrefix(op expr.Op) error {
	if op == expr.BeginsWith && a.kind == attr.KindN {
		return invalid("Invalid KeyConditionExpression: Incorrect operand type for operator or function; operator or function: begins_with, operand type: N")
	}
	return nil
}
