package policy

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// pinned are the modules that a go.mod asks for, each with its version.
type pinned map[string]string

// TestOneVersion holds the modules of this repository to one version of each dependency. A
// package of another version, and all that import it, would be compiled once more. Tools are
// no part of it: nothing is built with them that is built with the library.
func TestOneVersion(t *testing.T) {
	root := filepath.Join("..", "..")
	files, err := filepath.Glob(filepath.Join(root, "internal", "neighbours", "*", "go.mod"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, of := range []string{".", "benchmarks", filepath.Join("examples", "controller")} {
		files = append(files, filepath.Join(root, of, "go.mod"))
	}
	asked := map[string]pinned{}
	for _, file := range files {
		name, err := filepath.Rel(root, file)
		require.NoError(t, err)
		asked[filepath.ToSlash(name)], err = pinnedBy(file)
		require.NoError(t, err)
		require.NotEmpty(t, asked[filepath.ToSlash(name)], name)
	}
	require.Empty(t, versionFaults(asked))
}

// TestOneVersionFails plants the fault that TestOneVersion looks for.
func TestOneVersionFails(t *testing.T) {
	require.Equal(t, []string{
		"example.com/twice: v1.1.0 in a/go.mod, v1.0.0 in b/go.mod",
		"example.com/twice: v1.1.0 in a/go.mod, v1.2.0 in c/go.mod",
	}, versionFaults(map[string]pinned{
		"a/go.mod": {"example.com/twice": "v1.1.0", "example.com/same": "v1.0.0"},
		"b/go.mod": {"example.com/twice": "v1.0.0", "example.com/same": "v1.0.0"},
		"c/go.mod": {"example.com/twice": "v1.2.0", "example.com/alone": "v1.0.0"},
	}))
}

// pinnedBy reads what a go.mod asks for.
func pinnedBy(file string) (pinned, error) {
	out, err := exec.Command("go", "mod", "edit", "-json", file).Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	var read struct {
		Require []struct{ Path, Version string }
	}
	if err := json.Unmarshal(out, &read); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	versions := pinned{}
	for _, r := range read.Require {
		versions[r.Path] = r.Version
	}
	return versions, nil
}

// versionFaults names each module that one file asks for at another version than the first
// file, by name, that asks for it.
func versionFaults(asked map[string]pinned) (faults []string) {
	first := map[string]string{}
	names := make([]string, 0, len(asked))
	for name := range asked {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		for path, version := range asked[name] {
			of, ok := first[path]
			if !ok {
				first[path] = name
			} else if was := asked[of][path]; was != version {
				faults = append(faults, fmt.Sprintf("%s: %s in %s, %s in %s", path, was, of, version, name))
			}
		}
	}
	slices.Sort(faults)
	return faults
}
