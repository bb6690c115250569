package fleet

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/disruption"
	"github.com/dovetail-sdk/dovetail/disruption/command"
	"github.com/dovetail-sdk/dovetail/provisioning"
)

// Fault is what is wrong with an object that cannot be planned with.
type Fault struct {
	// Object is the Pod or NodePool: what an event is about.
	Object runtime.Object
	// Reason is that of the event: FailedScheduling of a Pod, FailedValidation of a
	// NodePool, as Karpenter has them.
	Reason string
	// Err says what is wrong with it.
	Err *provisioning.InputError
}

// Prepare is provisioning.Prepare of Input, to which the caller has added NodePools and
// InstanceTypes by now, and what else it has. Pods and NodePools with faults are taken out of
// Input, and keep no other from its plan. It returns all their faults, those of Pods first, in
// the order of Input. An error that is left is about something else; there is no Problem then.
//
// Where Memory has a Problem of the same options, as after the Prepare of the pass before, it
// is the Next of that: what has changed is read, and nothing that has not. Nodes, NodeClaims, Pods,
// DaemonSets, RuntimeClasses, Namespaces and what is in Volumes are the same by UID and resourceVersion, NodePools
// if they say the same, and instance types by their addresses.
//
// All of Input.Pods are planned for, those that are put off as well, as they may have a place
// by now; Waiting says whether a plan is due.
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

// Confirm is disruption.Confirm of an action that was decided before, and the command that
// carries it out if nothing speaks against it: see disruption.Cluster.Command, which refuses
// the steps Terminate, DeleteNode and Reboot. With an objection or an error there is no
// command, and the error is that of Confirm or of Command. Faults of Input are passed over,
// as Confirm does.
func (f *Fleet) Confirm(ctx context.Context, a disruption.Action, opts *disruption.Options) (command.Prepared, []disruption.Objection, error) {
	objections, err := disruption.Confirm(ctx, f.Now, f.Input, a, opts)
	if err != nil || len(objections) > 0 {
		return command.Prepared{}, objections, err
	}
	cluster, _ := disruption.Observe(f.Now, f.Input, opts) // its faults are those of Confirm
	prepared, err := cluster.Command(a)
	return prepared, nil, err
}
