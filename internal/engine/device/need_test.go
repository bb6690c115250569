package device_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/dovetail-sdk/dovetail/internal/engine/device"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

func TestRefusals(t *testing.T) {
	yes := true
	attribute := resourcev1.FullyQualifiedName("example.com/root")
	changed := func(r resourcev1.DeviceRequest, change func(*resourcev1.ExactDeviceRequest)) resourcev1.DeviceRequest {
		change(r.Exactly)
		return r
	}
	constrained := func(c resourcev1.DeviceConstraint) *resourcev1.ResourceClaimTemplate {
		out := template("t", exactly("r", "gpu", 2))
		out.Spec.Spec.Devices.Constraints = []resourcev1.DeviceConstraint{c}
		return out
	}
	ways := make([]resourcev1.DeviceRequest, 0, 3)
	for _, name := range []string{"a", "b", "c"} {
		ways = append(ways, first(name,
			option("1", "gpu", 1, name+"1"), option("2", "gpu", 1, name+"2"), option("3", "gpu", 1, name+"3"),
			option("4", "gpu", 1, name+"4"), option("5", "gpu", 1, name+"5")))
	}
	for _, tt := range []struct {
		name     string
		template *resourcev1.ResourceClaimTemplate
		want     string
	}{
		{"exact count", template("t", exactly("r", "gpu", 2)), ""},
		{"count left out", template("t", exactly("r", "gpu", 0)), ""},
		{"mode left out", template("t", changed(exactly("r", "gpu", 1), func(e *resourcev1.ExactDeviceRequest) { e.AllocationMode = "" })), ""},
		{"all", template("t", all("r", "gpu")), ""},
		{"first available", template("t", first("r", option("a", "gpu", 1))), ""},
		{"unknown mode", template("t", changed(exactly("r", "gpu", 1), func(e *resourcev1.ExactDeviceRequest) { e.AllocationMode = "Most" })),
			"unsupported: resource claim c0 (ResourceClaimTemplate shop/t): request r: allocationMode Most"},
		{"admin", template("t", changed(exactly("r", "gpu", 1), func(e *resourcev1.ExactDeviceRequest) { e.AdminAccess = &yes })),
			"unsupported: resource claim c0 (ResourceClaimTemplate shop/t): request r: adminAccess"},
		{"capacity", template("t", changed(exactly("r", "gpu", 1), func(e *resourcev1.ExactDeviceRequest) {
			e.Capacity = &resourcev1.CapacityRequirements{Requests: map[resourcev1.QualifiedName]resource.Quantity{"memory": resource.MustParse("1Gi")}}
		})), "unsupported: resource claim c0 (ResourceClaimTemplate shop/t): request r: capacity"},
		{"other selector", template("t", changed(exactly("r", "gpu", 1), func(e *resourcev1.ExactDeviceRequest) {
			e.Selectors = []resourcev1.DeviceSelector{{}}
		})), "unsupported: resource claim c0 (ResourceClaimTemplate shop/t): request r: selectors[0], which is no CEL expression"},
		{"other selector of the class", template("t", exactly("r", "odd", 1)),
			"unsupported: resource claim c0 (ResourceClaimTemplate shop/t): request r: DeviceClass odd: selectors[0], which is no CEL expression"},
		{"other kind of request", template("t", resourcev1.DeviceRequest{Name: "r"}),
			"unsupported: resource claim c0 (ResourceClaimTemplate shop/t): request r, which is neither exactly nor firstAvailable"},
		{"match attribute", constrained(resourcev1.DeviceConstraint{MatchAttribute: &attribute, Requests: []string{"r", "s"}}),
			"unsupported: resource claim c0 (ResourceClaimTemplate shop/t): matchAttribute example.com/root over requests r, s"},
		{"distinct attribute", constrained(resourcev1.DeviceConstraint{DistinctAttribute: &attribute}),
			"unsupported: resource claim c0 (ResourceClaimTemplate shop/t): distinctAttribute example.com/root over all requests"},
		{"other constraint", constrained(resourcev1.DeviceConstraint{}),
			"unsupported: resource claim c0 (ResourceClaimTemplate shop/t): a constraint of an unknown kind over all requests"},
		{"no class", template("t", exactly("r", "tpu", 1)),
			`resource claim c0 (ResourceClaimTemplate shop/t): request r: there is no DeviceClass "tpu"`},
		{"no class for a subrequest", template("t", first("r", option("a", "gpu", 1), option("b", "tpu", 1))),
			`resource claim c0 (ResourceClaimTemplate shop/t): request r/b: there is no DeviceClass "tpu"`},
		{"too many devices", template("t", exactly("r", "gpu", 20), exactly("s", "gpu", 13)),
			"resource claim c0 (ResourceClaimTemplate shop/t): it asks for 33 devices or more, and a claim can hold no more than 32"},
		{"far too many devices", template("t", exactly("r", "gpu", 1<<62), exactly("s", "gpu", 1<<62)),
			"resource claim c0 (ResourceClaimTemplate shop/t): it asks for 1099511627776 devices or more, and a claim can hold no more than 32"},
		{"too many ways", template("t", ways...),
			"unsupported: resource claim c0 (ResourceClaimTemplate shop/t): more than 64 ways to choose among firstAvailable"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			odd := class("odd")
			odd.Spec.Selectors = []resourcev1.DeviceSelector{{}}
			x := newIndex(t, device.Objects{
				Templates: []*resourcev1.ResourceClaimTemplate{tt.template},
				Classes:   []*resourcev1.DeviceClass{class("gpu"), odd},
			})
			require.Equal(t, tt.want, refusalOf(x, pod("p", "t")))
		})
	}
}

