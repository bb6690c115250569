package provisioning_test

import (
	"fmt"
	"math"
	"math/rand"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/randproblem"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
	"github.com/dovetail-sdk/dovetail/provisioning/verify"
)

// staticPool makes a pool of a number of nodes.
func staticPool(name string, replicas int64) *v1.NodePool {
	p := &v1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: name, UID: "pool-uid"}}
	p.Spec.Replicas = &replicas
	p.Spec.Template.Spec.NodeClassRef = &v1.NodeClassReference{Group: "karpenter.k8s.aws", Kind: "EC2NodeClass", Name: "default"}
	return p
}

// staticNode makes a node of a pool that has started, with pods.
func staticNode(pool, name string, pods ...*corev1.Pod) provisioning.Node {
	labels := map[string]string{v1.NodePoolLabelKey: pool, v1.NodeRegisteredLabelKey: "true", v1.NodeInitializedLabelKey: "true"}
	return provisioning.Node{
		Node: &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}},
		NodeClaim: &v1.NodeClaim{
			ObjectMeta: metav1.ObjectMeta{Name: "claim-" + name, Labels: map[string]string{v1.NodePoolLabelKey: pool}},
			Status:     v1.NodeClaimStatus{ProviderID: "fake:///" + name, NodeName: name},
		},
		Pods: pods,
	}
}

// staticClaim makes a NodeClaim of a pool that has no machine yet.
func staticClaim(pool, name string) provisioning.Node {
	return provisioning.Node{NodeClaim: &v1.NodeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{v1.NodePoolLabelKey: pool}},
	}}
}

func staticDeleting(n provisioning.Node) provisioning.Node {
	n.NodeClaim.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)}
	return n
}

func staticDisrupted(n provisioning.Node) provisioning.Node {
	n.Node.Spec.Taints = append(n.Node.Spec.Taints, v1.DisruptedNoScheduleTaint())
	return n
}

func staticCondition(n provisioning.Node, kind string) provisioning.Node {
	n.NodeClaim.Status.Conditions = append(n.NodeClaim.Status.Conditions, metav1.Condition{Type: kind, Status: metav1.ConditionTrue})
	return n
}

// staticOnly solves for one pool.
func staticOnly(t *testing.T, pool *v1.NodePool, nodes ...provisioning.Node) provisioning.StaticPool {
	t.Helper()
	out, err := provisioning.StaticPools(provisioning.Input{NodePools: []*v1.NodePool{pool}, Nodes: nodes})
	require.NoError(t, err)
	require.Len(t, out, 1)
	require.Same(t, pool, out[0].Pool)
	return out[0]
}

