package fleet_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	policyv1 "k8s.io/api/policy/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/disruption"
	"github.com/dovetail-sdk/dovetail/disruption/command"
	"github.com/dovetail-sdk/dovetail/disruption/drain"
	"github.com/dovetail-sdk/dovetail/disruption/fleet"
	"github.com/dovetail-sdk/dovetail/fake"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/nomination"
)

var noon = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

func pod(name, node, owner string) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "shop", UID: types.UID("uid-" + name)}, Spec: corev1.PodSpec{NodeName: node}}
	if owner != "" {
		yes := true
		p.OwnerReferences = []metav1.OwnerReference{{Kind: owner, Name: "owner", UID: "owner", Controller: &yes}}
	}
	return p
}

// claim returns a NodeClaim whose Node has its name, or will have.
func claim(name string) *v1.NodeClaim {
	c := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID("uid-" + name), CreationTimestamp: metav1.NewTime(noon.Add(-time.Hour))}}
	c.Finalizers = []string{v1.TerminationFinalizer}
	c.Status.ProviderID, c.Status.NodeName = "fake://"+name, name
	return c
}

func node(name string) *corev1.Node {
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{v1.NodeRegisteredLabelKey: "true"}}, Spec: corev1.NodeSpec{ProviderID: "fake://" + name}}
	n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(noon)}}
	return n
}

func deleted(c *v1.NodeClaim) *v1.NodeClaim {
	c.DeletionTimestamp = &metav1.Time{Time: noon}
	return c
}

// kept returns a NodeClaim that is reserved for pods.
func kept(t testing.TB, name string, pods ...*corev1.Pod) *v1.NodeClaim {
	t.Helper()
	c := claim(name)
	c.UID, c.CreationTimestamp = "", metav1.NewTime(noon)
	c, err := nomination.Reserve(noon, c, pods, nil)
	require.NoError(t, err)
	c.UID = types.UID("uid-" + name)
	return c
}

func names(pods []*corev1.Pod) []string {
	out := []string{}
	for _, p := range pods {
		out = append(out, p.Name)
	}
	slices.Sort(out)
	return out
}

func read(t testing.TB, o fleet.Objects, m fleet.Memory) *fleet.Fleet {
	t.Helper()
	return readAfter(t, 0, o, m)
}

// readAfter reads so long after noon.
func readAfter(t testing.TB, d time.Duration, o fleet.Objects, m fleet.Memory) *fleet.Fleet {
	t.Helper()
	f, err := fleet.Read(noon.Add(d), o, m)
	require.NoError(t, err)
	return f
}

// on has the names of the pods on each node of the input.
func on(f *fleet.Fleet) map[string][]string {
	out := map[string][]string{}
	for _, n := range f.Input.Nodes {
		out[n.Name()] = names(n.Pods)
	}
	return out
}

// A pod with a promise is on the node of that, whether it is pending or still runs
// elsewhere, and belongs into no plan; its toleration is not in the input.
func TestPromisedPodsAreThere(t *testing.T) {
	pending, moving, stays, free := pod("pending", "", "ReplicaSet"), pod("moving", "old", "ReplicaSet"), pod("stays", "old", "ReplicaSet"), pod("free", "", "ReplicaSet")
	coming := kept(t, "coming", pending, moving)
	coming.Status.NodeName, coming.Status.ProviderID = "", ""
	pending.Spec.Tolerations = []corev1.Toleration{{Key: nomination.TaintKey, Operator: corev1.TolerationOpEqual, Value: "coming", Effect: corev1.TaintEffectNoSchedule}}
	o := fleet.Objects{NodeClaims: []*v1.NodeClaim{coming, claim("old")}, Nodes: []*corev1.Node{node("old")}, Pods: []*corev1.Pod{pending, moving, stays, free}}
	f := read(t, o, fleet.Memory{})
	require.Equal(t, map[string][]string{"coming": {"moving", "pending"}, "old": {"stays"}}, on(f))
	require.Equal(t, []string{"free"}, names(f.Input.Pods))
	require.Equal(t, []string{"free"}, names(f.Waiting()))
	for _, n := range f.Input.Nodes {
		for _, p := range n.Pods {
			require.Empty(t, p.Spec.Tolerations)
			require.Equal(t, n.Name(), p.Spec.NodeName)
		}
	}
	require.Equal(t, "old", moving.Spec.NodeName, "objects are not changed")
	require.Len(t, pending.Spec.Tolerations, 1)
	require.Equal(t, noon.Add(15*time.Minute), f.Input.Nominations["coming"])

	slices.Reverse(o.Pods)
	slices.Reverse(o.NodeClaims)
	again := read(t, o, fleet.Memory{})
	require.Equal(t, on(f), on(again))
	require.Equal(t, f.Input.Nominations, again.Input.Nominations)
}

// A pod for which kube-scheduler makes room waits for no plan, and its node stays for it. A
// hint makes no room.
func TestPodsThatPreempt(t *testing.T) {
	web, hinted, victim := pod("web", "", "ReplicaSet"), pod("hinted", "", "ReplicaSet"), pod("victim", "full", "ReplicaSet")
	web.Status.NominatedNodeName, hinted.Status.NominatedNodeName = "full", "free"
	victim.DeletionTimestamp = &metav1.Time{Time: noon}
	victim.Status.Conditions = []corev1.PodCondition{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: corev1.PodReasonPreemptionByScheduler}}
	o := fleet.Objects{NodeClaims: []*v1.NodeClaim{claim("full"), claim("free")}, Nodes: []*corev1.Node{node("full"), node("free")}, Pods: []*corev1.Pod{web, hinted, victim}}
	f := read(t, o, fleet.Memory{})
	require.Equal(t, []string{"hinted"}, names(f.Waiting()))
	require.Equal(t, map[string]time.Time{"full": noon.Add(10 * time.Second)}, f.Input.Nominations)

	o.Pods = o.Pods[:2]
	f = read(t, o, fleet.Memory{})
	require.ElementsMatch(t, []string{"web", "hinted"}, names(f.Waiting()))
	require.Empty(t, f.Input.Nominations)
}

