package renewal

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Bounds of what a saga holds. Longer input is refused, not cut.
const (
	IDBytesMax   = 128
	NameBytesMax = 200
	TextBytesMax = 2000
)

// check collects the fields at fault.
type check struct{ faults []FieldFault }

func (c *check) add(field, why string) {
	c.faults = append(c.faults, FieldFault{Field: field, Why: why})
}

func (c *check) err() error {
	if len(c.faults) == 0 {
		return nil
	}
	return &InvalidError{Faults: c.faults}
}

// id checks a value that becomes part of keys. "#" separates the parts of keys
// and "/" those of routes, so neither may stand in one.
func (c *check) id(field, value string) {
	switch {
	case value == "":
		c.add(field, "is missing")
	case strings.ContainsAny(value, "#/"):
		c.add(field, "contains # or /")
	case strings.ContainsFunc(value, unicode.IsSpace):
		c.add(field, "contains white space")
	default:
		c.text(field, value, IDBytesMax)
	}
}

func (c *check) optionalID(field, value string) {
	if value != "" {
		c.id(field, value)
	}
}

func (c *check) text(field, value string, bytesMax int) {
	switch {
	case len(value) > bytesMax:
		c.add(field, "is too long")
	case !utf8.ValidString(value):
		c.add(field, "is not UTF-8")
	case strings.ContainsFunc(value, hidden):
		c.add(field, "holds control characters")
	}
}

func hidden(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' && r != '\r' }

// CheckID says what is wrong with an id that stands under a name in a request.
func CheckID(field, value string) error {
	var c check
	c.id(field, value)
	return c.err()
}
