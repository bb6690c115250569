package nodeclaim_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/disruption"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/nodeclaim"
)

func TestLaunched(t *testing.T) {
	for _, tt := range []struct {
		err    error
		status metav1.ConditionStatus
		reason string
		delete disruption.Reason
	}{
		{nil, metav1.ConditionTrue, "Launched", ""},
		{&cloudprovider.Error{Kind: cloudprovider.KindInsufficientCapacity}, metav1.ConditionUnknown, "InsufficientCapacity", nodeclaim.InsufficientCapacity},
		{&cloudprovider.Error{Kind: cloudprovider.KindNotFound}, metav1.ConditionUnknown, "InsufficientCapacity", nodeclaim.InsufficientCapacity},
		{fmt.Errorf("create: %w", cloudprovider.ErrNotReady), metav1.ConditionUnknown, "NodeClassNotReady", nodeclaim.NodeClassNotReady},
		{errors.New("no route to host"), metav1.ConditionUnknown, "LaunchFailed", ""},
		{cloudprovider.ErrThrottled, metav1.ConditionUnknown, "LaunchFailed", ""},
	} {
		got := nodeclaim.Launched(tt.err)
		require.Equal(t, tt.status, got.Status, "%v", tt.err)
		require.Equal(t, tt.reason, got.Reason)
		require.Equal(t, tt.delete, got.Delete)
	}
	long := nodeclaim.Launched(errors.New(strings.Repeat("ü", 600))).Message
	require.LessOrEqual(t, len(long), 1024)
	require.Greater(t, len(long), 1020)
	require.True(t, utf8.ValidString(long))
}

func TestRegister(t *testing.T) {
	n := newNode("n", "web")
	n.Node.Labels, n.Node.Annotations = nil, nil
	n.Node.Spec.Taints = []corev1.Taint{v1.UnregisteredNoExecuteTaint(), {Key: "dedicated", Effect: corev1.TaintEffectNoSchedule}}
	n.NodeClaim.Annotations["team"] = "a"
	n.NodeClaim.Spec.Taints = []corev1.Taint{{Key: "dedicated", Value: "x", Effect: corev1.TaintEffectNoSchedule}}
	n.NodeClaim.Spec.StartupTaints = []corev1.Taint{{Key: "boot", Effect: corev1.TaintEffectNoSchedule}}
	before := n.Node.DeepCopy()
	other := newNode("other", "web").Node

	r := nodeclaim.Register(n.NodeClaim, []*corev1.Node{other, nil, n.Node})
	require.Equal(t, metav1.ConditionTrue, r.Status)
	require.False(t, r.TaintMissing)
	require.Equal(t, []string{v1.TerminationFinalizer}, r.Node.Finalizers)
	require.Equal(t, []metav1.OwnerReference{{APIVersion: "karpenter.sh/v1", Kind: "NodeClaim", Name: "n-claim", UID: "n-uid"}}, r.Node.OwnerReferences)
	require.Equal(t, "web", r.Node.Labels[v1.NodePoolLabelKey])
	require.Equal(t, "true", r.Node.Labels[v1.NodeRegisteredLabelKey])
	require.Equal(t, "a", r.Node.Annotations["team"])
	require.Equal(t, []corev1.Taint{{Key: "dedicated", Effect: corev1.TaintEffectNoSchedule}, {Key: "boot", Effect: corev1.TaintEffectNoSchedule}}, r.Node.Spec.Taints)
	require.Equal(t, before, n.Node, "the Node given is unchanged")
	again := nodeclaim.Register(n.NodeClaim, []*corev1.Node{r.Node})
	require.Equal(t, r.Node, again.Node, "a second time changes nothing")
	require.False(t, again.TaintMissing)

	n.Node.Spec.Taints = nil
	n.Node.Labels = map[string]string{v1.NodeDoNotSyncTaintsLabelKey: "true"}
	r = nodeclaim.Register(n.NodeClaim, []*corev1.Node{n.Node})
	require.True(t, r.TaintMissing)
	require.Equal(t, slices.Concat(n.NodeClaim.Spec.Taints, n.NodeClaim.Spec.StartupTaints), r.Node.Spec.Taints, "what was to give it these has not")
	reason, note := r.Event()
	require.Equal(t, nodeclaim.UnregisteredTaintMissing, reason)
	require.Contains(t, note, "Node n joined without the taint karpenter.sh/unregistered")
	n.Node.Spec.Taints = []corev1.Taint{v1.UnregisteredNoExecuteTaint()}
	r = nodeclaim.Register(n.NodeClaim, []*corev1.Node{n.Node})
	require.Empty(t, r.Node.Spec.Taints, "a startup taint may be gone already")
	reason, _ = r.Event()
	require.Empty(t, reason)

	twin := n.Node.DeepCopy()
	twin.Name = "a-twin"
	r = nodeclaim.Register(n.NodeClaim, []*corev1.Node{n.Node, twin})
	require.Equal(t, "MultipleNodesFound", r.Reason)
	require.Contains(t, r.Message, "a-twin, n")
	require.Nil(t, r.Node)
	require.Equal(t, "NodeNotFound", nodeclaim.Register(n.NodeClaim, []*corev1.Node{other}).Reason)
	require.Equal(t, "NodeNotFound", nodeclaim.Register(nil, nil).Reason)
}

