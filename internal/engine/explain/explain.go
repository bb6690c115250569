package explain

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/internal/engine/bitset"
	"github.com/dovetail-sdk/dovetail/internal/engine/catalog"
	"github.com/dovetail-sdk/dovetail/internal/engine/compile"
	"github.com/dovetail-sdk/dovetail/internal/engine/constraint/kinds"
	"github.com/dovetail-sdk/dovetail/internal/engine/model"
	"github.com/dovetail-sdk/dovetail/internal/engine/volume"
	"github.com/dovetail-sdk/dovetail/internal/engine/workload"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// explainer explains why pods of one class are unplaced.
type explainer struct {
	p       *compile.Problem
	c       int // index of class
	class   *workload.Class
	request []int64
	planned [][]int64 // by pool and limit: what the new nodes of the plan use
}

// Explain returns why pods of a class stay pending. room says whether a node would have room for
// one pod if there were no constraints between pods. barrier is the constraint over values of a
// label that excludes the pod from that room; nil if none does. planned is, by pool, what the new
// nodes of the plan use of each limit.
func Explain(p *compile.Problem, c int, room bool, barrier *Barrier, planned [][]int64) *model.Reason {
	class := &p.Classes[c]
	if class.Refusal != nil {
		return class.Refusal
	}
	e := &explainer{p: p, c: c, class: class, request: p.OfResources(p.Requests[c]), planned: planned}
	if with := p.Rules.ByClass[c].With; room && barrier != nil {
		return e.because(barrier)
	} else if room && len(with) > 0 {
		return noCompany(p, with)
	}
	out := &model.Reason{ExistingNodes: e.nodes(nil)}
	if why := e.selectedNode(); why != "" {
		out.Cause, out.Detail = model.CauseVolumes, why
		return out
	}
	if why := e.onlyDevices(); why != "" {
		return &model.Reason{Cause: model.CauseUnsupported, Detail: why}
	}
	if cause, why := contradiction(class); why != "" {
		out.Cause, out.Detail = cause, why
		return out
	}
	if len(p.Pools) == 0 {
		out.Cause = model.CauseNoNodePool
		return out
	}
	out.Cause = model.CauseNodePools
	for i := range p.Pools {
		out.Pools = append(out.Pools, e.pool(i))
	}
	return out
}

// selectedNode explains why the node that was selected for a volume of the pods cannot take them;
// "" if no node was selected.
func (e *explainer) selectedNode() string {
	name := e.class.Volumes.NodeName
	if name == "" {
		return ""
	}
	tied := fmt.Sprintf("%s is tied to node %q by its annotation %s, ", e.class.Volumes.Selected, name, volume.SelectedNode)
	named := func(n model.Existing) bool { return n.Standing.Name == name }
	switch {
	case slices.ContainsFunc(e.p.Nodes, named):
		return tied + "and that node has no place for the pod; make room there or remove the annotation"
	case slices.ContainsFunc(e.p.Gone, func(n model.TerminatingNode) bool { return named(n.Existing) }):
		return tied + "and that node takes no pods because it is being removed; remove the annotation"
	}
	return tied + "and there is no such node; bring the node back or remove the annotation"
}

// onlyDevices returns a message about an extended resource that pods request and that only devices
// of a DeviceClass provide: no instance type and no node has it. It returns "" if there is none.
func (e *explainer) onlyDevices() string {
	for name, amount := range e.class.Requests.All() {
		class := e.p.Extras.Devices.ClassServing(name)
		if amount > 0 && class != "" && !e.somewhere(name) {
			return fmt.Sprintf("extended resource %s: no instance type and no node has it, and devices of DeviceClass %q "+
				"are given out to resource claims only", name, class)
		}
	}
	return ""
}

// somewhere says whether any instance type or node has a resource.
func (e *explainer) somewhere(name corev1.ResourceName) bool {
	for i := range e.p.Pools {
		for _, t := range e.p.Pools[i].Types {
			if t.Capacity.Get(name) > 0 || slices.ContainsFunc(t.Offerings, func(o cloudprovider.Offering) bool {
				return o.Capacity != nil && o.Capacity.Get(name) > 0
			}) {
				return true
			}
		}
	}
	return slices.ContainsFunc(e.p.Nodes, func(n model.Existing) bool { return n.Allocatable.Get(name) > 0 })
}

