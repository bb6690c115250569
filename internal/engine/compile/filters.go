package compile

import (
	"encoding/binary"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/dovetail-sdk/dovetail/internal/engine/bitset"
	"github.com/dovetail-sdk/dovetail/internal/engine/constraint/kinds"
	"github.com/dovetail-sdk/dovetail/internal/engine/model"
	"github.com/dovetail-sdk/dovetail/internal/engine/workload"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// Filter is the index of one thing that a pod asks of a node by itself, whichever pods are placed
// with it. All decisions about that, and all explanations of them, read one list of filters.
type Filter int

// The filters, in the order of those of kube-scheduler. To add one takes a constant, an entry in
// filters, and the text of package explain.
const (
	Taints      Filter = iota // taints
	NodeName                  // a node by name
	Labels                    // node selection, and labels that volumes, devices and constraints between pods need
	Holds                     // host ports and disks of pods that run, and their limits on the number of pods
	DaemonHolds               // host ports and disks of DaemonSets
	Resources                 // room
	Volumes                   // volumes
	DaemonApart               // DaemonSets that anti-affinity separates from the pod
	DaemonWith                // DaemonSets whose pods an affinity asks for
	Devices                   // nodes that have the devices of a claim
	MinValues                 // minValues of the pool
	Admitted                  // no filter excludes the pod
)

// filter decides one thing. A nil function excludes no pod.
type filter struct {
	// node returns the cause for which an existing node with the pods that run there excludes pods of
	// a class, "" if it admits them. Earlier filters have admitted them.
	node func(p *Problem, c int, n *model.Existing) model.Cause
	// options removes the options that exclude the pod, and records steps.
	options func(n *narrowing)
	// counted says that the answer depends on the pods of the plan. Admission leaves such a filter
	// out, because the packer and the ledger count these pods.
	counted bool
}

var filters = [Admitted]filter{
	Taints:      {node: taintsOfNode, options: tolerated},
	NodeName:    {options: withName},
	Labels:      {node: labelsOfNode, options: withLabels},
	Holds:       {node: heldOnNode, counted: true},
	DaemonHolds: {options: unheldByDaemons},
	Resources:   {node: roomOfNode, options: withRoom, counted: true},
	Volumes:     {node: volumesOfNode},
	DaemonApart: {options: apartFromDaemons},
	DaemonWith:  {node: daemonsOfNode, options: withDaemons},
	Devices:     {node: devicesOfNode},
	MinValues:   {options: withMinValues, counted: true},
}

// OfOptions says whether the filter can exclude options, so that it needs a text.
func (f Filter) OfOptions() bool { return filters[f].options != nil }

// Excluded returns the cause of the first filter by which an existing node, with the pods that run
// there, excludes pods of a class; "" if the node admits them.
func (p *Problem) Excluded(c int, n *model.Existing) model.Cause {
	for f := range filters {
		if filters[f].node == nil {
			continue
		}
		if cause := filters[f].node(p, c, n); cause != "" {
			return cause
		}
	}
	return ""
}

// Admits says whether an existing node admits pods of a class, whatever other pods are there.
func (p *Problem) Admits(c int, n *model.Existing) bool { return n.Admits.Has(c) }

// findAdmitted computes which classes each node admits, and NodeClass. Labels and taints decide for
// most classes, once for all nodes with the same verdict.
func (p *Problem) findAdmitted(verdicts []*model.Verdict) {
	unlike, excluded := p.nodeByNode(), make([][]byte, len(p.Classes)) // by class: the numbers of nodes that its own filters exclude
	known := map[string]*model.Existing{}
	var key []byte
	for i := range p.Nodes {
		n := &p.Nodes[i]
		n.Admits, n.Alike = n.Verdict.Open, n.Verdict.Number
		if len(unlike) == 0 {
			continue
		}
		key = binary.AppendVarint(key[:0], int64(n.Verdict.Number))
		var without []int
		for _, c := range unlike {
			if n.Admits.Has(c) && p.excludedAlone(c, n) {
				without = append(without, c)
				key = binary.AppendVarint(key, int64(c))
			}
		}
		if like := known[string(key)]; like != nil {
			n.Admits, n.Alike = like.Admits, like.Alike
			continue
		}
		n.Admits, n.Alike = n.Admits.Clone(), len(known)
		for _, c := range without {
			n.Admits.Remove(c)
			excluded[c] = binary.AppendVarint(excluded[c], int64(n.Alike))
		}
		known[string(key)] = n
	}
	p.NodeClass = make([]int32, len(p.Classes))
	index := map[string]int32{}
	for c := range p.Classes {
		key = key[:0]
		for _, v := range verdicts {
			if v.Open.Has(c) {
				key = binary.AppendVarint(key, int64(v.Number))
			}
		}
		key = append(append(key, 0xff), excluded[c]...)
		p.NodeClass[c], _ = model.Intern(index, key, int32(len(index)))
	}
}

// nodeByNode lists the classes for which nodes with equal labels and taints may differ.
func (p *Problem) nodeByNode() (out []int) {
	for c := range p.Classes {
		if class := &p.Classes[c]; class.HasVolumes || class.Devices != nil || len(p.followed[c]) > 0 || p.Hostnames.shared != nil && p.Hostnames.about.Has(c) {
			out = append(out, c)
		}
	}
	return out
}

// excludedAlone says whether a node whose labels and taints suit a class excludes its pods by a
// filter that counts no other pods.
func (p *Problem) excludedAlone(c int, n *model.Existing) bool {
	for f := Labels; f < Admitted; f++ {
		if of := filters[f]; of.node != nil && !of.counted && of.node(p, c, n) != "" {
			return true
		}
	}
	return false
}

// Ask has the requirements of a pod on a new node, without those towards other pods.
type Ask struct {
	requirements.Alternative
	Tolerations []corev1.Toleration
	Class       int     // of the pod; not read by Taints, NodeName and Labels
	Request     []int64 // by resource; read by Resources alone
	Certain     bool    // keep options only if they satisfy Alternative whichever values open labels get
}

// Narrowed is the result of the filters for the options of one pool.
type Narrowed struct {
	Filter  Filter     // the first that leaves no option; Admitted if some are left
	Options bitset.Set // before Filter
	Steps   []model.Step
	Daemons []*workload.Daemon // because of which Filter excludes options
}

// Narrow applies all filters to the options of a pool.
func (p *Problem) Narrow(pool int, ask *Ask) *Narrowed {
	out := &Narrowed{}
	n := &narrowing{p: p, Ask: ask, left: bitset.New(len(p.LowOptions)), of: out, pool: pool}
	n.left.AddRange(p.Pools[pool].First, p.Pools[pool].Last())
	out.Options = n.left.Clone()
	for out.Filter < Admitted {
		if apply := filters[out.Filter].options; apply != nil {
			apply(n)
		}
		if n.left.Empty() {
			break
		}
		copy(out.Options, n.left)
		out.Filter, out.Daemons = out.Filter+1, nil
	}
	return out
}

// suiting returns the options that filters admit, up to and including last, without those that
// count pods of the plan.
func (p *Problem) suiting(ask *Ask, last Filter) bitset.Set {
	n := &narrowing{p: p, Ask: ask, left: bitset.Full(p.Catalog.Domains.Total)}
	for f := range filters[:last+1] {
		if apply := filters[f].options; apply != nil && !filters[f].counted {
			apply(n)
		}
	}
	return n.left
}

// satisfying returns the options on which all of some requirements can be satisfied.
func (p *Problem) satisfying(set requirements.Set) bitset.Set {
	n := &narrowing{p: p, Ask: &Ask{Alternative: requirements.Alternative{Set: set}}, left: bitset.Full(p.Catalog.Domains.Total)}
	withLabels(n)
	return n.left
}

// narrowing is the state of applying filters to options.
type narrowing struct {
	p *Problem
	*Ask
	left bitset.Set
	of   *Narrowed // nil if no caller reads the steps
	pool int       // the pool of Narrowed
}

// step records that a constraint has been applied.
func (n *narrowing) step(constraint string) {
	if n.of == nil {
		return
	}
	before := n.p.Pools[n.pool].Last() - n.p.Pools[n.pool].First
	if last := len(n.of.Steps) - 1; last >= 0 {
		before = n.of.Steps[last].Left
	}
	if left := n.left.Len(); left < before {
		n.of.Steps = append(n.of.Steps, model.Step{Constraint: constraint, Removed: before - left, Left: left})
	}
}

// tolerates says whether some tolerations tolerate the taints of a pool.
func (p *Problem) tolerates(pool int, tolerations []corev1.Toleration) bool {
	return len(model.Untolerated(p.Pools[pool].Taints, tolerations)) == 0
}

func taintsOfNode(_ *Problem, c int, n *model.Existing) model.Cause {
	return causeUnless(n.Verdict.Tolerates.Has(c), model.CauseTaints)
}

func causeUnless(admitted bool, cause model.Cause) model.Cause {
	if admitted {
		return ""
	}
	return cause
}

func tolerated(n *narrowing) {
	for i := range n.p.Pools {
		if pool := &n.p.Pools[i]; len(pool.Options) > 0 && !n.p.tolerates(i, n.Tolerations) {
			n.left.AndWindow(pool.First, pool.Last(), bitset.NewWindow(pool.First, pool.Last()))
		}
	}
	n.step("taints of the pool")
}

// AdmitsNewNode says whether a node whose name is not known yet can satisfy an alternative.
func AdmitsNewNode(alt requirements.Alternative) bool {
	return alt.NodeNames == nil || alt.NodeNames.Has(model.NewHostname)
}

func withName(n *narrowing) {
	if !AdmitsNewNode(n.Alternative) {
		clear(n.left)
	}
	n.step("a node by name")
}

func labelsOfNode(p *Problem, c int, n *model.Existing) model.Cause {
	return causeUnless(n.Verdict.Open.Has(c) && !p.sharesName(c, n), model.CauseRequirements)
}

func withLabels(n *narrowing) {
	d := n.p.Catalog.Domains
	for r := range n.Set.All() {
		if !n.Certain && !Writable(r) {
			clear(n.left)
		}
		for i := range n.p.Pools {
			pool := &n.p.Pools[i]
			switch {
			case len(pool.Options) == 0 || pool.Window(n.left).Empty():
			case n.Certain:
				n.left.AndWindow(pool.First, pool.Last(), d.Certain(i, r))
			default:
				n.left.AndWindow(pool.First, pool.Last(), d.Admitting(i, r))
			}
		}
		if n.of != nil {
			n.step(r.String())
		}
	}
}

// Writable says whether a requirement admits a valid label value, or absence. For example no valid
// value is below zero.
func Writable(r requirements.Requirement) bool {
	value, ok := r.Any()
	return !ok || r.AllowsAbsent() || len(validation.IsValidLabelValue(value)) == 0
}

// heldOnNode returns the cause of the first hold or limit by which the pods that run on a node
// exclude pods of a class.
func heldOnNode(p *Problem, c int, n *model.Existing) model.Cause {
	parts := p.NodeParts[p.position[n.Index]]
	for _, part := range p.Rules.ByClass[c].All {
		rule := &p.Rules.Node[part.Rule]
		var kind int
		switch {
		case rule.limit > 0:
			kind = rule.limit - 1
		case rule.pods < 0:
			kind = p.Rules.holds[part.Rule-p.Rules.firstHold].Kind
		default:
			continue
		}
		if !rule.Admits(part, parts) {
			return kinds.Of(kind).Cause
		}
	}
	return ""
}

func unheldByDaemons(n *narrowing) {
	if holds := n.p.Classes[n.Class].Holds; len(holds) > 0 {
		n.withoutDaemons(func(d *workload.Daemon) bool { return kinds.Clash(kinds.Held(d.Pod), holds) })
	}
	n.step("host ports that DaemonSets bind")
}

// withoutDaemons removes the options on which some DaemonSets run.
func (n *narrowing) withoutDaemons(some func(*workload.Daemon) bool) {
	for i := range n.p.Daemons {
		d, on := &n.p.Daemons[i], n.p.onDaemon[i]
		if !some(d) {
			continue
		}
		if n.of != nil && n.of.Options.Overlaps(on) {
			n.of.Daemons = append(n.of.Daemons, d)
		}
		n.left.AndNot(on)
	}
}

func roomOfNode(p *Problem, c int, n *model.Existing) model.Cause {
	return causeUnless(Within(p.OfResources(p.Takes(c, n.Attached)), n.Free), model.CauseResources)
}

func withRoom(n *narrowing) {
	for r, want := range n.Request {
		if want <= 0 {
			continue
		}
		only := make([]int64, len(n.p.Requests[n.Class]))
		only[r] = want
		n.left.And(n.p.Admission.Fits(only))
		n.step("room for " + model.Amount(n.p.Resources[r], want))
	}
}

func volumesOfNode(p *Problem, c int, n *model.Existing) model.Cause {
	class := &p.Classes[c]
	return causeUnless(!class.HasVolumes ||
		p.Extras.Volumes.Admits(&class.Volumes, n.Standing.Name, n.Standing.Labels, !n.Initialized()), model.CauseVolumes)
}

// apartFromDaemons removes the options on which a DaemonSet runs that anti-affinity separates from
// the pod. The pod of the DaemonSet is in every domain of its node.
func apartFromDaemons(n *narrowing) {
	n.withoutDaemons(func(d *workload.Daemon) bool { return d.KeepsAway(&n.p.Classes[n.Class]) })
	n.step("anti-affinity with DaemonSets")
}

// daemonsOfNode asks whether a node has, or is expected to get, the DaemonSet pods that pods of the
// class must be with.
func daemonsOfNode(p *Problem, c int, n *model.Existing) model.Cause {
	for _, s := range p.followed[c] {
		if p.Beside[s] == nil || !p.Beside[s][p.position[n.Index]] {
			return model.CauseAffinity
		}
	}
	return ""
}

func withDaemons(n *narrowing) {
	for _, s := range n.p.followed[n.Class] {
		with := bitset.New(len(n.p.LowOptions))
		for i := range n.p.ByDaemon {
			if d := &n.p.ByDaemon[i]; d.Selected.Has(s) {
				with.Or(d.Sure)
			}
		}
		n.left.And(with)
	}
	n.step("affinity to pods of DaemonSets")
}

func devicesOfNode(p *Problem, c int, n *model.Existing) model.Cause {
	need := p.Classes[c].Devices
	return causeUnless(need == nil || need.Pinned(n.Standing.Name, n.Standing.Labels), model.CauseDevices)
}

// withMinValues removes, with the Strict policy, the options of a pool if they have too few values
// for a node with one such pod.
func withMinValues(n *narrowing) {
	mv, have := n.p.ShortOf(n.pool, n.left, n.p.Traits.Of(n.Set))
	if mv == nil || n.p.Opts.MinValues == model.BestEffort {
		return
	}
	clear(n.left)
	n.step(fmt.Sprintf("it demands %d values of %s, and only %d can be had for the pod", mv.Need, mv.Key, have))
}
