package report

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/disruption"
	"github.com/dovetail-sdk/dovetail/internal/layout"
	"github.com/dovetail-sdk/dovetail/internal/spelling"
	"github.com/dovetail-sdk/dovetail/provisioning"
)

// without says where the pods of a node would go if it were removed.
type without struct {
	Node       string    `json:"node"`
	USDPerHour *float64  `json:"usdPerHour,omitempty"` // price of the node, if known
	Pods       []lostPod `json:"pods"`
	Launches   []launch  `json:"launches"`
	// SavesUSDPerHour is the price of the node minus the price of the launches; left out if the
	// price of the node is unknown.
	SavesUSDPerHour *float64 `json:"savesUSDPerHour,omitempty"`
	// Begins is the action of the node that begins now, if any. Waits is its action that waits,
	// with what it waits for. Speaks lists the reasons to leave the node alone.
	Begins string       `json:"begins,omitempty"`
	Waits  string       `json:"waits,omitempty"`
	Speaks []leftReason `json:"speaks"`
}

// lostPod is a pod of the node and its new place: the name of a node, "new-0" and so on, or none
// with a reason.
type lostPod struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	To        string `json:"to,omitempty"`
	Reason    string `json:"reason,omitempty"`

	workload string
}

// AddWithout adds where the pods of a node would go if it were removed, and what that would
// save: the engine plans the cluster with and without it. The error is a NoSuchNode if the
// input has no such node, or that of provisioning.Prepare or of ctx.
func (r *Proposal) AddWithout(ctx context.Context, name string) error {
	p, in, opts := r.proposal, r.in, r.opts
	i := slices.IndexFunc(in.Nodes, func(n provisioning.Node) bool { return n.Name() == name })
	if i < 0 {
		var names []string
		for _, n := range in.Nodes {
			names = append(names, n.Name())
		}
		return NoSuchNode{fmt.Sprintf("the input has no such node%s", spelling.DidYouMean(name, names))}
	}
	problem, err := provisioning.Prepare(in.Input, opts.Provisioning)
	if err != nil {
		return err
	}
	before, err := problem.Solve(ctx)
	if err != nil {
		return err
	}
	if problem, err = problem.Without(name); err != nil {
		return err
	}
	after, err := problem.Solve(ctx)
	if err != nil {
		return err
	}
	w := &without{Node: name, Pods: []lostPod{}, Launches: []launch{}, Speaks: []leftReason{}}
	w.place(in.Nodes[i].Pods, after)
	f, _ := disruption.Observe(r.Now, in, opts) // its faults were reported
	if price, known := f.Price(name); known {
		saves := layout.Rounded(price - after.Cost + before.Cost)
		price = layout.Rounded(price)
		w.USDPerHour, w.SavesUSDPerHour = &price, &saves
	}
	for _, a := range p.Actions {
		if isAbout(a, name) {
			w.Begins = a.String()
		}
	}
	for _, x := range p.Waiting {
		if w.Begins == "" && isAbout(x.Action, name) {
			w.Waits = fmt.Sprintf("%s, for %s: %s", x.Action, x.For, x.Why)
		}
	}
	for _, left := range r.LeftAlone {
		if left.Node == name {
			w.Speaks = left.Reasons
		}
	}
	r.Without = w
	return nil
}

