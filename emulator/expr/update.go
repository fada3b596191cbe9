package expr

import (
	"slices"

	"github.com/hotsplit/hotsplit/emulator/attr"
)

// Update is an update of one request.
type Update struct {
	bound
	targets []path // by section
	edits   *edit
	reach   *selection
}

func bindUpdate(b *Binder, t *tree) (*Update, *Error) {
	u := &Update{bound: newBound(t)}
	if err := u.resolveAll(b); err != nil {
		return nil, err
	}
	u.targets = make([]path, len(t.sections))
	for i, s := range t.sections {
		u.targets[i] = u.paths[s.slot]
	}
	if err := checkApart(u.targets); err != nil {
		return nil, err
	}
	for _, s := range t.sections {
		if err := u.checkSectionType(s); err != nil {
			return nil, err
		}
	}
	for _, s := range t.sections {
		if err := u.checkOperand(s.operand); err != nil {
			return nil, err
		}
	}
	u.edits = newEdit(t.sections, u.targets)
	u.reach = newSelection(u.targets)
	return u, nil
}

// resolveAll looks up every name and then every value.
func (u *Update) resolveAll(b *Binder) (err *Error) {
	for i, text := range u.tree.paths {
		if u.paths[i], err = b.resolvePath(text); err != nil {
			return err
		}
	}
	for i, key := range u.tree.values {
		if u.values[i], err = b.resolveValue(key); err != nil {
			return err
		}
	}
	return nil
}

// Kinds as ADD and DELETE call them.
var kindWords = map[attr.Kind]string{
	attr.KindS: "STRING", attr.KindN: "NUMBER", attr.KindB: "BINARY", attr.KindNULL: "NULL",
	attr.KindBOOL: "BOOLEAN", attr.KindL: "LIST", attr.KindM: "MAP",
}

// checkSectionType: ADD takes numbers and sets, DELETE takes sets.
func (u *Update) checkSectionType(s section) *Error {
	if s.kind != sectionAdd && s.kind != sectionDelete {
		return nil
	}
	k := u.kindOf(s.operand)
	if k.IsSet() || s.kind == sectionAdd && k == attr.KindN {
		return nil
	}
	return faultf("Incorrect operand type for operator or function; operator: %s, operand type: %s, typeSet: ALLOWED_FOR_%[1]s_OPERAND", s.kind, kindWords[k])
}

func (u *Update) checkOperand(n *node) *Error {
	if n == nil {
		return nil
	}
	for _, arg := range n.args {
		if err := u.checkOperand(arg); err != nil {
			return err
		}
	}
	switch {
	case n.kind == nodeArithmetic:
		return u.checkKinds(n, attr.KindN)
	case n.kind == nodeCall && updateFunctions[n.op] != len(n.args):
		return incorrectCount(n.op, len(n.args))
	case n.kind == nodeCall && n.op == "list_append":
		return u.checkKinds(n, attr.KindL)
	case n.kind == nodeCall && n.args[0].kind != nodePath:
		return requiresPath(n.op)
	}
	return nil
}

func (u *Update) checkKinds(n *node, allowed attr.Kind) *Error {
	for _, arg := range n.args {
		if k := u.kindOf(arg); k != attr.KindNone && k != allowed {
			return incorrectType(n.op, k)
		}
	}
	return nil
}

// Names lists the attributes that the update writes.
func (u *Update) Names() []string { return topNames(u.targets, false) }

// NestedNames lists the attributes that the update reads or writes parts of.
func (u *Update) NestedNames() []string { return topNames(u.paths, true) }

// ImmediateKind is the kind that the update gives the attribute called name
// whatever the item is, KindNone if that depends on the item.
func (u *Update) ImmediateKind(name string) attr.Kind {
	for i, s := range u.sections {
		if t := u.targets[i]; len(t) == 1 && t[0].name == name && s.operand != nil {
			return u.kindOf(s.operand)
		}
	}
	return attr.KindNone
}