func TestRefusalsOfClaims(t *testing.T) {
	deleted := claim("deleted", exactly("r", "gpu", 1))
	deleted.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)}
	full := allocate(claim("full", exactly("r", "gpu", 1)), "n1", "d0")
	for range resourcev1.ResourceClaimReservedForMaxSize {
		full.Status.ReservedFor = append(full.Status.ReservedFor, resourcev1.ResourceClaimConsumerReference{UID: "other"})
	}
	member := full.DeepCopy()
	member.Name = "member"
	member.Status.ReservedFor[7].UID = "p-uid"
	odd := allocate(claim("odd", exactly("r", "gpu", 1)), "n1", "d0")
	odd.Status.Allocation.NodeSelector.NodeSelectorTerms[0].MatchFields[0].Key = "metadata.uid"
	foreign := claim("foreign", exactly("r", "gpu", 1))
	controller := true
	foreign.OwnerReferences = []metav1.OwnerReference{{Kind: "Pod", UID: "q-uid", Controller: &controller}}
	x := newIndex(t, device.Objects{
		Claims: []*resourcev1.ResourceClaim{
			claim("free", exactly("r", "gpu", 1)), deleted, full, member, odd, foreign,
			allocate(claim("held", exactly("r", "gpu", 1)), "n1", "d0"),
		},
		Classes: []*resourcev1.DeviceClass{class("gpu")},
	})
	generated := func(claim *string) *corev1.Pod {
		p := pod("p", "t")
		p.Status.ResourceClaimStatuses = []corev1.PodResourceClaimStatus{{Name: "other"}, {Name: "c0", ResourceClaimName: claim}}
		return p
	}
	nothing := pod("p")
	nothing.Spec.ResourceClaims = []corev1.PodResourceClaim{{Name: "c0"}}
	undeclared := podOf("p", "free")
	undeclared.Spec.InitContainers = []corev1.Container{{Resources: corev1.ResourceRequirements{Claims: []corev1.ResourceClaim{{Name: "c1"}}}}}
	grouped := pod("p", "t")
	grouped.Spec.SchedulingGroup = &corev1.PodSchedulingGroup{}
	name := func(s string) *string { return &s }
	for _, tt := range []struct {
		name string
		pods []*corev1.Pod
		want string
	}{
		{"free claim", []*corev1.Pod{podOf("p", "free")}, ""},
		{"same claim twice in a pod", []*corev1.Pod{podOf("p", "free", "free")}, ""},
		{"allocated claim", []*corev1.Pod{podOf("p", "held"), podOf("q", "held")}, ""},
		{"shared", []*corev1.Pod{podOf("p", "free"), podOf("q", "held"), podOf("r", "free")},
			"unsupported: resource claim c0 (ResourceClaim shop/free): not allocated yet, and shared by 2 pods that are to be placed"},
		{"no claim", []*corev1.Pod{podOf("p", "lost")}, "resource claim c0 (ResourceClaim shop/lost): there is no such claim"},
		{"deleted", []*corev1.Pod{podOf("p", "deleted")}, "resource claim c0 (ResourceClaim shop/deleted): it is being deleted"},
		{"in use by as many as can be", []*corev1.Pod{podOf("p", "full")},
			"resource claim c0 (ResourceClaim shop/full): it is in use by 256 pods, and no more may use it"},
		{"in use by this pod", []*corev1.Pod{podOf("p", "member")}, ""},
		{"odd allocation", []*corev1.Pod{podOf("p", "odd")},
			"resource claim c0 (ResourceClaim shop/odd): the node selector of its allocation: " +
				`nodeSelectorTerms[0].matchFields[0].key: Invalid value: "metadata.uid": no node can be selected by this field; use metadata.name`},
		{"no template", []*corev1.Pod{pod("p", "t")}, "resource claim c0 (ResourceClaimTemplate shop/t): there is no such template"},
		{"generated claim", []*corev1.Pod{generated(name("free"))}, ""},
		{"generated claim that is gone", []*corev1.Pod{generated(name("lost"))}, "resource claim c0 (ResourceClaim shop/lost): there is no such claim"},
		{"claim generated for another pod", []*corev1.Pod{generated(name("foreign"))},
			"resource claim c0 (ResourceClaim shop/foreign): the claim belongs to another pod"},
		{"no claim needed", []*corev1.Pod{generated(nil)}, ""},
		{"neither", []*corev1.Pod{nothing}, "resource claim c0: it names neither a ResourceClaim nor a ResourceClaimTemplate"},
		{"not declared", []*corev1.Pod{undeclared}, "a container uses resource claim c1, which spec.resourceClaims does not have"},
		{"scheduling group", []*corev1.Pod{grouped},
			"unsupported: resource claim c0 (ResourceClaimTemplate shop/t): a claim that may belong to the scheduling group of the pod"},
	} {
		t.Run(tt.name, func(t *testing.T) { require.Equal(t, tt.want, refusalOf(x, tt.pods...)) })
	}
}

