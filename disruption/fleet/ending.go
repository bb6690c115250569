package fleet

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/provisioning"
)

// StartsWithin is how long a new node takes to be ready if no node of the cluster shows it.
const StartsWithin = time.Minute

// starts returns how long a new node takes to be ready: the median over the NodeClaims that have
// become initialized, from creation to that condition.
func (f *Fleet) starts() time.Duration {
	var took []time.Duration
	for _, claim := range f.NodeClaims {
		c := meta.FindStatusCondition(claim.Status.Conditions, v1.ConditionTypeInitialized)
		if c != nil && c.Status == metav1.ConditionTrue && c.LastTransitionTime.After(claim.CreationTimestamp.Time) {
			took = append(took, c.LastTransitionTime.Sub(claim.CreationTimestamp.Time))
		}
	}
	if len(took) == 0 {
		return StartsWithin
	}
	slices.Sort(took)
	return took[(len(took)-1)/2]
}

// ending returns the nodes with Node.Ending set: the pods that will be gone before a new node can be
// ready.
func (f *Fleet) ending(nodes []provisioning.Node) []provisioning.Node {
	out, at := slices.Clone(nodes), f.Now.Add(f.starts())
	for i, n := range out {
		out[i] = n.EndingBy(f.Now, at)
	}
	return out
}

// boundBy returns when the promise of a node that is open to all pods ends: BoundWithin from now, or
// from when the last pod that the Binding waits for is gone.
func (f *Fleet) boundBy(b provisioning.Binding) time.Time {
	last := f.Now
	for _, p := range b.After {
		if p.DeletionTimestamp != nil && p.DeletionTimestamp.After(last) {
			last = p.DeletionTimestamp.Time
		}
	}
	return last.Add(BoundWithin)
}
