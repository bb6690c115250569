package static

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/internal/podlife"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/model"
)

// removal is what decides when a node is removed.
type removal struct {
	name    string
	turn    removalTurn
	cost    evictionCost // of its pods
	created time.Time
}

// removalTurn is the first thing that counts, the lowest first.
type removalTurn int

const (
	turnNoMachine removalTurn = iota
	turnEmpty
	turnOrdinary
	turnDoNotDisrupt
)

// removalOrder names nodes in the order in which a pool that has too many
// removes them.
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
			r.cost += costOfEviction(pod)
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

// created is when the node was asked for.
func created(n model.Node) time.Time {
	if n.NodeClaim != nil {
		return n.NodeClaim.CreationTimestamp.Time
	}
	return n.Node.CreationTimestamp.Time
}

// pendingDisruption says whether somebody has marked the node to be removed.
func pendingDisruption(n model.Node) bool {
	if n.HasCondition(v1.ConditionTypeDisruptionReason) {
		return true
	}
	mark := v1.DisruptedNoScheduleTaint()
	return n.Node != nil && slices.ContainsFunc(n.Node.Spec.Taints, func(t corev1.Taint) bool { return t.MatchTaint(&mark) })
}

// asksNotToBeDisrupted says whether the node itself has the annotation. Nodes
// cannot limit it to a duration.
func asksNotToBeDisrupted(n model.Node) bool {
	return n.Node != nil && n.Node.Annotations[v1.DoNotDisruptAnnotationKey] == "true" ||
		n.NodeClaim != nil && n.NodeClaim.Annotations[v1.DoNotDisruptAnnotationKey] == "true"
}

// podAsksNotToBeDisrupted says whether a pod has the annotation: "true", or a
// duration above zero.
func podAsksNotToBeDisrupted(pod *corev1.Pod) bool {
	text, found := pod.Annotations[v1.DoNotDisruptAnnotationKey]
	if !found || text == "true" {
		return found
	}
	duration, err := time.ParseDuration(text)
	return err == nil && duration > 0
}

// evictionCost is in units of 2^-27, of which every cost is a whole number. So
// sums are exact, whatever their order.
type evictionCost int64

const (
	oneEviction     evictionCost = 1 << 27
	perPriority     evictionCost = 1 << 2 // 2^-25
	maxEvictionCost              = 10 * oneEviction
)

// costOfEviction is what it costs to evict a pod.
func costOfEviction(pod *corev1.Pod) evictionCost {
	text, found := pod.Annotations[v1.DisruptionCostAnnotationKey]
	if !found {
		text = pod.Annotations[v1.PodDeletionCostAnnotationKey]
	}
	cost := oneEviction
	// A text that is no integer counts for nothing.
	if n, err := strconv.ParseInt(text, 10, 32); err == nil {
		cost += evictionCost(n)
	}
	if pod.Spec.Priority != nil {
		cost += evictionCost(*pod.Spec.Priority) * perPriority
	}
	return min(max(cost, -maxEvictionCost), maxEvictionCost)
}
