package provisioning

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/internal/engine/catalog"
	"github.com/dovetail-sdk/dovetail/internal/engine/model"
	"github.com/dovetail-sdk/dovetail/internal/engine/solve"
	"github.com/dovetail-sdk/dovetail/internal/order"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// Why says by which offerings of an instance type a new node may be launched, and why not by the
// others.
type Why struct {
	Node         string
	InstanceType string

	// Offerings are the offerings of the type in the catalog of the node's pool, in the order of
	// OfferingKey. It is empty if the pool has no such type.
	Offerings []WhyOffering
}

// WhyOffering is one offering of a Why.
type WhyOffering struct {
	Offering *cloudprovider.Offering

	// Rank is the position of the offering among the options of the node, 1 for the cheapest; 0 if
	// it is not one of them.
	Rank int

	// Dearer is its price minus that of the cheapest option, in USD per hour.
	Dearer float64

	// Against says why the offering is not an option, "" if it is one.
	Against string
}

// Why explains an instance type for a new node of the plan, given by NewNode.Name. The error says
// that there is no such node.
//
// It checks, in this order: whether the offering is available; whether the labels of pool, type and
// offering agree; whether it has the labels and resources that each pod of the node requires;
// whether it has room for all of them; and what else the plan requires of the node: a reservation,
// enough instance types to choose from, the limits of the pool, other pods.
func (p *Plan) Why(node, instanceType string) (Why, error) {
	i := slices.IndexFunc(p.Create, func(n NewNode) bool { return n.Name == node })
	if i < 0 {
		return Why{}, fmt.Errorf("provisioning: the plan has no new node %q; name one of Plan.Create", node)
	}
	out := Why{Node: node, InstanceType: instanceType}
	n := &p.Create[i]
	of := p.offered[n.Pool.Name]
	for _, t := range of.Types {
		if t.Name == instanceType {
			out.Offerings = weigh(&of, n, t)
		}
	}
	return out, nil
}

// weigh explains each offering of a type for a node.
func weigh(f *solve.Offer, n *NewNode, t *cloudprovider.InstanceType) []WhyOffering {
	var out []WhyOffering
	for i := range t.Offerings {
		o := &t.Offerings[i]
		w := WhyOffering{Offering: o, Dearer: o.Price - n.Price()}
		w.Rank = 1 + slices.IndexFunc(n.Options, func(l cloudprovider.LaunchOption) bool { return l.Offering == o })
		if w.Rank == 0 {
			w.Against = against(f, n, t, o)
		}
		out = append(out, w)
	}
	slices.SortStableFunc(out, func(a, b WhyOffering) int {
		return a.Offering.Key(t.Name).Compare(b.Offering.Key(t.Name))
	})
	return out
}

// against says why an offering is not an option of a node.
func against(f *solve.Offer, n *NewNode, t *cloudprovider.InstanceType, o *cloudprovider.Offering) string {
	switch {
	case !o.Available:
		return "it is not available now"
	case !o.Launchable():
		return "its reservation " + o.ReservationID + " is full"
	}
	option := cloudprovider.LaunchOption{InstanceType: t, Offering: o}
	if r, ok := disagreement(f.Template, option); ok {
		return fmt.Sprintf("NodePool %s wants %s", n.Pool.Name, r)
	}
	if r, ok := disagreement(n.Requirements.Without(corev1.LabelTopologyZone, corev1.LabelInstanceTypeStable), option); ok {
		return fmt.Sprintf("the pods of the node want %s", r)
	}
	if r, ok := n.Requirements.Get(corev1.LabelTopologyZone); ok && !r.Has(o.Zone) {
		return fmt.Sprintf("the pods of the node are to be in %s", r)
	}
	if text := crowded(f, n, option); text != "" {
		return text
	}
	if o.ReservationID != "" {
		return "other nodes of the plan may take all that is left of its reservation " + o.ReservationID
	}
	if text := beyondLimits(f, n, option); text != "" {
		return text
	}
	return "constraints between pods, or a mix that Options ask for, keep the node off it"
}

