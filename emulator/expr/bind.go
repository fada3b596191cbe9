package expr

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/hotsplit/hotsplit/emulator/attr"
)

// Binder binds the expressions of one request, all of which share placeholders.
// Call it only for expressions that the request has, in the order Update,
// Condition, KeyCondition, Filter, Projection, and Done at the end: the service
// reports faults in that order.
type Binder struct {
	// Older asks for the words of the service's older checks, which Scan and the
	// transactions still use for illegal values.
	Older bool

	cache   *Cache
	names   map[string]string
	values  map[string]attr.Value
	checked bool
	trees   []*tree // bound so far
}

// bound is a tree with the names and values of a request in its slots.
type bound struct {
	*tree
	paths  []path
	values []attr.Value
}

// Update binds an UpdateExpression.
func (b *Binder) Update(text string) (*Update, error) {
	t, err := b.tree("UpdateExpression", languageUpdate, text)
	if err != nil {
		return nil, err
	}
	u, fault := bindUpdate(b, t)
	if fault != nil {
		return nil, prefixed("UpdateExpression", fault)
	}
	return u, nil
}

// Condition binds a ConditionExpression.
func (b *Binder) Condition(text string) (*Condition, error) {
	return b.condition("ConditionExpression", text)
}

// Filter binds a FilterExpression.
func (b *Binder) Filter(text string) (*Condition, error) {
	return b.condition("FilterExpression", text)
}

// KeyCondition binds a KeyConditionExpression.
func (b *Binder) KeyCondition(text string) (*KeyCondition, error) {
	c, err := b.condition("KeyConditionExpression", text)
	if err != nil {
		return nil, err
	}
	k, fault := newKeyCondition(c)
	if fault != nil {
		return nil, prefixed("KeyConditionExpression", fault)
	}
	return k, nil
}

// Projection binds a ProjectionExpression.
func (b *Binder) Projection(text string) (*Projection, error) {
	t, err := b.tree("ProjectionExpression", languageProjection, text)
	if err != nil {
		return nil, err
	}
	p, fault := bindProjection(b, t)
	if fault != nil {
		return nil, prefixed("ProjectionExpression", fault)
	}
	return p, nil
}

func (b *Binder) condition(member, text string) (*Condition, error) {
	t, err := b.tree(member, languageCondition, text)
	if err != nil {
		return nil, err
	}
	c, fault := bindCondition(b, t)
	if fault != nil {
		return nil, prefixed(member, fault)
	}
	return c, nil
}

func (b *Binder) tree(member string, l language, text string) (*tree, error) {
	if err := b.checkPlaceholders(); err != nil {
		return nil, err
	}
	t, err := b.cache.get(l, text)
	if err != nil {
		if len(text) > textBytesMax && tellsSize[member] {
			err = faultf("%s expression size: %d", err.Message, len(text))
		}
		return nil, prefixed(member, err)
	}
	b.trees = append(b.trees, t)
	return t, nil
}

// tellsSize has the expressions whose size the service tells when it is too large.
var tellsSize = map[string]bool{"ConditionExpression": true, "FilterExpression": true}

func prefixed(member string, err *Error) *Error {
	return &Error{"Invalid " + member + ": " + err.Message}
}

// checkPlaceholders looks at the maps themselves, before any expression.
func (b *Binder) checkPlaceholders() error {
	if b.checked {
		return nil
	}
	b.checked = true
	if err := checkKeys("ExpressionAttributeNames", '#', b.names); err != nil {
		return err
	}
	if err := b.checkNames(); err != nil {
		return err
	}
	if err := checkKeys("ExpressionAttributeValues", ':', b.values); err != nil {
		return err
	}
	return b.checkValues()
}

// Limits of the service on a placeholder, its # or : included, and on what it
// stands for.
const (
	placeholderBytesMax = 255
	nameBytesMax        = 65535
)

func checkKeys[V any](member string, prefix byte, entries map[string]V) error {
	if entries == nil {
		return nil
	}
	if len(entries) == 0 {
		return faultf("%s must not be empty", member)
	}
	bad, found := "", false
	for key := range entries {
		if !isPlaceholderKey(key, prefix) && (!found || key < bad) {
			bad, found = key, true
		}
	}
	switch {
	case !found:
		return nil
	case len(bad) > placeholderBytesMax:
		return keyTooLong(member, prefix, bad)
	}
	return faultf("%s contains invalid key: Syntax error; key: \"%s\"", member, bad)
}

