package disruption_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/disruption"
	"github.com/dovetail-sdk/dovetail/fake"
	"github.com/dovetail-sdk/dovetail/internal/testlong"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

func driftOf(node, reason string) map[string]cloudprovider.Drift {
	return map[string]cloudprovider.Drift{node + "-claim": {Reason: reason, Detail: "the image is old"}}
}

// reasonOf returns the reason for drift of the first node of an input.
func reasonOf(t *testing.T, in disruption.Input) string {
	t.Helper()
	all := observe(t, in, nil).Drifts()
	require.Len(t, all, 1)
	return all[0].Reason
}

func TestStaticHashDrift(t *testing.T) {
	pool := newPool("web")
	annotated := func(version, hash string) func(*provisioning.Node) {
		return func(n *provisioning.Node) {
			if version != "" {
				n.NodeClaim.Annotations[v1.NodePoolHashVersionAnnotationKey] = version
			}
			if hash != "" {
				n.NodeClaim.Annotations[v1.NodePoolHashAnnotationKey] = hash
			}
		}
	}
	tests := []struct {
		name          string
		version, hash string // of the pool's annotations
		claim         func(*provisioning.Node)
		want          string
	}{
		{"equal", "v3", pool.Hash(), annotated("v3", pool.Hash()), ""},
		{"differs", "v3", pool.Hash(), annotated("v3", "2"), disruption.NodePoolDrifted},
		{"from before an edit of the pool", "v3", "1", annotated("v3", "1"), disruption.NodePoolDrifted},
		{"launched after an edit of the pool", "v3", "1", annotated("v3", pool.Hash()), ""},
		{"another version, equal", "v2", "1", annotated("v2", "1"), ""},
		{"another version, differs", "v2", "1", annotated("v2", "2"), disruption.NodePoolDrifted},
		{"another version, launched since", "v2", "1", annotated("v3", pool.Hash()), ""},
		{"versions differ", "v3", "1", annotated("v2", "2"), ""},
		{"claim has no version", "v3", "1", annotated("", "2"), ""},
		{"claim has no hash", "v3", "1", annotated("v3", ""), ""},
		{"pool not annotated, computed equal", "", "", annotated(v1.NodePoolHashVersion, pool.Hash()), ""},
		{"pool not annotated, computed differs", "", "", annotated(v1.NodePoolHashVersion, "2"), disruption.NodePoolDrifted},
		{"pool not annotated, other version", "", "", annotated("v2", "2"), ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in := newInput(newNode("n", "web", tt.claim))
			if tt.version != "" {
				in.NodePools[0].Annotations = map[string]string{
					v1.NodePoolHashVersionAnnotationKey: tt.version, v1.NodePoolHashAnnotationKey: tt.hash}
			}
			require.Equal(t, tt.want, reasonOf(t, in))
		})
	}
}

func TestRequirementDrift(t *testing.T) {
	tests := []struct {
		name     string
		key      string
		operator corev1.NodeSelectorOperator
		values   []string
		want     string
	}{
		{"holds", corev1.LabelTopologyZone, corev1.NodeSelectorOpIn, []string{"a", "b"}, ""},
		{"narrowed away", corev1.LabelTopologyZone, corev1.NodeSelectorOpIn, []string{"b"}, disruption.RequirementsDrifted},
		{"excluded", corev1.LabelTopologyZone, corev1.NodeSelectorOpNotIn, []string{"a"}, disruption.RequirementsDrifted},
		{"well-known label missing", corev1.LabelArchStable, corev1.NodeSelectorOpIn, []string{"amd64"}, disruption.RequirementsDrifted},
		{"own label missing", "example.com/team", corev1.NodeSelectorOpExists, nil, disruption.RequirementsDrifted},
		{"own label missing, number", "example.com/tier", corev1.NodeSelectorOpGt, []string{"1"}, disruption.RequirementsDrifted},
		{"absence allowed by NotIn", "example.com/team", corev1.NodeSelectorOpNotIn, []string{"x"}, ""},
		{"absence asked for", "example.com/team", corev1.NodeSelectorOpDoesNotExist, nil, ""},
		{"presence forbidden", corev1.LabelTopologyZone, corev1.NodeSelectorOpDoesNotExist, nil, disruption.RequirementsDrifted},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in := newInput(newNode("n", "web"))
			in.NodePools[0].Spec.Template.Spec.Requirements = []v1.NodeSelectorRequirementWithMinValues{
				{Key: tt.key, Operator: tt.operator, Values: tt.values, MinValues: new(50)}}
			require.Equal(t, tt.want, reasonOf(t, in))
		})
	}
}