// crowded says of which resources the pods and daemons of a node need more than an option has, "" if
// it has enough.
func crowded(f *solve.Offer, n *NewNode, l cloudprovider.LaunchOption) string {
	i := slices.IndexFunc(f.Options, func(o catalog.Option) bool { return o.LaunchOption == l })
	if i < 0 {
		return ""
	}
	var parts []string
	for r, name := range f.Resources {
		daemons := f.Options[i].Daemons.Get(name)
		need, have := n.Requests.Get(name)+daemons, f.Options[i].Capacity[r]+daemons
		if need > have {
			text := model.Quantities(name, need, max(have, 0))
			parts = append(parts, fmt.Sprintf("%s, and it has %s", model.Asked(name, need, text[0]), text[1]))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return "pods and daemons of the node need " + strings.Join(parts, "; ")
}

// beyondLimits names a limit of the pool of which an option uses more than each option of the node
// does; "" if there is none.
func beyondLimits(f *solve.Offer, n *NewNode, l cloudprovider.LaunchOption) string {
	aside := make([]int64, len(f.Limits))
	for _, own := range n.Options {
		for i, use := range catalog.LimitUses(f.Limits, own) {
			aside[i] = max(aside[i], use)
		}
	}
	for i, use := range catalog.LimitUses(f.Limits, l) {
		if use > aside[i] {
			text := model.Quantities(f.Limits[i], use, aside[i])
			return fmt.Sprintf("it takes %s of limits.%s of NodePool %s, and the plan sets %s aside for the node", text[0], f.Limits[i], n.Pool.Name, text[1])
		}
	}
	return ""
}

// disagreement returns a requirement that the labels of an option do not satisfy; false if there is
// none.
func disagreement(asked requirements.Set, o cloudprovider.LaunchOption) (requirements.Requirement, bool) {
	for r := range asked.All() {
		if own, ok := catalog.TypeRequirement(o.InstanceType, r.Key()); ok && !own.Overlaps(r) {
			return r, true
		}
		if own, ok := catalog.OfferingRequirement(o.Offering, r.Key()); ok && !own.Overlaps(r) {
			return r, true
		}
	}
	return requirements.Requirement{}, false
}

// String renders the explanation on one line.
func (w Why) String() string {
	if w.Node == "" {
		return "no node"
	}
	if len(w.Offerings) == 0 {
		return fmt.Sprintf("%s: the pool of node %s has no such instance type", w.InstanceType, w.Node)
	}
	best := slices.MinFunc(w.Offerings, func(a, b WhyOffering) int {
		return cmp.Or(order.Bools(a.Rank == 0, b.Rank == 0), cmp.Compare(a.Rank, b.Rank), cmp.Compare(a.Dearer, b.Dearer))
	})
	at := best.Offering.Key(w.InstanceType).String()
	switch {
	case best.Rank == 1:
		return fmt.Sprintf("%s is the cheapest option of node %s", at, w.Node)
	case best.Rank > 1:
		return fmt.Sprintf("%s is option %d of node %s, %.4f USD/h dearer than the cheapest", at, best.Rank, w.Node, best.Dearer)
	}
	return fmt.Sprintf("%s is no option of node %s: %s", at, w.Node, best.Against)
}

// Report renders the explanation in full: a line for each offering.
func (w Why) Report() string {
	if len(w.Offerings) == 0 {
		return w.String() + "\n"
	}
	var b strings.Builder
	for _, o := range w.Offerings {
		fmt.Fprintf(&b, "%s %.4f USD/h: ", o.Offering.Key(w.InstanceType), o.Offering.Price)
		switch {
		case o.Rank == 1:
			b.WriteString("the cheapest option\n")
		case o.Rank > 1:
			fmt.Fprintf(&b, "option %d, %.4f dearer\n", o.Rank, o.Dearer)
		default:
			b.WriteString(o.Against + "\n")
		}
	}
	return b.String()
}