func TestInitialize(t *testing.T) {
	slice := func(generation, count int64) *resourcev1.ResourceSlice {
		s := &resourcev1.ResourceSlice{}
		s.Spec.Driver, s.Spec.NodeName = "gpu.example.com", new("n")
		s.Spec.Pool = resourcev1.ResourcePool{Name: "p", Generation: generation, ResourceSliceCount: count}
		return s
	}
	taint := func(key string, effect corev1.TaintEffect) func(*v1.NodeClaim, *corev1.Node) {
		return func(_ *v1.NodeClaim, n *corev1.Node) {
			n.Spec.Taints = []corev1.Taint{{Key: key, Effect: effect}}
		}
	}
	driver := func(c *v1.NodeClaim, _ *corev1.Node) { c.Annotations[v1.DRADriversAnnotationKey] = "gpu.example.com" }
	for _, tt := range []struct {
		name   string
		edit   func(*v1.NodeClaim, *corev1.Node)
		slices []*resourcev1.ResourceSlice
		want   string
	}{
		{"ready", func(*v1.NodeClaim, *corev1.Node) {}, nil, "Initialized"},
		{"not ready", func(_ *v1.NodeClaim, n *corev1.Node) { n.Status.Conditions = nil }, nil, "NodeNotReady"},
		{"rebooting", func(c *v1.NodeClaim, _ *corev1.Node) {
			setCondition(c, v1.ConditionTypeRebooting, metav1.ConditionTrue, noon)
		}, nil, "Rebooting"},
		{"startup taint", func(c *v1.NodeClaim, n *corev1.Node) {
			c.Spec.StartupTaints = []corev1.Taint{{Key: "boot", Value: "1", Effect: corev1.TaintEffectNoExecute}}
			n.Spec.Taints = []corev1.Taint{{Key: "boot", Value: "2", Effect: corev1.TaintEffectNoExecute}}
		}, nil, "StartupTaintsExist"},
		{"not-ready taint", taint(corev1.TaintNodeNotReady, corev1.TaintEffectNoExecute), nil, "KnownEphemeralTaintsExist"},
		{"unreachable NoExecute stays", taint(corev1.TaintNodeUnreachable, corev1.TaintEffectNoExecute), nil, "Initialized"},
		{"readiness taint", taint("readiness.k8s.io/cni", corev1.TaintEffectNoSchedule), nil, "KnownEphemeralTaintsExist"},
		{"own taint", taint("dedicated", corev1.TaintEffectNoSchedule), nil, "Initialized"},
		{"resource missing", func(c *v1.NodeClaim, _ *corev1.Node) {
			c.Spec.Resources.Requests = corev1.ResourceList{"example.com/gpu": resource.MustParse("1")}
		}, nil, "ResourceNotRegistered"},
		{"resource zero is not asked for", func(c *v1.NodeClaim, _ *corev1.Node) {
			c.Spec.Resources.Requests = corev1.ResourceList{"example.com/gpu": resource.MustParse("0")}
		}, nil, "Initialized"},
		{"driver silent", driver, nil, "DRADriverPoolsNotPublished"},
		{"driver half done", driver, []*resourcev1.ResourceSlice{slice(1, 2)}, "DRADriverPoolsNotPublished"},
		{"old generation does not count", driver, []*resourcev1.ResourceSlice{slice(1, 1), slice(2, 2)}, "DRADriverPoolsNotPublished"},
		{"driver done", driver, []*resourcev1.ResourceSlice{slice(2, 2), nil, slice(1, 3), slice(2, 2)}, "Initialized"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			n := newNode("n", "web")
			tt.edit(n.NodeClaim, n.Node)
			got := nodeclaim.Initialize(n.NodeClaim, n.Node, tt.slices)
			require.Equal(t, tt.want, got.Reason)
			require.Equal(t, tt.want == "Initialized", got.Status == metav1.ConditionTrue)
		})
	}
	require.Equal(t, "NodeNotFound", nodeclaim.Initialize(nil, nil, nil).Reason)
}

