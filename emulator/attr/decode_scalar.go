package attr

import (
	"bytes"
	"encoding/base64"
	"strconv"
	"strings"
)

// scalar reads the JSON string of an S, N or B and writes the raw value.
func (d *decoder) scalar(kind Kind) (size int, err error) {
	if d.literal("null") {
		d.invalid(nullInSet[kind])
		return 0, nil
	}
	if d.peek() != '"' {
		return 0, d.noString(kind)
	}
	at := len(d.out)
	d.out = append(d.out, byte(kind))
	out, plain, err := d.text(d.out)
	d.out = out
	if err != nil {
		return 0, err
	}
	payload := d.out[at+1:]
	switch kind {
	case KindN:
		return d.number(at, string(payload))
	case KindB:
		n, err := decodeBase64(payload)
		d.out = d.out[:at+1+n]
		return n, err
	}
	if plain || plainJSON(string(payload)) {
		d.out[at] |= flag
	}
	return len(payload), nil
}

// nullInSet is keyed by the kind of the elements; a null outside of a set is no
// member at all and never gets here.
var nullInSet = map[Kind]string{
	KindS: parametersInvalid + "An string set may not have a null string as a member",
	KindN: parametersInvalid + "An number set may not have a null string as a member",
	KindB: parametersInvalid + "Binary sets may not contain null values",
}

func (d *decoder) number(at int, text string) (size int, err error) {
	if isCanonicalInteger(text) {
		return numberSize(text), nil
	}
	out, fault := appendNumber(d.out[:at+1], text)
	d.out = out
	if fault != nil {
		d.refuse(fault)
		return 0, nil
	}
	return numberSize(string(d.out[at+1:])), nil
}

// decodeBase64 decodes in place and returns the length.
func decodeBase64(text []byte) (int, error) {
	if len(text)%4 != 0 {
		return 0, &SyntaxError{"Base64 encoded length is expected a multiple of 4 bytes but found: " + strconv.Itoa(len(text))}
	}
	// The decoder of the standard library passes over line breaks.
	broken := bytes.ContainsAny(text, "\r\n")
	n, err := base64.StdEncoding.Strict().Decode(text, text)
	if err != nil || broken {
		return 0, &SyntaxError{"Invalid last non-pad Base64 character dectected"}
	}
	return n, nil
}

// noString is the answer to anything but a string where one must stand.
func (d *decoder) noString(kind Kind) error {
	class, scalar := "class java.lang.String", ""
	if kind == KindB {
		class, scalar = "class java.nio.ByteBuffer", "only base-64-encoded strings are convertible to bytes"
	}
	if scalar == "" {
		scalar = d.tokenName() + " cannot be converted to String"
	}
	return d.misplaced(class, scalar)
}

// tokenName is what the service calls the scalar at the position.
func (d *decoder) tokenName() string {
	switch d.peek() {
	case 't':
		return "TRUE_VALUE"
	case 'f':
		return "FALSE_VALUE"
	}
	ahead := d.scanner
	if fractional, err := ahead.number(); err == nil && fractional {
		return "DECIMAL_VALUE"
	}
	return "NUMBER_VALUE"
}

// misplaced is the answer to a JSON value of a type that does not belong here:
// a list where class was due, a map, or a scalar.
func (d *decoder) misplaced(class, scalar string) error {
	open := d.peek()
	if err := d.skip(0); err != nil {
		return err
	}
	switch open {
	case '[':
		return &SyntaxError{"Unrecognized collection type " + class}
	case '{':
		return &SyntaxError{"Start of structure or map found where not expected"}
	}
	return &SyntaxError{scalar}
}

// truth reads the payload of BOOL or NULL. The service takes words for it, too.
func (d *decoder) truth(kind Kind) error {
	value, err := d.boolean()
	if err != nil {
		return err
	}
	tag := byte(kind)
	switch {
	case kind == KindNULL && !value:
		d.invalid(messageNullFalse)
	case kind == KindBOOL && value:
		tag |= flag
	}
	d.out = append(d.out, tag)
	return nil
}

func (d *decoder) boolean() (bool, error) {
	switch c := d.peek(); {
	case c == 't' && d.literal("true"):
		return true, nil
	case c == 'f' && d.literal("false"):
		return false, nil
	case c != '"':
		return false, d.misplaced("class java.lang.Boolean", d.tokenName()+" cannot be converted to Boolean")
	}
	word, _, err := d.text(nil)
	if err != nil {
		return false, err
	}
	switch strings.ToUpper(string(word)) {
	case "TRUE", "1", "YES":
		return true, nil
	case "FALSE", "0", "NO":
		return false, nil
	}
	return false, &SyntaxError{"Unexpected token received from parser"}
}

// spellElement spells an element of a set as the service does in its messages.
func spellElement(set Kind, e Value) string {
	if set == KindBS {
		return base64.StdEncoding.EncodeToString([]byte(e.Text()))
	}
	return e.Text()
}
