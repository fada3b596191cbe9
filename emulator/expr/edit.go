package expr

import (
	"maps"
	"slices"

	"github.com/hotsplit/hotsplit/emulator/attr"
)

// edit is a tree of changes along document paths. A leaf holds the number of the
// section that changes what stands there.
type edit struct {
	section int // -1 on the way to a leaf
	names   map[string]*edit
	indexes map[int]*edit
}

func newEdit(sections []section, targets []path) *edit {
	root := &edit{section: -1}
	for i := range sections {
		at := root
		for _, s := range targets[i] {
			at = at.branch(s)
		}
		at.section = i
	}
	return root
}

func (e *edit) branch(to step) *edit {
	if to.index >= 0 {
		if e.indexes == nil {
			e.indexes = make(map[int]*edit)
		}
		return branchOf(e.indexes, to.index)
	}
	if e.names == nil {
		e.names = make(map[string]*edit)
	}
	return branchOf(e.names, to.name)
}

func branchOf[K comparable](branches map[K]*edit, key K) *edit {
	if branches[key] == nil {
		branches[key] = &edit{section: -1}
	}
	return branches[key]
}

// editing applies the tree to one item.
type editing struct {
	u        *Update
	operands []attr.Value // by section
	absent   bool         // there was no item; removing parts of it is no fault
}

func (g *editing) members(e *edit, item attr.Item) (attr.Item, error) {
	var b attr.Builder
	for name, v := range item.All() {
		if e.names[name] == nil {
			b.Set(name, v)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(e.names)) {
		v, err := g.value(e.names[name], item.Get(name))
		if err != nil {
			return attr.Item{}, err
		}
		b.Set(name, v)
	}
	return b.Item(), nil
}

// value is what becomes of old, no value when it goes.
func (g *editing) value(e *edit, old attr.Value) (attr.Value, error) {
	switch {
	case e.section >= 0:
		return g.change(e.section, old)
	case e.names != nil && old.Kind() == attr.KindM:
		members, err := g.members(e, old.Map())
		if err != nil {
			return attr.Value{}, err
		}
		return attr.Map(members), nil
	case e.indexes != nil && old.Kind() == attr.KindL:
		return g.elements(e, old)
	case g.absent && g.onlyRemoves(e):
		return old, nil
	}
	return attr.Value{}, errPathInvalid
}

func (g *editing) onlyRemoves(e *edit) bool {
	if e.section >= 0 {
		return g.u.sections[e.section].kind == sectionRemove
	}
	for _, sub := range e.names {
		if !g.onlyRemoves(sub) {
			return false
		}
	}
	for _, sub := range e.indexes {
		if !g.onlyRemoves(sub) {
			return false
		}
	}
	return true
}

// elements changes a list. What is set behind its end is appended in the order of
// the positions, without a gap.
func (g *editing) elements(e *edit, old attr.Value) (attr.Value, error) {
	list := make([]attr.Value, 0, old.Len()+len(e.indexes))
	i := 0
	for v := range old.All() {
		if sub := e.indexes[i]; sub != nil {
			changed, err := g.value(sub, v)
			if err != nil {
				return attr.Value{}, err
			}
			v = changed
		}
		if !v.IsZero() {
			list = append(list, v)
		}
		i++
	}
	for _, at := range slices.Sorted(maps.Keys(e.indexes)) {
		if at < old.Len() {
			continue
		}
		v, err := g.value(e.indexes[at], attr.Value{})
		if err != nil {
			return attr.Value{}, err
		}
		if !v.IsZero() {
			list = append(list, v)
		}
	}
	return attr.List(list), nil
}

// change applies one section to the value at its path.
func (g *editing) change(section int, old attr.Value) (attr.Value, error) {
	operand := g.operands[section]
	switch g.u.sections[section].kind {
	case sectionSet:
		return operand, nil
	case sectionRemove:
		return attr.Value{}, nil
	case sectionAdd:
		return add(old, operand)
	}
	return remove(old, operand)
}

func add(old, operand attr.Value) (attr.Value, error) {
	switch {
	case old.IsZero():
		return operand, nil
	case old.Kind() != operand.Kind():
		return old, errOperandType
	case operand.Kind() == attr.KindN:
		return computed(attr.Add(old, operand))
	}
	elements := slices.Collect(old.All())
	for e := range operand.All() {
		if !contains(old, e) {
			elements = append(elements, e)
		}
	}
	return attr.Set(old.Kind(), elements), nil
}

// remove takes elements out of a set. A set left without any goes.
func remove(old, operand attr.Value) (attr.Value, error) {
	switch {
	case old.IsZero():
		return old, nil
	case old.Kind() != operand.Kind():
		return old, errOperandType
	}
	elements := slices.DeleteFunc(slices.Collect(old.All()), func(e attr.Value) bool { return contains(operand, e) })
	if len(elements) == 0 {
		return attr.Value{}, nil
	}
	return attr.Set(old.Kind(), elements), nil
}

// checkDepth refuses an item that an update made too deep. Only what a path leads
// into can have grown.
func (g *editing) checkDepth(item attr.Item) error {
	for _, p := range g.u.targets {
		if item.Get(p[0].name).Depth() > attr.DepthMax {
			return &Error{attr.ErrNesting.Error()}
		}
	}
	return nil
}
