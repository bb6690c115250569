package disruption_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/disruption"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// sized returns a type with room for pods, in zone a.
func sized(name string, cpu int64, price float64) *cloudprovider.InstanceType {
	t := newType(name, price)
	t.Requirements = requirements.MustParse("node.kubernetes.io/instance-type = " + name + ", kubernetes.io/arch = amd64")
	t.Capacity = resources.MustParse(fmt.Sprintf("cpu=%d,memory=%dGi,pods=50", cpu, 4*cpu))
	return t
}

// asking makes a pod ask for CPU.
func asking(cpu string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Spec.Containers = []corev1.Container{{Name: "c", Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)}}}}
	}
}

// roomy returns a node of a sized type, with its pods.
func roomy(name, kind string, cpu int64, pods ...*corev1.Pod) provisioning.Node {
	n := newNode(name, "web", withLabel(corev1.LabelInstanceTypeStable, kind), withPods(pods...))
	n.Node.Labels[corev1.LabelHostname] = name
	n.Node.Status.Allocatable = corev1.ResourceList{corev1.ResourceCPU: *resource.NewQuantity(cpu, resource.DecimalSI),
		corev1.ResourceMemory: *resource.NewQuantity(cpu<<32, resource.BinarySI), corev1.ResourcePods: resource.MustParse("50")}
	for _, p := range n.Pods {
		p.Spec.NodeName = name
	}
	return n
}

// roomyInput returns a cluster with one saving: a large node with one small pod, which a
// small node could hold. The other node is full.
func roomyInput() disruption.Input {
	in := newInput(roomy("big", "c.8", 8, newPod("a", asking("1500m"))), roomy("full", "c.2", 2, newPod("b", asking("1900m"))))
	in.InstanceTypes["web"] = []*cloudprovider.InstanceType{sized("c.2", 2, 0.2), sized("c.8", 8, 0.8)}
	in.NodePools[0].Spec.Disruption.ConsolidateAfter = v1.NewDuration(0)
	in.NodePools[0].Spec.Template.Spec.Requirements = []v1.NodeSelectorRequirementWithMinValues{{Key: v1.CapacityTypeLabelKey,
		Operator: corev1.NodeSelectorOpIn, Values: []string{v1.CapacityTypeOnDemand}}}
	return in
}

func nodeNames(in disruption.Input) []string {
	var out []string
	for _, n := range in.Nodes {
		out = append(out, n.Name())
	}
	return out
}

// homes maps the name of each pod to the name of its node, which is empty for a pending pod.
func homes(in disruption.Input) map[string]string {
	out := map[string]string{}
	for _, n := range in.Nodes {
		for _, p := range n.Pods {
			out[p.Name] = p.Spec.NodeName
		}
	}
	for _, p := range in.Pods {
		out[p.Name] = p.Spec.NodeName
	}
	return out
}

func TestAfterAReplacement(t *testing.T) {
	in := roomyInput()
	p := propose(t, in, nil)
	require.Len(t, p.Actions, 1)
	require.Len(t, p.Actions[0].Replacements, 1)
	done := noon.Add(5 * time.Minute)
	after := carriedOut(t, done, in, p.Actions, nil)
	require.Equal(t, []string{"big", "full"}, nodeNames(in), "the input is not changed")
	require.Len(t, after.Nodes, 2)
	fresh := after.Nodes[1]
	fleet, err := disruption.Observe(done, in, nil)
	require.NoError(t, err)
	command, err := fleet.Command(p.Actions[0])
	require.NoError(t, err)
	require.Equal(t, command.Command.Replacements[0].Token, fresh.Name())
	require.Equal(t, map[string]string{"a": fresh.Name(), "b": "full"}, homes(after))
	require.Equal(t, "c.2", fresh.Node.Labels[corev1.LabelInstanceTypeStable])
	require.Equal(t, "amd64", fresh.Node.Labels[corev1.LabelArchStable])
	require.Equal(t, "2", fresh.Node.Status.Allocatable.Cpu().String())
	require.Equal(t, done, fresh.NodeClaim.CreationTimestamp.Time)
	require.Equal(t, done, after.PodEvents[fresh.Name()])
	require.NotContains(t, after.PodEvents, "full")

	// The new node has a price like any other, and it stays because no type is cheaper.
	again := proposeAt(t, done.Add(time.Hour), after, nil)
	require.Empty(t, again.Actions)
	require.InDelta(t, p.CostAfter, again.CostBefore, 1e-9)
	require.Zero(t, again.UnknownPrices)
	fleet, err = disruption.Observe(done.Add(time.Hour), after, nil)
	require.NoError(t, err)
	candidates, _ := fleet.Candidates(disruption.MethodConsolidation)
	require.Len(t, candidates, 2)
}