func TestCheckConsistency(t *testing.T) {
	n := newNode("n", "web")
	n.NodeClaim.Spec.Resources.Requests = corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("1Gi")}
	n.NodeClaim.Status.Capacity = corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("1000"), corev1.ResourceCPU: resource.MustParse("8")}
	for memory, want := range map[string]metav1.ConditionStatus{"900": metav1.ConditionTrue, "899": metav1.ConditionFalse} {
		n.Node.Status.Capacity = corev1.ResourceList{corev1.ResourceMemory: resource.MustParse(memory)}
		got, ok := nodeclaim.CheckConsistency(n.NodeClaim, n.Node)
		require.True(t, ok)
		require.Equal(t, want, got.Status, memory)
	}
	setCondition(n.NodeClaim, v1.ConditionTypeInitialized, metav1.ConditionUnknown, noon.Add(-time.Hour))
	_, ok := nodeclaim.CheckConsistency(n.NodeClaim, n.Node)
	require.False(t, ok)
}

func ExampleOverdue() {
	claim := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: metav1.NewTime(noon)}}
	_, next, overdue := nodeclaim.Overdue(noon.Add(time.Minute), claim, nil, nil)
	fmt.Println(overdue, next.Sub(noon))
	late, _, overdue := nodeclaim.Overdue(next, claim, nil, nil)
	fmt.Println(overdue, late.Reason)
	// Output:
	// false 5m0s
	// true LaunchTimeout
}

func ExampleDeadlines() {
	claim := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: metav1.NewTime(noon)}}
	for _, d := range nodeclaim.Deadlines(claim, nil, &nodeclaim.Timeouts{Registration: time.Hour}) {
		fmt.Println(d.Condition, d.At().Sub(noon), d.Reason)
	}
	// Output:
	// Launched 5m0s LaunchTimeout
	// Registered 1h0m0s RegistrationTimeout
}

func ExampleLaunched() {
	launch := nodeclaim.Launched(&cloudprovider.Error{Op: "Create", Kind: cloudprovider.KindInsufficientCapacity, Object: "web-x7"})
	fmt.Println(launch.Type, launch.Status, launch.Delete)
	// Output: Launched Unknown InsufficientCapacity
}

func ExampleRegister() {
	n := newNode("ip-10-0-0-1", "web")
	n.Node.Spec.Taints = []corev1.Taint{v1.UnregisteredNoExecuteTaint()}
	r := nodeclaim.Register(n.NodeClaim, []*corev1.Node{n.Node})
	fmt.Println(r.Type, r.Status, len(r.Node.Spec.Taints))
	// Output: Registered True 0
}

// A machine is seen through its start by one call a look, and then left alone.
func TestJoin(t *testing.T) {
	n := newNode("n", "web")
	n.NodeClaim.Status.Conditions, n.Node.Labels = nil, nil
	n.Node.Spec.Taints = []corev1.Taint{v1.UnregisteredNoExecuteTaint()}
	once, ready := nodeclaim.Join(noon, n.NodeClaim, []*corev1.Node{n.Node}, nil)
	require.Equal(t, "true", once.Labels[v1.NodeInitializedLabelKey], "a Node that is ready needs one call")
	require.True(t, meta.IsStatusConditionTrue(ready.Status.Conditions, v1.ConditionTypeRegistered))
	require.True(t, meta.IsStatusConditionTrue(ready.Status.Conditions, v1.ConditionTypeInitialized))

	n.Node.Spec.Taints = append(n.Node.Spec.Taints, corev1.Taint{Key: corev1.TaintNodeNotReady, Effect: corev1.TaintEffectNoSchedule})
	node, claim := nodeclaim.Join(noon, n.NodeClaim, nil, nil)
	require.Nil(t, node)
	require.Equal(t, "NodeNotFound", claim.Status.Conditions[0].Reason)

	node, claim = nodeclaim.Join(noon, claim, []*corev1.Node{nil, n.Node}, nil)
	require.Equal(t, "true", node.Labels[v1.NodeRegisteredLabelKey])
	require.Equal(t, "n", claim.Status.NodeName)
	require.True(t, meta.IsStatusConditionTrue(claim.Status.Conditions, v1.ConditionTypeRegistered))
	lost, waits := nodeclaim.Join(noon, claim, nil, nil)
	require.Nil(t, lost)
	require.False(t, meta.IsStatusConditionTrue(waits.Status.Conditions, v1.ConditionTypeInitialized), "its Node is not there")

	require.False(t, meta.IsStatusConditionTrue(claim.Status.Conditions, v1.ConditionTypeInitialized), "it is not ready")
	node.Spec.Taints = nil
	node, claim = nodeclaim.Join(noon, claim, []*corev1.Node{node}, nil)
	require.Equal(t, "true", node.Labels[v1.NodeInitializedLabelKey])
	require.True(t, meta.IsStatusConditionTrue(claim.Status.Conditions, v1.ConditionTypeInitialized))

	launching, leaving := claim.DeepCopy(), claim.DeepCopy()
	launching.Status = v1.NodeClaimStatus{}
	leaving.DeletionTimestamp, leaving.Status.Conditions = &metav1.Time{Time: noon}, nil
	for _, c := range []*v1.NodeClaim{nil, claim, launching, leaving} {
		node, after := nodeclaim.Join(noon, c, []*corev1.Node{node}, nil)
		require.Nil(t, node)
		require.Same(t, c, after)
	}
}