// Gated pods and those that end are no plan's, and a binding holds in memory only.
func TestPodsOfAPlan(t *testing.T) {
	gated, ends, bound := pod("gated", "", ""), pod("ends", "", ""), pod("bound", "", "")
	gated.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "quota"}}
	ends.DeletionTimestamp = &metav1.Time{Time: noon}
	o := fleet.Objects{NodeClaims: []*v1.NodeClaim{claim("a")}, Nodes: []*corev1.Node{node("a")}, Pods: []*corev1.Pod{gated, ends, bound}}
	f := read(t, o, fleet.Memory{})
	claims, err := f.Bind([]provisioning.Binding{{Node: "a", Pods: f.Waiting()}, {Node: "gone"}})
	require.NoError(t, err)
	require.Empty(t, claims, "the node is open to all")
	f = read(t, o, f.Memory)
	require.Empty(t, f.Waiting())
	require.Equal(t, []string{"bound"}, on(f)["a"])
	require.Equal(t, []string{"bound"}, names(read(t, o, fleet.Memory{}).Waiting()))
	require.Equal(t, []string{"bound", "gated"}, names(f.Stored([]*corev1.Pod{gated.DeepCopy(), bound, pod("gone", "", "")})))
	later := readAfter(t, fleet.BoundWithin, o, f.Memory)
	require.Equal(t, []string{"bound"}, names(later.Waiting()))
}

// Room on a node that is kept, or that has not joined, is promised by its NodeClaim.
func TestBindToANodeThatIsComing(t *testing.T) {
	first, second := pod("first", "", ""), pod("second", "", "")
	coming := kept(t, "coming", first)
	coming.Status.NodeName = ""
	o := fleet.Objects{NodeClaims: []*v1.NodeClaim{coming}, Pods: []*corev1.Pod{first, second}}
	f := read(t, o, fleet.Memory{})
	claims, err := f.Bind([]provisioning.Binding{{Node: "coming", Pods: f.Waiting()}})
	require.NoError(t, err)
	require.Len(t, claims, 1)
	o.NodeClaims = claims
	f = read(t, o, f.Memory)
	require.Empty(t, f.Waiting())
	require.Equal(t, []string{"first", "second"}, on(f)["coming"])
}

// Pods that are put off are no plan's until then.
func TestPutOff(t *testing.T) {
	web, db := pod("web", "", ""), pod("db", "", "")
	o := fleet.Objects{Pods: []*corev1.Pod{web, db}}
	f := read(t, o, fleet.Memory{})
	f.PutOff(noon.Add(time.Minute), web, db)
	f.PutOff(noon, db)
	f = read(t, o, f.Memory)
	require.Equal(t, []string{"db"}, names(f.Waiting()))
	require.Equal(t, []string{"db", "web"}, names(f.Input.Pods), "others may plan with it")
	later := readAfter(t, time.Minute, o, f.Memory)
	require.Equal(t, []string{"db", "web"}, names(later.Waiting()))
}

// A pod that may not be changed is waited for until that has gone on for a while, and a
// refusal that is over does not count.
func TestRefuse(t *testing.T) {
	web := pod("web", "", "ReplicaSet")
	o := fleet.Objects{NodeClaims: []*v1.NodeClaim{kept(t, "coming", web)}, Pods: []*corev1.Pod{web}}
	first := readAfter(t, 0, o, fleet.Memory{})
	require.False(t, first.Refuse(web))
	f := readAfter(t, fleet.RefusedFor-time.Second, o, first.Memory)
	require.False(t, f.Refuse(web))
	f = readAfter(t, fleet.RefusedFor, o, f.Memory)
	require.NotNil(t, f.Promises.Pods[0].Toleration)
	require.True(t, f.Refuse(web))
	for _, later := range []time.Duration{fleet.RefusedFor, time.Minute} {
		f = readAfter(t, later, o, f.Memory)
		require.Nil(t, f.Promises.Pods[0].Toleration, "nobody tries any more")
	}

	tolerating := web.DeepCopy()
	tolerating.Spec.Tolerations = append(tolerating.Spec.Tolerations, *first.Promises.Pods[0].Toleration)
	f = readAfter(t, fleet.RefusedFor, fleet.Objects{NodeClaims: o.NodeClaims, Pods: []*corev1.Pod{tolerating}}, first.Memory)
	require.False(t, readAfter(t, fleet.RefusedFor, o, f.Memory).Refuse(web), "it counts anew")
}

// A pod that lacks nothing is told its node once.
func TestHints(t *testing.T) {
	web := pod("web", "", "ReplicaSet")
	coming := kept(t, "coming", web)
	fresh := node("coming")
	fresh.Spec.Taints = coming.Spec.StartupTaints
	o := fleet.Objects{NodeClaims: []*v1.NodeClaim{coming}, Nodes: []*corev1.Node{fresh}, Pods: []*corev1.Pod{web}}
	f := read(t, o, fleet.Memory{})
	require.Empty(t, f.Hints, "it lacks its toleration")
	web.Spec.Tolerations = append(web.Spec.Tolerations, *f.Promises.Pods[0].Toleration)
	f = read(t, o, f.Memory)
	require.Len(t, f.Hints, 1)
	require.Equal(t, "coming", f.Hints[0].Node)
	require.Empty(t, read(t, o, f.Memory).Hints)

	web.Status.NominatedNodeName = "coming"
	require.Empty(t, read(t, o, fleet.Memory{}).Hints, "another process told it")
}

