package attr

import (
	"unicode/utf16"
	"unicode/utf8"
)

// skipDepthMax bounds the nesting of JSON that is passed over unread.
const skipDepthMax = 1000

// errMalformed: the bytes are not JSON. The service says nothing more about it.
var errMalformed = &SyntaxError{}

// scanner reads JSON from src. Its position is always inside or just behind it.
type scanner struct {
	src []byte
	pos int
}

// peek is the next byte that is not white space, 0 at the end.
func (s *scanner) peek() byte {
	for s.pos < len(s.src) {
		switch c := s.src[s.pos]; c {
		case ' ', '\t', '\r', '\n':
			s.pos++
		default:
			return c
		}
	}
	return 0
}

// accept takes the next byte if it is c.
func (s *scanner) accept(c byte) bool {
	if s.peek() != c {
		return false
	}
	s.pos++
	return true
}

func (s *scanner) expect(c byte) error {
	if !s.accept(c) {
		return errMalformed
	}
	return nil
}

// more is asked behind each member of a list or map that close ends.
func (s *scanner) more(close byte) (bool, error) {
	if s.accept(',') {
		return true, nil
	}
	return false, s.expect(close)
}

// memberName reads a name and the colon behind it.
func (s *scanner) memberName(dst []byte) ([]byte, error) {
	dst, _, err := s.text(dst)
	if err != nil {
		return dst, err
	}
	return dst, s.expect(':')
}

// text appends the JSON string at the position to dst, decoded. plain says that
// it stands there as it may be sent again.
func (s *scanner) text(dst []byte) (_ []byte, plain bool, err error) {
	if err := s.expect('"'); err != nil {
		return dst, false, err
	}
	start, ascii := s.pos, true
	for s.pos < len(s.src) {
		switch c := s.src[s.pos]; {
		case c == '"':
			run := s.src[start:s.pos]
			s.pos++
			if !ascii && !utf8.Valid(run) {
				return dst, false, errMalformed
			}
			return append(dst, run...), true, nil
		case c == '\\':
			dst, err = s.escapedText(append(dst, s.src[start:s.pos]...))
			return dst, false, err
		case c < ' ':
			return dst, false, errMalformed
		case c >= utf8.RuneSelf:
			ascii = false
		}
		s.pos++
	}
	return dst, false, errMalformed
}

// escapedText goes on with a string from its first backslash.
func (s *scanner) escapedText(dst []byte) ([]byte, error) {
	start := len(dst)
	for s.pos < len(s.src) {
		c := s.src[s.pos]
		s.pos++
		switch {
		case c == '"':
			if !utf8.Valid(dst[start:]) {
				return dst, errMalformed
			}
			return dst, nil
		case c == '\\':
			var err error
			if dst, err = s.escape(dst); err != nil {
				return dst, err
			}
		case c < ' ':
			return dst, errMalformed
		default:
			dst = append(dst, c)
		}
	}
	return dst, errMalformed
}

func (s *scanner) escape(dst []byte) ([]byte, error) {
	if s.pos >= len(s.src) {
		return dst, errMalformed
	}
	c := s.src[s.pos]
	s.pos++
	switch c {
	case '"', '\\', '/':
		return append(dst, c), nil
	case 'b':
		return append(dst, '\b'), nil
	case 'f':
		return append(dst, '\f'), nil
	case 'n':
		return append(dst, '\n'), nil
	case 'r':
		return append(dst, '\r'), nil
	case 't':
		return append(dst, '\t'), nil
	case 'u':
		r, err := s.codeUnit()
		if err != nil {
			return dst, err
		}
		if utf16.IsSurrogate(r) {
			r = s.surrogate(r)
		}
		return utf8.AppendRune(dst, r), nil
	}
	return dst, errMalformed
}

// codeUnit reads four hexadecimal digits.
func (s *scanner) codeUnit() (rune, error) {
	if s.pos+4 > len(s.src) {
		return 0, errMalformed
	}
	var r rune
	for _, c := range s.src[s.pos : s.pos+4] {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, errMalformed
		}
		r = r<<4 | rune(c)
	}
	s.pos += 4
	return r, nil
}

// surrogate joins a high half with the low half behind it. Half a pair becomes
// the replacement character, and what stands behind it is left alone.
func (s *scanner) surrogate(high rune) rune {
	if s.pos+6 > len(s.src) || s.src[s.pos] != '\\' || s.src[s.pos+1] != 'u' {
		return utf8.RuneError
	}
	start := s.pos
	s.pos += 2
	low, err := s.codeUnit()
	r := utf16.DecodeRune(high, low)
	if err != nil || r == utf8.RuneError {
		s.pos = start
	}
	return r
}

// literal takes word, such as null, if it stands at the position.
func (s *scanner) literal(word string) bool {
	s.peek()
	if len(s.src)-s.pos < len(word) || string(s.src[s.pos:s.pos+len(word)]) != word {
		return false
	}
	s.pos += len(word)
	return true
}

// number takes a JSON number and says whether it has a fraction or an exponent.
func (s *scanner) number() (fractional bool, err error) {
	s.accept('-')
	digits := s.digits()
	if digits == 0 {
		return false, errMalformed
	}
	if s.pos < len(s.src) && s.src[s.pos] == '.' {
		s.pos++
		fractional = true
		if s.digits() == 0 {
			return false, errMalformed
		}
	}
	if s.pos < len(s.src) && s.src[s.pos]|0x20 == 'e' {
		s.pos++
		fractional = true
		if s.pos < len(s.src) && (s.src[s.pos] == '+' || s.src[s.pos] == '-') {
			s.pos++
		}
		if s.digits() == 0 {
			return false, errMalformed
		}
	}
	return fractional, nil
}

func (s *scanner) digits() (n int) {
	for s.pos < len(s.src) && s.src[s.pos] >= '0' && s.src[s.pos] <= '9' {
		s.pos++
		n++
	}
	return n
}

// skip passes over any JSON value.
func (s *scanner) skip(depth int) error {
	if depth > skipDepthMax {
		return errMalformed
	}
	switch c := s.peek(); {
	case c == '{' || c == '[':
		return s.skipMembers(c, depth)
	case c == '"':
		_, _, err := s.text(nil)
		return err
	case c == 't' && s.literal("true"), c == 'f' && s.literal("false"), c == 'n' && s.literal("null"):
		return nil
	case c == '-' || c >= '0' && c <= '9':
		_, err := s.number()
		return err
	}
	return errMalformed
}

func (s *scanner) skipMembers(open byte, depth int) error {
	s.pos++
	closing := open + 2 // { to } and [ to ] are two apart in ASCII
	if s.accept(closing) {
		return nil
	}
	for {
		if open == '{' {
			if _, err := s.memberName(nil); err != nil {
				return err
			}
		}
		if err := s.skip(depth + 1); err != nil {
			return err
		}
		if more, err := s.more(closing); err != nil || !more {
			return err
		}
	}
}
