package output

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/internal/testlong"
)

// block is a group of commands in docs/questions.md and the output shown below it.
type block struct {
	commands [][]string // words of each command, beginning with the folder of the program
	printed  []string   // lines
}

// Questions runs the commands in docs/questions.md for one program and fails the test unless their
// output contains the lines shown below them. The program is the one in the folder of the test.
// Files named in commands are relative to that folder, not to the root of the module.
func Questions(t *testing.T, run func(args []string, stdin io.Reader, stdout, stderr io.Writer) int) {
	t.Helper()
	if testlong.UnderRace {
		t.Skip("other tests of the program run the same")
	}
	folder, err := os.Getwd()
	require.NoError(t, err)
	root := filepath.Join("..", "..")
	page, err := os.ReadFile(filepath.Join(root, "docs", "questions.md"))
	require.NoError(t, err)
	program, found := "./examples/"+filepath.Base(folder), false
	for _, b := range blocks(string(page)) {
		if b.commands[0][0] != program {
			continue
		}
		found = true
		var printed bytes.Buffer
		for _, command := range b.commands {
			require.Equal(t, program, command[0], "commands that stand together are of one program")
			for i, arg := range command {
				if strings.HasSuffix(arg, ".yaml") {
					command[i], err = filepath.Rel(folder, filepath.Join(folder, root, arg))
					require.NoError(t, err)
				}
			}
			var stderr bytes.Buffer
			require.Zero(t, run(command[1:], strings.NewReader(""), &printed, &stderr), "%v: %s", command, &stderr)
		}
		for _, line := range b.printed {
			require.Contains(t, printed.String(), line, "%v", b.commands)
		}
	}
	require.True(t, found, "docs/questions.md has no command of %s", program)
}

// blocks reads the commands of a page.
func blocks(page string) (all []block) {
	lang, inside := "", false
	for line := range strings.Lines(page) {
		line = strings.TrimRight(line, "\n")
		switch {
		case strings.HasPrefix(line, "```"):
			if inside = !inside; inside {
				if lang = strings.TrimPrefix(line, "```"); lang == "sh" {
					all = append(all, block{})
				}
			}
		case !inside:
		case lang == "sh":
			last := &all[len(all)-1]
			last.commands = append(last.commands, strings.Fields(strings.TrimPrefix(line, "go run ")))
		case lang == "" && len(all) > 0:
			last := &all[len(all)-1]
			last.printed = append(last.printed, line)
		}
	}
	return all
}
