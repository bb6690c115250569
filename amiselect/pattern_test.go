package amiselect_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/amiselect"
)

func TestPattern(t *testing.T) {
	for _, tt := range []struct {
		pattern  string
		yes, not []string
		literal  bool
	}{
		{"abc", []string{"abc"}, []string{"", "ab", "abcd", "ABC"}, true},
		{"*", []string{"", "a", "a*b"}, nil, false},
		{"a*", []string{"a", "ab"}, []string{"", "ba"}, false},
		{"*c", []string{"c", "abc", "cc"}, []string{"", "cb"}, false},
		{"a*c", []string{"ac", "abc", "acc"}, []string{"a", "c", "acb"}, false},
		{"a*b*c", []string{"abc", "abbc", "axbxc"}, []string{"ac", "acb"}, false},
		{"a**c", []string{"ac", "abc"}, []string{"ab"}, false},
		{"a?c", []string{"abc", "ac", "aéc"}, []string{"abbc", "a"}, false},
		{"??", []string{"", "a", "ab", "éé"}, []string{"abc"}, false},
		{"a?", []string{"a", "ab"}, []string{"abc", "b"}, false},
		{"?*x", []string{"x", "ax", "abx"}, []string{"", "xa"}, false},
		{`\*a\?\\`, []string{`*a?\`}, []string{`xa?\`, `\*a?\`}, true},
		{`a\bc`, []string{"abc"}, []string{`a\bc`}, true},
		{`é*`, []string{"é", "éa"}, []string{"e"}, false},
		{"[ab]*", []string{"[ab]", "[ab]x"}, []string{"a", "b"}, false},
		{"al2023-ami-2023.3.20240219.0-kernel-6.1-x86_64", []string{"al2023-ami-2023.3.20240219.0-kernel-6.1-x86_64"}, []string{"al2023-ami-2023x3.20240219.0-kernel-6.1-x86_64"}, true},
	} {
		p, err := amiselect.ParsePattern(tt.pattern)
		require.NoError(t, err)
		require.Equal(t, tt.literal, p.Literal(), tt.pattern)
		require.Equal(t, tt.pattern, p.String())
		for _, text := range tt.yes {
			require.True(t, p.Match(text), "%q should match %q", tt.pattern, text)
		}
		for _, text := range tt.not {
			require.False(t, p.Match(text), "%q should not match %q", tt.pattern, text)
		}
	}
}

func TestPatternFaults(t *testing.T) {
	for text, want := range map[string]string{
		"":                       "is empty; write * to match anything",
		`a\`:                     `ends in a single backslash; write \\ for a backslash`,
		strings.Repeat("é", 257): "is 257 characters long, EC2 takes at most 256",
		"a\xff":                  "is not valid UTF-8",
	} {
		_, err := amiselect.ParsePattern(text)
		require.ErrorContains(t, err, want)
	}
}

// TestPatternIsNotExponential would not end in a lifetime if the matcher tried
// one way after the other.
func TestPatternIsNotExponential(t *testing.T) {
	p, err := amiselect.ParsePattern(strings.Repeat("?*a", 85))
	require.NoError(t, err)
	require.False(t, p.Match(strings.Repeat("b", 5000)))
	require.True(t, p.Match(strings.Repeat("a", 5000)))
}

// slowMatch says whether a pattern matches a text, directly by the definition.
func slowMatch(pattern, text string) bool {
	switch {
	case pattern == "":
		return text == ""
	case pattern[0] == '*':
		return slowMatch(pattern[1:], text) || text != "" && slowMatch(pattern, text[1:])
	case pattern[0] == '?':
		_, n := utf8.DecodeRuneInString(text)
		return slowMatch(pattern[1:], text) || text != "" && slowMatch(pattern[1:], text[n:])
	case pattern[0] == '\\':
		pattern = pattern[1:]
	}
	return text != "" && pattern[0] == text[0] && slowMatch(pattern[1:], text[1:])
}

func FuzzPattern(f *testing.F) {
	for _, seed := range [][2]string{{"a*b?c", "axxbc"}, {`\*?`, "*é"}, {"*a*a", "aa"}, {"?a", "ba"}, {"\\", ""}, {"é?", "éü"}} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, pattern, text string) {
		p, err := amiselect.ParsePattern(pattern)
		if err != nil || !utf8.ValidString(text) {
			return
		}
		got := p.Match(text)
		if strings.Count(pattern, "*")+strings.Count(pattern, "?") <= 4 && len(text) <= 40 {
			require.Equal(t, slowMatch(pattern, text), got)
		}
		if p.Literal() && got && !strings.Contains(text, "\x00") {
			require.Equal(t, strings.ReplaceAll(strings.ReplaceAll(pattern, `\\`, "\x00"), `\`, ""), strings.ReplaceAll(text, `\`, "\x00"))
		}
	})
}
