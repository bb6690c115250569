package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/cloudprovider/batcher"
	"github.com/dovetail-sdk/dovetail/disruption/fleet"
	"github.com/dovetail-sdk/dovetail/fake/kwok"
	"github.com/dovetail-sdk/dovetail/provisioning/nomination"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// cluster is an API server in memory, and an autoscaler whose passes the test makes.
type cluster struct {
	*testing.T
	client.Client
	a      *autoscaler
	events *events.FakeRecorder
	forbid bool // changes of pods

	api    sync.Mutex // a write is done at once, which the client in memory does not promise
	writes sync.Mutex // of those that come at once
	made   int
	refuse func(client.Object) error // to create or to change an object
}

func newCluster(t *testing.T, objects ...client.Object) *cluster {
	t.Helper()
	c := &cluster{T: t}
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1.AddToScheme, awsv1.AddToScheme} {
		require.NoError(t, add(scheme))
	}
	c.Client = fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).
		WithStatusSubresource(&v1.NodePool{}, &awsv1.EC2NodeClass{}, &v1.NodeClaim{}, &corev1.Node{}, &corev1.Pod{}).
		WithInterceptorFuncs(interceptor.Funcs{Create: func(ctx context.Context, api client.WithWatch, o client.Object, options ...client.CreateOption) error {
			if err := c.refused(o); err != nil {
				return err
			}
			o.SetUID(c.uid())
			o.SetCreationTimestamp(metav1.Now())
			c.api.Lock()
			defer c.api.Unlock()
			return api.Create(ctx, o, options...)
		}, Patch: func(ctx context.Context, api client.WithWatch, o client.Object, patch client.Patch, options ...client.PatchOption) error {
			if err := c.refused(o); err != nil {
				return err
			}
			if _, ok := o.(*corev1.Pod); ok && c.forbid {
				return apierrors.NewForbidden(apischema.GroupResource{Resource: "pods"}, o.GetName(), errors.New("no rights"))
			}
			c.api.Lock()
			defer c.api.Unlock()
			return api.Patch(ctx, o, patch, options...)
		}, Delete: func(ctx context.Context, api client.WithWatch, o client.Object, options ...client.DeleteOption) error {
			c.api.Lock()
			defer c.api.Unlock()
			return api.Delete(ctx, o, options...)
		}}).Build()
	cloud, err := newKwok(c.Client, "kubernetes.io/arch = amd64, karpenter.k8s.aws/instance-category in (c, m, r)", "")
	require.NoError(t, err)
	c.events = events.NewFakeRecorder(1000)
	c.a, err = newAutoscaler(c.Client, cloud, c.events, prometheus.NewRegistry(), slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	c.a.window, err = batcher.NewWindow(time.Nanosecond, 0)
	require.NoError(t, err)
	return c
}

// must ends the test if something that it needs has failed.
func (c *cluster) must(err error) {
	c.Helper()
	require.NoError(c, err)
}

// told returns the events so far that mention all of the texts. There can be no event after it.
func (c *cluster) told(texts ...string) (found []string) {
	close(c.events.Events)
	for e := range c.events.Events {
		if !slices.ContainsFunc(texts, func(text string) bool { return !strings.Contains(e, text) }) {
			found = append(found, e)
		}
	}
	return found
}

func (c *cluster) refused(o client.Object) error {
	c.writes.Lock()
	defer c.writes.Unlock()
	if c.refuse == nil {
		return nil
	}
	return c.refuse(o)
}

func (c *cluster) uid() types.UID {
	c.writes.Lock()
	defer c.writes.Unlock()
	c.made++
	return types.UID(fmt.Sprintf("uid-%d", c.made))
}

// pass makes passes, each once the cloud has answered the one before.
func (c *cluster) pass(n int) {
	c.Helper()
	for range n {
		c.a.lastPass.Store(0)
		_, err := c.a.Reconcile(c.Context(), ctrl.Request{})
		c.must(err)
		c.a.beside.wait.Wait()
	}
}

// restart forgets all that is not in the cluster.
func (c *cluster) restart() {
	c.Helper()
	again, err := newAutoscaler(c.Client, c.a.cloud, c.events, prometheus.NewRegistry(), c.a.log)
	c.must(err)
	again.window = c.a.window
	c.a = again
}

// settle has nodes for the pods launched, makes them ready, binds the pods and has the
// nodes initialized.
func (c *cluster) settle() {
	c.Helper()
	c.pass(5)
	c.boot()
	c.pass(3)
	c.schedule()
	c.pass(4)
}

