package catalog

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/internal/engine/faults"
	"github.com/dovetail-sdk/dovetail/internal/engine/model"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// Pool is a NodePool as the engine reads it.
type Pool struct {
	Object *v1.NodePool

	// Template has the labels and requirements of every node of the pool.
	Template requirements.Set
	Taints   []corev1.Taint // hard taints; startup taints exclude no pod

	// Idle says why the pool launches nothing; its Cause is empty if the pool launches nodes.
	Idle model.PoolReason

	Types   []*cloudprovider.InstanceType // by name
	Options []Option                      // options of the pool, cheapest first
	First   int                           // index of Options[0] among the options of all pools
	soldOut []cloudprovider.LaunchOption  // offerings that the template allows and that are unavailable now

	Limits    []corev1.ResourceName // limited resources, sorted
	Remaining []int64               // by limit: what is left
	LimitUsed [][2]int64            // by limit: the limit, and what was used of it before this plan; for reasons

	MinValues []requirements.Requirement // requirements of the template that have minValues
}

// Option is one available offering of one instance type in one pool.
type Option struct {
	cloudprovider.LaunchOption
	*CapacityOf // shared by equal options; nil until it is computed
}

// NewPools returns the pools in the order in which the engine tries them: by descending weight,
// then by name.
func NewPools(nodePools []*v1.NodePool, types map[string][]*cloudprovider.InstanceType, v *requirements.Vocabulary, f *model.Faults) []Pool {
	objects := make([]*v1.NodePool, 0, len(nodePools))
	for i, object := range nodePools {
		switch {
		case object == nil:
			f.Add(fmt.Sprintf("NodePools[%d]", i), "", "is nil; leave it out")
		case object.Name == "":
			f.Add(fmt.Sprintf("NodePools[%d]", i), "metadata.name", "is empty; every NodePool needs a name of its own")
		default:
			objects = append(objects, object)
		}
	}
	slices.SortStableFunc(objects, func(a, b *v1.NodePool) int {
		return cmp.Or(-cmp.Compare(Weight(a), Weight(b)), strings.Compare(a.Name, b.Name))
	})
	pools := make([]Pool, 0, len(objects))
	seen := map[string]bool{}
	for _, object := range objects {
		if seen[object.Name] {
			f.Add(PoolObject(object), "", "is listed twice; list each NodePool once")
			continue
		}
		seen[object.Name] = true
		pools = append(pools, newPool(object, types[object.Name], v, f))
	}
	return pools
}

// Weight returns the weight of a pool, 0 if it has none.
func Weight(p *v1.NodePool) int32 {
	if p.Spec.Weight == nil {
		return 0
	}
	return *p.Spec.Weight
}

// PoolObject returns the name that faults give a pool.
func PoolObject(p *v1.NodePool) string { return fmt.Sprintf("NodePool %q", p.Name) }

func newPool(object *v1.NodePool, types []*cloudprovider.InstanceType, v *requirements.Vocabulary, f *model.Faults) Pool {
	p := Pool{Object: object, Taints: model.HardTaints(object.Spec.Template.Spec.Taints)}
	p.Idle = Idle(object)
	template, err := requirements.FromNodePool(object, v)
	if err != nil {
		f.Split(PoolObject(object), err)
	}
	invalid := templateFaults(object, faults.Joined(err))
	for _, fault := range invalid {
		f.Wrap(PoolObject(object), fault.Field, fault)
	}
	for _, key := range []string{corev1.LabelHostname, v1.NodeRegisteredLabelKey, v1.NodeInitializedLabelKey} {
		if _, named := template.Get(key); named && len(invalid) == 0 { // by an alias that the vocabulary has for the key
			f.Add(PoolObject(object), "spec.template", "names label %s, which a node gets only as it starts; leave it out", key)
		}
	}
	// Pods run on a node that is registered and initialised, and DaemonSets select nodes by these
	// labels.
	p.Template = template.With(
		requirements.In(v1.NodeRegisteredLabelKey, "true"),
		requirements.In(v1.NodeInitializedLabelKey, "true"),
	)
	for r := range template.All() {
		if r.MinValues() > 0 {
			p.MinValues = append(p.MinValues, r)
		}
	}
	p.Types = slices.Clone(types)
	slices.SortStableFunc(p.Types, func(a, b *cloudprovider.InstanceType) int {
		if a == nil || b == nil {
			return 0
		}
		return strings.Compare(a.Name, b.Name)
	})
	if why := ImpossibleKeys(template); p.Idle.Cause == "" && why != "" {
		p.Idle = model.PoolReason{NodePool: object.Name, Cause: model.CauseNoInstanceTypes, Detail: "its own labels and requirements contradict each other over " + why}
	}
	if p.Idle.Cause == "" && len(types) == 0 {
		p.Idle = model.PoolReason{NodePool: object.Name, Cause: model.CauseNoInstanceTypes, Detail: "it has no instance types"}
	}
	return p
}

