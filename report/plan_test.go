package report

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	overlays "github.com/dovetail-sdk/dovetail/cloudprovider/overlay"
	"github.com/dovetail-sdk/dovetail/internal/golden"
	"github.com/dovetail-sdk/dovetail/internal/layout"
	"github.com/dovetail-sdk/dovetail/internal/testlong"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// render writes a plan as JSON.
func render(t *testing.T, in provisioning.Input, plan *provisioning.Plan, maxOptions int) string {
	t.Helper()
	opts := PlanOptions{MaxOptions: maxOptions, Notes: []string{"a note"}, Ignored: map[string]int{"Service": 3}}
	text, err := json.MarshalIndent(NewPlan(in, plan, &opts), "", "  ")
	require.NoError(t, err)
	return string(text) + "\n"
}

func TestJSON(t *testing.T) {
	in, plan := handmade()
	golden.Equal(t, render(t, in, plan, 1), "golden", "handmade.json")
}

// TestJSONHasNoNull makes sure that readers need not tell an empty list from a
// missing one.
func TestJSONHasNoNull(t *testing.T) {
	text := render(t, provisioning.Input{}, &provisioning.Plan{}, 0)
	require.NotContains(t, text, "null")
	in, plan := handmade()
	require.NotContains(t, render(t, in, plan, 0), "null")
}

func TestOptionsAreCutButCounted(t *testing.T) {
	in, plan := handmade()
	for limit, want := range []int{2, 1, 2, 2} {
		var r Plan
		require.NoError(t, json.Unmarshal([]byte(render(t, in, plan, limit)), &r))
		require.Len(t, r.NewNodes[0].Options, want)
		require.Equal(t, 2, r.NewNodes[0].OptionCount)
	}
}

func TestACauseOfAnyKindHasWords(t *testing.T) {
	for cause, want := range map[provisioning.Cause]string{
		provisioning.CauseHostPorts: "host ports in use",
		"MaxPodsPerNode":            "max pods per node",
	} {
		require.Equal(t, want, nodeCause(cause))
	}
}

// handmade returns a plan with some of everything.
func handmade() (provisioning.Input, *provisioning.Plan) {
	general, gpu := testPool("general"), testPool("gpu-with-a-long-name-for-no-reason")
	node := func(name string, pods ...*corev1.Pod) provisioning.NewNode {
		return provisioning.NewNode{Name: name, Pool: general, Pods: pods,
			Options: []cloudprovider.LaunchOption{
				testOption("m6a.xlarge", "us-east-1a", "spot", 0.0712), testOption("m6a.xlarge", "us-east-1b", "on-demand", 0.1728)},
			Requirements: requirements.MustParse("kubernetes.io/arch = amd64"),
			Requests:     resources.MustParse("cpu=1500m, memory=3Gi, pods=3"), Daemons: resources.MustParse("cpu=100m, pods=1")}
	}
	last := provisioning.NewNode{Name: "gpu-0001", Pool: gpu, Pods: []*corev1.Pod{testPod("shop", "recommender", "r-1")},
		Options: []cloudprovider.LaunchOption{testOption("g4dn.12xlarge", "us-east-1a", "on-demand", 3.912)}, MinValuesRelaxed: true,
		Requirements: requirements.MustParse("node.kubernetes.io/instance-type minvalues 3"),
		Requests:     resources.MustParse("cpu=4, memory=16Gi")}
	plan := &provisioning.Plan{
		Create: []provisioning.NewNode{
			node("general-0001", testPod("shop", "web", "w-1"), testPod("shop", "web", "w-2"), testPod("shop", "cart", "c-1")),
			node("general-0002", testPod("shop", "web", "w-3"), testPod("shop", "web", "w-4"), testPod("shop", "cart", "c-2")),
			last,
		},
		Bind:       []provisioning.Binding{{Node: "ip-10-0-17-21.ec2.internal", Pods: []*corev1.Pod{testPod("shop", "web", "w-5")}}},
		Cost:       4.0544,
		LowerBound: 4.01,
		Stats:      provisioning.Stats{Classes: 3, Options: 900, Steps: 12},
	}
	for _, name := range []string{"t-1", "t-2"} {
		plan.Unplaced = append(plan.Unplaced, provisioning.Unplaced{Pod: testPod("shop", "trainer", name), Explanation: refused()})
	}
	plan.Unplaced = append(plan.Unplaced, provisioning.Unplaced{Pod: testPod("shop", "", "proxy"), Explanation: testReason("host port 8080")})
	addExtras(plan)
	in := provisioning.Input{NodePools: []*v1.NodePool{general, gpu}, Nodes: []provisioning.Node{{
		Node: &corev1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: "ip-10-0-17-21.ec2.internal", Labels: map[string]string{
				"node.kubernetes.io/instance-type": "m6i.xlarge", "topology.kubernetes.io/zone": "us-east-1a"}},
			Status: corev1.NodeStatus{Allocatable: resources.MustParse("cpu=2, memory=4Gi").ResourceList()},
		},
		Pods: []*corev1.Pod{testPod("shop", "web", "w-0")},
	}}}
	for _, n := range plan.Create {
		in.Pods = append(in.Pods, n.Pods...)
	}
	in.Pods = append(in.Pods, plan.Bind[0].Pods...)
	for _, u := range plan.Unplaced {
		in.Pods = append(in.Pods, u.Pod)
	}
	return in, plan
}

