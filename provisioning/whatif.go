package provisioning

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/topology"
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
// its catalog with the result. The error is that of Prepare, of the pods alone.
func (p *Problem) With(pods ...*corev1.Pod) (*Problem, error) {
	in := p.in
	in.Pods = slices.Concat(in.Pods, pods)
	return prepare(in, p.opts, p, nil)
}

// WithNodes returns the problem with other nodes, and other pods to place: the
// same catalog at another moment. Nodes that are equal to those of p, with the
// same slice of pods, are not read again. p is unchanged and shares its catalog
// with the result. Places to try first are left out: see Nominating. The error is that of
// Prepare, but that what nodes on their way out have room for is not looked at.
func (p *Problem) WithNodes(nodes []Node, pods []*corev1.Pod) (*Problem, error) {
	in := p.in
	in.Nodes, in.Pods, in.Nominated = nodes, pods, nil
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

// Nominating returns the problem with other places to try first, as Input.Nominated has
// them. p is unchanged and shares its catalog with the result. The error is that of
// Prepare, of these places alone.
func (p *Problem) Nominating(places map[types.NamespacedName]string) (*Problem, error) {
	var f faults
	out := *p
	out.in.Nominated = places
	if out.readNominated(&f); f.err() != nil {
		return nil, f.err()
	}
	return &out, nil
}

// readNominated notes which pods are to be tried on which nodes first.
func (p *Problem) readNominated(f *faults) {
	p.nominated = nil
	if len(p.in.Nominated) == 0 {
		return
	}
	left := maps.Clone(p.in.Nominated)
	for podID, pod := range p.pods {
		name := types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}
		node, found := left[name]
		if !found || p.headroom[pod] {
			continue
		}
		delete(left, name)
		p.nominated = append(p.nominated, nominated{int32(podID), node})
	}
	byName := func(a, b types.NamespacedName) int { return strings.Compare(a.String(), b.String()) }
	for _, pod := range slices.SortedFunc(maps.Keys(left), byName) {
		f.add("Nominated", pod.String(), "is not among Pods: only a pod that waits can be tried on a node; leave it out")
	}
}

// nominated is a pod, by rank, and the node to try it on first.
type nominated struct {
	podID int32
	node  string
}

// solveNominated finds the plan in which pods are where they are nominated to, as far as
// that holds: by the checks of kube-scheduler, one pod after the other. Those that are
// refused are tried again after the others, as long as that places some.
func (p *Problem) solveNominated(ctx context.Context) (*Plan, error) {
	a := &assembler{p: p, s: p.first, placed: make([]bool, len(p.pods)), bound: make([][]int32, len(p.nodes))}
	bins := a.bins()
	at := make(map[string]*bin, len(p.nodes))
	for i := range p.nodes {
		at[p.nodes[i].Name()] = bins[i]
	}
	g := &inserter{a: a, p: p, left: mostLooks, ledger: newLedger(p, bins)}
	for waiting, again := p.nominated, true; again; {
		again = false
		waiting = slices.DeleteFunc(slices.Clone(waiting), func(n nominated) bool {
			c, s := a.classOf[n.podID], at[n.node]
			if s == nil || p.classes[c].refusal != nil || !g.onto(s, c) || !g.outlasts(c, s) {
				return false
			}
			g.put(s, c, n.podID)
			again = true
			return true
		})
	}
	in := p.in
	in.Nominated, in.Nodes, in.Pods = nil, slices.Clone(in.Nodes), nil
	binds := map[string][]*corev1.Pod{}
	for podID, pod := range p.pods {
		if !a.placed[podID] && !p.headroom[pod] {
			in.Pods = append(in.Pods, pod)
		}
	}
	for i := range bins {
		a.sort(bins[i].podIDs)
		if podIDs := bins[i].podIDs; len(podIDs) > 0 {
			binds[p.nodes[i].Name()] = a.pods(podIDs)
		}
	}
	for i, n := range in.Nodes {
		if here := binds[n.Name()]; len(here) > 0 {
			in.Nodes[i].Pods = slices.Concat(n.Pods, boundTo(n.Name(), here))
		}
	}
	rest, err := prepare(in, p.opts, p, p.passed)
	if err != nil {
		return nil, err
	}
	plan, err := rest.Solve(ctx)
	if err != nil {
		return nil, err
	}
	plan.addNominated(binds, a.inOrder(g.order))
	return plan, nil
}

// outlasts says whether the topology spreads of a class let a pod onto a bin even where
// a new node, which is a domain over the names of nodes, makes one of what is none so far:
// what will be launched is not known yet.
func (g *inserter) outlasts(c int, s *bin) bool {
	for _, i := range g.ledger.hostsOf(c) {
		if h := &g.ledger.hosts.spreads[i]; len(g.p.lowOptions) > 0 && h.there[s.number]+1 > h.rule.term.skew {
			return false
		}
	}
	for _, r := range g.p.rules.duties[c].owns {
		rule, count := &g.p.rules.domain[r], &g.ledger.counts[r]
		if rule.Kind != topology.Spread || rule.Rule.Key < 0 {
			continue
		}
		own, opens := 0, false
		if g.p.classes[c].selected.Has(rule.pods) {
			own = 1
		}
		for d := range count.is {
			opens = opens || !count.is[d] && g.p.lookedAt(rule, false).Overlaps(g.p.inPlace(rule.Rule.Key, d))
		}
		for _, d := range s.at[rule.Rule.Key].domains {
			if opens && count.most[d]+own > rule.Skew {
				return false
			}
		}
	}
	return true
}

// boundTo are pods as they are on a node.
func boundTo(node string, pods []*corev1.Pod) []*corev1.Pod {
	out := make([]*corev1.Pod, len(pods))
	for i, pod := range pods {
		bound := *pod // a shallow copy: nothing below is written
		bound.Spec.NodeName = node
		out[i] = &bound
	}
	return out
}

// addNominated adds the pods that have the places that they were nominated to. What a
// plan costs at least that puts them elsewhere is not known.
func (p *Plan) addNominated(binds map[string][]*corev1.Pod, order []*corev1.Pod) {
	if len(order) == 0 {
		return
	}
	for i := range p.Bind {
		if here := binds[p.Bind[i].Node]; len(here) > 0 {
			p.Bind[i].Pods = slices.Concat(here, p.Bind[i].Pods)
			slices.SortFunc(p.Bind[i].Pods, comparePods)
			delete(binds, p.Bind[i].Node)
		}
	}
	for node, here := range binds { // sorted below
		p.Bind = append(p.Bind, Binding{Node: node, Pods: here})
	}
	slices.SortFunc(p.Bind, func(x, y Binding) int { return strings.Compare(x.Node, y.Node) })
	p.Order = slices.Concat(order, p.Order)
	p.Stats.Pods += len(order)
	p.LowerBound, p.ObjectiveBound, p.floor = 0, 0, 0
}