func (c *cluster) claims() []v1.NodeClaim {
	c.Helper()
	var l v1.NodeClaimList
	c.must(c.List(c.Context(), &l))
	return l.Items
}

func (c *cluster) nodes() []corev1.Node {
	c.Helper()
	var l corev1.NodeList
	c.must(c.List(c.Context(), &l))
	return l.Items
}

// boot makes all Nodes ready.
func (c *cluster) boot() {
	c.Helper()
	for _, n := range c.nodes() {
		n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.Now()}}
		c.must(c.Status().Update(c.Context(), &n))
	}
}

// schedule binds pods to the Nodes whose taints they tolerate, one pod to each.
func (c *cluster) schedule() {
	c.Helper()
	var pods corev1.PodList
	c.must(c.List(c.Context(), &pods))
	for _, p := range pods.Items {
		for _, n := range c.nodes() {
			ok := p.Spec.NodeName == ""
			for _, taint := range n.Spec.Taints {
				tolerated := taint.Effect == corev1.TaintEffectPreferNoSchedule
				for _, t := range p.Spec.Tolerations {
					tolerated = tolerated || t.Key == taint.Key && t.Value == taint.Value
				}
				ok = ok && tolerated
			}
			if ok {
				p.Spec.NodeName = n.Name
				c.must(c.Update(c.Context(), &p))
			}
		}
	}
}

func general() *v1.NodePool {
	p := &v1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "general", UID: "general"}}
	p.Spec.Template.Spec.NodeClassRef = &v1.NodeClassReference{Group: kwok.NodeClassGroup, Kind: kwok.NodeClassKind, Name: "default"}
	p.Spec.Template.Spec.Requirements = requirements.MustParse("karpenter.sh/capacity-type = on-demand").NodeSelectorRequirements()
	return p
}

func pod(name, cpu string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, UID: types.UID(name)},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)}}}}}}
}

func TestPodsGetTheNodeThatWasPlanned(t *testing.T) {
	c := newCluster(t, general(), pod("web", "1"))
	c.pass(3) // one to see the pod, one to plan, one to launch
	claims := c.claims()
	require.Len(t, claims, 1)
	require.NotEmpty(t, claims[0].Status.ProviderID)
	stored := &corev1.Pod{}
	c.must(c.Get(t.Context(), client.ObjectKey{Namespace: "shop", Name: "web"}, stored))
	require.Len(t, stored.Spec.Tolerations, 1)
	require.Equal(t, nomination.TaintKey, stored.Spec.Tolerations[0].Key)
	c.pass(2)
	c.boot()
	c.pass(3)
	n := c.nodes()[0]
	require.Len(t, n.Spec.Taints, 1, "the node is ready, and the pod is not there")
	require.Equal(t, nomination.TaintKey, n.Spec.Taints[0].Key)
	c.schedule()
	c.pass(4)
	n = c.nodes()[0]
	require.Empty(t, n.Spec.Taints, "the pod is there")
	require.Equal(t, "true", n.Labels[v1.NodeInitializedLabelKey])
	claims = c.claims()
	require.Len(t, claims, 1)
	require.True(t, meta.IsStatusConditionTrue(claims[0].Status.Conditions, v1.ConditionTypeInitialized), claims[0].Status.Conditions)
}

// Of three NodeClaims the API server takes one: the others of the same plan follow, and
// no other plan is made for their pods.
func TestWhatIsRefusedOfAPlanFollows(t *testing.T) {
	c := newCluster(t, general(), pod("a", "150"), pod("b", "150"), pod("c", "150"))
	asked := map[string]int{}
	c.refuse = func(o client.Object) error {
		if _, ok := o.(*v1.NodeClaim); !ok {
			return nil
		}
		if asked[o.GetName()]++; len(asked) > 1 && asked[o.GetName()] < 3 && o.GetUID() == "" {
			return apierrors.NewServiceUnavailable("away for a moment")
		}
		return nil
	}
	c.pass(1)
	require.Empty(t, c.claims(), "the window has not closed")
	c.pass(1)
	require.Len(t, c.claims(), 1)
	require.Len(t, asked, 3)
	c.pass(4)
	require.Len(t, c.claims(), 3)
	require.Len(t, asked, 3)
}

// beginning is whether a command has begun, as an event tells.
type beginning struct {
	events.EventRecorder
	atomic.Bool
}

