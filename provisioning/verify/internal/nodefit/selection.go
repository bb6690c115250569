package nodefit

import (
	"encoding/json"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
)

// Selection is the node selection of the pods of one workload.
type Selection struct {
	Number   int // unique among the selections of its parser
	affinity nodeaffinity.RequiredNodeAffinity
	// Mentions are the values that the selection names. A key that is only tested for existence has
	// none.
	Mentions Mentions
}

// Parser reads node selections, each once for all pods that share it. The zero value is ready to
// use.
type Parser struct {
	known  map[string]*Selection // by signature
	parsed int
}

// Of returns the node selection of a pod.
func (p *Parser) Of(pod *corev1.Pod) *Selection {
	terms := requiredTerms(pod)
	var signature []byte // empty for most pods, which have no selection
	if len(pod.Spec.NodeSelector) > 0 || terms != nil {
		signature, _ = json.Marshal(struct { // strings can always be marshalled
			Selector map[string]string
			Terms    []corev1.NodeSelectorTerm
			Required bool
		}{pod.Spec.NodeSelector, terms, terms != nil})
	}
	if known := p.known[string(signature)]; known != nil {
		return known
	}
	p.parsed++
	s := &Selection{
		Number:   p.parsed,
		affinity: nodeaffinity.GetRequiredNodeAffinity(pod),
		Mentions: Mentions{},
	}
	for key, value := range pod.Spec.NodeSelector {
		s.Mentions[key] = append(s.Mentions[key], value)
	}
	for _, term := range terms {
		for _, expression := range term.MatchExpressions {
			s.Mentions[expression.Key] = append(s.Mentions[expression.Key], expression.Values...)
		}
	}
	if p.known == nil {
		p.known = map[string]*Selection{}
	}
	p.known[string(signature)] = s
	return s
}

// requiredTerms returns the ORed terms of the required node affinity: nil if there is no affinity,
// and empty but not nil if it has no terms, which no node satisfies.
func requiredTerms(pod *corev1.Pod) []corev1.NodeSelectorTerm {
	affinity := pod.Spec.Affinity
	if affinity == nil || affinity.NodeAffinity == nil {
		return nil
	}
	required := affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	if required == nil {
		return nil
	}
	if required.NodeSelectorTerms == nil {
		return []corev1.NodeSelectorTerm{}
	}
	return required.NodeSelectorTerms
}

// Accepts says whether the selection admits a node.
func (s *Selection) Accepts(node *corev1.Node) bool {
	ok, err := s.affinity.Match(node)
	return ok && err == nil
}

// OfNodes returns the selection of a pod that requires only these nodes.
func (p *Parser) OfNodes(required *corev1.NodeSelector) *Selection {
	stand := &corev1.Pod{}
	stand.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: required}}
	return p.Of(stand)
}

// Unwritable says whether a pod requires something that the API server does not allow: a label
// value that is no valid value, although an open label of a pool seems to admit it, or an unknown
// node field.
func Unwritable(pod *corev1.Pod) bool {
	for _, value := range pod.Spec.NodeSelector {
		if len(validation.IsValidLabelValue(value)) > 0 {
			return true
		}
	}
	a := pod.Spec.Affinity
	if a == nil || a.NodeAffinity == nil || a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return false
	}
	required := a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	if _, err := nodeaffinity.NewNodeSelector(required); err != nil {
		return true
	}
	for _, term := range required.NodeSelectorTerms {
		if slices.ContainsFunc(term.MatchFields, func(f corev1.NodeSelectorRequirement) bool { return f.Key != metav1.ObjectNameField }) {
			return true
		}
		for _, e := range term.MatchExpressions {
			invalid := func(value string) bool { return len(validation.IsValidLabelValue(value)) > 0 }
			below := e.Operator == corev1.NodeSelectorOpLt && len(e.Values) == 1 && (e.Values[0] == "0" || strings.HasPrefix(e.Values[0], "-"))
			if below || slices.ContainsFunc(e.Values, invalid) {
				return true
			}
		}
	}
	return false
}
