package bootstrap

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// maxDepth is how deep settings may be nested. Bottlerocket's are at most six deep. Without a limit
// a short text of nested tables would become huge when each gets its heading.
const maxDepth = 32

// parseSettings reads the custom user data of Bottlerocket. It is an error if something else stands
// where our settings have a table. Errors have line and column but not the parser's message, which
// quotes the text.
func parseSettings(text string) (map[string]any, error) {
	custom := map[string]any{}
	if looksLikeMIME(text) || strings.HasPrefix(strings.TrimSpace(text), "#!") {
		return nil, errors.New("is a script or a MIME archive, which Bottlerocket does not read: write settings as TOML")
	}
	if err := toml.Unmarshal([]byte(text), &custom); err != nil {
		var fault *toml.DecodeError
		if errors.As(err, &fault) {
			line, column := fault.Position()
			return nil, fmt.Errorf("line %d, column %d: is no TOML, or repeats a name: correct it", line, column)
		}
		return nil, errors.New("is no TOML: correct it")
	}
	if deeper(custom, maxDepth) {
		return nil, fmt.Errorf("has tables or arrays nested more than %d deep: Bottlerocket has no such settings", maxDepth)
	}
	var faults []error
	for _, path := range [][]string{{"settings"}, {"settings", "kubernetes"},
		{"settings", "kubernetes", "node-labels"}, {"settings", "bootstrap-commands"}} {
		last := len(path) - 1
		value, found := lookup(custom, path[:last]...)[path[last]]
		if _, table := value.(map[string]any); found && !table {
			name := strings.Join(path, ".")
			faults = append(faults, fmt.Errorf("%s is no table: write [%s]", name, name))
		}
	}
	return custom, errors.Join(faults...)
}

// deeper reports whether a value is nested more than some levels deep.
func deeper(value any, levels int) bool {
	switch value := value.(type) {
	case map[string]any:
		for _, inner := range value {
			if levels == 0 || deeper(inner, levels-1) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(value, func(inner any) bool { return levels == 0 || deeper(inner, levels-1) })
	}
	return false
}

// mergeSettings merges our settings into those of the user. Settings that only they have stay. Of
// settings that both have, ours replaces theirs as a whole; only settings, settings.kubernetes,
// settings.kubernetes.node-labels and settings.bootstrap-commands are merged entry by entry. Both
// stay unchanged.
func mergeSettings(theirs, ours map[string]any) map[string]any {
	return overlay(theirs, ours, map[string][]string{
		"":                    {"settings"},
		"settings":            {"kubernetes", "bootstrap-commands"},
		"settings.kubernetes": {"node-labels"},
	}, "")
}

// overlay merges two tables. merged lists the inner tables to merge, by the name of the outer one.
func overlay(theirs, ours map[string]any, merged map[string][]string, at string) map[string]any {
	out := make(map[string]any, len(theirs)+len(ours))
	for key, value := range theirs {
		out[key] = value
	}
	for key, value := range ours {
		left, isTable := theirs[key].(map[string]any)
		right, alsoTable := value.(map[string]any)
		if isTable && alsoTable && slices.Contains(merged[at], key) {
			out[key] = overlay(left, right, merged, strings.TrimPrefix(at+"."+key, "."))
			continue
		}
		out[key] = value
	}
	return out
}