func TestAfterOtherActions(t *testing.T) {
	in := newInput(newNode("empty", "web"), newNode("old", "edge", withCondition(v1.ConditionTypeDrifted, metav1.ConditionTrue, -time.Hour),
		withPods(newPod("held", note(v1.DoNotDisruptAnnotationKey, "2h"), func(p *corev1.Pod) { p.Spec.NodeName = "old" }))), newNode("stays", "web"))
	in.NodePools = append(in.NodePools, newPool("edge", replicas(1, 2)))
	in.InstanceTypes["edge"] = in.InstanceTypes["web"]
	in.Nodes[1].NodeClaim.Annotations[v1.NodePoolHashAnnotationKey] = "before"
	in.Nodes[1].NodeClaim.Annotations[v1.NodePoolHashVersionAnnotationKey] = v1.NodePoolHashVersion
	in.Nodes[1].NodeClaim.Spec.TerminationGracePeriod = &metav1.Duration{Duration: time.Hour}
	in.Instances = instances(&cloudprovider.Instance{ID: "cloud://empty"}, &cloudprovider.Instance{ID: "cloud://old"},
		&cloudprovider.Instance{ID: "orphan", CreatedAt: born}, &cloudprovider.Instance{ID: "cloud://stays"})
	in.Interruptions = []cloudprovider.Interruption{{ID: "1", InstanceID: "cloud://empty", Kind: cloudprovider.InterruptionRebalance}}
	in.PodEvents = map[string]time.Time{"stays": noon.Add(-time.Second)}
	f := observe(t, in, nil)
	actions := append(f.Garbage().Actions, f.Emptiness().Actions...)
	actions = append(actions, f.Drift().Actions...)
	actions = append(actions, disruption.Action{Operation: disruption.Reboot, Targets: []disruption.Target{{Node: "stays"}}})
	require.Equal(t, []string{"Terminate orphan", "Delete empty", "Delete stays", "Replace old NodePoolDrifted", "Reboot stays"}, brief(actions))
	after := carriedOut(t, noon, in, append(actions[:2:2], actions[3:]...), nil)
	require.Len(t, after.Nodes, 2)
	require.Equal(t, "stays", after.Nodes[0].Name())
	fresh := after.Nodes[1]
	require.Equal(t, "edge", fresh.Node.Labels[v1.NodePoolLabelKey])
	require.Equal(t, "m.large", fresh.Node.Labels[corev1.LabelInstanceTypeStable], "the cheapest that the template allows")
	require.Equal(t, v1.CapacityTypeSpot, fresh.Node.Labels[v1.CapacityTypeLabelKey])
	require.Equal(t, map[string]string{"held": ""}, homes(after), "the pod is pending: the next plan places it")
	require.Empty(t, after.Interruptions)
	require.Len(t, after.Instances, 2)
	require.Equal(t, fresh.NodeClaim.Status.ProviderID, after.Instances[1].ID)
	require.Empty(t, observe(t, after, nil).Garbage().Actions)
	require.Empty(t, observe(t, after, nil).Drift().Actions)
	require.Equal(t, in.PodEvents, after.PodEvents)

	_, err := disruption.After(noon, after, actions, nil)
	require.ErrorContains(t, err, `node "old" is not there any more`)
}

