package disruption

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	cloudlaunch "github.com/dovetail-sdk/dovetail/cloudprovider/launch"
	"github.com/dovetail-sdk/dovetail/disruption/command"
	"github.com/dovetail-sdk/dovetail/disruption/internal/simulation"
	"github.com/dovetail-sdk/dovetail/disruption/internal/state"
	"github.com/dovetail-sdk/dovetail/internal/podlife"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// After returns the input as it would be if some actions decided on it were done at an instant. Use
// it to look ahead, to see whether decisions converge, and to describe a future cluster. The result
// is a guess: clouds launch what they have, and kube-scheduler chooses the places of pods.
//
//   - Removed nodes, and their pods, machines and notices, no longer exist. A removed node with
//     pods that Action.Held lists is being deleted and still has these pods.
//   - Replacements are initialised at that instant, launched by the cheapest of their options, with
//     the name of their NodeClaim. So is the node that a static pool gets for one that it loses to
//     drift or repair. DaemonSet pods are not added to them: the engine reserves room for missing
//     ones.
//   - Pods are where Action.Moves say. Other pods that need a new place are in Input.Pods, to be
//     planned for; see AfterPlan.
//   - The nodes that take pods have their last pod event at that instant, so consolidateAfter
//     starts again for them.
//   - The capacity of reservations is reduced by what was launched from them and increased by what
//     was removed.
//   - A rebooted node and PodDisruptionBudgets do not change: the pods are running again.
//
// Unchanged objects are shared with the input. The error joins those of Cluster.Command for actions
// that do not belong to this input; then there is no result.
func After(now time.Time, in Input, actions []Action, opts *Options) (Input, error) {
	f, _ := Observe(now, in, opts) // objects at fault have no action
	a := newAftermath(now, in)
	var errs []error
	for _, action := range actions {
		if err := a.take(f, action); err != nil {
			errs = append(errs, err)
		}
	}
	if err := errors.Join(errs...); err != nil {
		return Input{}, err
	}
	return a.input(), nil
}

// AfterPlan returns the input as it would be if a plan for its pending pods were carried out at an
// instant. New nodes, and missing nodes of static pools with pods, are as in After. They have the
// name from the plan, or that of the pool, with a suffix that makes it unique among the nodes.
// Unplaced pods stay pending, and pods of buffers are not placed. A nil plan changes nothing.
func AfterPlan(now time.Time, in Input, plan *provisioning.Plan) Input {
	a := newAftermath(now, in)
	if plan == nil {
		return a.input()
	}
	names := map[string]bool{}
	for _, n := range in.Nodes {
		names[n.Name()] = true
	}
	launch := func(name string, claim *v1.NodeClaim, option cloudprovider.LaunchOption, pods []*corev1.Pod) {
		claim.GenerateName = ""
		for k := 0; claim.Name == "" || names[claim.Name]; k++ {
			claim.Name = fmt.Sprintf("%s-%x-%d", name, now.Unix(), k)
		}
		names[claim.Name] = true
		a.launch(claim, option)
		for _, pod := range pods {
			a.bind(pod, claim.Name)
		}
	}
	for i := range plan.Create {
		n := &plan.Create[i]
		launch(n.Name, n.NodeClaim(), n.Options[0], n.Pods)
	}
	for i := range plan.Static {
		s := &plan.Static[i]
		for k, claim := range s.NodeClaims()[:len(s.Pods)] {
			launch(s.Pool.Name, claim, s.Options[0], s.Pods[k])
		}
	}
	for _, b := range plan.Bind {
		for _, pod := range b.Pods {
			a.bind(pod, b.Node)
		}
	}
	return a.input()
}

// aftermath collects the changes of an input.
type aftermath struct {
	now       time.Time
	in        Input
	gone      map[string]bool               // by name of a removed node
	staying   map[string]provisioning.Node  // nodes that are being deleted and still have pods
	machines  map[string]bool               // by provider ID of a removed machine
	placed    map[types.NamespacedName]bool // pods with a new place
	arrivals  map[string][]*corev1.Pod      // by node
	fresh     []provisioning.Node
	launched  []*cloudprovider.Instance
	displaced []*corev1.Pod
	reserved  map[string]int // by reservation: instances set free
}

func newAftermath(now time.Time, in Input) *aftermath {
	return &aftermath{now: now, in: in, gone: map[string]bool{}, staying: map[string]provisioning.Node{}, machines: map[string]bool{}, placed: map[types.NamespacedName]bool{},
		arrivals: map[string][]*corev1.Pod{}, reserved: map[string]int{}}
}

