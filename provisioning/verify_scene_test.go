package provisioning_test

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

// scene is a small input with a plan for it that breaks no rule:
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
type scene struct {
	in   provisioning.Input
	plan *provisioning.Plan
	opts *provisioning.Options

	general, batch           *v1.NodePool
	small, large, open, gone *cloudprovider.InstanceType
	old, plain, young        *provisioning.Node
	webs                     []*corev1.Pod
	night, tiny, huge        *corev1.Pod
	daemon                   *corev1.Pod
}

func newScene() *scene {
	s := &scene{}
	s.small = sceneType("small", "cpu=2, memory=4Gi, pods=8, ephemeral-storage=20Gi", 0.10, "linux")
	s.large = sceneType("large", "cpu=8, memory=16Gi, pods=58, ephemeral-storage=20Gi", 0.40, "linux")
	s.open = sceneType("open", "cpu=4, memory=8Gi, pods=29", 0.20, "linux", "windows")
	s.gone = sceneType("gone", "cpu=2, memory=4Gi, pods=8", 0.01, "linux")
	for i := range s.gone.Offerings {
		s.gone.Offerings[i].Available = false
	}
	types := []*cloudprovider.InstanceType{s.small, s.large, s.open, s.gone}

	s.general, s.batch = scenePool("general"), scenePool("batch")
	weight := int32(10)
	s.general.Spec.Weight = &weight
	s.general.Spec.Template.Spec.Requirements = []v1.NodeSelectorRequirementWithMinValues{
		{Key: corev1.LabelArchStable, Operator: corev1.NodeSelectorOpIn, Values: []string{"amd64"}},
	}
	s.batch.Spec.Template.Labels = map[string]string{"example.org/line": "night"}
	s.batch.Spec.Template.Spec.Taints = []corev1.Taint{{Key: "dedicated", Value: "batch", Effect: corev1.TaintEffectNoSchedule}}
	s.batch.Spec.Template.Spec.StartupTaints = []corev1.Taint{{Key: "starting", Effect: corev1.TaintEffectNoSchedule}}
	s.batch.Spec.Template.Spec.Requirements = []v1.NodeSelectorRequirementWithMinValues{
		{Key: "team", Operator: corev1.NodeSelectorOpExists},
	}

	s.webs = []*corev1.Pod{scenePod("web-1", "500m", "1Gi"), scenePod("web-2", "500m", "1Gi")}
	s.night = scenePod("night-1", "1", "1Gi")
	s.night.Spec.NodeSelector = map[string]string{"team": "red", "example.org/line": "night"}
	s.night.Spec.Tolerations = []corev1.Toleration{{Key: "dedicated", Value: "batch", Effect: corev1.TaintEffectNoSchedule}}
	s.tiny = scenePod("tiny", "100m", "64Mi")
	s.huge = scenePod("huge", "200", "1Ti")
	s.daemon = scenePod("agent", "100m", "64Mi")
	s.daemon.Spec.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}}

	s.drawNodes()
	s.in = provisioning.Input{
		NodePools:     []*v1.NodePool{s.batch, s.general},
		InstanceTypes: map[string][]*cloudprovider.InstanceType{"general": types, "batch": types},
		Nodes:         []provisioning.Node{*s.young, *s.old, *s.plain},
		Pods:          []*corev1.Pod{s.huge, s.webs[1], s.night, s.webs[0], s.tiny},
		DaemonSetPods: []*corev1.Pod{s.daemon},
	}
	s.old, s.plain, s.young = &s.in.Nodes[1], &s.in.Nodes[2], &s.in.Nodes[0]
	s.drawPlan()
	return s
}

func (s *scene) drawNodes() {
	claim := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "claim-old"}}
	claim.Spec.StartupTaints = []corev1.Taint{{Key: "starting", Effect: corev1.TaintEffectNoSchedule}}
	s.old = &provisioning.Node{NodeClaim: claim, Node: sceneNode("old", map[string]string{
		v1.NodePoolLabelKey: "general", v1.NodeRegisteredLabelKey: "true", v1.NodeInitializedLabelKey: "true",
		corev1.LabelTopologyZone: "a",
	})}
	s.old.Pods = []*corev1.Pod{scenePod("bound", "1", "1Gi")}
	s.plain = &provisioning.Node{Node: sceneNode("plain", map[string]string{corev1.LabelTopologyZone: "b"})}

	young := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "young", Labels: map[string]string{
		v1.NodePoolLabelKey: "batch", "team": "red", corev1.LabelTopologyZone: "b",
	}}}
	young.Spec.Taints = []corev1.Taint{{Key: "dedicated", Value: "batch", Effect: corev1.TaintEffectNoSchedule}}
	young.Spec.StartupTaints = []corev1.Taint{{Key: "starting", Effect: corev1.TaintEffectNoSchedule}}
	young.Status.Allocatable = s.plain.Node.Status.Allocatable
	young.Status.Capacity = s.plain.Node.Status.Capacity
	s.young = &provisioning.Node{NodeClaim: young}
}

