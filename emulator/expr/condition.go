package expr

import (
	"slices"
	"strings"

	"github.com/hotsplit/hotsplit/emulator/attr"
)

// Condition is a condition or filter of one request. A nil Condition holds for
// every item.
type Condition struct{ bound }

// Names lists the attributes that the condition reads.
func (c *Condition) Names() []string { return topNames(c.paths, false) }

// NestedNames lists the attributes that the condition reads parts of.
func (c *Condition) NestedNames() []string { return topNames(c.paths, true) }

// bindCondition resolves and checks one comparison or function after the other,
// because the first that is at fault is the one that is reported.
func bindCondition(b *Binder, t *tree) (*Condition, *Error) {
	c := &Condition{newBound(t)}
	if err := c.bind(b, t.root); err != nil {
		return nil, err
	}
	return c, nil
}

func (c *Condition) bind(b *Binder, n *node) *Error {
	switch n.kind {
	case nodeAnd, nodeOr, nodeNot:
		for _, arg := range n.args {
			if err := c.bind(b, arg); err != nil {
				return err
			}
		}
		return nil
	}
	if err := c.resolve(b, n); err != nil {
		return err
	}
	if err := c.checkCount(n); err != nil {
		return err
	}
	if err := c.checkDistinct(n); err != nil {
		return err
	}
	return c.checkTypes(n)
}

// resolve fills the slots below n in the order of the text.
func (b *bound) resolve(binder *Binder, n *node) (err *Error) {
	switch n.kind {
	case nodePath:
		b.paths[n.slot], err = binder.resolvePath(b.tree.paths[n.slot])
		return err
	case nodeValue:
		b.values[n.slot], err = binder.resolveValue(b.tree.values[n.slot])
		return err
	}
	for _, arg := range n.args {
		if err := b.resolve(binder, arg); err != nil {
			return err
		}
	}
	return nil
}

func (c *Condition) checkCount(n *node) *Error {
	for _, arg := range n.args {
		if err := c.checkCount(arg); err != nil {
			return err
		}
	}
	if n.kind == nodeCall && conditionFunctions[n.op] != len(n.args) {
		return incorrectCount(n.op, len(n.args))
	}
	return nil
}

// checkDistinct refuses a path that is compared with itself.
func (c *Condition) checkDistinct(n *node) *Error {
	if len(n.args) < 2 || n.args[0].kind != nodePath {
		return nil
	}
	first := c.paths[n.args[0].slot]
	for _, arg := range n.args[1:] {
		if arg.kind == nodePath && slices.Equal(c.paths[arg.slot], first) {
			return faultf("The first operand must be distinct from the remaining operands for this operator or function; operator: %s, first operand: %s", n.op, first)
		}
	}
	return nil
}

// checkTypes looks at operands whose kind is known without an item.
func (c *Condition) checkTypes(n *node) *Error {
	for _, arg := range n.args {
		if err := c.checkTypes(arg); err != nil {
			return err
		}
	}
	switch n.kind {
	case nodeCall:
		return c.checkCall(n)
	case nodeCompare:
		if n.op != "=" && n.op != "<>" {
			return c.checkKinds(n, scalars)
		}
	case nodeBetween:
		if err := c.checkKinds(n, scalars); err != nil {
			return err
		}
		return c.checkBounds(n.args[1], n.args[2])
	}
	return nil
}

// The kinds that operators and functions take.
var (
	scalars = []attr.Kind{attr.KindS, attr.KindN, attr.KindB}
	texts   = []attr.Kind{attr.KindS, attr.KindB}
	sized   = []attr.Kind{attr.KindS, attr.KindB, attr.KindSS, attr.KindNS, attr.KindBS, attr.KindL, attr.KindM}
)

func (c *Condition) checkKinds(n *node, allowed []attr.Kind) *Error {
	for _, arg := range n.args {
		if k := c.kindOf(arg); k != attr.KindNone && !slices.Contains(allowed, k) {
			return incorrectType(n.op, k)
		}
	}
	return nil
}

func (c *Condition) checkBounds(low, high *node) *Error {
	a, b := c.literal(low), c.literal(high)
	if a.IsZero() || b.IsZero() {
		return nil
	}
	order, comparable := attr.Compare(a, b)
	switch {
	case !comparable:
		return faultf("The BETWEEN operator requires same data type for lower and upper bounds; lower bound operand: %s, upper bound operand: %s", spellBound(a), spellBound(b))
	case order > 0:
		return faultf("The BETWEEN operator requires upper bound to be greater than or equal to lower bound; lower bound operand: %s, upper bound operand: %s", spellBound(a), spellBound(b))
	}
	return nil
}

func spellBound(v attr.Value) string {
	text := v.Text()
	if v.Kind() == attr.KindB {
		wire := string(attr.AppendValueJSON(nil, v))
		text = strings.TrimSuffix(strings.TrimPrefix(wire, `{"B":"`), `"}`)
	}
	return "AttributeValue: {" + v.Kind().String() + ":" + text + "}"
}

func (c *Condition) checkCall(n *node) *Error {
	switch n.op {
	case "attribute_exists", "attribute_not_exists":
		if n.args[0].kind != nodePath {
			return requiresPath(n.op)
		}
	case "begins_with":
		return c.checkKinds(n, texts)
	case "size":
		return c.checkKinds(n, sized)
	case "attribute_type":
		return c.checkTypeName(n)
	}
	return nil
}

// anyKind is what the service calls an operand whose kind only an item tells.
const anyKind = spelled("{NS,SS,L,BS,N,M,B,BOOL,NULL,S}")

type spelled string

func (s spelled) String() string { return string(s) }

func (c *Condition) checkTypeName(n *node) *Error {
	name := c.literal(n.args[1])
	switch {
	case name.IsZero():
		return incorrectType(n.op, anyKind)
	case name.Kind() != attr.KindS:
		return incorrectType(n.op, name.Kind())
	case attr.ParseKind(name.Text()) == attr.KindNone:
		return faultf("Invalid attribute type name found; type: %s, valid types: {B,NULL,SS,BOOL,L,BS,N,NS,S,M}", name.Text())
	}
	return nil
}
