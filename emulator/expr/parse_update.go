package expr

import "strings"

// The sections of an update.
type sectionKind uint8

const (
	sectionSet sectionKind = iota
	sectionRemove
	sectionAdd
	sectionDelete
)

var sectionNames = [...]string{"SET", "REMOVE", "ADD", "DELETE"}

func (k sectionKind) String() string { return sectionNames[k] }

// section is one change: what to do at the path in slot, with which operand.
type section struct {
	kind    sectionKind
	slot    int
	operand *node // nil for REMOVE
}

var updateFaults = []fault{faultParentheses, faultReserved, faultFunction, faultMisused, faultSection, faultLimit}

func parseUpdate(text string) (*tree, *Error) {
	return parse(text, updateFaults, func(p *parser) {
		p.update = true
		var seen [len(sectionNames)]bool
		p.section(&seen)
		for p.peek().kind != tokenEnd {
			p.section(&seen)
		}
	})
}

// section reads a keyword and its changes.
func (p *parser) section(seen *[len(sectionNames)]bool) {
	kind := p.sectionKeyword()
	if seen[kind] {
		p.keep(faultSection, faultf("The %q section can only be used once in an update expression;", kind.String()))
	}
	seen[kind] = true
	p.change(kind)
	for p.accept(",") {
		p.change(kind)
	}
}

func (p *parser) sectionKeyword() sectionKind {
	for kind, name := range sectionNames {
		if p.peek().kind == tokenWord && strings.EqualFold(p.peek().text, name) {
			p.at++
			return sectionKind(kind)
		}
	}
	p.fail()
	return 0
}

func isSectionKeyword(t token) bool {
	return t.is("SET") || t.is("REMOVE") || t.is("ADD") || t.is("DELETE")
}

func (p *parser) change(kind sectionKind) {
	s := section{kind: kind, slot: p.path().slot}
	switch kind {
	case sectionSet:
		p.expect("=")
		s.operand = p.setValue()
	case sectionAdd, sectionDelete:
		if p.peek().kind != tokenValue {
			p.fail()
		}
		p.operators++
		s.operand = p.value()
	}
	p.tree.sections = append(p.tree.sections, s)
}

// setValue reads an operand or two of them joined by + or -, in parentheses or not.
func (p *parser) setValue() *node {
	n := p.setOperand(true)
	t := p.peek()
	if n.kind == nodeArithmetic || !t.is("+") && !t.is("-") {
		return n
	}
	p.at++
	p.operators++
	return &node{kind: nodeArithmetic, op: t.text, args: []*node{n, p.setOperand(false)}}
}

// setOperand reads a path, a value or a function. With whole, what stands in
// parentheses may be a sum, which is then the whole of the value.
func (p *parser) setOperand(whole bool) *node {
	switch t := p.peek(); {
	case t.is("("):
		return p.parenthesized(func() *node {
			if whole {
				return p.setValue()
			}
			return p.setOperand(false)
		})
	case t.kind == tokenValue:
		return p.value()
	case p.startsCall():
		return p.updateCall()
	}
	return p.path()
}

func (p *parser) updateCall() *node {
	p.operators++
	n := p.call(func() *node {
		arg := p.setOperand(false)
		if arg.kind == nodeCall && arg.op == "list_append" {
			p.keep(faultMisused, misused(arg.op))
		}
		return arg
	})
	switch {
	case updateFunctions[n.op] > 0:
	case conditionFunctions[n.op] > 0:
		p.keep(faultFunction, faultf("The function is not allowed in an update expression; function: %s", n.op))
	default:
		p.keep(faultFunction, faultf("Invalid function name; function: %s", n.op))
	}
	return n
}

var projectionFaults = []fault{faultReserved, faultLimit}

func parseProjection(text string) (*tree, *Error) {
	return parse(text, projectionFaults, func(p *parser) {
		p.path()
		for p.accept(",") {
			p.path()
		}
	})
}
