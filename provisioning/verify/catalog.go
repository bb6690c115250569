package verify

import (
	"fmt"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
	"github.com/dovetail-sdk/dovetail/provisioning/verify/internal/nodefit"
	"github.com/dovetail-sdk/dovetail/provisioning/verify/internal/nodestate"
)

// poolInfo is a NodePool with what is equal for all of its nodes.
type poolInfo struct {
	*v1.NodePool
	labels    requirements.Set // of its nodes: requirements, template labels and labels of every node
	demands   requirements.Set // the requirements as the pool lists them, with minValues
	err       error            // of demands
	limits    resources.List   // restricted to limits that can be read
	limitsErr error
	daemons   []*podInfo       // DaemonSets that tolerate its taints
	mentions  nodefit.Mentions // of their node selections
	stock     *poolCatalog     // nil until it is needed
}

func (r *referee) newPool(pool *v1.NodePool) *poolInfo {
	p := &poolInfo{NodePool: pool}
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
		if _, refused := d.tolerations.Refused(pool.Spec.Template.Spec.Taints); !refused {
			p.daemons, p.mentions = append(p.daemons, d), nodefit.Join(p.mentions, d.selection.Mentions)
		}
	}
	return p
}

// closed says why a pool may not launch nodes, "" if it may.
func (p *poolInfo) closed() string {
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

// optionInfo is one way to launch a node, as in the catalog.
type optionInfo struct {
	cloudprovider.LaunchOption
	own         requirements.Set // labels in which the offering differs from others of its type, and the name of the type
	capacity    resources.List
	allocatable resources.List
	room        []int64 // allocatable by referee.asks
	indebted    bool    // it reserves more of a resource than it has
	err         error   // of allocatable
}

func (o *optionInfo) String() string { return o.Key().String() }

// labels returns the labels of the instance type and the offering.
func (o *optionInfo) labels() requirements.Set {
	return o.InstanceType.Requirements.Intersect(o.own)
}

// label returns the entry of labels for one key.
func (o *optionInfo) label(key string) (requirements.Requirement, bool) {
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

// option returns the optionInfo of an offering, computed once.
func (r *referee) option(option cloudprovider.LaunchOption) *optionInfo {
	if known := r.options[option]; known != nil {
		return known
	}
	o := &optionInfo{LaunchOption: option}
	o.own = option.Offering.Labels().With(requirements.In(corev1.LabelInstanceTypeStable, option.InstanceType.Name))
	o.capacity, o.allocatable, o.err = nodestate.Room(option.InstanceType, option.Offering)
	o.indebted = len(o.allocatable.Negative()) > 0
	for _, name := range r.asks {
		o.room = append(o.room, o.allocatable.Get(name))
	}
	r.options[option] = o
	return o
}

// poolCatalog is the catalog of a pool, with its options numbered. A plan lists each option
// thousands of times, so everything that does not depend on the node is computed here once.
type poolCatalog struct {
	options []*optionInfo
	numbers map[cloudprovider.LaunchOption]int32
	types   map[string]*cloudprovider.InstanceType // by name

	odd     []bool                  // by option: its labels contradict those of the pool
	columns map[string]*labelColumn // by label key
	open    *question               // the question for a node without further requirements
}

// labelColumn has the state of one label on each option of a pool. Options with equal states share
// a labelState.
type labelColumn struct {
	state  []int32 // by option
	states []labelState
}

// labelState is the values of one label by pool, instance type and offering.
type labelState struct {
	requirements.Requirement
	named bool // one of them names the label
	own   bool // the instance type or the offering names it
}

// stockOf returns the catalog of a pool.
func (r *referee) stockOf(pool *poolInfo) *poolCatalog {
	if pool.stock != nil {
		return pool.stock
	}
	s := &poolCatalog{
		numbers: map[cloudprovider.LaunchOption]int32{},
		types:   map[string]*cloudprovider.InstanceType{},
		columns: map[string]*labelColumn{},
	}
	pool.stock = s
	for _, t := range r.in.InstanceTypes[pool.Name] {
		if t == nil || s.types[t.Name] != nil {
			continue
		}
		s.types[t.Name] = t
		// The requirements of the type are checked once for all its offerings.
		odd := t.Requirements.Intersect(pool.labels).Without(corev1.LabelHostname).Impossible()
		for i := range t.Offerings {
			o := r.option(cloudprovider.LaunchOption{InstanceType: t, Offering: &t.Offerings[i]})
			s.numbers[o.LaunchOption] = int32(len(s.options))
			s.options = append(s.options, o)
			oddOffering := false
			for own := range o.own.All() {
				oddOffering = oddOffering || r.labelOn(pool, o, own.Key()).Impossible()
			}
			s.odd = append(s.odd, odd || oddOffering)
		}
	}
	return s
}

// labelOn returns what pool, instance type and offering allow for a label. The hostname is not
// known before a node exists.
func (r *referee) labelOn(pool *poolInfo, o *optionInfo, key string) labelState {
	if key == corev1.LabelHostname {
		return labelState{Requirement: requirements.In(key, nodefit.NewNodeName), named: true}
	}
	label, own := o.label(key)
	said, byPool := pool.labels.Get(key)
	if byPool {
		label = label.Intersect(said)
	}
	return labelState{Requirement: label, named: own || byPool, own: own}
}

// column returns the state of a label on each option of a pool.
func (r *referee) column(pool *poolInfo, key string) *labelColumn {
	s := r.stockOf(pool)
	if known := s.columns[key]; known != nil {
		return known
	}
	c := &labelColumn{state: make([]int32, len(s.options))}
	s.columns[key] = c
	type identity struct {
		text       string
		named, own bool
	}
	known := map[identity]int32{}
	for i, o := range s.options {
		state := r.labelOn(pool, o, key)
		id := identity{state.String(), state.named, state.own}
		at, seen := known[id]
		if !seen {
			at = int32(len(c.states))
			known[id] = at
			c.states = append(c.states, state)
		}
		c.state[i] = at
	}
	return c
}

// locate finds an option of a plan in the catalog of a pool, so that the catalog is checked and not
// the plan's copy. The offering has the same zone, capacity type and reservation, and preferably
// the same price. fault says why there is no such option, "" if there is.
func (r *referee) locate(pool *poolInfo, option cloudprovider.LaunchOption) (number int32, fault string) {
	s := r.stockOf(pool)
	if number, ok := s.numbers[option]; ok {
		return number, ""
	}
	t := s.types[option.InstanceType.Name]
	if t == nil {
		return 0, fmt.Sprintf("instance type %s is not in the catalog of NodePool %s", option.InstanceType.Name, pool.Name)
	}
	var like *cloudprovider.Offering
	want := option.Offering
	for i := range t.Offerings {
		have := &t.Offerings[i]
		same := have.Zone == want.Zone && have.CapacityType == want.CapacityType &&
			have.ReservationID == want.ReservationID && have.ID == want.ID
		if have == want || same && (like == nil || have.Price == want.Price) {
			like = have
		}
	}
	switch {
	case like == nil:
		return 0, fmt.Sprintf("instance type %s has no such offering", t.Name)
	case like != want && like.Price != want.Price:
		return 0, fmt.Sprintf("it is listed at %s, the catalog says %s", priceText(want.Price), priceText(like.Price))
	}
	return s.numbers[cloudprovider.LaunchOption{InstanceType: t, Offering: like}], ""
}

func priceText(price float64) string {
	return strconv.FormatFloat(price, 'g', 10, 64) + " USD/h"
}