func TestCatalogDrift(t *testing.T) {
	young := func(n *provisioning.Node) { n.NodeClaim.CreationTimestamp = at(-time.Hour + time.Nanosecond) }
	hour := func(n *provisioning.Node) { n.NodeClaim.CreationTimestamp = at(-time.Hour) }
	gone := withLabel(corev1.LabelInstanceTypeStable, "old.large")
	reserved := withLabel(v1.CapacityTypeLabelKey, v1.CapacityTypeReserved)
	onDemandOnly := newType("m.large", 0, cloudprovider.Offering{Zone: "a", CapacityType: v1.CapacityTypeOnDemand, Price: 1})
	spotOnly := newType("m.large", 0, cloudprovider.Offering{Zone: "a", CapacityType: v1.CapacityTypeSpot, Price: 1})
	tests := []struct {
		name    string
		node    provisioning.Node
		catalog []*cloudprovider.InstanceType
		want    string
	}{
		{"there, though not available", newNode("n", "web"), catalog(onDemandOnly), ""},
		{"type gone", newNode("n", "web", gone), catalog(onDemandOnly), disruption.InstanceTypeNotFound},
		{"type gone, claim of an hour", newNode("n", "web", gone, hour), catalog(onDemandOnly), disruption.InstanceTypeNotFound},
		{"type gone, claim too young", newNode("n", "web", gone, young), catalog(onDemandOnly), ""},
		{"zone gone", newNode("n", "web", withLabel(corev1.LabelTopologyZone, "c")), catalog(onDemandOnly), disruption.InstanceTypeNotFound},
		{"capacity type gone", newNode("n", "web"), catalog(spotOnly), disruption.InstanceTypeNotFound},
		{"reserved is content with on-demand", newNode("n", "web", reserved), catalog(onDemandOnly), ""},
		{"reserved is not content with spot", newNode("n", "web", reserved), catalog(spotOnly), disruption.InstanceTypeNotFound},
		{"no catalog", newNode("n", "web", gone), nil, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in := newInput(tt.node)
			in.InstanceTypes["web"] = tt.catalog
			require.Equal(t, tt.want, reasonOf(t, in))
		})
	}
}

func catalog(list ...*cloudprovider.InstanceType) []*cloudprovider.InstanceType { return list }

func TestEndedReservationCountsAsOnDemand(t *testing.T) {
	const reservationKey = "example.com/reservation"
	reservedType := func(id string) *cloudprovider.InstanceType {
		return newType("m.large", 0,
			cloudprovider.Offering{Zone: "a", CapacityType: v1.CapacityTypeOnDemand, Price: 1, Available: true},
			cloudprovider.Offering{Zone: "a", CapacityType: v1.CapacityTypeReserved, ReservationID: id, Price: 0.01,
				Available: true, Requirements: requirements.MustParse(reservationKey + " = " + id)})
	}
	node := newNode("n", "web", withLabel(v1.CapacityTypeLabelKey, v1.CapacityTypeReserved), withLabel(reservationKey, "cr-1"))
	for _, tt := range []struct {
		name, offered string
		allowed       []string
		want          string
		price         float64
	}{
		{"offered", "cr-1", []string{"reserved"}, "", 0.01},
		{"ended, on-demand allowed", "cr-2", []string{"reserved", "on-demand"}, "", 1},
		{"ended, reserved only", "cr-2", []string{"reserved"}, disruption.RequirementsDrifted, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			in := newInput(node)
			in.InstanceTypes["web"] = catalog(reservedType(tt.offered))
			in.NodePools[0].Spec.Template.Spec.Requirements = []v1.NodeSelectorRequirementWithMinValues{
				{Key: v1.CapacityTypeLabelKey, Operator: corev1.NodeSelectorOpIn, Values: tt.allowed}}
			require.Equal(t, tt.want, reasonOf(t, in))
			candidates, _ := observe(t, in, nil).Candidates(disruption.MethodEmptiness)
			require.Equal(t, tt.price, candidates[0].Price)
		})
	}
}

