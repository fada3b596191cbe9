package expr

import (
	"errors"
	"strconv"
	"strings"
)

// Limits of the service on one expression.
const (
	textBytesMax  = 4096 // which bounds the depth of recursion, too
	operatorsMax  = 300
	operandsInMax = 100
	pathStepsMax  = 32
	listIndexMax  = 1<<31 - 1
)

// nodeKind is what a node of the tree does.
type nodeKind uint8

const (
	nodePath nodeKind = iota
	nodeValue
	nodeCall
	nodeArithmetic // + or -
	nodeCompare
	nodeBetween
	nodeIn
	nodeAnd
	nodeOr
	nodeNot
)

// node is an operand or a condition.
type node struct {
	kind    nodeKind
	op      string // comparator, function name, + or -
	slot    int    // of nodePath and nodeValue, in the tree's list
	args    []*node
	inParen bool
}

// isCondition reports whether n is true or false rather than a value. A call is
// either; which functions it may be is checked where it stands.
func (n *node) isCondition() bool {
	return n.kind >= nodeCompare || n.kind == nodeCall && n.op != "size"
}

// pathText is a path as written: names may be placeholders.
type pathText []step

// tree is an expression that was parsed. Paths and values are listed in the order
// of the text, each use on its own.
type tree struct {
	paths    []pathText
	values   []string        // placeholders
	uses     map[string]bool // placeholders of both kinds, each once
	root     *node           // of conditions
	sections []section
}

// parser reads the tokens of one expression. Faults that leave the text readable
// are kept until it is read, because the service reports a syntax error first.
type parser struct {
	text      string
	tokens    []token
	at        int
	operators int
	update    bool // SET, REMOVE, ADD and DELETE are no attribute names
	tree      tree
	faults    [faultKinds]*Error
}

// Faults that do not depend on placeholders, first reported first.
type fault uint8

const (
	faultParentheses fault = iota
	faultFunction
	faultMisused
	faultReserved
	faultSection
	faultLimit
	faultKinds = iota
)

// syntaxStop unwinds the parser at the first token that does not fit.
type syntaxStop struct{ err *Error }

func (s syntaxStop) Error() string { return s.err.Message }

// parse runs read over text and returns the tree or the first fault.
func parse(text string, order []fault, read func(*parser)) (t *tree, err *Error) {
	if text == "" {
		return nil, &Error{"The expression can not be empty;"}
	}
	if len(text) > textBytesMax {
		return nil, &Error{"Expression size has exceeded the maximum allowed size;"}
	}
	p := &parser{text: text, tokens: tokenize(text)}
	defer func() {
		if stop := recover(); stop != nil {
			s, ok := stop.(syntaxStop)
			if !ok {
				panic(stop)
			}
			t, err = nil, s.err
		}
	}()
	read(p)
	if p.peek().kind != tokenEnd {
		p.fail()
	}
	for _, kind := range order {
		if p.faults[kind] != nil {
			return nil, p.faults[kind]
		}
	}
	if p.operators > operatorsMax {
		return nil, faultf("The expression contains too many operators; operator count: %d", operatorsMax+1)
	}
	p.tree.uses = uses(&p.tree)
	return &p.tree, nil
}

func uses(t *tree) map[string]bool {
	found := make(map[string]bool)
	for _, key := range t.values {
		found[key] = true
	}
	for _, p := range t.paths {
		for _, s := range p {
			if isPlaceholder(s) {
				found[s.name] = true
			}
		}
	}
	return found
}

func (p *parser) peek() token { return p.tokens[p.at] }

func (p *parser) next() token {
	t := p.tokens[p.at]
	if t.kind != tokenEnd {
		p.at++
	}
	return t
}

// fail stops at the current token with a syntax error, which quotes the tokens
// around it.
func (p *parser) fail() {
	t := p.peek()
	start, end := t.start, t.end
	if p.at > 0 {
		start = p.tokens[p.at-1].start
	}
	if p.at+1 < len(p.tokens) {
		end = p.tokens[p.at+1].end
	}
	near := strings.TrimRight(p.text[start:end], " \t\r\n")
	p.stop(faultf("Syntax error; token: \"%s\", near: \"%s\"", t.text, near))
}

func (p *parser) stop(err *Error) { panic(syntaxStop{err}) }

// keep notes a fault unless one of its kind is known.
func (p *parser) keep(kind fault, err *Error) {
	if p.faults[kind] == nil {
		p.faults[kind] = err
	}
}

func (p *parser) accept(text string) bool {
	if !p.peek().is(text) {
		return false
	}
	p.at++
	return true
}

func (p *parser) expect(text string) {
	if !p.accept(text) {
		p.fail()
	}
}

func (p *parser) value() *node {
	p.tree.values = append(p.tree.values, p.next().text)
	return &node{kind: nodeValue, slot: len(p.tree.values) - 1}
}

// path reads a document path into the tree's list.
func (p *parser) path() *node {
	steps := pathText{p.pathName()}
	for {
		switch {
		case p.accept("."):
			steps = append(steps, p.pathName())
		case p.accept("["):
			steps = append(steps, step{index: p.listIndex()})
			p.expect("]")
		default:
			if len(steps) > pathStepsMax {
				p.keep(faultLimit, faultf("The document path has too many nesting levels; nesting levels: %d", len(steps)))
			}
			p.tree.paths = append(p.tree.paths, steps)
			return &node{kind: nodePath, slot: len(p.tree.paths) - 1}
		}
	}
}

func (p *parser) pathName() step {
	t := p.peek()
	switch t.kind {
	case tokenWord:
		if p.update && isSectionKeyword(t) {
			p.fail()
		}
		if Reserved(t.text) {
			p.keep(faultReserved, faultf("Attribute name is a reserved keyword; reserved keyword: %s", t.text))
		}
	case tokenName:
	default:
		p.fail()
	}
	p.at++
	return step{name: t.text, index: -1}
}

func (p *parser) listIndex() int {
	t := p.peek()
	if t.kind != tokenNumber {
		p.fail()
	}
	p.at++
	n, err := strconv.Atoi(t.text)
	if errors.Is(err, strconv.ErrRange) || n > listIndexMax {
		p.stop(faultf("List index is not within the allowable range; index: [%s]", t.text))
	}
	return n
}

// startsCall reports whether a function name and its parenthesis come next.
func (p *parser) startsCall() bool {
	return p.peek().kind == tokenWord && p.at+1 < len(p.tokens) && p.tokens[p.at+1].is("(")
}

// call reads a function with its arguments.
func (p *parser) call(argument func() *node) *node {
	n := &node{kind: nodeCall, op: p.next().text}
	p.expect("(")
	n.args = append(n.args, argument())
	for p.accept(",") {
		n.args = append(n.args, argument())
	}
	p.expect(")")
	return n
}
