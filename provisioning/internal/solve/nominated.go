package solve

import (
	"context"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/provisioning/internal/compile"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/ledger"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/model"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/topology"
)

// solveNominated finds the plan in which pods are where they are nominated to, as far as
// that holds: by the checks of kube-scheduler, one pod after the other. Those that are
// refused are tried again after the others, as long as that places some.
func (s *Solver) solveNominated(ctx context.Context) (*Solution, error) {
	p := s.p
	a := &assembler{p: p, s: s.first, placed: make([]bool, len(p.Pods)), bound: make([][]int32, len(p.Nodes))}
	bins := a.bins()
	at := make(map[string]*ledger.Bin, len(p.Nodes))
	for i := range p.Nodes {
		at[p.Nodes[i].Name()] = bins[i]
	}
	g := &inserter{a: a, p: p, left: mostLooks, ledger: ledger.New(p, bins)}
	for waiting, again := p.Nominated, true; again; {
		again = false
		waiting = slices.DeleteFunc(slices.Clone(waiting), func(n compile.Nominated) bool {
			c, b := a.p.ClassOf[n.PodID], at[n.Node]
			if b == nil || p.Classes[c].Refusal != nil || !g.onto(b, c) || !g.outlasts(c, b) {
				return false
			}
			g.put(b, c, n.PodID)
			again = true
			return true
		})
	}
	in := p.In
	in.Nominated, in.Nodes, in.Pods = nil, slices.Clone(in.Nodes), nil
	binds := map[string][]*corev1.Pod{}
	for podID, pod := range p.Pods {
		if !a.placed[podID] && !p.Headroom[pod] {
			in.Pods = append(in.Pods, pod)
		}
	}
	for i := range bins {
		a.sort(bins[i].PodIDs)
		if podIDs := bins[i].PodIDs; len(podIDs) > 0 {
			binds[p.Nodes[i].Name()] = a.pods(podIDs)
		}
	}
	for i, n := range in.Nodes {
		if here := binds[n.Name()]; len(here) > 0 {
			in.Nodes[i].Pods = slices.Concat(n.Pods, boundTo(n.Name(), here))
		}
	}
	var f model.Faults
	rest := compile.NewProblem(in, p.Spare, p.Opts, p, p.Passed, &f)
	if rest == nil {
		return nil, f.Err()
	}
	plan, err := New(rest).Solve(ctx)
	if err != nil {
		return nil, err
	}
	plan.addNominated(binds, a.inOrder(g.order))
	return plan, nil
}

// outlasts says whether the topology spreads of a class let a pod onto a bin even where
// a new node, which is a domain over the names of nodes, makes one of what is none so far:
// what will be launched is not known yet.
func (g *inserter) outlasts(c int, s *ledger.Bin) bool {
	for _, i := range g.ledger.HostsOf(c) {
		if h := &g.ledger.Hosts.Spreads[i]; len(g.p.LowOptions) > 0 && h.There[s.Number]+1 > h.Rule.Term.Skew {
			return false
		}
	}
	for _, r := range g.p.Rules.Duties[c].Owns {
		rule, count := &g.p.Rules.Domain[r], &g.ledger.Counts[r]
		if rule.Kind != topology.Spread || rule.Rule.Key < 0 {
			continue
		}
		own, opens := 0, false
		if g.p.Classes[c].Selected.Has(rule.Pods) {
			own = 1
		}
		for d := range count.Is {
			opens = opens || !count.Is[d] && g.p.LookedAt(rule, false).Overlaps(g.p.InPlace(rule.Rule.Key, d))
		}
		for _, d := range s.At[rule.Rule.Key].Domains {
			if opens && count.Most[d]+own > rule.Skew {
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
func (s *Solution) addNominated(binds map[string][]*corev1.Pod, order []*corev1.Pod) {
	if len(order) == 0 {
		return
	}
	for i := range s.Bind {
		if here := binds[s.Bind[i].Node]; len(here) > 0 {
			s.Bind[i].Pods = slices.Concat(here, s.Bind[i].Pods)
			slices.SortFunc(s.Bind[i].Pods, model.ComparePods)
			delete(binds, s.Bind[i].Node)
		}
	}
	for node, here := range binds { // sorted below
		s.Bind = append(s.Bind, model.Binding{Node: node, Pods: here})
	}
	slices.SortFunc(s.Bind, func(x, y model.Binding) int { return strings.Compare(x.Node, y.Node) })
	s.Order = slices.Concat(order, s.Order)
	s.Stats.Pods += len(order)
	s.LowerBound, s.ObjectiveBound, s.floor = 0, 0, 0
}
