package expr

import (
	"strings"

	"github.com/hotsplit/hotsplit/emulator/attr"
)

// Op is how a range of sort keys is bounded.
type Op uint8

// The ranges that a query can ask for.
const (
	NoSort Op = iota // all sort keys
	Equal
	Less
	LessEqual
	Greater
	GreaterEqual
	Between
	BeginsWith
)

// Range is what a key condition asks of one index.
type Range struct {
	Hash      attr.Value
	Op        Op
	Low, High attr.Value // High only for Between
}

// Contains reports whether a sort key lies in r.
func (r Range) Contains(sort attr.Value) bool {
	switch r.Op {
	case NoSort:
		return true
	case Between:
		return compare(">=", sort, r.Low) && compare("<=", sort, r.High)
	case BeginsWith:
		return sort.Kind() == r.Low.Kind() && strings.HasPrefix(sort.Text(), r.Low.Text())
	}
	return compare(r.Op.comparator(), sort, r.Low)
}

func (o Op) comparator() string {
	return [...]string{Equal: "=", Less: "<", LessEqual: "<=", Greater: ">", GreaterEqual: ">="}[o]
}

// KeyCondition is a key condition of one request, before it is held against the
// keys of a table or index.
type KeyCondition struct {
	parts []keyPart // in the order of the text
}

// keyPart is the condition on one attribute.
type keyPart struct {
	name      string
	op        Op
	low, high attr.Value
}

func (k *KeyCondition) part(name string) *keyPart {
	for i := range k.parts {
		if k.parts[i].name == name {
			return &k.parts[i]
		}
	}
	return nil
}

// newKeyCondition accepts conjunctions of one simple condition for each attribute.
func newKeyCondition(c *Condition) (*KeyCondition, *Error) {
	k := new(KeyCondition)
	if err := k.add(c, c.root); err != nil {
		return nil, err
	}
	return k, nil
}

func (k *KeyCondition) add(c *Condition, n *node) *Error {
	if err := checkKeyOperator(n); err != nil {
		return err
	}
	if n.kind == nodeAnd {
		for _, arg := range n.args {
			if err := k.add(c, arg); err != nil {
				return err
			}
		}
		return nil
	}
	name, mirrored, err := keyAttribute(c, n)
	if err != nil {
		return err
	}
	if k.part(name) != nil {
		return &Error{"KeyConditionExpressions must only contain one condition per key"}
	}
	part := keyPart{name: name, op: keyOp(n, mirrored)}
	part.low, part.high = keyValues(c, n)
	k.parts = append(k.parts, part)
	return nil
}

// checkKeyOperator refuses what no index can answer.
func checkKeyOperator(n *node) *Error {
	switch {
	case n.kind == nodeOr || n.kind == nodeNot || n.kind == nodeIn || n.op == "<>",
		n.kind == nodeCall && n.op != "begins_with":
		return faultf("Invalid operator used in KeyConditionExpression: %s", n.op)
	case n.kind == nodeBetween && n.args[0].kind != nodePath,
		n.kind == nodeCall && n.args[0].kind != nodePath:
		return faultf("Invalid condition in KeyConditionExpression: %s operator must have the key attribute as its first operand", n.op)
	}
	return nil
}

// keyAttribute finds the one attribute that n is about. mirrored says that it
// stands on the right.
func keyAttribute(c *Condition, n *node) (name string, mirrored bool, err *Error) {
	found := false
	for i, arg := range n.args {
		switch {
		case arg.kind == nodeCall:
			return "", false, &Error{"KeyConditionExpressions cannot contain nested operations"}
		case arg.kind != nodePath:
			continue
		case found:
			return "", false, &Error{"Invalid condition in KeyConditionExpression: Multiple attribute names used in one condition"}
		case len(c.paths[arg.slot]) > 1:
			return "", false, &Error{"KeyConditionExpressions cannot have conditions on nested attributes"}
		}
		found = true
		name, mirrored = c.paths[arg.slot][0].name, i == 1
	}
	if !found {
		return "", false, &Error{"Invalid condition in KeyConditionExpression: No key attribute specified"}
	}
	return name, mirrored, nil
}

func keyOp(n *node, mirrored bool) Op {
	switch n.kind {
	case nodeBetween:
		return Between
	case nodeCall:
		return BeginsWith
	}
	op := keyComparators[n.op]
	if mirrored {
		return op.mirror()
	}
	return op
}

var keyComparators = map[string]Op{"=": Equal, "<": Less, "<=": LessEqual, ">": Greater, ">=": GreaterEqual}

// mirror is the operator that says the same with its operands exchanged.
func (o Op) mirror() Op {
	switch o {
	case Less:
		return Greater
	case LessEqual:
		return GreaterEqual
	case Greater:
		return Less
	case GreaterEqual:
		return LessEqual
	}
	return o
}

// keyValues are the values that n holds its attribute against, one or two.
func keyValues(c *Condition, n *node) (low, high attr.Value) {
	for _, arg := range n.args {
		switch {
		case arg.kind != nodeValue:
		case low.IsZero():
			low = c.values[arg.slot]
		default:
			high = c.values[arg.slot]
		}
	}
	return low, high
}

// Names lists the attributes that the condition is about.
func (k *KeyCondition) Names() []string {
	names := make([]string, len(k.parts))
	for i, part := range k.parts {
		names[i] = part.name
	}
	return names
}

// For holds the condition against a key of a partition attribute and a sort
// attribute; sort is empty where the key has none.
func (k *KeyCondition) For(hash, sort string) (Range, error) {
	attributes := 2
	if sort == "" {
		attributes = 1
	}
	if n := len(k.parts); n > attributes {
		return Range{}, faultf("The number of query conditions (%d) exceeds the number of key attributes defined in the schema (%d)", n, attributes)
	}
	partition := k.part(hash)
	if partition == nil {
		return Range{}, faultf("Query condition missed key schema element: %s", hash)
	}
	sorted := k.part(sort)
	if len(k.parts) > 1 && sorted == nil {
		return Range{}, faultf("Query condition missed key schema element: %s", sort)
	}
	if partition.op != Equal {
		return Range{}, &Error{"Query key condition not supported"}
	}
	if sorted == nil {
		return Range{Hash: partition.low}, nil
	}
	return Range{Hash: partition.low, Op: sorted.op, Low: sorted.low, High: sorted.high}, nil
}
