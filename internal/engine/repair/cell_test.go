package repair

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/internal/engine/attempt"
	"github.com/dovetail-sdk/dovetail/internal/engine/compile"
	"github.com/dovetail-sdk/dovetail/internal/engine/ledger"
	"github.com/dovetail-sdk/dovetail/internal/engine/model"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// TestRequirementsAreComparedOnce: what a node for a pod alone is asked for, and what it is
// like, is worked out once, however often a pass looks for such a node; and each has a bin
// type of its own, as passes make them others one by one.
func TestRequirementsAreComparedOnce(t *testing.T) {
	st := spreadState(t)
	g := &placer{st: st, p: st.p, left: 1_000_000, ledger: ledger.New(st.p, nil)}
	first, second := g.fresh(0, 1), g.fresh(0, 1)
	require.NotNil(t, first)
	require.NotSame(t, first.BinType, second.BinType)
	require.NotEqual(t, first.BinType.Id, second.BinType.Id)
	require.Equal(t, first.BinType.Labels, second.BinType.Labels)
	require.Equal(t, first.At, second.At)

	looks := testing.AllocsPerRun(10, func() { g.fresh(0, 1) })
	anew := testing.AllocsPerRun(10, func() {
		st.forms = map[int]*forms{}
		g.fresh(0, 1)
	})
	t.Logf("%.0f allocations for a look, %.0f for the first", looks, anew)
	require.Less(t, looks, anew/4)
}

// TestClassesHaveTheirOwnCells: each cell that a class is sent to has a node of its own.
func TestClassesHaveTheirOwnCells(t *testing.T) {
	st := spreadState(t)
	cells := st.cells(0)
	require.Len(t, cells, 3)
	g := &placer{st: st, p: st.p, left: 1_000_000, ledger: ledger.New(st.p, nil)}
	options := map[string]bool{}
	for i := range cells {
		s := g.freshIn(0, cells[i:i+1], 1)
		require.NotNil(t, s)
		options[s.BinType.Options.Key()] = true
	}
	require.Len(t, options, 3)
}

// spreadState returns a State of a problem of one pod that is spread over three zones, and of a
// NodePool with twenty labels.
func spreadState(t *testing.T) *State {
	t.Helper()
	pool := &v1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "pool"}}
	pool.Spec.Template.Labels = map[string]string{}
	for i := range 20 {
		pool.Spec.Template.Labels[fmt.Sprint("example.com/label-", i)] = "x"
	}
	small := &cloudprovider.InstanceType{
		Name:     "small",
		Capacity: resources.MustParse("cpu=4, memory=16Gi, pods=110"),
		Requirements: requirements.NewSet(
			requirements.In(corev1.LabelInstanceTypeStable, "small"),
			requirements.In(corev1.LabelArchStable, "amd64"),
			requirements.In(corev1.LabelOSStable, "linux"),
			requirements.In(corev1.LabelTopologyZone, "a", "b", "c"),
			requirements.In(v1.CapacityTypeLabelKey, v1.CapacityTypeOnDemand),
		),
	}
	for _, zone := range []string{"a", "b", "c"} {
		small.Offerings = append(small.Offerings, cloudprovider.Offering{Zone: zone, CapacityType: v1.CapacityTypeOnDemand, Price: 0.1, Available: true})
	}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "pod", Namespace: "default", Labels: map[string]string{"app": "web"}}}
	pod.Spec.Containers = []corev1.Container{{Name: "main", Resources: corev1.ResourceRequirements{
		Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")},
	}}}
	pod.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{
		MaxSkew: 1, TopologyKey: corev1.LabelTopologyZone, WhenUnsatisfiable: corev1.DoNotSchedule,
		LabelSelector: &metav1.LabelSelector{MatchLabels: pod.Labels},
	}}
	var f model.Faults
	p := compile.NewProblem(model.Input{
		NodePools:     []*v1.NodePool{pool},
		InstanceTypes: map[string][]*cloudprovider.InstanceType{"pool": {small}},
		Pods:          []*corev1.Pod{pod},
	}, nil, model.Options{}, nil, nil, &f)
	require.NoError(t, f.Err())
	return New(p, attempt.New(p, attempt.Hints{}), 0)
}