func TestStaticPoolCounts(t *testing.T) {
	limited := func(replicas int64, nodes string) *v1.NodePool {
		p := staticPool("web", replicas)
		p.Spec.Limits = v1.Limits(resources.MustParse("nodes=" + nodes).ResourceList())
		return p
	}
	notReady := staticPool("web", 3)
	notReady.Status.Conditions = []metav1.Condition{{Type: "Ready", Status: metav1.ConditionFalse, Reason: "NodeClassNotFound"}}
	leaving := staticPool("web", 3)
	leaving.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)}
	contradictory := staticPool("web", 3)
	contradictory.Spec.Template.Labels = map[string]string{"team": "a"}
	contradictory.Spec.Template.Spec.Requirements = []v1.NodeSelectorRequirementWithMinValues{{Key: "team", Operator: "In", Values: []string{"b"}}}
	plain := provisioning.Node{Node: staticNode("web", "plain").Node}

	tests := []struct {
		name                      string
		pool                      *v1.NodePool
		nodes                     []provisioning.Node
		active, pending, deleting int
		missing, heldBack, excess int
		held                      string
	}{
		{name: "from nothing", pool: staticPool("web", 3), missing: 3},
		{name: "none wanted", pool: staticPool("web", 0)},
		{name: "just right", pool: staticPool("web", 1), nodes: []provisioning.Node{staticNode("web", "a")}, active: 1},
		{name: "too few", pool: staticPool("web", 3), nodes: []provisioning.Node{staticNode("web", "a")}, active: 1, missing: 2},
		{name: "too many", pool: staticPool("web", 1), nodes: []provisioning.Node{staticNode("web", "a"), staticNode("web", "b")}, active: 2, excess: 1},
		{name: "nodes of others", pool: staticPool("web", 1), nodes: []provisioning.Node{staticNode("db", "a"), {Node: &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "b"}}}}, missing: 1},
		{name: "a claim without a machine counts", pool: staticPool("web", 1), nodes: []provisioning.Node{staticClaim("web", "a")}, active: 1},
		{name: "a node without a claim counts", pool: staticPool("web", 1), nodes: []provisioning.Node{plain}, active: 1},
		{name: "what is being deleted is replaced", pool: staticPool("web", 2), nodes: []provisioning.Node{staticNode("web", "a"), staticDeleting(staticNode("web", "b"))},
			active: 1, deleting: 1, missing: 1},
		{name: "what the cloud is ending is replaced", pool: staticPool("web", 1),
			nodes: []provisioning.Node{staticCondition(staticNode("web", "b"), v1.ConditionTypeInstanceTerminating)}, deleting: 1, missing: 1},
		{name: "what is pending disruption is not replaced here", pool: staticPool("web", 2),
			nodes: []provisioning.Node{staticNode("web", "a"), staticDisrupted(staticNode("web", "b"))}, active: 1, pending: 1},
		{name: "nor if the claim says so", pool: staticPool("web", 2),
			nodes: []provisioning.Node{staticNode("web", "a"), staticCondition(staticNode("web", "b"), v1.ConditionTypeDisruptionReason)}, active: 1, pending: 1},
		{name: "a replacement beside what it replaces is not too many", pool: staticPool("web", 2),
			nodes: []provisioning.Node{staticNode("web", "a"), staticDisrupted(staticNode("web", "b")), staticNode("web", "c")}, active: 2, pending: 1},
		{name: "deleting wins over pending disruption", pool: staticPool("web", 1),
			nodes: []provisioning.Node{staticDeleting(staticDisrupted(staticNode("web", "b")))}, deleting: 1, missing: 1},
		{name: "within the limit", pool: limited(3, "3"), nodes: []provisioning.Node{staticNode("web", "a")}, active: 1, missing: 2},
		{name: "the limit holds some back", pool: limited(5, "3"), nodes: []provisioning.Node{staticNode("web", "a")}, active: 1, missing: 2, heldBack: 2,
			held: "its limit of 3 nodes leaves room for 2: it has 1, of which 0 are on their way out"},
		{name: "nodes on their way out count for the limit", pool: limited(3, "3"),
			nodes:  []provisioning.Node{staticNode("web", "a"), staticDeleting(staticNode("web", "b")), staticDisrupted(staticNode("web", "c"))},
			active: 1, pending: 1, deleting: 1, heldBack: 1,
			held: "its limit of 3 nodes leaves room for 0: it has 3, of which 2 are on their way out"},
		{name: "beyond the limit already", pool: limited(3, "1"), nodes: []provisioning.Node{staticNode("web", "a"), staticNode("web", "b")}, active: 2, heldBack: 1,
			held: "its limit of 1 nodes leaves room for 0: it has 2, of which 0 are on their way out"},
		{name: "a limit of a fraction is rounded up", pool: limited(3, "1500m"), missing: 2, heldBack: 1,
			held: "its limit of 2 nodes leaves room for 2: it has 0, of which 0 are on their way out"},
		{name: "not ready", pool: notReady, heldBack: 3, held: "its Ready condition is False, reason NodeClassNotFound"},
		{name: "being deleted", pool: leaving, heldBack: 3, held: "it is being deleted"},
		{name: "no node is possible", pool: contradictory, heldBack: 3, held: "its own labels and requirements contradict each other over team"},
		{name: "very many", pool: staticPool("web", math.MaxInt64), missing: 10_000, heldBack: math.MaxInt - 10_000,
			held: "no more than 10000 nodes are launched at a time"},
		{name: "too many though not ready", pool: func() *v1.NodePool { p := notReady.DeepCopy(); *p.Spec.Replicas = 0; return p }(),
			nodes: []provisioning.Node{staticNode("web", "a")}, active: 1, excess: 1},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := staticOnly(t, test.pool, test.nodes...)
			require.Equal(t, []int{test.active, test.pending, test.deleting}, []int{got.Active, got.PendingDisruption, got.Deleting})
			require.Equal(t, test.missing, got.Missing, "missing")
			require.Equal(t, test.heldBack, got.HeldBack, "held back")
			require.Equal(t, test.held, got.Held)
			require.Equal(t, test.excess, got.Excess, "excess")
			require.Len(t, got.Remove, test.excess)
			require.Len(t, got.NodeClaims(), test.missing)
		})
	}
}