// Hints come in parts: pods that are bound between two of them need none.
func TestHintsComeInParts(t *testing.T) {
	pods := make([]*corev1.Pod, 2*fleet.HintsAtOnce+1)
	for i := range pods {
		pods[i] = pod(fmt.Sprintf("web-%d", i), "", "ReplicaSet")
	}
	coming := kept(t, "coming", pods...)
	fresh := node("coming")
	fresh.Spec.Taints = coming.Spec.StartupTaints
	o := fleet.Objects{NodeClaims: []*v1.NodeClaim{coming}, Nodes: []*corev1.Node{fresh}, Pods: pods}
	f := read(t, o, fleet.Memory{})
	for _, place := range f.Promises.Pods {
		place.Pod.Spec.Tolerations = append(place.Pod.Spec.Tolerations, *place.Toleration)
	}
	told := map[types.UID]bool{}
	hear := func(n int) {
		t.Helper()
		f = read(t, o, f.Memory)
		require.Len(t, f.Hints, n)
		for _, place := range f.Hints {
			require.False(t, told[place.Pod.UID], "it was told before")
			told[place.Pod.UID] = true
		}
	}
	hear(fleet.HintsAtOnce)
	bound := 0
	for _, p := range pods {
		if !told[p.UID] && bound < fleet.HintsAtOnce {
			p.Spec.NodeName = "coming"
			bound++
		}
	}
	hear(1)
	hear(0)
}

// Pods of a node that is being deleted wait for a plan, but for those that end with it: those
// of DaemonSets, and of those that are being deleted all but StatefulSets'.
func TestPodsOfNodesThatLeave(t *testing.T) {
	ends := func(p *corev1.Pod) *corev1.Pod {
		p.DeletionTimestamp, p.OwnerReferences[0].APIVersion = &metav1.Time{Time: noon}, "apps/v1"
		return p
	}
	o := fleet.Objects{NodeClaims: []*v1.NodeClaim{deleted(claim("a")), claim("b")}, Nodes: []*corev1.Node{node("a"), node("b")},
		Pods: []*corev1.Pod{pod("web", "a", "ReplicaSet"), pod("logs", "a", "DaemonSet"), pod("other", "b", "ReplicaSet"),
			ends(pod("db", "a", "StatefulSet")), ends(pod("old", "a", "ReplicaSet"))},
		PodDisruptionBudgets: []*policyv1.PodDisruptionBudget{{ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "shop"}}}}
	f := read(t, o, fleet.Memory{})
	require.ElementsMatch(t, []string{"web", "db"}, names(f.Waiting()))
	require.Equal(t, o.PodDisruptionBudgets, f.Input.PodDisruptionBudgets)

	// For a pod that nothing may evict no node is launched.
	o.Pods[0].Annotations = map[string]string{v1.DoNotDisruptAnnotationKey: "true"}
	f = read(t, o, fleet.Memory{})
	require.Equal(t, []string{"db"}, names(f.Waiting()))
	problem, _, err := f.Prepare(nil)
	require.NoError(t, err)
	problem, err = problem.With(disruption.Displaced(f.Now, f.Input)...)
	require.NoError(t, err)
	plan, err := problem.Solve(t.Context())
	require.NoError(t, err)
	require.Len(t, plan.Unplaced, 1, "held pods are not planned for; and there is no NodePool")
}

// What is being deleted is closed and emptied; its machine ends once it is empty.
func TestLeave(t *testing.T) {
	full, empty, orphan, ended := deleted(claim("full")), deleted(claim("empty")), claim("orphan"), deleted(claim("never-joined"))
	full.Spec.TerminationGracePeriod = &metav1.Duration{Duration: time.Hour}
	full.Status.Conditions = []metav1.Condition{{Type: v1.ConditionTypeDisruptionReason, Reason: "Drifted"}}
	left, gone := node("left"), node("orphan")
	left.Labels[v1.NodePoolLabelKey] = "general"
	left.DeletionTimestamp, gone.DeletionTimestamp = &metav1.Time{Time: noon}, &metav1.Time{Time: noon}
	o := fleet.Objects{NodeClaims: []*v1.NodeClaim{full, empty, orphan, ended, claim("stays")}, Nodes: []*corev1.Node{node("full"), drain.CloseNode(node("empty")), left, gone, node("stays")},
		Pods: []*corev1.Pod{pod("web", "full", "ReplicaSet"), pod("db", "stays", "ReplicaSet")}}
	later := readAfter(t, time.Minute, o, fleet.Memory{})
	d, err := later.Leave(nil)
	require.NoError(t, err)
	require.Equal(t, []*v1.NodeClaim{orphan}, d.Delete)
	require.Equal(t, []*corev1.Node{left}, d.Left)
	require.Len(t, d.NodeClaims, 1, "the others have no deadline")
	require.Equal(t, "2026-05-01T13:00:00Z", d.NodeClaims[0].Annotations[v1.NodeClaimTerminationTimestampAnnotationKey])
	require.Equal(t, []*corev1.Node{drain.CloseNode(node("full"))}, d.Nodes, "the other is closed")
	require.Equal(t, []*v1.NodeClaim{empty, ended}, d.Empty)
	require.Len(t, d.Drain, 2)
	require.Len(t, d.Drain[1].Evict, 1)
	require.Equal(t, "Drifted", d.Drain[1].Reason)
	require.Equal(t, drain.Done, d.Drain[0].State)

	broken := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "shop"}}
	broken.Spec.Selector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "app", Operator: "Near"}}}
	o.PodDisruptionBudgets = []*policyv1.PodDisruptionBudget{broken}
	d, err = read(t, o, fleet.Memory{}).Leave(nil)
	require.ErrorContains(t, err, "shop/web")
	require.Len(t, d.Drain, 2, "and the rest is there")
}