func TestSelectorsNeedAMatcher(t *testing.T) {
	x, err := device.New(device.Objects{
		Templates: []*resourcev1.ResourceClaimTemplate{template("any", exactly("r", "any", 1)), template("gpu", exactly("r", "gpu", 1)), template("own", exactly("r", "any", 1, "big"))},
		Classes:   []*resourcev1.DeviceClass{class("any"), class("gpu", "gpu")},
	}, nil)
	require.NoError(t, err)
	require.Empty(t, refusalOf(x, pod("p", "any")))
	require.Equal(t, "resource claim c0 (ResourceClaimTemplate shop/gpu): request r: class gpu or the request has selectors, "+
		"which cannot be evaluated here: there is no Devices.Matcher, such as the one of package cloudprovider/devicecel", refusalOf(x, pod("p", "gpu")))
	require.Contains(t, refusalOf(x, pod("p", "own")), "there is no Devices.Matcher")
}

func TestPins(t *testing.T) {
	zoned := allocate(claim("zoned", exactly("r", "gpu", 1)), "")
	zoned.Status.Allocation.NodeSelector = &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{
		{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: "zone", Operator: corev1.NodeSelectorOpIn, Values: []string{"a", "b"}}}},
		{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: "zone", Operator: corev1.NodeSelectorOpIn, Values: []string{"c"}}}},
	}}
	anywhere := allocate(claim("anywhere", exactly("r", "gpu", 1)), "")
	anywhere.Status.Allocation.NodeSelector = nil
	x := newIndex(t, device.Objects{
		Claims: []*resourcev1.ResourceClaim{zoned, anywhere,
			allocate(claim("n1", exactly("r", "gpu", 1)), "n1", "d0"), allocate(claim("n2", exactly("r", "gpu", 1)), "n2", "d0")},
		Classes: []*resourcev1.DeviceClass{class("gpu")},
	})
	needs := x.Needs([]*corev1.Pod{
		podOf("none"), podOf("anywhere", "anywhere"), podOf("zoned", "zoned", "anywhere"), podOf("n1", "n1"),
		podOf("both", "zoned", "n1"), podOf("never", "n1", "n2"), nil,
	})
	asked := []requirements.Alternative{{Set: requirements.NewSet(requirements.In("zone", "b", "c"))}, {Set: requirements.NewSet(requirements.Exists("disk"))}}
	narrowed := func(i int) (out []string) {
		for _, a := range needs[i].Narrow(asked) {
			text := a.Set.String()
			if a.NodeNames != nil {
				text += " and " + a.NodeNames.String()
			}
			out = append(out, text)
		}
		return out
	}
	same := []string{"zone in (b, c)", "disk"}
	require.Equal(t, same, narrowed(0))
	require.Equal(t, same, narrowed(1))
	require.Equal(t, []string{"zone = b", "zone = c", "disk, zone in (a, b)", "disk, zone = c"}, narrowed(2))
	require.Equal(t, []string{"zone in (b, c) and metadata.name = n1", "disk and metadata.name = n1"}, narrowed(3))
	require.Len(t, narrowed(4), 4)
	for _, a := range needs[5].Narrow(asked) {
		require.True(t, a.NodeNames.Impossible())
	}
	require.Equal(t, same, narrowed(6))
	require.Len(t, needs[4].Pins, 2)

	c := x.Count(needs, nil)
	for i := 1; i <= 5; i++ {
		require.Zero(t, requests(t, c, &needs[i]).Len(), "what is allocated is not asked for again")
	}
	keys := map[string]bool{}
	for _, i := range []int{0, 2, 3, 4, 5} {
		keys[needs[i].Key()] = true
	}
	require.Len(t, keys, 5)
	for _, i := range []int{0, 1, 6} {
		require.Empty(t, needs[i].Key(), "it asks for nothing")
	}
}

