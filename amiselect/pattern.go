package amiselect

import (
	"fmt"
	"math/bits"
	"strings"
	"unicode/utf8"
)

// Pattern matches names and tag values as a filter of EC2 does:
//
//	?     one character, or none
//	*     any number of characters
//	\x    the character x itself, such as \* or \\
//
// Every other character stands for itself, and case matters. The whole text must
// match. A Pattern is immutable; the zero Pattern matches the empty text only.
//
// In older descriptions of EC2 a ? stands for exactly one character. The wider meaning is used
// here, so that no image is lost that has passed EC2's own filter.
type Pattern struct {
	text   string
	prefix string  // fixed text at the beginning of every match
	rest   []token // what follows it; nil if the pattern is literal
	suffix string  // what every match ends with, if rest is a single star
	simple bool    // rest is a single star and then suffix
}

// token is a step of a pattern: any characters, one optional character, or the
// given byte.
type token struct {
	kind tokenKind
	char byte
}

type tokenKind uint8

const (
	tokenByte tokenKind = iota
	tokenStar
	tokenOptional
)

// ParsePattern reads a pattern. An error names the remedy: a pattern has at
// most 256 characters, must not be empty, must not end in a single backslash, and
// must be valid UTF-8.
func ParsePattern(text string) (Pattern, error) {
	quoted := shorten(text)
	switch {
	case text == "":
		return Pattern{}, fmt.Errorf("pattern %q: is empty; write * to match anything", quoted)
	case utf8.RuneCountInString(text) > maxFilterValue:
		return Pattern{}, fmt.Errorf("pattern %q: is %d characters long, EC2 takes at most %d", quoted, utf8.RuneCountInString(text), maxFilterValue)
	case strings.ToValidUTF8(text, "") != text:
		return Pattern{}, fmt.Errorf("pattern %q: is not valid UTF-8; write it anew", quoted)
	}
	var tokens []token
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case '*':
			// Several stars mean the same as one.
			if n := len(tokens); n == 0 || tokens[n-1].kind != tokenStar {
				tokens = append(tokens, token{kind: tokenStar})
			}
		case '?':
			tokens = append(tokens, token{kind: tokenOptional})
		case '\\':
			i++
			if i == len(text) {
				return Pattern{}, fmt.Errorf(`pattern %q: ends in a single backslash; write \\ for a backslash`, quoted)
			}
			tokens = append(tokens, token{kind: tokenByte, char: text[i]})
		default:
			tokens = append(tokens, token{kind: tokenByte, char: c})
		}
	}
	return newPattern(text, tokens), nil
}

// newPattern splits off the literal ends, which decide most comparisons.
func newPattern(text string, tokens []token) Pattern {
	literal := func(tokens []token) (string, bool) {
		var b strings.Builder
		for _, t := range tokens {
			if t.kind != tokenByte {
				return b.String(), false
			}
			b.WriteByte(t.char)
		}
		return b.String(), true
	}
	p := Pattern{text: text}
	var whole bool
	if p.prefix, whole = literal(tokens); whole {
		return p
	}
	p.rest = tokens[len(p.prefix):]
	if p.rest[0].kind == tokenStar {
		p.suffix, p.simple = literal(p.rest[1:])
	}
	return p
}

// String returns the text that the pattern was read from.
func (p Pattern) String() string { return p.text }

// Literal reports whether the pattern has no wildcard, and so matches one text
// only.
func (p Pattern) Literal() bool { return p.rest == nil }

// Match reports whether the whole text matches. Its time is at most proportional to the length of
// the pattern times that of the text, and it does not allocate.
func (p Pattern) Match(text string) bool {
	if !strings.HasPrefix(text, p.prefix) {
		return false
	}
	text = text[len(p.prefix):]
	switch {
	case p.rest == nil:
		return text == ""
	case p.simple:
		return strings.HasSuffix(text, p.suffix)
	}
	return matchTokens(p.rest, text)
}

// matchTokens follows all paths through the tokens at once: bit i of at is set if the first i
// tokens can match the text read so far. Backtracking would take exponential time for patterns like
// a?a?a?aaa.
func matchTokens(tokens []token, text string) bool {
	var at [maxFilterValue/64 + 1]uint64
	at[0] = 1
	skip(tokens, &at)
	for i := 0; i < len(text); {
		c := text[i]
		// A ? is one character, which may be several bytes.
		n := 1
		for i+n < len(text) && text[i+n]&0xC0 == 0x80 {
			n++
		}
		if n == 1 {
			step(tokens, &at, c, true)
		} else {
			stepRune(tokens, &at, text[i:i+n])
		}
		i += n
	}
	n := len(tokens)
	return at[n/64]&(1<<(n%64)) != 0
}

// step moves every path in at past the byte c of the text. optional says whether a ? may match c:
// only if c is a whole character.
func step(tokens []token, at *[maxFilterValue/64 + 1]uint64, c byte, optional bool) {
	var next [len(at)]uint64
	for w, word := range at {
		for ; word != 0; word &= word - 1 {
			i := w*64 + bits.TrailingZeros64(word)
			if i == len(tokens) {
				break
			}
			switch t := tokens[i]; {
			case t.kind == tokenStar:
				next[w] |= 1 << (i % 64)
			case t.kind == tokenByte && t.char == c, t.kind == tokenOptional && optional:
				next[(i+1)/64] |= 1 << ((i + 1) % 64)
			}
		}
	}
	*at = next
	skip(tokens, at)
}

// stepRune moves every path in at past one character of several bytes. A path at a ? takes the whole
// character; all other paths take the bytes one by one.
func stepRune(tokens []token, at *[maxFilterValue/64 + 1]uint64, char string) {
	var whole [len(at)]uint64
	for i, t := range tokens {
		if t.kind == tokenOptional && at[i/64]&(1<<(i%64)) != 0 {
			whole[(i+1)/64] |= 1 << ((i + 1) % 64)
		}
	}
	for i := range len(char) {
		step(tokens, at, char[i], false)
	}
	for i := range at {
		at[i] |= whole[i]
	}
	skip(tokens, at)
}

// skip passes tokens that may match the empty text. Bits are set only upwards, so that one pass is
// enough.
func skip(tokens []token, at *[maxFilterValue/64 + 1]uint64) {
	for w := range at {
		for rest := at[w]; rest != 0; {
			i := w*64 + bits.TrailingZeros64(rest)
			rest &= rest - 1
			if i >= len(tokens) || tokens[i].kind == tokenByte {
				continue
			}
			next := (i + 1) % 64
			at[(i+1)/64] |= 1 << next
			if next != 0 {
				rest |= 1 << next
			}
		}
	}
}
