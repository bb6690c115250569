package disruption

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/cloudprovider/overlay"
	"github.com/dovetail-sdk/dovetail/disruption/internal/repair"
	"github.com/dovetail-sdk/dovetail/internal/podterm"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// Cluster is an Input read at one instant. It does not change, points into the
// input, and may be used from any number of goroutines.
type Cluster struct {
	now        time.Time
	in         Input
	opts       Options
	vocabulary *requirements.Vocabulary
	pools      map[string]*nodePool
	poolNames  []string // sorted
	nodes      []*stateNode
	byName     map[string]*stateNode
	pdbs       pdbIndex
	bounds     []*bound
	instances  map[string]*cloudprovider.Instance
	warnings   []*provisioning.InputError
	pinSpread  bool            // pods stay in the domains that they are spread over
	pinnedOn   map[string]bool // those of these nodes only; nil is all
}

// Observe reads an input at an instant. Nil options mean the defaults.
//
// The Cluster can always be used. If the error is not nil it lists every fault of
// the input and the options, each an InputError of package provisioning (see its
// Faults). No rule touches what is at fault:
//
//   - a node that is listed twice or has no name is left out;
//   - a pool that is listed twice counts as missing;
//   - budgets that are malformed block;
//   - of a pool whose consolidationPolicy is not known only empty nodes go;
//   - options that are out of bounds count as Options.Validate says;
//   - repair policies with a fault repair nothing, and overlays with a fault change
//     nothing;
//   - a PodDisruptionBudget that cannot be read selects nothing.
func Observe(now time.Time, in Input, opts *Options) (*Cluster, error) {
	f := &Cluster{now: now, in: in, opts: opts.withDefaults(), vocabulary: in.Vocabulary, byName: map[string]*stateNode{}}
	if f.vocabulary == nil {
		f.vocabulary = requirements.DefaultVocabulary()
	}
	var faults faultList
	f.readPools(&faults)
	f.pdbs = readPDBs(in.PodDisruptionBudgets, &faults)
	f.readMembers(&faults)
	policies, err := repair.Read(in.RepairPolicies)
	if err != nil {
		faults.wrap("RepairPolicies", "", err)
	}
	f.diagnose(policies)
	f.readInstances(&faults)
	f.readBounds(&faults)
	faults.options(opts)
	slices.SortStableFunc(f.warnings, compareFaults)
	return f, faults.err()
}

// Now is the instant that was given to Observe.
func (f *Cluster) Now() time.Time { return f.now }

// Warnings lists values of nodes and pods that cannot be read and were passed
// over, such as a karpenter.sh/do-not-disrupt that is neither true nor a
// duration, or annotations in the words of before v1beta1, and NodeClaims whose age
// would count and is not known; sorted by object, field and detail.
func (f *Cluster) Warnings() []*provisioning.InputError { return slices.Clone(f.warnings) }

// Price is what a node costs in USD per hour, by the offering that its labels name in the
// catalog of its pool after overlays, available or not. It is not known of a node that
// nobody manages, that is not in the input, or whose offering is not in the catalog.
func (f *Cluster) Price(node string) (price float64, known bool) {
	m := f.byName[node]
	if m == nil || !m.managed() {
		return 0, false
	}
	return m.price()
}

// readMembers makes the members, sorted by name.
func (f *Cluster) readMembers(faults *faultList) {
	claims, names := map[string]int{}, map[string]int{}
	for _, n := range f.in.Nodes {
		names[n.Name()]++
		if n.NodeClaim != nil {
			claims[n.NodeClaim.Name]++
		}
	}
	buffers := map[string]bool{}
	for _, name := range f.in.BufferNodes {
		buffers[name] = true
	}
	for i, n := range f.in.Nodes {
		object := nodeObject(n)
		switch {
		case n.Node == nil && n.NodeClaim == nil:
			faults.add(fmt.Sprintf("Nodes[%d]", i), "", "has neither a Node nor a NodeClaim; set at least one")
		case n.Name() == "":
			faults.add(fmt.Sprintf("Nodes[%d]", i), "metadata.name", "is empty; nodes are told apart by name")
		case names[n.Name()] > 1:
			faults.add(object, "", "is listed twice; list each node once, with its NodeClaim beside it")
		case n.NodeClaim != nil && claims[n.NodeClaim.Name] > 1:
			faults.add(object, "NodeClaim", "%q is listed with another node too; list it once", n.NodeClaim.Name)
		default:
			m := f.newStateNode(n, faults)
			m.buffer = buffers[m.name]
			f.nodes = append(f.nodes, m)
			f.byName[m.name] = m
		}
	}
	slices.SortFunc(f.nodes, func(a, b *stateNode) int { return strings.Compare(a.name, b.name) })
	for _, m := range f.nodes {
		if m.pool != nil && m.managed() {
			m.pool.members = append(m.pool.members, m)
			m.pool.count.add(m)
		}
	}
}

