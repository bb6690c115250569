package disruption

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// Stay says what keeps the pods of a node off the other nodes; see Proposal.Why.
// What it points at is the input's.
type Stay struct {
	// Node is the name of the node.
	Node string
	// Others is how many other nodes there are that stay.
	Others int
	// Placed is how many pods of the node find room on those.
	Placed int
	// Pods are those that find none, by namespace and name.
	Pods []StayingPod
}

// StayingPod is a pod that finds no place on another node.
type StayingPod struct {
	// Pod is the pod.
	Pod *corev1.Pod
	// Reason is that of the engine: where a constraint over zones, or over
	// other labels that several nodes share, is in the way, it says which.
	// NodePools play no part in it.
	Reason *provisioning.Reason
	// Unsuited, Full and Open are how many of the other nodes its node selection
	// or their taints rule out, have no room for it, or have. Those that take no
	// pods that are moved to save money are full, such as those of
	// Fleet.Settling.
	Unsuited, Full, Open int
	// Barriers are what keeps the pod from nodes that have room for it, with all
	// that speaks against each: of the open ones, or if none is suited of those
	// that are not, the first six by name.
	Barriers []Barrier
}

// Barrier is what keeps a pod from a node.
type Barrier struct {
	// Node is the name of the node.
	Node string
	// Rule is what would be broken, as Verify of package provisioning has it.
	Rule provisioning.Rule
	// Detail is one line without a full stop. It names the other pod where one
	// is in the way.
	Detail string
}

// Why says what keeps the pods of a node off the other nodes, once Actions are under
// way: which of them find no place there, and the constraint that binds, be it an
// anti-affinity, a host port, a volume, a taint or a lack of room. It is for a node
// that is left alone since new nodes would cost as much as it does (RuleNotCheaper),
// but answers for any that no action is about.
//
// The engine is asked anew, so it takes about as long as one simulation, and some
// milliseconds for each pod that finds no place in a cluster of some hundred nodes.
// Pods of one kind are looked at once. Nothing of that is done unless Why is called.
//
// The error says that there is no such node, that it goes, or that the engine
// refuses the input; or it is that of ctx.
func (p *Proposal) Why(ctx context.Context, node string) (*Stay, error) {
	if p.fleet == nil || p.fleet.byName[node] == nil {
		return nil, fmt.Errorf("disruption: there is no node %q in the input of the proposal; name a node of Blocked", node)
	}
	for _, a := range p.Actions {
		if slices.ContainsFunc(a.Targets, func(t Target) bool { return t.Node == node }) {
			return nil, fmt.Errorf("disruption: node %q does not stay: %s", node, a)
		}
	}
	w, err := newWorld(ctx, p.fleet.pinned(), p.Actions)
	if err != nil {
		return nil, err
	}
	w.in.NodePools, w.in.InstanceTypes, w.market, w.shared = nil, nil, nil, nil
	if w.refused == nil {
		w.compile()
	}
	if w.refused != nil {
		return nil, fmt.Errorf("disruption: the engine refuses the input: %w", w.refused)
	}
	s := &stay{w: w, m: p.fleet.byName[node]}
	return s.ask(ctx)
}

// stay answers for one node.
type stay struct {
	w      *world
	m      *member
	e      *estimate
	nodes  []provisioning.Node                 // the cluster without the node, and with those of its pods that found a place
	others []*member                           // that stay
	known  map[*provisioning.Reason]StayingPod // of the first of its kind
}

