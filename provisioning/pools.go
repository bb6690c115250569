package provisioning

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/bitset"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// pool is a NodePool made ready.
type pool struct {
	object *v1.NodePool

	// template is what every node of the pool has: labels and requirements.
	template requirements.Set
	taints   []corev1.Taint // hard ones; startup taints keep nobody out

	// idle says why the pool launches nothing; empty Cause means that it does.
	idle PoolReason

	types   []*cloudprovider.InstanceType // by name
	options []option                      // those a node may be launched by, cheapest first
	first   int                           // index of options[0] among those of all pools

	limits     []corev1.ResourceName // limited resources, sorted
	remaining  []int64               // of each limit
	limitTexts []string              // how each limit stands, for reasons

	minValues []requirements.Requirement // those of the template with a minimum
}

// option is one launchable offering of one type in one pool.
type option struct {
	cloudprovider.LaunchOption
	*capacityOf // shared by options alike; nil until it is worked out
}

// newPools returns the pools in the order they are tried: weight descending,
// then name.
func newPools(in *Input, v *requirements.Vocabulary, f *faults) []pool {
	objects := make([]*v1.NodePool, 0, len(in.NodePools))
	for i, object := range in.NodePools {
		switch {
		case object == nil:
			f.add(fmt.Sprintf("NodePools[%d]", i), "", "is nil; leave it out")
		case object.Name == "":
			f.add(fmt.Sprintf("NodePools[%d]", i), "metadata.name", "is empty; every NodePool needs a name of its own")
		default:
			objects = append(objects, object)
		}
	}
	slices.SortStableFunc(objects, func(a, b *v1.NodePool) int {
		return cmp.Or(-cmp.Compare(weight(a), weight(b)), strings.Compare(a.Name, b.Name))
	})
	pools := make([]pool, 0, len(objects))
	seen := map[string]bool{}
	for _, object := range objects {
		if seen[object.Name] {
			f.add(poolObject(object), "", "is listed twice; list each NodePool once")
			continue
		}
		seen[object.Name] = true
		pools = append(pools, newPool(object, in.InstanceTypes[object.Name], v, f))
	}
	return pools
}

func weight(p *v1.NodePool) int32 {
	if p.Spec.Weight == nil {
		return 0
	}
	return *p.Spec.Weight
}

func poolObject(p *v1.NodePool) string { return fmt.Sprintf("NodePool %q", p.Name) }

func newPool(object *v1.NodePool, types []*cloudprovider.InstanceType, v *requirements.Vocabulary, f *faults) pool {
	p := pool{object: object, taints: hardTaints(object.Spec.Template.Spec.Taints)}
	p.idle = idle(object)
	taintFaults(object, f)
	template, err := requirements.FromNodePool(object, v)
	if err != nil {
		f.split(poolObject(object), err)
	}
	for _, key := range []string{corev1.LabelHostname, v1.NodeRegisteredLabelKey, v1.NodeInitializedLabelKey} {
		if _, named := template.Get(key); named {
			f.add(poolObject(object), "spec.template", "names label %s, which a node gets only as it starts; leave it out", key)
		}
	}
	// A node is registered and initialised by the time pods run on it, and
	// DaemonSets select on that.
	p.template = template.With(
		requirements.In(v1.NodeRegisteredLabelKey, "true"),
		requirements.In(v1.NodeInitializedLabelKey, "true"),
	)
	for r := range template.All() {
		if r.MinValues() > 0 {
			p.minValues = append(p.minValues, r)
		}
	}
	p.types = slices.Clone(types)
	slices.SortStableFunc(p.types, func(a, b *cloudprovider.InstanceType) int {
		if a == nil || b == nil {
			return 0
		}
		return strings.Compare(a.Name, b.Name)
	})
	if why := impossibleKeys(template); p.idle.Cause == "" && why != "" {
		p.idle = PoolReason{NodePool: object.Name, Cause: CauseRequirements, Detail: "its own labels and requirements contradict each other over " + why}
	}
	if p.idle.Cause == "" && len(types) == 0 {
		p.idle = PoolReason{NodePool: object.Name, Cause: CauseNoInstanceTypes, Detail: "it has no instance types"}
	}
	return p
}

