package provisioning

import (
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/internal/engine/model"
	"github.com/dovetail-sdk/dovetail/internal/podlife"
)

// Without returns the problem in which the nodes of the given names are being removed: they take no
// pods, and their pods are to be placed as well, except pods of DaemonSets, mirror pods, and pods
// being deleted that no StatefulSet creates again. A pod that is to be placed already, by an earlier
// Without or as one of disruption.Displaced, is not listed again. Constraints still count the domain
// of a node being removed, but not its pods. p is unchanged and shares its catalog with the result.
//
// The error names each node that p does not have.
//
// It takes the time of WithInput: neither catalogs nor staying nodes are read again.
func (p *Problem) Without(nodes ...string) (*Problem, error) {
	in := p.in
	in.Nodes = slices.Clone(in.Nodes)
	in.Pods = slices.Clone(in.Pods)
	var errs []error
	placed := map[types.NamespacedName]bool{}
	for _, pod := range in.Pods {
		placed[types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}] = true
	}
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
		in.Pods = append(in.Pods, moved(in.Nodes[i].Pods, placed)...)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return p.WithInput(in)
}

// moved returns the pods of a node that must move when it is removed, as they will be then: not
// bound to a node, and not being deleted. Those that are in placed are left out.
func moved(pods []*corev1.Pod, placed map[types.NamespacedName]bool) []*corev1.Pod {
	var out []*corev1.Pod
	for _, pod := range pods {
		if !podlife.Moves(pod) || placed[types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}] {
			continue
		}
		out = append(out, podlife.Moved(pod, ""))
	}
	return out
}

// WithInput returns the problem for another Input, with the options of p. Its plans and its error are
// those of Prepare for that Input; p is unchanged. Objects in both inputs are not read again.
// Objects are the same if they have the same address, and NodePools also if they have the same
// content, except for the counts in the status. So replace what changes, as the caches of
// controllers do, and never write into objects, or slices, of which a problem was made:
//
//   - NodePools, InstanceTypes and Overlays are compiled again unless all are the same, in the same
//     order. That is most of the cost of Prepare. Even then an instance type is validated once, and
//     the options of a pool are listed once while its requirements do not change.
//   - A node is read again, with its pods, unless its Node, its NodeClaim and its pods are the
//     same, in the same order, or the same as before the node last changed. A node on its way that
//     has not been launched is also read again if any of the above has changed.
//   - All nodes are read again if one of DaemonSetPods changes, or once the number of kinds of pods
//     that have run exceeds twice the number at first plus 1,024, because most of these kinds are
//     gone by then.
//   - Volumes are indexed again unless all are the same, and so are Devices, whose Matcher must be
//     comparable for that.
//   - With a different Vocabulary everything is compiled again.
//
// Pods to be placed are compiled in any case. It takes O(pods + changes) time, and a few passes
// over the nodes that copy some numbers of each without allocating: some tenths of a microsecond
// for each node if Nodes are sorted by name, as Match sorts them. If a pod is new, a hash of each
// pod on the nodes is compared too, which takes about 15 ns for each. The result keeps no node of p
// alive that is not its own, except one pod of each kind that has run, and each node that has
// changed as it was before.
func (p *Problem) WithInput(in Input) (*Problem, error) { return prepare(in, p.opts, p) }

// With returns the problem with more pods to place: it is WithInput of such an Input. The error is that
// of Prepare for these pods.
func (p *Problem) With(pods ...*corev1.Pod) (*Problem, error) {
	in := p.in
	in.Pods = slices.Concat(in.Pods, pods)
	return p.WithInput(in)
}

// WithNodes returns the problem with other nodes and other pods to place: it is WithInput of such an
// Input, with the same catalog. Nominated is left out: see Nominating. With the same nodes and
// pods it is p itself.
func (p *Problem) WithNodes(nodes []Node, pods []*corev1.Pod) (*Problem, error) {
	in, same := p.in, func(a, b Node) bool { return model.SameNode((*model.Node)(&a), (*model.Node)(&b)) }
	if len(in.Nominated) == 0 && model.SameList(in.Pods, pods) && slices.EqualFunc(in.Nodes, nodes, same) {
		return p, nil
	}
	in.Nodes, in.Pods, in.Nominated = nodes, pods, nil
	return p.WithInput(in)
}

// WithPools returns the problem with other NodePools and instance types: it is WithInput of such an
// Input, to ask what happens if a pool has another limit or does not exist. Without any pools it
// says which pods fit on existing nodes.
func (p *Problem) WithPools(pools []*v1.NodePool, types map[string][]*cloudprovider.InstanceType) (*Problem, error) {
	in := p.in
	in.NodePools, in.InstanceTypes = pools, types
	return p.WithInput(in)
}

// Nominating returns the problem with other nominated nodes, as in Input.Nominated. p is unchanged
// and shares its catalog with the result. The error is that of Prepare for these entries.
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