func ExampleJoin() {
	n := newNode("ip-10-0-0-1", "web")
	n.NodeClaim.Status.Conditions, n.Node.Labels = nil, nil
	n.Node.Spec.Taints = []corev1.Taint{v1.UnregisteredNoExecuteTaint()}
	node, claim := nodeclaim.Join(noon, n.NodeClaim, []*corev1.Node{n.Node}, nil)
	fmt.Printf("%s registered=%s initialized=%s\n", claim.Status.NodeName, node.Labels[v1.NodeRegisteredLabelKey], node.Labels[v1.NodeInitializedLabelKey])
	// Output:
	// ip-10-0-0-1 registered=true initialized=true
}

func ExampleInitialize() {
	n := newNode("ip-10-0-0-1", "web")
	n.Node.Spec.Taints = []corev1.Taint{{Key: corev1.TaintNodeNotReady, Effect: corev1.TaintEffectNoSchedule}}
	s := nodeclaim.Initialize(n.NodeClaim, n.Node, nil)
	fmt.Println(s.Type, s.Status, s.Reason)
	fmt.Println(s.Message)
	// Output:
	// Initialized Unknown KnownEphemeralTaintsExist
	// the taint node.kubernetes.io/not-ready:NoSchedule is still there
}

func ExampleCheckConsistency() {
	n := newNode("ip-10-0-0-1", "web")
	n.NodeClaim.Spec.Resources.Requests = corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("4Gi")}
	n.NodeClaim.Status.Capacity = corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("16Gi")}
	n.Node.Status.Capacity = corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("14Gi")}
	s, _ := nodeclaim.CheckConsistency(n.NodeClaim, n.Node)
	fmt.Println(s.Reason+":", s.Message)
	// Output: ConsistencyCheckFailed: the Node has less than was promised: 14Gi of 16Gi memory
}