func TestDriftReasonsInOrder(t *testing.T) {
	in := newInput(newNode("n", "web", withLabel(corev1.LabelInstanceTypeStable, "gone")))
	in.Drift = driftOf("n", "AMIDrift")
	claim, pool := in.Nodes[0].NodeClaim, in.NodePools[0]
	claim.Annotations[v1.NodePoolHashVersionAnnotationKey] = v1.NodePoolHashVersion
	claim.Annotations[v1.NodePoolHashAnnotationKey] = "1"
	pool.Spec.Template.Spec.Requirements = []v1.NodeSelectorRequirementWithMinValues{
		{Key: corev1.LabelTopologyZone, Operator: corev1.NodeSelectorOpIn, Values: []string{"b"}}}
	require.Equal(t, disruption.NodePoolDrifted, reasonOf(t, in))
	claim.Annotations[v1.NodePoolHashAnnotationKey] = pool.Hash()
	require.Equal(t, disruption.RequirementsDrifted, reasonOf(t, in))
	pool.Spec.Template.Spec.Requirements = nil
	claim.Annotations[v1.NodePoolHashAnnotationKey] = pool.Hash()
	require.Equal(t, disruption.InstanceTypeNotFound, reasonOf(t, in))
	claim.Labels[corev1.LabelInstanceTypeStable] = "m.large"
	require.Equal(t, "AMIDrift", reasonOf(t, in))
	in.Drift = nil
	require.Empty(t, reasonOf(t, in))
	setCondition(claim, v1.ConditionTypeLaunched, metav1.ConditionUnknown, born)
	require.Empty(t, observe(t, in, nil).Drifts(), "a claim that is not launched is not judged")
}

func TestDriftOrder(t *testing.T) {
	drifted := func(since time.Duration) func(*provisioning.Node) {
		return withCondition(v1.ConditionTypeDrifted, metav1.ConditionTrue, since)
	}
	busy := func(name string) func(*provisioning.Node) { return withPods(newPod(name)) }
	in := newInput(
		newNode("a-new", "web", busy("a")),
		newNode("b-young", "web", busy("b"), drifted(-time.Minute)),
		newNode("c-old", "web", busy("c"), drifted(-time.Hour)),
		newNode("d-empty", "web", drifted(-time.Second), withPods(newPod("d", owner("apps/v1", "DaemonSet")))),
		newNode("e-fine", "web"),
	)
	in.Drift = map[string]cloudprovider.Drift{}
	for _, n := range []string{"a-new", "b-young", "c-old", "d-empty"} {
		in.Drift[n+"-claim"] = cloudprovider.Drift{Reason: "AMIDrift"}
	}
	r := observe(t, in, nil).Drift()
	require.Equal(t, []string{"Delete d-empty AMIDrift", "Replace c-old AMIDrift", "Replace b-young AMIDrift", "Replace a-new AMIDrift"}, brief(r.Actions))
	require.Empty(t, r.Blocked, "what has not drifted is not worth a word")
}

func TestStaticDrift(t *testing.T) {
	fixed := func(n int, edits ...func(*v1.NodePool)) disruption.Input {
		in := newInput()
		in.NodePools = []*v1.NodePool{newPool("web", edits...)}
		in.Drift = map[string]cloudprovider.Drift{}
		for _, name := range []string{"a", "b", "c"}[:n] {
			in.Nodes = append(in.Nodes, newNode(name, "web", withPods(newPod(name))))
			in.Drift[name+"-claim"] = cloudprovider.Drift{Reason: "AMIDrift"}
		}
		return in
	}
	limited := func(text string) func(*v1.NodePool) {
		return func(p *v1.NodePool) {
			p.Spec.Replicas, p.Spec.Limits = new(int64(2)), v1.Limits{v1.ResourceNodes: resource.MustParse(text)}
		}
	}
	unready := func(p *v1.NodePool) {
		p.Status.Conditions = []metav1.Condition{{Type: v1.ConditionTypeReady, Status: metav1.ConditionFalse}}
	}
	first := &disruption.Options{Drift: disruption.DriftOptions{TerminateFirst: true}}
	tests := []struct {
		name    string
		in      disruption.Input
		opts    *disruption.Options
		want    []string
		blocked []string
	}{
		{"no limit", fixed(2, replicas(2, 0)), nil, []string{"Replace a AMIDrift", "Replace b AMIDrift"}, []string{}},
		{"room for one", fixed(2, replicas(2, 3)), nil, []string{"Replace a AMIDrift"}, []string{"b StaticAtLimit"}},
		{"room for one and the gate", fixed(2, replicas(2, 3)), first, []string{"Replace a AMIDrift"}, []string{"b StaticAtLimit"}},
		{"limit equals replicas", fixed(2, replicas(2, 2)), nil, []string{}, []string{"a StaticAtLimit", "b StaticAtLimit"}},
		{"limit equals replicas and the gate", fixed(2, replicas(2, 2)), first,
			[]string{"TerminateFirst a AMIDrift (StaticAtLimit)", "TerminateFirst b AMIDrift (StaticAtLimit)"}, []string{}},
		{"pool not ready", fixed(1, replicas(1, 1), unready), first, []string{}, []string{"a PoolNotReady"}},
		{"too many nodes", fixed(3, replicas(2, 0)), nil, []string{}, []string{"a OverReplicas", "b OverReplicas", "c OverReplicas"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := observe(t, tt.in, tt.opts).Drift()
			require.Equal(t, tt.want, brief(r.Actions))
			require.Equal(t, tt.blocked, rules(r.Blocked))
		})
	}
	for limit, want := range map[int64]string{2: "so nothing can replace it; raise spec.limits[nodes] above the replicas",
		3: "so nothing can replace it until others of it have gone; raise spec.limits[nodes] for more at once"} {
		blocked := observe(t, fixed(2, replicas(2, limit)), nil).Drift().Blocked
		require.Contains(t, blocked[len(blocked)-1].Detail, want)
	}
	t.Run("a part of a node counts as one", func(t *testing.T) {
		r := observe(t, fixed(2, limited("2500m")), nil).Drift()
		require.Equal(t, []string{"Replace a AMIDrift"}, brief(r.Actions))
		require.Equal(t, []string{"b StaticAtLimit"}, rules(r.Blocked))
	})
	t.Run("a limit that cannot be read leaves no room", func(t *testing.T) {
		for text, want := range map[string]string{"-1": "it is negative; a limit is zero or more", "-10E": "nodes", "10E": "nodes"} {
			for _, opts := range []*disruption.Options{nil, first} {
				f, err := disruption.Observe(noon, fixed(2, limited(text)), opts)
				require.ErrorContains(t, err, `NodePool "web": spec.limits[nodes]: `, text)
				require.ErrorContains(t, err, want, text)
				r := f.Drift()
				require.Empty(t, r.Actions, text)
				require.Equal(t, []string{"a StaticAtLimit", "b StaticAtLimit"}, rules(r.Blocked), text)
				require.Contains(t, r.Blocked[0].Detail, "nobody can tell its limit of nodes", text)
			}
		}
	})
	t.Run("drain is bounded", func(t *testing.T) {
		a := observe(t, fixed(1, replicas(1, 1)), first).Drift().Actions[0]
		require.Equal(t, disruption.TerminateFirstDrain, *a.DrainBound)
	})
}