func (s *stay) ask(ctx context.Context) (*Stay, error) {
	problem, home, err := s.w.emptied([]*member{s.m})
	if err != nil {
		return nil, fmt.Errorf("disruption: the engine refuses the input: %w", err)
	}
	plan, err := s.w.solve(ctx, problem, len(home))
	if err != nil {
		return nil, err
	}
	out := &Stay{Node: s.m.name}
	for _, m := range s.w.f.members {
		if m != s.m && !s.w.leaving[m.name] {
			s.others = append(s.others, m)
		}
	}
	out.Others = len(s.others)
	s.e = newEstimate(s.w, nil)
	s.nodes = slices.Clone(s.w.in.Nodes)
	at := s.w.at[s.m.name]
	s.nodes[at] = leavingNode(s.nodes[at])
	s.nodes[at].Pods = s.m.staying()
	for _, b := range plan.Bind {
		for _, p := range b.Pods {
			if home[podObject(p)] != nil {
				out.Placed++
				n := &s.nodes[s.w.at[b.Node]]
				n.Pods = append(slices.Clone(n.Pods), onNode(p, b.Node))
			}
		}
	}
	s.known = map[*provisioning.Reason]StayingPod{}
	for _, u := range plan.Unplaced {
		if home[podObject(u.Pod)] != nil {
			if p := s.pod(u); p.Pod != nil {
				out.Pods = append(out.Pods, p)
			}
		}
	}
	return out, ctx.Err()
}

// pod looks at a pod that found no place. It is nil for one that only stands for spare
// room.
func (s *stay) pod(u provisioning.Unplaced) StayingPod {
	i := slices.IndexFunc(s.m.pods, func(p *podView) bool { return podObject(p.Pod) == podObject(u.Pod) })
	if i < 0 {
		return StayingPod{}
	}
	own := s.m.pods[i].Pod
	if known, found := s.known[u.Reason]; found {
		known.Pod = own
		return known
	}
	out := StayingPod{Pod: own, Reason: u.Reason}
	kind := s.w.kinds.of(own)
	request := s.e.vector(kind.requests.With(corev1.ResourcePods, 1))
	asked := kind.asks(s.w.f.vocabulary)
	var open, shut []*member
	for _, m := range s.others {
		entry := s.nodes[s.w.at[m.name]]
		room := takesPods(entry) && holds(s.e.free(entry), request)
		switch suited := entry.Node != nil && admits(entry.Node, requirements.FromLabels(entry.Node.Labels, s.w.f.vocabulary), own, asked); {
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
	for _, m := range open[:min(len(open), mostBarriers)] {
		out.Barriers = append(out.Barriers, s.barriers(own, u.Pod, m)...)
	}
	s.known[u.Reason] = out
	return out
}

// mostBarriers is of how many nodes with room it is said what keeps a pod from them.
const mostBarriers = 6

// barriers are what keeps a pod from a node that has room for it: what the referee
// finds where it is put there after all others, or else the domain that it must keep.
// asked is the pod as the engine had it.
func (s *stay) barriers(own, asked *corev1.Pod, m *member) []Barrier {
	pod := onNode(own, "")
	in := s.w.in
	in.Nodes, in.Pods = s.nodes, []*corev1.Pod{pod}
	plan := &provisioning.Plan{Bind: []provisioning.Binding{{Node: m.name, Pods: in.Pods}}, Order: in.Pods}
	var out []Barrier
	for _, v := range provisioning.Verify(in, plan, &s.w.opts) {
		if v.Node == m.name {
			out = append(out, Barrier{Node: m.name, Rule: v.Rule, Detail: v.Message})
		}
	}
	if len(out) > 0 {
		return out
	}
	for _, key := range sortedKeys(asked.Spec.NodeSelector) {
		value := asked.Spec.NodeSelector[key]
		if _, given := own.Spec.NodeSelector[key]; !given && m.labels[key] != value {
			out = append(out, Barrier{Node: m.name, Rule: s.keeps(own, key), Detail: fmt.Sprintf(
				"it stays where %s is %s, so that constraints over that label hold whatever becomes of other pods", key, value)})
		}
	}
	return out
}

// keeps is the kind of constraint for the sake of which a pod keeps a label of its
// node: its own, or else an affinity of others.
func (s *stay) keeps(p *corev1.Pod, key string) provisioning.Rule {
	spreads, _ := s.w.defaults.Of(p)
	for _, t := range spreads {
		if t.TopologyKey == key {
			return provisioning.RuleSpread
		}
	}
	if a := p.Spec.Affinity; a != nil && a.PodAntiAffinity != nil {
		for _, t := range a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution {
			if t.TopologyKey == key {
				return provisioning.RuleAntiAffinity
			}
		}
	}
	return provisioning.RuleAffinity
}
