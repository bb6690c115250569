package bootstrap

import (
	"bytes"
	"os/exec"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// hostile are texts that try to leave their quotes.
var hostile = []string{"", "'", "''", "'\\''", `\`, `\'`, `"`, "$(reboot)", "`reboot`", "a b", "a\nb", "; rm -rf /", "&&", "#", "~",
	"*", "-x", "\u2018", "\u2019x", "\u201a\u201b", "'\u2019'", "$env:x", "</powershell>", "\x01", "é", "%PATH%", "!"}

// unquoteShell reads what shellWord writes, as POSIX says of quotes.
func unquoteShell(t *testing.T, word string) string {
	t.Helper()
	var out strings.Builder
	for word != "" {
		switch {
		case word[0] == '\'':
			end := strings.IndexByte(word[1:], '\'')
			require.GreaterOrEqual(t, end, 0, "open quote")
			out.WriteString(word[1 : 1+end])
			word = word[end+2:]
		case strings.HasPrefix(word, `\'`):
			out.WriteByte('\'')
			word = word[2:]
		default:
			t.Fatalf("%q is outside quotes", word)
		}
	}
	return out.String()
}

// unquotePowerShell reads what powerShellWord writes: a quote of any shape ends
// the string, unless another one follows.
func unquotePowerShell(t *testing.T, word string) string {
	t.Helper()
	runes := []rune(word)
	quote := func(r rune) bool { return strings.ContainsRune("'\u2018\u2019\u201a\u201b", r) }
	require.GreaterOrEqual(t, len(runes), 2)
	require.Equal(t, '\'', runes[0])
	var out strings.Builder
	for i := 1; i < len(runes); i++ {
		if !quote(runes[i]) {
			out.WriteRune(runes[i])
			continue
		}
		if i == len(runes)-1 {
			return out.String()
		}
		require.True(t, quote(runes[i+1]), "the string ends before %q", string(runes[i+1:]))
		out.WriteRune(runes[i])
		i++
	}
	t.Fatal("open quote")
	return ""
}

func FuzzShellWord(f *testing.F) {
	for _, text := range hostile {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		require.Equal(t, text, unquoteShell(t, shellWord(text)))
	})
}

func FuzzPowerShellWord(f *testing.F) {
	for _, text := range hostile {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if utf8.ValidString(text) {
			require.Equal(t, text, unquotePowerShell(t, powerShellWord(text)))
		}
	})
}

// TestShellAgrees asks a real shell.
func TestShellAgrees(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no shell to ask")
	}
	script := "printf '%s\\0'"
	for _, text := range hostile {
		script += " " + shellWord(text)
	}
	var out bytes.Buffer
	c := exec.Command(sh, "-c", script)
	c.Stdout = &out
	require.NoError(t, c.Run())
	require.Equal(t, strings.Join(hostile, "\x00")+"\x00", out.String())
}
