package expr

import (
	"strings"

	"github.com/hotsplit/hotsplit/emulator/attr"
)

// Match reports whether item meets the condition. No item has no attributes.
func (c *Condition) Match(item attr.Item) bool {
	return c == nil || c.holds(c.root, item)
}

func (c *Condition) holds(n *node, item attr.Item) bool {
	switch n.kind {
	case nodeAnd:
		for _, arg := range n.args {
			if !c.holds(arg, item) {
				return false
			}
		}
		return true
	case nodeOr:
		for _, arg := range n.args {
			if c.holds(arg, item) {
				return true
			}
		}
		return false
	case nodeNot:
		return !c.holds(n.args[0], item)
	case nodeCompare:
		return compare(n.op, c.operand(n.args[0], item), c.operand(n.args[1], item))
	case nodeBetween:
		v := c.operand(n.args[0], item)
		return compare(">=", v, c.operand(n.args[1], item)) && compare("<=", v, c.operand(n.args[2], item))
	case nodeIn:
		return c.isIn(n, item)
	}
	return c.call(n, item)
}

// operand is the value of n for item, no value when item has none.
func (c *Condition) operand(n *node, item attr.Item) attr.Value {
	switch n.kind {
	case nodePath:
		return c.paths[n.slot].get(item)
	case nodeValue:
		return c.values[n.slot]
	}
	return size(c.operand(n.args[0], item))
}

// compare holds no order, and no equality, between values of different kinds. No
// value equals nothing, not even another one that is missing.
func compare(op string, a, b attr.Value) bool {
	missing := a.IsZero() || b.IsZero()
	switch op {
	case "=":
		return !missing && attr.Equal(a, b)
	case "<>":
		return missing || !attr.Equal(a, b)
	}
	order, comparable := attr.Compare(a, b)
	if !comparable {
		return false
	}
	switch op {
	case "<":
		return order < 0
	case "<=":
		return order <= 0
	case ">":
		return order > 0
	}
	return order >= 0
}

func (c *Condition) isIn(n *node, item attr.Item) bool {
	v := c.operand(n.args[0], item)
	for _, arg := range n.args[1:] {
		if compare("=", v, c.operand(arg, item)) {
			return true
		}
	}
	return false
}

func (c *Condition) call(n *node, item attr.Item) bool {
	v := c.operand(n.args[0], item)
	switch n.op {
	case "attribute_exists":
		return !v.IsZero()
	case "attribute_not_exists":
		return v.IsZero()
	}
	second := c.operand(n.args[1], item)
	switch n.op {
	case "attribute_type":
		return v.Kind() != attr.KindNone && v.Kind().String() == second.Text()
	case "begins_with":
		return isText(v) && v.Kind() == second.Kind() && strings.HasPrefix(v.Text(), second.Text())
	}
	return contains(v, second)
}

func isText(v attr.Value) bool { return v.Kind() == attr.KindS || v.Kind() == attr.KindB }

// contains looks for part in a text of its kind, or among the elements of a set
// or list.
func contains(v, part attr.Value) bool {
	if part.IsZero() {
		return false
	}
	if isText(v) {
		return v.Kind() == part.Kind() && strings.Contains(v.Text(), part.Text())
	}
	for e := range v.All() {
		if attr.Equal(e, part) {
			return true
		}
	}
	return false
}

// size counts bytes of texts, elements of sets and lists, members of maps.
// Other values have no size.
func size(v attr.Value) attr.Value {
	switch k := v.Kind(); {
	case isText(v):
		return attr.Int(int64(len(v.Text())))
	case k.IsSet() || k == attr.KindL || k == attr.KindM:
		return attr.Int(int64(v.Len()))
	}
	return attr.Value{}
}