func (b *beginning) Eventf(about, related runtime.Object, kind, reason, action, note string, args ...any) {
	b.CompareAndSwap(false, reason == "DisruptDrifted")
	b.EventRecorder.Eventf(about, related, kind, reason, action, note, args...)
}

// The first writes of a command are refused: it begins with the next pass. It is for a
// node that drifted, which waits for no second look.
func TestACommandWhoseStartIsRefusedBeginsLater(t *testing.T) {
	c := newCluster(t, general(), pod("web", "1"))
	c.a.confirmAfter = time.Hour
	c.settle()
	before := c.claims()[0].Name
	pool := &v1.NodePool{}
	c.must(c.Get(t.Context(), client.ObjectKey{Name: "general"}, pool))
	pool.Spec.Template.Labels = map[string]string{"team": "b"}
	c.must(c.Update(t.Context(), pool))
	begun := &beginning{EventRecorder: c.a.events}
	c.a.events = begun
	refused := 0
	c.refuse = func(o client.Object) error {
		if claim, ok := o.(*v1.NodeClaim); ok && begun.Load() && claim.Name == before && refused < 2 {
			refused++
			return apierrors.NewConflict(apischema.GroupResource{Resource: "nodeclaims"}, o.GetName(), errors.New("written meanwhile"))
		}
		return nil
	}
	c.a.changes.Add(1)
	for range 100 {
		c.a.nextLook = time.Time{}
		c.pass(1)
		if len(c.claims()) == 2 {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	require.Len(t, c.claims(), 2)
	require.Equal(t, 2, refused)
}

// A new leader finds the whole state in the cluster.
func TestRestartPlansNothingTwice(t *testing.T) {
	c := newCluster(t, general(), pod("web", "1"), pod("db", "3"))
	c.pass(2)
	before := c.claims()
	require.NotEmpty(t, before)
	c.restart()
	c.pass(5)
	require.Len(t, c.claims(), len(before))
	require.Len(t, c.nodes(), len(before))
}

func TestFiguresAreKarpenters(t *testing.T) {
	c := newCluster(t, general(), pod("web", "1"), pod("huge", "500"))
	registry := prometheus.NewRegistry()
	figures, err := newCollectors(registry)
	c.must(err)
	c.a.figures = figures
	c.pass(5)
	c.boot()
	c.pass(2)
	c.schedule()
	c.a.nextLook = time.Time{}
	c.pass(1)
	families, err := registry.Gather()
	c.must(err)
	values := map[string]float64{}
	for _, f := range families {
		for _, m := range f.Metric {
			values[f.GetName()] += m.GetCounter().GetValue() + m.GetGauge().GetValue() + float64(m.GetHistogram().GetSampleCount())
		}
	}
	for name, want := range map[string]float64{"karpenter_nodeclaims_created_total": 1, "karpenter_nodes_created_total": 1, "karpenter_pods_state": 2,
		"karpenter_scheduler_unschedulable_pods_count": 1, "karpenter_cluster_state_node_count": 1, "karpenter_scheduler_scheduling_duration_seconds": 1} {
		require.Equal(t, want, values[name], name)
	}
	for _, name := range []string{"karpenter_nodepools_cost_total", "karpenter_nodes_allocatable", "karpenter_cloudprovider_instance_type_offering_available"} {
		require.Positive(t, values[name], name)
	}
}

// A node that goes has pods which may not be evicted yet. Who takes over finds that
// another node is promised to them.
func TestRestartInADrainPlansNothingTwice(t *testing.T) {
	budget := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "all"}}
	budget.Spec.Selector = &metav1.LabelSelector{}
	c := newCluster(t, general(), pod("web", "1"), budget)
	c.settle()
	claim := c.claims()[0]
	c.must(c.Delete(t.Context(), &claim))
	for range 3 {
		c.pass(4)
		require.Len(t, c.claims(), 2, "one was deleted")
		c.restart()
		s, err := c.a.snapshot(t.Context(), time.Now())
		c.must(err)
		require.Len(t, s.Promises.Moving, 1, "nobody keeps a node for the pod: %+v", s.Promises.Nodes)
		require.Empty(t, s.Waiting(), "the pod is to be planned for again")
	}
	require.Len(t, c.nodes(), 2)
}