// A static pool whose reservation is full removes a drifted node before it launches the
// replacement. Afterwards the reservation has room again.
func TestAfterTerminatingFirst(t *testing.T) {
	in := newInput(newNode("old", "web", withLabel(v1.CapacityTypeLabelKey, v1.CapacityTypeReserved)))
	reserved := cloudprovider.Offering{Zone: "a", CapacityType: v1.CapacityTypeReserved, ReservationID: "cr-1", Price: 0.001, Available: true}
	in.InstanceTypes["web"] = catalog(newType("m.large", 0.1, reserved))
	in.NodePools[0] = newPool("web", replicas(1, 2))
	in.Nodes[0].NodeClaim.Annotations[v1.NodePoolHashAnnotationKey] = "before"
	in.Nodes[0].NodeClaim.Annotations[v1.NodePoolHashVersionAnnotationKey] = v1.NodePoolHashVersion
	opts := &disruption.Options{Drift: disruption.DriftOptions{TerminateFirst: true}}
	actions := observe(t, in, opts).Drift().Actions
	require.Equal(t, []string{"TerminateFirst old NodePoolDrifted (NoReservedCapacity)"}, brief(actions))
	after := carriedOut(t, noon, in, actions, opts)
	require.Equal(t, 1, after.InstanceTypes["web"][0].Offerings[0].ReservationCapacity)
	require.Zero(t, in.InstanceTypes["web"][0].Offerings[0].ReservationCapacity, "the input is not changed")
	require.Empty(t, after.Nodes, "no replacement yet: the reservation was full")
}

func TestAfterAPlan(t *testing.T) {
	in := roomyInput()
	in.Pods = []*corev1.Pod{newPod("here", asking("2")), newPod("new", asking("7")), newPod("nowhere", asking("900"))}
	plan, err := provisioning.Solve(t.Context(), in.Input, nil)
	require.NoError(t, err)
	require.Len(t, plan.Create, 1)
	after := disruption.AfterPlan(noon, in, plan)
	require.Len(t, after.Nodes, 3)
	fresh := after.Nodes[2].Name()
	require.Equal(t, map[string]string{"a": "big", "b": "full", "here": "big", "new": fresh, "nowhere": ""}, homes(after))
	require.Len(t, in.Nodes, 2)
	again := disruption.AfterPlan(noon, after, plan)
	require.Len(t, again.Nodes, 4)
	require.NotEqual(t, fresh, again.Nodes[3].Name(), "names are not used twice")
	require.Equal(t, in.Nodes, disruption.AfterPlan(noon, in, nil).Nodes)
}

func ExampleAfter() {
	in := newInput(newNode("ip-10-0-0-1", "web"), newNode("ip-10-0-0-2", "web", withPods(newPod("web-1"))))
	fleet, err := disruption.Observe(noon, in, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	after, err := disruption.After(noon.Add(time.Minute), in, fleet.Emptiness().Actions, nil)
	fmt.Println(nodeNames(in), nodeNames(after), err)
	// Output: [ip-10-0-0-1 ip-10-0-0-2] [ip-10-0-0-2] <nil>
}

func ExampleAfterPlan() {
	in := roomyInput()
	in.Pods = []*corev1.Pod{newPod("pending", asking("2"))}
	plan := &provisioning.Plan{Bind: []provisioning.Binding{{Node: "big", Pods: in.Pods}}}
	after := disruption.AfterPlan(noon, in, plan)
	fmt.Println(len(in.Pods), len(after.Pods), homes(after)["pending"])
	// Output: 1 0 big
}

// ofStatefulSet makes a StatefulSet own a pod, which creates it again under the same name.
func ofStatefulSet(p *corev1.Pod) { owner("apps/v1", "StatefulSet")(p) }

// A pod of a StatefulSet needs a place even while it is being deleted, because the
// StatefulSet creates it again. A pod of a ReplicaSet that is being deleted needs none.
func TestPodsThatComeBackNeedAPlace(t *testing.T) {
	big := sizedType("big", 4, 0.4)
	ended := func(p *corev1.Pod) { p.Status.Phase = corev1.PodSucceeded }
	for _, c := range []struct {
		name    string
		taken   int64 // milli-CPUs of the pod on the other node
		drifts  bool
		options *disruption.Options
		want    []string
		moves   int
	}{
		{"no room elsewhere", 3500, false, anySaving(), []string{}, 0},
		{"no room elsewhere, drifted", 3500, true, nil, []string{"Drifted n1 -> big saves 0.000"}, 1},
		{"room elsewhere, drifted", 100, true, nil, []string{"Drifted n1 ->  saves 0.400"}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			scene := func(edits ...func(*corev1.Pod)) (disruption.Input, *corev1.Pod) {
				db := load("db-0", 3500, append(edits, ofStatefulSet)...)
				in := fleetOf([]*cloudprovider.InstanceType{big}, machine("n1", "default", big, db), machine("n2", "default", big, load("x", c.taken)))
				if c.drifts {
					in.Nodes[0] = with(in.Nodes[0], withCondition(v1.ConditionTypeDrifted, "True", -time.Hour))
					in.Drift = map[string]cloudprovider.Drift{"n1-claim": {Reason: "AMIDrift"}}
					in.NodePools[0].Spec.Disruption.ConsolidateAfter = v1.NeverDuration()
				}
				return in, db
			}
			for name, edits := range map[string][]func(*corev1.Pod){"running": nil, "ending": {terminating}, "ended": {terminating, ended}} {
				if name == "ended" && !c.drifts {
					continue // the node stays, so the room of the pod is free to others
				}
				in, db := scene(edits...)
				p := propose(t, in, c.options)
				require.Equal(t, c.want, deeds(p.Actions), name)
				if c.moves > 0 {
					require.Len(t, p.Actions[0].Moves, c.moves, name)
					require.Same(t, db, p.Actions[0].Moves[0].Pod, "the pod of the input")
				}
			}
			in, db := scene(terminating)
			owner("apps/v1", "ReplicaSet")(db)
			require.Empty(t, propose(t, in, c.options).Actions[0].Moves, "it does not come back")
		})
	}
}

