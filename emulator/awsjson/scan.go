package awsjson

import (
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// serialization is a request whose form is wrong. The message is the service's;
// for what is no JSON at all it is empty.
type serialization struct{ message string }

func (e *serialization) Error() string { return "SerializationException: " + e.message }

var errNotJSON = &serialization{}

const structNotExpected = "Start of structure or map found where not expected"

// nestingMax bounds the nesting of members that are passed over.
const nestingMax = 1000

// scanner reads JSON from src.
type scanner struct {
	src     []byte
	pos     int
	scratch []byte // holds the last string that had escapes
}

// peek is the next byte behind white space, 0 at the end.
func (s *scanner) peek() byte {
	for s.pos < len(s.src) {
		c := s.src[s.pos]
		if c != ' ' && c != '\n' && c != '\t' && c != '\r' {
			return c
		}
		s.pos++
	}
	return 0
}

func (s *scanner) accept(c byte) bool {
	if s.peek() != c {
		return false
	}
	s.pos++
	return true
}

func (s *scanner) word(w string) bool {
	s.peek()
	if len(s.src)-s.pos < len(w) || string(s.src[s.pos:s.pos+len(w)]) != w {
		return false
	}
	s.pos += len(w)
	return true
}

// null takes a null, which the service reads as an absent member.
func (s *scanner) null() bool { return s.peek() == 'n' && s.word("null") }

// end checks that nothing follows.
func (s *scanner) end() error {
	if s.peek() != 0 || s.pos < len(s.src) {
		return errNotJSON
	}
	return nil
}

// members calls member for each member of an object that is not null, with the
// scanner at its value. The name is valid until the next call to the scanner.
func (s *scanner) members(member func(name []byte) error) error {
	if !s.accept('{') {
		return errNotJSON
	}
	if s.accept('}') {
		return nil
	}
	for {
		name, err := s.bytes()
		if err != nil {
			return err
		}
		if !s.accept(':') {
			return errNotJSON
		}
		if !s.null() {
			if err := member(name); err != nil {
				return err
			}
		}
		if s.accept('}') {
			return nil
		}
		if !s.accept(',') {
			return errNotJSON
		}
	}
}

// elements calls element for each element of a list, null or not.
func (s *scanner) elements(element func(i int) error) error {
	s.pos++
	if s.accept(']') {
		return nil
	}
	for i := 0; ; i++ {
		if err := element(i); err != nil {
			return err
		}
		if s.accept(']') {
			return nil
		}
		if !s.accept(',') {
			return errNotJSON
		}
	}
}

// bytes reads a string. What it returns is valid until the next string is read.
func (s *scanner) bytes() ([]byte, error) {
	if !s.accept('"') {
		return nil, errNotJSON
	}
	start, ascii := s.pos, true
	for s.pos < len(s.src) {
		c := s.src[s.pos]
		switch {
		case c == '"':
			run := s.src[start:s.pos]
			s.pos++
			if !ascii && !utf8.Valid(run) {
				return nil, errNotJSON
			}
			return run, nil
		case c == '\\':
			return s.escaped(start)
		case c < ' ':
			return nil, errNotJSON
		case c >= utf8.RuneSelf:
			ascii = false
		}
		s.pos++
	}
	return nil, errNotJSON
}

// escaped goes on with a string that began at start, from its first backslash.
func (s *scanner) escaped(start int) ([]byte, error) {
	text := append(s.scratch[:0], s.src[start:s.pos]...)
	for s.pos < len(s.src) {
		c := s.src[s.pos]
		s.pos++
		switch {
		case c == '"':
			s.scratch = text
			if !utf8.Valid(text) {
				return nil, errNotJSON
			}
			return text, nil
		case c == '\\':
			var err error
			if text, err = s.escape(text); err != nil {
				return nil, err
			}
		case c < ' ':
			return nil, errNotJSON
		default:
			text = append(text, c)
		}
	}
	return nil, errNotJSON
}

var plainEscapes = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

func (s *scanner) escape(dst []byte) ([]byte, error) {
	if s.pos == len(s.src) {
		return dst, errNotJSON
	}
	c := s.src[s.pos]
	s.pos++
	if plain := plainEscapes[c]; plain != 0 {
		return append(dst, plain), nil
	}
	if c != 'u' {
		return dst, errNotJSON
	}
	r, ok := s.codeUnit(s.pos)
	if !ok {
		return dst, errNotJSON
	}
	s.pos += 4
	if utf16.IsSurrogate(r) {
		r = s.surrogate(r)
	}
	return utf8.AppendRune(dst, r), nil
}

// surrogate joins half a pair with the other half, if it follows.
func (s *scanner) surrogate(high rune) rune {
	if s.pos+6 > len(s.src) || s.src[s.pos] != '\\' || s.src[s.pos+1] != 'u' {
		return utf8.RuneError
	}
	low, ok := s.codeUnit(s.pos + 2)
	r := utf16.DecodeRune(high, low)
	if ok && r != utf8.RuneError {
		s.pos += 6
	}
	return r
}

func (s *scanner) codeUnit(at int) (rune, bool) {
	if at+4 > len(s.src) {
		return 0, false
	}
	n, err := strconv.ParseUint(string(s.src[at:at+4]), 16, 16)
	return rune(n), err == nil
}

// number takes a number's text, and says whether it is a whole number.
func (s *scanner) number() (text []byte, whole bool, err error) {
	start := s.pos
	whole = true
	if s.src[s.pos] == '-' {
		s.pos++
	}
	first := s.pos
	if n := s.digits(); n == 0 || n > 1 && s.src[first] == '0' {
		return nil, false, errNotJSON
	}
	if s.pos < len(s.src) && s.src[s.pos] == '.' {
		s.pos++
		whole = false
		if s.digits() == 0 {
			return nil, false, errNotJSON
		}
	}
	if s.pos < len(s.src) && s.src[s.pos]|0x20 == 'e' {
		s.pos++
		whole = false
		if s.pos < len(s.src) && (s.src[s.pos] == '+' || s.src[s.pos] == '-') {
			s.pos++
		}
		if s.digits() == 0 {
			return nil, false, errNotJSON
		}
	}
	return s.src[start:s.pos], whole, nil
}

func (s *scanner) digits() (n int) {
	for s.pos < len(s.src) && s.src[s.pos] >= '0' && s.src[s.pos] <= '9' {
		s.pos++
		n++
	}
	return n
}

// skip passes over a value of any type.
func (s *scanner) skip() error { return s.skipAt(0) }

func (s *scanner) skipAt(depth int) error {
	if depth > nestingMax {
		return errNotJSON
	}
	switch c := s.peek(); {
	case c == '{':
		return s.members(func([]byte) error { return s.skipAt(depth + 1) })
	case c == '[':
		return s.elements(func(int) error { return s.skipAt(depth + 1) })
	case c == '"':
		_, err := s.bytes()
		return err
	case c == '-' || c >= '0' && c <= '9':
		_, _, err := s.number()
		return err
	case s.word("true") || s.word("false") || s.word("null"):
		return nil
	}
	return errNotJSON
}
