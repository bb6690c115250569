package fleet_test

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/disruption/fleet"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/nomination"
)

// copied are objects as another list of the same cache has them: at other addresses.
func copied(o fleet.Objects) fleet.Objects {
	var out fleet.Objects
	for _, c := range o.NodeClaims {
		c := *c
		out.NodeClaims = append(out.NodeClaims, &c)
	}
	for _, n := range o.Nodes {
		n := *n
		out.Nodes = append(out.Nodes, &n)
	}
	for _, p := range o.Pods {
		p := *p
		out.Pods = append(out.Pods, &p)
	}
	for _, ds := range o.DaemonSets {
		ds := *ds
		out.DaemonSets = append(out.DaemonSets, &ds)
	}
	return out
}

// TestReadKnowsObjectsAgain: what has not changed is the same object in the next Input, so that
// the next Problem reads what has; the plan is that of the Input alone.
func TestReadKnowsObjectsAgain(t *testing.T) {
	ds := &appsv1.DaemonSet{}
	ds.Namespace, ds.Name, ds.UID, ds.ResourceVersion = "shop", "logs", "uid-logs", "1"
	promised := pod("old", "n1", "ReplicaSet") // with our toleration still: it is planned without
	promised.Spec.Tolerations = []corev1.Toleration{{Key: nomination.TaintKey, Operator: corev1.TolerationOpExists}}
	o := fleet.Objects{
		NodeClaims: []*v1.NodeClaim{claim("n1"), claim("n2")}, Nodes: []*corev1.Node{node("n1"), node("n2")},
		Pods: []*corev1.Pod{promised, pod("a", "n1", "ReplicaSet"), pod("b", "n2", "ReplicaSet"), pod("waits", "", "ReplicaSet")}, DaemonSets: []*appsv1.DaemonSet{ds},
	}
	for i := range o.Nodes {
		o.NodeClaims[i].ResourceVersion, o.Nodes[i].ResourceVersion, o.Nodes[i].UID = "1", "1", types.UID("uid-"+o.Nodes[i].Name)
		o.Nodes[i].Status.Allocatable = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("4"), corev1.ResourceMemory: resource.MustParse("8Gi"), corev1.ResourcePods: resource.MustParse("9")}
	}
	for _, p := range o.Pods {
		p.ResourceVersion = "1"
	}
	first, err := fleet.Read(noon, o, fleet.Memory{})
	require.NoError(t, err)
	general(first)
	_, _, err = first.Prepare(nil)
	require.NoError(t, err)

	o = copied(o)
	b := o.Pods[2].DeepCopy()
	b.ResourceVersion, b.Spec.Containers = "2", []corev1.Container{{Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("4")}}}}
	o.Pods[2] = b
	second, err := fleet.Read(noon.Add(time.Second), o, first.Memory)
	require.NoError(t, err)
	general(second)

	before, now := first.Input.Nodes, second.Input.Nodes
	require.Len(t, now, 2)
	for i := range now {
		require.Same(t, before[i].Node, now[i].Node)
		require.Same(t, before[i].NodeClaim, now[i].NodeClaim)
	}
	require.Len(t, now[0].Pods, 2)
	for i := range now[0].Pods {
		require.Same(t, before[0].Pods[i], now[0].Pods[i])
		require.Empty(t, now[0].Pods[i].Spec.Tolerations)
	}
	require.Equal(t, b, now[1].Pods[0])
	require.Same(t, first.Input.DaemonSetPods[0], second.Input.DaemonSetPods[0])

	problem, _, err := second.Prepare(nil)
	require.NoError(t, err)
	got, err := problem.Solve(context.Background())
	require.NoError(t, err)
	want, err := provisioning.Solve(context.Background(), second.Input.Input, nil)
	require.NoError(t, err)
	require.Equal(t, want, got)

	other, _, err := second.Prepare(&provisioning.Options{Quick: true})
	require.NoError(t, err)
	require.NotSame(t, problem, other)
}

// TestMemoryKeepsNoLists: a client gives each pass all pods in one array. What a Read remembers of
// them does not grow with the passes, though one pod has changed in each.
func TestMemoryKeepsNoLists(t *testing.T) {
	const passes, most = 400, 16 << 20 // bytes; each array of 600 pods has 600 KiB
	pods := make([]corev1.Pod, 600)
	for i := range pods {
		pods[i] = *pod(fmt.Sprint("pod-", i), fmt.Sprint("n", i%20), "ReplicaSet")
		pods[i].ResourceVersion = "1"
		if i%2 == 0 {
			pods[i].Spec.Tolerations = []corev1.Toleration{{Key: nomination.TaintKey, Operator: corev1.TolerationOpExists}}
		}
	}
	var o fleet.Objects
	for i := range 20 {
		name := fmt.Sprint("n", i)
		o.NodeClaims, o.Nodes = append(o.NodeClaims, claim(name)), append(o.Nodes, node(name))
		o.NodeClaims[i].ResourceVersion, o.Nodes[i].ResourceVersion, o.Nodes[i].UID = "1", "1", types.UID("uid-"+name)
	}
	var memory fleet.Memory
	pass := func(i int) {
		pods[i%len(pods)].ResourceVersion = fmt.Sprint("of pass ", i)
		list := slices.Clone(pods)
		o.Pods = nil
		for i := range list {
			o.Pods = append(o.Pods, &list[i])
		}
		f, err := fleet.Read(noon.Add(time.Duration(i)*time.Second), o, memory)
		require.NoError(t, err)
		if i%20 == 0 { // a plan is not due in each
			general(f)
			_, _, err = f.Prepare(nil)
			require.NoError(t, err)
		}
		memory = f.Memory
	}
	heap := func() int {
		var stats runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&stats)
		return int(stats.HeapAlloc)
	}
	pass(0)
	before := heap()
	for i := range passes {
		pass(1 + i)
	}
	require.Less(t, heap()-before, most)
	runtime.KeepAlive(memory)
}

// TestPrepareCompilesWhatHasChanged: NodePools that were copied and say the same, and volumes and
// namespaces of another list of the same cache, are not compiled anew.
func TestPrepareCompilesWhatHasChanged(t *testing.T) {
	f, err := fleet.Read(noon, fleet.Objects{Pods: []*corev1.Pod{pod("waits", "", "ReplicaSet")}}, fleet.Memory{})
	require.NoError(t, err)
	general(f)
	space, volume := &corev1.Namespace{}, &corev1.PersistentVolume{}
	space.Name, space.UID, space.ResourceVersion = "shop", "uid-shop", "1"
	volume.Name, volume.UID, volume.ResourceVersion = "data", "uid-data", "1"
	in := f.Input.Input
	prepare := func(edit func(*v1.NodePool)) float64 {
		return testing.AllocsPerRun(1, func() {
			f.Input.Input = in
			pool, space, volume := in.NodePools[0].DeepCopy(), *space, *volume
			edit(pool)
			f.Input.NodePools, f.Input.Namespaces, f.Input.Volumes.Volumes = []*v1.NodePool{pool}, []*corev1.Namespace{&space}, []*corev1.PersistentVolume{&volume}
			_, _, err := f.Prepare(nil)
			require.NoError(t, err)
		})
	}
	weight := int32(0)
	anew := prepare(func(p *v1.NodePool) { weight++; p.Spec.Weight = new(weight) })
	require.Less(t, 5*prepare(func(*v1.NodePool) {}), anew)

	f.Input.NodePools, f.Input.Namespaces = append(f.Input.NodePools, nil), append(f.Input.Namespaces, nil)
	_, _, err = f.Prepare(nil)
	require.Error(t, err)
}