func TestStaticDriftOfReservations(t *testing.T) {
	offering := func(id string, left int) cloudprovider.Offering {
		return cloudprovider.Offering{Zone: "a", CapacityType: v1.CapacityTypeReserved, ReservationID: id, Price: 0.01,
			Available: true, ReservationCapacity: left, Requirements: requirements.MustParse("example.com/reservation = " + id)}
	}
	in := newInput(
		newNode("a", "web", withPods(newPod("a")), withLabel(v1.CapacityTypeLabelKey, v1.CapacityTypeReserved), withLabel("example.com/reservation", "cr-0")),
		newNode("b", "web", withPods(newPod("b")), withLabel(v1.CapacityTypeLabelKey, v1.CapacityTypeReserved), withLabel("example.com/reservation", "cr-1")))
	in.NodePools = []*v1.NodePool{newPool("web", replicas(2, 0))}
	in.Drift = map[string]cloudprovider.Drift{"a-claim": {Reason: "AMIDrift"}, "b-claim": {Reason: "AMIDrift"}}
	on := &disruption.Options{Drift: disruption.DriftOptions{TerminateFirst: true}}

	sells := func(offerings ...cloudprovider.Offering) {
		kind := sized("m.large", 2, 0)
		kind.Offerings = offerings
		in.InstanceTypes["web"] = catalog(kind)
	}
	sells(offering("cr-1", 0))
	r := observe(t, in, on).Drift()
	require.Equal(t, []string{"TerminateFirst b AMIDrift (NoReservedCapacity)"}, brief(r.Actions))
	require.Equal(t, []string{"a ReservationFull"}, rules(r.Blocked))
	r = observe(t, in, nil).Drift()
	require.Empty(t, r.Actions, "nothing can be launched first")
	require.Equal(t, []string{"a NothingToLaunch", "b NothingToLaunch"}, rules(r.Blocked))

	sells(offering("cr-1", 1))
	for _, opts := range []*disruption.Options{nil, on} {
		require.Equal(t, []string{"Replace b AMIDrift", "Replace a AMIDrift"}, brief(observe(t, in, opts).Drift().Actions), "those of a reservation come first")
	}

	// Spot that is not available now keeps the pool from being full: it is sold out.
	spot := cloudprovider.Offering{Zone: "a", CapacityType: v1.CapacityTypeSpot, Price: 0.1}
	sells(offering("cr-1", 0), spot)
	in.NodePools[0] = newPool("web", replicas(2, 2))
	for _, opts := range []*disruption.Options{nil, on} {
		r = observe(t, in, opts).Drift()
		require.Empty(t, r.Actions, "also at the limit of nodes: no other would come")
		require.Equal(t, []string{"a NothingToLaunch", "b NothingToLaunch"}, rules(r.Blocked))
		require.Equal(t, disruption.CodeNoReplacement, r.Blocked[0].Code)
		require.Equal(t, `NodePool "web" launches no nodes now, so nothing can replace it: none of the 2 offerings that its template admits is available; they are launched once one is`,
			r.Blocked[0].Detail)
	}
	spot.Available = true
	sells(offering("cr-1", 0), spot)
	in.NodePools[0] = newPool("web", replicas(2, 0))
	require.Equal(t, []string{"Replace b AMIDrift", "Replace a AMIDrift"}, brief(observe(t, in, on).Drift().Actions))
}

