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
	order      []string // attribute names as they stand in the text
	conditions map[string]keyPart
}

// keyPart is the condition on one attribute.
type keyPart struct {
	op     Op
	values []attr.Value
}

// newKeyCondition accepts conjunctions of one simple condition for each attribute.
func newKeyCondition(c *Condition) (*KeyCondition, *Error) {
	k := &KeyCondition{conditions: make(map[string]keyPart)}
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
	if _, twice := k.conditions[name]; twice {
		return &Error{"KeyConditionExpressions must only contain one condition per key"}
	}
	k.order = append(k.order, name)
	k.conditions[name] = keyPart{keyOp(n, mirrored), keyValues(c, n)}
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
	op := map[string]Op{"=": Equal, "<": Less, "<=": LessEqual, ">": Greater, ">=": GreaterEqual}[n.op]
	if !mirrored {
		return op
	}
	switch op {
	case Less:
		return Greater
	case LessEqual:
		return GreaterEqual
	case Greater:
		return Less
	case GreaterEqual:
		return LessEqual
	}
	return op
}

func keyValues(c *Condition, n *node) []attr.Value {
	var values []attr.Value
	for _, arg := range n.args {
		if arg.kind == nodeValue {
			values = append(values, c.values[arg.slot])
		}
	}
	return values
}

// Names lists the attributes that the condition is about.
func (k *KeyCondition) Names() []string { return k.order }

// For holds the condition against a key of a partition attribute and a sort
// attribute; sort is empty where the key has none.
func (k *KeyCondition) For(hash, sort string) (Range, error) {
	attributes := 2
	if sort == "" {
		attributes = 1
	}
	if n := len(k.conditions); n > attributes {
		return Range{}, faultf("The number of query conditions (%d) exceeds the number of key attributes defined in the schema (%d)", n, attributes)
	}
	partition, found := k.conditions[hash]
	if !found {
		return Range{}, faultf("Query condition missed key schema element: %s", hash)
	}
	part, sorted := k.conditions[sort]
	if len(k.conditions) > 1 && !sorted {
		return Range{}, faultf("Query condition missed key schema element: %s", sort)
	}
	if partition.op != Equal {
		return Range{}, &Error{"Query key condition not supported"}
	}
	r := Range{Hash: partition.values[0]}
	if sorted {
		r.Op, r.Low = part.op, part.values[0]
		if part.op == Between {
			r.High = part.values[1]
		}
	}
	return r, nil
}
