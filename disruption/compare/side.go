package compare

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/disruption"
	"github.com/dovetail-sdk/dovetail/provisioning"
)

// Side is a cluster under one set of policies. It is read-only.
type Side struct {
	// Input is the cluster with its policies. Two compared sides must have the same nodes and pods
	// by name; the specs of pods may differ.
	Input disruption.Input
	// Options are those of the engine; nil means the defaults.
	Options *disruption.Options
}

// Policies are the settings of a cluster that a platform team decides.
type Policies struct {
	// NodePools are all pools, not only those that change.
	NodePools []*v1.NodePool
	// InstanceTypes are the catalogs by the name of the pool.
	InstanceTypes map[string][]*cloudprovider.InstanceType
	// Overlays are all overlays.
	Overlays []*v1.NodeOverlay
	// Options are those of the engine; nil means the defaults.
	Options *disruption.Options
	// Pairs has the name of the new pool by the name of the old one, for pools that replace others
	// under another name. Nodes of the old pool then belong to the new one. A pool that keeps its
	// name needs no entry. Nodes of a pool that no longer exists and has no entry are removed, as
	// Karpenter does when a NodePool is deleted.
	Pairs map[string]string
}

// Policies returns the policies of the side, without pairs.
func (s Side) Policies() Policies {
	return Policies{NodePools: s.Input.NodePools, InstanceTypes: s.Input.InstanceTypes, Overlays: s.Input.Overlays, Options: s.Options}
}

// With returns the cluster under other policies. The receiver is not changed, and both share
// unchanged data.
//
// The error joins all faults of the pairs: a pool that does not exist, one that is paired twice,
// and new pools none of which replaces an old one: then every node would be removed, which is
// seldom intended.
func (s Side) With(p Policies) (Side, error) {
	if err := s.checkPairs(p); err != nil {
		return Side{}, err
	}
	in := s.Input
	in.NodePools, in.InstanceTypes, in.Overlays, in.CatalogCache = p.NodePools, p.InstanceTypes, p.Overlays, nil
	if len(p.Pairs) > 0 {
		in.Nodes = slices.Clone(in.Nodes)
		for i := range in.Nodes {
			in.Nodes[i] = paired(in.Nodes[i], p.Pairs)
		}
		in.Instances = slices.Clone(in.Instances)
		for i, m := range in.Instances {
			if m != nil && p.Pairs[m.NodePool] != "" {
				moved := *m
				moved.NodePool = p.Pairs[m.NodePool]
				in.Instances[i] = &moved
			}
		}
	}
	return Side{Input: in, Options: p.Options}, nil
}

// checkPairs returns the faults of the pairs.
func (s Side) checkPairs(p Policies) error {
	old, fresh := poolNames(s.Input.NodePools), poolNames(p.NodePools)
	var errs []error
	taken := map[string]string{}
	for _, from := range slices.Sorted(maps.Keys(p.Pairs)) {
		to := p.Pairs[from]
		if !slices.Contains(old, from) {
			errs = append(errs, fmt.Errorf("Policies.Pairs: there is no NodePool %q today to pair with %q; today's are %s", from, to, strings.Join(old, ", ")))
		}
		if !slices.Contains(fresh, to) {
			errs = append(errs, fmt.Errorf("Policies.Pairs: there is no NodePool %q among the new ones to take the place of %q; the new ones are %s", to, from, strings.Join(fresh, ", ")))
		}
		if other, twice := taken[to]; twice {
			errs = append(errs, fmt.Errorf("Policies.Pairs: NodePool %q takes the place of both %q and %q; pair it with one", to, other, from))
		}
		taken[to] = from
	}
	meets := func(name string) bool { return slices.Contains(fresh, name) || p.Pairs[name] != "" }
	if len(errs) == 0 && len(old) > 0 && len(fresh) > 0 && !slices.ContainsFunc(old, meets) {
		errs = append(errs, fmt.Errorf("no NodePool of today (%s) has the name of a new one (%s): say in Policies.Pairs which new one takes the place of which, such as %q: %q",
			strings.Join(old, ", "), strings.Join(fresh, ", "), old[0], fresh[0]))
	}
	return errors.Join(errs...)
}

// poolNames returns the names of pools, sorted.
func poolNames(pools []*v1.NodePool) []string {
	var names []string
	for _, p := range pools {
		if p != nil {
			names = append(names, p.Name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// paired returns a node as one of the pool that replaces its pool.
func paired(n provisioning.Node, pairs map[string]string) provisioning.Node {
	if n.Node != nil {
		if to := pairs[n.Node.Labels[v1.NodePoolLabelKey]]; to != "" {
			node := *n.Node
			node.Labels = maps.Clone(node.Labels)
			node.Labels[v1.NodePoolLabelKey] = to
			n.Node = &node
		}
	}
	if n.NodeClaim != nil {
		if to := pairs[n.NodeClaim.Labels[v1.NodePoolLabelKey]]; to != "" {
			claim := *n.NodeClaim
			claim.Labels = maps.Clone(claim.Labels)
			claim.Labels[v1.NodePoolLabelKey] = to
			n.NodeClaim = &claim
		}
	}
	return n
}

// labelsOf returns the labels of the Node, or of the NodeClaim while there is no Node.
func labelsOf(n provisioning.Node) map[string]string {
	if n.Node != nil {
		return n.Node.Labels
	}
	if n.NodeClaim != nil {
		return n.NodeClaim.Labels
	}
	return nil
}

// poolOf returns the name of the pool of a node, from its NodeClaim if there is one.
func poolOf(n provisioning.Node) string {
	if n.NodeClaim != nil {
		return n.NodeClaim.Labels[v1.NodePoolLabelKey]
	}
	return labelsOf(n)[v1.NodePoolLabelKey]
}

// podName returns the namespace and the name of a pod.
func podName(p *corev1.Pod) string { return p.Namespace + "/" + p.Name }