// What nothing can be launched for waits, and says so: a NodeClaim would be made and deleted
// over and over.
func TestStaticPoolThatIsSoldOut(t *testing.T) {
	in := shop()
	pool := in.NodePools[0]
	pool.Spec.Replicas = new(int64(2))
	stand := func() provisioning.StaticPool {
		out, err := provisioning.StaticPools(in)
		require.NoError(t, err)
		return out[0]
	}
	require.Equal(t, 2, stand().Missing)
	var offerings int
	types := in.InstanceTypes[pool.Name]
	in.InstanceTypes[pool.Name] = nil
	for _, it := range types {
		gone := it.Clone()
		for i := range gone.Offerings {
			gone.Offerings[i].Available = false
			offerings++
		}
		in.InstanceTypes[pool.Name] = append(in.InstanceTypes[pool.Name], gone)
	}
	got := stand()
	require.Equal(t, []int{0, 2}, []int{got.Missing, got.HeldBack})
	require.Equal(t, fmt.Sprintf("none of the %d offerings that its template admits is available; they are launched once one is", offerings), got.Held)
	require.Empty(t, got.NodeClaims())

	in.InstanceTypes[pool.Name] = types
	pool.Spec.Template.Spec.Requirements = []v1.NodeSelectorRequirementWithMinValues{{Key: corev1.LabelInstanceTypeStable, Operator: "In", Values: []string{"unheard-of"}}}
	got = stand()
	require.Equal(t, []int{0, 2}, []int{got.Missing, got.HeldBack})
	require.Equal(t, fmt.Sprintf("its template admits none of the %d instance types of its catalog", len(types)), got.Held)
	delete(in.InstanceTypes, pool.Name)
	require.Equal(t, 2, stand().Missing, "without a catalog the provider says")
}

func TestStaticPoolNodeClaims(t *testing.T) {
	in := shop()
	pool := in.NodePools[0]
	pool.UID, pool.Spec.Replicas = "pool-uid", new(int64(2))
	pool.Spec.Template.Labels = map[string]string{"tier": "web"}
	pool.Spec.Template.Annotations = map[string]string{"note": "x"}
	pool.Spec.Template.Spec.Taints = []corev1.Taint{{Key: "web", Effect: corev1.TaintEffectNoSchedule}}
	pool.Spec.Template.Spec.StartupTaints = []corev1.Taint{{Key: "start", Effect: corev1.TaintEffectNoSchedule}}
	pool.Spec.Template.Spec.TerminationGracePeriod = &metav1.Duration{Duration: time.Hour}
	pool.Spec.Template.Spec.Requirements = []v1.NodeSelectorRequirementWithMinValues{
		{Key: "team", Operator: "In", Values: []string{"b", "a"}},
		{Key: "topology.kubernetes.io/zone", Operator: "In", Values: []string{"us-east-1a"}},
		{Key: "karpenter.k8s.aws/instance-family", Operator: "Exists", MinValues: new(2)},
	}
	before := pool.DeepCopy()
	out, err := provisioning.StaticPools(in)
	require.NoError(t, err)
	require.Len(t, out, 1)
	claims := out[0].NodeClaims()
	require.Len(t, claims, 2)
	require.Equal(t, claims[0], claims[1])
	claim := claims[0]
	require.Equal(t, metav1.TypeMeta{APIVersion: "karpenter.sh/v1", Kind: "NodeClaim"}, claim.TypeMeta)
	require.Equal(t, "general-", claim.GenerateName)
	require.Equal(t, map[string]string{
		"tier": "web", "team": "a", "karpenter.sh/nodepool": "general", "karpenter.k8s.aws/ec2nodeclass": "default",
	}, claim.Labels, "a label of the pool's own is settled, one that the provider knows is not")
	require.Equal(t, "x", claim.Annotations["note"])
	require.Equal(t, pool.Hash(), claim.Annotations["karpenter.sh/nodepool-hash"])
	require.Equal(t, "v3", claim.Annotations["karpenter.sh/nodepool-hash-version"])
	require.Equal(t, metav1.OwnerReference{APIVersion: "karpenter.sh/v1", Kind: "NodePool", Name: "general", UID: "pool-uid", BlockOwnerDeletion: new(true)},
		claim.OwnerReferences[0])
	require.Equal(t, pool.Spec.Template.Spec.Taints, claim.Spec.Taints)
	require.Equal(t, pool.Spec.Template.Spec.StartupTaints, claim.Spec.StartupTaints)
	require.Equal(t, pool.Spec.Template.Spec.TerminationGracePeriod, claim.Spec.TerminationGracePeriod)
	require.Equal(t, pool.Spec.Template.Spec.NodeClassRef, claim.Spec.NodeClassRef)
	require.Empty(t, claim.Spec.Resources.Requests)
	require.Equal(t, "karpenter.k8s.aws/ec2nodeclass = default, karpenter.k8s.aws/instance-family minvalues 2, "+
		"karpenter.sh/nodepool = general, team in (a, b), tier = web, topology.kubernetes.io/zone = us-east-1a", out[0].Requirements.String())
	require.Equal(t, out[0].Requirements.NodeSelectorRequirements(), claim.Spec.Requirements)
	require.Empty(t, claim.Validate())

	claim.Labels["tier"], claim.Annotations["note"], claim.Spec.Taints[0].Key = "y", "y", "y"
	claim.Spec.Requirements[0].Values[0], claim.Spec.NodeClassRef.Name = "y", "y"
	require.Equal(t, claims[1], out[0].NodeClaims()[0], "the objects are the caller's own")
	require.Equal(t, before, pool)
}

