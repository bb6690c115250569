package manifest

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation"
)

// labels checks labels against what Kubernetes lets them be. An API server has let none
// pass that are otherwise, so only files that people write have them.
func (r *reader) labels(o *object, labels map[string]string, path ...any) {
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		if len(validation.IsQualifiedName(key)) > 0 {
			r.faults = append(r.faults, o.fault(path,
				"has key %q, which no label can have; use up to 63 letters, digits, '-', '_' and '.', behind a DNS name and '/' if need be", short(key)))
		}
		if value := labels[key]; len(validation.IsValidLabelValue(value)) > 0 {
			r.faults = append(r.faults, o.fault(path,
				"has value %q of %d bytes for key %q, which no label can have; use up to 63 letters, digits, '-', '_' and '.', with a letter or digit at either end",
				short(value), len(value), short(key)))
		}
	}
}

// longestShown is how much of a text is shown that is not what it should be.
const longestShown = 40

func short(text string) string {
	if len(text) <= longestShown {
		return text
	}
	return text[:longestShown] + "..."
}
