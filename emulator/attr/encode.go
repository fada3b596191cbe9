package attr

import (
	"encoding/base64"
	"unicode/utf8"
)

// AppendJSON appends the wire JSON of an item: each name with its tagged value.
func AppendJSON(dst []byte, i Item) []byte {
	dst = append(dst, '{')
	n, rest := i.fields()
	for k := range n {
		if k > 0 {
			dst = append(dst, ',')
		}
		var f field
		f, rest = cutField(rest)
		dst = AppendStringJSON(dst, f.name)
		dst = append(dst, ':')
		dst = AppendValueJSON(dst, f.value)
	}
	return append(dst, '}')
}

// AppendValueJSON appends the wire JSON of a value, such as {"S":"text"}.
func AppendValueJSON(dst []byte, v Value) []byte {
	switch v.Kind() {
	case KindNone:
		return append(dst, "{}"...)
	case KindS:
		dst = append(dst, `{"S":`...)
	case KindN:
		dst = append(dst, `{"N":`...)
	case KindB:
		dst = append(dst, `{"B":`...)
	case KindBOOL:
		dst = append(dst, `{"BOOL":`...)
	case KindNULL:
		return append(dst, `{"NULL":true}`...)
	case KindM:
		dst = append(dst, `{"M":`...)
		dst = AppendJSON(dst, v.Map())
		return append(dst, '}')
	default:
		dst = append(append(append(dst, `{"`...), v.Kind().String()...), `":`...)
		dst = appendElements(dst, v)
		return append(dst, '}')
	}
	return append(appendScalar(dst, v), '}')
}

func appendElements(dst []byte, v Value) []byte {
	dst = append(dst, '[')
	first := true
	for e := range v.All() {
		if !first {
			dst = append(dst, ',')
		}
		first = false
		if v.Kind() == KindL {
			dst = AppendValueJSON(dst, e)
		} else {
			dst = appendScalar(dst, e)
		}
	}
	return append(dst, ']')
}

// appendScalar appends the JSON scalar inside a tagged value.
func appendScalar(dst []byte, v Value) []byte {
	payload := v.raw[1:]
	switch {
	case v.Kind() == KindBOOL && v.Bool():
		return append(dst, "true"...)
	case v.Kind() == KindBOOL:
		return append(dst, "false"...)
	case v.Kind() == KindS && v.raw[0]&flag == 0:
		return AppendStringJSON(dst, payload)
	case v.Kind() == KindB:
		dst = append(dst, '"')
		dst = base64.StdEncoding.AppendEncode(dst, []byte(payload))
		return append(dst, '"')
	}
	return append(append(append(dst, '"'), payload...), '"')
}

// plainJSON reports whether s between quotes is valid JSON as it is.
func plainJSON(s string) bool {
	ascii := true
	for i := range len(s) {
		c := s[i]
		if c < ' ' || c == '"' || c == '\\' {
			return false
		}
		ascii = ascii && c < utf8.RuneSelf
	}
	return ascii || utf8.ValidString(s)
}

// AppendStringJSON appends s as a JSON string.
func AppendStringJSON(dst []byte, s string) []byte {
	dst = append(dst, '"')
	if plainJSON(s) {
		return append(append(dst, s...), '"')
	}
	const hex = "0123456789abcdef"
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			dst = append(dst, '\\', byte(r))
		case r == '\n':
			dst = append(dst, '\\', 'n')
		case r == '\r':
			dst = append(dst, '\\', 'r')
		case r == '\t':
			dst = append(dst, '\\', 't')
		case r < ' ':
			dst = append(dst, '\\', 'u', '0', '0', hex[r>>4], hex[r&0xf])
		default:
			dst = utf8.AppendRune(dst, r)
		}
	}
	return append(dst, '"')
}
