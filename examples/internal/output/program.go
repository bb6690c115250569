package output

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Program is a program as its function main calls it.
type Program func(args []string, stdin io.Reader, stdout, stderr io.Writer) int

// Call runs the program and returns its exit code and what it prints.
func (p Program) Call(stdin string, args ...string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	code = p(args, strings.NewReader(stdin), &out, &errs)
	return code, out.String(), errs.String()
}

// Help fails the test unless the program describes itself, beginning with the first sentence of
// about, within the width of a terminal, for each of the flags that ask for it.
func (p Program) Help(t *testing.T, about string) {
	t.Helper()
	for _, flag := range []string{"-h", "-help", "--help"} {
		code, stdout, stderr := p.Call("", flag)
		require.Equal(t, 0, code, flag)
		first, _, _ := strings.Cut(about, ".")
		require.True(t, strings.HasPrefix(strings.Join(strings.Fields(stdout), " "), first), stdout)
		require.Empty(t, stderr)
		Fits(t, stdout)
	}
}

// Refuses fails the test unless the program finds its input bad, prints nothing else, and says all
// these things. It returns what the program says.
func (p Program) Refuses(t *testing.T, stdin string, args []string, want ...string) string {
	t.Helper()
	code, stdout, stderr := p.Call(stdin, args...)
	require.Equal(t, 2, code, "%v: %s", args, stderr)
	require.Empty(t, stdout, "%v", args)
	for _, text := range want {
		require.Contains(t, stderr, text, "%v", args)
	}
	return stderr
}

// RefusesLines is Refuses for one text of each line, in order.
func (p Program) RefusesLines(t *testing.T, stdin string, args []string, want ...string) string {
	t.Helper()
	stderr := p.Refuses(t, stdin, args)
	lines := strings.Split(strings.TrimSuffix(stderr, "\n"), "\n")
	require.Len(t, lines, len(want), stderr)
	for i, text := range want {
		require.Contains(t, lines[i], text)
	}
	return stderr
}

// RefusesFlags fails the test unless the program says exactly these faults of its flags.
func (p Program) RefusesFlags(t *testing.T, name string, args []string, want ...string) {
	t.Helper()
	stderr := p.Refuses(t, "", args)
	require.Equal(t, name+": "+strings.Join(want, "\n"+name+": ")+"\n\n"+name+" -h lists the flags.\n", stderr, "%v", args)
}
