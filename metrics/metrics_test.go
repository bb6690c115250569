package metrics_test

import (
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/disruption"
	"github.com/dovetail-sdk/dovetail/disruption/command"
	"github.com/dovetail-sdk/dovetail/fake"
	"github.com/dovetail-sdk/dovetail/metrics"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

var noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

// lines are samples as an exposition has them. Each has to be of a metric that is listed,
// with as many labels, and there is one of each series.
func lines(t *testing.T, samples []metrics.Sample) []string {
	t.Helper()
	all := map[string]metrics.Metric{}
	for _, m := range metrics.All() {
		all[m.Name] = m
	}
	var out []string
	for _, s := range samples {
		m, ok := all[s.Name]
		require.True(t, ok, "%s is not listed", s.Name)
		require.Len(t, s.Labels, len(m.Labels), s.Name)
		var labels []string
		for i, name := range m.Labels {
			if s.Labels[i] != "" {
				labels = append(labels, fmt.Sprintf("%s=%q", name, s.Labels[i]))
			}
		}
		out = append(out, fmt.Sprintf("%s{%s} %g", strings.TrimPrefix(s.Name, "karpenter_"), strings.Join(labels, ","), s.Value))
	}
	slices.Sort(out)
	require.Len(t, slices.Compact(slices.Clone(out)), len(out), "a series is there twice")
	return out
}

func TestAll(t *testing.T) {
	seen := map[string]bool{}
	for _, m := range metrics.All() {
		require.False(t, seen[m.Name], m.Name)
		seen[m.Name] = true
		require.True(t, strings.HasPrefix(m.Name, "karpenter_"), m.Name)
		require.NotEmpty(t, m.Help, m.Name)
		require.Equal(t, m.Kind == metrics.Counter, strings.HasSuffix(m.Name, "_total") && m.Name != "karpenter_nodepools_cost_total", m.Name)
		require.Equal(t, m.Unit == "seconds", strings.HasSuffix(m.Name, "_seconds"), m.Name)
		require.Len(t, slices.Compact(slices.Sorted(slices.Values(m.Labels))), len(m.Labels), m.Name)
		require.Equal(t, m.Kind == metrics.Histogram, len(m.Buckets) > 0, m.Name)
		require.True(t, slices.IsSorted(m.Buckets), m.Name)
	}
	metrics.All()[0].Labels[0] = "spoiled"
	require.NotEqual(t, "spoiled", metrics.All()[0].Labels[0], "the caller owns the list")
}

func pod(name, kind, node, cpu, limit string) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, OwnerReferences: []metav1.OwnerReference{{Kind: kind, Name: "owner", Controller: new(true)}}}}
	p.Spec.NodeName = node
	c := corev1.Container{Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": resource.MustParse(cpu)}}}
	if limit != "" {
		c.Resources.Limits = corev1.ResourceList{"cpu": resource.MustParse(limit)}
	}
	p.Spec.Containers = []corev1.Container{c}
	p.Status.Phase = corev1.PodRunning
	return p
}

// node has a NodeClaim, four cores of which half a core is the system's, and two pods.
func node() provisioning.Node {
	labels := map[string]string{v1.NodePoolLabelKey: "general", corev1.LabelTopologyZone: "a", v1.CapacityTypeLabelKey: "spot", corev1.LabelInstanceTypeStable: "m5.xlarge", v1.NodeInitializedLabelKey: "true"}
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n", Labels: labels, CreationTimestamp: metav1.NewTime(noon.Add(-time.Hour))}}
	n.Status.Capacity = corev1.ResourceList{"cpu": resource.MustParse("4")}
	n.Status.Allocatable = corev1.ResourceList{"cpu": resource.MustParse("3500m")}
	claim := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "c", Labels: labels}}
	done := pod("done", "Job", "n", "3", "")
	done.Status.Phase = corev1.PodSucceeded
	return provisioning.Node{Node: n, NodeClaim: claim, Pods: []*corev1.Pod{pod("web", "ReplicaSet", "n", "1", "2"), pod("agent", "DaemonSet", "n", "400m", ""), done, nil}}
}