// take applies an action.
func (a *aftermath) take(f *Cluster, action Action) error {
	switch action.Operation {
	case Reboot:
		return nil
	case Terminate, DeleteNode:
		for _, t := range action.Targets {
			a.remove(f, action, t)
		}
		return nil
	}
	command, err := f.Command(action)
	if err != nil {
		return err
	}
	for i, claim := range command.Claims {
		if action.Simulated {
			a.launch(claim, action.Replacements[i].Options[0])
		} else {
			a.launchStatic(f, claim)
		}
	}
	if action.Operation == TerminateFirst {
		a.relaunch(f, action, command.Command)
	}
	for _, m := range action.Moves {
		node := m.Node
		if m.Replacement >= 0 && m.Replacement < len(command.Claims) {
			node = command.Claims[m.Replacement].Name
		}
		a.bind(m.Pod, node)
	}
	for _, t := range action.Targets {
		a.remove(f, action, t)
	}
	return nil
}

// relaunch replaces nodes of static pools that were terminated first.
func (a *aftermath) relaunch(f *Cluster, action Action, c command.Command) {
	for i, t := range action.Targets {
		m := f.seen.ByName[t.Node]
		if m == nil || m.Pool == nil || !m.Pool.Static() {
			continue
		}
		if claim, err := templateClaim(m.Pool); err == nil {
			claim.Name, claim.GenerateName = c.Token(m.PoolName, i), ""
			a.launchStatic(f, claim)
		}
	}
}

// launchStatic launches the cheapest option that the template of a static pool allows, if there is
// one.
func (a *aftermath) launchStatic(f *Cluster, claim *v1.NodeClaim) {
	p := f.seen.Pools[claim.Labels[v1.NodePoolLabelKey]]
	if p == nil {
		return
	}
	asked, err := requirements.FromNodeClaim(claim, f.seen.Vocabulary)
	if err != nil {
		return
	}
	types := make([]*cloudprovider.InstanceType, 0, len(p.Types))
	for _, t := range p.Types { // any order: the options are sorted
		types = append(types, t)
	}
	if options := cloudlaunch.Compatible(types, asked); len(options) > 0 {
		a.launch(claim, options[0])
	}
}

// bind binds a pod to a node.
func (a *aftermath) bind(pod *corev1.Pod, node string) {
	a.placed[state.NameOf(pod)] = true
	if _, _, virtual := provisioning.BufferOf(pod); virtual {
		return
	}
	p := *pod
	p.Spec.NodeName = node
	p.DeletionTimestamp = nil
	p.Status.Phase = corev1.PodRunning
	a.arrivals[node] = append(a.arrivals[node], &p)
}

// remove removes a node or machine, and makes its pods pending if they have no new place.
func (a *aftermath) remove(f *Cluster, action Action, t Target) {
	m := f.seen.ByName[t.Node]
	stays := m != nil && f.staysUntilPodsEnd(action, m)
	if t.ProviderID != "" && !stays {
		a.machines[t.ProviderID] = true
	}
	if m == nil {
		return
	}
	held := map[*corev1.Pod]bool{}
	if stays {
		a.staying[t.Node] = a.drained(m, f.seen.Departs(m, action.drainedBy(f.seen.Now)), held)
	} else {
		a.gone[t.Node] = true
		a.reserved[m.Reservation()]++
	}
	for _, p := range m.PodViews {
		if !p.Reschedulable || held[p.Pod] || a.placed[state.NameOf(p.Pod)] {
			continue
		}
		free := *p.Pod
		free.Spec.NodeName = ""
		free.DeletionTimestamp = nil
		free.Status = corev1.PodStatus{Phase: corev1.PodPending}
		a.displaced = append(a.displaced, &free)
	}
}

// drained returns a node that is being deleted and has only the pods that nothing may evict, and
// those that end with it. It adds the former to held.
func (a *aftermath) drained(m *state.StateNode, d state.Departure, held map[*corev1.Pod]bool) provisioning.Node {
	for _, p := range d.Endless {
		held[p.Pod] = true
	}
	out, at := m.Node.Leaving(), metav1.NewTime(a.now)
	if out.Node != nil {
		out.Node.DeletionTimestamp = &at
	}
	if out.NodeClaim != nil {
		out.NodeClaim.DeletionTimestamp = &at
	}
	out.Pods = slices.DeleteFunc(slices.Clone(out.Pods), func(p *corev1.Pod) bool { return p != nil && podlife.Moves(p) && !held[p] })
	return out
}

