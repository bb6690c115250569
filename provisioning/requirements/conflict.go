package requirements

import "strings"

// Conflict is one key on which two Sets have no state in common.
type Conflict struct {
	// Key is the label key.
	Key string

	// Have is the requirement of the node, the receiver of Conflicts. It is DoesNotExist if
	// Undefined is set.
	Have Requirement

	// Want is the requirement of the argument of Conflicts, such as that of a pod. If the argument
	// does not name the key, Want admits everything, and Have is Impossible.
	Want Requirement

	// Undefined says that the node does not name the key, so it will not have the label.
	Undefined bool

	// Hint is a key that may have been meant instead of an undefined one:
	// another key of the node side or a well-known one. It is empty if nothing
	// comes close.
	Hint string
}

// String renders the conflict as one line of English. Long lists of values are
// cut short, so the line is for people and not for Parse.
func (c Conflict) String() string {
	// Five values show what kind of values they are; hundreds hide the rest.
	const limit = 5
	b := make([]byte, 0, 128)
	switch {
	case c.Key == "":
		return "no conflict"
	case c.Want.Impossible():
		b = append(b, "wanted "...)
		b = appendToken(b, c.Key)
		b = append(b, " with requirements that contradict each other, so that no value will do"...)
	case c.Have.Impossible():
		b = append(b, "no value of "...)
		b = appendToken(b, c.Key)
		b = append(b, " is to be had: what is required of it here contradicts itself"...)
	case c.Undefined:
		b = append(b, "wanted "...)
		b = c.Want.appendClauses(b, limit)
		b = append(b, ", but label "...)
		b = appendToken(b, c.Key)
		b = append(b, " is not defined here"...)
	default:
		b = append(b, "wanted "...)
		b = c.Want.appendClauses(b, limit)
		b = append(b, ", but have "...)
		b = c.Have.appendClauses(b, limit)
	}
	if c.Hint != "" {
		b = append(b, "; did you mean "...)
		b = appendToken(b, c.Hint)
		b = append(b, '?')
	}
	return string(b)
}

// Compatible reports whether a node, or one of a set of possible nodes, described by s can satisfy
// t, such as the requirements of a pod. For each key:
//
//   - named by both: they must have a state in common (Overlaps);
//   - named by t only: if the key is well-known in v, the value is still open,
//     because it is chosen when the node is launched; then t must only not be Impossible. Otherwise
//     the node will not have the label, and t must admit its absence;
//   - named by s only: s must not be Impossible.
//
// A nil v means DefaultVocabulary. For an existing node pass EmptyVocabulary: it has only the labels
// of s.
//
// Compatible does not allocate.
func (s Set) Compatible(t Set, v *Vocabulary) bool {
	w := walk{have: s.reqs, want: t.reqs, vocabulary: v}
	_, found := w.next()
	return !found
}

// Conflicts lists every key that keeps t from being Compatible with s, sorted
// by key. It follows the rules of Compatible, and is nil exactly if that is
// true.
func (s Set) Conflicts(t Set, v *Vocabulary) []Conflict {
	w := walk{have: s.reqs, want: t.reqs, vocabulary: v}
	var out []Conflict
	for {
		c, found := w.next()
		if !found {
			return out
		}
		if c.Undefined && !c.Want.Impossible() {
			c.Hint = hint(c.Key, s, v)
		}
		out = append(out, c)
	}
}

// walk goes through two Sets side by side. It is the one place where the rules
// of Compatible are evaluated, for the verdict and for the reasons.
type walk struct {
	have, want []Requirement // what is left of either side
	vocabulary *Vocabulary
}

// next returns the next conflict in the order of keys, without its hint.
func (w *walk) next() (Conflict, bool) {
	for len(w.have) > 0 || len(w.want) > 0 {
		side := 0
		switch {
		case len(w.want) == 0:
			side = -1
		case len(w.have) == 0:
			side = 1
		default:
			side = strings.Compare(w.have[0].key, w.want[0].key)
		}
		switch side {
		case -1:
			have := &w.have[0]
			w.have = w.have[1:]
			if have.Impossible() {
				return Conflict{Key: have.key, Have: *have, Want: NotIn(have.key)}, true
			}
		case 1:
			want := &w.want[0]
			w.want = w.want[1:]
			open := w.vocabulary.WellKnown(want.key)
			if open && want.Impossible() {
				return Conflict{Key: want.key, Have: NotIn(want.key), Want: *want}, true
			}
			if !open && !want.AllowsAbsent() {
				return Conflict{Key: want.key, Have: DoesNotExist(want.key), Want: *want, Undefined: true}, true
			}
		default:
			have, want := &w.have[0], &w.want[0]
			w.have, w.want = w.have[1:], w.want[1:]
			if !have.Overlaps(*want) {
				return Conflict{Key: have.key, Have: *have, Want: *want}, true
			}
		}
	}
	return Conflict{}, false
}
