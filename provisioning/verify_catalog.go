package provisioning

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// refereePool is a NodePool with what each of its nodes has in common.
type refereePool struct {
	*v1.NodePool
	// labels are what the pool says of its nodes' labels: requirements,
	// template labels and the labels that every node of the pool gets.
	labels requirements.Set
	// demands are the requirements as the pool lists them, by key, minValues
	// included.
	demands requirements.Set
	err     error
	// limits are those of the pool as far as they can be read.
	limits    resources.List
	limitsErr error
	// daemons tolerate the pool's taints.
	daemons []*refereePod

	stock *refereeStock // nil until somebody asks for it
}

func (r *referee) newPool(pool *v1.NodePool) *refereePool {
	p := &refereePool{NodePool: pool}
	p.demands, p.err = requirements.FromRequirements(pool.Spec.Template.Spec.Requirements, r.vocabulary)
	fixed := []requirements.Requirement{
		requirements.In(v1.NodePoolLabelKey, pool.Name),
		requirements.In(v1.NodeRegisteredLabelKey, "true"),
		requirements.In(v1.NodeInitializedLabelKey, "true"),
	}
	if ref := pool.Spec.Template.Spec.NodeClassRef; ref != nil {
		fixed = append(fixed, requirements.In(v1.NodeClassLabelKey(ref.GroupKind()), ref.Name))
	}
	p.labels = p.demands.
		Intersect(requirements.FromLabels(pool.Spec.Template.Labels, r.vocabulary)).
		With(fixed...)
	p.limits, p.limitsErr = resources.FromResourceList(corev1.ResourceList(pool.Spec.Limits))
	for _, d := range r.daemons {
		if _, refused := d.tolerations.refused(pool.Spec.Template.Spec.Taints); !refused {
			p.daemons = append(p.daemons, d)
		}
	}
	return p
}

// closed says why a pool may not launch nodes; "" if it may.
func (p *refereePool) closed() string {
	switch {
	case p.DeletionTimestamp != nil:
		return "is being deleted"
	case p.Spec.Replicas != nil:
		return "is static"
	case p.err != nil:
		return "has requirements that cannot be read: " + p.err.Error()
	}
	for _, condition := range p.Status.Conditions {
		if condition.Type == v1.ConditionTypeReady && condition.Status != metav1.ConditionTrue {
			return "is not ready"
		}
	}
	return ""
}

// refereeOption is one way to launch a node, as the catalog has it.
type refereeOption struct {
	cloudprovider.LaunchOption
	// own are the labels by which the offering differs from others of its type,
	// and the name of the type.
	own         requirements.Set
	capacity    resources.List
	allocatable resources.List
	// room is what it can allocate of each of referee.asks.
	room []int64
	// indebted says that it holds back more than it has of something.
	indebted bool
	err      error
}

func (o *refereeOption) String() string { return o.Key().String() }

// labels are those of the instance type and the offering.
func (o *refereeOption) labels() requirements.Set {
	return o.InstanceType.Requirements.Intersect(o.own)
}

// label is the entry of labels for one key.
func (o *refereeOption) label(key string) (requirements.Requirement, bool) {
	of, byType := o.InstanceType.Requirements.Get(key)
	own, byOffering := o.own.Get(key)
	switch {
	case !byOffering:
		return of, byType
	case !byType:
		return own, true
	}
	return of.Intersect(own), true
}

// option derives, once for each offering, what the catalog says of it.
func (r *referee) option(option cloudprovider.LaunchOption) *refereeOption {
	if known := r.options[option]; known != nil {
		return known
	}
	o := &refereeOption{LaunchOption: option}
	o.own = option.Offering.Labels().With(requirements.In(corev1.LabelInstanceTypeStable, option.InstanceType.Name))
	o.capacity = option.InstanceType.Capacity
	if option.Offering.Capacity != nil {
		o.capacity = o.capacity.Merge(*option.Offering.Capacity)
	}
	overhead, err := option.InstanceType.Overhead.Total()
	if option.Offering.Overhead != nil {
		overhead = overhead.Merge(*option.Offering.Overhead)
	}
	o.err = err
	if o.err == nil {
		o.allocatable, o.err = r.lessOverhead(o.capacity, overhead)
	}
	o.indebted = len(o.allocatable.Negative()) > 0
	o.room = r.vector(o.allocatable)
	r.options[option] = o
	return o
}

// lessOverhead is what is left of a capacity for pods. Huge pages are carved
// out of memory at boot.
func (*referee) lessOverhead(capacity, overhead resources.List) (resources.List, error) {
	left, err := capacity.Sub(overhead)
	if err != nil {
		return left, err
	}
	// What is held back of a resource that the type does not have leaves none,
	// not a debt.
	for name := range overhead.All() {
		if _, listed := capacity.Lookup(name); !listed {
			left = left.Without(name)
		}
	}
	for name, size := range capacity.All() {
		if !strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix) {
			continue
		}
		left = left.With(corev1.ResourceMemory, max(0, left.Get(corev1.ResourceMemory)-size))
	}
	return left, nil
}

// vector is a list as amounts of each of asks.
func (r *referee) vector(list resources.List) []int64 {
	v := make([]int64, len(r.asks))
	for i, name := range r.asks {
		v[i] = list.Get(name)
	}
	return v
}
