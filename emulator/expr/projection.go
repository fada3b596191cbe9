package expr

import "github.com/hotsplit/hotsplit/emulator/attr"

// Projection is a list of document paths of one request. A nil Projection keeps
// everything.
type Projection struct {
	paths []path
	plan  *selection
}

func bindProjection(b *Binder, t *tree) (*Projection, *Error) {
	p := &Projection{paths: make([]path, len(t.paths))}
	for i, text := range t.paths {
		resolved, err := b.resolvePath(text)
		if err != nil {
			return nil, err
		}
		p.paths[i] = resolved
	}
	if err := checkApart(p.paths); err != nil {
		return nil, err
	}
	p.plan = newSelection(p.paths)
	return p, nil
}

// Names lists the attributes that the projection reads.
func (p *Projection) Names() []string { return topNames(p.paths, false) }

// NestedNames lists the attributes that the projection reads parts of.
func (p *Projection) NestedNames() []string { return topNames(p.paths, true) }

// Apply cuts item down to the paths. Lists close up around what is left out.
func (p *Projection) Apply(item attr.Item) attr.Item {
	if p == nil || item.IsNil() {
		return item
	}
	return p.plan.members(item)
}

// selection is a tree of what paths keep. One without branches keeps everything.
type selection struct {
	names   map[string]*selection
	indexes map[int]*selection
}

func newSelection(paths []path) *selection {
	root := &selection{}
	for _, p := range paths {
		at := root
		for _, s := range p {
			at = at.branch(s)
		}
	}
	return root
}

func (s *selection) branch(to step) *selection {
	if to.index >= 0 {
		return branch(&s.indexes, to.index)
	}
	return branch(&s.names, to.name)
}

func branch[K comparable](branches *map[K]*selection, key K) *selection {
	if *branches == nil {
		*branches = make(map[K]*selection)
	}
	if (*branches)[key] == nil {
		(*branches)[key] = &selection{}
	}
	return (*branches)[key]
}

func (s *selection) members(item attr.Item) attr.Item {
	var b attr.Builder
	for name, v := range item.All() {
		if sub, kept := s.names[name]; kept {
			b.Set(name, sub.value(v))
		}
	}
	return b.Item()
}

// value is what is kept of v, no value when that is nothing.
func (s *selection) value(v attr.Value) attr.Value {
	switch {
	case s.names == nil && s.indexes == nil:
		return v
	case s.names != nil && v.Kind() == attr.KindM:
		if kept := s.members(v.Map()); kept.Len() > 0 {
			return attr.Map(kept)
		}
	case s.indexes != nil && v.Kind() == attr.KindL:
		return s.elements(v)
	}
	return attr.Value{}
}

func (s *selection) elements(v attr.Value) attr.Value {
	var kept []attr.Value
	i := 0
	for e := range v.All() {
		if sub, wanted := s.indexes[i]; wanted {
			if part := sub.value(e); !part.IsZero() {
				kept = append(kept, part)
			}
		}
		i++
	}
	if kept == nil {
		return attr.Value{}
	}
	return attr.List(kept)
}
