package expr

import "strings"

// Kinds of token.
type tokenKind uint8

const (
	tokenEnd     tokenKind = iota
	tokenWord              // attribute name, function name or keyword
	tokenName              // #placeholder
	tokenValue             // :placeholder
	tokenNumber            // list index
	tokenSymbol            // operator or punctuation
	tokenUnknown           // a character that starts no token
)

type token struct {
	kind       tokenKind
	text       string
	start, end int
}

// is reports whether t is the symbol or the keyword, in any case.
func (t token) is(text string) bool {
	switch t.kind {
	case tokenSymbol:
		return t.text == text
	case tokenWord:
		return strings.EqualFold(t.text, text)
	}
	return false
}

// tokenize cuts text into tokens and ends with tokenEnd. A character that starts
// no token becomes one of its own, for the parser to trip over at its place.
func tokenize(text string) []token {
	tokens := make([]token, 0, len(text)/4+2)
	for at := 0; ; {
		for at < len(text) && isSpace(text[at]) {
			at++
		}
		if at == len(text) {
			return append(tokens, token{kind: tokenEnd, text: "<EOF>", start: at, end: at})
		}
		t := nextToken(text, at)
		tokens = append(tokens, t)
		at = t.end
	}
}

func nextToken(text string, start int) token {
	t := token{start: start, end: start + 1}
	c := text[start]
	switch {
	case isLetter(c):
		t.kind, t.end = tokenWord, endOfWord(text, start+1)
	case isDigit(c):
		t.kind, t.end = tokenNumber, endOfDigits(text, start+1)
	case c == '#' || c == ':':
		t.kind, t.end = placeholder(c), endOfWord(text, start+1)
		if t.end == start+1 {
			t.kind = tokenUnknown
		}
	case c == '<' || c == '>':
		t.kind = tokenSymbol
		if start+1 < len(text) && (text[start+1] == '=' || c == '<' && text[start+1] == '>') {
			t.end++
		}
	case strings.IndexByte("()[],.=+-", c) >= 0:
		t.kind = tokenSymbol
	default:
		t.kind, t.end = tokenUnknown, endOfCharacter(text, start)
	}
	t.text = text[t.start:t.end]
	return t
}

func placeholder(c byte) tokenKind {
	if c == '#' {
		return tokenName
	}
	return tokenValue
}

func isSpace(c byte) bool  { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }
func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
func isDigit(c byte) bool  { return c >= '0' && c <= '9' }
func isWordPart(c byte) bool {
	return isLetter(c) || isDigit(c) || c == '_'
}

func endOfWord(text string, at int) int {
	for at < len(text) && isWordPart(text[at]) {
		at++
	}
	return at
}

func endOfDigits(text string, at int) int {
	for at < len(text) && isDigit(text[at]) {
		at++
	}
	return at
}

// endOfCharacter keeps the bytes of one UTF-8 character together.
func endOfCharacter(text string, at int) int {
	for at++; at < len(text) && text[at]&0xc0 == 0x80; at++ {
	}
	return at
}