func TestPinsOfManyTerms(t *testing.T) {
	var claims []*resourcev1.ResourceClaim
	for _, name := range []string{"a", "b", "c"} {
		c := allocate(claim(name, exactly("r", "gpu", 1)), "")
		var terms []corev1.NodeSelectorTerm
		for _, v := range []string{"1", "2", "3", "4", "5"} {
			terms = append(terms, corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: name, Operator: corev1.NodeSelectorOpIn, Values: []string{v}}}})
		}
		c.Status.Allocation.NodeSelector.NodeSelectorTerms = terms
		claims = append(claims, c)
	}
	x := newIndex(t, device.Objects{Claims: claims, Classes: []*resourcev1.DeviceClass{class("gpu")}})
	require.Empty(t, refusalOf(x, podOf("p", "a", "b")))
	require.Equal(t, "unsupported: resource claim c2 (ResourceClaim shop/c): more than 64 alternatives in the node selectors of allocations",
		refusalOf(x, podOf("p", "a", "b", "c")))
}

func TestKey(t *testing.T) {
	x := newIndex(t, device.Objects{
		Templates: []*resourcev1.ResourceClaimTemplate{
			template("one", exactly("r", "gpu", 1)), template("same", exactly("other", "gpu", 1)), template("two", exactly("r", "gpu", 2)),
			template("big", exactly("r", "gpu", 1, "big")), template("all", all("r", "gpu")),
			template("either", first("r", option("a", "gpu", 1, "big"), option("b", "gpu", 2))),
			template("swapped", first("r", option("b", "gpu", 2), option("a", "gpu", 1, "big"))),
		},
		Classes: []*resourcev1.DeviceClass{class("gpu")},
	})
	needs := x.Needs([]*corev1.Pod{pod("a", "one"), pod("b", "same"), pod("c", "two"), pod("d", "big"), pod("e", "all"), pod("f", "either"), pod("g", "swapped"), pod("h"), pod("i", "lost")})
	require.Equal(t, needs[0].Key(), needs[1].Key())
	require.Empty(t, needs[7].Key())
	seen := map[string]int{}
	for i := 1; i < len(needs); i++ {
		seen[needs[i].Key()]++
	}
	require.Len(t, seen, len(needs)-1)
}

func TestDaemonNeed(t *testing.T) {
	x := newIndex(t, device.Objects{
		Claims:    []*resourcev1.ResourceClaim{allocate(claim("made", exactly("r", "gpu", 1)), "n1", "d0")},
		Templates: []*resourcev1.ResourceClaimTemplate{template("t", exactly("r", "gpu", 2))},
		Classes:   []*resourcev1.DeviceClass{class("gpu")},
	})
	made := "made"
	running := pod("p", "t")
	running.Status.ResourceClaimStatuses = []corev1.PodResourceClaimStatus{{Name: "c0", ResourceClaimName: &made}}
	before := running.DeepCopy()
	need := x.DaemonNeed(running)
	require.Equal(t, before, running)
	require.Nil(t, need.Refusal)
	require.Empty(t, need.Pins)
	c := x.Count([]device.Need{need}, nil)
	require.Equal(t, "2 devices of class gpu", render(requests(t, c, &need)))

	need = x.DaemonNeed(podOf("p", "made"))
	require.Equal(t, &device.Refusal{Unsupported: true, Text: "resource claim c0 (ResourceClaim shop/made): one claim for all pods of a DaemonSet"}, need.Refusal)
	need = x.DaemonNeed(pod("p"))
	require.Equal(t, device.Need{}, need)
	require.Equal(t, device.Need{}, x.DaemonNeed(nil))
}

func TestClassServing(t *testing.T) {
	serving := func(name, resource string, created int64) *resourcev1.DeviceClass {
		c := &resourcev1.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: name, CreationTimestamp: metav1.Unix(created, 0)}}
		if resource != "" {
			c.Spec.ExtendedResourceName = &resource
		}
		return c
	}
	x, err := device.New(device.Objects{Classes: []*resourcev1.DeviceClass{
		serving("old", "example.com/gpu", 1), serving("b", "example.com/gpu", 2), serving("a", "example.com/gpu", 2), serving("plain", "", 3),
	}}, nil)
	require.NoError(t, err)
	for name, class := range map[corev1.ResourceName]string{
		"example.com/gpu":   "a", // the newest, and of two the first by name
		"example.com/other": "",
		"":                  "",
		"deviceclass.resource.kubernetes.io/plain": "plain",
		"deviceclass.resource.kubernetes.io/old":   "old",
		"deviceclass.resource.kubernetes.io/none":  "",
	} {
		require.Equal(t, class, x.ClassServing(name), name)
	}
}