// addExtras adds pools with a fixed number of nodes, buffers and overlays.
func addExtras(plan *provisioning.Plan) {
	edge, core := testPool("edge"), testPool("core")
	edge.Spec.Replicas, core.Spec.Replicas = new(int64(5)), new(int64(1))
	plan.Order = []*corev1.Pod{testPod("shop", "web", "w-5"), testPod("shop", "web", "w-1")}
	plan.Static = []provisioning.StaticPool{
		{Pool: core, Active: 3, Deleting: 1, Excess: 2, Remove: []string{"core-a", "core-b"}},
		{Pool: edge, Active: 1, PendingDisruption: 1, Missing: 2, HeldBack: 1, Held: "the limit of 4 nodes is reached",
			Options: []cloudprovider.LaunchOption{testOption("m6a.large", "us-east-1a", "on-demand", 0.0864)}},
	}
	plan.Buffers = []provisioning.BufferStatus{
		{Namespace: "shop", Name: "spare", Existing: 3, Fresh: 2},
		{Namespace: "shop", Name: "vast", Unplaced: 4, Explanation: refused()},
	}
	plan.Overlays = []overlays.Status{
		{Name: "bad", Faults: field.ErrorList{field.Invalid(field.NewPath("spec", "price"), "1e9", "want a decimal number")}},
		{Name: "good", InstanceTypes: 3, Offerings: 12, Priced: 12, Resized: 3},
		{Name: "none"},
		{Name: "torn", InstanceTypes: 1, Offerings: 2, Priced: 1, Conflicts: []overlays.Conflict{{NodePool: "edge",
			Offering: cloudprovider.OfferingKey{InstanceType: "m6a.large", Zone: "us-east-1a", CapacityType: "spot"}, With: []string{"good"}}}},
	}
}

// refused returns a reason with every kind of detail.
func refused() *provisioning.Explanation {
	offered := requirements.MustParse("kubernetes.io/arch in (amd64, arm64), !zone")
	wanted := requirements.MustParse("kubernetes.io/arch = riscv64, zone = a")
	return &provisioning.Explanation{
		Cause: provisioning.CauseNodePools,
		Pools: []provisioning.PoolExplanation{
			{NodePool: "general", Cause: provisioning.CauseRequirements, Conflicts: offered.Conflicts(wanted, requirements.DefaultVocabulary())},
			{NodePool: "gpu", Cause: provisioning.CauseTaints, Taints: []corev1.Taint{{Key: "nvidia.com/gpu", Value: "true", Effect: corev1.TaintEffectNoSchedule}}},
			{NodePool: "large", Cause: provisioning.CauseResources, Options: 900, Filters: []provisioning.Filter{
				{Constraint: "kubernetes.io/arch = amd64", Removed: 300, Left: 600},
				{Constraint: "room for nvidia.com/gpu=16", Removed: 600}}, Shortfalls: []provisioning.Shortfall{
				{Resource: "nvidia.com/gpu", Requested: 16, Largest: 8, InstanceType: "p5.48xlarge"},
				{Resource: corev1.ResourceMemory, Requested: 4 << 40, Daemons: 1 << 30, Largest: 2 << 40, InstanceType: "p5.48xlarge"}}},
		},
		ExistingNodes: map[provisioning.Cause]int{provisioning.CauseResources: 3, provisioning.CauseTaints: 1, provisioning.CauseRequirements: 2},
	}
}

