package requirements

import (
	"strconv"
	"unicode/utf8"
)

// token is one lexical element of the text form.
type token struct {
	kind   tokenKind
	value  string // a word as it stands, a quoted string without its quotes, or a symbol
	offset int    // in bytes from the start of the text
}

type tokenKind uint8

const (
	endToken    tokenKind = iota
	wordToken             // a run of bare bytes: key, value, keyword or integer
	quotedToken           // a quoted key or value, never a keyword
	symbolToken           // punctuation
	brokenToken           // a quoted string that does not end or cannot be read
)

// is reports whether the token is the keyword or symbol given.
func (t token) is(text string) bool {
	return (t.kind == wordToken || t.kind == symbolToken) && t.value == text
}

// next reads one token into p.token and moves p.at behind it.
func (p *parser) next() {
	for p.at < len(p.text) && isSpace(p.text[p.at]) {
		p.at++
	}
	p.token = token{offset: p.at}
	rest := p.text[p.at:]
	if rest == "" {
		return
	}
	size := 0
	switch c := rest[0]; {
	case isBare(c):
		for size < len(rest) && isBare(rest[size]) {
			size++
		}
		p.token.kind, p.token.value = wordToken, rest[:size]
	case c == '"':
		size = p.quoted(rest)
	default:
		size = symbolSize(rest)
		p.token.kind, p.token.value = symbolToken, rest[:size]
	}
	p.at += size
}

// quoted reads a string in double quotes with the escapes of Go, and returns
// how many bytes it took.
func (p *parser) quoted(rest string) int {
	prefix, _ := strconv.QuotedPrefix(rest) // empty if it fails, which Unquote refuses
	value, err := strconv.Unquote(prefix)
	if err != nil {
		p.token.kind = brokenToken
		return len(rest)
	}
	p.token.kind, p.token.value = quotedToken, value
	return len(prefix)
}

// symbolSize returns the length of the punctuation at the start of the text: two bytes for the
// comparisons that end in "=", otherwise one character, known or not.
func symbolSize(rest string) int {
	if len(rest) > 1 && rest[1] == '=' {
		switch rest[0] {
		case '=', '!', '<', '>':
			return 2
		}
	}
	_, size := utf8.DecodeRuneInString(rest)
	return size
}

func isSpace(c byte) bool {
	return c == ' ' || c == '\t' || c == '\n' || c == '\r'
}
