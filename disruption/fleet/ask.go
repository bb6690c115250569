package fleet

import (
	"context"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/disruption"
	"github.com/dovetail-sdk/dovetail/disruption/command"
	"github.com/dovetail-sdk/dovetail/provisioning"
)

// Fault is a fault of a Pod or NodePool that excludes it from plans.
type Fault struct {
	// Object is the Pod or NodePool, for an event.
	Object runtime.Object
	// Reason is the reason of the event: FailedScheduling for a Pod, FailedValidation for a
	// NodePool, as in Karpenter.
	Reason string
	// Err is the fault.
	Err *provisioning.InputError
}

// Prepare calls provisioning.Prepare with Input, to which the caller has added NodePools,
// InstanceTypes and its other data. Pods and NodePools with faults are removed from Input, so that
// the others can be planned. It returns their faults, those of Pods first, in the order of Input.
// The error is about anything else; there is no Problem then.
//
// If Memory has a Problem with the same options, from an earlier Prepare, the result is its Next:
// only changed objects are read. Nodes, NodeClaims, Pods, DaemonSets, RuntimeClasses, Namespaces
// and the objects in Volumes are compared by UID and resourceVersion, NodePools by content, and
// instance types by pointer.
//
// Pods being deleted that are gone before a new node could be ready leave room for the plan: see
// provisioning.Node.EndingBy. So the pods of a rolling update wait for the pods that they replace.
// The time until a new node is ready is the median of the NodeClaims of the cluster, from creation
// until they are initialized, or StartsWithin if there are none.
//
// The Problem has all of Input.Pods, including those that were put off, because they may have a
// place now; Waiting says whether a plan is due.
func (f *Fleet) Prepare(opts *provisioning.Options) (*provisioning.Problem, []Fault, error) {
	problem, err := f.compile(opts)
	at := map[string][]*provisioning.InputError{}
	for _, fault := range provisioning.Faults(err) {
		at[fault.Object] = append(at[fault.Object], fault)
	}
	if len(at) == 0 {
		return problem, nil, err
	}
	var out []Fault
	faulty := func(o runtime.Object, name, reason string) bool {
		for _, fault := range at[name] {
			out = append(out, Fault{o, reason, fault})
		}
		return len(at[name]) > 0
	}
	f.Input.Pods = slices.DeleteFunc(slices.Clone(f.Input.Pods), func(p *corev1.Pod) bool {
		return p != nil && faulty(p, `Pod "`+p.Namespace+"/"+p.Name+`"`, "FailedScheduling")
	})
	f.Input.NodePools = slices.DeleteFunc(slices.Clone(f.Input.NodePools), func(p *v1.NodePool) bool {
		return p != nil && faulty(p, `NodePool "`+p.Name+`"`, "FailedValidation")
	})
	problem, err = f.compile(opts)
	return problem, out, err
}

// Enlarge calls disruption.Cluster.Enlarge for a plan of the Problem that Prepare returned, or of that
// Problem with more pods. Faults of Input are ignored, as by Confirm. If the plan launches nothing, the
// cluster is not read.
func (f *Fleet) Enlarge(ctx context.Context, problem *provisioning.Problem, plan *provisioning.Plan, opts *disruption.Options) (*provisioning.Plan, []string, error) {
	if len(plan.Create) == 0 {
		return plan, nil, nil
	}
	cluster, _ := disruption.Observe(f.Now, f.Input, opts) // faults are ignored, as by Confirm
	return cluster.Enlarge(ctx, problem, plan)
}

// Confirm calls disruption.Confirm for an action that was decided before, and returns the command
// that carries it out if there is no objection: see disruption.Cluster.Command, which refuses the
// operations Terminate, DeleteNode and Reboot. With an objection or an error there is no command; the
// error is that of Confirm or of Command. Faults of Input are ignored, as by Confirm.
func (f *Fleet) Confirm(ctx context.Context, a disruption.Action, opts *disruption.Options) (command.Prepared, []disruption.Objection, error) {
	objections, err := disruption.Confirm(ctx, f.Now, f.Input, a, opts)
	if err != nil || len(objections) > 0 {
		return command.Prepared{}, objections, err
	}
	cluster, _ := disruption.Observe(f.Now, f.Input, opts) // faults are ignored, as by Confirm
	prepared, err := cluster.Command(a)
	return prepared, nil, err
}

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