func TestOverdue(t *testing.T) {
	unlaunched := withCondition(v1.ConditionTypeLaunched, metav1.ConditionUnknown, -4*time.Minute)
	unregistered := withCondition(v1.ConditionTypeRegistered, metav1.ConditionUnknown, -20*time.Minute)
	joining := func(n *provisioning.Node) { n.Node = nil }
	uninitialized := func(n *provisioning.Node) {
		delete(n.Node.Labels, v1.NodeInitializedLabelKey)
		setCondition(n.NodeClaim, v1.ConditionTypeInitialized, metav1.ConditionUnknown, noon.Add(-time.Hour))
	}
	for _, tt := range []struct {
		name     string
		edits    []func(*provisioning.Node)
		timeouts nodeclaim.Timeouts
		want     v1.DisruptionReason // empty if none
		next     time.Duration
	}{
		{"a node that is up", nil, nodeclaim.Timeouts{}, "", 0},
		{"no machine yet", []func(*provisioning.Node){unlaunched, withCondition(v1.ConditionTypeRegistered, metav1.ConditionUnknown, -4*time.Minute), joining}, nodeclaim.Timeouts{}, "", time.Minute},
		{"no machine in time", []func(*provisioning.Node){unlaunched, unregistered, joining}, nodeclaim.Timeouts{Launch: 4 * time.Minute}, nodeclaim.LaunchTimeout, 0},
		{"not joined in time", []func(*provisioning.Node){unregistered, joining}, nodeclaim.Timeouts{}, nodeclaim.RegistrationTimeout, 0},
		{"the Node says that it joined", []func(*provisioning.Node){unregistered}, nodeclaim.Timeouts{}, "", 0},
		{"waits for ever", []func(*provisioning.Node){unlaunched, unregistered, joining}, nodeclaim.Timeouts{Launch: -1, Registration: -1}, "", 0},
		{"not ready, for ever by default", []func(*provisioning.Node){uninitialized}, nodeclaim.Timeouts{}, "", 0},
		{"not ready in time", []func(*provisioning.Node){uninitialized}, nodeclaim.Timeouts{Initialization: time.Hour}, nodeclaim.InitializationTimeout, 0},
		{"it reboots", []func(*provisioning.Node){uninitialized, withCondition(v1.ConditionTypeRebooting, metav1.ConditionTrue, 0)}, nodeclaim.Timeouts{Initialization: time.Hour}, "", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			n := newNode("n", "web", tt.edits...)
			late, next, overdue := nodeclaim.Overdue(noon, n.NodeClaim, n.Node, &tt.timeouts)
			require.Equal(t, tt.want != "", overdue)
			require.Equal(t, tt.want, late.Reason)
			if tt.next > 0 {
				require.Equal(t, noon.Add(tt.next), next)
			}
			if overdue {
				require.False(t, late.At().After(noon))
			}
		})
	}
	_, _, overdue := nodeclaim.Overdue(noon, nil, nil, nil)
	require.False(t, overdue)
	n := newNode("n", "web", unregistered, joining, withoutCondition(v1.ConditionTypeRegistered), func(n *provisioning.Node) { n.NodeClaim.CreationTimestamp = metav1.Time{} })
	_, _, overdue = nodeclaim.Overdue(noon, n.NodeClaim, nil, nil)
	require.False(t, overdue, "the time does not run for a claim of unknown age")
}

func TestTheTimeBetweenLaunchesGrowsWithWhatStandsInTheClaim(t *testing.T) {
	now := time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC)
	claim := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "a", UID: "1"}}
	require.Zero(t, nodeclaim.NextLaunch(claim))
	last := time.Duration(0)
	for range 5 {
		before := claim.DeepCopy()
		next := nodeclaim.EditRetry(now, claim, errors.New("timeout"))
		require.Equal(t, before, claim, "the claim given stays as it is")
		claim = next
		pause := nodeclaim.NextLaunch(claim).Sub(now)
		require.Greater(t, pause, last)
		last = pause
	}
	require.Less(t, last, 30*time.Second)
	for range 50 {
		claim = nodeclaim.EditRetry(now, claim, errors.New("timeout"))
	}
	require.LessOrEqual(t, nodeclaim.NextLaunch(claim).Sub(now), 36*time.Second)
}

func TestWhatIsNoBackoff(t *testing.T) {
	now := time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC)
	claim := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{UID: "1"}}
	require.Same(t, claim, nodeclaim.EditRetry(now, claim, nil))
	require.Nil(t, nodeclaim.EditRetry(now, nil, errors.New("timeout")))
	require.Zero(t, nodeclaim.NextLaunch(nil))
	denied := nodeclaim.EditRetry(now, claim, &cloudprovider.Error{Op: "Create", Kind: cloudprovider.KindDenied, Err: errors.New("no rights")})
	require.Equal(t, now.Add(time.Minute), nodeclaim.NextLaunch(denied))
	for _, text := range []string{"", "x", "3", "0 2026-03-02T10:00:00Z", "-1 2026-03-02T10:00:00Z", "1 yesterday"} {
		claim.Annotations = map[string]string{nodeclaim.RetryAnnotationKey: text}
		require.Zero(t, nodeclaim.NextLaunch(claim), text)
	}
}

// A launch fails twice, and the program that asks is started again in between.
func ExampleEditRetry() {
	now := time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC)
	throttled := &cloudprovider.Error{Op: "Create", Kind: cloudprovider.KindThrottled, Err: errors.New("slow down")}
	claim := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "general-x7k2p", UID: "5d0c"}}
	claim = nodeclaim.EditRetry(now, claim, throttled)
	fmt.Println(nodeclaim.NextLaunch(claim).Sub(now).Truncate(time.Second))
	claim = nodeclaim.EditRetry(now.Add(2*time.Second), claim, throttled)
	fmt.Println(nodeclaim.NextLaunch(claim).Sub(now).Truncate(time.Second))
	// Output:
	// 1s
	// 4s
}
