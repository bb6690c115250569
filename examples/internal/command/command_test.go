package command_test

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/examples/internal/command"
)

func TestFlags(t *testing.T) {
	const help = `A tool.

usage: tool [flags]

  -b                    be true
  -d DURATION           how long
  -f FILE               read tools from FILE, YAML or JSON, or from standard
                        input if FILE is -; may be repeated. Default: a sample
  -n value
  -o=words              say so
  -u NUMBER-ABOVE-THE-GROUND
                        a number
  -x value
  -h                    print this

That is all.
`
	tests := []struct {
		name           string
		args           []string
		code           int
		ok             bool
		stdout, stderr string
	}{
		{"good", []string{"-f", "a", "-f", "b", "-b", "-n", "3", "-x", "0.5", "-d", "2h"}, 0, true, "", ""},
		{"help", []string{"-h"}, 0, false, help, ""},
		{"no such flag", []string{"-z"}, 2, false, "", "tool: flag provided but not defined: -z\n\ntool -h lists the flags.\n"},
		{"no name", []string{"-f", ""}, 2, false, "", "tool: invalid value \"\" for flag -f: the file name is empty\n\ntool -h lists the flags.\n"},
		{"no number", []string{"-x", "cheap"}, 2, false, "", "tool: invalid value \"cheap\" for flag -x: must be a number\n\ntool -h lists the flags.\n"},
		{"no whole number", []string{"-n", "1.5"}, 2, false, "", "tool: invalid value \"1.5\" for flag -n: must be a whole number\n\ntool -h lists the flags.\n"},
		{"below zero", []string{"-u", "-1"}, 2, false, "", "tool: invalid value \"-1\" for flag -u: must be a whole number, 0 or more\n\ntool -h lists the flags.\n"},
		{"no duration", []string{"-d", "7d"}, 2, false, "", "tool: invalid value \"7d\" for flag -d: must be a duration such as 90s or 168h\n\ntool -h lists the flags.\n"},
		{"no truth", []string{"-b=perhaps"}, 2, false, "", "tool: invalid boolean value \"perhaps\" for -b: must be true or false\n\ntool -h lists the flags.\n"},
		{"every fault", []string{"-f", "a", "-f", "a", "-o", "xml", "-x", "-1", "rest"}, 2, false, "", strings.Join([]string{
			`tool: unexpected argument "rest"; files are named with -f`,
			`tool: invalid value "a" for flag -f: it is given twice`,
			`tool: invalid value "xml" for flag -o: must be table, json or yaml`,
			`tool: invalid value -1 for flag -x: must be an amount of USD per hour, or 0`, "", "tool -h lists the flags.\n"}, "\n")},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var files []string
			var stdout, stderr strings.Builder
			set := flag.NewFlagSet("tool", flag.ContinueOnError)
			command.Files(set, &files, "tools")
			output, truth := set.String("o", "table", "`=words` say so"), set.Bool("b", false, "be true")
			number, amount := set.Int("n", 0, ""), set.Float64("x", 0, "")
			set.Uint64("u", 0, "`NUMBER-ABOVE-THE-GROUND` a number")
			duration := set.Duration("d", 0, "`DURATION` how long")
			ok := false
			code := command.Run(set, tt.args, "A\ntool.\n\nThat is all.", &stdout, &stderr, func(f *command.Faults) {
				f.Twice(files)
				command.OneOf(f, "o", *output, "table", "json", "yaml")
				f.USD("x", *amount)
			}, func() error {
				ok = true
				return nil
			})
			require.Equal(t, tt.ok, ok)
			require.Equal(t, tt.code, code)
			require.Equal(t, tt.stdout, stdout.String())
			require.Equal(t, tt.stderr, stderr.String())
			if ok {
				require.Equal(t, []string{"a", "b"}, files)
				require.True(t, *truth)
				require.Equal(t, 3, *number)
				require.Equal(t, 0.5, *amount)
				require.Equal(t, 2*time.Hour, *duration)
			}
		})
	}
}

func TestColoured(t *testing.T) {
	none := func(string) string { return "" }
	require.False(t, command.Coloured(&strings.Builder{}, none))
	file, err := os.Create(filepath.Join(t.TempDir(), "out"))
	require.NoError(t, err)
	defer file.Close()
	require.False(t, command.Coloured(file, none))
	device, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	require.NoError(t, err)
	defer device.Close()
	require.True(t, command.Coloured(device, none), "a character device passes for a terminal")
	for name, value := range map[string]string{"NO_COLOR": "1", "TERM": "dumb"} {
		require.False(t, command.Coloured(device, func(n string) string {
			if n == name {
				return value
			}
			return ""
		}), name)
	}
}

func TestErrors(t *testing.T) {
	long := strings.Repeat("word ", 30)
	for err, want := range map[error]int{errors.New(long + "\nb\n"): command.Failed, command.Input(errors.New(long + "\nb")): command.BadInput} {
		var out strings.Builder
		code := command.Run(flag.NewFlagSet("tool", flag.ContinueOnError), nil, "", &out, &out, func(*command.Faults) {}, func() error { return err })
		require.Equal(t, want, code)
		require.Equal(t, "tool: "+long+"\ntool: b\n", out.String(), "one line for each fault")
	}
}

func TestSpan(t *testing.T) {
	for minutes, want := range map[int]string{0: "0s", 59: "59m", 90: "1h 30m", 47 * 60: "47h", 48*60 + 61: "2d 1h 1m"} {
		require.Equal(t, want, command.Span(time.Duration(minutes)*time.Minute))
	}
}