// input returns the input with all changes.
func (a *aftermath) input() Input {
	out := a.in
	out.Nodes = nil
	for _, n := range slices.Concat(a.in.Nodes, a.fresh) {
		if a.gone[n.Name()] {
			continue
		}
		if drained, stays := a.staying[n.Name()]; stays {
			n = drained
		}
		n.Pods = slices.Concat(n.Pods, a.arrivals[n.Name()])
		out.Nodes = append(out.Nodes, n)
	}
	out.Pods = nil
	for _, p := range a.in.Pods {
		if !a.placed[state.NameOf(p)] {
			out.Pods = append(out.Pods, p)
		}
	}
	out.Pods = append(out.Pods, a.displaced...)
	out.PodEvents = make(map[string]time.Time, len(a.in.PodEvents)+len(a.arrivals))
	maps.Copy(out.PodEvents, a.in.PodEvents)
	for node := range a.arrivals {
		out.PodEvents[node] = a.now
	}
	out.Interruptions = slices.DeleteFunc(slices.Clone(a.in.Interruptions), func(i cloudprovider.Interruption) bool { return a.machines[i.InstanceID] })
	if a.in.Instances != nil {
		out.Instances = slices.DeleteFunc(slices.Clone(a.in.Instances), func(i *cloudprovider.Instance) bool { return i != nil && a.machines[i.ID] })
		out.Instances = append(out.Instances, a.launched...)
	}
	out.InstanceTypes = simulation.Credited(a.in.InstanceTypes, a.reserved)
	return out
}

// launch adds the node that results from launching a NodeClaim by an option. The claim must have a
// name, and aftermath may change it.
func (a *aftermath) launch(claim *v1.NodeClaim, option cloudprovider.LaunchOption) {
	at := metav1.NewTime(a.now)
	known := option.NodeLabels()
	maps.Copy(known, claim.Labels)
	claim.Labels = known
	claim.UID, claim.CreationTimestamp = types.UID(claim.Name), at
	claim.Finalizers = []string{v1.TerminationFinalizer}
	id := "launched:///" + claim.Name
	claim.Status = v1.NodeClaimStatus{NodeName: claim.Name, ProviderID: id, LastPodEventTime: at}
	capacity, allocatable := option.InstanceType.Capacity, option.InstanceType.Capacity
	if option.Offering.Capacity != nil {
		capacity = capacity.Merge(*option.Offering.Capacity)
	}
	// An instance type whose sums overflow has no options.
	if l, err := option.InstanceType.AllocatableFor(option.Offering); err == nil {
		allocatable = l
	}
	claim.Status.Capacity, claim.Status.Allocatable = capacity.ResourceList(), allocatable.ResourceList()
	for _, kind := range []string{v1.ConditionTypeLaunched, v1.ConditionTypeRegistered, v1.ConditionTypeInitialized, v1.ConditionTypeReady} {
		claim.Status.Conditions = append(claim.Status.Conditions,
			metav1.Condition{Type: kind, Status: metav1.ConditionTrue, Reason: kind, LastTransitionTime: at})
	}

	labels := maps.Clone(claim.Labels)
	labels[corev1.LabelHostname] = claim.Name
	labels[v1.NodeRegisteredLabelKey], labels[v1.NodeInitializedLabelKey] = "true", "true"
	node := &corev1.Node{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Node"},
		ObjectMeta: metav1.ObjectMeta{Name: claim.Name, UID: types.UID(claim.Name), CreationTimestamp: at, Labels: labels,
			Annotations: maps.Clone(claim.Annotations), Finalizers: []string{v1.TerminationFinalizer}},
		Spec: corev1.NodeSpec{ProviderID: id, Taints: slices.Clone(claim.Spec.Taints)},
		Status: corev1.NodeStatus{Capacity: claim.Status.Capacity, Allocatable: claim.Status.Allocatable,
			Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue, LastTransitionTime: at}}},
	}
	a.fresh = append(a.fresh, provisioning.Node{Node: node, NodeClaim: claim})
	a.launched = append(a.launched, &cloudprovider.Instance{ID: id, Name: claim.Name, NodePool: claim.Labels[v1.NodePoolLabelKey],
		Type: option.InstanceType.Name, Zone: option.Offering.Zone, CapacityType: option.Offering.CapacityType,
		ReservationID: option.Offering.ReservationID, OfferingID: option.Offering.ID, Labels: claim.Labels,
		Capacity: capacity, Allocatable: allocatable, Price: option.Offering.Price, CreatedAt: a.now})
	a.reserved[option.Offering.ReservationID]--
}
