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
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
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
	if err != nil {
		t.Fatal(err)
	}
	c.events = events.NewFakeRecorder(1000)
	if c.a, err = newAutoscaler(c.Client, cloud, c.events, prometheus.NewRegistry(), slog.New(slog.DiscardHandler)); err != nil {
		t.Fatal(err)
	}
	if c.a.window, err = batcher.NewWindow(time.Nanosecond, 0); err != nil {
		t.Fatal(err)
	}
	return c
}

// must ends the test if something that it needs has failed.
func (c *cluster) must(err error) {
	c.Helper()
	if err != nil {
		c.Fatal(err)
	}
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
	if len(claims) != 1 || claims[0].Status.ProviderID == "" {
		t.Fatalf("%d NodeClaims: %v", len(claims), claims)
	}
	stored := &corev1.Pod{}
	c.must(c.Get(t.Context(), client.ObjectKey{Namespace: "shop", Name: "web"}, stored))
	if len(stored.Spec.Tolerations) != 1 || stored.Spec.Tolerations[0].Key != nomination.TaintKey {
		t.Errorf("tolerations %v", stored.Spec.Tolerations)
	}
	c.pass(2)
	c.boot()
	c.pass(3)
	if n := c.nodes()[0]; len(n.Spec.Taints) != 1 || n.Spec.Taints[0].Key != nomination.TaintKey {
		t.Errorf("a node that is ready, and whose pod is not there, has taints %v", n.Spec.Taints)
	}
	c.schedule()
	c.pass(4)
	if n := c.nodes()[0]; len(n.Spec.Taints) != 0 || n.Labels[v1.NodeInitializedLabelKey] != "true" {
		t.Errorf("a node whose pod is there has taints %v, labels %v", n.Spec.Taints, n.Labels)
	}
	if got := c.claims(); len(got) != 1 || !meta.IsStatusConditionTrue(got[0].Status.Conditions, v1.ConditionTypeInitialized) {
		t.Errorf("%d NodeClaims: %v", len(got), got[0].Status.Conditions)
	}
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
	if n := len(c.claims()); n > 0 {
		t.Fatalf("%d NodeClaims before the window closed", n)
	}
	c.pass(1)
	if n := len(c.claims()); n != 1 || len(asked) != 3 {
		t.Fatalf("%d NodeClaims of %d", n, len(asked))
	}
	c.pass(4)
	if n := len(c.claims()); n != 3 || len(asked) != 3 {
		t.Errorf("%d NodeClaims, %d names asked for: %v", n, len(asked), asked)
	}
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
	c.pass(3)
	c.boot()
	c.pass(2)
	c.schedule()
	c.pass(3)
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
	if n := len(c.claims()); n != 2 || refused != 2 {
		t.Errorf("%d NodeClaims after %d refusals", n, refused)
	}
}

// A new leader finds the whole state in the cluster.
func TestRestartPlansNothingTwice(t *testing.T) {
	c := newCluster(t, general(), pod("web", "1"), pod("db", "3"))
	c.pass(2)
	before := c.claims()
	if len(before) == 0 {
		t.Fatal("nothing was planned")
	}
	c.restart()
	c.pass(5)
	if after := c.claims(); len(after) != len(before) {
		t.Errorf("%d NodeClaims, %d before the restart", len(after), len(before))
	}
	if len(c.nodes()) != len(before) {
		t.Errorf("%d machines for %d NodeClaims", len(c.nodes()), len(before))
	}
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
		if values[name] != want {
			t.Errorf("%s is %v, not %v", name, values[name], want)
		}
	}
	if values["karpenter_nodepools_cost_total"] <= 0 || values["karpenter_nodes_allocatable"] <= 0 || values["karpenter_cloudprovider_instance_type_offering_available"] <= 0 {
		t.Errorf("figures: %v", values)
	}
}

// A node that goes has pods which may not be evicted yet. Who takes over finds that
// another node is promised to them.
func TestRestartInADrainPlansNothingTwice(t *testing.T) {
	budget := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "all"}}
	budget.Spec.Selector = &metav1.LabelSelector{}
	c := newCluster(t, general(), pod("web", "1"), budget)
	c.pass(5)
	c.boot()
	c.pass(2)
	c.schedule()
	c.pass(3)
	claim := c.claims()[0]
	c.must(c.Delete(t.Context(), &claim))
	for range 3 {
		c.pass(4)
		if claims := c.claims(); len(claims) != 2 {
			t.Fatalf("%d NodeClaims, after one was deleted: %v", len(claims), claims)
		}
		c.restart()
		s, err := c.a.snapshot(t.Context(), time.Now())
		c.must(err)
		if len(s.Promises.Moving) != 1 {
			t.Errorf("nobody keeps a node for the pod: %+v", s.Promises.Nodes)
		}
		if again := s.Waiting(); len(again) > 0 {
			t.Errorf("pod %s is to be planned for again", again[0].Name)
		}
	}
	if len(c.nodes()) != 2 {
		t.Errorf("%d machines", len(c.nodes()))
	}
}

