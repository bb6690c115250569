package nodefit

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

const (
	// NewNodeName is the placeholder for the name and hostname of a node that does not exist yet.
	// No pod can name it.
	NewNodeName = "(name of a new node)"

	// OtherValue represents all values of a label that no selection mentions.
	OtherValue = "(any other value)"

	// maxCombinations is the largest number of combinations of open labels that are listed for one
	// option.
	maxCombinations = 256
)

// Mentions are, by label key as written, the values that selections mention.
type Mentions map[string][]string

// Join combines mentions. The values of a key are sorted and distinct.
func Join(several ...Mentions) Mentions {
	all := Mentions{}
	for _, mentions := range several {
		for key, values := range mentions {
			all[key] = append(all[key], values...)
		}
	}
	for key, values := range all {
		slices.Sort(values)
		all[key] = slices.Compact(values)
	}
	return all
}

// Text renders the mentioned labels of a node.
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

// Labels are the labels that mentions name, with the values that may distinguish nodes.
type Labels struct {
	Keys       []string   // canonical, sorted
	mentioned  [][]string // by key: the mentioned values, canonical
	mentions   Mentions
	vocabulary *requirements.Vocabulary
}

// Labels returns the labels that m names.
func (m Mentions) Labels(vocabulary *requirements.Vocabulary) *Labels {
	byKey := map[string][]string{}
	for key, values := range m {
		canonical := vocabulary.NormalizeKey(key)
		byKey[canonical] = slices.Grow(byKey[canonical], len(values))
		for _, value := range values {
			byKey[canonical] = append(byKey[canonical], vocabulary.NormalizeValue(canonical, value))
		}
	}
	l := &Labels{Keys: slices.Sorted(maps.Keys(byKey)), mentions: m, vocabulary: vocabulary}
	for _, key := range l.Keys {
		l.mentioned = append(l.mentioned, byKey[key])
	}
	return l
}

// Outcomes returns nodes for the possible labels of a new node whose labels satisfy domain. They
// have the labels that are mentioned. A label that domain leaves open gets each of the values that
// the mentions distinguish.
func (l *Labels) Outcomes(domain requirements.Set) (nodes []*corev1.Node) {
	choices := make([][]labelValue, len(l.Keys))
	for i, key := range l.Keys {
		choices[i] = statesOf(l.vocabulary, domain, key, l.mentioned[i])
	}
	for _, pick := range combinations(choices) {
		node := &corev1.Node{}
		node.Name = NewNodeName
		node.Labels = map[string]string{}
		for key, values := range l.mentions {
			canonical := l.vocabulary.NormalizeKey(key)
			at, _ := slices.BinarySearch(l.Keys, canonical)
			if label := choices[at][pick[at]]; label.present {
				node.Labels[key] = spelling(l.vocabulary, key, canonical, label.value, values)
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

// statesOf lists the states of a label that the mentions distinguish. Of infinitely many values
// these are the mentioned ones, their integer neighbours and one that is not mentioned, without those
// that the API server does not allow as the value of a label. The list is never empty: a label
// without a possible state counts as absent, and is reported elsewhere.
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
		values = slices.DeleteFunc(slices.Compact(values), func(value string) bool {
			return value != OtherValue && len(validation.IsValidLabelValue(value)) > 0
		})
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

// combinations returns index vectors into choices: all of them or, if these are too many, those
// that differ from the first in at most one label.
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

// spelling returns the value that a node has under a key that may be an alias. A provider that
// translates values uses its own words under the alias.
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
