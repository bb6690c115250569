package main

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/examples/internal/output"
	"github.com/dovetail-sdk/dovetail/internal/golden"
)

// call runs the program.
// program and call run the program of this folder.
var (
	program = output.Program(run)
	call    = program.Call
)

func TestSample(t *testing.T) {
	code, stdout, stderr := call("")
	require.Equal(t, 0, code, "nothing has to be completed")
	golden.Equal(t, stdout, "golden", "sample.yaml")
	golden.Equal(t, stderr, "golden", "sample.txt")
	docs := strings.Split(stdout, "---\n")
	require.Len(t, docs, 3)
	golden.Equal(t, docs[1], "golden", "class.yaml") // for the README

	code, again, _ := call(stdout, "-f", "-", "-role", "nodes")
	require.Equal(t, 0, code)
	require.Equal(t, stdout, again, "converting twice changes nothing")
}

func TestCheck(t *testing.T) {
	code, stdout, stderr := call("", "-check", "-q")
	require.Equal(t, 1, code)
	require.Equal(t, "sample.yaml\n", stdout)
	require.NotContains(t, stderr, ": info: ")

	// What was converted and not completed is not done.
	code, stdout, _ = call("", "-f", "testdata/open.yaml")
	require.Equal(t, 1, code, "the role has to be completed")
	golden.Equal(t, stdout, "golden", "open.yaml")
	code, stdout, stderr = call("", "-check", "-f", "testdata/golden/open.yaml")
	require.Equal(t, 1, code)
	require.Empty(t, stdout, "nothing would change")
	require.Contains(t, stderr, "open.yaml:58: action: EC2NodeClass web: spec.role: replace $KARPENTER_NODE_ROLE, which a conversion has left\n")

	data, err := os.ReadFile("testdata/golden/open.yaml")
	require.NoError(t, err)
	done := strings.Replace(string(data), "$KARPENTER_NODE_ROLE", "nodes", 1)
	code, stdout, stderr = call(done, "-check", "-q", "-f", "-")
	require.Equal(t, 0, code, stderr)
	require.Empty(t, stdout)
	require.Empty(t, stderr)

	code, _, stderr = call(strings.Replace(done, "maxPods: 110", "maxPods: [110]", 1), "-check", "-f", "-")
	require.Equal(t, 1, code)
	require.Contains(t, stderr, ": action: EC2NodeClass web: spec.kubelet.maxPods: ")
}

// With -q only what is left to be done is said: -check fails by nothing else but what
// changes, which is named.
func TestQuiet(t *testing.T) {
	_, _, all := call("", "-f", "testdata/open.yaml")
	require.Contains(t, all, ": warning: ")
	_, _, stderr := call("", "-q", "-f", "testdata/open.yaml")
	require.Contains(t, stderr, ": action: ")
	require.NotContains(t, stderr, ": info: ")
	require.NotContains(t, stderr, ": warning: ")
}

// TestFilesTogether moves the kubelet settings of one file to the class of
// another.
func TestFilesTogether(t *testing.T) {
	code, stdout, stderr := call("", "-f", "testdata/pool.yaml", "-f", "testdata/class.yaml", "-role", "nodes", "-ami-version", "v20240807")
	require.Equal(t, 0, code)
	golden.Equal(t, stdout, "golden", "together.yaml")
	golden.Equal(t, stderr, "golden", "together.txt")

	_, stdout, _ = call("", "-f", "testdata/pool.yaml", "-f", "testdata/class.yaml", "-instance-profile", "nodes-profile")
	require.Contains(t, stdout, "instanceProfile: nodes-profile\n")
	require.NotContains(t, stdout, "role:")
}

func TestHelp(t *testing.T) { program.Help(t, about) }

func TestBadInput(t *testing.T) {
	for want, args := range map[string][]string{
		`migrate: unexpected argument "old.yaml"; files are named with -f`:                            {"old.yaml"},
		`migrate: flags -role and -instance-profile exclude each other`:                               {"-role", "a", "-instance-profile", "b"},
		`migrate: invalid value "al2@latest" for flag -ami-version: want a version such as v20240807`: {"-ami-version", "al2@latest"},
		`migrate: open testdata/none.yaml: no such file or directory`:                                 {"-f", "testdata/none.yaml", "-f", "testdata/pool.yaml"},
		`migrate: invalid value "" for flag -f: the file name is empty`:                               {"-f", ""},
		`migrate: -: there is nothing in it; look whether the command that wrote it failed`:           {"-f", "-"},
	} {
		program.Refuses(t, "", args, want)
	}
}

// TestUnknownIsPassedOn leaves what it cannot read, and says so.
func TestUnknownIsPassedOn(t *testing.T) {
	const text = "a: [\n---\nkind: Provisioner\napiVersion: karpenter.sh/v1alpha3\n"
	code, stdout, stderr := call(text, "-f", "-")
	require.Equal(t, 1, code)
	require.Equal(t, text, stdout)
	require.Contains(t, stderr, "-:1: error: left as it is: yaml: ")
	require.Contains(t, stderr, "-:4: error: Provisioner (no name): apiVersion: left as it is")
}
