package awsjson

import (
	"math"
	"strconv"
	"strings"

	"github.com/hotsplit/hotsplit/emulator/attr"
)

// Values of a wanted type. A value of another JSON type is refused in the words
// of the service, which are those of its Java types.

const (
	javaPackage = "com.amazonaws.dynamodb.v20120810."
	attrMap     = "java.util.Map<java.lang.String, " + javaPackage + "AttributeValue>"
	stringMap   = "java.util.Map<java.lang.String, java.lang.String>"
)

// mistyped passes over a scalar that was not wanted and names what it was.
func (s *scanner) mistyped(wanted string) error {
	kind := "STRING_VALUE"
	switch c := s.peek(); {
	case c == '{':
		return &serialization{structNotExpected}
	case c == '[':
		return &serialization{"Unrecognized collection type class java.lang." + wanted}
	case c == '"':
		if _, err := s.bytes(); err != nil {
			return err
		}
	case c == '-' || c >= '0' && c <= '9':
		_, whole, err := s.number()
		if err != nil {
			return err
		}
		if kind = "NUMBER_VALUE"; !whole {
			kind = "DECIMAL_VALUE"
		}
	case s.word("true"):
		kind = "TRUE_VALUE"
	case s.word("false"):
		kind = "FALSE_VALUE"
	default:
		return errNotJSON
	}
	return &serialization{kind + " cannot be converted to " + wanted}
}

// refuse passes over any value and answers message, or that it is no JSON.
func (s *scanner) refuse(message string) error {
	if err := s.skip(); err != nil {
		return err
	}
	return &serialization{message}
}

func (s *scanner) string() (string, error) {
	if s.peek() != '"' {
		return "", s.mistyped("String")
	}
	b, err := s.bytes()
	return string(b), err
}

func (s *scanner) stringPtr() (*string, error) {
	text, err := s.string()
	return &text, err
}

// bool reads a truth value; the service takes a few words for one, too.
func (s *scanner) bool() (bool, error) {
	switch {
	case s.word("true"):
		return true, nil
	case s.word("false"):
		return false, nil
	case s.peek() != '"':
		return false, s.mistyped("Boolean")
	}
	b, err := s.bytes()
	if err != nil {
		return false, err
	}
	switch strings.ToUpper(string(b)) {
	case "TRUE", "1", "YES":
		return true, nil
	case "FALSE", "0", "NO":
		return false, nil
	}
	return false, &serialization{"Unexpected token received from parser"}
}

func (s *scanner) boolPtr() (*bool, error) {
	v, err := s.bool()
	return &v, err
}

func (s *scanner) int() (*int, error) {
	n, err := s.whole("Integer", math.MinInt32, math.MaxInt32)
	v := int(n)
	return &v, err
}

func (s *scanner) long() (*int64, error) {
	n, err := s.whole("Long", math.MinInt64, math.MaxInt64)
	return &n, err
}

// whole reads a number and cuts its fraction off. One out of range becomes the
// nearest bound, which the emulator's own limits then refuse.
func (s *scanner) whole(wanted string, low, high int64) (int64, error) {
	if c := s.peek(); c != '-' && (c < '0' || c > '9') {
		return 0, s.mistyped(wanted)
	}
	text, _, err := s.number()
	if err != nil {
		return 0, err
	}
	if n, err := strconv.ParseInt(string(text), 10, 64); err == nil {
		return min(max(n, low), high), nil
	}
	f, _ := strconv.ParseFloat(string(text), 64)
	switch f = math.Floor(f); {
	case f <= float64(low):
		return low, nil
	case f >= float64(high):
		return high, nil
	}
	return int64(f), nil
}

// structure reads an object that the service knows as class.
func (s *scanner) structure(class string, member func(name []byte) error) error {
	return s.object("class "+javaPackage+class, "Unexpected field type", member)
}

// element reads an object inside a list or a map; null is one without members.
func (s *scanner) element(class string, member func(name []byte) error) error {
	if s.null() {
		return nil
	}
	return s.object("class "+javaPackage+class, "Unexpected value type in payload", member)
}

func (s *scanner) object(collection, scalar string, member func(name []byte) error) error {
	switch s.peek() {
	case '{':
		return s.members(member)
	case '[':
		return &serialization{"Unrecognized collection type " + collection}
	}
	return s.refuse(scalar)
}

// list reads a list of anything.
func (s *scanner) list(element func(i int) error) error {
	switch s.peek() {
	case '[':
		return s.elements(element)
	case '{':
		return &serialization{structNotExpected}
	}
	return s.refuse("Unexpected field type")
}

// strings reads a list of strings. The answer is not nil.
func (s *scanner) strings() ([]string, error) {
	list := []string{}
	err := s.list(func(int) error {
		if s.null() {
			return nil
		}
		text, err := s.string()
		list = append(list, text)
		return err
	})
	return list, err
}

// names reads ExpressionAttributeNames. The answer is not nil.
func (s *scanner) names() (map[string]string, error) {
	names := map[string]string{}
	err := s.object(stringMap, "Unexpected field type", func(name []byte) error {
		key := string(name)
		text, err := s.string()
		names[key] = text
		return err
	})
	return names, err
}

// values reads ExpressionAttributeValues. The answer is not nil.
func (s *scanner) values() (map[string]attr.Value, error) {
	values := map[string]attr.Value{}
	err := s.object(attrMap, "Unexpected field type", func(name []byte) error {
		key := string(name)
		v, next, err := attr.DecodeValue(s.src, s.pos)
		s.pos = next
		values[key] = v
		return fromAttr(err)
	})
	return values, err
}

// item reads a map of attribute values.
func (s *scanner) item() (attr.Item, error) {
	i, next, err := attr.DecodeItem(s.src, s.pos)
	s.pos = next
	return i, fromAttr(err)
}

func fromAttr(err error) error {
	if err == nil {
		return nil
	}
	if wrong, ok := err.(*attr.SyntaxError); ok {
		return &serialization{wrong.Message}
	}
	return err
}
