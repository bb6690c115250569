package scenario

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// parseSpread reads KEY [skew N] [soft] [min-domains N] [select SELECTOR]
// [affinity POLICY] [taints POLICY] [match-keys KEYS]. own is the selector
// where none is named.
func parseSpread(text string, own *metav1.LabelSelector) (corev1.TopologySpreadConstraint, error) {
	c := corev1.TopologySpreadConstraint{
		MaxSkew: 1, WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: own,
	}
	key, words, err := phrases(text, "skew", "soft", "min-domains", "select", "affinity", "taints", "match-keys")
	if err != nil {
		return c, err
	}
	if key == "" || strings.Contains(key, " ") {
		return c, fmt.Errorf("%q is not one KEY; write KEY, then any of skew N, soft, min-domains N, select SELECTOR, "+
			"affinity POLICY, taints POLICY, match-keys KEYS", key)
	}
	c.TopologyKey = longKey(key)
	if n, ok := words["skew"]; ok {
		if c.MaxSkew, err = number(n, 1); err != nil {
			return c, fmt.Errorf("skew: %w", err)
		}
	}
	if n, ok := words["min-domains"]; ok {
		least, err := number(n, 1)
		if err != nil {
			return c, fmt.Errorf("min-domains: %w", err)
		}
		c.MinDomains = &least
	}
	if behind, ok := words["soft"]; ok {
		if behind != "" {
			return c, fmt.Errorf("%q stands behind soft, which takes nothing on a spread", behind)
		}
		c.WhenUnsatisfiable = corev1.ScheduleAnyway
	}
	if selector, ok := words["select"]; ok {
		if c.LabelSelector, err = parseSelector(selector); err != nil {
			return c, err
		}
	}
	if c.NodeAffinityPolicy, err = policy(words, "affinity"); err != nil {
		return c, err
	}
	c.NodeTaintsPolicy, err = policy(words, "taints")
	c.MatchLabelKeys = list(words["match-keys"])
	return c, err
}

func policy(words map[string]string, name string) (*corev1.NodeInclusionPolicy, error) {
	text, ok := words[name]
	if !ok {
		return nil, nil
	}
	var p corev1.NodeInclusionPolicy
	switch text {
	case "honor":
		p = corev1.NodeInclusionPolicyHonor
	case "ignore":
		p = corev1.NodeInclusionPolicyIgnore
	default:
		return nil, fmt.Errorf("%s: %q is not a policy; use honor or ignore", name, text)
	}
	return &p, nil
}

// parsePodTerm reads KEY [SELECTOR] [soft WEIGHT] [namespaces NAMES]
// [namespaces-with SELECTOR] [match-keys KEYS] [mismatch-keys KEYS]. The weight
// is 0 of a term that is required. own is the selector where none is named.
func parsePodTerm(text string, own *metav1.LabelSelector) (term corev1.PodAffinityTerm, weight int32, err error) {
	head, words, err := phrases(text, "soft", "namespaces", "namespaces-with", "match-keys", "mismatch-keys")
	if err != nil {
		return term, 0, err
	}
	key, selector, _ := strings.Cut(head, " ")
	if key == "" {
		return term, 0, fmt.Errorf("the KEY is missing; write KEY, then any of SELECTOR, soft WEIGHT, namespaces NAMES, " +
			"namespaces-with SELECTOR, match-keys KEYS, mismatch-keys KEYS")
	}
	term.TopologyKey, term.LabelSelector = longKey(key), own
	if strings.TrimSpace(selector) != "" {
		if term.LabelSelector, err = parseSelector(selector); err != nil {
			return term, 0, err
		}
	}
	if text, ok := words["soft"]; ok {
		if weight, err = number(text, 1); err != nil {
			return term, 0, fmt.Errorf("soft: %w", err)
		}
	}
	if text, ok := words["namespaces-with"]; ok {
		if term.NamespaceSelector, err = parseSelector(text); err != nil {
			return term, 0, fmt.Errorf("namespaces-with: %w", err)
		}
	}
	term.Namespaces = list(words["namespaces"])
	term.MatchLabelKeys = list(words["match-keys"])
	term.MismatchLabelKeys = list(words["mismatch-keys"])
	return term, weight, nil
}

// addPodAffinity puts a term where it belongs.
func addPodAffinity(spec *corev1.PodSpec, anti bool, term corev1.PodAffinityTerm, weight int32) {
	if spec.Affinity == nil {
		spec.Affinity = &corev1.Affinity{}
	}
	a := spec.Affinity
	weighted := corev1.WeightedPodAffinityTerm{Weight: weight, PodAffinityTerm: term}
	if anti {
		if a.PodAntiAffinity == nil {
			a.PodAntiAffinity = &corev1.PodAntiAffinity{}
		}
		if to := a.PodAntiAffinity; weight > 0 {
			to.PreferredDuringSchedulingIgnoredDuringExecution = append(to.PreferredDuringSchedulingIgnoredDuringExecution, weighted)
		} else {
			to.RequiredDuringSchedulingIgnoredDuringExecution = append(to.RequiredDuringSchedulingIgnoredDuringExecution, term)
		}
		return
	}
	if a.PodAffinity == nil {
		a.PodAffinity = &corev1.PodAffinity{}
	}
	if to := a.PodAffinity; weight > 0 {
		to.PreferredDuringSchedulingIgnoredDuringExecution = append(to.PreferredDuringSchedulingIgnoredDuringExecution, weighted)
	} else {
		to.RequiredDuringSchedulingIgnoredDuringExecution = append(to.RequiredDuringSchedulingIgnoredDuringExecution, term)
	}
}

// addPreference reads WEIGHT CLAUSES of preferred node affinity.
func addPreference(spec *corev1.PodSpec, text string) error {
	weight, rest, _ := strings.Cut(text, " ")
	n, err := number(weight, 1)
	if err != nil {
		return fmt.Errorf("%w; write WEIGHT CLAUSES", err)
	}
	term, err := parseTerm(rest)
	affinity := nodeAffinity(spec)
	affinity.PreferredDuringSchedulingIgnoredDuringExecution = append(affinity.PreferredDuringSchedulingIgnoredDuringExecution,
		corev1.PreferredSchedulingTerm{Weight: n, Preference: term})
	return err
}

// parsePort reads [IP:]PORT[/PROTOCOL].
func parsePort(text string) (corev1.ContainerPort, error) {
	address, protocol, named := strings.Cut(text, "/")
	port := corev1.ContainerPort{Protocol: corev1.ProtocolTCP}
	if named {
		port.Protocol = corev1.Protocol(strings.ToUpper(protocol))
	}
	if at := strings.LastIndexByte(address, ':'); at >= 0 {
		port.HostIP, address = strings.Trim(address[:at], "[]"), address[at+1:]
	}
	n, err := number(address, 1)
	if err != nil {
		return port, fmt.Errorf("%w; write [IP:]PORT[/PROTOCOL]", err)
	}
	port.HostPort, port.ContainerPort = n, n
	return port, nil
}