// A pod that may not be changed goes where kube-scheduler likes, and nobody waits for it;
// but not at the first refusal, which may be that of an API server that has just started.
func TestPodsThatMayNotBeChanged(t *testing.T) {
	c := newCluster(t, general(), pod("web", "1"))
	c.forbid = true
	c.pass(4)
	if len(c.a.last.Promises.Pods) != 1 || len(c.events.Events) != 1 { // that of its nomination
		t.Errorf("nobody tries again: %+v", c.a.last.Promises.Pods)
	}
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
		if p.Toleration != nil {
			t.Errorf("%s is still to be changed", p.Pod.Name)
		}
	}
	if told := c.told("NotReserved"); len(told) != 1 {
		t.Errorf("events: %q", told)
	}
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
	if n := c.nodes()[0]; len(n.Spec.Taints) == 0 {
		t.Error("the node takes pods")
	}
	time.Sleep(5 * time.Second) // the least time of a drain
	c.pass(4)
	if claims, nodes := c.claims(), c.nodes(); len(claims)+len(nodes) > 0 {
		t.Errorf("%d NodeClaims and %d Nodes are left: %v", len(claims), len(nodes), nodes)
	}
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
	if claims := c.claims(); len(claims) != 1 || claims[0].Labels[v1.NodePoolLabelKey] != "general" {
		t.Errorf("NodeClaims: %v", claims)
	}
	for name, want := range map[string]string{"broken": v1.ConditionTypeValidationSucceeded, "foreign": v1.ConditionTypeNodeClassReady} {
		var pool v1.NodePool
		c.must(c.Get(t.Context(), client.ObjectKey{Name: name}, &pool))
		if !meta.IsStatusConditionFalse(pool.Status.Conditions, want) || !meta.IsStatusConditionFalse(pool.Status.Conditions, v1.ConditionTypeReady) {
			t.Errorf("%s: %v", name, pool.Status.Conditions)
		}
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
	if !errors.Is(err, cloudprovider.ErrDenied) || !errors.Is(err, cloudprovider.ErrThrottled) {
		t.Errorf("the error is %v", err)
	}
	if d := s.Input.Drift; d["known"].Reason != "Before" || d["other"].Reason != "Changed" {
		t.Errorf("drift: %v", d)
	}
	if s.Input.Instances == nil {
		t.Error("the machines were not listed")
	}
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
	if claims := c.claims(); len(claims) != 1 || claims[0].DeletionTimestamp != nil {
		t.Errorf("NodeClaims: %v", claims)
	}
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
	if tries != 1 {
		t.Errorf("%d NodeClaims were sent", tries)
	}
	if told := c.told("was refused", "NodePool general"); len(told) != 1 {
		t.Errorf("the pod was told %q", told)
	}
}

func TestPodsWithoutAPlaceAreToldWhy(t *testing.T) {
	c := newCluster(t, general(), pod("huge", "500"))
	c.pass(4)
	if told := c.told("FailedScheduling"); len(told) != 1 || !strings.Contains(told[0], "asks for cpu=500") {
		t.Errorf("events: %q", told)
	}
}

// A NodeClaim that nothing can be had for goes, and its pods are planned for without what
// was refused.
func TestSoldOut(t *testing.T) {
	c := newCluster(t, general(), pod("web", "1"))
	cloud, err := newKwok(c.Client, "kubernetes.io/arch = amd64, karpenter.k8s.aws/instance-category in (c, m, r)", "karpenter.sh/capacity-type = on-demand")
	c.must(err)
	c.a.cloud = cloud
	c.pass(4)
	if claims, nodes := c.claims(), c.nodes(); len(claims)+len(nodes) > 0 {
		t.Errorf("%d NodeClaims and %d Nodes", len(claims), len(nodes))
	}
	if len(c.a.stock.Marks()) == 0 || len(c.a.last.Input.UnavailableOfferings) == 0 {
		t.Error("nobody remembers what was refused")
	}
	if len(c.told("LaunchFailed")) == 0 {
		t.Error("no event tells of it")
	}
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
	if len(nodes) != 1 || nodes[0].Labels[v1.NodeRegisteredLabelKey] != "true" || !slices.Contains(nodes[0].Spec.Taints, dedicated) {
		t.Fatalf("Nodes: %+v", nodes)
	}
	if told := c.told("Warning UnregisteredTaintMissing"); len(told) != 1 {
		t.Errorf("the NodeClaim was told %q", told)
	}
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
		c.pass(5) // launched, and registered
		c.boot()
		c.pass(3)
		c.schedule()
		c.pass(4) // initialized
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
	if found := next(); len(found) != 1 {
		t.Fatalf("pods on Nodes that would be removed next: %q", found)
	}
	c.must(c.Get(t.Context(), client.ObjectKeyFromObject(pool), pool))
	pool.Spec.Disruption.Budgets = []v1.Budget{{Nodes: "0"}}
	c.must(c.Update(t.Context(), pool))
	if found := next(); len(found) != 0 {
		t.Fatalf("pods on Nodes that would be removed next, with a budget of none: %q", found)
	}
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
	if len(first) != 1 || first[0].Status.ProviderID != "" {
		t.Fatalf("%d NodeClaims, launched as %q", len(first), first[0].Status.ProviderID)
	}
	c.must(c.Delete(t.Context(), &first[0]))
	reconcile(6)
	for deadline := time.Now().Add(time.Minute); cloud.asked.Load() < 2 && time.Now().Before(deadline); time.Sleep(time.Millisecond) {
	}
	if n := cloud.asked.Load(); n != 2 {
		t.Errorf("the cloud was asked %d times: once for each of two NodeClaims", n)
	}
	if len(c.claims()) != 2 {
		t.Errorf("%d NodeClaims: the deleted one stays while it may become a machine", len(c.claims()))
	}
	close(cloud.let)
	c.a.beside.wait.Wait()
	time.Sleep(5 * time.Second) // the least time of a drain
	c.pass(6)
	machines, err := cloud.List(t.Context())
	c.must(err)
	if claims := c.claims(); len(claims) != 1 || len(machines) != 1 || claims[0].Name == first[0].Name || claims[0].Status.ProviderID != machines[0].ID {
		t.Errorf("%d NodeClaims and %d machines are left", len(claims), len(machines))
	}
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
	if n := len(counts); n < 4 || counts[n-1] != 60 {
		t.Errorf("pods with their toleration, pass by pass: %v", counts)
	}
}