// contradiction explains why no possible node satisfies the requirements of a class, "" if one can.
func contradiction(c *workload.Class) (model.Cause, string) {
	switch {
	case len(c.Alternatives) > 0:
	case len(c.Asked) > 0 && c.Devices != nil:
		return model.CauseDevices, "no node can match its node selection and have what its volumes and resource claims are allowed to be on"
	case len(c.Asked) > 0:
		return model.CauseVolumes, "no node can match its node selection and have the labels that its volumes ask for"
	default:
		return model.CauseInvalid, "no node can match its required node affinity, which has no terms, or only empty ones"
	}
	for _, alt := range c.Alternatives {
		possible := alt.NodeNames == nil || !alt.NodeNames.Impossible()
		if possible && !alt.Set.Impossible() {
			return "", ""
		}
	}
	for r := range c.Alternatives[0].Set.All() {
		if r.Impossible() {
			return model.CauseInvalid, fmt.Sprintf("no node can match its node selection, which contradicts itself over label %s", r.Key())
		}
	}
	return model.CauseInvalid, "no node can match its node selection, which asks for several node names at once"
}

// nodes counts the existing nodes by the cause for which each excludes the class. within, if not
// nil, selects the nodes to count. Missing nodes of static pools do not count.
func (e *explainer) nodes(within func(*model.Existing) bool) map[model.Cause]int {
	if len(e.p.Nodes) == 0 {
		return nil
	}
	out := map[model.Cause]int{}
	for i := range e.p.Nodes {
		n := &e.p.Nodes[i]
		if _, missing := model.PoolOfMissing(n.Name()); missing {
			continue // it does not exist
		}
		if within != nil && !within(n) {
			continue
		}
		cause := e.p.Excluded(e.c, n)
		rules := &e.p.Rules.ByClass[e.c]
		switch {
		case cause != "":
			out[cause]++
		case len(rules.All) > 0 || len(rules.Spans) > 0:
			out[model.CauseNodes]++
		default:
			out[model.CauseResources]++ // other pods use it
		}
	}
	return out
}

// named lists the DaemonSets of daemons after a colon, for a message.
func named(daemons []*workload.Daemon) string { return ": " + strings.Join(namesOf(daemons), ", ") }

// namesOf returns the namespaces and names of the DaemonSets of daemons: the first three, and how
// many more there are.
func namesOf(daemons []*workload.Daemon) (names []string) {
	const most = 3
	for _, d := range daemons {
		name := d.Pod.Name
		if owner := metav1.GetControllerOfNoCopy(d.Pod); owner != nil {
			name = owner.Name
		}
		names = append(names, d.Pod.Namespace+"/"+name)
	}
	if more := len(names) - most; more > 0 {
		names = append(names[:most], fmt.Sprintf("and %d more", more))
	}
	return names
}

// place is a pool that refuses an alternative of the class.
type place struct {
	*compile.Narrowed
	pool        *catalog.Pool
	index       int // of the pool
	alternative requirements.Alternative
	reason      model.PoolReason
}

// texts explains, by filter, why no option of a pool passes it.
var texts = [compile.Admitted + 1]func(e *explainer, at *place) model.PoolReason{
	compile.Taints:      (*explainer).taints,
	compile.NodeName:    (*explainer).nodeName,
	compile.Labels:      (*explainer).labels,
	compile.DaemonHolds: (*explainer).daemonHolds,
	compile.Resources:   (*explainer).tooLarge,
	compile.DaemonApart: (*explainer).daemonApart,
	compile.DaemonWith:  (*explainer).daemonWith,
	compile.MinValues:   (*explainer).minValues,
	compile.Admitted:    (*explainer).taken,
}