func pool() *v1.NodePool {
	p := &v1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "general"}}
	p.Spec.Limits = v1.Limits{"cpu": resource.MustParse("100")}
	p.Spec.Disruption.Budgets = []v1.Budget{{Nodes: "2", Reasons: []v1.DisruptionReason{v1.DisruptionReasonDrifted}}}
	p.Spec.Disruption.ConsolidationPolicy = v1.ConsolidationPolicyWhenEmptyOrUnderutilized
	return p
}

// A Node that somebody made up, as for a node group, has no age.
func TestNodeWithoutAge(t *testing.T) {
	n := node()
	n.Node.CreationTimestamp = metav1.Time{}
	for _, s := range (metrics.Input{Nodes: []provisioning.Node{n}}).Samples(noon) {
		require.NotEqual(t, "karpenter_nodes_current_lifetime_seconds", s.Name)
	}
}

func TestFleet(t *testing.T) {
	n := node()
	f := metrics.Input{Nodes: []provisioning.Node{n, {NodeClaim: &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "coming", Labels: n.NodeClaim.Labels}}}},
		Pods: append(n.Pods[:1:1], nil), NodePools: []*v1.NodePool{pool(), nil},
		Usage: []provisioning.PoolUsage{{Pool: pool(), Resources: resources.MustParse("cpu=4, ephemeral-storage=1Gi")}, {}},
		Price: func(name string) (float64, bool) { return 0.2, name == "n" }}
	at := `{node_name="n",nodepool="general",zone="a",instance_type="m5.xlarge",capacity_type="spot",managed="true",resource_type="cpu"} `
	require.Equal(t, []string{
		`cluster_state_node_count{} 2`,
		`cluster_utilization_percent{resource_type="cpu"} 40`,
		`nodepools_allowed_disruptions{nodepool="general",reason="drifted"} 2`,
		fmt.Sprintf(`nodepools_allowed_disruptions{nodepool="general",reason="empty"} %g`, float64(math.MaxInt32)),
		fmt.Sprintf(`nodepools_allowed_disruptions{nodepool="general",reason="underutilized"} %g`, float64(math.MaxInt32)),
		fmt.Sprintf(`nodepools_allowed_disruptions{nodepool="general",reason="unhealthy"} %g`, float64(math.MaxInt32)),
		`nodepools_cost_total{nodepool="general"} 0.2`,
		`nodepools_limit{resource_type="cpu",nodepool="general"} 100`,
		`nodepools_nodes_consuming_budgets{nodepool="general",reason="drifted"} 1`,
		`nodepools_nodes_consuming_budgets{nodepool="general",reason="empty"} 1`,
		`nodepools_nodes_consuming_budgets{nodepool="general",reason="underutilized"} 1`,
		`nodepools_nodes_consuming_budgets{nodepool="general",reason="unhealthy"} 0`, // one that is not ready is what repair is for
		`nodepools_usage{resource_type="cpu",nodepool="general"} 4`,
		`nodepools_usage{resource_type="ephemeral_storage",nodepool="general"} 1.073741824e+09`,
		`nodes_allocatable` + at + `3.5`,
		`nodes_current_lifetime_seconds{node_name="n",nodepool="general",zone="a",instance_type="m5.xlarge",capacity_type="spot",managed="true"} 3600`,
		`nodes_system_overhead` + at + `0.5`,
		`nodes_total_daemon_requests` + at + `0.4`,
		`nodes_total_pod_limits` + at + `2`,
		`nodes_total_pod_requests` + at + `1.4`,
		`pods_state{name="web",namespace="shop",owner="ReplicaSet/owner",node="n",scheduled="true",nodepool="general",zone="a",capacity_type="spot",instance_type="m5.xlarge",phase="Running",ready="false",managed="true"} 1`,
	}, slices.DeleteFunc(lines(t, f.Samples(noon)), func(line string) bool { return strings.Contains(line, `resource_type="pods"`) }))

	f.Leaving = map[string]disruption.Reason{"n": disruption.Drifted}
	n.Node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
	require.Contains(t, lines(t, f.Samples(noon)), `nodepools_nodes_consuming_budgets{nodepool="general",reason="unhealthy"} 1`)
	require.Equal(t, []string{`cluster_state_node_count{} 0`}, lines(t, metrics.Input{}.Samples(noon)))
}