// readInstances indexes the machines of the cloud by ID. Of those listed twice
// the one that is going down counts, then the one first by name and age.
func (f *Cluster) readInstances(faults *faultList) {
	f.instances = map[string]*cloudprovider.Instance{}
	for i, instance := range f.in.Instances {
		switch {
		case instance == nil:
			faults.add(fmt.Sprintf("Instances[%d]", i), "", "is nil; leave it out")
		case instance.ID == "":
			faults.add(fmt.Sprintf("Instances[%d]", i), "ID", "is empty; a machine cannot be named without it")
		case f.instances[instance.ID] != nil:
			faults.add(fmt.Sprintf("Instance %q", instance.ID), "", "is listed twice; list each machine once")
			if compareInstances(instance, f.instances[instance.ID]) < 0 {
				f.instances[instance.ID] = instance
			}
		default:
			f.instances[instance.ID] = instance
		}
	}
}

func compareInstances(a, b *cloudprovider.Instance) int {
	return cmp.Or(cmp.Compare(zeroOrOne(b.Deleting), zeroOrOne(a.Deleting)), strings.Compare(a.Name, b.Name),
		a.CreatedAt.Compare(b.CreatedAt), strings.Compare(a.NodePool, b.NodePool))
}

// nodePool is a NodePool and what follows from it.
type nodePool struct {
	*v1.NodePool
	hash             string
	types            map[string]*cloudprovider.InstanceType
	requirements     requirements.Set // those of the template
	unreadable       bool             // the requirements cannot be read
	consolidateAfter v1.NillableDuration
	policy           v1.ConsolidationPolicy
	policyUnknown    bool         // nobody knows what it asks for
	members          []*stateNode // those with a NodeClaim, by name
	count            headcount    // of members
	nodes, sick      int          // members with a Node, and those of them that are unhealthy
}

func (p *nodePool) static() bool { return p.Spec.Replicas != nil }

// ready reports whether the pool launches nodes.
func (p *nodePool) ready() bool {
	c := conditionOf(p.Status.Conditions, v1.ConditionTypeReady)
	return p.DeletionTimestamp.IsZero() && (c == nil || c.Status == "True")
}

func (f *Cluster) readPools(faults *faultList) {
	f.pools = map[string]*nodePool{}
	count := map[string]int{}
	for _, p := range f.in.NodePools {
		if p != nil {
			count[p.Name]++
		}
	}
	catalogs := f.catalogs(faults)
	for i, p := range f.in.NodePools {
		switch {
		case p == nil:
			faults.add(fmt.Sprintf("NodePools[%d]", i), "", "is nil; leave it out")
		case p.Name == "":
			faults.add(fmt.Sprintf("NodePools[%d]", i), "metadata.name", "is empty; pools are told apart by name")
		case count[p.Name] > 1:
			faults.add(poolObject(p.Name), "", "is listed twice; list each pool once")
		default:
			f.pools[p.Name] = f.newPoolView(p, catalogs[p.Name], faults)
			f.poolNames = append(f.poolNames, p.Name)
		}
	}
	slices.Sort(f.poolNames)
}

// catalogs are those of the input with the overlays applied.
func (f *Cluster) catalogs(faults *faultList) map[string][]*cloudprovider.InstanceType {
	types, _, err := overlay.Apply(f.in.Overlays, f.in.NodePools, f.in.InstanceTypes, f.vocabulary)
	if err != nil {
		faults.wrap("Overlays", "", err)
		return f.in.InstanceTypes
	}
	return types
}

func (f *Cluster) newPoolView(p *v1.NodePool, types []*cloudprovider.InstanceType, faults *faultList) *nodePool {
	v := &nodePool{NodePool: p, hash: p.Hash(), types: map[string]*cloudprovider.InstanceType{},
		consolidateAfter: p.Spec.Disruption.ConsolidateAfter, policy: p.Spec.Disruption.ConsolidationPolicy}
	if v.consolidateAfter.IsZero() {
		v.consolidateAfter = v1.NewDuration(v1.DefaultConsolidateAfter)
	}
	v.readPolicy(faults)
	v.readTypes(types, faults)
	set, err := requirements.FromRequirements(p.Spec.Template.Spec.Requirements, f.vocabulary)
	if err != nil {
		faults.split(poolObject(p.Name), "spec.template.spec.requirements", err)
		v.unreadable = true
	}
	v.requirements = set
	if r := p.Spec.Replicas; r != nil && *r < 0 {
		faults.add(poolObject(p.Name), "spec.replicas", "is %d; use zero or more", *r)
	}
	return v
}