// taintFaults reports taints that no node can have. Passed over, they would let
// pods onto nodes that were to be kept clear.
func taintFaults(object *v1.NodePool, f *faults) {
	spec := &object.Spec.Template.Spec
	for _, list := range []struct {
		field  string
		taints []corev1.Taint
	}{{"taints", spec.Taints}, {"startupTaints", spec.StartupTaints}} {
		for i, t := range list.taints {
			at := fmt.Sprintf("spec.template.spec.%s[%d]", list.field, i)
			if t.Key == "" {
				f.add(poolObject(object), at+".key", "is empty; name the taint")
			}
			switch t.Effect {
			case corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule, corev1.TaintEffectNoExecute:
			default:
				f.add(poolObject(object), at+".effect", "is %q; use NoSchedule, PreferNoSchedule or NoExecute", t.Effect)
			}
		}
	}
}

// impossibleKeys lists the labels that no node can have as asked.
func impossibleKeys(s requirements.Set) string {
	var keys []string
	for r := range s.All() {
		if r.Impossible() {
			keys = append(keys, r.Key())
		}
	}
	return strings.Join(keys, ", ")
}

// idle says why a pool launches no nodes, if so.
func idle(object *v1.NodePool) PoolReason {
	r := PoolReason{NodePool: object.Name, Cause: CauseNotReady}
	switch {
	case !object.DeletionTimestamp.IsZero():
		r.Detail = "it is being deleted"
	case object.Spec.Replicas != nil:
		r.Detail = "it is static: spec.replicas fixes how many nodes it has"
	default:
		for _, c := range object.Status.Conditions {
			if c.Type == v1.ConditionTypeReady && c.Status != metav1.ConditionTrue {
				r.Detail = fmt.Sprintf("its Ready condition is %s", c.Status)
				if c.Reason != "" {
					r.Detail += ", reason " + c.Reason
				}
				return r
			}
		}
		return PoolReason{}
	}
	return r
}

// setLimits works out what the limits of the pool still allow: the limits less
// the capacity of its nodes that are not on their way out.
func (p *pool) setLimits(nodes []Node, known *rooms, v *requirements.Vocabulary, f *faults) {
	if len(p.object.Spec.Limits) == 0 {
		return
	}
	limits, err := resources.FromResourceList(corev1.ResourceList(p.object.Spec.Limits))
	if err != nil {
		f.wrap(poolObject(p.object), "spec.limits", err)
		return
	}
	used := p.used(nodes, known, v, f)
	for name, limit := range limits.All() {
		if limit < 0 {
			f.add(poolObject(p.object), fmt.Sprintf("spec.limits[%s]", name), "is negative; a limit is zero or more")
			continue
		}
		p.remaining = append(p.remaining, max(limit-max(used.Get(name), 0), 0))
		p.limitTexts = append(p.limitTexts, fmt.Sprintf("limits.%s is %s: %s used before", name, quantity(name, limit), quantity(name, used.Get(name))))
	}
}

// nodesResource is the limit that counts nodes.
const nodesResource = corev1.ResourceName("nodes")

// nameLimits lists the resources with a limit. What is wrong with limits is said by
// setLimits.
func (p *pool) nameLimits() {
	if list, err := resources.FromResourceList(corev1.ResourceList(p.object.Spec.Limits)); err == nil {
		for name := range list.All() {
			p.limits = append(p.limits, name)
		}
	}
}

// useLists are what launches take of limits, the same for pools with the same list of
// options and limits on the same resources.
type useLists map[useKey][][]int64

type useKey struct {
	options *option // the first
	limits  string
}

// of returns what each option of a pool takes of each resource with a limit, nil where
// there is none.
func (u *useLists) of(p *pool) [][]int64 {
	if len(p.limits) == 0 || len(p.options) == 0 {
		return nil
	}
	key := useKey{&p.options[0], fmt.Sprintf("%q", p.limits)}
	uses, ok := (*u)[key]
	if !ok {
		if *u == nil {
			*u = useLists{}
		}
		uses = p.allUses()
		(*u)[key] = uses
	}
	return uses
}