// templateFaults returns what NodePool.Validate finds at fault in the parts of a pool that a plan
// reads: the labels, taints and requirements of its nodes, a reference to a NodeClass, a negative
// weight, and limits of a static pool on something else than nodes. Fields that are required of a stored
// object, but not for a plan, may be left out. It leaves out the requirements that have a fault in known,
// and what does no harm: negative bounds, and taints that are listed twice.
func templateFaults(object *v1.NodePool, known []error) (out field.ErrorList) {
	checked, spec := &v1.NodePool{}, object.Spec.Template.Spec
	t := &checked.Spec.Template
	t.Labels, t.Spec.Taints, t.Spec.StartupTaints = object.Spec.Template.Labels, spec.Taints, spec.StartupTaints
	t.Spec.Requirements = append([]v1.NodeSelectorRequirementWithMinValues{}, spec.Requirements...)
	for i := range t.Spec.Requirements {
		r := &t.Spec.Requirements[i]
		r.MinValues = nil // reasons explain one that cannot be met
		switch r.Operator {
		case corev1.NodeSelectorOpGt, corev1.NodeSelectorOpLt, v1.NodeSelectorOpGte, v1.NodeSelectorOpLte:
			r.Values = []string{"0"} // known has the fault of any value that is no integer
		}
	}
	if t.Spec.NodeClassRef = spec.NodeClassRef; spec.NodeClassRef == nil {
		t.Spec.NodeClassRef = &v1.NodeClassReference{Group: "none", Kind: "None", Name: "none"}
	}
	if Weight(object) < 0 {
		checked.Spec.Weight = object.Spec.Weight
	}
	if object.Spec.Replicas != nil {
		checked.Spec.Replicas, checked.Spec.Limits = new(int64(0)), maps.Clone(object.Spec.Limits)
		delete(checked.Spec.Limits, v1.ResourceNodes)
	}
	for _, fault := range checked.Validate() {
		same := func(err error) bool {
			k, ok := err.(*field.Error)
			return ok && strings.HasPrefix(fault.Field, k.Field)
		}
		if fault.Type != field.ErrorTypeDuplicate && !slices.ContainsFunc(known, same) {
			out = append(out, fault)
		}
	}
	return out
}

// ImpossibleKeys lists the labels whose requirements no state satisfies, separated by commas.
func ImpossibleKeys(s requirements.Set) string {
	var keys []string
	for r := range s.All() {
		if r.Impossible() {
			keys = append(keys, r.Key())
		}
	}
	return strings.Join(keys, ", ")
}

// Idle says why a pool launches no nodes; the Cause is empty if it launches some.
func Idle(object *v1.NodePool) model.PoolReason {
	r := model.PoolReason{NodePool: object.Name, Cause: model.CauseNotReady}
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
		return model.PoolReason{}
	}
	return r
}