func TestStaticPoolRequest(t *testing.T) {
	in := shop()
	pool := in.NodePools[0]
	pool.Spec.Replicas = new(int64(2))
	pool.Spec.Template.Spec.Requirements = []v1.NodeSelectorRequirementWithMinValues{
		{Key: "topology.kubernetes.io/zone", Operator: "In", Values: []string{"us-east-1a"}},
		{Key: "karpenter.sh/capacity-type", Operator: "In", Values: []string{"on-demand"}},
	}
	in.Overlays = []*v1.NodeOverlay{{ObjectMeta: metav1.ObjectMeta{Name: "dear"}, Spec: v1.NodeOverlaySpec{
		Requirements: []v1.NodeSelectorRequirement{{Key: "node.kubernetes.io/instance-type", Operator: "In", Values: []string{"m7g.medium"}}},
		Price:        new("99"),
	}}}
	out, err := provisioning.StaticPools(in)
	require.NoError(t, err)
	request := out[0].Request("token-1")
	require.NoError(t, request.Validate())
	require.Equal(t, "token-1", request.Token)
	require.Equal(t, "general", request.NodePool)
	require.Equal(t, 0, request.Requests.Len())
	require.NotEmpty(t, request.Options)
	for i, o := range request.Options {
		require.Equal(t, "us-east-1a", o.Offering.Zone)
		require.Equal(t, "on-demand", o.Offering.CapacityType)
		if i > 0 {
			require.LessOrEqual(t, request.Options[i-1].Offering.Price, o.Offering.Price)
		}
	}
	last := request.Options[len(request.Options)-1]
	require.Equal(t, []any{"m7g.medium", 99.0}, []any{last.InstanceType.Name, last.Offering.Price}, "overlays count")

	*pool.Spec.Replicas = 0
	out, err = provisioning.StaticPools(in)
	require.NoError(t, err)
	require.Empty(t, out[0].Options, "nothing is missing")
	var zero provisioning.StaticPool
	require.Nil(t, zero.NodeClaims())
	require.Equal(t, "t", zero.Request("t").Token)
}

