package state

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/budgets"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/internal/engine/model"
	"github.com/dovetail-sdk/dovetail/internal/order"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/nodeclaim"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// Snapshot is the input from which a Cluster is read: the fields of Input and Options of package
// disruption that rules use. See there for their meaning. It is read-only.
type Snapshot struct {
	provisioning.Input
	Now                   time.Time
	PodDisruptionBudgets  []*policyv1.PodDisruptionBudget
	MarkedForDeletion     map[string]budgets.Reason
	PodEvents             map[string]time.Time
	BufferNodes           []string
	Instances             []*cloudprovider.Instance
	Unavailable           map[cloudprovider.OfferingKey]bool // offerings that a saving may not count on
	IgnorePodDeletionCost bool
	Timeouts              nodeclaim.Timeouts
}

// Cluster is a cluster at one instant. It does not change after Read, and shares memory with its
// Snapshot.
type Cluster struct {
	In         Snapshot
	Now        time.Time
	Vocabulary *requirements.Vocabulary
	Pools      map[string]*NodePool
	PoolNames  []string     // sorted
	Nodes      []*StateNode // sorted by name
	ByName     map[string]*StateNode
	pdbs       pdbIndex
	Instances  map[string]*cloudprovider.Instance // by ID
	Warnings   Faults                             // added only while the cluster is being read
}

// Read reads a snapshot, and adds the faults that it finds.
func Read(in Snapshot, faults *Faults) *Cluster {
	f := &Cluster{In: in, Now: in.Now, Vocabulary: in.Vocabulary, ByName: map[string]*StateNode{}}
	if f.Vocabulary == nil {
		f.Vocabulary = requirements.DefaultVocabulary()
	}
	f.readPools(faults)
	f.pdbs = readPDBs(in.PodDisruptionBudgets, faults)
	f.readMembers(faults)
	f.readInstances(faults)
	return f
}

// readMembers reads the nodes, sorted by name.
func (f *Cluster) readMembers(faults *Faults) {
	names := map[string]int{}
	nodes := make([]model.Node, len(f.In.Nodes))
	for i, n := range f.In.Nodes {
		names[n.Name()]++
		nodes[i] = model.Node(n)
	}
	shared := model.ReportShared(nodes, true, faults.Add)
	buffers := map[string]bool{}
	for _, name := range f.In.BufferNodes {
		buffers[name] = true
	}
	for i, n := range f.In.Nodes {
		object := nodeObject(n)
		switch {
		case n.Node == nil && n.NodeClaim == nil:
			faults.Add(fmt.Sprintf("Nodes[%d]", i), "", "has neither a Node nor a NodeClaim; set at least one")
		case n.Name() == "":
			faults.Add(fmt.Sprintf("Nodes[%d]", i), "metadata.name", "is empty; nodes are told apart by name")
		case names[n.Name()] > 1:
			faults.Add(object, "", "is listed twice; list each node once, with its NodeClaim beside it")
		case !model.CheckPair(model.Node(n), faults.Add), shared[n.Name()]: // to delete the NodeClaim would end another machine
		default:
			m := f.newStateNode(n, faults)
			m.Buffer = buffers[m.Name]
			f.Nodes = append(f.Nodes, m)
			f.ByName[m.Name] = m
		}
	}
	slices.SortFunc(f.Nodes, func(a, b *StateNode) int { return strings.Compare(a.Name, b.Name) })
	f.reportRepeated(faults)
	for _, m := range f.Nodes {
		if m.Pool != nil && m.Managed() {
			m.Pool.Members = append(m.Pool.Members, m)
			m.Pool.Count.add(m)
		}
	}
}

