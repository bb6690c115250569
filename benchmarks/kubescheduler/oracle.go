package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/dynamic-resource-allocation/resourceclaim"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/latest"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/dynamicresources"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodevolumelimits"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	"k8s.io/kubernetes/pkg/scheduler/metrics"
	"k8s.io/kubernetes/pkg/scheduler/util/assumecache"
)

// oracle runs kube-scheduler's default plugins on a snapshot of a cluster.
type oracle struct {
	framework framework.Framework
	objects   *objects
	cluster   *cluster
	claims    fwk.ResourceClaimTracker
	reserved  []reservation
	next      int // index of the node at which the next search for nodes begins
}

// reservation is the state that plugins keep for a pod that was bound.
type reservation struct {
	pod   *corev1.Pod
	state fwk.CycleState
	node  string
}

// gates are feature gates that are off by default and that this program turns on. A pod that uses
// such a feature exists only where the API server has the gate on, and then kube-scheduler has it
// on too.
var gates = []string{"TaintTolerationComparisonOperators"}

// newOracle builds the framework as kube-scheduler does for its default profile.
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
	// DefaultPreemption is removed: nothing is preempted, and from 1.38 on that plugin needs more
	// of the scheduler than its framework.
	multi := &defaults.Profiles[0].Plugins.MultiPoint
	multi.Enabled = slices.DeleteFunc(multi.Enabled, func(p config.Plugin) bool { return p.Name == names.DefaultPreemption })
	client := fake.NewSimpleClientset()
	o := &oracle{objects: newObjects(client), cluster: newCluster()}
	slices, err := trackSlices(ctx, o.objects)
	if err != nil {
		return nil, err
	}
	claimCache := assumecache.NewAssumeCache(klog.FromContext(ctx), o.objects.Resource().V1().ResourceClaims().Informer(), "ResourceClaim", "", nil)
	manager := dynamicresources.NewDRAManager(ctx, claimCache, slices, o.objects)
	o.claims = manager.ResourceClaims()
	o.framework, err = frameworkruntime.NewFramework(ctx, plugins.NewInTreeRegistry(), &defaults.Profiles[0],
		frameworkruntime.WithComponentConfigVersion(defaults.APIVersion),
		frameworkruntime.WithClientSet(client),
		frameworkruntime.WithInformerFactory(o.objects),
		frameworkruntime.WithSnapshotSharedLister(o.cluster),
		frameworkruntime.WithSharedDRAManager(manager),
		frameworkruntime.WithSharedCSIManager(nodevolumelimits.NewCSIManager(o.objects.Storage().V1().CSINodes().Lister())),
		frameworkruntime.WithParallelism(1),
		frameworkruntime.WithWaitingPods(frameworkruntime.NewWaitingPodsMap()),
		frameworkruntime.WithPodsInPreBind(frameworkruntime.NewPodsInPreBindMap()),
	)
	return o, err
}

// answer answers all parts of a question.
func (o *oracle) answer(ctx context.Context, q *Question) (*Answer, error) {
	if q.State != nil {
		if err := o.load(ctx, q.State); err != nil {
			return nil, err
		}
	}
	if err := o.join(q.Join); err != nil {
		return nil, err
	}
	a := &Answer{Ask: make([]Verdict, len(q.Ask)), Bind: make([]Verdict, len(q.Bind)), Schedule: make([]int, len(q.Schedule))}
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
	for i, choice := range q.Schedule {
		err := q.has(choice.Pod)
		if err == nil {
			a.Schedule[i], err = o.schedule(ctx, q.Pods[choice.Pod], choice)
		}
		if err != nil {
			return nil, fmt.Errorf("schedule[%d]: %w", i, err)
		}
	}
	return a, nil
}

// has returns an error if the question has no pod of that index.
func (q *Question) has(pod int) error {
	if pod < 0 || pod >= len(q.Pods) || q.Pods[pod] == nil {
		return fmt.Errorf("there is no pod %d", pod)
	}
	return nil
}

func (o *oracle) pair(q *Question, pair [2]int) (fwk.NodeInfo, error) {
	if pair[1] < 0 || pair[1] >= len(o.cluster.nodes) {
		return nil, fmt.Errorf("there is no node %d", pair[1])
	}
	return o.cluster.nodes[pair[1]], q.has(pair[0])
}