func TestStaticPoolFaults(t *testing.T) {
	broken := staticPool("broken", 1)
	broken.Spec.Template.Spec.Requirements = []v1.NodeSelectorRequirementWithMinValues{{Key: "team", Operator: "Like"}}
	limited := staticPool("limited", 1)
	limited.Spec.Limits = v1.Limits(resources.MustParse("nodes=-1, cpu=4").ResourceList())
	endless := staticPool("endless", 1)
	huge := resources.MustParse("nodes=1").ResourceList()["nodes"]
	huge.SetScaled(9, 30)
	endless.Spec.Limits = v1.Limits{"nodes": huge}
	_, err := provisioning.StaticPools(provisioning.Input{
		NodePools:     []*v1.NodePool{endless, nil, staticPool("", 1), staticPool("twice", 1), staticPool("twice", 2), staticPool("few", -1), broken, limited},
		InstanceTypes: map[string][]*cloudprovider.InstanceType{"few": {nil}},
		Nodes:         []provisioning.Node{{}, staticNode("few", "a", nil, staticPod("p"))},
		Overlays:      []*v1.NodeOverlay{nil},
	})
	got := err.Error()
	for _, want := range []string{
		"NodePools[1]: is nil", "NodePools[2]: metadata.name: is empty", `NodePool "twice": is listed twice`,
		`NodePool "few": spec.replicas: is -1; use zero or more`,
		`NodePool "broken": spec.template.spec.requirements[0].operator`,
		`NodePool "limited": spec.limits[nodes]: it is negative`,
		`NodePool "limited": spec.limits[cpu]: Forbidden: a static pool, with replicas, can only limit nodes`,
		`NodePool "endless": spec.limits[nodes]: resource nodes: `,
		`InstanceTypes["few"]: holds a nil instance type`,
		"Nodes[0]: has neither a Node nor a NodeClaim", `Node "a": Pods[0]: is nil`,
		"Overlays: overlay 0: is nil",
	} {
		require.Contains(t, got, want)
	}
	require.Len(t, provisioning.Faults(err), strings.Count(got, "\n")+1)
	require.Len(t, provisioning.Faults(err), 12)
}

// randomStatic makes an input with several pools, static and not, and many
// nodes of all kinds.
func randomStatic(seed int64) provisioning.Input {
	r := rand.New(rand.NewSource(seed))
	var in provisioning.Input
	for i := range 4 {
		p := staticPool(fmt.Sprintf("p%d", i), int64(r.Intn(8)))
		if r.Intn(4) == 0 {
			p.Spec.Replicas = nil
		}
		if r.Intn(3) == 0 {
			p.Spec.Limits = v1.Limits(resources.MustParse(fmt.Sprintf("nodes=%d", r.Intn(8))).ResourceList())
		}
		in.NodePools = append(in.NodePools, p)
	}
	for i := range r.Intn(25) {
		pool, name := fmt.Sprintf("p%d", r.Intn(5)), fmt.Sprintf("n%02d", i)
		n := staticNode(pool, name)
		if r.Intn(4) == 0 {
			n = staticClaim(pool, name)
		}
		for j := range r.Intn(4) {
			pod := staticPod(fmt.Sprintf("%s-%d", name, j), []string{staticDisruptionCost, staticDeletionCost, staticDoNotDisrupt, "x"}[r.Intn(4)],
				[]string{"true", "1000", "-300000000", "1h"}[r.Intn(4)])
			if r.Intn(3) == 0 {
				pod = staticOwned("DaemonSet", pod)
			}
			n.Pods = append(n.Pods, staticRanked(int32(r.Uint32()), pod))
		}
		switch r.Intn(6) {
		case 0:
			n = staticDeleting(n)
		case 1:
			n = staticCondition(n, v1.ConditionTypeDisruptionReason)
		}
		in.Nodes = append(in.Nodes, n)
	}
	return in
}

