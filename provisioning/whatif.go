package provisioning

import (
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// Without returns the problem as it is once the nodes of the given names are
// being removed: they take no pods, and the pods that run there are to be
// placed as well, but those of DaemonSets, those that a node runs by itself
// (mirror pods) and those that are being deleted. Where constraints count pods
// or domains, a node that is being removed is still there, and its pods are
// not. p is unchanged and shares its market with the result.
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
		in.Nodes[i] = removed(in.Nodes[i])
		in.Pods = append(in.Pods, moved(in.Nodes[i].Pods)...)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return prepare(in, p.opts, p, nil)
}

// removed returns a node as it is while it is being deleted.
func removed(n Node) Node {
	now := metav1.Unix(1, 0) // whenever: only that it is set matters
	if n.Node != nil {
		node := *n.Node
		node.DeletionTimestamp = &now
		n.Node = &node
	}
	if n.NodeClaim != nil {
		claim := *n.NodeClaim
		claim.DeletionTimestamp = &now
		n.NodeClaim = &claim
	}
	return n
}

// moved returns the pods of a node that go elsewhere when it is removed, as
// they will be: not bound to a node.
func moved(pods []*corev1.Pod) []*corev1.Pod {
	var out []*corev1.Pod
	for _, pod := range pods {
		if pod == nil || finished(pod) || pod.DeletionTimestamp != nil || staysBehind(pod) {
			continue
		}
		free := *pod // a shallow copy: nothing below is written
		free.Spec.NodeName = ""
		out = append(out, &free)
	}
	return out
}

// staysBehind says whether a pod belongs to its node and goes with it.
func staysBehind(pod *corev1.Pod) bool {
	if _, mirror := pod.Annotations[corev1.MirrorPodAnnotationKey]; mirror {
		return true
	}
	owner := metav1.GetControllerOfNoCopy(pod)
	return owner != nil && (owner.Kind == "DaemonSet" || owner.Kind == "Node")
}

// With returns the problem with more pods to place. p is unchanged and shares
// its market with the result. The error is that of Prepare, of the pods alone.
func (p *Problem) With(pods ...*corev1.Pod) (*Problem, error) {
	in := p.in
	in.Pods = slices.Concat(in.Pods, pods)
	return prepare(in, p.opts, p, nil)
}

// WithNodes returns the problem with other nodes, and other pods to place: the
// same market at another moment. Nodes that are equal to those of p, with the
// same slice of pods, are not read again. p is unchanged and shares its market
// with the result. The error is that of Prepare, but that what nodes on their way
// out have room for is not looked at.
func (p *Problem) WithNodes(nodes []Node, pods []*corev1.Pod) (*Problem, error) {
	in := p.in
	in.Nodes, in.Pods = nodes, pods
	return prepare(in, p.opts, p, nil)
}

// WithPools returns the problem with other NodePools and their catalogs: what
// if this pool had another limit, or were not there. Without any it asks what
// fits on the nodes that exist. p is unchanged. The error is that of Prepare.
func (p *Problem) WithPools(pools []*v1.NodePool, types map[string][]*cloudprovider.InstanceType) (*Problem, error) {
	in := p.in
	in.NodePools, in.InstanceTypes = pools, types
	return prepare(in, p.opts, nil, nil)
}