// pool explains why a pool refuses the class. Of several alternatives it describes the one that
// passes most filters.
func (e *explainer) pool(i int) model.PoolReason {
	p := &e.p.Pools[i]
	if p.Idle.Cause != "" {
		return p.Idle
	}
	out := model.PoolReason{}
	if at := e.furthest(i, e.class.Alternatives); at != nil {
		out = at.reason
		if at.Filter > compile.Taints {
			out.Options, out.Steps = len(p.Options), at.Steps
		}
		if at.Filter == compile.Admitted {
			out.Steps = append(out.Steps, model.Step{Constraint: beyond(&out), Removed: at.Options.Len()})
		}
		if at.Filter == compile.NodeName || at.Filter == compile.Labels {
			e.blameExtras(i, &out)
		}
	}
	out.NodePool = p.Object.Name
	return out
}

// beyond names what excludes the pod although suitable options are left.
func beyond(reason *model.PoolReason) string {
	switch {
	case reason.Cause == model.CauseLimits:
		return "limits of the pool: " + reason.Detail
	case reason.Detail == "":
		return "constraints between pods"
	}
	return reason.Detail
}

// furthest applies the filters to each alternative, and returns the one that passes most, the first
// of equals; nil if there are no alternatives.
func (e *explainer) furthest(i int, alternatives []requirements.Alternative) *place {
	var out *place
	for _, alt := range alternatives {
		ask := compile.Ask{Alternative: alt, Tolerations: e.class.Tolerations, Class: e.c, Request: e.request}
		at := &place{e.p.Narrow(i, &ask), &e.p.Pools[i], i, alt, model.PoolReason{}}
		at.reason = texts[at.Filter](e, at)
		if out == nil || cmp.Or(cmp.Compare(at.Filter, out.Filter), cmp.Compare(at.agreement(), out.agreement())) > 0 {
			out = at
		}
	}
	return out
}

// agreement orders places at which one filter leaves no option: last those where the labels of the
// pool suit the pod, before them those where they do not, first those where no label could suit it.
func (at *place) agreement() int {
	switch {
	case at.reason.Cause == model.CauseInstanceTypes || at.reason.Cause == model.CauseOfferings:
		return 2
	case len(at.reason.Conflicts) > 0:
		return 1
	}
	return 0
}

// blameExtras changes the cause of a reason to the class's volumes or devices, if the pool has
// options for the pod's own requirements and only the labels of volumes or devices exclude them.
func (e *explainer) blameExtras(i int, r *model.PoolReason) {
	if !e.class.HasVolumes && e.class.Devices == nil {
		return
	}
	bare := workload.Class{Alternatives: e.class.Asked, Terms: e.class.Terms}
	bare.NeedLabels(e.p.Vocabulary)
	if at := e.furthest(i, bare.Alternatives); at == nil || at.Filter <= compile.Labels {
		return
	}
	cause, why := model.CauseVolumes, "what its volumes ask for is in the way"
	switch {
	case e.class.Devices != nil && e.class.HasVolumes:
		why = "what its volumes and resource claims ask for is in the way"
	case e.class.Devices != nil:
		cause, why = model.CauseDevices, "what its resource claims ask for is in the way"
	}
	r.Cause = cause
	if r.Detail != "" {
		why = r.Detail + "; " + why
	}
	r.Detail = why
}

func (e *explainer) taints(at *place) model.PoolReason {
	return model.PoolReason{Cause: model.CauseTaints, Taints: model.Untolerated(at.pool.Taints, e.class.Tolerations)}
}

func (e *explainer) nodeName(*place) model.PoolReason {
	return model.PoolReason{Cause: model.CauseRequirements, Detail: "the pod asks for a node by name, and a new node has none before it is launched"}
}

func (e *explainer) labels(at *place) model.PoolReason {
	if r, ok := at.alternative.Set.Get(corev1.LabelHostname); ok && !r.Has(model.NewHostname) {
		return model.PoolReason{Cause: model.CauseRequirements, Detail: fmt.Sprintf("the pod asks for %s, and a new node has no name before it is launched", r)}
	}
	for r := range at.alternative.Set.All() {
		if !compile.Writable(r) {
			return model.PoolReason{Cause: model.CauseRequirements, Detail: fmt.Sprintf("the pod asks for %s, and no label can have such a value", r)}
		}
	}
	// Types and offerings may narrow any label but not add one to a node, so a label that a type
	// defines must not count as a conflict with the pool.
	if conflicts := e.withPool(at.pool, at.alternative); len(conflicts) > 0 {
		return model.PoolReason{Cause: model.CauseRequirements, Conflicts: conflicts, Detail: e.askedByOthers(conflicts)}
	}
	return e.noType(at.pool, at.alternative)
}

