package simcluster

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/internal/order"
)

// firstToGo returns pods in the order in which the ReplicaSet controller of Kubernetes deletes them
// (ActivePodsWithRanks): first pods without a node, then pending pods, then pods that are not
// ready, then those with the lowest deletion cost, then those whose node has most pods of the
// Deployment, then the youngest. Ages with the same binary logarithm count as equal; then the UID
// decides.
//
// related are all pods of the Deployment.
func firstToGo(pods, related []*Pod, now time.Time) []*Pod {
	onNode := map[string]int{}
	for _, p := range related {
		onNode[p.Spec.NodeName]++
	}
	pods = slices.Clone(pods)
	slices.SortStableFunc(pods, func(a, b *Pod) int {
		return cmp.Or(
			order.Bools(a.Spec.NodeName != "", b.Spec.NodeName != ""),
			order.Bools(a.Status.Phase != corev1.PodPending, b.Status.Phase != corev1.PodPending),
			order.Bools(a.ready(), b.ready()),
			cmp.Compare(a.deletionCost(), b.deletionCost()),
			cmp.Compare(onNode[b.Spec.NodeName], onNode[a.Spec.NodeName]),
			younger(a, b, now),
		)
	})
	return pods
}

// deletionCost returns the value of the annotation controller.kubernetes.io/pod-deletion-cost; zero
// if it is missing or no number.
func (p *Pod) deletionCost() int {
	cost, err := strconv.ParseInt(p.Annotations[corev1.PodDeletionCost], 10, 32)
	if err != nil {
		return 0
	}
	return int(cost)
}

// younger compares the times since pods became ready, or since they were made.
func younger(a, b *Pod, now time.Time) int {
	ageA, ageB := now.Sub(a.since), now.Sub(b.since)
	if a.ready() && b.ready() && !a.readyAt.Equal(b.readyAt) {
		ageA, ageB = now.Sub(a.readyAt), now.Sub(b.readyAt)
	}
	if ageA == ageB {
		return 0
	}
	return cmp.Or(cmp.Compare(magnitude(ageA), magnitude(ageB)), cmp.Compare(Dice(a.UID), Dice(b.UID)))
}

// magnitude returns the binary logarithm of an age, rounded down; -1 for no age.
func magnitude(age time.Duration) int64 {
	if age <= 0 {
		return -1
	}
	return int64(math.Log2(float64(age)))
}