// TestLawStaticPools: counts add up, the order of input means nothing, and the
// input is left alone.
func TestLawStaticPools(t *testing.T) {
	for seed := range int64(200) {
		in := randomStatic(seed)
		want, err := provisioning.StaticPools(in)
		require.NoError(t, err)
		require.Equal(t, randomStatic(seed), in, "seed %d: the input changed", seed)
		for i, s := range want {
			replicas := int(*s.Pool.Spec.Replicas)
			require.True(t, i == 0 || want[i-1].Pool.Name < s.Pool.Name)
			require.Equal(t, max(s.Active-replicas, 0), s.Excess, "seed %d", seed)
			require.Equal(t, max(replicas-s.Active-s.PendingDisruption, 0), s.Missing+s.HeldBack, "seed %d", seed)
			require.Equal(t, s.HeldBack > 0, s.Held != "", "seed %d", seed)
			if limit, limited := s.Pool.Spec.Limits["nodes"]; limited && s.Missing > 0 {
				require.LessOrEqual(t, s.Active+s.PendingDisruption+s.Deleting+s.Missing, int(limit.Value()), "seed %d", seed)
			}
		}
		r := rand.New(rand.NewSource(seed))
		r.Shuffle(len(in.Nodes), func(i, j int) { in.Nodes[i], in.Nodes[j] = in.Nodes[j], in.Nodes[i] })
		r.Shuffle(len(in.NodePools), func(i, j int) { in.NodePools[i], in.NodePools[j] = in.NodePools[j], in.NodePools[i] })
		for _, n := range in.Nodes {
			r.Shuffle(len(n.Pods), func(i, j int) { n.Pods[i], n.Pods[j] = n.Pods[j], n.Pods[i] })
		}
		got, err := provisioning.StaticPools(in)
		require.NoError(t, err)
		require.Equal(t, want, got, "seed %d", seed)
	}
}

// staticPod makes a pod on a node, with annotations in pairs.
func staticPod(name string, annotations ...string) *corev1.Pod {
	pod := shopPod(name, "cpu=100m")
	pod.Annotations = map[string]string{}
	for i := 0; i < len(annotations); i += 2 {
		pod.Annotations[annotations[i]] = annotations[i+1]
	}
	return pod
}

func staticOwned(kind string, pod *corev1.Pod) *corev1.Pod {
	controller := true
	pod.OwnerReferences = []metav1.OwnerReference{{Kind: kind, Name: "owner", Controller: &controller}}
	return pod
}

func staticRanked(priority int32, pod *corev1.Pod) *corev1.Pod {
	pod.Spec.Priority = &priority
	return pod
}

const (
	staticDoNotDisrupt   = "karpenter.sh/do-not-disrupt"
	staticDisruptionCost = "karpenter.sh/disruption-cost"
	staticDeletionCost   = "controller.kubernetes.io/pod-deletion-cost"
)