// The name of a Node may be used again while the NodeClaim of the machine before is still there. The Node
// belongs to the claim of the new machine, whichever of the two claims comes first by name.
func TestNodeNamesThatAreUsedAgain(t *testing.T) {
	for _, old := range []string{"aaa", "zzz"} {
		before, now := deleted(claim(old)), claim("new")
		before.Status.NodeName, now.Status.NodeName = "n1", "n1"
		n1 := node("n1")
		n1.Spec.ProviderID = "fake://new"
		o := fleet.Objects{NodeClaims: []*v1.NodeClaim{before, now}, Nodes: []*corev1.Node{n1}, Pods: []*corev1.Pod{pod("web", "n1", "ReplicaSet")}}
		for _, joined := range []bool{true, false} { // status.nodeName comes last
			if !joined {
				now.Status.NodeName = ""
			}
			f := readAfter(t, time.Minute, o, fleet.Memory{})
			require.Nil(t, f.NodeOf(before))
			require.Same(t, n1, f.NodeOf(now))
			d, err := f.Leave(nil)
			require.NoError(t, err)
			require.Equal(t, fleet.Departure{Empty: []*v1.NodeClaim{before}}, d, "the Node and its pod are left alone")
			f.Input.Instances = []*cloudprovider.Instance{{ID: "fake://new", Name: "new"}}
			p, faults, err := disruption.Propose(t.Context(), f.Now, f.Input, nil)
			require.NoError(t, err)
			require.Empty(t, faults)
			require.Empty(t, p.Actions)
		}
	}
}

// A Node that has come back under another name, while the old one is still there, keeps no pod from its
// plan. To end the machine of either would end both, so neither is disrupted.
func TestTwoNodesOfOneMachine(t *testing.T) {
	a, b := node("a"), node("b")
	b.Spec.ProviderID = "fake://a"
	o := fleet.Objects{NodeClaims: []*v1.NodeClaim{claim("a")}, Nodes: []*corev1.Node{a, b},
		Pods: []*corev1.Pod{pod("web", "", "ReplicaSet"), pod("api", "a", "ReplicaSet"), pod("db", "b", "ReplicaSet")}}
	f := read(t, o, fleet.Memory{})
	problem, faults, err := f.Prepare(nil)
	require.NoError(t, err)
	require.Empty(t, faults)
	plan, err := problem.Solve(t.Context())
	require.NoError(t, err)
	require.Len(t, plan.Unplaced, 1)
	p, of, err := disruption.Propose(t.Context(), noon, f.Input, nil)
	require.NoError(t, err)
	require.Len(t, of, 1)
	require.ErrorContains(t, of[0], `Node "b": spec.providerID: is "fake://a", as for Node "a"`)
	require.Empty(t, p.Actions)
}

// A program may end after it has stored the Node that Join returns and before the NodeClaim. If then either
// is deleted, the Node is still that of the claim: it is emptied before its machine goes.
func TestLeaveBeforeTheClaimKnowsItsNode(t *testing.T) {
	half := claim("half")
	half.Status.NodeName = ""
	n := node("half")
	n.Labels[v1.NodePoolLabelKey] = "general"
	o := fleet.Objects{NodeClaims: []*v1.NodeClaim{half}, Nodes: []*corev1.Node{n}, Pods: []*corev1.Pod{pod("web", "half", "ReplicaSet")}}
	n.DeletionTimestamp = &metav1.Time{Time: noon}
	d, err := readAfter(t, time.Minute, o, fleet.Memory{}).Leave(nil)
	require.NoError(t, err)
	require.Equal(t, fleet.Departure{Delete: []*v1.NodeClaim{half}}, d)

	n.DeletionTimestamp = nil
	deleted(half)
	d, err = readAfter(t, time.Minute, o, fleet.Memory{}).Leave(nil)
	require.NoError(t, err)
	require.Empty(t, d.Empty)
	require.Equal(t, []*corev1.Node{drain.CloseNode(n)}, d.Nodes)
	require.Len(t, d.Drain, 1)
	require.Len(t, d.Drain[0].Evict, 1)
}

// A machine that the cloud has not any more has nothing to drain, unless its Node is Ready.
func TestLeaveOfLostMachines(t *testing.T) {
	lost, slow, alive := deleted(claim("lost")), deleted(claim("slow")), deleted(claim("alive"))
	unready := func(n *corev1.Node) *corev1.Node {
		n.Status.Conditions[0].Status = corev1.ConditionUnknown
		return n
	}
	held := pod("web", "lost", "ReplicaSet")
	held.Annotations = map[string]string{v1.DoNotDisruptAnnotationKey: "true"}
	o := fleet.Objects{NodeClaims: []*v1.NodeClaim{lost, slow, alive, claim("stays")}, Nodes: []*corev1.Node{unready(node("lost")), unready(node("slow")), node("alive"), unready(node("stays"))},
		Pods: []*corev1.Pod{held, pod("db", "slow", "ReplicaSet"), pod("api", "alive", "ReplicaSet")}}
	f := read(t, o, fleet.Memory{})
	require.Equal(t, []*v1.NodeClaim{lost, slow}, f.Doubtful())
	f.Lost(lost)
	f.Lost(alive)
	d, err := f.Leave(nil)
	require.NoError(t, err)
	require.Equal(t, []*v1.NodeClaim{lost}, d.Empty)
	require.Equal(t, drain.Done, d.Drain[1].State)
	require.Empty(t, d.Drain[1].Blocked)
	require.Len(t, d.Drain[0].Evict, 1, "alive")
	require.Len(t, d.Drain[2].Evict, 1, "slow")
}