// A pod that may not be changed goes where kube-scheduler likes, and nobody waits for it;
// but not at the first refusal, which may be that of an API server that has just started.
func TestPodsThatMayNotBeChanged(t *testing.T) {
	c := newCluster(t, general(), pod("web", "1"))
	c.forbid = true
	c.pass(4)
	require.Len(t, c.a.last.Promises.Pods, 1, "nobody tries again")
	require.Len(t, c.events.Events, 1) // that of its nomination
	c.forbid = false
	c.pass(2)
	c.forbid = true
	later := pod("db", "1")
	c.must(c.Create(t.Context(), later))
	c.pass(2)
	_, err := c.a.snapshot(t.Context(), time.Now().Add(-fleet.RefusedFor))
	c.must(err)
	c.a.last.Refuse(later)
	c.pass(2)
	for _, p := range c.a.last.Promises.Pods {
		require.Nil(t, p.Toleration, "%s is still to be changed", p.Pod.Name)
	}
	require.Len(t, c.told("NotReserved"), 1)
}

func TestDeletedNodeClaimsLeaveNothing(t *testing.T) {
	c := newCluster(t, general(), pod("web", "1"))
	c.pass(5)
	c.boot()
	c.pass(3)
	var p corev1.Pod
	c.must(c.Get(t.Context(), client.ObjectKey{Namespace: "shop", Name: "web"}, &p))
	c.must(c.Delete(t.Context(), &p))
	claim := c.claims()[0]
	c.must(c.Delete(t.Context(), &claim))
	c.pass(1)
	require.NotEmpty(t, c.nodes()[0].Spec.Taints, "the node takes pods")
	time.Sleep(5 * time.Second) // the least time of a drain
	c.pass(4)
	require.Empty(t, c.claims())
	require.Empty(t, c.nodes())
}

// A pool that cannot be read says so, and the others work.
func TestPoolsWithFaultsKeepNoOtherFromWork(t *testing.T) {
	broken := general()
	broken.Name, broken.UID = "broken", "broken"
	broken.Spec.Template.Spec.Requirements[0].Operator = "Near"
	foreign := general()
	foreign.Name, foreign.UID, foreign.Spec.Template.Spec.NodeClassRef.Kind = "foreign", "foreign", "EC2NodeClass"
	c := newCluster(t, general(), broken, foreign, pod("web", "1"))
	c.pass(4)
	claims := c.claims()
	require.Len(t, claims, 1)
	require.Equal(t, "general", claims[0].Labels[v1.NodePoolLabelKey])
	for name, want := range map[string]string{"broken": v1.ConditionTypeValidationSucceeded, "foreign": v1.ConditionTypeNodeClassReady} {
		var pool v1.NodePool
		c.must(c.Get(t.Context(), client.ObjectKey{Name: name}, &pool))
		require.True(t, meta.IsStatusConditionFalse(pool.Status.Conditions, want), "%s: %v", name, pool.Status.Conditions)
		require.True(t, meta.IsStatusConditionFalse(pool.Status.Conditions, v1.ConditionTypeReady), "%s: %v", name, pool.Status.Conditions)
	}
}

// troubled is a cloud that has no queue of notices, and cannot say whether a machine has
// drifted that was asked about before.
type troubled struct {
	cloudprovider.CloudProvider
	known string
}

func (troubled) Interruptions(context.Context) ([]cloudprovider.Interruption, error) {
	return nil, cloudprovider.ErrDenied
}

func (t troubled) IsDrifted(_ context.Context, claim *v1.NodeClaim) (cloudprovider.Drift, error) {
	if claim.Name == t.known {
		return cloudprovider.Drift{}, cloudprovider.ErrThrottled
	}
	return cloudprovider.Drift{Reason: "Changed"}, nil
}

func TestWhatTheCloudDoesNotSayKeepsNothingElseFromBeingAsked(t *testing.T) {
	claim := func(name string) *v1.NodeClaim {
		c := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: name}}
		c.Status.ProviderID = "kwok://" + name
		return c
	}
	c := newCluster(t)
	c.a.cloud = troubled{c.a.cloud, "known"}
	c.a.drift = map[string]cloudprovider.Drift{"known": {Reason: "Before"}}
	s := &snapshot{Fleet: &fleet.Fleet{Now: time.Now()}}
	s.NodeClaims = []*v1.NodeClaim{claim("known"), claim("other")}
	err := c.a.look(t.Context(), s)
	require.ErrorIs(t, err, cloudprovider.ErrDenied)
	require.ErrorIs(t, err, cloudprovider.ErrThrottled)
	require.Equal(t, "Before", s.Input.Drift["known"].Reason)
	require.Equal(t, "Changed", s.Input.Drift["other"].Reason)
	require.NotNil(t, s.Input.Instances, "the machines were not listed")
}

// mute is a cloud that does not say for now what it sells.
type mute struct{ cloudprovider.CloudProvider }