// daemonHolds explains that DaemonSets have the holds of the class. If the class has holds of
// several kinds, the reason names the last.
func (e *explainer) daemonHolds(at *place) model.PoolReason {
	last := kinds.Of(e.class.Holds[len(e.class.Holds)-1].Kind)
	return model.PoolReason{Cause: last.Cause, Detail: last.TakenByDaemons + " on every suitable instance type" + named(at.Daemons)}
}

func (e *explainer) daemonApart(at *place) model.PoolReason {
	return model.PoolReason{Cause: model.CauseAntiAffinity,
		Detail: "a DaemonSet that required anti-affinity keeps apart from the pod runs on every suitable instance type" + named(at.Daemons)}
}

func (e *explainer) daemonWith(*place) model.PoolReason {
	return model.PoolReason{Cause: model.CauseAffinity,
		Detail: "no suitable instance type gets the pods of a DaemonSet that its required pod affinity over " + corev1.LabelHostname + " asks for"}
}

func (e *explainer) minValues(at *place) model.PoolReason {
	return model.PoolReason{Cause: model.CauseMinValues, Detail: at.Steps[len(at.Steps)-1].Constraint}
}

// askedByOthers adds a detail where a constraint with other pods, not the pod's own node selection,
// requires a label that the pool lacks; "" otherwise.
func (e *explainer) askedByOthers(conflicts []requirements.Conflict) string {
	for _, c := range conflicts {
		named := func(alt requirements.Alternative) bool { _, ok := alt.Set.Get(c.Key); return ok }
		if c.Undefined && !slices.ContainsFunc(e.class.Asked, named) {
			return "its constraints towards other pods are over " + c.Key
		}
	}
	return ""
}

// withPool returns the conflicts between an alternative and the template of a pool. Labels that an
// instance type or offering of the pool defines are left out if the pool itself does not define
// them.
func (e *explainer) withPool(p *catalog.Pool, alt requirements.Alternative) []requirements.Conflict {
	var out []requirements.Conflict
	for _, c := range p.Template.Conflicts(alt.Set.Without(corev1.LabelHostname), e.p.Vocabulary) {
		if c.Undefined && e.typesName(p, c.Key) {
			continue
		}
		out = append(out, c)
	}
	return out
}

// typesName says whether an instance type or offering of a pool defines a label.
func (e *explainer) typesName(p *catalog.Pool, key string) bool {
	for _, t := range p.Types {
		if _, ok := catalog.TypeRequirement(t, key); ok {
			return true
		}
		for j := range t.Offerings {
			if _, ok := t.Offerings[j].Requirements.Get(key); ok {
				return true
			}
		}
	}
	return false
}

// noType explains why no option of a pool has the required labels: no instance type has them, or
// the offerings that have them are unavailable now.
func (e *explainer) noType(p *catalog.Pool, alt requirements.Alternative) model.PoolReason {
	suited, offered := p.Allowed(p.Template.Intersect(alt.Set))
	asked := e.askedOfTypes(p, alt)
	if suited == 0 {
		return model.PoolReason{Cause: model.CauseInstanceTypes, Detail: fmt.Sprintf("no instance type of the pool has %s", asked)}
	}
	have := fmt.Sprintf("%d instance types have %s", suited, asked)
	if suited == 1 {
		have = "1 instance type has " + asked
	}
	switch offered {
	case 0:
		return model.PoolReason{Cause: model.CauseOfferings, Detail: have + ", but no offering has all of it"}
	case 1:
		return model.PoolReason{Cause: model.CauseOfferings, Detail: have + ", but the only offering is not available now"}
	}
	return model.PoolReason{Cause: model.CauseOfferings, Detail: have + fmt.Sprintf(", but none of the %d offerings is available now", offered)}
}

