package catalog

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/internal/engine/model"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// Pool is a NodePool made ready.
type Pool struct {
	Object *v1.NodePool

	// template is what every node of the pool has: labels and requirements.
	Template requirements.Set
	Taints   []corev1.Taint // hard ones; startup taints keep nobody out

	// idle says why the pool launches nothing; empty Cause means that it does.
	Idle model.PoolReason

	Types   []*cloudprovider.InstanceType // by name
	Options []Option                      // those a node may be launched by, cheapest first
	First   int                           // index of options[0] among those of all pools
	soldOut []cloudprovider.LaunchOption  // those it could launch nodes by if they were to be had now

	Limits    []corev1.ResourceName // limited resources, sorted
	Remaining []int64               // of each limit
	LimitUsed [][2]int64            // each limit, and what was used of it before, for reasons

	MinValues []requirements.Requirement // those of the template with a minimum
}

// Option is one launchable offering of one type in one pool.
type Option struct {
	cloudprovider.LaunchOption
	*CapacityOf // shared by options alike; nil until it is worked out
}

// NewPools returns the pools in the order they are tried: weight descending,
// then name.
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

// Weight is that of a pool, 0 if it has none.
func Weight(p *v1.NodePool) int32 {
	if p.Spec.Weight == nil {
		return 0
	}
	return *p.Spec.Weight
}

// PoolObject is how faults call a pool.
func PoolObject(p *v1.NodePool) string { return fmt.Sprintf("NodePool %q", p.Name) }

func newPool(object *v1.NodePool, types []*cloudprovider.InstanceType, v *requirements.Vocabulary, f *model.Faults) Pool {
	p := Pool{Object: object, Taints: model.HardTaints(object.Spec.Template.Spec.Taints)}
	p.Idle = Idle(object)
	taintFaults(object, f)
	template, err := requirements.FromNodePool(object, v)
	if err != nil {
		f.Split(PoolObject(object), err)
	}
	for _, key := range []string{corev1.LabelHostname, v1.NodeRegisteredLabelKey, v1.NodeInitializedLabelKey} {
		if _, named := template.Get(key); named {
			f.Add(PoolObject(object), "spec.template", "names label %s, which a node gets only as it starts; leave it out", key)
		}
	}
	// A node is registered and initialised by the time pods run on it, and
	// DaemonSets select on that.
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

// taintFaults reports taints that no node can have. Passed over, they would let
// pods onto nodes that were to be kept clear.
func taintFaults(object *v1.NodePool, f *model.Faults) {
	spec := &object.Spec.Template.Spec
	for _, list := range []struct {
		field  string
		taints []corev1.Taint
	}{{"taints", spec.Taints}, {"startupTaints", spec.StartupTaints}} {
		for i, t := range list.taints {
			at := fmt.Sprintf("spec.template.spec.%s[%d]", list.field, i)
			if t.Key == "" {
				f.Add(PoolObject(object), at+".key", "is empty; name the taint")
			}
			switch t.Effect {
			case corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule, corev1.TaintEffectNoExecute:
			default:
				f.Add(PoolObject(object), at+".effect", "is %q; use NoSchedule, PreferNoSchedule or NoExecute", t.Effect)
			}
		}
	}
}

// ImpossibleKeys lists the labels that no node can have as asked.
func ImpossibleKeys(s requirements.Set) string {
	var keys []string
	for r := range s.All() {
		if r.Impossible() {
			keys = append(keys, r.Key())
		}
	}
	return strings.Join(keys, ", ")
}

// Idle says why a pool launches no nodes, if so.
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

// SetLimits works out what the limits of the pool still allow: the limits less
// the capacity of its nodes that are not on their way out.
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
		used = p.Used(rooms.Nodes, v, f) // and say what is wrong
	}
	for name, limit := range limits.All() {
		if limit < 0 {
			f.Add(PoolObject(p.Object), fmt.Sprintf("spec.limits[%s]", name), "is negative; a limit is zero or more")
		}
		p.Remaining = append(p.Remaining, max(limit-max(used.Get(name), 0), 0))
		p.LimitUsed = append(p.LimitUsed, [2]int64{limit, used.Get(name)})
	}
}

// nameLimits lists the resources with a limit. What is wrong with limits is said by
// setLimits.
func (p *Pool) nameLimits() {
	if list, err := resources.FromResourceList(corev1.ResourceList(p.Object.Spec.Limits)); err == nil {
		for name := range list.All() {
			p.Limits = append(p.Limits, name)
		}
	}
}

// useLists are what launches take of limits, the same for pools with the same list of
// options and limits on the same resources.
type useLists map[useKey][][]int64

type useKey struct {
	options *Option // the first
	limits  string
}

// of returns what each option of a pool takes of each resource with a limit, nil where
// there is none.
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

// allUses returns what each option takes of each resource with a limit, nil where
// there is none. Options of one type share a list unless an offering has a capacity
// of its own.
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

// LimitUses returns what a launch takes of each limited resource.
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

// Used adds up what the nodes of the pool have that are not on their way out.
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
				continue // found again, and reported, with the room of the node
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

// mostOf is the most that any of some launches takes of each limit.
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