func TestDecisions(t *testing.T) {
	nodes, pools := []provisioning.Node{node()}, []*v1.NodePool{nil, pool()}
	target := disruption.Target{Node: "n", NodeClaim: "c", NodePool: "general"}
	empty := disruption.Action{Reason: disruption.Empty, Operation: disruption.Delete, Targets: []disruption.Target{target, {NodeClaim: "unknown", NodePool: "general"}}}
	require.Equal(t, []string{
		`nodeclaims_disrupted_total{reason="empty",nodepool="general",capacity_type="spot",consolidation_policy="when_empty_or_underutilized",termination_mode="graceful"} 1`,
		`pods_disruption_initiated_total{reason="empty",nodepool="general",capacity_type="spot",consolidation_policy="when_empty_or_underutilized",termination_mode="graceful"} 2`,
		`voluntary_disruption_decisions_by_nodepool_total{decision="delete",reason="empty",consolidation_type="empty",nodepool="general"} 1`,
		`voluntary_disruption_decisions_total{decision="delete",reason="empty",consolidation_type="empty"} 1`,
	}, lines(t, metrics.Begun(empty, nodes, pools)))

	nodes[0].NodeClaim.Spec.TerminationGracePeriod = &metav1.Duration{}
	require.Equal(t, []string{
		`nodeclaims_disrupted_total{reason="garbage_collected",nodepool="general",capacity_type="spot",termination_mode="forceful"} 1`,
		`pods_disruption_initiated_total{reason="garbage_collected",nodepool="general",capacity_type="spot",termination_mode="forceful"} 2`,
	}, lines(t, metrics.Begun(disruption.Action{Reason: disruption.GarbageCollected, Operation: disruption.Delete, Targets: []disruption.Target{target}}, nodes, pools)))
	require.Equal(t, []string{
		`voluntary_disruption_decisions_by_nodepool_total{decision="reboot",reason="unhealthy",nodepool="general"} 1`,
		`voluntary_disruption_decisions_total{decision="reboot",reason="unhealthy"} 1`,
	}, lines(t, metrics.Begun(disruption.Action{Reason: disruption.Unhealthy, Operation: disruption.Reboot, Targets: []disruption.Target{target}}, nodes, pools)))

	two := disruption.Action{Reason: disruption.Underutilized, Operation: disruption.Delete, Targets: []disruption.Target{target, target}}
	require.Equal(t, []string{`voluntary_disruption_failed_validations_total{consolidation_type="multi"} 1`}, lines(t, metrics.NotConfirmed(two)))
	require.Equal(t, []string{`voluntary_disruption_queue_failures_total{decision="replace",reason="underutilized",consolidation_type="single"} 1`},
		lines(t, metrics.Undone(command.Command{Reason: disruption.Underutilized, Sources: make([]command.Source, 1), Replacements: make([]command.Replacement, 1)})))

	p := &disruption.Proposal{Actions: []disruption.Action{empty}, Waiting: []disruption.Waiting{{Action: two}}}
	require.Equal(t, []string{
		`voluntary_disruption_decision_evaluation_duration_seconds{} 2`,
		`voluntary_disruption_eligible_nodes{reason="drifted"} 0`,
		`voluntary_disruption_eligible_nodes{reason="empty"} 2`,
		`voluntary_disruption_eligible_nodes{reason="underutilized"} 2`,
		`voluntary_disruption_eligible_nodes{reason="unhealthy"} 0`,
	}, lines(t, metrics.Proposed(p, 2*time.Second)))
	require.Len(t, metrics.Proposed(nil, 0), 1)

	plan := &provisioning.Plan{Unplaced: make([]provisioning.Unplaced, 3)}
	require.Equal(t, []string{
		`scheduler_queue_depth{controller="provisioner"} 5`,
		`scheduler_scheduling_duration_seconds{controller="provisioner"} 0.5`,
		`scheduler_unschedulable_pods_count{controller="provisioner"} 3`,
	}, lines(t, metrics.Scheduled(5, plan, time.Second/2)))
	require.Len(t, metrics.Scheduled(5, nil, 0), 1)
	require.Equal(t, []string{`nodeclaims_created_total{reason="provisioned",nodepool="general",min_values_relaxed="false"} 1`},
		lines(t, metrics.Created(nodes[0].NodeClaim, metrics.Provisioned)))
	nodes[0].NodeClaim.Annotations = map[string]string{v1.NodeClaimMinValuesRelaxedAnnotationKey: "true"}
	require.Equal(t, []string{`nodeclaims_created_total{reason="drifted",nodepool="general",min_values_relaxed="true"} 1`},
		lines(t, metrics.Created(nodes[0].NodeClaim, string(disruption.Drifted))))
	require.Empty(t, metrics.Created(nil, ""))
}