// Settles reports whether pods have come to a node or left it within consolidateAfter, and until when that
// holds; zero if that is unknown because the node is not initialized. Consolidation must not move pods to
// such a node yet, or it would fill and empty nodes in circles. Pending pods, and pods of nodes on their way
// out, may still be bound to it. A node never settles if the consolidateAfter of its pool is Never or 0s, or
// if the pool is static, not ready, being deleted or missing.
func (f *Cluster) Settles(m *StateNode) (until time.Time, settles bool) {
	if m.Pool == nil || !m.Managed() || m.Pool.Static() || !m.Pool.Ready() {
		return time.Time{}, false
	}
	after := m.Pool.ConsolidateAfter.Duration
	if after == nil || *after <= 0 {
		return time.Time{}, false
	}
	since, known := f.LastPodEvent(m)
	if !known {
		return time.Time{}, true
	}
	until = since.Add(*after)
	return until, until.After(f.Now)
}

// LastPodEvent returns when consolidateAfter began to count: the last event of a pod or, without
// any, the initialization of the node.
func (f *Cluster) LastPodEvent(m *StateNode) (since time.Time, known bool) {
	initialized := m.Condition(v1.ConditionTypeInitialized)
	if initialized == nil || initialized.Status != metav1.ConditionTrue {
		return time.Time{}, false
	}
	since = m.NodeClaim.Status.LastPodEventTime.Time
	if event := f.In.PodEvents[m.Name]; event.After(since) {
		since = event
	}
	if since.IsZero() {
		since = initialized.LastTransitionTime.Time
	}
	return since, true
}

// WithoutUnavailable returns the catalogs without the offerings that were recently sold out.
func (f *Cluster) WithoutUnavailable() map[string][]*cloudprovider.InstanceType {
	dry := f.In.Unavailable
	if len(dry) == 0 {
		return f.In.InstanceTypes
	}
	out := map[string][]*cloudprovider.InstanceType{}
	for pool, types := range f.In.InstanceTypes { // the order does not matter
		for _, t := range types {
			out[pool] = append(out[pool], withoutOfferings(t, dry))
		}
	}
	return out
}

func withoutOfferings(t *cloudprovider.InstanceType, dry map[cloudprovider.OfferingKey]bool) *cloudprovider.InstanceType {
	if t == nil || !slices.ContainsFunc(t.Offerings, func(o cloudprovider.Offering) bool { return dry[o.Key(t.Name)] }) {
		return t
	}
	changed := *t
	changed.Offerings = slices.Clone(t.Offerings)
	for i := range changed.Offerings {
		if o := &changed.Offerings[i]; dry[o.Key(t.Name)] {
			o.Available = false
		}
	}
	return &changed
}

// Yields reports whether a voluntary decision that deals with a node gives way to an interruption
// notice, because the cloud is about to take the machine whether it is replaced or not.
func (f *Cluster) Yields(m *StateNode) bool {
	return m.Underway && !m.Leaving && Voluntary(f.In.MarkedForDeletion[m.Name])
}

// Voluntary reports whether a reason is a choice of the autoscaler.
func Voluntary(r budgets.Reason) bool {
	switch r {
	case budgets.Unhealthy, budgets.Empty, budgets.Drifted, budgets.Underutilized:
		return true
	}
	return false
}

// readInstances indexes the machines of the cloud by ID. If an ID is listed twice, a machine that
// is being deleted takes precedence, then the first by name and age.
func (f *Cluster) readInstances(faults *Faults) {
	f.Instances = map[string]*cloudprovider.Instance{}
	for i, instance := range f.In.Instances {
		switch {
		case instance == nil:
			faults.Add(fmt.Sprintf("Instances[%d]", i), "", "is nil; leave it out")
		case instance.ID == "":
			faults.Add(fmt.Sprintf("Instances[%d]", i), "ID", "is empty; a machine cannot be named without it")
		case f.Instances[instance.ID] != nil:
			faults.Add(fmt.Sprintf("Instance %q", instance.ID), "", "is listed twice; list each machine once")
			if compareInstances(instance, f.Instances[instance.ID]) < 0 {
				f.Instances[instance.ID] = instance
			}
		default:
			f.Instances[instance.ID] = instance
		}
	}
}

func compareInstances(a, b *cloudprovider.Instance) int {
	return cmp.Or(order.Bools(b.Deleting, a.Deleting), strings.Compare(a.Name, b.Name),
		a.CreatedAt.Compare(b.CreatedAt), strings.Compare(a.NodePool, b.NodePool))
}
