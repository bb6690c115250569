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
// Pods of one kind are looked at once. A Proposal has none of it until it is asked for.
//
// The error says that there is no such node, that it goes, or that the engine
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

// String says in one line what keeps the first pod.
func (s *Explanation) String() string {
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

// Report says all of it: a line for pods of each kind, and one for each thing that
// keeps them from a node. Each line ends in a line break.
func (s *Explanation) Report() string {
	var b strings.Builder
	if s.Placed > 0 || len(s.Pods) == 0 {
		fmt.Fprintf(&b, "other nodes have places for %d of %s\n", s.Placed, words.Plural(s.Placed+len(s.Pods), "pod"))
	}
	said := map[*provisioning.Reason]bool{}
	for i := range s.Pods {
		p := &s.Pods[i]
		if said[p.Reason] {
			continue
		}
		said[p.Reason] = true
		name, like := state.PodObject(p.Pod), -1
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
