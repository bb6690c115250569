package disruption

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// replacements finds what becomes of the pods of actions that launch nodes first, such
// that each holds whichever of the others are carried out, and in whatever order.
type replacements struct {
	w     *world // in which pods stay in their domains
	found map[Target]*part
}

// find asks about all actions together, with pods kept in their domains. What has no
// place then, or leans on others, is asked about again, beside those that were found:
// first all that have no place, with their pods free, and then one by one.
func (r *replacements) find(ctx context.Context, actions []Action) error {
	rest := make([]*member, 0, len(actions))
	for _, a := range actions {
		m := r.w.f.byName[a.Targets[0].Node]
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
		rest = slices.DeleteFunc(rest, func(m *member) bool { return slices.Contains(homeless, m) && !slices.Contains(left, m) })
	}
	most := max(4, min(mostAlone, askedAlone/len(r.w.f.members)))
	for i, m := range slices.DeleteFunc(rest, func(m *member) bool { return !r.isTied(m) }) {
		if i == most || r.w.refused != nil {
			break
		}
		left, err := r.together(ctx, r.w, []*member{m})
		if err == nil && len(left) > 0 && !r.isTied(m) && r.w.refused == nil {
			_, err = r.together(ctx, r.w.freed(left), left)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// close keeps pods from a node that is about to go, now or next time.
func (r *replacements) close(node string) {
	if i, found := r.w.at[node]; found {
		r.w.in.Nodes[i] = closedNode(r.w.in.Nodes[i])
	}
}

// Bounds of how many actions are asked about one by one, of those that are tied to
// others: each question reads all nodes.
const (
	mostAlone  = 32
	askedAlone = 20_000
)

// isTied reports whether what was found for a node leans on others.
func (r *replacements) isTied(m *member) bool {
	pt := r.found[m.target()]
	return pt != nil && pt.tied
}

// together asks about some nodes in a world, accepts what holds in the order given, and
// returns the others.
func (r *replacements) together(ctx context.Context, in *world, targets []*member) ([]*member, error) {
	parts, err := in.try(ctx, targets)
	if err != nil {
		return nil, err
	}
	var shared []*part
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
	var left []*member
	for _, m := range targets {
		pt := r.found[m.target()]
		if pt == nil || pt.verdict.bad() {
			left = append(left, m)
			continue
		}
		if full := newLimitsMeter(r.w).takes(pt); full != nil {
			pt.limited(full)
			pt.tied = true // to those that stay
			left = append(left, m)
			continue
		}
		if ok, tie := r.w.balance.takes(pt); !ok {
			pt.turnDown(r.w.balance, tie)
			left = append(left, m)
			continue
		}
		r.w.carryOut(pt)
	}
	return left, nil
}

// freed is the world with the pods of some nodes as they are, free to change their
// domains.
func (w *world) freed(targets []*member) *world {
	out := *w
	out.in.Nodes = slices.Clone(w.in.Nodes)
	out.displaced = map[string][]*corev1.Pod{}
	for name, pods := range w.displaced { // by node: the order does not matter
		out.displaced[name] = pods
	}
	out.roamers = nil
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
