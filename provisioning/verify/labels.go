package verify

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

const (
	// newNodeName is the name and host name of a node that does not exist
	// yet. No pod can know the real one, so it is one that no pod names.
	newNodeName = "(name of a new node)"

	// otherValue stands for all values of a label that nobody mentions.
	otherValue = "(any other value)"

	// maxCombinations bounds how many combinations of open labels are
	// written out for one option.
	maxCombinations = 256
)

// domain says which labels a node may come up with: for each key the pool, the
// instance type or the offering speaks of, the values that all of them and asked
// leave. A well-known label that none of them speaks of is open. Any other does
// not appear on the node, whatever is asked for.
//
// A set for each option of each node would be more than fits into memory, so
// this is for messages; labelOn and narrowed say the same of a single key.
func (r *referee) domain(pool *poolInfo, o *optionInfo, asked requirements.Set) requirements.Set {
	domain := o.labels().Intersect(pool.labels).
		Without(corev1.LabelHostname).
		With(requirements.In(corev1.LabelHostname, newNodeName))
	var invented []requirements.Requirement
	for want := range asked.All() {
		if _, named := domain.Get(want.Key()); !named && !r.vocabulary.WellKnown(want.Key()) {
			invented = append(invented, requirements.DoesNotExist(want.Key()))
		}
	}
	return domain.With(invented...).Intersect(asked.Without(corev1.LabelHostname))
}

// narrowed is what is left of a label where a node asks for it.
func (r *referee) narrowed(state labelState, asked requirements.Set, key string) labelState {
	want, listed := asked.Get(key)
	if !listed || key == corev1.LabelHostname {
		return state
	}
	if !state.named && !r.vocabulary.WellKnown(key) {
		state.Requirement = requirements.DoesNotExist(key)
	}
	state.Requirement, state.named = state.Intersect(want), true
	return state
}

// labelValue is one state of a label.
type labelValue struct {
	present bool
	value   string
}

// choices lists the states that a label may be in. Of infinitely many values it
// takes those that a selector could tell from the others: the mentioned ones,
// their integer neighbours and one that nobody mentions. It is never empty: a
// label that can be in no state is treated as absent, and reported elsewhere.
func (r *referee) choices(domain requirements.Set, key string, mentioned []string) []labelValue {
	want, defined := domain.Get(key)
	if !defined && !r.vocabulary.WellKnown(key) {
		return []labelValue{{}}
	}
	values, finite := want.Values()
	if !finite {
		values = []string{otherValue}
		for _, value := range mentioned {
			values = append(values, value)
			if n, err := strconv.ParseInt(value, 10, 64); err == nil {
				values = append(values, strconv.FormatInt(n-1, 10), strconv.FormatInt(n+1, 10))
			}
		}
		if value, ok := want.Any(); ok {
			values = append(values, value)
		}
		slices.Sort(values)
		values = slices.Compact(values)
	}
	var choices []labelValue
	for _, value := range values {
		if want.Has(value) {
			choices = append(choices, labelValue{true, value})
		}
	}
	if want.AllowsAbsent() || len(choices) == 0 {
		choices = append(choices, labelValue{})
	}
	return choices
}

// combinations returns index vectors into choices: all of them, or where those
// are too many, those that differ from the first in one label at most.
func (r *referee) combinations(choices [][]labelValue) [][]int {
	total := 1
	for _, c := range choices {
		total = min(total*len(c), maxCombinations+1)
	}
	current := make([]int, len(choices))
	picks := [][]int{slices.Clone(current)}
	if total > maxCombinations {
		for i, c := range choices {
			for j := 1; j < len(c); j++ {
				current[i] = j
				picks = append(picks, slices.Clone(current))
			}
			current[i] = 0
		}
		return picks
	}
	for range total - 1 {
		for i := range current {
			if current[i]++; current[i] < len(choices[i]) {
				break
			}
			current[i] = 0
		}
		picks = append(picks, slices.Clone(current))
	}
	return picks
}

// spelling is how a node writes a label under a key that may be an alias. A
// provider that translates values writes the alias in its own words.
func (r *referee) spelling(key, canonical, value string, mentioned []string) string {
	if key == canonical {
		return value
	}
	for _, word := range mentioned {
		if r.vocabulary.NormalizeValue(canonical, word) == value {
			return word
		}
	}
	return value
}

// mentions joins what node selections mention, those of pods included. The
// values of a key are sorted and differ.
func (r *referee) mentions(selections []*nodeSelection, pods []*podInfo) map[string][]string {
	all := map[string][]string{}
	seen := map[*nodeSelection]bool{}
	note := func(s *nodeSelection) {
		if seen[s] {
			return
		}
		seen[s] = true
		for key, values := range s.mentions {
			all[key] = append(all[key], values...)
		}
	}
	for _, s := range selections {
		note(s)
	}
	for _, p := range pods {
		note(p.selection)
	}
	for key, values := range all {
		slices.Sort(values)
		all[key] = slices.Compact(values)
	}
	return all
}

// labelText shows the labels of a node that a selection looks at.
func (s *nodeSelection) labelText(node *corev1.Node) string {
	var parts []string
	for _, key := range slices.Sorted(maps.Keys(s.mentions)) {
		if value, present := node.Labels[key]; present {
			parts = append(parts, key+"="+value)
		} else {
			parts = append(parts, "no "+key)
		}
	}
	if len(parts) == 0 {
		return "name " + node.Name
	}
	return strings.Join(parts, ", ")
}
