package provisioning

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/dovetail-sdk/dovetail/internal/podterm"
)

// selection is the pods that a constraint is about: those that every one of
// its conjuncts selects, or those that use a claim.
type selection struct {
	conjuncts []podterm.Pods
	claim     string // by namespace, slash and name; empty for pods selected by labels
	text      string // tells selections apart
}

func newSelection(conjuncts ...podterm.Pods) selection {
	var b strings.Builder
	for i := range conjuncts {
		b.WriteString(conjuncts[i].Text())
	}
	return selection{conjuncts: conjuncts, text: b.String()}
}

// selects says whether a pod with the given namespace and labels is meant.
func (s *selection) selects(namespace string, set labels.Set) bool {
	for i := range s.conjuncts {
		if !s.conjuncts[i].Select(namespace, set) {
			return false
		}
	}
	return true
}

// namespaceFaults reports namespaces that are listed twice: which of two counts
// would depend on their order. Nil ones are passed over, as they select nothing.
func namespaceFaults(list []*corev1.Namespace, f *faults) {
	seen := map[string]bool{}
	for _, ns := range list {
		if ns == nil {
			continue
		}
		if seen[ns.Name] {
			f.add(fmt.Sprintf("Namespace %q", ns.Name), "", "is listed twice; list each namespace once")
		}
		seen[ns.Name] = true
	}
}

// namespaces are those that affinity terms may be about.
func (in *Input) namespaces() *podterm.Namespaces {
	return &podterm.Namespaces{Declared: in.Namespaces, Pods: func(yield func(*corev1.Pod) bool) {
		for _, pod := range in.Pods {
			if !yield(pod) {
				return
			}
		}
		for i := range in.Nodes {
			for _, pod := range in.Nodes[i].Pods {
				if !yield(pod) {
					return
				}
			}
		}
	}}
}
