package nodefit

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

const (
	// NewNodeName is the name and host name of a node that does not exist
	// yet. No pod can know the real one, so it is one that no pod names.
	NewNodeName = "(name of a new node)"

	// OtherValue stands for all values of a label that nobody mentions.
	OtherValue = "(any other value)"

	// maxCombinations bounds how many combinations of open labels are
	// written out for one option.
	maxCombinations = 256
)

// Mentions are values of labels that somebody asks about, by label key as written.
type Mentions map[string][]string

// Join joins what node selections mention. The values of a key are sorted and differ.
func Join(selections ...*Selection) Mentions {
	all := Mentions{}
	seen := map[*Selection]bool{}
	for _, s := range selections {
		if seen[s] {
			continue
		}
		seen[s] = true
		for key, values := range s.Mentions {
			all[key] = append(all[key], values...)
		}
	}
	for key, values := range all {
		slices.Sort(values)
		all[key] = slices.Compact(values)
	}
	return all
}

// Keys are the keys that are mentioned in canonical form, sorted.
func (m Mentions) Keys(vocabulary *requirements.Vocabulary) []string {
	var keys []string
	for key := range m {
		keys = append(keys, vocabulary.NormalizeKey(key))
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// Text shows the labels of a node that are mentioned.
func (m Mentions) Text(node *corev1.Node) string {
	var parts []string
	for _, key := range slices.Sorted(maps.Keys(m)) {
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

// Outcomes are the nodes within a domain, with the labels that are mentioned.
// Labels that are open get each of the values that the mentions can tell apart.
func Outcomes(vocabulary *requirements.Vocabulary, domain requirements.Set, mentions Mentions) []*corev1.Node {
	byKey := map[string][]string{} // mentioned values by canonical key
	for key, values := range mentions {
		canonical := vocabulary.NormalizeKey(key)
		if byKey[canonical] == nil {
			byKey[canonical] = []string{}
		}
		for _, value := range values {
			byKey[canonical] = append(byKey[canonical], vocabulary.NormalizeValue(canonical, value))
		}
	}
	keys := slices.Sorted(maps.Keys(byKey))
	choices := make([][]labelValue, len(keys))
	for i, key := range keys {
		choices[i] = statesOf(vocabulary, domain, key, byKey[key])
	}
	var nodes []*corev1.Node
	for _, pick := range combinations(choices) {
		node := &corev1.Node{}
		node.Name = NewNodeName
		node.Labels = map[string]string{}
		for key, values := range mentions {
			canonical := vocabulary.NormalizeKey(key)
			at, _ := slices.BinarySearch(keys, canonical)
			if label := choices[at][pick[at]]; label.present {
				node.Labels[key] = spelling(vocabulary, key, canonical, label.value, values)
			}
		}
		nodes = append(nodes, node)
	}
	return nodes
}

// labelValue is one state of a label.
type labelValue struct {
	present bool
	value   string
}

// statesOf lists the states that a label may be in. Of infinitely many values it
// takes those that a selector could tell from the others: the mentioned ones,
// their integer neighbours and one that nobody mentions. It is never empty: a
// label that can be in no state is treated as absent, and reported elsewhere.
func statesOf(vocabulary *requirements.Vocabulary, domain requirements.Set, key string, mentioned []string) []labelValue {
	want, defined := domain.Get(key)
	if !defined && !vocabulary.WellKnown(key) {
		return []labelValue{{}}
	}
	values, finite := want.Values()
	if !finite {
		values = []string{OtherValue}
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
func combinations(choices [][]labelValue) [][]int {
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
func spelling(vocabulary *requirements.Vocabulary, key, canonical, value string, mentioned []string) string {
	if key == canonical {
		return value
	}
	for _, word := range mentioned {
		if vocabulary.NormalizeValue(canonical, word) == value {
			return word
		}
	}
	return value
}