// A machine is not ended while volumes are attached to it, except those of pods that stay.
func TestLeaveWaitsForVolumes(t *testing.T) {
	goes := deleted(claim("goes"))
	attached := func(name, node string, volume *string) *storagev1.VolumeAttachment {
		a := &storagev1.VolumeAttachment{ObjectMeta: metav1.ObjectMeta{Name: name}}
		a.Spec.NodeName, a.Spec.Source.PersistentVolumeName = node, volume
		return a
	}
	stays := pod("agent", "goes", "DaemonSet")
	stays.Spec.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}}
	stays.Spec.Volumes = []corev1.Volume{
		{Name: "data", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "logs"}}},
		{Name: "scratch", VolumeSource: corev1.VolumeSource{Ephemeral: &corev1.EphemeralVolumeSource{}}}}
	bound := func(name, volume string) *corev1.PersistentVolumeClaim {
		return &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: stays.Namespace}, Spec: corev1.PersistentVolumeClaimSpec{VolumeName: volume}}
	}
	o := fleet.Objects{NodeClaims: []*v1.NodeClaim{goes}, Nodes: []*corev1.Node{node("goes")}, Pods: []*corev1.Pod{stays},
		PersistentVolumeClaims: []*corev1.PersistentVolumeClaim{bound("logs", "pv-logs"), bound("agent-scratch", "pv-scratch")},
		VolumeAttachments: []*storagev1.VolumeAttachment{attached("csi-db", "goes", new("pv-db")), attached("csi-logs", "goes", new("pv-logs")),
			attached("csi-scratch", "goes", new("pv-scratch")), attached("csi-inline", "goes", nil), attached("csi-other", "other", new("pv-other"))}}
	leave := func() fleet.Departure {
		f := readAfter(t, time.Minute, o, fleet.Memory{})
		d, err := f.Leave(nil)
		require.NoError(t, err)
		return d
	}
	d := leave()
	require.Equal(t, []string{"csi-db"}, d.Drain[0].Volumes)
	require.Equal(t, drain.Detaching, d.Drain[0].State)
	require.Empty(t, d.Empty)
	o.VolumeAttachments = o.VolumeAttachments[1:]
	require.Equal(t, []*v1.NodeClaim{goes}, leave().Empty)
}

// A node that is kept for pods of another is opened when the first of them is to be evicted, and not
// before, if kube-scheduler could preempt for that pod.
func TestLeaveOpensReplacements(t *testing.T) {
	web := pod("web", "old", "ReplicaSet")
	web.Labels = map[string]string{"app": "web"}
	replacement, joined := kept(t, "new", web), node("new")
	joined.Spec.Taints = replacement.Spec.StartupTaints
	budget := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "shop"}}
	budget.Spec.Selector = &metav1.LabelSelector{MatchLabels: web.Labels}
	o := fleet.Objects{NodeClaims: []*v1.NodeClaim{deleted(claim("old")), replacement}, Nodes: []*corev1.Node{node("old"), joined}, Pods: []*corev1.Pod{web, pod("other", "", "ReplicaSet"), pod("low", "third", "ReplicaSet")}}
	web.Spec.Priority = new(int32(1))
	leave := func() fleet.Departure {
		d, err := read(t, o, fleet.Memory{}).Leave(nil)
		require.NoError(t, err)
		return d
	}
	require.Len(t, leave().Open, 1)
	require.Equal(t, "new", leave().Open[0].Name)
	require.Empty(t, leave().Open[0].Spec.Taints)

	o.PodDisruptionBudgets = []*policyv1.PodDisruptionBudget{budget}
	require.Empty(t, leave().Open, "the budget allows no eviction")
	budget.Status.DisruptionsAllowed = 1
	require.Len(t, leave().Open, 1)
	web.Spec.PreemptionPolicy = new(corev1.PreemptNever)
	require.Empty(t, leave().Open, "it preempts no pod")
	web.Spec.PreemptionPolicy = nil
	o.Pods[2].Spec.Priority = new(int32(1))
	require.Empty(t, leave().Open, "no pod has a lower priority")
	o.Pods[2].Spec.Priority, o.Pods[2].Status.Phase = nil, corev1.PodSucceeded
	require.Empty(t, leave().Open, "a finished pod takes no room")
	o.Pods[2].Status.Phase = corev1.PodRunning
	o.Nodes[1] = node("new")
	require.Empty(t, leave().Open, "it is open")
	o.Nodes[1], o.NodeClaims[0] = joined, claim("old")
	require.Empty(t, leave().Open, "nobody goes")
}

