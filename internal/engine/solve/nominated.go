package solve

import (
	"context"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/internal/engine/compile"
	"github.com/dovetail-sdk/dovetail/internal/engine/model"
	"github.com/dovetail-sdk/dovetail/internal/engine/repair"
)

// solveNominated returns the solution in which pods are on their nominated nodes, as far as the
// checks of kube-scheduler allow it for one pod after the other.
func (s *Solver) solveNominated(ctx context.Context) (*Solution, error) {
	p := s.p
	st := repair.New(p, s.first, 0)
	order := st.Nominate()
	a := &assembler{p: p, s: s.first, st: st}
	in := p.In
	in.Nominated, in.Nodes, in.Pods = nil, slices.Clone(in.Nodes), nil
	binds := map[string]model.Binding{}
	for podID, pod := range p.Pods {
		if !a.st.Placed[podID] && !p.Headroom[pod] {
			in.Pods = append(in.Pods, pod)
		}
	}
	for i, podIDs := range st.Bound {
		a.sort(podIDs)
		if len(podIDs) > 0 {
			binds[p.Nodes[i].Name()] = model.Binding{Node: p.Nodes[i].Name(), Pods: a.pods(podIDs), After: p.Nodes[i].Ending}
		}
	}
	for i, n := range in.Nodes {
		if here := binds[n.Name()].Pods; len(here) > 0 {
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
	plan.addNominated(binds, a.inOrder(order))
	return plan, nil
}

// boundTo returns copies of pods, bound to a node.
func boundTo(node string, pods []*corev1.Pod) []*corev1.Pod {
	out := make([]*corev1.Pod, len(pods))
	for i, pod := range pods {
		bound := *pod // a shallow copy: the code below writes to no field it shares
		bound.Spec.NodeName = node
		out[i] = &bound
	}
	return out
}

// addNominated adds the pods on their nominated nodes. It sets no lower bounds, because the cost of
// a plan that puts these pods elsewhere is not known.
func (s *Solution) addNominated(binds map[string]model.Binding, order []*corev1.Pod) {
	if len(order) == 0 {
		return
	}
	for i := range s.Bind {
		if here := binds[s.Bind[i].Node].Pods; len(here) > 0 {
			s.Bind[i].Pods = slices.Concat(here, s.Bind[i].Pods)
			slices.SortFunc(s.Bind[i].Pods, model.ComparePods)
			delete(binds, s.Bind[i].Node)
		}
	}
	for _, bind := range binds { // the order does not matter: the list is sorted below
		s.Bind = append(s.Bind, bind)
	}
	slices.SortFunc(s.Bind, func(x, y model.Binding) int { return strings.Compare(x.Node, y.Node) })
	s.Order = slices.Concat(order, s.Order)
	s.Stats.Pods += len(order)
	s.LowerBound, s.ObjectiveBound, s.floor = 0, 0, 0
}
