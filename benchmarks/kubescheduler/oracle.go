package main

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/dynamic-resource-allocation/resourceslice/tracker"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/latest"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/dynamicresources"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodevolumelimits"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	"k8s.io/kubernetes/pkg/scheduler/metrics"
	"k8s.io/kubernetes/pkg/scheduler/util/assumecache"
)

// oracle asks kube-scheduler's default plugins whether a pod may go on a node.
type oracle struct {
	framework framework.Framework
	objects   *objects
	cluster   *cluster
	reserved  []reservation
}

// reservation is what a pod that was bound holds in the caches of plugins.
type reservation struct {
	pod   *corev1.Pod
	state fwk.CycleState
	node  string
}

// gates are off by default. A pod that asks for what one of them brings exists only where the API
// server has the gate on, and then kube-scheduler has it on too.
var gates = []string{"TaintTolerationComparisonOperators"}

// newOracle sets the framework up as kube-scheduler does for its default profile.
func newOracle(ctx context.Context) (*oracle, error) {
	metrics.Register()
	for _, gate := range gates {
		if err := utilfeature.DefaultMutableFeatureGate.Set(gate + "=true"); err != nil {
			return nil, err
		}
	}
	defaults, err := latest.Default()
	if err != nil {
		return nil, err
	}
	client := fake.NewSimpleClientset()
	o := &oracle{objects: newObjects(client), cluster: newCluster()}
	slices, err := tracker.StartTracker(ctx, tracker.Options{SliceInformer: o.objects.Resource().V1().ResourceSlices()})
	if err != nil {
		return nil, err
	}
	claims := assumecache.NewAssumeCache(klog.FromContext(ctx), o.objects.Resource().V1().ResourceClaims().Informer(), "ResourceClaim", "", nil)
	o.framework, err = frameworkruntime.NewFramework(ctx, plugins.NewInTreeRegistry(), &defaults.Profiles[0],
		frameworkruntime.WithComponentConfigVersion(defaults.APIVersion),
		frameworkruntime.WithClientSet(client),
		frameworkruntime.WithInformerFactory(o.objects),
		frameworkruntime.WithSnapshotSharedLister(o.cluster),
		frameworkruntime.WithSharedDRAManager(dynamicresources.NewDRAManager(ctx, claims, slices, o.objects)),
		frameworkruntime.WithSharedCSIManager(nodevolumelimits.NewCSIManager(o.objects.Storage().V1().CSINodes().Lister())),
		frameworkruntime.WithParallelism(1),
		frameworkruntime.WithWaitingPods(frameworkruntime.NewWaitingPodsMap()),
		frameworkruntime.WithPodsInPreBind(frameworkruntime.NewPodsInPreBindMap()),
	)
	return o, err
}

// answer judges the pairs of a question.
func (o *oracle) answer(ctx context.Context, q *Question) (*Answer, error) {
	if q.State != nil {
		if err := o.load(ctx, q.State); err != nil {
			return nil, err
		}
	}
	a := &Answer{Ask: make([]Verdict, len(q.Ask)), Bind: make([]Verdict, len(q.Bind))}
	considered := make([]*candidate, len(q.Pods))
	for i, pair := range q.Ask {
		info, err := o.pair(q, pair)
		if err != nil {
			return nil, fmt.Errorf("ask[%d]: %w", i, err)
		}
		if considered[pair[0]] == nil {
			considered[pair[0]] = o.consider(ctx, q.Pods[pair[0]])
		}
		a.Ask[i] = considered[pair[0]].on(ctx, info)
	}
	for i, pair := range q.Bind {
		info, err := o.pair(q, pair)
		if err == nil {
			a.Bind[i], err = o.bind(ctx, q.Pods[pair[0]], info)
		}
		if err != nil {
			return nil, fmt.Errorf("bind[%d]: %w", i, err)
		}
	}
	return a, nil
}

func (o *oracle) pair(q *Question, pair [2]int) (fwk.NodeInfo, error) {
	switch {
	case pair[0] < 0 || pair[0] >= len(q.Pods) || q.Pods[pair[0]] == nil:
		return nil, fmt.Errorf("there is no pod %d", pair[0])
	case pair[1] < 0 || pair[1] >= len(o.cluster.nodes):
		return nil, fmt.Errorf("there is no node %d", pair[1])
	}
	return o.cluster.nodes[pair[1]], nil
}

