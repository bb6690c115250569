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

// After is an input as it would be if actions that were decided on it were done
// at an instant: to look ahead, to see whether decisions come to rest, and to
// tell what a cluster will look like. Nothing of the kind is sure: clouds sell
// what they want to, and kube-scheduler puts pods where it wants to.
//
//   - Nodes that are removed are not there any more, and neither are their pods,
//     machines and notices. Those with pods that Action.Held lists are being deleted, and have
//     these pods.
//   - Replacements have come up, as the cheapest of their options, initialized at
//     that instant and with the name of their NodeClaim. So has the node that a
//     static pool gets for one that it loses to Drift or repair. Pods of
//     DaemonSets are not put on them: the engine keeps room for those that are
//     missing.
//   - Pods are where Action.Moves say. Other pods that need another place are
//     among Input.Pods, to be planned for; see AfterPlan.
//   - Pods have come to the nodes that take them at that instant, so that these
//     settle for a while.
//   - The capacity of reservations is less what was launched into them and more
//     what was removed.
//   - A node that is rebooted stays as it is, and so do PodDisruptionBudgets: the
//     pods are up again.
//
// What does not change is shared with the input. The error joins those of
// Cluster.Command for actions that are not of this input; then there is no result.
func After(now time.Time, in Input, actions []Action, opts *Options) (Input, error) {
	f, _ := Observe(now, in, opts) // what is at fault has no action
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

// AfterPlan is an input as it would be if a plan for its pending pods was carried
// out at an instant. New nodes, and nodes with pods that static pools are short of, are as in
// After, with the name that the plan gives them, or that of the pool, and what makes it unique
// among the nodes. Pods without a place stay
// pending; those of buffers are not put anywhere. A nil plan changes nothing.
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

// aftermath collects what changes in an input.
type aftermath struct {
	now      time.Time
	in       Input
	gone     map[string]bool               // nodes
	staying  map[string]provisioning.Node  // nodes that are being deleted and hold pods
	machines map[string]bool               // that are gone, by provider ID
	placed   map[types.NamespacedName]bool // pods that have a place by now
	arrivals map[string][]*corev1.Pod      // by node
	fresh    []provisioning.Node
	launched []*cloudprovider.Instance
	homeless []*corev1.Pod
	reserved map[string]int // places that are set free, by reservation
}

func newAftermath(now time.Time, in Input) *aftermath {
	return &aftermath{now: now, in: in, gone: map[string]bool{}, staying: map[string]provisioning.Node{}, machines: map[string]bool{}, placed: map[types.NamespacedName]bool{},
		arrivals: map[string][]*corev1.Pod{}, reserved: map[string]int{}}
}

// take carries out an action.
func (a *aftermath) take(f *Cluster, action Action) error {
	switch action.Step {
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
	if action.Step == TerminateFirst {
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

// relaunch has static pools replace nodes that were terminated first.
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

// launchStatic launches the cheapest that the template of a static pool allows.
// If that is nothing, nothing comes.
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
	for _, t := range p.Types { // the options are sorted
		types = append(types, t)
	}
	if options := cloudlaunch.Compatible(types, asked); len(options) > 0 {
		a.launch(claim, options[0])
	}
}

// bind puts a pod on a node.
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

// remove takes a node or machine away, and makes its pods pending that have not
// found a place.
func (a *aftermath) remove(f *Cluster, action Action, t Target) {
	m := f.seen.ByName[t.Node]
	stays := m != nil && t.Node != "" && f.staysUntilPodsEnd(action, m)
	if t.ProviderID != "" && !stays {
		a.machines[t.ProviderID] = true
	}
	if m == nil || t.Node == "" {
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
		a.homeless = append(a.homeless, &free)
	}
}

// drained is a node that is being deleted and has no pods left but those that nothing may
// evict, and those that go with it. It adds the former to held.
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

// input is the input with all changes.
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
	out.Pods = append(out.Pods, a.homeless...)
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
	out.InstanceTypes = a.catalogs()
	return out
}

// launch adds the node that a NodeClaim becomes when it is launched by an
// option. The claim has its name, and is the aftermath's own.
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
	// A type whose sums overflow has no options to be launched by.
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

// catalogs are those of the input, with the capacity of reservations as it is by
// now.
func (a *aftermath) catalogs() map[string][]*cloudprovider.InstanceType {
	return simulation.Credited(a.in.InstanceTypes, a.reserved)
}