func TestTable(t *testing.T) {
	in, plan := handmade()
	r := NewPlan(in, plan, nil)
	golden.Equal(t, r.Format(&Options{Hints: Hints{Explain: "Ask -explain %s for all that is in its way."}}), "golden", "handmade.txt")
}

func TestTableInColour(t *testing.T) {
	in, plan := handmade()
	r := NewPlan(in, plan, nil)
	coloured := r.Format(&Options{Color: true})
	require.Contains(t, coloured, "\x1b[")
	for _, code := range []string{"\x1b[0m", "\x1b[1m", "\x1b[2m", "\x1b[32m", "\x1b[33m"} {
		coloured = strings.ReplaceAll(coloured, code, "")
	}
	require.Equal(t, r.Format(nil), coloured, "colours change nothing else")
}

func TestTableOfNothing(t *testing.T) {
	r := NewPlan(provisioning.Input{}, &provisioning.Plan{}, nil)
	require.Equal(t, "No pod is pending, so there is nothing to plan.\n\n"+
		"Read 0 NodePools, 0 instance types, 0 nodes, 0 pods to place and 0 DaemonSets.\n", r.Format(nil))
}

// TestTableFitsThePage draws many plans, most of them absurd.
func TestTableFitsThePage(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	for i := range testlong.Seeds(80, 300) {
		in, plan := randomPlan(r)
		text := NewPlan(in, plan, nil).Format(nil)
		widest := 0
		for _, line := range strings.Split(text, "\n") {
			width := utf8.RuneCountInString(line)
			name := strings.TrimSpace(line) // one that is to be typed stays whole
			if width > layout.Width && strings.Contains(name, " ") || strings.HasSuffix(line, " ") || strings.ContainsFunc(line, func(r rune) bool { return !unicode.IsPrint(r) }) {
				t.Fatalf("plan %d: %d columns: %q", i, width, line)
			}
			widest = max(widest, min(width, layout.Width))
		}
		if len(plan.Create) > 0 {
			require.Equal(t, layout.Width, widest, "plan %d: the table fills the page", i)
		}
	}
}

// A plan with very many rows begins with what it buys in all.
func TestLargePlansAreSummedUp(t *testing.T) {
	r := &Plan{planData{Input: inputCounts{Pods: 60, NodePools: 1}}}
	for i := range 60 {
		n := newNode{Name: fmt.Sprintf("general-%04d", i), launch: launch{NodePool: "general", InstanceType: []string{"m5.large", "c5.large"}[i%2], CapacityType: "spot",
			Zone: "us-east-1a", USDPerHour: 0.5 + float64(i)/100}, OptionCount: 1, Pods: []podRef{{Namespace: "shop", Name: fmt.Sprint(i)}}}
		r.NewNodes = append(r.NewNodes, n)
	}
	text := r.Format(nil)
	require.Regexp(t, `NODES  IN ALL OF TYPE +CAPACITY +PODS +USD/H\n +30  c5.large +spot +30  24.0000\n +30  m5.large +spot +30  23.7000\n`, text)
	require.Less(t, strings.Index(text, "IN ALL OF TYPE"), strings.Index(text, "general-0000"))
	r.NewNodes = r.NewNodes[:20]
	require.NotContains(t, r.Format(nil), "IN ALL OF TYPE")
}