// load replaces the state.
func (o *oracle) load(ctx context.Context, s *State) error {
	for _, r := range o.reserved {
		o.framework.RunReservePluginsUnreserve(ctx, r.state, r.pod, r.node)
	}
	o.reserved = nil
	nodes := make([]*corev1.Node, len(s.Nodes))
	for i := range s.Nodes {
		nodes[i] = s.Nodes[i].Node
	}
	return errors.Join(
		o.cluster.reset(s.Nodes),
		load(o.objects, nodes),
		load(o.objects, s.namespaces()),
		load(o.objects, s.PersistentVolumeClaims),
		load(o.objects, s.PersistentVolumes),
		load(o.objects, s.StorageClasses),
		load(o.objects, s.CSINodes),
		load(o.objects, s.CSIDrivers),
		load(o.objects, s.CSIStorageCapacities),
		load(o.objects, s.VolumeAttachments),
		load(o.objects, s.ResourceClaims),
		load(o.objects, s.ResourceSlices),
		load(o.objects, s.DeviceClasses),
	)
}

// namespaces are those of the state, with the label that every namespace has.
func (s *State) namespaces() []*corev1.Namespace {
	var all []*corev1.Namespace
	for _, namespace := range s.Namespaces {
		namespace = namespace.DeepCopy()
		metav1.SetMetaDataLabel(&namespace.ObjectMeta, corev1.LabelMetadataName, namespace.Name)
		all = append(all, namespace)
	}
	return all
}

// candidate is a pod after PreFilter, which reads the whole cluster. It may be tried on any number
// of nodes until the cluster changes.
type candidate struct {
	o        *oracle
	pod      *corev1.Pod
	state    fwk.CycleState
	nodes    *fwk.PreFilterResult
	narrowed string // the plugin that left only some nodes
	refused  Verdict
}

func (o *oracle) consider(ctx context.Context, pod *corev1.Pod) *candidate {
	c := &candidate{o: o, pod: pod, state: framework.NewCycleState()}
	if pod.DeletionTimestamp != nil {
		c.refused = Verdict{"Scheduler", "the pod is being deleted, so it is skipped"}
		return c
	}
	for _, plugin := range o.framework.PreEnqueuePlugins() {
		if status := plugin.PreEnqueue(ctx, pod); !status.IsSuccess() {
			c.refused = Verdict{plugin.Name(), status.Message()}
			return c
		}
	}
	result, status, narrowing := o.framework.RunPreFilterPlugins(ctx, c.state, pod)
	c.nodes = result
	for name := range narrowing {
		c.narrowed = max(c.narrowed, name)
	}
	if !status.IsSuccess() {
		c.refused = Verdict{max(status.Plugin(), c.narrowed), status.Message()}
	}
	return c
}

// on says why the pod may not go on a node.
func (c *candidate) on(ctx context.Context, node fwk.NodeInfo) Verdict {
	if c.refused.Plugin != "" {
		return c.refused
	}
	if !c.nodes.AllNodes() && !c.nodes.NodeNames.Has(node.Node().Name) {
		return Verdict{c.narrowed, "the node is not one of those that PreFilter left"}
	}
	if status := c.o.framework.RunFilterPlugins(ctx, c.state, c.pod, node); !status.IsSuccess() {
		return Verdict{status.Plugin(), status.Message()}
	}
	return Verdict{}
}

// bind puts a pod on a node if it fits there.
func (o *oracle) bind(ctx context.Context, pod *corev1.Pod, node fwk.NodeInfo) (Verdict, error) {
	c := o.consider(ctx, pod)
	verdict := c.on(ctx, node)
	if verdict.Plugin != "" {
		return verdict, nil
	}
	name := node.Node().Name
	if status := o.framework.RunReservePluginsReserve(ctx, c.state, pod, name); !status.IsSuccess() {
		return Verdict{status.Plugin(), status.Message()}, nil
	}
	o.reserved = append(o.reserved, reservation{pod, c.state, name})
	bound := pod.DeepCopy()
	bound.Spec.NodeName = name
	info, err := framework.NewPodInfo(bound)
	if err != nil {
		return Verdict{}, err
	}
	o.cluster.bind(info, node)
	return Verdict{}, nil
}