// SetLimits computes what the limits of the pool still allow: the limits minus the capacity of its
// nodes that are not terminating.
func (p *Pool) SetLimits(rooms *model.Rooms, v *requirements.Vocabulary, f *model.Faults) {
	if len(p.Object.Spec.Limits) == 0 {
		return
	}
	limits, err := resources.FromResourceList(corev1.ResourceList(p.Object.Spec.Limits))
	if err != nil {
		f.Wrap(PoolObject(p.Object), "spec.limits", err)
		return
	}
	use := rooms.Used(p.Object.Name)
	used := use.Sum
	if use.Odd {
		used = p.Used(rooms.Nodes, v, f) // reports what is wrong
	}
	for name, limit := range limits.All() {
		if limit < 0 {
			f.Add(PoolObject(p.Object), fmt.Sprintf("spec.limits[%s]", name), "is negative; a limit is zero or more")
		}
		p.Remaining = append(p.Remaining, max(limit-max(used.Get(name), 0), 0))
		p.LimitUsed = append(p.LimitUsed, [2]int64{limit, used.Get(name)})
	}
}

// nameLimits lists the resources that have a limit. SetLimits reports faults in limits.
func (p *Pool) nameLimits() {
	if list, err := resources.FromResourceList(corev1.ResourceList(p.Object.Spec.Limits)); err == nil {
		for name := range list.All() {
			p.Limits = append(p.Limits, name)
		}
	}
}

// useLists caches what launches use of limits. Pools with the same list of options and limits on
// the same resources share an entry.
type useLists map[useKey][][]int64

type useKey struct {
	options *Option // the first option of the list
	limits  string
}

// of returns, by option of a pool, the amounts that a launch uses of each limited resource; nil if
// the pool has no limits or no options.
func (u *useLists) of(p *Pool) [][]int64 {
	if len(p.Limits) == 0 || len(p.Options) == 0 {
		return nil
	}
	key := useKey{&p.Options[0], fmt.Sprintf("%q", p.Limits)}
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

// allUses computes, by option of a pool, what a launch uses of each limited resource; nil if the
// pool has no limits. Options of one type share a list unless an offering has a capacity of its
// own.
func (p *Pool) allUses() [][]int64 {
	if len(p.Limits) == 0 {
		return nil
	}
	out := make([][]int64, len(p.Options))
	for j := range p.Options {
		o := &p.Options[j]
		if j > 0 && o.InstanceType == p.Options[j-1].InstanceType && o.Offering.Capacity == nil && p.Options[j-1].Offering.Capacity == nil {
			out[j] = out[j-1]
		} else {
			out[j] = LimitUses(p.Limits, o.LaunchOption)
		}
	}
	return out
}

// LimitUses returns what one launch uses of each limited resource, in base units of the resource.
func LimitUses(limits []corev1.ResourceName, o cloudprovider.LaunchOption) []int64 {
	out := make([]int64, len(limits))
	for i, name := range limits {
		if name == model.NodesResource {
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

// Used sums the capacity of the nodes of the pool that are not terminating.
func (p *Pool) Used(nodes []model.Node, v *requirements.Vocabulary, f *model.Faults) resources.List {
	used := resources.List{}
	for _, n := range nodes {
		if n.PoolName() != p.Object.Name || n.Leaving() {
			continue
		}
		capacity, err := n.Capacity()
		if !n.Launched() {
			claimEstimate, broken := p.Estimated(n, v)
			if broken != nil {
				continue // the room of the node meets the same error and reports it
			}
			capacity, err = claimEstimate.Capacity, nil
		}
		if err == nil {
			used, err = used.Add(capacity.With(model.NodesResource, 1))
		}
		if err != nil {
			f.Wrap(model.NodeObject(n), "status.capacity", err)
		}
	}
	return used
}

// mostOf returns, by limit, the most that any of some launches uses.
func mostOf(uses [][]int64) []int64 {
	var most []int64
	for j, use := range uses {
		if j == 0 {
			most = slices.Clone(use)
		}
		for r, n := range use {
			most[r] = max(most[r], n)
		}
	}
	return most
}