// allUses returns what each option takes of each resource with a limit, nil where
// there is none. Options of one type share a list unless an offering has a capacity
// of its own.
func (p *pool) allUses() [][]int64 {
	if len(p.limits) == 0 {
		return nil
	}
	out := make([][]int64, len(p.options))
	for j := range p.options {
		o := &p.options[j]
		if j > 0 && o.InstanceType == p.options[j-1].InstanceType && o.Offering.Capacity == nil && p.options[j-1].Offering.Capacity == nil {
			out[j] = out[j-1]
		} else {
			out[j] = limitUses(p.limits, o.LaunchOption)
		}
	}
	return out
}

// limitUses returns what a launch takes of each limited resource.
func limitUses(limits []corev1.ResourceName, o cloudprovider.LaunchOption) []int64 {
	out := make([]int64, len(limits))
	for i, name := range limits {
		if name == nodesResource {
			out[i] = 1
			continue
		}
		capacity := o.InstanceType.Capacity
		if o.Offering.Capacity != nil {
			capacity = capacity.Merge(*o.Offering.Capacity)
		}
		out[i] = capacity.Get(name)
	}
	return out
}

// A node is launched by the heaviest pools that can serve some pod. Once it is to be
// launched it is room like any other: pods that heavier pools could serve may fill it,
// so that these need not launch for them. That is so for nodes of pods that no heavier
// pool can take, whatever else becomes of the plan.

// tiers say which weights pods come to.
type tiers struct {
	// heaviest is by class the tier of the heaviest pools with options for its pods,
	// whatever limits leave of them; -1 if there are none.
	heaviest []int
	// anyway are the options of the nodes that are launched for pods that no heavier
	// pool can take.
	anyway bitset.Set
	// fill says that some pods could be on such nodes as well as on those of heavier pools.
	fill bool
}

// findTiers works out which weights pods come to.
func (p *Problem) findTiers() {
	t := &p.tiers
	t.heaviest, t.anyway = make([]int, len(p.classes)), bitset.New(len(p.lowOptions))
	if len(p.lowPools) == 0 || p.lowPools[len(p.lowPools)-1].Tier == 0 {
		return
	}
	asked := map[int32]int{} // the first class that asks so
	for c := range p.classes {
		first, ok := asked[p.admission.asks[c]]
		if ok {
			t.heaviest[c] = t.heaviest[first] // refused or not, which is part of what they ask
			continue
		}
		asked[p.admission.asks[c]], t.heaviest[c] = c, -1
		if p.classes[c].refusal != nil {
			continue
		}
		for o, tier := range p.inTiers(c) {
			if t.heaviest[c] >= 0 && t.heaviest[c] < tier {
				break
			}
			t.heaviest[c] = tier
			t.anyway.Add(o)
		}
	}
	for _, c := range asked {
		if p.classes[c].refusal != nil {
			continue
		}
		for o, tier := range p.inTiers(c) {
			if t.fill = t.fill || tier > t.heaviest[c] && t.anyway.Has(o); t.fill {
				return
			}
		}
	}
}

// inTiers goes over the options of a class and their tiers, those of heavier pools first.
func (p *Problem) inTiers(c int) iter.Seq2[int, int] {
	return func(yield func(option, tier int) bool) {
		pool := 0
		for o := range p.admission.lowered(c).All() {
			for o >= p.lowPools[pool].Last {
				pool++
			}
			if !yield(o, p.lowPools[pool].Tier) {
				return
			}
		}
	}
}

// keepHeaviest removes the options of pools that pods with some usable options do not
// come to by weights alone, as a heavier pool can always launch for them: neither limits
// nor reservations that run out end it.
func (p *Problem) keepHeaviest(options, usable bitset.Set) {
	last := -1
	for i := range p.lowPools {
		low := &p.lowPools[i]
		if last >= 0 && low.Tier > last {
			for o := low.First; o < low.Last; o++ {
				options.Remove(o)
			}
			continue
		}
		for o := low.First; o < low.Last && low.Limits == nil && last < 0; o++ {
			if usable.Has(o) && p.lowOptions[o].Reservation == 0 {
				last = low.Tier
			}
		}
	}
}

// isAnyway says whether a new node is launched for a pod that no heavier pool can take,
// not counting one pod of class without, if that is not negative.
func (p *Problem) isAnyway(s *bin, without int) bool {
	tier := p.lowPools[s.binType.pool].Tier
	for _, m := range s.pods {
		if p.tiers.heaviest[m.class] == tier && (m.class != without || m.count > 1) {
			return true
		}
	}
	return false
}
