package expr

import "slices"

// conditionFaults is the order in which the service reports faults of conditions.
var conditionFaults = []fault{faultParentheses, faultFunction, faultMisused, faultReserved, faultLimit}

// parseCondition reads a condition, filter or key condition.
func parseCondition(text string) (*tree, *Error) {
	return parse(text, conditionFaults, func(p *parser) {
		p.tree.root = p.or()
		p.requireCondition(p.tree.root)
	})
}

func (p *parser) or() *node {
	return p.chain(nodeOr, "OR", p.and)
}

func (p *parser) and() *node {
	return p.chain(nodeAnd, "AND", p.not)
}

// chain reads conditions joined by one keyword. A lone operand passes through,
// because what stands in parentheses may be one.
func (p *parser) chain(kind nodeKind, keyword string, read func() *node) *node {
	n := read()
	for p.peek().is(keyword) {
		p.requireCondition(n)
		p.at++
		p.operators++
		right := read()
		p.requireCondition(right)
		if n.kind == kind && !n.inParen {
			n.args = append(n.args, right)
		} else {
			n = &node{kind: kind, op: keyword, args: []*node{n, right}}
		}
	}
	return n
}

func (p *parser) not() *node {
	if !p.accept("NOT") {
		return p.comparison()
	}
	p.operators++
	n := p.not()
	p.requireCondition(n)
	return &node{kind: nodeNot, op: "NOT", args: []*node{n}}
}

// requireCondition trips over an operand where a condition must stand: at the
// token behind it, or at size, which is the one function that is no condition.
func (p *parser) requireCondition(n *node) {
	switch {
	case n.kind == nodeCall && n.op == "size":
		p.keep(faultMisused, misused(n.op))
	case !n.isCondition():
		p.fail()
	}
}

var comparators = []string{"=", "<>", "<", "<=", ">", ">="}

func (p *parser) comparison() *node {
	n := p.primary()
	t := p.peek()
	switch {
	case t.kind == tokenSymbol && slices.Contains(comparators, t.text):
		p.operand(n)
		p.at++
		right := p.primary()
		p.operand(right)
		n = &node{kind: nodeCompare, op: t.text, args: []*node{n, right}}
	case t.is("BETWEEN"):
		p.operand(n)
		p.at++
		low := p.primary()
		p.operand(low)
		p.expect("AND")
		high := p.primary()
		p.operand(high)
		n = &node{kind: nodeBetween, op: "BETWEEN", args: []*node{n, low, high}}
	case t.is("IN"):
		p.operand(n)
		p.at++
		n = &node{kind: nodeIn, op: "IN", args: append([]*node{n}, p.list()...)}
	default:
		return n
	}
	p.operators++
	return n
}

func (p *parser) list() []*node {
	p.expect("(")
	list := []*node{p.argument()}
	for p.accept(",") {
		list = append(list, p.argument())
	}
	p.expect(")")
	if len(list) > operandsInMax {
		p.keep(faultLimit, faultf("The IN operator is provided with too many operands; number of operands: %d", len(list)))
	}
	return list
}

// argument reads an operand where nothing else may stand.
func (p *parser) argument() *node {
	n := p.primary()
	p.operand(n)
	return n
}

// operand refuses a condition where a value must stand. A function that is no
// value is a fault of its own; anything else does not parse.
func (p *parser) operand(n *node) {
	switch {
	case n.kind == nodeCall && n.op != "size":
		p.keep(faultMisused, misused(n.op))
	case n.isCondition():
		p.fail()
	}
}

// primary reads an operand, a function, or anything in parentheses.
func (p *parser) primary() *node {
	switch t := p.peek(); {
	case t.is("("):
		return p.parenthesized(p.or)
	case t.kind == tokenValue:
		return p.value()
	case p.startsCall():
		return p.conditionCall()
	case t.kind == tokenWord && isConditionKeyword(t):
		p.fail()
	}
	return p.path()
}

func (p *parser) parenthesized(read func() *node) *node {
	p.expect("(")
	n := read()
	p.expect(")")
	if n.inParen {
		p.keep(faultParentheses, &Error{"The expression has redundant parentheses;"})
	}
	n.inParen = true
	return n
}

func isConditionKeyword(t token) bool {
	return t.is("AND") || t.is("OR") || t.is("NOT") || t.is("BETWEEN") || t.is("IN")
}

func (p *parser) conditionCall() *node {
	if isConditionKeyword(p.peek()) {
		p.fail()
	}
	n := p.call(p.argument)
	switch {
	case conditionFunctions[n.op] > 0:
	case updateFunctions[n.op] > 0:
		p.keep(faultFunction, faultf("The function is not allowed in a condition expression; function: %s", n.op))
	default:
		p.keep(faultFunction, faultf("Invalid function name; function: %s", n.op))
	}
	return n
}

// The functions of conditions and of updates with their number of operands.
var (
	conditionFunctions = map[string]int{
		"attribute_exists": 1, "attribute_not_exists": 1, "attribute_type": 2,
		"begins_with": 2, "contains": 2, "size": 1,
	}
	updateFunctions = map[string]int{"if_not_exists": 2, "list_append": 2}
)
