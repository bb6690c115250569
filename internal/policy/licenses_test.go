package policy

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// licenses are those that a module may have, each with words that only its text has.
var licenses = map[string][]string{
	"Apache-2.0":         {"Apache License", "Version 2.0, January 2004"},
	"MIT":                {"Permission is hereby granted, free of charge", `THE SOFTWARE IS PROVIDED "AS IS"`},
	"MIT AND Apache-2.0": {"two different licenses: MIT and Apache"},
	"BSD-3-Clause":       {"Redistribution and use in source and binary forms", "used to endorse or promote products"},
}

// built is a module whose packages are compiled into a program of this repository.
type built struct{ Path, Dir string }

// TestLicenses holds licenses.txt against the modules that the library and its examples are
// built from: each is listed, none besides, and each bears the license that is listed.
func TestLicenses(t *testing.T) {
	m, err := thisModule()
	require.NoError(t, err)
	modules := m.built
	require.NotEmpty(t, modules)
	found, err := checkLicenses(filepath.Join("testdata", "licenses.txt"), modules)
	require.NoError(t, err)
	require.Empty(t, found)
}

// TestLicensesFail plants each fault that the list can have.
func TestLicensesFail(t *testing.T) {
	dir := t.TempDir()
	var modules []built
	for name, text := range map[string]string{
		"right": "Apache License\n   Version 2.0, January 2004", "other": "GNU GENERAL PUBLIC LICENSE",
		"without": "", "missing": "Apache License\nVersion 2.0, January 2004", "unknown": "do as you like",
	} {
		module := built{Path: "example.com/" + name, Dir: filepath.Join(dir, name)}
		require.NoError(t, os.Mkdir(module.Dir, 0o755))
		if text != "" {
			require.NoError(t, os.WriteFile(filepath.Join(module.Dir, "LICENSE.txt"), []byte(text), 0o644))
		}
		modules = append(modules, module)
	}
	list := filepath.Join(dir, "licenses.txt")
	require.NoError(t, os.WriteFile(list, []byte(strings.Join([]string{
		"example.com/right Apache-2.0", "example.com/other Apache-2.0", "example.com/without MIT",
		"example.com/unknown WTFPL", "example.com/gone MIT",
	}, "\n")), 0o644))
	found, err := checkLicenses(list, modules)
	require.NoError(t, err)
	require.Equal(t, []string{
		"example.com/gone: nothing is built from it: delete the line",
		"example.com/missing: licenses.txt does not list it",
		"example.com/other: its text is not that of Apache-2.0",
		"example.com/unknown: WTFPL is not a license that a module may have: Apache-2.0, BSD-3-Clause, MIT, MIT AND Apache-2.0",
		"example.com/without: there is no file LICENSE",
	}, found)
}

// checkLicenses compares a list with modules, and says what is wrong in order of paths.
func checkLicenses(list string, modules []built) (found []string, err error) {
	rows, err := tableRows(list, 2)
	if err != nil {
		return nil, err
	}
	listed := map[string]string{}
	for _, r := range rows {
		listed[r.fields[0]] = r.fields[1]
	}
	for _, m := range modules {
		license, ok := listed[m.Path]
		delete(listed, m.Path)
		if !ok {
			found = append(found, m.Path+": licenses.txt does not list it")
		} else if why := bears(m.Dir, license); why != "" {
			found = append(found, m.Path+": "+why)
		}
	}
	for path := range listed {
		found = append(found, path+": nothing is built from it: delete the line")
	}
	slices.Sort(found)
	return found, nil
}

// bears says why a directory does not have the text of a license, or nothing.
func bears(dir, license string) string {
	words, ok := licenses[license]
	if !ok {
		names := make([]string, 0, len(licenses))
		for name := range licenses {
			names = append(names, name)
		}
		slices.Sort(names)
		return fmt.Sprintf("%s is not a license that a module may have: %s", license, strings.Join(names, ", "))
	}
	for _, name := range []string{"LICENSE", "LICENSE.txt", "LICENSE.md"} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		for _, w := range words {
			if !strings.Contains(strings.Join(strings.Fields(string(text)), " "), w) {
				return "its text is not that of " + license
			}
		}
		return ""
	}
	return "there is no file LICENSE"
}

// builtFrom returns which modules packages are built from, tests not counted, in order of
// paths.
func builtFrom(listed []listedPackage) []built {
	seen := map[string]built{}
	for _, l := range listed {
		if l.Module != nil && !l.Module.Main {
			seen[l.Module.Path] = l.Module.built
		}
	}
	return slices.SortedFunc(maps.Values(seen), func(a, b built) int { return cmp.Compare(a.Path, b.Path) })
}