// readPolicy completes the policy, and complains of one that is not known.
func (p *nodePool) readPolicy(faults *faultList) {
	switch p.policy {
	case "":
		p.policy = v1.DefaultConsolidationPolicy
	case v1.ConsolidationPolicyWhenEmpty, v1.ConsolidationPolicyWhenEmptyOrUnderutilized, v1.ConsolidationPolicyBalanced:
	default:
		p.policyUnknown = true
		faults.add(poolObject(p.Name), "spec.disruption.consolidationPolicy", "is %q; use %s, %s or %s", p.policy,
			v1.ConsolidationPolicyWhenEmpty, v1.ConsolidationPolicyWhenEmptyOrUnderutilized, v1.ConsolidationPolicyBalanced)
	}
}

// readTypes indexes a catalog by name. A type that is listed twice is left out.
func (p *nodePool) readTypes(types []*cloudprovider.InstanceType, faults *faultList) {
	twice := map[string]bool{}
	for i, t := range types {
		switch {
		case t == nil:
			faults.add(poolObject(p.Name), fmt.Sprintf("InstanceTypes[%d]", i), "is nil; leave it out")
		case p.types[t.Name] != nil && p.types[t.Name] != t:
			twice[t.Name] = true
		default:
			p.types[t.Name] = t
		}
	}
	for name := range twice { // faults are sorted in the end
		faults.add(poolObject(p.Name), "InstanceTypes", "%s is listed twice; list each type once", name)
		delete(p.types, name)
	}
}

// faultList collects the faults of an input.
type faultList struct{ list []*provisioning.InputError }

func (l *faultList) add(object, field, format string, args ...any) {
	l.list = append(l.list, &provisioning.InputError{Object: object, Field: field, Detail: fmt.Sprintf(format, args...)})
}

func (l *faultList) wrap(object, field string, err error) {
	l.list = append(l.list, &provisioning.InputError{Object: object, Field: field, Err: err})
}

// split adds each of the errors that err joins, with the path of its field below
// the one that is given.
func (l *faultList) split(object, path string, err error) {
	for _, e := range joined(err) {
		fault, ok := e.(*field.Error)
		if !ok {
			l.wrap(object, path, e)
			continue
		}
		whole := *fault
		whole.Field = path
		if fault.Field != "" && fault.Field[0] != '[' {
			whole.Field += "."
		}
		whole.Field += fault.Field
		l.wrap(object, whole.Field, &whole)
	}
}

// joined returns the errors that err, or what it wraps, is made of.
func joined(err error) []error {
	for inner := err; inner != nil; inner = errors.Unwrap(inner) {
		switch list := inner.(type) {
		case interface{ Unwrap() []error }:
			return list.Unwrap()
		case interface{ Errors() []error }:
			return list.Errors()
		}
	}
	return []error{err}
}

// err joins the faults, sorted, and each once.
func (l *faultList) err() error {
	slices.SortStableFunc(l.list, compareFaults)
	l.list = slices.CompactFunc(l.list, func(a, b *provisioning.InputError) bool { return compareFaults(a, b) == 0 })
	all := make([]error, len(l.list))
	for i, e := range l.list {
		all[i] = e
	}
	return errors.Join(all...)
}

func compareFaults(a, b *provisioning.InputError) int { return strings.Compare(a.Error(), b.Error()) }

func poolObject(name string) string { return fmt.Sprintf("NodePool %q", name) }

func nodeObject(n provisioning.Node) string {
	if n.Node == nil {
		return fmt.Sprintf("NodeClaim %q", n.Name())
	}
	return fmt.Sprintf("Node %q", n.Name())
}

// namespaces are those that affinity terms may be about.
func (w *simulation) namespaces() *podterm.Namespaces {
	return &podterm.Namespaces{Declared: w.in.Namespaces, Pods: func(yield func(*corev1.Pod) bool) {
		for _, p := range w.cluster.in.Pods { // also those that have found a place, or none
			if !yield(p) {
				return
			}
		}
		for _, m := range w.cluster.nodes {
			for _, p := range m.Node.Pods {
				if !yield(p) {
					return
				}
			}
		}
	}}
}

// defaultSpread are the topology spreads of pods that have none of their own, nil if
// there are none.
func (in *Input) defaultSpread(opts *provisioning.Options) *podterm.Defaults {
	if len(opts.DefaultSpread) == 0 {
		return nil
	}
	controllers := map[types.UID]*metav1.LabelSelector{}
	for _, c := range in.Controllers {
		controllers[c.UID] = c.Selector
	}
	return podterm.NewDefaults(opts.DefaultSpread, in.Services, controllers)
}
