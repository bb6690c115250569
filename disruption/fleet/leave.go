package fleet

import (
	"errors"
	"math"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/disruption/drain"
	"github.com/dovetail-sdk/dovetail/internal/podlife"
	"github.com/dovetail-sdk/dovetail/internal/status"
	"github.com/dovetail-sdk/dovetail/provisioning/nomination"
)

// Departure is the next actions for nodes that are being deleted, in the order of its fields.
type Departure struct {
	// Delete are the NodeClaims whose Node another program has deleted: delete them too.
	Delete []*v1.NodeClaim
	// Left are the Nodes of NodePools that are being deleted and have no NodeClaim: leftovers of
	// machines that are gone. Remove v1.TerminationFinalizer from them.
	Left []*corev1.Node
	// NodeClaims and Nodes are objects to store: NodeClaims with their deadline, and Nodes closed
	// to pods. Objects that need no change are left out.
	NodeClaims []*v1.NodeClaim
	Nodes      []*corev1.Node
	// Open are the Nodes that are kept for pods of Drain and that cannot stay closed, without their
	// taint: store them first. kube-scheduler tries a recreated pod before the pod can get its
	// toleration; if it finds no open node, it preempts pods of a lower priority elsewhere. So the
	// node of a pod that has a higher priority than a pod on any node, and may preempt, is listed.
	// All others stay closed, so that pods land where the action has them.
	Open []*corev1.Node
	// Drain are the pods to evict and to delete.
	Drain []drain.NodePlan
	// Empty are the NodeClaims whose pods and volumes are gone, whose machine is gone (see Lost),
	// or that never had a Node. Delete the machine, in each pass until the cloud returns
	// cloudprovider.ErrNotFound; skip this without a provider ID. Then delete the Node, remove its
	// finalizer, and last that of the NodeClaim. The deletion changes the version of the Node, so a
	// patch with the version that was read is refused; the next pass does the rest then.
	Empty []*v1.NodeClaim
}

// Doubtful returns the NodeClaims that are being deleted and have a machine, and whose Node is not
// Ready. Before Leave get each machine from the cloud, and call Lost if the answer is
// cloudprovider.ErrNotFound: the pods of such a node would never end.
func (f *Fleet) Doubtful() (out []*v1.NodeClaim) {
	for _, claim := range f.NodeClaims {
		node := f.NodeOf(claim)
		if claim.DeletionTimestamp != nil && claim.Status.ProviderID != "" && node != nil && !status.Ready(node) {
			out = append(out, claim)
		}
	}
	return out
}

// Lost notes that the machine of a NodeClaim no longer exists. If its Node is not Ready, Leave does
// not drain it: the claim is Empty at once. A Ready Node still has a machine.
func (f *Fleet) Lost(claim *v1.NodeClaim) { f.lost[claim.UID] = true }

// Leave returns the actions for NodeClaims and Nodes that are being deleted, in the order of
// Objects. opts are those of drain.Plan. The error joins the faults of deadlines and budgets; the
// result is valid for all others.
func (f *Fleet) Leave(opts *drain.Options) (Departure, error) {
	var d Departure
	var leaving []*v1.NodeClaim
	owned := map[*corev1.Node]bool{}
	for _, claim := range f.Objects.NodeClaims {
		node := f.NodeOf(claim)
		owned[node] = true
		if claim.DeletionTimestamp != nil {
			leaving = append(leaving, claim)
		} else if node != nil && node.DeletionTimestamp != nil {
			d.Delete = append(d.Delete, claim)
		}
	}
	for _, node := range f.Objects.Nodes {
		if node.DeletionTimestamp != nil && !owned[node] && node.Labels[v1.NodePoolLabelKey] != "" {
			d.Left = append(d.Left, node)
		}
	}
	in, err := f.drain(leaving)
	plan, fault := drain.Plan(f.Now, in, opts)
	d.Drain, d.Open = plan.Nodes, f.open(plan.Nodes)
	done := map[string]bool{}
	for _, n := range plan.Nodes {
		done[n.Node] = n.State == drain.Done
	}
	for _, claim := range leaving {
		if after := drain.Bound(f.Now, claim, time.Time{}, nil); after != claim {
			d.NodeClaims = append(d.NodeClaims, after)
		}
		node := f.NodeOf(claim)
		if after := drain.CloseNode(node); after != node {
			d.Nodes = append(d.Nodes, after)
		}
		if node == nil || done[node.Name] {
			d.Empty = append(d.Empty, claim)
		}
	}
	return d, errors.Join(plan.Faults, err, fault)
}

