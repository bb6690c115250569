package metrics_test

import (
	"context"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/disruption"
	"github.com/dovetail-sdk/dovetail/disruption/command"
	"github.com/dovetail-sdk/dovetail/fake"
	"github.com/dovetail-sdk/dovetail/metrics"
	"github.com/dovetail-sdk/dovetail/provisioning"
)

func show(samples []metrics.Sample) {
	for _, s := range samples {
		fmt.Printf("%s %q %g\n", s.Name, s.Labels, s.Value)
	}
}

// A program makes a collector of its metrics library for each.
func ExampleAll() {
	for _, m := range metrics.All()[:2] {
		fmt.Println(m.Kind, m.Name, m.Labels, m.Unit)
	}
	// Output:
	// histogram karpenter_cloudprovider_duration_seconds [controller method provider] seconds
	// counter karpenter_cloudprovider_errors_total [controller method provider error nodepool]
}

// Without a metrics library, gauges are lines of the text that Prometheus reads.
func Example() {
	metric := map[string]metrics.Metric{}
	for _, m := range metrics.All() {
		metric[m.Name] = m
	}
	for _, s := range metrics.Scheduled(3, &provisioning.Plan{}, 20*time.Millisecond) {
		m := metric[s.Name]
		if m.Kind != metrics.Gauge {
			continue // a histogram is for a library to count
		}
		var labels []string
		for i, name := range m.Labels {
			labels = append(labels, fmt.Sprintf("%s=%q", name, s.Labels[i]))
		}
		fmt.Printf("# TYPE %s %s\n%s{%s} %g\n", m.Name, m.Kind, m.Name, strings.Join(labels, ","), s.Value)
	}
	// Output:
	// # TYPE karpenter_scheduler_queue_depth gauge
	// karpenter_scheduler_queue_depth{controller="provisioner"} 3
	// # TYPE karpenter_scheduler_unschedulable_pods_count gauge
	// karpenter_scheduler_unschedulable_pods_count{controller="provisioner"} 0
}

func ExampleInput_Samples() {
	general := &v1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "general"}}
	general.Spec.Disruption.Budgets = []v1.Budget{{Nodes: "10%"}}
	show(metrics.Input{NodePools: []*v1.NodePool{general}}.Samples(time.Unix(0, 0))[:3])
	// Output:
	// karpenter_cluster_state_node_count [] 0
	// karpenter_nodepools_allowed_disruptions ["general" "drifted"] 0
	// karpenter_nodepools_nodes_consuming_budgets ["general" "drifted"] 0
}

func ExampleOfferings() {
	show(metrics.Offerings(map[string][]*cloudprovider.InstanceType{"general": fake.Catalog()})[:1])
	// Output: karpenter_cloudprovider_instance_type_cpu_cores ["a1.2xlarge"] 8
}

func ExampleScheduled() {
	show(metrics.Scheduled(3, &provisioning.Plan{}, 20*time.Millisecond))
	// Output:
	// karpenter_scheduler_scheduling_duration_seconds ["provisioner"] 0.02
	// karpenter_scheduler_queue_depth ["provisioner"] 3
	// karpenter_scheduler_unschedulable_pods_count ["provisioner"] 0
}

func ExampleProposed() {
	p := &disruption.Proposal{Actions: []disruption.Action{{Reason: disruption.Empty, Targets: make([]disruption.Target, 1)}}}
	show(metrics.Proposed(p, time.Second)[2:3])
	// Output: karpenter_voluntary_disruption_eligible_nodes ["empty"] 1
}

func ExampleCreated() {
	show(metrics.Created(&v1.NodeClaim{}, metrics.Provisioned))
	// Output: karpenter_nodeclaims_created_total ["provisioned" "" "false"] 1
}

func ExampleBegun() {
	a := disruption.Action{Reason: disruption.Underutilized, Operation: disruption.Delete, Targets: []disruption.Target{{Node: "n", NodePool: "general"}}}
	show(metrics.Begun(a, nil, nil))
	// Output:
	// karpenter_voluntary_disruption_decisions_total ["delete" "underutilized" "single"] 1
	// karpenter_voluntary_disruption_decisions_by_nodepool_total ["delete" "underutilized" "single" "general"] 1
}

func ExampleNotConfirmed() {
	show(metrics.NotConfirmed(disruption.Action{Reason: disruption.Drifted}))
	// Output: karpenter_voluntary_disruption_failed_validations_total [""] 1
}

func ExampleUndone() {
	show(metrics.Undone(command.Command{Reason: disruption.Drifted, Replacements: make([]command.Replacement, 1)}))
	// Output: karpenter_voluntary_disruption_queue_failures_total ["replace" "drifted" ""] 1
}

func ExampleJoined() {
	show(metrics.Joined(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{v1.NodePoolLabelKey: "general"}}}))
	// Output: karpenter_nodes_created_total ["general" ""] 1
}

func ExampleTerminated() {
	deleted := metav1.Unix(0, 0)
	show(metrics.Terminated(time.Unix(42, 0), &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{DeletionTimestamp: &deleted}}, nil))
	// Output:
	// karpenter_nodeclaims_terminated_total ["" "" ""] 1
	// karpenter_nodeclaims_termination_duration_seconds [""] 42
}

func ExampleEvicted() {
	show(metrics.Evicted(429, "Drifted")) // a budget is in the way
	// Output: karpenter_pods_eviction_requests_total ["429"] 1
}

func ExamplePodChanged() {
	created := metav1.Unix(0, 0)
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: created}}
	p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionTrue, LastTransitionTime: metav1.Unix(7, 0)}}
	show(metrics.PodChanged(nil, p))
	// Output: karpenter_pods_bound_duration_seconds [] 7
}

func ExampleCall_Samples() {
	show(metrics.Call{Controller: "lifecycle", Method: "Delete", Provider: "aws", Took: time.Second, Err: cloudprovider.ErrNotFound}.Samples())
	// Output:
	// karpenter_cloudprovider_duration_seconds ["lifecycle" "Delete" "aws"] 1
	// karpenter_cloudprovider_errors_total ["lifecycle" "Delete" "aws" "NodeClaimNotFoundError" ""] 1
}

// A machine that is not there is asked to end, and the call takes two seconds.
func ExampleProvider() {
	cloud, err := fake.New(nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	clock := time.Unix(0, 0)
	now := func() time.Time { clock = clock.Add(2 * time.Second); return clock }
	measured := metrics.Provider(now, cloud, "lifecycle", show)
	fmt.Println(cloudprovider.KindOf(measured.Delete(context.Background(), "fake:///gone")), cloudprovider.Name(measured))
	// Output:
	// karpenter_cloudprovider_duration_seconds ["lifecycle" "Delete" "fake"] 2
	// karpenter_cloudprovider_errors_total ["lifecycle" "Delete" "fake" "NodeClaimNotFoundError" ""] 1
	// not found fake
}

func ExampleNoticed() {
	show(metrics.Noticed([]cloudprovider.Interruption{{Kind: cloudprovider.InterruptionRebalance}}))
	// Output: karpenter_interruption_received_messages_total ["rebalance_recommended"] 1
}
