package volume

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// affinity says which nodes can reach a volume, or have one made for them: those whose labels
// satisfy one of several Sets. It is kept in two forms. launch has normalised keys and values, by
// which new nodes are described. exact has them unchanged, as kube-scheduler compares them with the
// labels of an existing node. Both leave out Sets that are Impossible.
type affinity struct {
	launch []requirements.Set
	exact  []requirements.Set
	err    error // why terms were left out
}

// volumeAffinity reads the node affinity of a volume. kube-scheduler compares it with labels only,
// so requirements of its terms on fields hold for every node.
func volumeAffinity(v *corev1.PersistentVolume, vocabulary *requirements.Vocabulary) affinity {
	var required *corev1.NodeSelector
	if v.Spec.NodeAffinity != nil {
		required = v.Spec.NodeAffinity.Required
	}
	return selectorAffinity(required, vocabulary)
}

// selectorAffinity reads a node selector. nil admits every node. A term that is empty or cannot be
// read admits none.
func selectorAffinity(required *corev1.NodeSelector, vocabulary *requirements.Vocabulary) affinity {
	if required == nil {
		return everywhere()
	}
	var out affinity
	for i := range required.NodeSelectorTerms {
		t := &required.NodeSelectorTerms[i]
		if len(t.MatchExpressions) > 0 || len(t.MatchFields) > 0 {
			out.add(i, t.MatchExpressions, vocabulary, checkFields(t.MatchFields))
		}
	}
	return out
}

// checkFields returns an error if the field requirements of a term cannot be read.
func checkFields(fields []corev1.NodeSelectorRequirement) error {
	for i, f := range fields {
		if f.Operator != corev1.NodeSelectorOpIn && f.Operator != corev1.NodeSelectorOpNotIn || len(f.Values) != 1 {
			return fmt.Errorf("matchFields[%d]: operator %q with %d values; use In or NotIn with one", i, f.Operator, len(f.Values))
		}
	}
	return nil
}

// topologyAffinity reads the topologies in which a StorageClass may make volumes. No terms admit
// every node; a term without expressions admits none.
func topologyAffinity(terms []corev1.TopologySelectorTerm, v *requirements.Vocabulary) affinity {
	if len(terms) == 0 {
		return everywhere()
	}
	var out affinity
	for i := range terms {
		expressions := make([]corev1.NodeSelectorRequirement, len(terms[i].MatchLabelExpressions))
		for j, e := range terms[i].MatchLabelExpressions {
			expressions[j] = corev1.NodeSelectorRequirement{Key: e.Key, Operator: corev1.NodeSelectorOpIn, Values: e.Values}
		}
		if len(expressions) > 0 {
			out.add(i, expressions, v, nil)
		}
	}
	return out
}

func everywhere() affinity {
	return affinity{launch: []requirements.Set{{}}, exact: []requirements.Set{{}}}
}

// add adds the term with index i. With a fault, it records the fault and adds nothing.
func (a *affinity) add(i int, expressions []corev1.NodeSelectorRequirement, v *requirements.Vocabulary, fault error) {
	exact, err := requirements.FromNodeSelectorRequirements(expressions, requirements.EmptyVocabulary())
	if err == nil {
		err = fault
	}
	launch, launchErr := requirements.FromNodeSelectorRequirements(expressions, v)
	if err == nil {
		err = launchErr // possible only if an alias stands for an invalid key
	}
	if err != nil {
		a.err = errors.Join(a.err, fmt.Errorf("term %d: %w", i, err))
		return
	}
	if !launch.Impossible() {
		a.launch = append(a.launch, launch)
	}
	if !exact.Impossible() {
		a.exact = append(a.exact, exact)
	}
}

// nowhere says that no new node satisfies the affinity.
func (a *affinity) nowhere() bool { return len(a.launch) == 0 }

// matches says whether the labels of a node satisfy the affinity.
func (a *affinity) matches(labels map[string]string) bool {
	return slices.ContainsFunc(a.exact, func(s requirements.Set) bool { return s.Matches(labels) })
}

// detail returns why the affinity admits no node, in parentheses for the end of a sentence, or "".
func (a *affinity) detail() string {
	if a.err == nil {
		return ""
	}
	return " (" + oneLine(a.err) + ")"
}

// text returns a text that is equal for equal affinities.
func (a *affinity) text() string {
	var b strings.Builder
	for _, s := range a.launch {
		appendWords(&b, "launch", s.String())
	}
	for _, s := range a.exact {
		appendWords(&b, "exact", s.String())
	}
	return b.String()
}