// open returns the Nodes kept for pods that are to be evicted or deleted, without their taint, if
// kube-scheduler could preempt for such a pod while the node is closed to it.
func (f *Fleet) open(drained []drain.NodePlan) (out []*corev1.Node) {
	going := map[types.UID]bool{}
	for _, n := range drained {
		for _, s := range slices.Concat(n.Evict, n.Delete) {
			going[s.UID] = true
		}
	}
	lowest := int32(math.MaxInt32) // priority of a pod on a node
	for _, p := range f.Objects.Pods {
		if p.Spec.NodeName != "" && !podlife.Finished(p) {
			lowest = min(lowest, podlife.Priority(p))
		}
	}
	keeps := map[string]bool{} // by NodeClaim
	for _, place := range f.Promises.Moving {
		policy := place.Pod.Spec.PreemptionPolicy
		preempts := podlife.Priority(place.Pod) > lowest && (policy == nil || *policy != corev1.PreemptNever)
		keeps[place.NodeClaim] = keeps[place.NodeClaim] || preempts && going[place.Pod.UID]
	}
	for _, n := range f.Promises.Nodes {
		if n.Phase == nomination.Filling && keeps[n.NodeClaim] {
			out = append(out, nomination.Opened(f.nodes[n.Node]))
		}
	}
	return out
}

// drain returns the input of drain.Plan for NodeClaims that are being deleted.
func (f *Fleet) drain(claims []*v1.NodeClaim) (in drain.Input, err error) {
	if len(claims) == 0 {
		return in, nil
	}
	for _, claim := range claims {
		if node := f.NodeOf(claim); node != nil {
			n, fault := drain.Observe(f.Now, claim, node, f.podsOn[node.Name])
			n.Gone = f.lost[claim.UID] && !status.Ready(node)
			f.attach(&n)
			in.Nodes, err = append(in.Nodes, n), errors.Join(err, fault)
		}
	}
	in.Budgets = f.Objects.PodDisruptionBudgets
	return in, err
}

// attach adds the attached volumes of a Node, and the volumes that its pods use.
func (f *Fleet) attach(n *drain.Node) {
	for _, a := range f.VolumeAttachments {
		if a.Spec.NodeName == n.Name && a.Spec.Source.PersistentVolumeName != nil {
			n.Attachments = append(n.Attachments, drain.Attachment{Name: a.Name, Volume: *a.Spec.Source.PersistentVolumeName})
		}
	}
	if len(n.Attachments) == 0 {
		return
	}
	volumes := map[types.NamespacedName]string{}
	for _, c := range f.PersistentVolumeClaims {
		volumes[types.NamespacedName{Namespace: c.Namespace, Name: c.Name}] = c.Spec.VolumeName
	}
	for i, pod := range f.podsOn[n.Name] { // those of n.Pods, in that order
		for _, v := range pod.Spec.Volumes {
			name := types.NamespacedName{Namespace: pod.Namespace}
			switch {
			case v.PersistentVolumeClaim != nil:
				name.Name = v.PersistentVolumeClaim.ClaimName
			case v.Ephemeral != nil:
				name.Name = pod.Name + "-" + v.Name
			}
			if volume := volumes[name]; volume != "" {
				n.Pods[i].Volumes = append(n.Pods[i].Volumes, volume)
			}
		}
	}
}