func TestLifecycle(t *testing.T) {
	n := node()
	require.Equal(t, []string{`nodes_created_total{nodepool="general",zone="a"} 1`}, lines(t, metrics.Joined(n.Node)))
	require.Empty(t, metrics.Joined(nil))
	ago := func(d time.Duration) *metav1.Time { t := metav1.NewTime(noon.Add(-d)); return &t }
	n.NodeClaim.DeletionTimestamp, n.Node.DeletionTimestamp = ago(time.Minute), ago(10*time.Second)
	n.NodeClaim.Status.Conditions = []metav1.Condition{{Type: v1.ConditionTypeInstanceTerminating, Status: metav1.ConditionTrue, LastTransitionTime: *ago(5 * time.Second)}}
	require.Equal(t, []string{
		`nodeclaims_instance_termination_duration_seconds{nodepool="general"} 5`,
		`nodeclaims_terminated_total{nodepool="general",capacity_type="spot",zone="a"} 1`,
		`nodeclaims_termination_duration_seconds{nodepool="general"} 60`,
		`nodes_drained_total{nodepool="general"} 1`,
		`nodes_lifetime_duration_seconds{nodepool="general"} 3600`,
		`nodes_terminated_total{nodepool="general",zone="a"} 1`,
		`nodes_termination_duration_seconds{nodepool="general"} 10`,
	}, lines(t, metrics.Terminated(noon, n.NodeClaim, n.Node)))
	require.Len(t, metrics.Terminated(noon, n.NodeClaim, nil), 3)
	require.Empty(t, metrics.Terminated(noon, nil, n.Node))

	require.Equal(t, []string{`pods_eviction_requests_total{code="429"} 1`}, lines(t, metrics.Evicted(429, "Empty")))
	require.Equal(t, []string{`pods_drained_total{reason="Empty"} 1`, `pods_eviction_requests_total{code="201"} 1`}, lines(t, metrics.Evicted(201, "Empty")))

	before := n.Pods[0]
	before.CreationTimestamp = *ago(time.Minute)
	after := before.DeepCopy()
	after.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionTrue, LastTransitionTime: *ago(50 * time.Second)},
		{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: *ago(30 * time.Second)}}
	want := []string{`pods_bound_duration_seconds{} 10`, `pods_startup_duration_seconds{} 30`}
	require.Equal(t, want, lines(t, metrics.PodChanged(before, after)))
	require.Equal(t, want, lines(t, metrics.PodChanged(nil, after)))
	require.Empty(t, metrics.PodChanged(after, after))
	require.Empty(t, metrics.PodChanged(before, nil))
}

