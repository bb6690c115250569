package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/examples/internal/command"
)

// kubectl answers as one does in a cluster without Karpenter: a list of kinds with one that the
// cluster does not know is refused as a whole.
const kubectl = `#!/bin/sh
case "$2" in
*nodepools*|*nodeclaims*|*nodeoverlays*|*ec2nodeclasses*)
	echo "error: the server doesn't have a resource type" >&2
	exit 1 ;;
esac
printf 'apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Namespace, metadata: {name: shop}}\n'
`

// The dump that README.md shows works in a cluster without Karpenter too.
func TestDump(t *testing.T) {
	folder := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(folder, "kubectl"), []byte(kubectl), 0o700))
	root := read(t, "../../README.md")
	_, dump, found := strings.Cut(root, "For a cluster of yours write one dump, which serves both:\n\n```sh\n")
	require.True(t, found)
	dump, _, found = strings.Cut(dump, "go run ")
	require.True(t, found)
	for line := range strings.Lines(dump) {
		require.Contains(t, read(t, "README.md"), strings.TrimSpace(line), "this program's README.md has the same dump")
	}
	shell := exec.Command("sh", "-c", dump)
	shell.Dir, shell.Env = folder, append(os.Environ(), "PATH="+folder+string(os.PathListSeparator)+os.Getenv("PATH"))
	_ = shell.Run() // the exit code is that of the last kind, which may be missing
	code, stdout, stderr := call("", "-f", filepath.Join(folder, "cluster.yaml"))
	require.Equal(t, command.OK, code, stderr)
	require.Contains(t, stdout, "No pod is pending")
}