// ImmediateValue is the value that SET gives the attribute called name whatever
// the item is, no value if that depends on the item.
func (u *Update) ImmediateValue(name string) attr.Value {
	for i, s := range u.sections {
		if t := u.targets[i]; s.kind == sectionSet && len(t) == 1 && t[0].name == name {
			return u.literal(s.operand)
		}
	}
	return attr.Value{}
}

// Apply is item after the update. Every operand is read from item as it was, and
// list positions are those of before. The error is an *Error: the update does not
// fit the item, and nothing changes.
func (u *Update) Apply(item attr.Item) (attr.Item, error) {
	operands, err := u.operands(item)
	if err != nil {
		return attr.Item{}, err
	}
	return u.edit(&editing{u: u, operands: operands}, item)
}

// Create is the item that the update makes of a key alone, none when it does not
// make one: taking something away creates nothing. The error is that of Apply.
func (u *Update) Create(key attr.Item) (attr.Item, error) {
	creates := func(s section) bool { return s.kind == sectionSet || s.kind == sectionAdd }
	if !slices.ContainsFunc(u.sections, creates) {
		return attr.Item{}, nil
	}
	operands, err := u.operands(key)
	if err != nil {
		return attr.Item{}, err
	}
	return u.edit(&editing{u: u, operands: operands, absent: true}, key)
}

func (u *Update) edit(e *editing, item attr.Item) (attr.Item, error) {
	changed, err := e.members(u.edits, item)
	if err != nil {
		return attr.Item{}, err
	}
	return changed, e.checkDepth(changed)
}

// operands evaluates the operand of each section.
func (u *Update) operands(item attr.Item) ([]attr.Value, error) {
	operands := make([]attr.Value, len(u.sections))
	for i, s := range u.sections {
		if s.operand == nil {
			continue
		}
		v, err := u.evaluate(s.operand, item)
		if err != nil {
			return nil, err
		}
		operands[i] = v
	}
	return operands, nil
}

// Changed cuts the items before and after down to what the update names, as
// UPDATED_OLD and UPDATED_NEW return it. An item with nothing left is none.
func (u *Update) Changed(old, updated attr.Item) (before, after attr.Item) {
	return nonEmpty(u.reach.members(old)), nonEmpty(u.reach.members(updated))
}

func nonEmpty(i attr.Item) attr.Item {
	if i.Len() == 0 {
		return attr.Item{}
	}
	return i
}

// evaluate is the value of an operand of SET, ADD or DELETE.
func (u *Update) evaluate(n *node, item attr.Item) (attr.Value, error) {
	switch n.kind {
	case nodeValue:
		return u.values[n.slot], nil
	case nodePath:
		v := u.paths[n.slot].get(item)
		if v.IsZero() {
			return v, errMissing
		}
		return v, nil
	}
	if n.op == "if_not_exists" {
		if v := u.paths[n.args[0].slot].get(item); !v.IsZero() {
			return v, nil
		}
		return u.evaluate(n.args[1], item)
	}
	a, err := u.evaluate(n.args[0], item)
	if err != nil {
		return a, err
	}
	b, err := u.evaluate(n.args[1], item)
	if err != nil {
		return b, err
	}
	return combine(n.op, a, b)
}

// combine computes +, - and list_append.
func combine(op string, a, b attr.Value) (attr.Value, error) {
	kind := attr.KindN
	if op == "list_append" {
		kind = attr.KindL
	}
	if a.Kind() != kind || b.Kind() != kind {
		return attr.Value{}, errOperandType
	}
	switch op {
	case "list_append":
		return attr.List(slices.AppendSeq(slices.Collect(a.All()), b.All())), nil
	case "+":
		return computed(attr.Add(a, b))
	}
	return computed(attr.Sub(a, b))
}

func computed(v attr.Value, err error) (attr.Value, error) {
	if err != nil {
		return attr.Value{}, &Error{err.Error()}
	}
	return v, nil
}
