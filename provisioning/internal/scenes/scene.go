package scenes

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// Scene is a small input with a valid plan for it:
//
//	pool general (weight 10): no taints; requires arch in (amd64)
//	pool batch: taint dedicated=batch:NoSchedule; label example.org/line=night;
//	  requires team exists
//	types small (2 CPU, 4Gi), large (8 CPU, 16Gi), open (4 CPU, 8Gi, linux or
//	  windows), gone (sold out); zones a and b
//	a DaemonSet that runs everywhere and takes 100m
//	nodes old (managed, initialized), plain (unmanaged), young (a NodeClaim)
//
//	new node general-1: pods web-1, web-2 on small or large in both zones
//	new node batch-1: pod night-1, team red, on small
//	node old: pod tiny; pod huge stays pending
type Scene struct {
	In   provisioning.Input
	Plan *provisioning.Plan
	Opts *provisioning.Options

	General, Batch           *v1.NodePool
	Small, Large, Open, Gone *cloudprovider.InstanceType
	Old, Plain, Young        *provisioning.Node
	Webs                     []*corev1.Pod
	Night, Tiny, Huge        *corev1.Pod
	Daemon                   *corev1.Pod
}

// New makes the scene anew, for the caller to change.
func New() *Scene {
	s := &Scene{}
	s.Small = Type("small", "cpu=2, memory=4Gi, pods=8, ephemeral-storage=20Gi", 0.10, "linux")
	s.Large = Type("large", "cpu=8, memory=16Gi, pods=58, ephemeral-storage=20Gi", 0.40, "linux")
	s.Open = Type("open", "cpu=4, memory=8Gi, pods=29", 0.20, "linux", "windows")
	s.Gone = Type("gone", "cpu=2, memory=4Gi, pods=8", 0.01, "linux")
	for i := range s.Gone.Offerings {
		s.Gone.Offerings[i].Available = false
	}
	types := []*cloudprovider.InstanceType{s.Small, s.Large, s.Open, s.Gone}

	s.General, s.Batch = Pool("general"), Pool("batch")
	weight := int32(10)
	s.General.Spec.Weight = &weight
	s.General.Spec.Template.Spec.Requirements = []v1.NodeSelectorRequirementWithMinValues{
		{Key: corev1.LabelArchStable, Operator: corev1.NodeSelectorOpIn, Values: []string{"amd64"}},
	}
	s.Batch.Spec.Template.Labels = map[string]string{"example.org/line": "night"}
	s.Batch.Spec.Template.Spec.Taints = []corev1.Taint{{Key: "dedicated", Value: "batch", Effect: corev1.TaintEffectNoSchedule}}
	s.Batch.Spec.Template.Spec.StartupTaints = []corev1.Taint{{Key: "starting", Effect: corev1.TaintEffectNoSchedule}}
	s.Batch.Spec.Template.Spec.Requirements = []v1.NodeSelectorRequirementWithMinValues{
		{Key: "team", Operator: corev1.NodeSelectorOpExists},
	}

	s.Webs = []*corev1.Pod{Pod("web-1", "500m", "1Gi"), Pod("web-2", "500m", "1Gi")}
	s.Night = Pod("night-1", "1", "1Gi")
	s.Night.Spec.NodeSelector = map[string]string{"team": "red", "example.org/line": "night"}
	s.Night.Spec.Tolerations = []corev1.Toleration{{Key: "dedicated", Value: "batch", Effect: corev1.TaintEffectNoSchedule}}
	s.Tiny = Pod("tiny", "100m", "64Mi")
	s.Huge = Pod("huge", "200", "1Ti")
	s.Daemon = Pod("agent", "100m", "64Mi")
	s.Daemon.Spec.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}}

	s.drawNodes()
	s.In = provisioning.Input{
		NodePools:     []*v1.NodePool{s.Batch, s.General},
		InstanceTypes: map[string][]*cloudprovider.InstanceType{"general": types, "batch": types},
		Nodes:         []provisioning.Node{*s.Young, *s.Old, *s.Plain},
		Pods:          []*corev1.Pod{s.Huge, s.Webs[1], s.Night, s.Webs[0], s.Tiny},
		DaemonSetPods: []*corev1.Pod{s.Daemon},
	}
	s.Old, s.Plain, s.Young = &s.In.Nodes[1], &s.In.Nodes[2], &s.In.Nodes[0]
	s.drawPlan()
	return s
}