// load replaces the state of the cluster.
func (o *oracle) load(ctx context.Context, s *State) error {
	for _, r := range o.reserved {
		o.framework.RunReservePluginsUnreserve(ctx, r.state, r.pod, r.node)
	}
	o.reserved, o.next = nil, 0
	return errors.Join(
		o.cluster.reset(s.Nodes),
		load(o.objects, objectsOf(s.Nodes)),
		load(o.objects, s.namespaces()),
		load(o.objects, s.PersistentVolumeClaims),
		load(o.objects, s.PersistentVolumes),
		load(o.objects, s.StorageClasses),
		load(o.objects, s.CSINodes),
		load(o.objects, s.CSIDrivers),
		load(o.objects, s.CSIStorageCapacities),
		load(o.objects, s.VolumeAttachments),
		load(o.objects, s.ResourceClaims),
		loadSlices(o.objects, s.ResourceSlices),
		load(o.objects, s.DeviceClasses),
		load(o.objects, s.ReplicaSets),
		load(o.objects, s.StatefulSets),
		load(o.objects, s.Services),
	)
}

// join adds nodes to the state.
func (o *oracle) join(nodes []Node) error {
	return errors.Join(o.cluster.join(nodes), add(o.objects, objectsOf(nodes)))
}

func objectsOf(nodes []Node) []*corev1.Node {
	all := make([]*corev1.Node, len(nodes))
	for i := range nodes {
		all[i] = nodes[i].Node
	}
	return all
}

// namespaces returns copies of the namespaces of the state, with the label
// kubernetes.io/metadata.name that every namespace has.
func (s *State) namespaces() []*corev1.Namespace {
	var all []*corev1.Namespace
	for _, namespace := range s.Namespaces {
		namespace = namespace.DeepCopy()
		metav1.SetMetaDataLabel(&namespace.ObjectMeta, corev1.LabelMetadataName, namespace.Name)
		all = append(all, namespace)
	}
	return all
}

// candidate is a pod for which PreFilter has run, which reads the whole cluster. It can be checked
// against any number of nodes until the cluster changes.
type candidate struct {
	o        *oracle
	pod      *corev1.Pod
	state    fwk.CycleState
	nodes    *fwk.PreFilterResult
	narrowed string // the plugin whose PreFilter left only some nodes
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

// on says why the pod may not run on a node. The verdict is empty if it may.
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

// bind binds a pod to a node if it fits there. The verdict is empty if it was bound.
func (o *oracle) bind(ctx context.Context, pod *corev1.Pod, node fwk.NodeInfo) (Verdict, error) {
	c := o.consider(ctx, pod)
	if verdict := c.on(ctx, node); verdict.Plugin != "" {
		return verdict, nil
	}
	return c.bind(ctx, node)
}

// bind binds the pod to a node on which it fits. The verdict is that of the Reserve plugins.
func (c *candidate) bind(ctx context.Context, node fwk.NodeInfo) (Verdict, error) {
	name := node.Node().Name
	if status := c.o.framework.RunReservePluginsReserve(ctx, c.state, c.pod, name); !status.IsSuccess() {
		return Verdict{status.Plugin(), status.Message()}, nil
	}
	c.o.reserved = append(c.o.reserved, reservation{c.pod, c.state, name})
	if err := c.o.allocate(c.pod); err != nil {
		return Verdict{}, err
	}
	bound := c.pod.DeepCopy()
	bound.Spec.NodeName = name
	info, err := framework.NewPodInfo(bound)
	if err != nil {
		return Verdict{}, err
	}
	c.o.cluster.bind(info, node)
	return Verdict{}, nil
}

// allocate writes the allocation that Reserve chose into the status of the pod's resource claims,
// as PreBind does. Other pods may use a claim only after that.
func (o *oracle) allocate(pod *corev1.Pod) error {
	for i := range pod.Spec.ResourceClaims {
		name, _, err := resourceclaim.Name(pod, &pod.Spec.ResourceClaims[i])
		if err != nil || name == nil {
			return err
		}
		claim, err := o.claims.Get(pod.Namespace, *name)
		if err != nil {
			return err
		}
		allocation := o.claims.GetPendingAllocation(claim.UID)
		if allocation == nil {
			continue
		}
		allocated := claim.DeepCopy()
		allocated.Status.Allocation = allocation
		allocated.ResourceVersion += "0" // one more digit makes the version newer
		if err := update(o.objects, claim, allocated); err != nil {
			return err
		}
		o.claims.MaybeRemoveClaimPendingAllocation(claim.UID, true)
	}
	return nil
}
