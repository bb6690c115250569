package scenario

import (
	"fmt"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// list splits at commas that stand outside of parentheses.
func list(text string) []string { return split(text, ',') }

// split cuts a text at a separator outside of parentheses, and leaves out what
// is empty.
func split(text string, separator byte) []string {
	var out []string
	depth, from := 0, 0
	for i := 0; i <= len(text); i++ {
		switch {
		case i < len(text) && text[i] == '(':
			depth++
		case i < len(text) && text[i] == ')':
			depth--
		case i == len(text) || text[i] == separator && depth == 0:
			if part := strings.TrimSpace(text[from:i]); part != "" {
				out = append(out, part)
			}
			from = i + 1
		}
	}
	return out
}

func parseLabels(text string) (map[string]string, error) {
	out := map[string]string{}
	for _, part := range list(text) {
		key, value, ok := strings.Cut(part, "=")
		if !ok {
			return nil, fmt.Errorf("%q is not key=value", part)
		}
		out[key] = value
	}
	return out, nil
}

func parseAmounts(text string) (corev1.ResourceList, error) {
	amounts, err := resources.Parse(text)
	return amounts.ResourceList(), err
}

// parseTaints reads key:Effect and key=value:Effect.
func parseTaints(text string) ([]corev1.Taint, error) {
	var out []corev1.Taint
	for _, part := range list(text) {
		label, effect, ok := strings.Cut(part, ":")
		if !ok {
			return nil, fmt.Errorf("%q is not key:Effect or key=value:Effect", part)
		}
		key, value, _ := strings.Cut(label, "=")
		out = append(out, corev1.Taint{Key: key, Value: value, Effect: corev1.TaintEffect(effect)})
	}
	return out, nil
}

// parseTolerations reads key, key:Effect, key=value, key=value:Effect and *.
func parseTolerations(text string) []corev1.Toleration {
	var out []corev1.Toleration
	for _, part := range list(text) {
		label, effect, _ := strings.Cut(part, ":")
		t := corev1.Toleration{Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffect(effect)}
		if key, value, ok := strings.Cut(label, "="); ok {
			t.Operator, t.Key, t.Value = corev1.TolerationOpEqual, key, value
		} else if label != "*" {
			t.Key = label
		}
		out = append(out, t)
	}
	return out
}

// clauses reads requirements one by one, without merging those on one key: an
// object may contradict itself.
func clauses(text string) ([]v1.NodeSelectorRequirementWithMinValues, error) {
	var out []v1.NodeSelectorRequirementWithMinValues
	for _, part := range list(text) {
		set, err := requirements.Parse(expand(part))
		if err != nil {
			return nil, err
		}
		out = append(out, set.NodeSelectorRequirements()...)
	}
	return out, nil
}

// plainClauses reads requirements as clauses does, in operators that pods know.
// Pods know neither Gte nor Lte.
func plainClauses(text string) ([]corev1.NodeSelectorRequirement, error) {
	reqs, err := clauses(text)
	var out []corev1.NodeSelectorRequirement
	for _, r := range reqs {
		plain := corev1.NodeSelectorRequirement{Key: r.Key, Operator: r.Operator, Values: r.Values}
		switch r.Operator {
		case v1.NodeSelectorOpGte:
			plain.Operator, plain.Values = corev1.NodeSelectorOpGt, shifted(r.Values, -1)
		case v1.NodeSelectorOpLte:
			plain.Operator, plain.Values = corev1.NodeSelectorOpLt, shifted(r.Values, +1)
		}
		out = append(out, plain)
	}
	return out, err
}

// nodeNameField is the one field that node selector terms can match.
const nodeNameField = "metadata.name"

// parseTerm reads a node selector term.
func parseTerm(text string) (corev1.NodeSelectorTerm, error) {
	var term corev1.NodeSelectorTerm
	reqs, err := plainClauses(text)
	for _, r := range reqs {
		if r.Key == nodeNameField {
			term.MatchFields = append(term.MatchFields, r)
		} else {
			term.MatchExpressions = append(term.MatchExpressions, r)
		}
	}
	return term, err
}

// shifted moves an integer, so that a bound that includes it becomes one that
// does not. The text was written by package requirements, so it is one.
func shifted(values []string, by int64) []string {
	out := make([]string, len(values))
	for i, v := range values {
		n, err := strconv.ParseInt(v, 10, 64)
		if err != nil {
			return values
		}
		out[i] = strconv.FormatInt(n+by, 10)
	}
	return out
}
