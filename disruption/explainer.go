package disruption

import (
	"context"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/disruption/internal/estimate"
	"github.com/dovetail-sdk/dovetail/disruption/internal/simulation"
	"github.com/dovetail-sdk/dovetail/disruption/internal/state"
	"github.com/dovetail-sdk/dovetail/internal/podlife"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/verify"
)

// explainer explains one node.
type explainer struct {
	sim    *simulation.Simulation
	node   *state.StateNode
	e      *estimate.Estimate
	nodes  []provisioning.Node                          // the cluster without the node, with those of its pods that have a place
	others []*state.StateNode                           // nodes that stay
	known  map[*provisioning.Explanation]PodExplanation // by reason: the explanation of the first pod with it
}

// ask returns the explanation of the node, with existing nodes only. The error is that of ctx, or
// says why the engine refuses the cluster.
func (s *explainer) ask(ctx context.Context) (*Explanation, error) {
	if s.sim.StopLaunching(); s.sim.Refused != nil {
		return nil, s.sim.Refused
	}
	problem, home, err := s.sim.Emptied([]*state.StateNode{s.node})
	if err != nil {
		return nil, err
	}
	plan, err := s.sim.Solve(ctx, problem, len(home))
	if err != nil {
		return nil, err
	}
	out := &Explanation{Node: s.node.Name}
	for _, m := range s.sim.Cluster.Nodes {
		if m != s.node && !s.sim.Leaving[m.Name] {
			s.others = append(s.others, m)
		}
	}
	out.Others = len(s.others)
	if s.e = s.sim.Estimate(nil); s.e == nil {
		return nil, s.sim.Refused
	}
	s.nodes = slices.Clone(s.sim.In.Nodes)
	at := s.sim.At[s.node.Name]
	s.nodes[at] = s.nodes[at].Leaving()
	s.nodes[at].Pods = s.node.Staying()
	for _, b := range plan.Bind {
		for _, p := range b.Pods {
			if home[state.NameOf(p)] != nil {
				out.Placed++
				n := &s.nodes[s.sim.At[b.Node]]
				n.Pods = append(slices.Clone(n.Pods), podlife.Moved(p, b.Node))
			}
		}
	}
	s.known = map[*provisioning.Explanation]PodExplanation{}
	for _, u := range plan.Unplaced {
		if home[state.NameOf(u.Pod)] != nil {
			if p := s.pod(u); p.Pod != nil {
				out.Pods = append(out.Pods, p)
			}
		}
	}
	return out, ctx.Err()
}

// pod explains a pod without a place. It returns the zero value for a headroom pod.
func (s *explainer) pod(u provisioning.Unplaced) PodExplanation {
	i := slices.IndexFunc(s.node.PodViews, func(p *state.PodView) bool { return state.NameOf(p.Pod) == state.NameOf(u.Pod) })
	if i < 0 {
		return PodExplanation{}
	}
	own := s.node.PodViews[i].Pod
	if known, found := s.known[u.Explanation]; found {
		known.Pod = own
		return known
	}
	out := PodExplanation{Pod: own, Explanation: u.Explanation}
	var open, shut []*state.StateNode
	for _, m := range s.others {
		entry := s.nodes[s.sim.At[m.Name]]
		room := s.e.HasRoom(entry, own)
		switch suited := entry.Node != nil && s.e.Suits(own, m.Name); {
		case !suited:
			out.Unsuited++
			if room {
				shut = append(shut, m)
			}
		case room:
			open = append(open, m)
		default:
			out.Full++
		}
	}
	if out.Open = len(open); out.Open+out.Full == 0 {
		open = shut
	}
	for _, m := range open[:min(len(open), mostConflicts)] {
		out.Conflicts = append(out.Conflicts, s.conflicts(own, u.Pod, m)...)
	}
	s.known[u.Explanation] = out
	return out
}

// mostConflicts is the number of nodes for which conflicts of a pod are listed.
const mostConflicts = 6

// conflicts returns why a node with room for a pod excludes it: the violations that the referee
// finds if the pod is bound there after all others, or else the domain that the pod must keep.
// asked is the pod as the engine had it.
func (s *explainer) conflicts(own, asked *corev1.Pod, m *state.StateNode) []Conflict {
	pod := podlife.Moved(own, "")
	in := s.sim.In
	in.Nodes, in.Pods = s.nodes, []*corev1.Pod{pod}
	plan := &provisioning.Plan{Bind: []provisioning.Binding{{Node: m.Name, Pods: in.Pods}}, Order: in.Pods}
	var out []Conflict
	for _, v := range verify.Plan(in, plan, &s.sim.Opts) {
		if v.Node == m.Name {
			out = append(out, Conflict{Node: m.Name, Rule: v.Rule, Detail: v.Message})
		}
	}
	if len(out) > 0 {
		return out
	}
	for _, key := range slices.Sorted(maps.Keys(asked.Spec.NodeSelector)) {
		value := asked.Spec.NodeSelector[key]
		if _, given := own.Spec.NodeSelector[key]; !given && m.Labels[key] != value {
			out = append(out, Conflict{Node: m.Name, Rule: s.keeps(own, key), Detail: fmt.Sprintf(
				"it stays where %s is %s, so that constraints over that label hold whatever becomes of other pods", key, value)})
		}
	}
	return out
}

// keeps returns the kind of constraint because of which a pod must keep a label of its node: the
// pod's own constraint, or else an affinity of others.
func (s *explainer) keeps(p *corev1.Pod, key string) verify.Rule {
	switch spread, apart := s.sim.Constraints(p, key); {
	case spread:
		return verify.RuleSpread
	case apart:
		return verify.RuleAntiAffinity
	}
	return verify.RuleAffinity
}