func isPlaceholderKey(key string, prefix byte) bool {
	return len(key) > 1 && len(key) <= placeholderBytesMax && key[0] == prefix && endOfWord(key, 1) == len(key)
}

func keyTooLong(member string, prefix byte, key string) error {
	size := ""
	if prefix == '#' {
		size = fmt.Sprintf(" size of key: %d", len(key))
	}
	return faultf("%s contains invalid key: The expression attribute map contains a key that is too long;%s", member, size)
}

func (b *Binder) checkNames() error {
	for key := range b.names {
		switch n := len(b.names[key]); {
		case n == 0:
			return faultf("ExpressionAttributeNames contains invalid value: Empty attribute name for key %s", key)
		case n > nameBytesMax:
			return faultf("ExpressionAttributeNames contains invalid value: Attribute name is too large, must be less than 65536 bytes for key %s", key)
		}
	}
	return nil
}

func (b *Binder) checkValues() error {
	keys := slices.Sorted(illegal(b.values))
	if len(keys) == 0 {
		return nil
	}
	var fault *attr.InvalidError
	errors.As(b.values[keys[0]].Err(), &fault)
	if !b.Older && !fault.Deep {
		return &Error{fault.Message}
	}
	return faultf("ExpressionAttributeValues contains invalid value: %s for key %s", fault.Older, keys[0])
}

// illegal yields the keys of values that have a fault.
func illegal(values map[string]attr.Value) iter.Seq[string] {
	return func(yield func(string) bool) {
		for key, v := range values {
			if v.Err() != nil && !yield(key) {
				return
			}
		}
	}
}

// Done checks that the expressions bound so far use all placeholders.
func (b *Binder) Done() error {
	if err := b.checkPlaceholders(); err != nil {
		return err
	}
	if err := checkUnused(b, "ExpressionAttributeNames", b.names); err != nil {
		return err
	}
	return checkUnused(b, "ExpressionAttributeValues", b.values)
}

func checkUnused[V any](b *Binder, member string, entries map[string]V) error {
	var unused []string
	for key := range entries {
		if !slices.ContainsFunc(b.trees, func(t *tree) bool { return t.uses[key] }) {
			unused = append(unused, key)
		}
	}
	if len(unused) == 0 {
		return nil
	}
	slices.Sort(unused)
	return faultf("Value provided in %s unused in expressions: keys: {%s}", member, strings.Join(unused, ", "))
}

// resolvePath puts names in place of the placeholders of a path.
func (b *Binder) resolvePath(text pathText) (path, *Error) {
	if !slices.ContainsFunc(text, isPlaceholder) {
		return path(text), nil
	}
	p := make(path, len(text))
	for i, s := range text {
		if isPlaceholder(s) {
			name, defined := b.names[s.name]
			if !defined {
				return nil, faultf("An expression attribute name used in the document path is not defined; attribute name: %s", s.name)
			}
			s.name = name
		}
		p[i] = s
	}
	return p, nil
}

func isPlaceholder(s step) bool { return s.index < 0 && s.name[0] == '#' }

func (b *Binder) resolveValue(key string) (attr.Value, *Error) {
	v, defined := b.values[key]
	if !defined {
		return v, faultf("An expression attribute value used in expression is not defined; attribute value: %s", key)
	}
	return v, nil
}

func newBound(t *tree) bound {
	return bound{tree: t, paths: make([]path, len(t.paths)), values: make([]attr.Value, len(t.values))}
}

// literal is the value of a placeholder, no value for any other node.
func (b *bound) literal(n *node) attr.Value {
	if n.kind == nodeValue {
		return b.values[n.slot]
	}
	return attr.Value{}
}

// kindOf is the kind that n has whatever the item, KindNone if that depends.
func (b *bound) kindOf(n *node) attr.Kind {
	switch {
	case n.kind == nodeCall && n.op == "size":
		return attr.KindN
	case n.kind == nodeCall && n.op == "list_append":
		return attr.KindL
	case n.kind == nodeArithmetic:
		return attr.KindN
	}
	return b.literal(n).Kind()
}
