package provisioning_test

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/scenes"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// plainProblem is a problem in plain numbers, small enough for a search through all of
// its plans: up to six pods of up to three workloads, up to two nodes that exist, and
// up to three ways to launch one, in two zones.
type plainProblem struct {
	shuffler
	nodes   []plainNode
	options []plainNode
	classes []plainClass
}

// plainNode is a node, or a way to launch one.
type plainNode struct {
	zone, room int // room in units of 100m CPU
	price      float64
	bound      []int // classes of the pods that run there
	cordoned   bool
}

// plainClass is a workload. Over zones and over nodes it may be spread, with a
// maxSkew; kept apart from the pods of a class, or with them, by its index plus one.
// Zero is no constraint.
type plainClass struct {
	cpu, count          int
	zone                int // that it selects, -1 for any
	spread, apart, with [2]int
	tolerates           bool // the taint of nodes that are cordoned
}

var plainKeys = [2]string{corev1.LabelTopologyZone, corev1.LabelHostname}

func newPlainProblem(seed uint64) *plainProblem {
	r := &plainProblem{shuffler: shuffler{state: seed*0x9e3779b97f4a7c15 + 99}}
	r.below(2) // seeds that are neighbours drift apart
	for i := range 1 + r.below(3) {
		room := []int{19, 39, 79}[r.below(3)]
		r.options = append(r.options, plainNode{zone: (i + r.below(2)) % 2, room: room, price: 0.005 * float64(room) * float64(60+r.below(80)) / 100})
	}
	for range 1 + r.below(3) {
		c := plainClass{cpu: 2 + r.below(18), count: 1 + r.below(3), zone: -1, tolerates: r.chance(50)}
		if len(r.classes) == 2 {
			c.count = min(c.count, 6-r.classes[0].count-r.classes[1].count)
		}
		for k := range plainKeys {
			if r.chance(30) {
				c.spread[k] = 1 + r.below(2)
			}
			if r.chance(20) {
				c.apart[k] = 1 + r.below(3)
			}
			if r.chance(8) {
				c.with[k] = 1 + r.below(3)
			}
		}
		if r.chance(15) {
			c.zone = r.below(2)
		}
		if c.count > 0 {
			r.classes = append(r.classes, c)
		}
	}
	for range r.below(3) {
		n := plainNode{zone: r.below(2), room: []int{9, 19, 39}[r.below(3)], cordoned: r.chance(15)}
		for range r.below(3) {
			n.bound = append(n.bound, r.below(len(r.classes)))
		}
		r.nodes = append(r.nodes, n)
	}
	return r
}

func (r *plainProblem) chance(percent int) bool { return r.below(100) < percent }

// input returns the problem as Solve takes it.
func (r *plainProblem) input() provisioning.Input {
	pool := scenes.Pool("pool")
	in := provisioning.Input{NodePools: []*v1.NodePool{pool}, InstanceTypes: map[string][]*cloudprovider.InstanceType{}}
	for i, o := range r.options {
		t := scenes.Type(fmt.Sprintf("type-%d", i), fmt.Sprintf("cpu=%dm, memory=64Gi, pods=20", 100*o.room+100), o.price, "linux")
		zone := string(rune('a' + o.zone))
		t.Requirements = t.Requirements.Without(corev1.LabelTopologyZone).With(requirements.In(corev1.LabelTopologyZone, zone))
		t.Offerings = []cloudprovider.Offering{{Zone: zone, CapacityType: "on-demand", Price: o.price, Available: true}}
		in.InstanceTypes[pool.Name] = append(in.InstanceTypes[pool.Name], t)
	}
	for i := range r.nodes {
		in.Nodes = append(in.Nodes, r.node(i))
	}
	for c := range r.classes {
		for i := range r.classes[c].count {
			in.Pods = append(in.Pods, r.pod(c, fmt.Sprintf("%c-%d", 'a'+c, i)))
		}
	}
	return in
}

func (r *plainProblem) node(i int) provisioning.Node {
	from := &r.nodes[i]
	name := fmt.Sprintf("node-%d", i)
	node := scenes.Node(name, map[string]string{corev1.LabelTopologyZone: string(rune('a' + from.zone))})
	free := from.room
	n := provisioning.Node{Node: node}
	for at, c := range from.bound {
		pod := r.pod(c, fmt.Sprintf("%s-bound-%d", name, at))
		pod.Spec.NodeName = name
		n.Pods = append(n.Pods, pod)
		free += r.classes[c].cpu
	}
	node.Status.Allocatable = resources.MustParse(fmt.Sprintf("cpu=%dm, memory=64Gi, pods=20", 100*free)).ResourceList()
	node.Status.Capacity = node.Status.Allocatable
	if from.cordoned {
		node.Spec.Unschedulable = true
		node.Spec.Taints = []corev1.Taint{{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule}}
	}
	return n
}

func (r *plainProblem) pod(c int, name string) *corev1.Pod {
	class := &r.classes[c]
	pod := scenes.Pod(name, fmt.Sprintf("%dm", 100*class.cpu), "16Mi")
	pod.Labels = map[string]string{"app": appOf(c)}
	if class.tolerates {
		pod.Spec.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}}
	}
	if class.zone >= 0 {
		pod.Spec.NodeSelector = map[string]string{corev1.LabelTopologyZone: string(rune('a' + class.zone))}
	}
	for k, key := range plainKeys {
		if class.spread[k] > 0 {
			pod.Spec.TopologySpreadConstraints = append(pod.Spec.TopologySpreadConstraints, corev1.TopologySpreadConstraint{
				MaxSkew: int32(class.spread[k]), TopologyKey: key, WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: selects(appOf(c)),
			})
		}
		if other := class.apart[k]; other > 0 {
			apart := affinityOf(pod).PodAntiAffinity
			if apart == nil {
				apart = &corev1.PodAntiAffinity{}
				affinityOf(pod).PodAntiAffinity = apart
			}
			apart.RequiredDuringSchedulingIgnoredDuringExecution = append(apart.RequiredDuringSchedulingIgnoredDuringExecution,
				corev1.PodAffinityTerm{TopologyKey: key, LabelSelector: selects(appOf(other - 1))})
		}
	}
	if k := 0; class.with[0]+class.with[1] > 0 {
		if class.with[0] == 0 {
			k = 1
		}
		affinityOf(pod).PodAffinity = &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{
			{TopologyKey: plainKeys[k], LabelSelector: selects(appOf(class.with[k] - 1))},
		}}
	}
	return pod
}

func appOf(c int) string { return string(rune('a' + c)) }
