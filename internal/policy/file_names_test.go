package policy

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// vagueNames are names of files that do not say what is in them.
var vagueNames = []string{"base", "common", "core", "func", "helper", "misc", "more", "other", "shared", "stuff", "thing", "tool", "util", "utility", "various"}

// testKinds are kinds of tests. A test file is named after what it tests or makes, so its name does
// not end in one of these.
var testKinds = []string{"fuzz", "golden", "helper", "law", "oracle", "random"}

// checkFileNames reports files that are named after no noun of the field.
func checkFileNames(m *module) (found []finding) {
	for _, p := range m.packages {
		for _, f := range p.files {
			file, _ := m.at(f.Package)
			found = append(found, vagueName(file, strings.TrimSuffix(path.Base(file), ".go"), vagueNames)...)
		}
		for _, f := range p.tests {
			file, _ := m.at(f.Package)
			name := strings.TrimSuffix(path.Base(file), "_test.go")
			found = append(found, vagueName(file, name, vagueNames)...)
			found = append(found, vagueName(file, name[strings.LastIndex(name, "_")+1:], testKinds)...)
		}
	}
	return found
}

// vagueName reports a file if its name is among some names, in the singular or the plural.
func vagueName(file, name string, names []string) []finding {
	if !slices.Contains(names, name) && !slices.Contains(names, strings.TrimSuffix(name, "s")) {
		return nil
	}
	return []finding{{file: file, line: 1, subject: file, message: fmt.Sprintf("the name %s does not say what is in it: name the noun", path.Base(file))}}
}