// askedOfTypes renders the requirements of an alternative on labels that types or offerings of a
// pool define. Other labels cannot be the cause.
func (e *explainer) askedOfTypes(p *catalog.Pool, alt requirements.Alternative) string {
	var asked []string
	for r := range alt.Set.All() {
		if e.typesName(p, r.Key()) {
			asked = append(asked, r.String())
		}
	}
	if len(asked) == 0 {
		return alt.Set.String()
	}
	return strings.Join(asked, " and ")
}

// taken explains what excludes the pod although options pass all filters: reservations, limits, or
// other pods.
func (e *explainer) taken(at *place) model.PoolReason {
	p, i, low := at.pool, at.index, &e.p.LowPools[at.index]
	if ids := e.reservations(p, at.Options); len(ids) > 0 {
		return model.PoolReason{Cause: model.CauseReservations, Detail: "only reserved capacity would do, and all that is left of " + strings.Join(ids, ", ") + " is taken"}
	}
	trait, left := e.p.Traits.Of(at.alternative.Set), at.Options
	if low.Limits != nil {
		left = left.Both(e.p.WithinLimits(i, e.planned[i]))
	}
	if low.Limits == nil || !left.Empty() && e.p.Choice(i, left, trait) {
		return model.PoolReason{Cause: model.CauseNodes, Detail: "pods that are there or come before it leave it no node of its own"}
	}
	if detail := e.beyondMinValues(i, left, trait); detail != "" {
		return model.PoolReason{Cause: model.CauseMinValues, Detail: detail}
	}
	return model.PoolReason{Cause: model.CauseLimits, Detail: limitDetail(p, at.Options, low.Uses, e.planned[i])}
}

// beyondMinValues explains that limits leave too few of the options that fit a pod to satisfy a
// minValues; "" if they leave enough, or none.
func (e *explainer) beyondMinValues(i int, left bitset.Set, trait int32) string {
	if left.Empty() || e.p.Opts.MinValues == model.BestEffort {
		return ""
	}
	mv, have := e.p.ShortOf(i, left, trait)
	if mv == nil {
		return ""
	}
	return fmt.Sprintf("it demands %d values of %s, and only %d can be had for the pod within what its limits leave (%s)",
		mv.Need, mv.Key, have, limitDetail(&e.p.Pools[i], left, e.p.LowPools[i].Uses, e.planned[i]))
}

// limitDetail describes the limits of a pool that allow none of the fitting options: the limit,
// what was used before, what the new nodes of the plan use, and what the smallest fitting option
// would use. If no limit alone excludes all options, it describes all limits.
func limitDetail(p *catalog.Pool, fitting bitset.Set, uses [][]int64, planned []int64) string {
	least := slices.Repeat([]int64{math.MaxInt64}, len(p.Limits))
	for o := range fitting.All() {
		for l, use := range uses[o-p.First] {
			least[l] = min(least[l], use)
		}
	}
	var binding, all []string
	for l, name := range p.Limits {
		takes := int64(0) // what one node uses of the limit
		if name != model.NodesResource && !fitting.Empty() {
			takes = max(least[l], 0)
		}
		amounts := model.Quantities(name, p.LimitUsed[l][0], p.LimitUsed[l][1], planned[l], takes)
		text := fmt.Sprintf("limits.%s is %s: %s used before", name, amounts[0], amounts[1])
		if planned[l] > 0 {
			text += fmt.Sprintf(", %s by this plan", amounts[2])
		}
		if takes > 0 {
			text += fmt.Sprintf(", and a node that would do takes %s or more", amounts[3])
		}
		if all = append(all, text); p.Remaining[l]-planned[l] < least[l] {
			binding = append(binding, text)
		}
	}
	if len(binding) == 0 {
		binding = all
	}
	return strings.Join(binding, "; ")
}

// reservations lists the reservations of some options, nil if any of the options uses none.
func (e *explainer) reservations(p *catalog.Pool, options bitset.Set) []string {
	var ids []string
	for o := range options.All() {
		id := p.Options[o-p.First].Offering.ReservationID
		if id == "" {
			return nil
		}
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}
