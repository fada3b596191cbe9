package expr

import (
	"strconv"
	"strings"

	"github.com/hotsplit/hotsplit/emulator/attr"
)

// A step leads to a member of a map, by name, or to an element of a list.
type step struct {
	name  string
	index int // -1 where name leads
}

// path is a document path whose placeholders are resolved. The first step is an
// attribute of the item.
type path []step

// String spells p as the service does in its messages.
func (p path) String() string {
	words := make([]string, len(p))
	for i, s := range p {
		words[i] = s.name
		if s.index >= 0 {
			words[i] = "[" + strconv.Itoa(s.index) + "]"
		}
	}
	return "[" + strings.Join(words, ", ") + "]"
}

// get is the value at p, no value when there is none.
func (p path) get(item attr.Item) attr.Value {
	v := item.Get(p[0].name)
	for _, s := range p[1:] {
		if s.index >= 0 {
			if v.Kind() != attr.KindL {
				return attr.Value{}
			}
			v = v.Index(s.index)
		} else {
			v = v.Map().Get(s.name)
		}
	}
	return v
}

// How two paths stand to each other.
type relation uint8

const (
	apart       relation = iota
	overlapping          // one leads to the other or into it
	conflicting          // one takes for a map what the other takes for a list
)

func relate(a, b path) relation {
	for i := range min(len(a), len(b)) {
		if (a[i].index >= 0) != (b[i].index >= 0) {
			return conflicting
		}
		if a[i] != b[i] {
			return apart
		}
	}
	return overlapping
}

// checkApart finds paths of one expression that cannot stand beside each other.
// Of both faults the service names an overlap first.
func checkApart(paths []path) *Error {
	for _, r := range []struct {
		relation relation
		verb     string
	}{{overlapping, "overlap"}, {conflicting, "conflict"}} {
		for i, b := range paths {
			for _, a := range paths[:i] {
				if relate(a, b) == r.relation {
					return faultf("Two document paths %s with each other; must remove or rewrite one of these paths; path one: %s, path two: %s", r.verb, a, b)
				}
			}
		}
	}
	return nil
}

// topNames lists the attributes that paths start from, each once. With nested it
// lists only those that a path goes into.
func topNames(paths []path, nested bool) []string {
	var names []string
	seen := make(map[string]bool, len(paths))
	for _, p := range paths {
		name := p[0].name
		if !seen[name] && (!nested || len(p) > 1) {
			seen[name] = true
			names = append(names, name)
		}
	}
	return names
}