func (s *scene) drawPlan() {
	first := provisioning.NewNode{
		Name: "general-1", Pool: s.general, Pods: slices.Clone(s.webs),
		Requirements: requirements.MustParse("kubernetes.io/arch = amd64"),
		Options:      sceneOptions(s.small, s.large),
		Requests:     resources.MustParse("cpu=1, memory=2Gi, pods=2"),
		Daemons:      resources.MustParse("cpu=100m, memory=64Mi, pods=1"),
	}
	second := provisioning.NewNode{
		Name: "batch-1", Pool: s.batch, Pods: []*corev1.Pod{s.night},
		Requirements: requirements.MustParse("team = red, example.org/line = night"),
		Options:      sceneOptions(s.small),
		Requests:     resources.MustParse("cpu=1, memory=1Gi, pods=1"),
		Daemons:      resources.MustParse("cpu=100m, memory=64Mi, pods=1"),
	}
	s.plan = &provisioning.Plan{
		Create:   []provisioning.NewNode{first, second},
		Bind:     []provisioning.Binding{{Node: "old", Pods: []*corev1.Pod{s.tiny}}},
		Unplaced: []provisioning.Unplaced{{Pod: s.huge, Reason: &provisioning.Reason{Cause: provisioning.CauseNodePools}}},
		Stats:    provisioning.Stats{Pods: 5},
	}
	s.reorder()
	s.plan.Cost = first.Price() + second.Price()
	s.plan.LowerBound = s.plan.Cost / 2
}

// reorder lists the placed pods in the order in which the plan lists their nodes.
func (s *scene) reorder() { s.plan.Order = placedPods(s.plan) }

func placedPods(plan *provisioning.Plan) []*corev1.Pod {
	var placed []*corev1.Pod
	for _, n := range plan.Create {
		placed = append(placed, n.Pods...)
	}
	for _, b := range plan.Bind {
		placed = append(placed, b.Pods...)
	}
	return placed
}

// first is the new node of pool general, second that of pool batch.
func (s *scene) first() *provisioning.NewNode  { return &s.plan.Create[0] }
func (s *scene) second() *provisioning.NewNode { return &s.plan.Create[1] }

// bind puts a pod on an existing node instead of leaving it pending.
func (s *scene) bind(pod *corev1.Pod, node string) {
	s.plan.Unplaced = slices.DeleteFunc(s.plan.Unplaced, func(u provisioning.Unplaced) bool { return u.Pod == pod })
	s.plan.Bind = slices.DeleteFunc(s.plan.Bind, func(b provisioning.Binding) bool { return slices.Contains(b.Pods, pod) })
	s.plan.Bind = append(s.plan.Bind, provisioning.Binding{Node: node, Pods: []*corev1.Pod{pod}})
	s.reorder()
}

func sceneType(name, capacity string, price float64, systems ...string) *cloudprovider.InstanceType {
	t := &cloudprovider.InstanceType{
		Name:     name,
		Capacity: resources.MustParse(capacity),
		Overhead: cloudprovider.Overhead{
			KubeReserved:      resources.MustParse("cpu=100m, memory=200Mi"),
			EvictionThreshold: resources.MustParse("memory=100Mi"),
		},
		Requirements: requirements.NewSet(
			requirements.In(corev1.LabelInstanceTypeStable, name),
			requirements.In(corev1.LabelArchStable, "amd64"),
			requirements.In(corev1.LabelOSStable, systems...),
			requirements.In(corev1.LabelTopologyZone, "a", "b"),
			requirements.In(corev1.LabelTopologyRegion, "r"),
			requirements.In(v1.CapacityTypeLabelKey, "on-demand", "spot"),
			requirements.DoesNotExist(corev1.LabelWindowsBuild),
		),
	}
	for _, zone := range []string{"a", "b"} {
		t.Offerings = append(t.Offerings,
			cloudprovider.Offering{Zone: zone, CapacityType: "on-demand", Price: price, Available: true},
			cloudprovider.Offering{Zone: zone, CapacityType: "spot", Price: price / 2, Available: true},
		)
	}
	return t
}

func sceneOptions(types ...*cloudprovider.InstanceType) []cloudprovider.LaunchOption {
	var options []cloudprovider.LaunchOption
	for _, t := range types {
		for i := range t.Offerings {
			options = append(options, cloudprovider.LaunchOption{InstanceType: t, Offering: &t.Offerings[i]})
		}
	}
	slices.SortFunc(options, cloudprovider.LaunchOption.Compare)
	return options
}

func scenePool(name string) *v1.NodePool {
	pool := &v1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: name}}
	pool.Spec.Template.Spec.NodeClassRef = &v1.NodeClassReference{Group: "example.com", Kind: "NodeClass", Name: "default"}
	return pool
}

func scenePod(name, cpu, memory string) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, Labels: map[string]string{"app": name}}}
	pod.Spec.Containers = []corev1.Container{{Name: "main", Resources: corev1.ResourceRequirements{
		Requests: resources.MustParse("cpu=" + cpu + ", memory=" + memory).ResourceList(),
	}}}
	return pod
}

func sceneNode(name string, labels map[string]string) *corev1.Node {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}}
	labels[corev1.LabelHostname] = name
	node.Status.Capacity = resources.MustParse("cpu=2, memory=4Gi, pods=8").ResourceList()
	node.Status.Allocatable = resources.MustParse("cpu=1900m, memory=3796Mi, pods=8").ResourceList()
	return node
}