func (mute) InstanceTypes(context.Context, *v1.NodePool) ([]*cloudprovider.InstanceType, error) {
	return nil, cloudprovider.ErrThrottled
}

func TestACatalogThatCannotBeReadCostsNoNodeClaim(t *testing.T) {
	claim := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "coming", UID: "coming", Labels: map[string]string{v1.NodePoolLabelKey: "general"},
		Finalizers: []string{v1.TerminationFinalizer}}}
	claim.Spec.NodeClassRef = general().Spec.Template.Spec.NodeClassRef
	c := newCluster(t, general(), claim)
	c.a.cloud = mute{c.a.cloud}
	c.pass(1)
	claims := c.claims()
	require.Len(t, claims, 1)
	require.Nil(t, claims[0].DeletionTimestamp)
}

// A webhook that refuses a NodeClaim is told to the pods, and no plan is made for them at
// once again.
func TestRefusedNodeClaims(t *testing.T) {
	c := newCluster(t, general(), pod("web", "1"))
	tries := 0
	c.refuse = func(o client.Object) error {
		if _, ok := o.(*v1.NodeClaim); ok {
			tries++
			return apierrors.NewInvalid(apischema.GroupKind{Kind: "NodeClaim"}, o.GetName(), nil)
		}
		return nil
	}
	c.pass(6)
	require.Equal(t, 1, tries)
	require.Len(t, c.told("was refused", "NodePool general"), 1)
}

func TestPodsWithoutAPlaceAreToldWhy(t *testing.T) {
	c := newCluster(t, general(), pod("huge", "500"))
	c.pass(4)
	told := c.told("FailedScheduling")
	require.Len(t, told, 1)
	require.Contains(t, told[0], "asks for cpu=500")
}

// A NodeClaim that nothing can be had for goes, and its pods are planned for without what
// was refused.
func TestSoldOut(t *testing.T) {
	c := newCluster(t, general(), pod("web", "1"))
	cloud, err := newKwok(c.Client, "kubernetes.io/arch = amd64, karpenter.k8s.aws/instance-category in (c, m, r)", "karpenter.sh/capacity-type = on-demand")
	c.must(err)
	c.a.cloud = cloud
	c.pass(4)
	require.Empty(t, c.claims())
	require.Empty(t, c.nodes())
	require.NotEmpty(t, c.a.stock.Marks())
	require.NotEmpty(t, c.a.last.Input.UnavailableOfferings)
	require.NotEmpty(t, c.told("LaunchFailed"))
}

// User data may have a node join without its taints: it gets them when it registers, and an
// event tells of it.
func TestANodeWithoutItsTaintsGetsThem(t *testing.T) {
	pool := general()
	dedicated := corev1.Taint{Key: "dedicated", Value: "web", Effect: corev1.TaintEffectNoSchedule}
	pool.Spec.Template.Spec.Taints = []corev1.Taint{dedicated}
	web := pod("web", "1")
	web.Spec.Tolerations = []corev1.Toleration{{Key: dedicated.Key, Value: dedicated.Value}}
	c := newCluster(t, pool, web)
	for range 5 {
		c.pass(1)
		for _, n := range c.nodes() {
			if n.Labels[v1.NodeRegisteredLabelKey] == "" {
				n.Spec.Taints = nil
				n.Labels[v1.NodeDoNotSyncTaintsLabelKey] = "true"
				c.must(c.Update(t.Context(), &n))
			}
		}
	}
	nodes := c.nodes()
	require.Len(t, nodes, 1)
	require.Equal(t, "true", nodes[0].Labels[v1.NodeRegisteredLabelKey])
	require.Contains(t, nodes[0].Spec.Taints, dedicated)
	require.Len(t, c.told("Warning UnregisteredTaintMissing"), 1)
}