func TestCalls(t *testing.T) {
	c := metrics.Call{Controller: "lifecycle", Method: "Create", Provider: "kwok", NodePool: "general", Took: time.Second}
	took := `cloudprovider_duration_seconds{controller="lifecycle",method="Create",provider="kwok"} 1`
	require.Equal(t, []string{took}, lines(t, c.Samples()))
	for word, err := range map[string]error{
		"unknown": errors.New("broken"), "NodeClaimNotFoundError": cloudprovider.ErrNotFound, "Throttled": &cloudprovider.Error{Kind: cloudprovider.KindThrottled, Err: errors.New("slow down")},
		"NodeClassNotReadyError":    &cloudprovider.Error{Kind: cloudprovider.KindNotReady, Err: errors.New("no subnets")},
		"InsufficientCapacityError": &cloudprovider.Error{Kind: cloudprovider.KindInsufficientCapacity, Err: errors.New("sold out")},
	} {
		c.Err = err
		require.Equal(t, []string{took, fmt.Sprintf(`cloudprovider_errors_total{controller="lifecycle",method="Create",provider="kwok",error=%q,nodepool="general"} 1`, word)}, lines(t, c.Samples()))
	}
	require.Equal(t, []string{`interruption_received_messages_total{message_type="spot_interrupted"} 1`},
		lines(t, metrics.Noticed([]cloudprovider.Interruption{{Kind: cloudprovider.InterruptionSpot}})))
}

func TestOfferings(t *testing.T) {
	types := fake.Catalog()[:3]
	samples := metrics.Offerings(map[string][]*cloudprovider.InstanceType{"general": append(types, nil), "other": {types[0]}})
	lines(t, samples)
	for _, o := range types[1].Offerings {
		i := slices.IndexFunc(samples, func(s metrics.Sample) bool {
			return s.Name == "karpenter_cloudprovider_instance_type_offering_price_estimate" && slices.Equal(s.Labels, []string{types[1].Name, o.CapacityType, o.Zone})
		})
		require.GreaterOrEqual(t, i, 0)
		require.LessOrEqual(t, samples[i].Value, o.Price)
	}
	two := &cloudprovider.InstanceType{Name: "two", Capacity: resources.MustParse("cpu=2, memory=4Gi"), Offerings: []cloudprovider.Offering{
		{CapacityType: "reserved", Zone: "a", Price: 2, ReservationID: "full", Available: true},
		{CapacityType: "reserved", Zone: "a", Price: 1, ReservationID: "free", Available: true, ReservationCapacity: 1}}}
	require.Equal(t, []string{
		`cloudprovider_instance_type_cpu_cores{instance_type="two"} 2`,
		`cloudprovider_instance_type_memory_bytes{instance_type="two"} 4.294967296e+09`,
		`cloudprovider_instance_type_offering_available{instance_type="two",capacity_type="reserved",zone="a"} 1`,
		`cloudprovider_instance_type_offering_price_estimate{instance_type="two",capacity_type="reserved",zone="a"} 1`,
	}, lines(t, metrics.Offerings(map[string][]*cloudprovider.InstanceType{"general": {two}})))
}

// The page names every metric, with its kind and labels.
func TestPage(t *testing.T) {
	page, err := os.ReadFile("../docs/metrics.md")
	require.NoError(t, err)
	var rows []string
	for line := range strings.Lines(string(page)) {
		if strings.HasPrefix(line, "| `karpenter_") {
			rows = append(rows, strings.Join(strings.Split(line, "|")[1:4], "|"))
		}
	}
	var want []string
	for _, m := range metrics.All() {
		want = append(want, fmt.Sprintf(" `%s` | %s | %s ", m.Name, m.Kind, strings.Join(m.Labels, ", ")))
	}
	require.Equal(t, want, rows)
}

// Each call is told once, with its NodePool, and abilities are found behind the measure.
func TestEveryCallOfAProviderIsTold(t *testing.T) {
	cloud, err := fake.New(nil)
	require.NoError(t, err)
	var told []string
	measured := metrics.Provider(func() time.Time { return time.Unix(0, 0) }, cloud, "cluster", func(list []metrics.Sample) {
		for _, s := range list {
			told = append(told, s.Labels[1])
		}
	})
	pool := &v1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "general"}}
	_, _ = measured.InstanceTypes(t.Context(), pool)
	_, _ = measured.List(t.Context())
	_, _ = measured.Create(t.Context(), cloudprovider.LaunchRequest{})
	require.Contains(t, told, "GetInstanceTypes")
	require.Contains(t, told, "List")
	require.Contains(t, told, "Create")
	_, ok := cloudprovider.As[cloudprovider.InterruptionSource](measured)
	require.True(t, ok)
}
