package static

import (
	"cmp"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/internal/engine/model"
	"github.com/dovetail-sdk/dovetail/internal/podlife"
)

// removal has the properties by which nodes are sorted for removal.
type removal struct {
	name    string
	turn    removalTurn
	cost    podlife.EvictionUnits // sum over its pods
	created time.Time
}

// removalTurn is the first criterion of the order; the lowest value is removed first.
type removalTurn int

const (
	turnNoMachine removalTurn = iota
	turnEmpty
	turnOrdinary
	turnDoNotDisrupt
)

// removalOrder returns the names of nodes in the order in which a pool with too many nodes removes
// them.
func removalOrder(nodes []model.Node) []string {
	all := make([]removal, len(nodes))
	for i, n := range nodes {
		all[i] = newRemoval(n)
	}
	slices.SortFunc(all, func(a, b removal) int {
		return cmp.Or(
			cmp.Compare(a.turn, b.turn),
			cmp.Compare(a.cost, b.cost),
			a.created.Compare(b.created),
			strings.Compare(a.name, b.name),
		)
	})
	names := make([]string, len(all))
	for i := range all {
		names[i] = all[i].name
	}
	return names
}

func newRemoval(n model.Node) removal {
	r := removal{name: n.Name(), created: created(n)}
	protected, empty := asksNotToBeDisrupted(n), true
	for _, pod := range n.Pods {
		if pod == nil || podlife.Finished(pod) || !pod.DeletionTimestamp.IsZero() {
			continue
		}
		protected = protected || podAsksNotToBeDisrupted(pod)
		if !podlife.StaysBehind(pod) {
			empty = false
			cost, _ := podlife.CostOfEviction(pod, false)
			r.cost += cost
		}
	}
	switch {
	case n.Node == nil && n.NodeClaim.Status.ProviderID == "":
		r.turn = turnNoMachine
	case protected:
		r.turn = turnDoNotDisrupt
	case empty:
		r.turn = turnEmpty
	default:
		r.turn = turnOrdinary
	}
	return r
}

// created returns when the NodeClaim, or else the Node, was created.
func created(n model.Node) time.Time {
	if n.NodeClaim != nil {
		return n.NodeClaim.CreationTimestamp.Time
	}
	return n.Node.CreationTimestamp.Time
}

// pendingDisruption says whether a controller has marked the node for removal.
func pendingDisruption(n model.Node) bool {
	if n.HasCondition(v1.ConditionTypeDisruptionReason) {
		return true
	}
	mark := v1.DisruptedNoScheduleTaint()
	return n.Node != nil && slices.ContainsFunc(n.Node.Spec.Taints, func(t corev1.Taint) bool { return t.MatchTaint(&mark) })
}

// asksNotToBeDisrupted says whether the node or its NodeClaim has the do-not-disrupt annotation.
// Nodes, unlike pods, cannot limit it to a duration.
func asksNotToBeDisrupted(n model.Node) bool {
	return n.Node != nil && n.Node.Annotations[v1.DoNotDisruptAnnotationKey] == "true" ||
		n.NodeClaim != nil && n.NodeClaim.Annotations[v1.DoNotDisruptAnnotationKey] == "true"
}

// podAsksNotToBeDisrupted says whether a pod has the do-not-disrupt annotation with the value
// "true" or a positive duration.
func podAsksNotToBeDisrupted(pod *corev1.Pod) bool {
	text, found := pod.Annotations[v1.DoNotDisruptAnnotationKey]
	if !found || text == "true" {
		return found
	}
	duration, err := time.ParseDuration(text)
	return err == nil && duration > 0
}