// What is known of NodeClaims is written into their status, each only where it changes.
func TestEditClaims(t *testing.T) {
	drifted, still, goes := claim("drifted"), claim("still"), deleted(claim("goes"))
	for _, c := range []*v1.NodeClaim{drifted, still, goes} {
		c.Labels = map[string]string{v1.NodePoolLabelKey: "general"}
	}
	f := read(t, fleet.Objects{NodeClaims: []*v1.NodeClaim{drifted, still, goes}}, fleet.Memory{})
	drifts := []disruption.DriftStatus{{Target: disruption.Target{NodeClaim: "drifted"}, Reason: "NodePoolDrifted"}, {Target: disruption.Target{NodeClaim: "still"}},
		{Target: disruption.Target{NodeClaim: "goes"}, Reason: "NodePoolDrifted"}, {Target: disruption.Target{Node: "foreign"}}}
	f.Input.NodePools = []*v1.NodePool{{ObjectMeta: metav1.ObjectMeta{Name: "general"}}}
	edited := f.EditClaims(drifts)
	require.Len(t, edited, 1)
	require.Equal(t, "drifted", edited[0].Name)
	require.Equal(t, v1.ConditionTypeDrifted, edited[0].Status.Conditions[0].Type)
	require.Empty(t, drifted.Status.Conditions, "objects are not changed")
}

// Commands are found in the records: what goes is marked, what comes is kept, and counts
// as initialized once only its promises are in the way.
func TestCommands(t *testing.T) {
	moving := pod("moving", "old", "ReplicaSet")
	cmd, err := command.New(noon, command.Spec{Reason: v1.DisruptionReasonUnderutilized, Sources: []command.Source{{NodeClaim: "old", Node: "old"}}, NodePools: []string{"general"}})
	require.NoError(t, err)
	record := command.Record{Command: cmd}.String()
	old, n := claim("old"), node("old")
	old.Annotations = map[string]string{command.AnnotationKey: record}
	n.Annotations = map[string]string{command.AnnotationKey: record}
	replacement := cmd.Replacements[0].Token
	fresh := kept(t, replacement, moving)
	fresh.Annotations[command.AnnotationKey] = record
	ready := node(replacement)
	ready.Spec.Taints = fresh.Spec.StartupTaints
	f := read(t, fleet.Objects{NodeClaims: []*v1.NodeClaim{old, fresh}, Nodes: []*corev1.Node{n, ready}, Pods: []*corev1.Pod{moving, pod("logs", "old", "DaemonSet")}}, fleet.Memory{})
	require.Len(t, f.Commands.Commands, 1)
	require.Equal(t, map[string]disruption.Reason{"old": disruption.Reason(v1.DisruptionReasonUnderutilized)}, f.Input.MarkedForDeletion)
	require.True(t, f.Input.Nominations[replacement].After(noon))
	for _, c := range f.CommandInput().Claims {
		require.Equal(t, c.Name == replacement, c.Initialized, c.Name)
		if c.Name == "old" {
			require.Equal(t, 1, c.Pods)
		}
	}
}

// When a pod left is known from two looks, and is not forgotten by a third.
func TestPodEvents(t *testing.T) {
	o := fleet.Objects{NodeClaims: []*v1.NodeClaim{claim("a")}, Nodes: []*corev1.Node{node("a")}, Pods: []*corev1.Pod{pod("web", "a", "ReplicaSet")}}
	f := read(t, o, fleet.Memory{})
	require.Zero(t, f.Input.PodEvents["a"])
	o.Pods = nil
	f = read(t, o, f.Memory)
	require.Equal(t, noon, f.Input.PodEvents["a"])
	later := readAfter(t, time.Minute, o, f.Memory)
	require.Equal(t, noon, later.Input.PodEvents["a"])
}

// What cannot be read is an error, and the rest is there.
func TestFaults(t *testing.T) {
	broken := claim("broken")
	broken.Annotations = map[string]string{nomination.AnnotationKey: "{"}
	twin := claim("twin")
	twin.Status.NodeName, twin.Status.ProviderID = "broken", "fake://broken"
	f, err := fleet.Read(noon, fleet.Objects{NodeClaims: []*v1.NodeClaim{broken, twin}, Nodes: []*corev1.Node{node("broken")}, Pods: []*corev1.Pod{pod("web", "", "")}}, fleet.Memory{})
	require.ErrorContains(t, err, nomination.AnnotationKey)
	require.ErrorContains(t, err, "twin")
	require.Len(t, f.Waiting(), 1)
	require.NotNil(t, f.NodeOf(f.Claim("broken")))
	require.Nil(t, f.Node("twin"))
}

// Objects that cannot be planned with are told of, and keep no other from its plan.
func TestPrepare(t *testing.T) {
	bad, good := pod("bad", "", "ReplicaSet"), pod("good", "", "ReplicaSet")
	f := read(t, fleet.Objects{Pods: []*corev1.Pod{bad, good}}, fleet.Memory{})
	bad.Spec.NodeName = "elsewhere" // it is bound since
	odd := &v1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "odd"}}
	odd.Spec.Template.Spec.Requirements = []v1.NodeSelectorRequirementWithMinValues{{Key: "team", Operator: "Near", Values: []string{"a"}}, {Key: "tier", Operator: "Far"}}
	f.Input.NodePools = []*v1.NodePool{odd}
	problem, faults, err := f.Prepare(nil)
	require.NoError(t, err)
	require.NotNil(t, problem)
	require.Len(t, faults, 3)
	require.Same(t, bad, faults[0].Object)
	require.Equal(t, "FailedScheduling", faults[0].Reason)
	require.ErrorContains(t, faults[0].Err, "spec.nodeName")
	require.Same(t, odd, faults[1].Object)
	require.Equal(t, "FailedValidation", faults[1].Reason)
	require.Same(t, odd, faults[2].Object, "each of its faults")
	require.Equal(t, []string{"good"}, names(f.Input.Pods))
	require.Empty(t, f.Input.NodePools)
	_, faults, err = f.Prepare(nil)
	require.NoError(t, err)
	require.Empty(t, faults, "they are not there any more")

	f.Input.Nodes = []provisioning.Node{{Node: node("twin")}, {Node: node("twin")}}
	_, faults, err = f.Prepare(nil)
	require.Error(t, err, "it is about no pending pod")
	require.Empty(t, faults)
}