func TestStaticPoolRemove(t *testing.T) {
	aged := func(n provisioning.Node, seconds int64) provisioning.Node {
		n.NodeClaim.CreationTimestamp = metav1.Unix(seconds, 0)
		return n
	}
	gone := func(pod *corev1.Pod) *corev1.Pod {
		pod.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)}
		return pod
	}
	finished := func(pod *corev1.Pod) *corev1.Pod {
		pod.Status.Phase = corev1.PodSucceeded
		return pod
	}
	annotated := func(n provisioning.Node) provisioning.Node {
		n.Node.Annotations = map[string]string{staticDoNotDisrupt: "true"}
		return n
	}
	unclaimed := func(name string, seconds int64) provisioning.Node {
		n := provisioning.Node{Node: staticNode("web", name).Node}
		n.Node.CreationTimestamp = metav1.Unix(seconds, 0)
		return n
	}
	tests := []struct {
		name  string
		nodes []provisioning.Node // in the order wanted
	}{
		{"nodes without claims", []provisioning.Node{unclaimed("b", 10), unclaimed("a", 20)}},
		{"the turns", []provisioning.Node{
			staticClaim("web", "z"),
			staticNode("web", "y", staticOwned("DaemonSet", staticPod("d"))),
			staticNode("web", "x", staticPod("p")),
			staticNode("web", "w", staticOwned("DaemonSet", staticPod("d", staticDoNotDisrupt, "true"))),
		}},
		{"a launched claim without a node has had its turn", []provisioning.Node{
			staticClaim("web", "z"),
			func() provisioning.Node {
				n := staticClaim("web", "a")
				n.NodeClaim.Status.ProviderID = "fake:///a"
				return n
			}(),
		}},
		{"pods that make no difference", []provisioning.Node{
			staticNode("web", "a", finished(staticPod("p"))),
			staticNode("web", "b", gone(staticPod("p", staticDoNotDisrupt, "true"))),
			staticNode("web", "c", staticOwned("Node", staticPod("p"))),
			staticNode("web", "d", staticPod("p", corev1.MirrorPodAnnotationKey, "hash")),
			staticNode("web", "e", staticOwned("DaemonSet", staticRanked(1<<30, staticPod("p")))),
			staticNode("web", "f", nil...),
			staticNode("web", "g", staticOwned("ReplicaSet", staticPod("p"))),
		}},
		{"the annotation", []provisioning.Node{
			staticNode("web", "y", staticPod("p", staticDoNotDisrupt, "false")),
			staticNode("web", "z", staticPod("p", staticDoNotDisrupt, "-1h"), staticPod("q")),
			annotated(staticNode("web", "a")),
			staticNode("web", "b", staticPod("p", staticDoNotDisrupt, "1h")),
			annotated(staticNode("web", "c", staticPod("p"), staticPod("q"))),
		}},
		{"the cost", []provisioning.Node{
			staticNode("web", "k", staticPod("p", staticDeletionCost, "-2147483648")), // -10
			staticNode("web", "j", staticPod("p", staticDeletionCost, "-268435456")),  // -1
			staticNode("web", "i", staticRanked(-1<<25, staticPod("p"))),              // 0
			staticNode("web", "h", staticPod("p")),                                    // 1
			staticNode("web", "g", staticPod("p", staticDisruptionCost, "1.5", staticDeletionCost, "268435456"), staticPod("q", staticDeletionCost, "-67108864")), // 1.5
			staticNode("web", "f", staticRanked(1<<25, staticPod("p"))),                                                                  // 2
			staticNode("web", "e", staticPod("p"), staticPod("q"), staticPod("r")),                                                       // 3
			staticNode("web", "d", staticPod("p", staticDisruptionCost, "402653184", staticDeletionCost, "-268435456")),                  // 4
			staticNode("web", "c", staticPod("p", staticDisruptionCost, "2147483647"), staticPod("q", staticDeletionCost, "-134217728")), // 10
			staticNode("web", "b", staticRanked(math.MaxInt32, staticPod("p")), staticRanked(math.MaxInt32, staticPod("q"))),             // 20
		}},
		{"age, then name", []provisioning.Node{
			aged(staticNode("web", "b", staticPod("p")), 10),
			aged(staticNode("web", "c", staticPod("p")), 10),
			aged(staticNode("web", "a", staticPod("p")), 20),
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var want []string
			for _, n := range test.nodes {
				want = append(want, n.Name())
			}
			require.Equal(t, want, staticOnly(t, staticPool("web", 0), test.nodes...).Remove)
			require.Equal(t, want[:1], staticOnly(t, staticPool("web", int64(len(want)-1)), test.nodes...).Remove)
		})
	}
}

// TestLawMissingNodesAreRoom: a plan puts on the nodes that static pools are short of what it puts
// on their NodeClaims once these are created, and the referee finds no fault with it.
func TestLawMissingNodesAreRoom(t *testing.T) {
	t.Parallel()
	pods := 0
	for seed := range lawSeeds(2_000, 300) {
		in, opts := richProblem(seed, randproblem.Config{Without: randproblem.Buffers})
		plan := solved(t, in, opts)
		now := plan.Static
		claimed, names := in, map[string][]*corev1.Pod{}
		claimed.Nodes = append([]provisioning.Node{}, in.Nodes...)
		for _, s := range now {
			for k, claim := range s.NodeClaims() {
				if k == len(in.Pods) {
					break // more make no difference
				}
				claim.Name = fmt.Sprintf("zzz-%s-%05d", s.Pool.Name, k)
				claimed.Nodes = append(claimed.Nodes, provisioning.Node{NodeClaim: claim})
				if k < len(s.Pods) {
					names[claim.Name] = s.Pods[k]
					pods += len(s.Pods[k])
				}
			}
		}
		if len(claimed.Nodes) == len(in.Nodes) {
			continue
		}
		require.Empty(t, verify.Plan(in, plan, opts), "seed %d", seed)
		next := solved(t, claimed, opts)
		require.InDelta(t, next.Cost, plan.Cost, 1e-9, "seed %d", seed)
		require.Len(t, plan.Unplaced, len(next.Unplaced), "seed %d", seed)
		require.Equal(t, next.Order, plan.Order, "seed %d", seed)
		for _, b := range next.Bind {
			if want, ok := names[b.Node]; ok {
				require.Equal(t, b.Pods, want, "seed %d, node %s", seed, b.Node)
				delete(names, b.Node)
			}
		}
		require.Empty(t, names, "seed %d", seed)
	}
	require.Positive(t, pods)
}
