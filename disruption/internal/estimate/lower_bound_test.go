package estimate

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/disruption/internal/podclass"
	"github.com/dovetail-sdk/dovetail/disruption/internal/screen"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// small has one CPU for 1, large four for 3; of one dimension beside the pods.
func twoSizes() *Estimate {
	kind := func(name string, zones ...string) *cloudprovider.InstanceType {
		t := &cloudprovider.InstanceType{Name: name}
		price := map[string]float64{"small": 1, "large": 3}[name]
		for _, zone := range zones {
			t.Offerings = append(t.Offerings,
				cloudprovider.Offering{Zone: zone, CapacityType: "on-demand", Price: price, Available: true},
				cloudprovider.Offering{Zone: zone, CapacityType: "spot", Price: price / 2, Available: true})
		}
		return t
	}
	return &Estimate{
		Cluster: &screen.Cluster{}, names: []corev1.ResourceName{corev1.ResourceCPU},
		goods: &goods{
			quotes: map[quoteKey][]float64{}, least: map[leastKey]float64{},
			templates: map[string]requirements.Set{"p": {}, "q": {}},
			units:     map[string][]float64{"p": {0.25}, "q": {0.25}},
			machines: map[string][]machine{
				"p": {{Launch{Of: kind("small", "a", "b"), Price: 0.5}, []int64{1}}, {Launch{Of: kind("large", "a"), Price: 1.5}, []int64{4}}},
				"q": {{Launch{Of: kind("small", "a"), Price: 0.5}, []int64{1}}},
			},
		},
	}
}

func (e *Estimate) addClass(request int64, groups screen.AntiAffinity, d demand) int32 {
	e.Cluster.Classes = append(e.Cluster.Classes, screen.Class{Request: []int64{request}, AntiAffinity: groups, Floor: 0.1 * float64(request)})
	d.number = len(e.demands) // each asks for something of its own
	e.classes = append(e.classes, &podclass.Class{Number: d.number})
	e.demands = append(e.demands, d)
	return int32(len(e.demands) - 1)
}

func TestWhatPodsCostAtLeastOnNewNodes(t *testing.T) {
	e := twoSizes()
	anywhere := requirements.Pod{Alternatives: []requirements.Alternative{{}}}
	inZone := func(zone string) requirements.Pod {
		return requirements.Pod{Alternatives: []requirements.Alternative{{Set: requirements.MustParse("topology.kubernetes.io/zone = " + zone)}}}
	}
	free := e.addClass(1, screen.AntiAffinity{}, demand{asked: anywhere, pools: []string{"p"}})
	big := e.addClass(3, screen.AntiAffinity{}, demand{asked: anywhere, pools: []string{"p"}})
	apart := e.addClass(1, screen.AntiAffinity{Of: []uint64{1}, Excludes: []uint64{1}}, demand{asked: anywhere, pools: []string{"p"}})
	bigB := e.addClass(3, screen.AntiAffinity{}, demand{asked: inZone("b"), pools: []string{"p"}})
	one := func(class int32) screen.Count { return screen.Count{Class: class, Pods: 1} }
	tests := []struct {
		name   string
		rest   []screen.Count
		steady bool
		want   float64
	}{
		{"nothing", nil, false, 0},
		{"one pod", []screen.Count{one(free)}, false, 0.5},
		{"none of it spot", []screen.Count{one(free)}, true, 1},
		{"two pods are on two nodes or on a large one", []screen.Count{{Class: free, Pods: 2}}, false, 1},
		{"the dearest of them", []screen.Count{one(free), one(big)}, false, 1.5},
		{"many pods, by the price of what they ask for", []screen.Count{{Class: free, Pods: 40}}, false, 10},
		{"each on a node of its own", []screen.Count{{Class: apart, Pods: 5}}, false, 2.5},
		{"no machine where it must be", []screen.Count{one(bigB)}, false, math.Inf(1)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for range 2 { // the second time it is known
				require.InDelta(t, 0, diff(tt.want, e.AtLeast(tt.rest, tt.steady)), 1e-9)
			}
		})
	}
}

func diff(a, b float64) float64 {
	if a == b {
		return 0
	}
	return a - b
}
