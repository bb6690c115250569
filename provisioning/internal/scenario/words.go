package scenario

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
)

// shortKeys returns short names for common label keys.
func shortKeys() map[string]string {
	return map[string]string{
		"arch":          corev1.LabelArchStable,
		"capacity-type": v1.CapacityTypeLabelKey,
		"hostname":      corev1.LabelHostname,
		"instance-type": corev1.LabelInstanceTypeStable,
		"nodepool":      v1.NodePoolLabelKey,
		"os":            corev1.LabelOSStable,
		"region":        corev1.LabelTopologyRegion,
		"zone":          corev1.LabelTopologyZone,
	}
}

// longKey returns the label key for a short name; other names are returned unchanged.
func longKey(name string) string {
	if key, ok := shortKeys()[name]; ok {
		return key
	}
	return name
}

// expand writes out the short keys of CLAUSES or LABELS of nodes.
func expand(text string) string {
	parts := list(text)
	for i, part := range parts {
		bare := strings.TrimLeft(part, "! ")
		key := bare
		if at := strings.IndexAny(bare, " =<>!"); at >= 0 {
			key = bare[:at]
		}
		parts[i] = part[:len(part)-len(bare)] + longKey(key) + bare[len(key):]
	}
	return strings.Join(parts, ", ")
}

// phrases splits a text at keywords: into the text before the first keyword, and the text after
// each. A keyword is a separate word outside of parentheses.
func phrases(text string, keywords ...string) (before string, behind map[string]string, err error) {
	behind = map[string]string{}
	var current []string
	keyword := ""
	flush := func() {
		if keyword == "" {
			before = strings.Join(current, " ")
		} else {
			behind[keyword] = strings.Join(current, " ")
		}
		current = nil
	}
	for _, word := range split(text, ' ') {
		if !slices.Contains(keywords, word) {
			current = append(current, word)
			continue
		}
		flush()
		if _, twice := behind[word]; twice {
			return "", nil, fmt.Errorf("%q stands there twice; leave one out", word)
		}
		keyword = word
	}
	flush()
	return before, behind, nil
}

// parseSelector reads CLAUSES into a label selector. "all" selects every pod,
// and "nothing" gives a nil selector.
func parseSelector(text string) (*metav1.LabelSelector, error) {
	selector := &metav1.LabelSelector{}
	switch strings.TrimSpace(text) {
	case "all":
		return selector, nil
	case "nothing":
		return nil, nil
	case "":
		return nil, fmt.Errorf("a selector is missing; write CLAUSES such as app = web, or all, or nothing")
	}
	reqs, err := plainClauses(text)
	if err != nil {
		return nil, err
	}
	for _, r := range reqs {
		switch r.Operator {
		case corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn, corev1.NodeSelectorOpExists, corev1.NodeSelectorOpDoesNotExist:
		default:
			return nil, fmt.Errorf("label selectors know no bounds on numbers, as on %q; use in, notin, presence or absence", r.Key)
		}
		if r.Operator == corev1.NodeSelectorOpIn && len(r.Values) == 1 {
			if selector.MatchLabels == nil {
				selector.MatchLabels = map[string]string{}
			}
			selector.MatchLabels[r.Key] = r.Values[0]
			continue
		}
		selector.MatchExpressions = append(selector.MatchExpressions, metav1.LabelSelectorRequirement{
			Key: r.Key, Operator: metav1.LabelSelectorOperator(r.Operator), Values: r.Values,
		})
	}
	return selector, nil
}

// number reads a whole number that is at least low.
func number(text string, low int64) (int32, error) {
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil || n < low {
		return 0, fmt.Errorf("%q is not a whole number from %d on", text, low)
	}
	return int32(n), nil
}

// counted splits NAME xCOUNT. Without xCOUNT, count is 1 and many is false.
func counted(text string) (name string, count int, many bool, err error) {
	name, word, many := strings.Cut(text, " x")
	if !many {
		return text, 1, false, nil
	}
	n, err := strconv.Atoi(word)
	if err != nil || n < 1 || n > 100_000 {
		return name, 1, true, fmt.Errorf("%q is not a count; write x and a number from 1 to 100000", word)
	}
	return name, n, true, nil
}

// unknownOf returns errUnknown with the list of accepted words.
func unknownOf(words ...string) error {
	return fmt.Errorf("%w; use one of %s", errUnknown, strings.Join(words, ", "))
}