// A decision that still holds becomes a command; one that does not has objections.
func TestConfirm(t *testing.T) {
	c, n := claim("empty"), node("empty")
	c.Labels, n.Labels[v1.NodePoolLabelKey], n.Labels[v1.NodeInitializedLabelKey] = map[string]string{v1.NodePoolLabelKey: "general"}, "general", "true"
	for _, kind := range []string{v1.ConditionTypeLaunched, v1.ConditionTypeRegistered, v1.ConditionTypeInitialized, v1.ConditionTypeConsolidatable} {
		c.Status.Conditions = append(c.Status.Conditions, metav1.Condition{Type: kind, Status: metav1.ConditionTrue, LastTransitionTime: c.CreationTimestamp})
	}
	general := &v1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "general"}}
	general.Default()
	o := fleet.Objects{NodeClaims: []*v1.NodeClaim{c}, Nodes: []*corev1.Node{n}}
	look := func() *fleet.Fleet {
		f := read(t, o, fleet.Memory{})
		f.Input.NodePools, f.Input.InstanceTypes = []*v1.NodePool{general}, map[string][]*cloudprovider.InstanceType{"general": fake.Catalog()}
		return f
	}
	f := look()
	p, _, err := disruption.Propose(t.Context(), noon, f.Input, nil)
	require.NoError(t, err)
	require.Len(t, p.Actions, 1, "%v", p.Blocked)
	prepared, objections, err := f.Confirm(t.Context(), p.Actions[0], nil)
	require.NoError(t, err)
	require.Empty(t, objections)
	require.Equal(t, "empty", prepared.Command.Sources[0].Node)

	o.Pods = []*corev1.Pod{pod("web", "empty", "ReplicaSet")}
	prepared, objections, err = look().Confirm(t.Context(), p.Actions[0], nil)
	require.NoError(t, err)
	require.NotEmpty(t, objections)
	require.Zero(t, prepared)
}

// What the cloud refused is in the input for as long as it is held, and then no more.
func TestSoldOut(t *testing.T) {
	f := read(t, fleet.Objects{}, fleet.Memory{})
	key := cloudprovider.OfferingKey{InstanceType: "m5.large", Zone: "a", CapacityType: "spot"}
	f.SoldOut(nil)
	f.SoldOut(cloudprovider.ErrThrottled)
	f.SoldOut(fmt.Errorf("create: %w", &cloudprovider.Error{Kind: cloudprovider.KindInsufficientCapacity, Offerings: []cloudprovider.OfferingKey{key}}))
	require.Empty(t, f.Input.UnavailableOfferings, "the input stays as it was read")
	next := read(t, fleet.Objects{}, f.Memory)
	require.Equal(t, []disruption.UnavailableOffering{{Offering: key, At: noon}}, next.Input.UnavailableOfferings)
	later := readAfter(t, disruption.UnavailableHold, fleet.Objects{}, next.Memory)
	require.Empty(t, later.Input.UnavailableOfferings)
}

// An event is written once for each text, and again when it comes back.
func TestNews(t *testing.T) {
	o := fleet.Objects{NodeClaims: []*v1.NodeClaim{claim("a")}, Nodes: []*corev1.Node{node("a")}}
	f := read(t, o, fleet.Memory{})
	var blocked []disruption.Blocked
	for _, b := range [][2]string{{"a", "one"}, {"a", "two"}, {"gone", "one"}} {
		blocked = append(blocked, disruption.Blocked{Target: disruption.Target{Node: b[0]}, Code: disruption.CodePodDisruptionBudget, Detail: b[1]})
	}
	require.NotEmpty(t, blocked[0].Event())
	require.Equal(t, blocked[:1], f.News(blocked))
	f = read(t, o, f.Memory)
	require.Empty(t, f.News(blocked), "it is told already")
	require.Equal(t, blocked[1:2], f.News(blocked[1:]))
	require.Empty(t, f.News(nil))
	require.Equal(t, blocked[:1], f.News(blocked))
}

// TestForeseen: a wait for budgets counts, a break does not, and an action is foreseen as long as the last
// of its targets.
func TestForeseen(t *testing.T) {
	removes := func(nodes ...string) (a disruption.Action) {
		for _, name := range nodes {
			a.Targets = append(a.Targets, disruption.Target{Node: name})
		}
		return a
	}
	var memory fleet.Memory
	at := func(seconds int, p *disruption.Proposal, unneeded ...string) (out []int) {
		f, err := fleet.Read(noon.Add(time.Duration(seconds)*time.Second), fleet.Objects{}, memory)
		require.NoError(t, err)
		for _, since := range f.Foreseen(p, unneeded...) {
			out = append(out, int(since.Sub(noon).Seconds()))
		}
		memory = f.Memory
		return out
	}
	require.Equal(t, []int{0}, at(0, &disruption.Proposal{Actions: []disruption.Action{removes("a")}, Waiting: []disruption.Waiting{{Action: removes("b")}}}, "c"))
	require.Equal(t, []int{0, 0, 10}, at(10, &disruption.Proposal{Actions: []disruption.Action{removes("b"), removes("c"), removes("a", "d")}}))
	require.Empty(t, at(20, &disruption.Proposal{}, "d"))
	require.Equal(t, []int{30, 10}, at(30, &disruption.Proposal{Actions: []disruption.Action{removes("b"), removes("d")}}))
}