func (s *Scene) drawNodes() {
	claim := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "claim-old"}}
	claim.Spec.StartupTaints = []corev1.Taint{{Key: "starting", Effect: corev1.TaintEffectNoSchedule}}
	s.Old = &provisioning.Node{NodeClaim: claim, Node: Node("old", map[string]string{
		v1.NodePoolLabelKey: "general", v1.NodeRegisteredLabelKey: "true", v1.NodeInitializedLabelKey: "true",
		corev1.LabelTopologyZone: "a",
	})}
	s.Old.Pods = []*corev1.Pod{Pod("bound", "1", "1Gi")}
	s.Plain = &provisioning.Node{Node: Node("plain", map[string]string{corev1.LabelTopologyZone: "b"})}

	young := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "young", Labels: map[string]string{
		v1.NodePoolLabelKey: "batch", "team": "red", corev1.LabelTopologyZone: "b",
	}}}
	young.Spec.Taints = []corev1.Taint{{Key: "dedicated", Value: "batch", Effect: corev1.TaintEffectNoSchedule}}
	young.Spec.StartupTaints = []corev1.Taint{{Key: "starting", Effect: corev1.TaintEffectNoSchedule}}
	young.Status.Allocatable = s.Plain.Node.Status.Allocatable
	young.Status.Capacity = s.Plain.Node.Status.Capacity
	s.Young = &provisioning.Node{NodeClaim: young}
}

func (s *Scene) drawPlan() {
	first := provisioning.NewNode{
		Name: "general-1", Pool: s.General, Pods: slices.Clone(s.Webs),
		Requirements: requirements.MustParse("kubernetes.io/arch = amd64"),
		Options:      Options(s.Small, s.Large),
		Requests:     resources.MustParse("cpu=1, memory=2Gi, pods=2"),
		Daemons:      resources.MustParse("cpu=100m, memory=64Mi, pods=1"),
	}
	second := provisioning.NewNode{
		Name: "batch-1", Pool: s.Batch, Pods: []*corev1.Pod{s.Night},
		Requirements: requirements.MustParse("team = red, example.org/line = night"),
		Options:      Options(s.Small),
		Requests:     resources.MustParse("cpu=1, memory=1Gi, pods=1"),
		Daemons:      resources.MustParse("cpu=100m, memory=64Mi, pods=1"),
	}
	s.Plan = &provisioning.Plan{
		Create:   []provisioning.NewNode{first, second},
		Bind:     []provisioning.Binding{{Node: "old", Pods: []*corev1.Pod{s.Tiny}}},
		Unplaced: []provisioning.Unplaced{{Pod: s.Huge, Explanation: &provisioning.Explanation{Cause: provisioning.CauseNodePools}}},
		Stats:    provisioning.Stats{Pods: 5},
	}
	s.Reorder()
	s.Plan.Cost = first.Price() + second.Price()
	s.Plan.LowerBound = s.Plan.Cost / 2
}

// Reorder lists the placed pods in the order in which the plan lists their nodes.
func (s *Scene) Reorder() { s.Plan.Order = PlacedPods(s.Plan) }

// PlacedPods returns the placed pods, in the order in which the plan lists their nodes.
func PlacedPods(plan *provisioning.Plan) []*corev1.Pod {
	var placed []*corev1.Pod
	for _, n := range plan.Create {
		placed = append(placed, n.Pods...)
	}
	for _, b := range plan.Bind {
		placed = append(placed, b.Pods...)
	}
	return placed
}

// First returns the new node of pool general.
func (s *Scene) First() *provisioning.NewNode { return &s.Plan.Create[0] }

// Second returns the new node of pool batch.
func (s *Scene) Second() *provisioning.NewNode { return &s.Plan.Create[1] }

// Bind puts a pod on an existing node instead of leaving it pending.
func (s *Scene) Bind(pod *corev1.Pod, node string) {
	s.Plan.Unplaced = slices.DeleteFunc(s.Plan.Unplaced, func(u provisioning.Unplaced) bool { return u.Pod == pod })
	s.Plan.Bind = slices.DeleteFunc(s.Plan.Bind, func(b provisioning.Binding) bool { return slices.Contains(b.Pods, pod) })
	s.Plan.Bind = append(s.Plan.Bind, provisioning.Binding{Node: node, Pods: []*corev1.Pod{pod}})
	s.Reorder()
}