// TestTheIDOfAZoneOfAnotherAccount has nodes of an account in which the zones of the
// catalog have other IDs.
func TestTheIDOfAZoneOfAnotherAccount(t *testing.T) {
	offering := func(zone, id string, price float64) cloudprovider.Offering {
		return cloudprovider.Offering{Zone: zone, CapacityType: v1.CapacityTypeOnDemand, Price: price, Available: true,
			Requirements: requirements.MustParse(awsv1.LabelTopologyZoneID + " = " + id)}
	}
	for _, tt := range []struct {
		name, zone string
		vocabulary *requirements.Vocabulary
		known      bool
	}{
		{"the zone is the same", "a", fake.Vocabulary(), true},
		{"another zone", "c", fake.Vocabulary(), false},
		{"nobody says that it is a name of the zone", "a", nil, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			in := newInput(newNode("n", "web", withLabel(corev1.LabelTopologyZone, tt.zone), withLabel(awsv1.LabelTopologyZoneID, "id-2")))
			in.InstanceTypes["web"] = catalog(newType("m.large", 0, offering("a", "id-1", 0.25), offering("b", "id-2", 0.5)))
			in.Vocabulary = tt.vocabulary
			reason, cost, unknown := "", 0.25, 0
			if !tt.known {
				reason, cost, unknown = disruption.InstanceTypeNotFound, 0, 1
			}
			require.Equal(t, reason, reasonOf(t, in))
			p := propose(t, in, nil)
			require.Equal(t, unknown, p.UnknownPrices)
			require.Equal(t, cost, p.CostBefore)
		})
	}
}

// TestATemplateEditRollsEveryNodeOnce edits the templates of pools that nobody writes
// new hashes to: the nodes that were there drift, no node that is launched for them
// does, and the cluster comes to rest.
func TestATemplateEditRollsEveryNodeOnce(t *testing.T) {
	n := int(testlong.Problems(60, 5))
	replaced := 0
	for seed := range n {
		m := newMaker(uint64(90_000 + seed))
		in, opts := m.mixed(6)
		hashes := map[string]string{}
		for i, pool := range in.NodePools {
			hashes[pool.Name] = pool.Hash()
			edited := pool.DeepCopy()
			edited.Annotations = map[string]string{v1.NodePoolHashAnnotationKey: pool.Hash(), v1.NodePoolHashVersionAnnotationKey: v1.NodePoolHashVersion}
			edited.Spec.Template.Labels = map[string]string{"cost-center": "42"}
			in.NodePools[i] = edited
		}
		old := map[string]bool{}
		for i := range in.Nodes {
			old[in.Nodes[i].Name()] = true
			if claim := in.Nodes[i].NodeClaim; claim != nil {
				claim.Annotations = map[string]string{v1.NodePoolHashVersionAnnotationKey: v1.NodePoolHashVersion,
					v1.NodePoolHashAnnotationKey: hashes[claim.Labels[v1.NodePoolLabelKey]]}
			}
		}
		drifted := 0
		for _, s := range observe(t, in, opts).Drifts() {
			if s.Reason == disruption.NodePoolDrifted {
				drifted++
			}
		}
		require.Positive(t, drifted, "seed %d", seed)
		rest, now, _ := atRest(t, seed, in, opts)
		fleet, err := disruption.Observe(now.Add(24*time.Hour), rest, opts)
		require.NoError(t, err)
		for _, s := range fleet.Drifts() {
			if old[s.Node] {
				continue
			}
			require.NotEqual(t, disruption.NodePoolDrifted, s.Reason, "seed %d: %s", seed, s)
			replaced++
		}
	}
	require.Greater(t, replaced, n, "nodes are launched")
}
