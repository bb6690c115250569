package policy

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// pinned are the modules that a go.mod asks for, each with its version.
type pinned map[string]string

// TestOneVersion holds the modules of this repository to one version of each dependency. A
// package of another version, and all that import it, would be compiled once more. The
// packages of Kubernetes have one version in all modules of one minor version of Kubernetes.
// Tools are no part of it: nothing is built with them that is built with the library. Nor are
// the neighbours, of which nothing is compiled.
func TestOneVersion(t *testing.T) {
	root := filepath.Join("..", "..")
	var files []string
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
	require.Equal(t, []string{
		"example.com/twice: v1.0.0 in a/go.mod, v1.1.0 in b/go.mod",
		"k8s.io/utils: v0.2.0 in b/go.mod, v0.3.0 in c/go.mod",
	}, versionFaults(map[string]pinned{
		"a/go.mod": {"k8s.io/api": "v0.36.1", "k8s.io/utils": "v0.1.0", "example.com/twice": "v1.0.0"},
		"b/go.mod": {"k8s.io/api": "v0.37.2", "k8s.io/utils": "v0.2.0", "example.com/twice": "v1.1.0"},
		"c/go.mod": {"k8s.io/api": "v0.37.2", "k8s.io/utils": "v0.3.0"},
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

// minor finds the minor version in a version, such as v0.36. in v0.36.6.
var minor = regexp.MustCompile(`^v\d+\.\d+\.`)

// versionFaults names each module that one file asks for at another version than the first
// file, by name, that asks for it, or asks for it with the same Kubernetes.
func versionFaults(asked map[string]pinned) (faults []string) {
	type compiled struct{ path, kubernetes string }
	first := map[compiled]string{}
	names := make([]string, 0, len(asked))
	for name := range asked {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		for path, version := range asked[name] {
			key := compiled{path: path}
			if strings.HasPrefix(path, "k8s.io/") || strings.HasPrefix(path, "sigs.k8s.io/") {
				key.kubernetes = minor.FindString(asked[name]["k8s.io/api"])
			}
			of, ok := first[key]
			if !ok {
				first[key] = name
			} else if was := asked[of][path]; was != version {
				faults = append(faults, fmt.Sprintf("%s: %s in %s, %s in %s", path, was, of, version, name))
			}
		}
	}
	slices.Sort(faults)
	return faults
}
