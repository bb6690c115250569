package policy

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// vagueNames are names of files that do not say what is in them.
var vagueNames = []string{"base", "common", "core", "func", "helper", "misc", "more", "other", "shared", "stuff", "thing", "tool", "util", "utility", "various"}

// checkFileNames reports files that are named after no noun of the field. What the tests of a
// package share may be in helpers_test.go.
func checkFileNames(m *module) (found []finding) {
	for _, p := range m.packages {
		for _, f := range p.files {
			file, _ := m.at(f.Package)
			found = append(found, vagueName(file)...)
		}
		for _, f := range p.tests {
			if file, _ := m.at(f.Package); path.Base(file) != "helpers_test.go" {
				found = append(found, vagueName(file)...)
			}
		}
	}
	return found
}

// vagueName reports a file with such a name, in the singular or the plural.
func vagueName(file string) []finding {
	name := strings.TrimSuffix(strings.TrimSuffix(path.Base(file), ".go"), "_test")
	if !slices.Contains(vagueNames, name) && !slices.Contains(vagueNames, strings.TrimSuffix(name, "s")) {
		return nil
	}
	return []finding{{file: file, line: 1, subject: file, message: fmt.Sprintf("the name %s does not say what is in it: name the noun", path.Base(file))}}
}
