package requirements

import (
	"strings"

	"github.com/dovetail-sdk/dovetail/internal/spelling"
)

// hint returns the key that a user most likely meant by key, "" if there is none. Candidates are
// the other keys of s and, with a vocabulary, the well-known ones. Letter case does not count. In
// order of likelihood:
//
//  1. the same name under another prefix ("zone" for "topology.kubernetes.io/zone"), nearest
//     first;
//  2. names that differ in a few letters, fewest first;
//  3. names of which one contains the other, nearest in length first.
//
// Of equally likely keys it is the first in byte order.
func hint(key string, s Set, v *Vocabulary) string {
	best := suggestion{class: noSuggestion}
	for i := range s.reqs {
		best = better(best, suggest(key, s.reqs[i].key))
	}
	for _, k := range v.orDefault().wellKnown {
		best = better(best, suggest(key, k))
	}
	return best.key
}

// suggestion is a candidate for a hint. Suggestions are sorted by class, distance and key, the
// likeliest first.
type suggestion struct {
	class    int
	distance int
	key      string
}

const (
	sameName = iota
	closeSpelling
	containedIn
	noSuggestion
)

func better(a, b suggestion) suggestion {
	switch {
	case a.class != b.class:
		if a.class < b.class {
			return a
		}
	case a.distance != b.distance:
		if a.distance < b.distance {
			return a
		}
	case a.key <= b.key:
		return a
	}
	return b
}

// suggest rates candidate, which is not key itself, as the key that was meant.
func suggest(key, candidate string) suggestion {
	a, b := strings.ToLower(key), strings.ToLower(candidate)
	name := nameOf(a)
	distance := spelling.Distance(a, b)
	switch {
	case name == nameOf(b):
		return suggestion{class: sameName, distance: distance, key: candidate}
	case distance <= tolerance(name):
		return suggestion{class: closeSpelling, distance: distance, key: candidate}
	case min(len(a), len(b)) >= 3 && (strings.Contains(b, a) || strings.Contains(a, b)):
		return suggestion{class: containedIn, distance: max(len(a), len(b)) - min(len(a), len(b)), key: candidate}
	}
	return suggestion{class: noSuggestion}
}

// nameOf returns the part of a key after its prefix.
func nameOf(key string) string { return key[strings.LastIndexByte(key, '/')+1:] }

// tolerance returns how many letters may differ for a name to count as misspelt. It is lower for
// short names, because a similar short name is more likely a different word.
func tolerance(name string) int {
	switch {
	case len(name) < 3:
		return 0
	case len(name) < 6:
		return 1
	}
	return 2
}
