package disruption

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// replacements finds what becomes of the pods of actions that launch nodes first, such
// that each holds once those before it are done.
type replacements struct {
	w     *simulation // in which pods stay in their domains
	found map[Target]*candidateSet
}

// find asks about all actions together, with pods kept in their domains. What has no
// place then, or leans on others, is asked about again, beside those that were found:
// first all that have no place, with their pods free, and then each by itself.
func (r *replacements) find(ctx context.Context, actions []Action) error {
	rest := make([]*stateNode, 0, len(actions))
	for _, a := range actions {
		m := r.w.cluster.byName[a.Targets[0].Node]
		rest = append(rest, m)
		r.close(m.name)
	}
	rest, err := r.together(ctx, r.w, rest)
	if err != nil {
		return err
	}
	homeless := slices.DeleteFunc(slices.Clone(rest), r.isTied)
	if len(homeless) > 0 && r.w.refused == nil {
		left, err := r.together(ctx, r.w.freed(homeless), homeless)
		if err != nil {
			return err
		}
		rest = slices.DeleteFunc(rest, func(m *stateNode) bool { return slices.Contains(homeless, m) && !slices.Contains(left, m) })
	}
	most := max(4, askedAlone/len(r.w.cluster.nodes))
	for i, m := range rest {
		if i == most || r.w.refused != nil {
			break
		}
		if err := r.byItself(ctx, m); err != nil {
			return err
		}
	}
	return nil
}

// byItself asks about one node, with its pods in their domains if it was tied to others,
// and then with its pods free.
func (r *replacements) byItself(ctx context.Context, m *stateNode) error {
	if r.isTied(m) {
		if left, err := r.together(ctx, r.w, []*stateNode{m}); err != nil || len(left) == 0 || r.w.refused != nil {
			return err
		}
	}
	pt, err := r.w.alone(ctx, m)
	if err != nil || pt == nil {
		return err
	}
	r.found[m.target()] = pt
	r.takes(pt)
	return nil
}

// close keeps pods from a node that is about to go, now or next time.
func (r *replacements) close(node string) {
	if i, found := r.w.at[node]; found {
		r.w.in.Nodes[i] = closedNode(r.w.in.Nodes[i])
	}
}

// askedAlone bounds how many actions are asked about one by one, over the number of
// nodes: each question reads all of them.
const askedAlone = 20_000

// isTied reports whether what was found for a node leans on others.
func (r *replacements) isTied(m *stateNode) bool {
	pt := r.found[m.target()]
	return pt != nil && pt.tied
}

// together asks about some nodes in a simulation, accepts what holds in the order given, and
// returns the others.
func (r *replacements) together(ctx context.Context, in *simulation, targets []*stateNode) ([]*stateNode, error) {
	parts, err := in.try(ctx, targets)
	if err != nil {
		return nil, err
	}
	var shared []*candidateSet
	for _, pt := range parts {
		if len(pt.targets) == 1 {
			r.found[pt.targets[0].target()] = pt
		} else {
			shared = append(shared, pt)
		}
	}
	err = in.takeApart(ctx, shared, r.found)
	r.w.stats, r.w.refused = in.stats, in.refused
	if err != nil {
		return nil, err
	}
	var left []*stateNode
	for _, m := range targets {
		pt := r.found[m.target()]
		if pt == nil || pt.outcome.bad() || !r.takes(pt) {
			left = append(left, m)
		}
	}
	return left, nil
}

// takes accepts a part if it holds beside those before it.
func (r *replacements) takes(pt *candidateSet) bool {
	if pt.outcome.bad() {
		return false
	}
	if full := newLimitsMeter(r.w).takes(pt); full != nil {
		pt.limited(full)
		pt.tied = true // to those that stay
		return false
	}
	if ok, tie := r.w.landing.takes(pt); !ok {
		pt.turnDown(r.w.landing, tie)
		return false
	}
	r.w.carryOut(pt)
	return true
}

// freed is the simulation with the pods of some nodes as they are, free to change their
// domains.
func (w *simulation) freed(targets []*stateNode) *simulation {
	out := *w
	out.in.Nodes = slices.Clone(w.in.Nodes)
	out.displaced = map[string][]*corev1.Pod{}
	for name, pods := range w.displaced { // by node: the order does not matter
		out.displaced[name] = pods
	}
	out.movable = nil
	for _, m := range targets {
		n := &out.in.Nodes[out.at[m.name]]
		pinned := n.Pods
		n.Pods = slices.Clone(n.Pods)
		for i, p := range n.Pods {
			if at := slices.IndexFunc(m.pods, func(v *podView) bool { return p != nil && podObject(v.Pod) == podObject(p) }); at >= 0 {
				n.Pods[i] = m.pods[at].Pod
			}
		}
		out.displaced[m.name] = instead(w.displaced[m.name], pinned, n.Pods)
	}
	return &out
}
