package provisioning

import (
	"errors"
	"fmt"
	"github.com/dovetail-sdk/dovetail/internal/podlife"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/model"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// Without returns the problem as it is once the nodes of the given names are
// being removed: they take no pods, and the pods that run there are to be
// placed as well, but those of DaemonSets, those that a node runs by itself
// (mirror pods) and those that are being deleted. Where constraints count pods
// or domains, a node that is being removed is still there, and its pods are
// not. p is unchanged and shares its catalog with the result.
//
// The error names each node that p does not have.
//
// It takes O(pods + nodes): catalogs are not read again, nor are the nodes that
// stay.
func (p *Problem) Without(nodes ...string) (*Problem, error) {
	in := p.in
	in.Nodes = slices.Clone(in.Nodes)
	in.Pods = slices.Clone(in.Pods)
	var errs []error
	seen := map[string]bool{}
	at := make(map[string]int, len(in.Nodes))
	for i, n := range in.Nodes {
		at[n.Name()] = i
	}
	for _, name := range nodes {
		i, known := at[name]
		if !known {
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
	return prepare(in, p.opts, p)
}

// moved returns the pods of a node that go elsewhere when it is removed, as
// they will be: not bound to a node.
func moved(pods []*corev1.Pod) []*corev1.Pod {
	var out []*corev1.Pod
	for _, pod := range pods {
		if !podlife.Moves(pod) {
			continue
		}
		free := *pod // a shallow copy: nothing below is written
		free.Spec.NodeName = ""
		out = append(out, &free)
	}
	return out
}

// With returns the problem with more pods to place. p is unchanged and shares
// its catalog with the result. The error is that of Prepare, of the pods alone.
func (p *Problem) With(pods ...*corev1.Pod) (*Problem, error) {
	in := p.in
	in.Pods = slices.Concat(in.Pods, pods)
	return prepare(in, p.opts, p)
}

// WithNodes returns the problem with other nodes, and other pods to place: the
// same catalog at another moment. Nodes that are equal to those of p, with the
// same slice of pods, are not read again. p is unchanged and shares its catalog
// with the result. Places to try first are left out: see Nominating. The error is that of
// Prepare, but that what nodes on their way out have room for is not looked at.
func (p *Problem) WithNodes(nodes []Node, pods []*corev1.Pod) (*Problem, error) {
	in := p.in
	in.Nodes, in.Pods, in.Nominated = nodes, pods, nil
	return prepare(in, p.opts, p)
}

// WithPools returns the problem with other NodePools and their catalogs: what
// if this pool had another limit, or were not there. Without any it asks what
// fits on the nodes that exist. p is unchanged. The error is that of Prepare.
func (p *Problem) WithPools(pools []*v1.NodePool, types map[string][]*cloudprovider.InstanceType) (*Problem, error) {
	in := p.in
	in.NodePools, in.InstanceTypes = pools, types
	return prepare(in, p.opts, nil)
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
