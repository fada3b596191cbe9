package emulator

import (
	"github.com/hotsplit/hotsplit/emulator/attr"
	"github.com/hotsplit/hotsplit/emulator/expr"
)

// keyMismatch is the answer to a key that is not one of the table.
func keyMismatch() error {
	return invalid("The provided key element does not match the schema")
}

const (
	hashKeyBytesMax = 2048
	sortKeyBytesMax = 1024
)

// checkKey checks the key of a read, an update or a delete.
func (t *table) checkKey(key attr.Item) error {
	if key.Len() != len(t.schema.hash)+len(t.schema.sort) {
		return keyMismatch()
	}
	return t.checkKeyValues(key)
}

// checkKeyValues checks that the key attributes have their types and sizes.
func (t *table) checkKeyValues(key attr.Item) error {
	for i, list := range [2][]keyAttr{t.schema.hash, t.schema.sort} {
		for _, a := range list {
			v := key.Get(a.name)
			if v.Kind() != a.kind {
				return keyMismatch()
			}
			if err := first(checkEmptyKey(a.name, v), checkKeySize(i == 0, v)); err != nil {
				return err
			}
		}
	}
	return nil
}

func checkEmptyKey(name string, v attr.Value) error {
	if kind := emptyKind(v); kind != "" {
		return early(invalid("One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty " + kind + " value. Key: " + name))
	}
	return nil
}

// emptyKind names what is empty about a value that no key may have.
func emptyKind(v attr.Value) string {
	switch {
	case v.Kind() == attr.KindS && v.Text() == "":
		return "string"
	case v.Kind() == attr.KindB && v.Text() == "":
		return "binary"
	}
	return ""
}

func checkKeySize(hash bool, v attr.Value) error {
	if v.Kind() == attr.KindN {
		return nil
	}
	switch n := len(v.Text()); {
	case hash && n > hashKeyBytesMax:
		return invalid("One or more parameter values were invalid: Size of hashkey has exceeded the maximum size limit of2048 bytes")
	case !hash && n > sortKeyBytesMax:
		return invalid("One or more parameter values were invalid: Aggregated size of all range keys has exceeded the size limit of 1024 bytes")
	}
	return nil
}

// checkItemKeys checks the key attributes of a whole item, for the table and for
// each of its indexes.
func (t *table) checkItemKeys(item attr.Item) error {
	for _, a := range t.schema.attrs() {
		v := item.Get(a.name)
		if v.IsZero() {
			return invalid("One or more parameter values were invalid: Missing the key " + a.name + " in the item")
		}
		if v.Kind() != a.kind {
			return invalid("One or more parameter values were invalid: Type mismatch for key " + a.name +
				" expected: " + a.kind.String() + " actual: " + v.Kind().String())
		}
	}
	return first(t.checkKeyValues(item), t.checkIndexKeys(item))
}

// checkIndexKeys checks the attributes that are keys of indexes, in the order of
// the names of the indexes.
func (t *table) checkIndexKeys(item attr.Item) error {
	for _, ix := range t.byName() {
		for i, list := range [2][]keyAttr{ix.schema.hash, ix.schema.sort} {
			for _, a := range list {
				if err := ix.checkKeyValue(a, item.Get(a.name), i == 0); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (ix *index) checkKeyValue(a keyAttr, v attr.Value, hash bool) error {
	if v.IsZero() {
		return nil
	}
	if v.Kind() != a.kind {
		return invalid("One or more parameter values were invalid: Type mismatch for Index Key " + a.name +
			" Expected: " + a.kind.String() + " Actual: " + v.Kind().String() + " IndexName: " + ix.name)
	}
	if kind := emptyKind(v); kind != "" {
		return early(invalid("One or more parameter values are not valid. A value specified for a secondary index key is not supported. " +
			"The AttributeValue for a key attribute cannot contain an empty " + kind + " value. IndexName: " + ix.name + ", IndexKey: " + a.name))
	}
	return checkKeySize(hash, v)
}

// checkUpdatedIndexKeys checks what an update made of the keys of indexes. Only
// what it wrote is looked at.
func (t *table) checkUpdatedIndexKeys(after attr.Item, update *expr.Update) error {
	if len(t.local)+len(t.global) == 0 {
		return nil
	}
	written := update.Names()
	for _, ix := range t.byName() {
		for i, list := range [2][]keyAttr{ix.schema.hash, ix.schema.sort} {
			for _, a := range list {
				if !contains(written, a.name) {
					continue
				}
				if err := ix.checkUpdatedValue(a, after.Get(a.name), i == 0); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (ix *index) checkUpdatedValue(a keyAttr, v attr.Value, hash bool) error {
	if kind := emptyKind(v); kind != "" {
		return early(invalid("One or more parameter values are not valid. The update expression attempted to update a secondary index key to a value that is not supported. " +
			"The AttributeValue for a key attribute cannot contain an empty " + kind + " value."))
	}
	return ix.checkKeyValue(a, v, hash)
}

// checkUpdatePaths refuses updates of key attributes and into key attributes.
func (t *table) checkUpdatePaths(update *expr.Update) error {
	if update == nil {
		return nil
	}
	for _, name := range update.Names() {
		if t.schema.has(name) {
			return invalid("One or more parameter values were invalid: Cannot update attribute " + name + ". This attribute is part of the key")
		}
	}
	return first(t.checkImmediate(update), t.checkNested(update.NestedNames()))
}

// checkImmediate refuses an update that spells out an empty value for an index
// key. A computed one is found when it is there.
func (t *table) checkImmediate(update *expr.Update) error {
	for _, ix := range t.byName() {
		for _, a := range ix.schema.attrs() {
			if v := update.ImmediateValue(a.name); emptyKind(v) != "" {
				return ix.checkUpdatedValue(a, v, false)
			}
		}
	}
	return nil
}

func (t *table) checkConditionPaths(c *expr.Condition) error {
	if c == nil {
		return nil
	}
	return t.checkNested(c.NestedNames())
}

func (t *table) checkProjectionPaths(p *expr.Projection) error {
	if p == nil {
		return nil
	}
	return t.checkNested(p.NestedNames())
}

// checkNested refuses paths that reach into a key attribute, which is a scalar.
func (t *table) checkNested(names []string) error {
	for _, name := range names {
		if t.schema.has(name) {
			return invalid("Key attributes must be scalars; list random access '[]' and map lookup '.' are not allowed: Key: " + name)
		}
	}
	for _, ix := range t.byName() {
		for _, name := range names {
			if ix.schema.has(name) {
				return invalid("Key attributes must be scalars; list random access '[]' and map lookup '.' are not allowed: IndexKey: " + name)
			}
		}
	}
	return nil
}
