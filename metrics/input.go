package metrics

import (
	"slices"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/budgets"
	"github.com/dovetail-sdk/dovetail/disruption"
	"github.com/dovetail-sdk/dovetail/internal/podlife"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// Input is a snapshot of the cluster, the same as for decisions. Nil entries are skipped, and empty
// fields have no series.
type Input struct {
	// Nodes are the Nodes and NodeClaims with their pods: Input.Nodes.
	Nodes []provisioning.Node
	// Pods are all pods, for karpenter_pods_state. That metric has a series for each pod, so leave
	// them out in a large cluster.
	Pods []*corev1.Pod
	// NodePools are all NodePools.
	NodePools []*v1.NodePool
	// Usage is the result of Problem.Usage.
	Usage []provisioning.PoolUsage
	// Price returns the price of a node in USD per hour, by name: Cluster.Price. Nil means unknown.
	Price func(node string) (price float64, known bool)
	// Leaving are nodes that are marked for deletion, by name, in addition to those whose objects
	// are being deleted: Input.MarkedForDeletion.
	Leaving map[string]disruption.Reason
}

// Samples returns the gauges of a fleet: karpenter_nodes_*, karpenter_nodepools_*,
// karpenter_pods_state, karpenter_cluster_utilization_percent and
// karpenter_cluster_state_node_count, in the order of the lists. Its time is proportional to the
// nodes, pools and pods.
//
// karpenter_nodes_* are for nodes with a Node object. If no budget is in force,
// karpenter_nodepools_allowed_disruptions is math.MaxInt32.
func (f Input) Samples(now time.Time) []Sample {
	var out []Sample
	requested, allocatable := amounts{}, amounts{}
	for _, n := range f.Nodes {
		if n.Node == nil {
			continue
		}
		all, daemons := used(n.Pods, func(*corev1.Pod) bool { return true }), used(n.Pods, podlife.OfDaemonSet)
		room, overhead := amounts{}, amounts{}
		room.add(n.Node.Status.Allocatable)
		overhead.add(n.Node.Status.Capacity)
		for r, amount := range room {
			overhead[r] -= amount
		}
		labels := nodeValues(n)
		for _, m := range []struct {
			name    string
			amounts amounts
		}{
			{"karpenter_nodes_allocatable", room}, {"karpenter_nodes_system_overhead", overhead},
			{"karpenter_nodes_total_pod_requests", all.requests}, {"karpenter_nodes_total_pod_limits", all.limits},
			{"karpenter_nodes_total_daemon_requests", daemons.requests}, {"karpenter_nodes_total_daemon_limits", daemons.limits},
		} {
			for _, r := range m.amounts.names() {
				out = append(out, Sample{m.name, append(slices.Clip(labels), resourceValue(r)), m.amounts[r]})
			}
		}
		if created := n.Node.CreationTimestamp; !created.IsZero() {
			out = append(out, Sample{"karpenter_nodes_current_lifetime_seconds", labels, now.Sub(created.Time).Seconds()})
		}
		requested.merge(all.requests)
		allocatable.merge(room)
	}
	for _, r := range allocatable.names() {
		if allocatable[r] > 0 {
			out = append(out, Sample{"karpenter_cluster_utilization_percent", []string{resourceValue(r)}, 100 * requested[r] / allocatable[r]})
		}
	}
	out = append(out, Sample{"karpenter_cluster_state_node_count", nil, float64(len(f.Nodes))})
	return slices.Concat(out, f.pools(now), f.usage(), f.pods())
}

// use is the sum of the requests and limits of a node's pods.
type use struct{ requests, limits amounts }

func used(pods []*corev1.Pod, counts func(*corev1.Pod) bool) use {
	u := use{amounts{}, amounts{}}
	for _, p := range pods {
		if p != nil && p.Status.Phase != corev1.PodSucceeded && p.Status.Phase != corev1.PodFailed && counts(p) {
			u.requests.add(requestsOf(p))
			u.limits.add(limitsOf(p))
		}
	}
	return u
}

// nodeValues returns the values of nodeLabels.
func nodeValues(n provisioning.Node) []string {
	l := n.Node.Labels
	return []string{n.Node.Name, l[v1.NodePoolLabelKey], l[corev1.LabelTopologyZone], l[corev1.LabelTopologyRegion], l[corev1.LabelInstanceTypeStable],
		l[corev1.LabelArchStable], l[corev1.LabelOSStable], l[v1.CapacityTypeLabelKey], strconv.FormatBool(n.NodeClaim != nil)}
}

// pools returns the gauges of NodePools.
func (f Input) pools(now time.Time) (out []Sample) {
	cost, states := map[string]float64{}, map[string][]budgets.NodeState{}
	for _, n := range f.Nodes {
		pool := poolOf(n)
		if f.Price != nil {
			if price, known := f.Price(n.Name()); known {
				cost[pool] += price
			}
		}
		states[pool] = append(states[pool], f.state(n))
	}
	for _, p := range f.NodePools {
		if p == nil {
			continue
		}
		limits := amounts{}
		limits.add(corev1.ResourceList(p.Spec.Limits))
		for _, r := range limits.names() {
			out = append(out, Sample{"karpenter_nodepools_limit", []string{resourceValue(r), p.Name}, limits[r]})
		}
		if f.Price != nil {
			out = append(out, Sample{"karpenter_nodepools_cost_total", []string{p.Name}, cost[p.Name]})
		}
		counts := budgets.Count(states[p.Name])
		compiled, _ := budgets.Compile(p.Spec.Disruption.Budgets, nil) // malformed budgets allow no node
		for _, r := range []budgets.Reason{budgets.Drifted, budgets.Empty, budgets.Underutilized, budgets.Unhealthy} {
			labels := []string{p.Name, reasonValue(string(r))}
			free := counts
			free.Disrupting, free.Rebooting, free.NotReady = 0, 0, 0
			allowed := compiled.Allow(now, free, r)
			out = append(out, Sample{"karpenter_nodepools_allowed_disruptions", labels, float64(allowance(allowed))},
				Sample{"karpenter_nodepools_nodes_consuming_budgets", labels, float64(counts.Consuming(r))})
		}
	}
	return out
}

// usage returns the gauges of Usage.
func (f Input) usage() (out []Sample) {
	for _, u := range f.Usage {
		if u.Pool == nil {
			continue
		}
		used := amounts{}
		used.add(u.Resources.ResourceList())
		for _, r := range used.names() {
			out = append(out, Sample{"karpenter_nodepools_usage", []string{resourceValue(r), u.Pool.Name}, used[r]})
		}
	}
	return out
}

// poolOf returns the NodePool of a node, by its labels.
func poolOf(n provisioning.Node) string {
	if n.NodeClaim != nil {
		return n.NodeClaim.Labels[v1.NodePoolLabelKey]
	}
	if n.Node != nil {
		return n.Node.Labels[v1.NodePoolLabelKey]
	}
	return ""
}

// state returns the state of a node for budgets.
func (f Input) state(n provisioning.Node) budgets.NodeState {
	s := budgets.NodeState{Managed: n.NodeClaim != nil, Disrupting: f.Leaving[n.Name()] != ""}
	if n.NodeClaim != nil {
		s.Disrupting = s.Disrupting || n.NodeClaim.DeletionTimestamp != nil
		s.Rebooting = holds(n.NodeClaim.Status.Conditions, v1.ConditionTypeRebooting)
		s.InstanceTerminating = holds(n.NodeClaim.Status.Conditions, v1.ConditionTypeInstanceTerminating)
	}
	if n.Node != nil {
		s.Initialized = n.Node.Labels[v1.NodeInitializedLabelKey] == "true"
		s.Disrupting = s.Disrupting || n.Node.DeletionTimestamp != nil
		for _, c := range n.Node.Status.Conditions {
			s.Ready = s.Ready || c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
		}
	}
	return s
}

func holds(list []metav1.Condition, kind string) bool {
	for _, c := range list {
		if c.Type == kind {
			return c.Status == metav1.ConditionTrue
		}
	}
	return false
}

// pods returns the gauge of pods.
func (f Input) pods() (out []Sample) {
	nodes := map[string]provisioning.Node{}
	for _, n := range f.Nodes {
		if n.Node != nil {
			nodes[n.Node.Name] = n
		}
	}
	for _, p := range f.Pods {
		if p == nil {
			continue
		}
		owner := ""
		if c := metav1.GetControllerOfNoCopy(p); c != nil {
			owner = c.Kind + "/" + c.Name
		}
		labels := []string{p.Name, p.Namespace, owner, p.Spec.NodeName, strconv.FormatBool(p.Spec.NodeName != ""), "", "", "", "", "", string(p.Status.Phase), strconv.FormatBool(ready(p)), "false"}
		if n, ok := nodes[p.Spec.NodeName]; ok {
			v := nodeValues(n)
			labels[5], labels[6], labels[7], labels[8], labels[9], labels[12] = v[1], v[2], v[5], v[7], v[4], v[8]
		}
		out = append(out, Sample{"karpenter_pods_state", labels, 1})
	}
	return out
}

func ready(p *corev1.Pod) bool {
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

// requestsOf returns the requests of a pod, or nil if they cannot be read.
func requestsOf(p *corev1.Pod) corev1.ResourceList {
	l, err := resources.PodRequests(p)
	if err != nil {
		return nil
	}
	return l.ResourceList()
}

// limitsOf returns the limits of a pod, summed like its requests.
func limitsOf(p *corev1.Pod) corev1.ResourceList {
	limited := corev1.Pod{}
	swap := func(list []corev1.Container) (out []corev1.Container) {
		for _, c := range list {
			out = append(out, corev1.Container{Name: c.Name, RestartPolicy: c.RestartPolicy, Resources: corev1.ResourceRequirements{Requests: c.Resources.Limits}})
		}
		return out
	}
	limited.Spec.Containers, limited.Spec.InitContainers = swap(p.Spec.Containers), swap(p.Spec.InitContainers)
	if r := p.Spec.Resources; r != nil {
		limited.Spec.Resources = &corev1.ResourceRequirements{Requests: r.Limits}
	}
	return requestsOf(&limited)
}
