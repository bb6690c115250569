package amiselect

import (
	"fmt"
	"regexp"
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
	prefix string         // fixed text at the beginning of every match
	rest   *regexp.Regexp // what follows it; nil if the pattern is literal
}

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
	var prefix, rest strings.Builder
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '*':
			rest.WriteString(".*")
			continue
		case '?':
			rest.WriteString(".?")
			continue
		case '\\':
			i++
			if i == len(text) {
				return Pattern{}, fmt.Errorf(`pattern %q: ends in a single backslash; write \\ for a backslash`, quoted)
			}
		}
		if rest.Len() == 0 {
			prefix.WriteByte(text[i])
		} else {
			rest.WriteString(regexp.QuoteMeta(text[i : i+1]))
		}
	}
	p := Pattern{text: text, prefix: prefix.String()}
	if rest.Len() > 0 {
		p.rest = regexp.MustCompile(`(?s)\A` + rest.String() + `\z`)
	}
	return p, nil
}

// String returns the text that the pattern was read from.
func (p Pattern) String() string { return p.text }

// Literal reports whether the pattern has no wildcard, and so matches one text
// only.
func (p Pattern) Literal() bool { return p.rest == nil }

// Match reports whether the whole text matches. Its time is at most proportional to the length of
// the pattern times that of the text.
func (p Pattern) Match(text string) bool {
	rest, found := strings.CutPrefix(text, p.prefix)
	if p.rest == nil {
		return found && rest == ""
	}
	return found && p.rest.MatchString(rest)
}
