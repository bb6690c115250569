package disruption

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/disruption/internal/estimate"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
	"github.com/dovetail-sdk/dovetail/provisioning/verify"
)

// Explanation says what keeps the pods of a node off the other nodes; see Proposal.Explain.
// What it points at is the input's.
type Explanation struct {
	// Node is the name of the node.
	Node string
	// Others is how many other nodes there are that stay.
	Others int
	// Placed is how many pods of the node find room on those.
	Placed int
	// Pods are those that find none, by namespace and name.
	Pods []PodExplanation
}

// PodExplanation is a pod that finds no place on another node.
type PodExplanation struct {
	// Pod is the pod.
	Pod *corev1.Pod
	// Reason is that of the engine: where a constraint over zones, or over
	// other labels that several nodes share, is in the way, it says which.
	// NodePools play no part in it.
	Reason *provisioning.Reason
	// Unsuited, Full and Open are how many of the other nodes its node selection
	// or their taints rule out, have no room for it, or have. Those that take no
	// pods that are moved to save money are full, such as those that
	// consolidateAfter keeps quiet.
	Unsuited, Full, Open int
	// Conflicts are what keeps the pod from nodes that have room for it, with all
	// that speaks against each: of the open ones, or if none is suited of those
	// that are not, the first six by name.
	Conflicts []Conflict
}

// Conflict is what keeps a pod from a node.
type Conflict struct {
	// Node is the name of the node.
	Node string
	// Rule is what would be broken, as package verify has it.
	Rule verify.Rule
	// Detail is one line without a full stop. It names the other pod where one
	// is in the way.
	Detail string
}

// Explain says what keeps the pods of a node off the other nodes, once Actions are under
// way: which of them find no place there, and the constraint that binds, be it an
// anti-affinity, a host port, a volume, a taint or a lack of room. It is for a node
// that is left alone since new nodes would cost as much as it does (CodeNotCheaper),
// but answers for any that no action is about.
//
// The engine is asked anew, so it takes about as long as one simulation, and some
// milliseconds for each pod that finds no place in a cluster of some hundred nodes.
// Pods of one kind are looked at once. Nothing of that is done unless Why is called.
//
// The error says that there is no such node, that it goes, or that the engine
// refuses the input; or it is that of ctx.
func (p *Proposal) Explain(ctx context.Context, node string) (*Explanation, error) {
	if p.cluster == nil || p.cluster.byName[node] == nil {
		return nil, fmt.Errorf("disruption: there is no node %q in the input of the proposal; name a node of Blocked", node)
	}
	for _, a := range p.Actions {
		if slices.ContainsFunc(a.Targets, func(t Target) bool { return t.Node == node }) {
			return nil, fmt.Errorf("disruption: node %q does not stay: %s", node, a)
		}
	}
	f := p.cluster
	if !f.asksSingles(p.Actions) {
		f = f.pinned()
	}
	w, err := newSimulation(ctx, f, p.Actions)
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
	s := &explainer{w: w, m: p.cluster.byName[node]}
	return s.ask(ctx)
}

// explainer answers for one node.
type explainer struct {
	w      *simulation
	m      *stateNode
	e      *estimate.Estimate
	nodes  []provisioning.Node                     // the cluster without the node, and with those of its pods that found a place
	others []*stateNode                            // that stay
	known  map[*provisioning.Reason]PodExplanation // of the first of its kind
}

