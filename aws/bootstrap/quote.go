package bootstrap

import "strings"

// shellWord quotes text as one word of a POSIX shell. Within single quotes
// nothing is special but the quote itself.
func shellWord(text string) string {
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// powerShellWord quotes text as one verbatim string of PowerShell. Within single quotes nothing is
// special but the quote itself, which is doubled; PowerShell treats typographic quotes as quotes
// too.
func powerShellWord(text string) string {
	var b strings.Builder
	b.WriteByte('\'')
	for _, r := range text {
		switch r {
		case '\'', '\u2018', '\u2019', '\u201a', '\u201b':
			b.WriteRune(r)
		}
		b.WriteRune(r)
	}
	b.WriteByte('\'')
	return b.String()
}
