package disruption

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/disruption/internal/simulation"
	"github.com/dovetail-sdk/dovetail/disruption/internal/state"
	"github.com/dovetail-sdk/dovetail/disruption/internal/words"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/verify"
)

// Explanation says why the pods of a node cannot go to other nodes; see Proposal.Explain. Its
// pointers point into the input.
type Explanation struct {
	// Node is the name of the node.
	Node string
	// Others is the number of other nodes that stay.
	Others int
	// Placed is the number of the node's pods that have room on other nodes.
	Placed int
	// Pods are the pods without a place on other nodes, sorted by namespace and name.
	Pods []PodExplanation
}

// PodExplanation is a pod without a place on another node.
type PodExplanation struct {
	// Pod is as in the input.
	Pod *corev1.Pod
	// Explanation is the engine's reason. If a constraint over zones, or over other labels that several
	// nodes share, excludes the pod, the reason names it. NodePools have no part in it.
	Explanation *provisioning.Explanation
	// Unsuited is the number of other nodes that the pod's node selection or their taints exclude,
	// Full the number without room for it, and Open the number with room. Nodes that take no pods
	// that move to save money, for example because of consolidateAfter, count as Full.
	Unsuited, Full, Open int
	// Conflicts are the constraints that exclude the pod from nodes with room for it, with all
	// causes for each node: for the first six Open nodes by name, or else for the first six
	// Unsuited ones.
	Conflicts []Conflict
}

// Conflict is a constraint that excludes a pod from a node.
type Conflict struct {
	// Node is the name of the node.
	Node string
	// Rule is the rule that would be broken, as named by package verify.
	Rule verify.Rule
	// Detail is one line without a full stop. It names the other pod if one is the cause.
	Detail string
}

// Explain says why the pods of a node cannot go to other nodes once Actions are under way: which of
// them have no place there, and which constraint excludes them, such as an anti-affinity, a host
// port, a volume, a taint or a lack of room. It is meant for a node that stays because new nodes
// would cost as much as it does (CodeNotCheaper), but it works for any node without an action.
//
// The engine is called again, so Explain takes about as long as one simulation, plus some
// milliseconds for each pod without a place in a cluster of some hundred nodes. Pods of one kind
// are examined once. A Proposal contains no explanations until Explain is called.
//
// The error says that there is no such node, that the node is being removed, or that the engine
// refuses the input; or it is that of ctx.
func (p *Proposal) Explain(ctx context.Context, node string) (*Explanation, error) {
	if p.cluster == nil || p.cluster.seen.ByName[node] == nil {
		return nil, fmt.Errorf("disruption: there is no node %q in the input of the proposal; name a node of Blocked", node)
	}
	for _, a := range p.Actions {
		if slices.ContainsFunc(a.Targets, func(t Target) bool { return t.Node == node }) {
			return nil, fmt.Errorf("disruption: node %q does not stay: %s", node, a)
		}
	}
	f := p.cluster
	config := f.simulationConfig()
	config.Pin = !f.asksSingles(p.Actions)
	var begun []simulation.Decision
	for _, a := range p.Actions {
		if !a.Simulated {
			begun = append(begun, decisionOf(a, f.seen.Now))
		}
	}
	w, err := simulation.New(ctx, f.seen, config, begun, nil)
	if err != nil {
		return nil, err
	}
	for _, a := range p.Actions {
		if a.Simulated {
			w.CarryOut(f.setOf(a))
		}
	}
	s := &explainer{sim: w, node: f.seen.ByName[node]}
	out, err := s.ask(ctx)
	switch {
	case err == nil:
		return out, nil
	case ctx.Err() != nil:
		return nil, err
	}
	return nil, fmt.Errorf("disruption: the engine refuses the input: %w", err)
}

// String explains the first pod without a place on one line.
func (s *Explanation) String() string {
	if s.Node == "" {
		return "no node"
	}
	if len(s.Pods) == 0 {
		return fmt.Sprintf("other nodes have places for %s of %s", words.Plural(s.Placed, "pod"), s.Node)
	}
	text := state.PodObject(s.Pods[0].Pod) + s.Pods[0].headline(s.Others, 1)
	if why := s.Pods[0].lines(); len(why) > 0 {
		text += "; " + why[0]
	}
	if n := len(s.Pods) - 1; n > 0 {
		text += "; nor " + words.Verb(n, "does ", "do ") + words.Plural(n, "other pod")
	}
	return text
}

// Report renders the whole explanation: a line for pods of each kind, and one for each conflict.
// Each line ends in a line break.
func (s *Explanation) Report() string {
	if s.Node == "" {
		return "no node\n"
	}
	var b strings.Builder
	if s.Placed > 0 || len(s.Pods) == 0 {
		fmt.Fprintf(&b, "other nodes have places for %d of %s\n", s.Placed, words.Plural(s.Placed+len(s.Pods), "pod"))
	}
	said := map[*provisioning.Explanation]bool{}
	for i := range s.Pods {
		p := &s.Pods[i]
		if said[p.Explanation] {
			continue
		}
		said[p.Explanation] = true
		name, like := state.PodObject(p.Pod), -1
		for _, other := range s.Pods {
			if other.Explanation == p.Explanation {
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

// headline says how many pods like this one have no place, and how many nodes exclude them.
func (p *PodExplanation) headline(others, pods int) string {
	text := words.Verb(pods, " finds", " find") + " no place"
	if others == 0 {
		return text + ": no other node stays"
	}
	text += " on " + words.Plural(others, "other node")
	var parts []string
	if p.Unsuited > 0 {
		parts = append(parts, fmt.Sprintf("labels or taints rule out %d", p.Unsuited))
	}
	if p.Full > 0 {
		parts = append(parts, fmt.Sprintf("%d %s no room", p.Full, words.Verb(p.Full, "has", "have")))
	}
	if p.Open > 0 {
		parts = append(parts, fmt.Sprintf("%d %s room", p.Open, words.Verb(p.Open, "has", "have")))
	}
	if len(parts) > 0 {
		text += ": " + strings.Join(parts, ", ")
	}
	return text
}

// lines lists the causes for the pod, the domains of its constraints first.
func (p *PodExplanation) lines() []string {
	var out []string
	if p.Explanation != nil {
		switch p.Explanation.Cause {
		case provisioning.CauseNoNodePool, provisioning.CauseNodePools: // the engine must not speak of nodes that could be launched
		default:
			out = append(out, p.Explanation.String())
		}
	}
	for _, b := range p.Conflicts {
		out = append(out, b.Node+": "+b.Detail)
	}
	return out
}