// place finds the new places of the pods of the node.
func (w *without) place(pods []*corev1.Pod, plan *provisioning.Plan) {
	lost := map[string]*corev1.Pod{}
	for _, p := range pods {
		lost[p.Namespace+"/"+p.Name] = p
	}
	add := func(p *corev1.Pod, to, why string) bool {
		own := lost[p.Namespace+"/"+p.Name]
		if own != nil {
			w.Pods = append(w.Pods, lostPod{Namespace: p.Namespace, Name: p.Name, To: to, Reason: why, workload: workloadOf(own).Path()})
		}
		return own != nil
	}
	for _, b := range plan.Bind {
		for _, p := range b.Pods {
			add(p, b.Node, "")
		}
	}
	for i := range plan.Static {
		for _, pods := range plan.Static[i].Pods {
			for _, p := range pods {
				add(p, "missing node of NodePool "+plan.Static[i].Pool.Name, "")
			}
		}
	}
	for i := range plan.Create {
		n, own := &plan.Create[i], false
		for _, p := range n.Pods {
			own = add(p, fmt.Sprintf("new-%d", len(w.Launches)), "") || own
		}
		if own {
			w.Launches = append(w.Launches, cheapest(n))
		}
	}
	for _, u := range plan.Unplaced {
		add(u.Pod, "", u.Explanation.String())
	}
	slices.SortFunc(w.Pods, func(a, b lostPod) int {
		return strings.Compare(a.Namespace+"/"+a.Name, b.Namespace+"/"+b.Name)
	})
}

// without prints where the pods of the node would go.
func (t *text) without() {
	w := t.report.Without
	if w == nil {
		return
	}
	t.Heading("IF "+w.Node+" WENT", "")
	there, unplaced := map[string]int{}, 0
	for _, p := range w.Pods {
		switch {
		case p.To == "":
			unplaced++
		case !strings.HasPrefix(p.To, "new-"):
			there[p.To]++
		}
	}
	words := layout.Phrase(len(w.Pods), "pod would need", "pods would need") + " another place"
	if len(w.Pods) == 0 {
		words = "no pod would need another place"
	}
	if w.USDPerHour != nil {
		words = fmt.Sprintf("it costs %s USD/h, and %s", layout.USD(*w.USDPerHour, 4), words)
	}
	t.Fill("  ", words, layout.Plain)
	if len(there) > 0 {
		t.Fill("  ", "on "+layout.Phrase(len(there), "node that is there", "nodes that are there")+":", layout.Plain)
		for _, name := range slices.Sorted(maps.Keys(there)) {
			t.Fill("    ", name+": "+w.workloads(name), t.Style.Faint)
		}
	}
	for i, n := range w.Launches {
		t.Fill("  ", fmt.Sprintf("on a new %s in %s, %s, of %s for %s USD/h: %s", n.InstanceType, n.Zone, n.CapacityType, n.NodePool,
			layout.USD(n.USDPerHour, 4), w.workloads(fmt.Sprintf("new-%d", i))), layout.Plain)
	}
	for _, p := range w.Pods {
		if p.To == "" {
			t.Fill("  ", fmt.Sprintf("nowhere: %s/%s: %s", p.Namespace, p.Name, layout.Printable(p.Reason)), layout.Plain)
		}
	}
	switch {
	case unplaced > 0:
	case w.SavesUSDPerHour != nil && *w.SavesUSDPerHour >= 0:
		t.Fill("  ", "that saves "+layout.USD(*w.SavesUSDPerHour, 4)+" USD/h", layout.Plain)
	case w.SavesUSDPerHour != nil:
		t.Fill("  ", "that costs "+layout.USD(-*w.SavesUSDPerHour, 4)+" USD/h more", layout.Plain)
	}
	switch {
	case w.Begins != "":
		t.Fill("  ", "it is to go now: "+w.Begins, layout.Plain)
	case w.Waits != "":
		t.Fill("  ", "it waits: "+w.Waits, layout.Plain)
	default:
		for _, r := range w.Speaks {
			t.Fill("  ", "what speaks for leaving it: "+r.Rule+": "+r.text(), t.Style.Faint)
		}
	}
}

// workloads names the workloads that go to a node.
func (w *without) workloads(to string) string {
	count := map[string]int{}
	for _, p := range w.Pods {
		if p.To == to {
			count[p.workload]++
		}
	}
	var names []string
	for _, name := range slices.Sorted(maps.Keys(count)) {
		if count[name] > 1 {
			name = fmt.Sprintf("%s ×%d", name, count[name])
		}
		names = append(names, name)
	}
	return strings.Join(names, ", ")
}