func (s *explainer) ask(ctx context.Context) (*Explanation, error) {
	problem, home, err := s.w.emptied([]*stateNode{s.m})
	if err != nil {
		return nil, fmt.Errorf("disruption: the engine refuses the input: %w", err)
	}
	plan, err := s.w.solve(ctx, problem, len(home))
	if err != nil {
		return nil, err
	}
	out := &Explanation{Node: s.m.name}
	for _, m := range s.w.cluster.nodes {
		if m != s.m && !s.w.leaving[m.name] {
			s.others = append(s.others, m)
		}
	}
	out.Others = len(s.others)
	s.e = s.w.estimate(nil)
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
	s.known = map[*provisioning.Reason]PodExplanation{}
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
func (s *explainer) pod(u provisioning.Unplaced) PodExplanation {
	i := slices.IndexFunc(s.m.pods, func(p *podView) bool { return podObject(p.Pod) == podObject(u.Pod) })
	if i < 0 {
		return PodExplanation{}
	}
	own := s.m.pods[i].Pod
	if known, found := s.known[u.Reason]; found {
		known.Pod = own
		return known
	}
	out := PodExplanation{Pod: own, Reason: u.Reason}
	kind := s.w.kinds.Of(own)
	request := s.e.Vector(kind.Requests.With(corev1.ResourcePods, 1))
	asked := kind.Asks(s.w.cluster.vocabulary)
	var open, shut []*stateNode
	for _, m := range s.others {
		entry := s.nodes[s.w.at[m.name]]
		room := estimate.TakesPods(entry) && estimate.Holds(s.e.Free(entry), request)
		switch suited := entry.Node != nil && estimate.Admits(entry.Node, requirements.FromLabels(entry.Node.Labels, s.w.cluster.vocabulary), own, asked); {
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
	s.known[u.Reason] = out
	return out
}

// mostConflicts is of how many nodes with room it is said what keeps a pod from them.
const mostConflicts = 6

// conflicts are what keeps a pod from a node that has room for it: what the referee
// finds where it is put there after all others, or else the domain that it must keep.
// asked is the pod as the engine had it.
func (s *explainer) conflicts(own, asked *corev1.Pod, m *stateNode) []Conflict {
	pod := onNode(own, "")
	in := s.w.in
	in.Nodes, in.Pods = s.nodes, []*corev1.Pod{pod}
	plan := &provisioning.Plan{Bind: []provisioning.Binding{{Node: m.name, Pods: in.Pods}}, Order: in.Pods}
	var out []Conflict
	for _, v := range verify.Plan(in, plan, &s.w.opts) {
		if v.Node == m.name {
			out = append(out, Conflict{Node: m.name, Rule: v.Rule, Detail: v.Message})
		}
	}
	if len(out) > 0 {
		return out
	}
	for _, key := range slices.Sorted(maps.Keys(asked.Spec.NodeSelector)) {
		value := asked.Spec.NodeSelector[key]
		if _, given := own.Spec.NodeSelector[key]; !given && m.labels[key] != value {
			out = append(out, Conflict{Node: m.name, Rule: s.keeps(own, key), Detail: fmt.Sprintf(
				"it stays where %s is %s, so that constraints over that label hold whatever becomes of other pods", key, value)})
		}
	}
	return out
}

// keeps is the kind of constraint for the sake of which a pod keeps a label of its
// node: its own, or else an affinity of others.
func (s *explainer) keeps(p *corev1.Pod, key string) verify.Rule {
	spreads, _ := s.w.defaults.Of(p)
	for _, t := range spreads {
		if t.TopologyKey == key {
			return verify.RuleSpread
		}
	}
	if a := p.Spec.Affinity; a != nil && a.PodAntiAffinity != nil {
		for _, t := range a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution {
			if t.TopologyKey == key {
				return verify.RuleAntiAffinity
			}
		}
	}
	return verify.RuleAffinity
}

// String says in one line what keeps the first pod.
func (s *Explanation) String() string {
	if len(s.Pods) == 0 {
		return fmt.Sprintf("other nodes have places for %s of %s", plural(s.Placed, "pod"), s.Node)
	}
	text := podObject(s.Pods[0].Pod) + s.Pods[0].headline(s.Others, 1)
	if why := s.Pods[0].lines(); len(why) > 0 {
		text += "; " + why[0]
	}
	if n := len(s.Pods) - 1; n > 0 {
		text += "; nor " + doPlural(n, "other pod")
	}
	return text
}

func doPlural(n int, thing string) string {
	if n == 1 {
		return "does 1 " + thing
	}
	return "do " + plural(n, thing)
}

// Report says all of it: a line for pods of each kind, and one for each thing that
// keeps them from a node. Each line ends in a line break.
func (s *Explanation) Report() string {
	var b strings.Builder
	if s.Placed > 0 || len(s.Pods) == 0 {
		fmt.Fprintf(&b, "other nodes have places for %d of %s\n", s.Placed, plural(s.Placed+len(s.Pods), "pod"))
	}
	said := map[*provisioning.Reason]bool{}
	for i := range s.Pods {
		p := &s.Pods[i]
		if said[p.Reason] {
			continue
		}
		said[p.Reason] = true
		name, like := podObject(p.Pod), -1
		for _, other := range s.Pods {
			if other.Reason == p.Reason {
				like++
			}
		}
		if like > 0 {
			name += fmt.Sprintf(" and %d like it", like)
		}
		b.WriteString(name + p.headline(s.Others, 1+like) + "\n")
		for _, line := range p.lines() {
			b.WriteString("  " + line + "\n")
		}
	}
	return b.String()
}

// headline says that so many pods like this one find no place.
func (p *PodExplanation) headline(others, pods int) string {
	text := " finds no place on " + plural(others, "other node")
	if pods > 1 {
		text = " find no place on " + plural(others, "other node")
	}
	var parts []string
	if p.Unsuited > 0 {
		parts = append(parts, fmt.Sprintf("labels or taints rule out %d", p.Unsuited))
	}
	if p.Full > 0 {
		parts = append(parts, numbered(p.Full, "has no room", "have no room"))
	}
	if p.Open > 0 {
		parts = append(parts, numbered(p.Open, "has room", "have room"))
	}
	if len(parts) > 0 {
		text += ": " + strings.Join(parts, ", ")
	}
	return text
}

func numbered(n int, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, more)
}

// lines say what keeps the pod, the domains of its constraints first.
func (p *PodExplanation) lines() []string {
	var out []string
	if p.Reason != nil {
		switch p.Reason.Cause {
		case provisioning.CauseNoNodePool, provisioning.CauseNodePools: // what nodes could be launched is another matter
		default:
			out = append(out, p.Reason.String())
		}
	}
	for _, b := range p.Conflicts {
		out = append(out, b.Node+": "+b.Detail)
	}
	return out
}