// Example reads a cluster in which a node is coming for one of two pods.
func Example() {
	web, cron := pod("web", "", "ReplicaSet"), pod("cron", "", "Job")
	coming := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "general-1", CreationTimestamp: metav1.NewTime(noon)}}
	coming, err := nomination.Reserve(noon, coming, []*corev1.Pod{web}, nil)
	if err != nil {
		panic(err)
	}
	logs := &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Name: "logs", Namespace: "kube-system"}}
	logs.Spec.Template.Spec.Containers = []corev1.Container{{Name: "main", Resources: corev1.ResourceRequirements{Limits: corev1.ResourceList{"cpu": resource.MustParse("100m")}}}}
	f, err := fleet.Read(noon.Add(time.Minute), fleet.Objects{NodeClaims: []*v1.NodeClaim{coming}, Pods: []*corev1.Pod{web, cron}, DaemonSets: []*appsv1.DaemonSet{logs}}, fleet.Memory{})
	if err != nil {
		panic(err)
	}
	for _, p := range f.Waiting() {
		fmt.Println("plan for", p.Name)
	}
	for _, p := range f.Promises.Pods {
		fmt.Println(p.Pod.Name, "waits for", p.NodeClaim, "and lacks", p.Toleration.Value)
	}
	fmt.Println("a DaemonSet takes", f.Input.DaemonSetPods[0].Spec.Containers[0].Resources.Requests.Cpu(), "of each node")
	// Output:
	// plan for cron
	// web waits for general-1 and lacks general-1
	// a DaemonSet takes 100m of each node
}

// Room that comes free before a new node is ready counts for the plan, and is kept for the pod until
// then. How long a node takes to be ready is seen from the NodeClaims.
func TestRoomOfPodsThatEnd(t *testing.T) {
	initialized := func(name string, took time.Duration) *v1.NodeClaim {
		c := claim(name)
		c.Status.Conditions = []metav1.Condition{{Type: v1.ConditionTypeInitialized, Status: metav1.ConditionTrue, LastTransitionTime: metav1.NewTime(c.CreationTimestamp.Add(took))}}
		return c
	}
	web, old := pod("web", "", ""), pod("old", "a", "ReplicaSet")
	for _, p := range []*corev1.Pod{web, old} {
		p.Spec.Containers = []corev1.Container{{Name: "main"}}
		p.Spec.Containers[0].Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("3")}
	}
	a := node("a")
	a.Status.Allocatable = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("4"), corev1.ResourcePods: resource.MustParse("10")}
	plan := func(ends time.Duration, claims ...*v1.NodeClaim) (*fleet.Fleet, *provisioning.Plan) {
		old.DeletionTimestamp = &metav1.Time{Time: noon.Add(ends)}
		o := fleet.Objects{NodeClaims: append([]*v1.NodeClaim{claim("a")}, claims...), Nodes: []*corev1.Node{a}, Pods: []*corev1.Pod{web, old}}
		f := read(t, o, fleet.Memory{})
		problem, faults, err := f.Prepare(nil)
		require.NoError(t, err)
		require.Empty(t, faults)
		plan, err := problem.Solve(t.Context())
		require.NoError(t, err)
		return f, plan
	}
	f, waits := plan(fleet.StartsWithin)
	require.Equal(t, []string{"web"}, names(waits.Bind[0].Pods))
	require.Equal(t, []string{"old"}, names(waits.Bind[0].After))
	require.Equal(t, []string{"old"}, on(f)["a"], "only the plan counts the room as free")
	_, err := f.Bind(waits.Bind)
	require.NoError(t, err)
	for _, at := range []time.Duration{0, fleet.StartsWithin + fleet.BoundWithin - 1} {
		later := readAfter(t, at, f.Objects, f.Memory)
		require.Empty(t, later.Waiting())
	}
	later := readAfter(t, fleet.StartsWithin+fleet.BoundWithin, f.Objects, f.Memory)
	require.Equal(t, []string{"web"}, names(later.Waiting()))

	_, late := plan(fleet.StartsWithin + 1)
	require.Empty(t, late.Bind)
	slow := []*v1.NodeClaim{initialized("b", time.Second), initialized("c", 3*time.Minute), initialized("d", 4*time.Minute)}
	_, waits = plan(3*time.Minute, slow...)
	require.Len(t, waits.Bind, 1)
	_, late = plan(3*time.Minute+1, slow...)
	require.Empty(t, late.Bind)
}

func TestReadPassesOverNil(t *testing.T) {
	var o fleet.Objects
	o.NodeClaims, o.Nodes, o.Pods, o.DaemonSets = []*v1.NodeClaim{nil}, []*corev1.Node{nil, node("n")}, []*corev1.Pod{nil, pod("p", "n", "ReplicaSet")}, []*appsv1.DaemonSet{nil}
	o.PodDisruptionBudgets, o.RuntimeClasses = []*policyv1.PodDisruptionBudget{nil}, []*nodev1.RuntimeClass{nil}
	o.VolumeAttachments, o.PersistentVolumeClaims = []*storagev1.VolumeAttachment{nil}, []*corev1.PersistentVolumeClaim{nil}
	f := read(t, o, fleet.Memory{})
	require.Len(t, f.Input.Nodes, 1)
	require.Len(t, f.Input.Nodes[0].Pods, 1)
	_, err := f.Leave(nil)
	require.NoError(t, err)
}
