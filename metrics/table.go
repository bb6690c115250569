package metrics

// Labels that several metrics have.
const (
	nodePool     = "nodepool"
	reason       = "reason"
	resourceType = "resource_type"
	capacityType = "capacity_type"
	zone         = "zone"
	instanceType = "instance_type"
	decision     = "decision"
	controller   = "controller"
)

// nodeLabels are the labels of metrics about a Node.
var nodeLabels = []string{"node_name", nodePool, zone, "region", instanceType, "arch", "os", capacityType, "managed"}

func ofNode(more ...string) []string { return append(append([]string(nil), nodeLabels...), more...) }

// offeringLabels are the labels of metrics about what a cloud sells.
var offeringLabels = []string{instanceType, capacityType, zone}

// disruptedLabels are the labels of metrics that are counted when a disruption begins.
var disruptedLabels = []string{reason, nodePool, capacityType, "consolidation_policy", "termination_mode"}

var table = []Metric{
	{Name: "karpenter_nodes_allocatable", Kind: Gauge, Labels: ofNode(resourceType), Help: "What a node has for pods, by resource"},
	{Name: "karpenter_nodes_total_pod_requests", Kind: Gauge, Labels: ofNode(resourceType), Help: "What the pods on a node request together, those of DaemonSets included"},
	{Name: "karpenter_nodes_total_pod_limits", Kind: Gauge, Labels: ofNode(resourceType), Help: "What the pods on a node are limited to together, those of DaemonSets included"},
	{Name: "karpenter_nodes_total_daemon_requests", Kind: Gauge, Labels: ofNode(resourceType), Help: "What the pods of DaemonSets on a node request together"},
	{Name: "karpenter_nodes_total_daemon_limits", Kind: Gauge, Labels: ofNode(resourceType), Help: "What the pods of DaemonSets on a node are limited to together"},
	{Name: "karpenter_nodes_system_overhead", Kind: Gauge, Labels: ofNode(resourceType), Help: "What of its capacity a node keeps for itself"},
	{Name: "karpenter_nodes_current_lifetime_seconds", Kind: Gauge, Unit: "seconds", Labels: ofNode(), Help: "For how long a node has been there"},
	{Name: "karpenter_nodes_created_total", Kind: Counter, Labels: []string{nodePool, zone}, Help: "Nodes that have joined for a NodeClaim"},
	{Name: "karpenter_nodes_terminated_total", Kind: Counter, Labels: []string{nodePool, zone}, Help: "Nodes that were terminated"},
	{Name: "karpenter_nodes_drained_total", Kind: Counter, Labels: []string{nodePool}, Help: "Nodes whose pods were all evicted"},
	{Name: "karpenter_nodes_termination_duration_seconds", Kind: Summary, Unit: "seconds", Labels: []string{nodePool}, Help: "From the deletion of a Node until its finalizer was off"},
	{Name: "karpenter_nodes_lifetime_duration_seconds", Kind: Histogram, Unit: "seconds", Labels: []string{nodePool}, Help: "From the creation of a Node until its end"},
	{Name: "karpenter_cluster_utilization_percent", Kind: Gauge, Unit: "percent", Labels: []string{resourceType}, Help: "What pods request of what all nodes have for them"},
	{Name: "karpenter_cluster_state_node_count", Kind: Gauge, Help: "Nodes and NodeClaims that are taken into account"},

	{Name: "karpenter_nodepools_limit", Kind: Gauge, Labels: []string{resourceType, nodePool}, Help: "The limits of a NodePool"},
	{Name: "karpenter_nodepools_usage", Kind: Gauge, Labels: []string{resourceType, nodePool}, Help: "What the nodes of a NodePool have together"},
	{Name: "karpenter_nodepools_cost_total", Kind: Gauge, Unit: "USD per hour", Labels: []string{nodePool}, Help: "What the nodes of a NodePool cost together, as far as prices are known"},
	{Name: "karpenter_nodepools_allowed_disruptions", Kind: Gauge, Labels: []string{nodePool, reason}, Help: "How many nodes the budgets of a NodePool admit to be disrupted at once, before those that are"},
	{Name: "karpenter_nodepools_nodes_consuming_budgets", Kind: Gauge, Labels: []string{nodePool, reason}, Help: "How many nodes of a NodePool count against its budgets"},

	{Name: "karpenter_pods_state", Kind: Gauge, Labels: []string{"name", "namespace", "owner", "node", "scheduled", nodePool, zone, "arch", capacityType, instanceType, "phase", "ready", "managed"}, Help: "Always one, with labels that say how a pod fares"},
	{Name: "karpenter_pods_bound_duration_seconds", Kind: Histogram, Unit: "seconds", Help: "From the creation of a pod until it was bound"},
	{Name: "karpenter_pods_startup_duration_seconds", Kind: Summary, Unit: "seconds", Help: "From the creation of a pod until it was ready"},
	{Name: "karpenter_pods_disruption_initiated_total", Kind: Counter, Labels: disruptedLabels, Help: "Pods that need another place because of disruptions that have begun"},
	{Name: "karpenter_pods_drained_total", Kind: Counter, Labels: []string{reason}, Help: "Pods that were evicted or deleted from nodes that go"},
	{Name: "karpenter_pods_eviction_requests_total", Kind: Counter, Labels: []string{"code"}, Help: "Requests to evict a pod, by the code of the answer"},

	{Name: "karpenter_nodeclaims_created_total", Kind: Counter, Labels: []string{reason, nodePool, "min_values_relaxed"}, Help: "NodeClaims that were created, for pods or in the place of others"},
	{Name: "karpenter_nodeclaims_disrupted_total", Kind: Counter, Labels: disruptedLabels, Help: "NodeClaims whose disruption has begun"},
	{Name: "karpenter_nodeclaims_terminated_total", Kind: Counter, Labels: []string{nodePool, capacityType, zone}, Help: "NodeClaims whose machine is gone"},
	{Name: "karpenter_nodeclaims_termination_duration_seconds", Kind: Histogram, Unit: "seconds", Labels: []string{nodePool}, Help: "From the deletion of a NodeClaim until its finalizer was off"},
	{Name: "karpenter_nodeclaims_instance_termination_duration_seconds", Kind: Histogram, Unit: "seconds", Labels: []string{nodePool}, Help: "From the first request to terminate a machine until the cloud has it no more"},

	{Name: "karpenter_scheduler_scheduling_duration_seconds", Kind: Histogram, Unit: "seconds", Labels: []string{controller}, Help: "How long a plan for pods took"},
	{Name: "karpenter_scheduler_queue_depth", Kind: Gauge, Labels: []string{controller}, Help: "Pods that the last plan was made for"},
	{Name: "karpenter_scheduler_unschedulable_pods_count", Kind: Gauge, Labels: []string{controller}, Help: "Pods that the last plan found no place for"},

	{Name: "karpenter_voluntary_disruption_eligible_nodes", Kind: Gauge, Labels: []string{reason}, Help: "Nodes that the last proposal would disrupt, now or as soon as it may"},
	{Name: "karpenter_voluntary_disruption_decisions_total", Kind: Counter, Labels: []string{decision, reason, "consolidation_type"}, Help: "Disruptions that were begun"},
	{Name: "karpenter_voluntary_disruption_decisions_by_nodepool_total", Kind: Counter, Labels: []string{decision, reason, "consolidation_type", nodePool}, Help: "Disruptions that were begun, once for each NodePool that loses nodes"},
	{Name: "karpenter_voluntary_disruption_decision_evaluation_duration_seconds", Kind: Histogram, Unit: "seconds", Labels: []string{reason, "consolidation_type"}, Help: "How long a proposal took"},
	{Name: "karpenter_voluntary_disruption_failed_validations_total", Kind: Counter, Labels: []string{"consolidation_type"}, Help: "Disruptions that did not hold when they were looked at again"},
	{Name: "karpenter_voluntary_disruption_queue_failures_total", Kind: Counter, Labels: []string{decision, reason, "consolidation_type"}, Help: "Disruptions that were begun and had to be undone"},

	{Name: "karpenter_cloudprovider_duration_seconds", Kind: Histogram, Unit: "seconds", Labels: []string{controller, "method", "provider"}, Help: "How long a call of the cloud took"},
	{Name: "karpenter_cloudprovider_errors_total", Kind: Counter, Labels: []string{controller, "method", "provider", "error", nodePool}, Help: "Calls of the cloud that failed"},
	{Name: "karpenter_cloudprovider_instance_type_offering_available", Kind: Gauge, Labels: offeringLabels, Help: "Whether an offering can be had, one or zero"},
	{Name: "karpenter_cloudprovider_instance_type_offering_price_estimate", Kind: Gauge, Unit: "USD per hour", Labels: offeringLabels, Help: "What an offering costs"},
	{Name: "karpenter_cloudprovider_instance_type_cpu_cores", Kind: Gauge, Unit: "cores", Labels: []string{instanceType}, Help: "The cores of an instance type"},
	{Name: "karpenter_cloudprovider_instance_type_memory_bytes", Kind: Gauge, Unit: "bytes", Labels: []string{instanceType}, Help: "The memory of an instance type"},
	{Name: "karpenter_interruption_received_messages_total", Kind: Counter, Labels: []string{"message_type"}, Help: "Notices of the cloud about machines, by kind"},
}