// An action that moves a pod of a StatefulSet holds while the pod is being deleted, if the
// pod still has room on its new node.
func TestConfirmPodsThatComeBack(t *testing.T) {
	big := sizedType("big", 4, 0.4)
	scene := func(taken int64, edits ...func(*corev1.Pod)) disruption.Input {
		in := fleetOf([]*cloudprovider.InstanceType{big}, with(machine("n1", "default", big, load("db-0", 3000, append(edits, ofStatefulSet)...)),
			withCondition(v1.ConditionTypeDrifted, "True", -time.Hour)), machine("n2", "default", big, load("x", taken)))
		in.Drift = map[string]cloudprovider.Drift{"n1-claim": {Reason: "AMIDrift"}}
		in.NodePools[0].Spec.Disruption.ConsolidateAfter = v1.NeverDuration()
		return in
	}
	actions := propose(t, scene(100), nil).Actions
	require.Len(t, actions, 1)
	confirm := func(in disruption.Input, a disruption.Action) (kinds []disruption.ObjectionKind) {
		objections := objectionsTo(t, noon, in, a, nil)
		for _, o := range objections {
			kinds = append(kinds, o.Kind)
		}
		return kinds
	}
	require.Empty(t, confirm(scene(100, terminating), actions[0]))
	require.Equal(t, []disruption.ObjectionKind{disruption.ObjectionDestination}, confirm(scene(3500, terminating), actions[0]))

	without := actions[0]
	without.Moves = nil
	require.Contains(t, confirm(scene(100, terminating), without), disruption.ObjectionNewPods)
}

// A topology spread does not count a pod that is being deleted. When the pod is created again
// in its own zone, the count of the zone rises by one, and the count of no other zone falls.
func TestPodsThatComeBackWereNotCounted(t *testing.T) {
	there := onDemand("b", 0.4)
	there.Available = false
	big := sizedType("big", 4, 0.4, onDemand("a", 0.4), there)
	db := func(name string, edits ...func(*corev1.Pod)) *corev1.Pod {
		return load(name, 2000, append(edits, spreading("db", corev1.LabelTopologyZone), ofStatefulSet)...)
	}
	drifted := withCondition(v1.ConditionTypeDrifted, "True", -time.Hour)
	zone := func(name string) func(*provisioning.Node) { return withLabel(corev1.LabelTopologyZone, name) }
	in := fleetOf([]*cloudprovider.InstanceType{big},
		with(machine("n1", "default", big, db("db-0", terminating)), zone("b"), drifted), with(machine("n2", "default", big, load("x", 1500)), zone("b")),
		with(machine("n3", "default", big, db("db-1")), drifted), machine("n4", "default", big, db("db-2"), load("y", 1500)))
	in.Drift = map[string]cloudprovider.Drift{"n1-claim": {Reason: "AMIDrift"}, "n3-claim": {Reason: "AMIDrift"}}
	in.NodePools[0].Spec.Disruption.ConsolidateAfter = v1.NeverDuration()
	p := propose(t, in, nil)
	require.Equal(t, []string{"Drifted n1 ->  saves 0.400", "Drifted n3 -> big saves 0.000"}, deeds(p.Actions), "%v", p.Blocked)
}
