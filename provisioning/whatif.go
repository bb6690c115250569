package provisioning

import (
	"errors"
	"fmt"
	"github.com/dovetail-sdk/dovetail/internal/engine/model"
	"github.com/dovetail-sdk/dovetail/internal/podlife"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// Without returns the problem as it is once the nodes of the given names are
// being removed: they take no pods, and the pods that run there are to be
// placed as well, but those of DaemonSets, those that a node runs by itself
// (mirror pods) and those that are being deleted, unless a StatefulSet brings
// them back. Where constraints count pods or domains, a node that is being removed
// is still there, and its pods are not. p is unchanged and shares its catalog with
// the result.
//
// The error names each node that p does not have.
//
// It takes what Next does: catalogs are not read again, nor are the nodes that
// stay.
func (p *Problem) Without(nodes ...string) (*Problem, error) {
	in := p.in
	in.Nodes = slices.Clone(in.Nodes)
	in.Pods = slices.Clone(in.Pods)
	var errs []error
	seen := map[string]bool{}
	at := make(map[string]int, len(nodes))
	for _, name := range nodes {
		at[name] = -1
	}
	for i := range in.Nodes {
		if _, asked := at[in.Nodes[i].Name()]; asked {
			at[in.Nodes[i].Name()] = i
		}
	}
	for _, name := range nodes {
		i := at[name]
		if i < 0 {
			errs = append(errs, fmt.Errorf("provisioning: there is no node %q to leave out; name a node of the input", name))
			continue
		}
		if seen[name] {
			continue
		}
		seen[name] = true
		in.Nodes[i] = in.Nodes[i].Leaving()
		in.Pods = append(in.Pods, moved(in.Nodes[i].Pods)...)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return p.Next(in)
}

// moved returns the pods of a node that go elsewhere when it is removed, as
// they will be: not bound to a node, and not being deleted.
func moved(pods []*corev1.Pod) []*corev1.Pod {
	var out []*corev1.Pod
	for _, pod := range pods {
		if !podlife.Moves(pod) {
			continue
		}
		out = append(out, podlife.Moved(pod, ""))
	}
	return out
}

// Next returns the problem of another moment: that of another Input, with the options of p.
// Its plans and its error are those of Prepare of that Input; p is unchanged. What both
// inputs are made of is not read again. Objects are the same if they are at the same
// address, so replace what changes, as the caches of controllers do, and never write into
// what a problem was made of, slices included:
//
//   - NodePools, InstanceTypes and Overlays are compiled anew unless all are the same, in
//     the same order. That is most of what Prepare costs. Even then a type is validated
//     once, and what a pool launches is listed once while it asks for the same.
//   - A node is read again, with its pods, unless its Node, its NodeClaim and its pods are
//     the same, in the same order; one on its way that has not been launched is as well
//     if any of the above has changed.
//   - All nodes are read again if some of DaemonSetPods is another, or once twice as many
//     kinds of pod have run as at first, and 1,024 more: most are gone by then.
//   - Volumes are indexed anew unless all are the same, and so are Devices, whose Matcher
//     must be comparable for that.
//   - With a Vocabulary that says something else all is compiled anew.
//
// Pods to be placed are compiled in any case. It takes O(pods + what changed), and a few
// passes over the nodes that copy some numbers of each and allocate nothing for it: some tenths
// of a microsecond a node where Nodes are sorted by name, as Join does it. The result keeps both inputs' nodes alive
// only as far as they are its own, but for one pod of each kind that has run.
func (p *Problem) Next(in Input) (*Problem, error) { return prepare(in, p.opts, p) }

// With returns the problem with more pods to place: Next, of such an Input. The error is
// that of Prepare, of the pods alone.
func (p *Problem) With(pods ...*corev1.Pod) (*Problem, error) {
	in := p.in
	in.Pods = slices.Concat(in.Pods, pods)
	return p.Next(in)
}

// WithNodes returns the problem with other nodes, and other pods to place: Next, of the
// same catalog at another moment. Places to try first are left out: see Nominating.
func (p *Problem) WithNodes(nodes []Node, pods []*corev1.Pod) (*Problem, error) {
	in := p.in
	in.Nodes, in.Pods, in.Nominated = nodes, pods, nil
	return p.Next(in)
}

// WithPools returns the problem with other NodePools and their catalogs: Next, of what if
// this pool had another limit, or were not there. Without any it asks what fits on the nodes
// that exist.
func (p *Problem) WithPools(pools []*v1.NodePool, types map[string][]*cloudprovider.InstanceType) (*Problem, error) {
	in := p.in
	in.NodePools, in.InstanceTypes = pools, types
	return p.Next(in)
}

// Nominating returns the problem with other places to try first, as Input.Nominated has
// them. p is unchanged and shares its catalog with the result. The error is that of
// Prepare, of these places alone.
func (p *Problem) Nominating(places map[types.NamespacedName]string) (*Problem, error) {
	var f model.Faults
	compiled := p.compiled.Nominating(places, &f)
	if err := f.Err(); err != nil {
		return nil, inputErrors(err)
	}
	out := *p
	out.in.Nominated = places
	out.compiled, out.solver = compiled, p.solver.Of(compiled)
	return &out, nil
}