// TestPodsThatComeAndGoEmptyTheNextNode: of two Nodes one would be removed next. A ReplicaSet ends its
// pods there first, and kube-scheduler binds new ones elsewhere; once budgets let nothing go, neither.
func TestPodsThatComeAndGoEmptyTheNextNode(t *testing.T) {
	pool := general()
	var pods []client.Object
	for _, name := range []string{"web-1", "web-2"} {
		p := pod(name, "3")
		p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web", UID: "web", Controller: new(true)}}
		p.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{
			{TopologyKey: corev1.LabelHostname, LabelSelector: &metav1.LabelSelector{}}}}}
		pods = append(pods, p)
	}
	c := newCluster(t, append(pods, pool)...)
	next := func() (found []string) {
		c.settle()
		at, err := c.a.snapshot(t.Context(), time.Now())
		c.must(err)
		at.Input.Nominations = nil // the places of the pods were promised a moment ago
		c.a.nextSteer = time.Time{}
		c.must(c.a.steer(t.Context(), at))
		var l corev1.PodList
		c.must(c.List(t.Context(), &l))
		for _, n := range c.nodes() {
			if !slices.Contains(n.Spec.Taints, corev1.Taint{Key: v1.DeletionCandidateTaintKey, Effect: corev1.TaintEffectPreferNoSchedule}) {
				continue
			}
			for _, p := range l.Items {
				if p.Spec.NodeName == n.Name && p.Annotations[v1.PodDeletionCostAnnotationKey] != "" {
					found = append(found, p.Name)
				}
			}
		}
		return found
	}
	require.Len(t, next(), 1)
	c.must(c.Get(t.Context(), client.ObjectKeyFromObject(pool), pool))
	pool.Spec.Disruption.Budgets = []v1.Budget{{Nodes: "0"}}
	c.must(c.Update(t.Context(), pool))
	require.Empty(t, next(), "no budget lets a Node go")
}

// slow is a cloud that launches nothing until it is let.
type slow struct {
	cloudprovider.CloudProvider
	let   chan struct{}
	asked atomic.Int64
}

func (s *slow) Create(ctx context.Context, request cloudprovider.LaunchRequest) (*cloudprovider.Instance, error) {
	s.asked.Add(1)
	<-s.let
	return s.CloudProvider.Create(ctx, request)
}

// A slow cloud keeps nothing else waiting: passes go on, and machines of further NodeClaims are requested
// while the first request runs. A NodeClaim that is deleted during its launch leaves no machine behind.
func TestASlowCloudKeepsNothingWaiting(t *testing.T) {
	c := newCluster(t, general(), pod("web", "1"))
	cloud := &slow{CloudProvider: c.a.cloud, let: make(chan struct{})}
	c.a.cloud = cloud
	reconcile := func(n int) {
		t.Helper()
		for range n {
			c.a.lastPass.Store(0)
			_, err := c.a.Reconcile(t.Context(), ctrl.Request{})
			c.must(err)
		}
	}
	reconcile(4)
	for deadline := time.Now().Add(time.Minute); cloud.asked.Load() < 1 && time.Now().Before(deadline); time.Sleep(time.Millisecond) {
	}
	first := c.claims()
	require.Len(t, first, 1)
	require.Empty(t, first[0].Status.ProviderID)
	c.must(c.Delete(t.Context(), &first[0]))
	reconcile(6)
	for deadline := time.Now().Add(time.Minute); cloud.asked.Load() < 2 && time.Now().Before(deadline); time.Sleep(time.Millisecond) {
	}
	require.EqualValues(t, 2, cloud.asked.Load(), "once for each of two NodeClaims")
	require.Len(t, c.claims(), 2, "the deleted one stays while it may become a machine")
	close(cloud.let)
	c.a.beside.wait.Wait()
	time.Sleep(5 * time.Second) // the least time of a drain
	c.pass(6)
	machines, err := cloud.List(t.Context())
	c.must(err)
	claims := c.claims()
	require.Len(t, claims, 1)
	require.Len(t, machines, 1)
	require.NotEqual(t, first[0].Name, claims[0].Name)
	require.Equal(t, machines[0].ID, claims[0].Status.ProviderID)
}

// Pods are changed a slice at a time: while there are many, other parts have their turn.
func TestManyPodsAreChangedASliceAtATime(t *testing.T) {
	objects := []client.Object{general()}
	for i := range 60 {
		objects = append(objects, pod(fmt.Sprintf("web-%02d", i), "100m"))
	}
	c := newCluster(t, objects...)
	c.a.slice = time.Nanosecond // as many as begin at once
	tolerant := func() (n int) {
		var pods corev1.PodList
		c.must(c.List(t.Context(), &pods))
		for i := range pods.Items {
			if len(pods.Items[i].Spec.Tolerations) > 0 {
				n++
			}
		}
		return n
	}
	var counts []int
	for range 70 {
		c.pass(1)
		if n := tolerant(); n > 0 {
			counts = append(counts, n)
		}
		if len(counts) > 0 && counts[len(counts)-1] == 60 {
			break
		}
	}
	require.Greater(t, len(counts), 3)
	require.Equal(t, 60, counts[len(counts)-1])
}
