package metrics

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// Joined returns the sample of a Node that was registered for a NodeClaim:
// karpenter_nodes_created_total. A nil Node has no samples.
func Joined(node *corev1.Node) []Sample {
	if node == nil {
		return nil
	}
	return []Sample{{"karpenter_nodes_created_total", []string{node.Labels[v1.NodePoolLabelKey], node.Labels[corev1.LabelTopologyZone]}, 1}}
}

// Terminated returns the samples of a NodeClaim whose machine is gone, when its finalizer and that
// of its Node are removed: karpenter_nodeclaims_terminated_total,
// karpenter_nodeclaims_termination_duration_seconds and
// karpenter_nodeclaims_instance_termination_duration_seconds; and, unless the Node is nil,
// karpenter_nodes_terminated_total, karpenter_nodes_drained_total,
// karpenter_nodes_termination_duration_seconds and karpenter_nodes_lifetime_duration_seconds.
// Durations of a termination count from the deletion timestamps, that of the machine from the
// condition InstanceTerminating, and are left out without these. A nil claim has no samples.
func Terminated(now time.Time, claim *v1.NodeClaim, node *corev1.Node) []Sample {
	if claim == nil {
		return nil
	}
	pool, where := claim.Labels[v1.NodePoolLabelKey], claim.Labels[corev1.LabelTopologyZone]
	out := []Sample{{"karpenter_nodeclaims_terminated_total", []string{pool, claim.Labels[v1.CapacityTypeLabelKey], where}, 1}}
	since := func(name string, t metav1.Time) {
		out = append(out, Sample{name, []string{pool}, now.Sub(t.Time).Seconds()})
	}
	if t := claim.DeletionTimestamp; t != nil {
		since("karpenter_nodeclaims_termination_duration_seconds", *t)
	}
	for _, c := range claim.Status.Conditions {
		if c.Type == v1.ConditionTypeInstanceTerminating && c.Status == metav1.ConditionTrue {
			since("karpenter_nodeclaims_instance_termination_duration_seconds", c.LastTransitionTime)
		}
	}
	if node == nil {
		return out
	}
	out = append(out, Sample{"karpenter_nodes_terminated_total", []string{pool, where}, 1}, Sample{"karpenter_nodes_drained_total", []string{pool}, 1})
	if t := node.DeletionTimestamp; t != nil {
		since("karpenter_nodes_termination_duration_seconds", *t)
	}
	since("karpenter_nodes_lifetime_duration_seconds", node.CreationTimestamp)
	return out
}

// Evicted returns the samples of a request to evict a pod, from the HTTP status of its answer and
// the reason of the eviction: karpenter_pods_eviction_requests_total and, if the pod was evicted
// (2xx) or is gone (404), karpenter_pods_drained_total. The reason becomes a label unchanged.
func Evicted(status int, reason string) []Sample {
	out := []Sample{{"karpenter_pods_eviction_requests_total", []string{strconv.Itoa(status)}, 1}}
	if status/100 == 2 || status == 404 {
		out = append(out, Sample{"karpenter_pods_drained_total", []string{reason}, 1})
	}
	return out
}

// PodChanged returns the samples of a pod's change between two observations: the time from its
// creation until it was bound, karpenter_pods_bound_duration_seconds, and until it was ready,
// karpenter_pods_startup_duration_seconds, each if it was not so before. Both times are those of
// its conditions. before is nil for a new pod; a nil after has no samples.
func PodChanged(before, after *corev1.Pod) []Sample {
	if after == nil {
		return nil
	}
	var out []Sample
	reached := func(name string, kind corev1.PodConditionType) {
		at := reachedAt(after, kind)
		if !at.IsZero() && (before == nil || reachedAt(before, kind).IsZero()) {
			out = append(out, Sample{name, nil, max(0, at.Sub(after.CreationTimestamp.Time).Seconds())})
		}
	}
	reached("karpenter_pods_bound_duration_seconds", corev1.PodScheduled)
	reached("karpenter_pods_startup_duration_seconds", corev1.PodReady)
	return out
}

// reachedAt returns since when a condition is true, or zero if it is not.
func reachedAt(p *corev1.Pod, kind corev1.PodConditionType) time.Time {
	for _, c := range p.Status.Conditions {
		if c.Type == kind && c.Status == corev1.ConditionTrue {
			return c.LastTransitionTime.Time
		}
	}
	return time.Time{}
}

// Call is a call of a cloud.
type Call struct {
	// Controller is the part of the controller that made it, Method the method of CloudProvider,
	// such as Create, Provider the name of the provider, and NodePool the pool that it was for,
	// empty if for none. They become labels unchanged.
	Controller, Method, Provider, NodePool string
	// Took is how long it took.
	Took time.Duration
	// Err is its error, nil if it worked.
	Err error
}

// Samples returns karpenter_cloudprovider_duration_seconds and, for a failed call,
// karpenter_cloudprovider_errors_total. The label error has Karpenter's word for the Kind of the
// error if there is one, unknown for KindUnknown, and otherwise the Kind.
func (c Call) Samples() []Sample {
	labels := []string{c.Controller, c.Method, c.Provider}
	out := []Sample{{"karpenter_cloudprovider_duration_seconds", labels, c.Took.Seconds()}}
	if c.Err == nil {
		return out
	}
	word := string(cmp.Or(cloudprovider.KindOf(c.Err), "unknown"))
	switch cloudprovider.KindOf(c.Err) {
	case cloudprovider.KindNotFound:
		word = "NodeClaimNotFoundError"
	case cloudprovider.KindNotReady:
		word = "NodeClassNotReadyError"
	case cloudprovider.KindInsufficientCapacity:
		word = "InsufficientCapacityError"
	}
	return append(out, Sample{"karpenter_cloudprovider_errors_total", append(labels[:3:3], word, c.NodePool), 1})
}

// Noticed returns the samples of acknowledged notices:
// karpenter_interruption_received_messages_total, one for each.
func Noticed(notices []cloudprovider.Interruption) []Sample {
	var out []Sample
	for _, n := range notices {
		out = append(out, Sample{"karpenter_interruption_received_messages_total", []string{snake(string(n.Kind))}, 1})
	}
	return out
}

// Offerings returns the gauges of Input.InstanceTypes, karpenter_cloudprovider_instance_type_*, in
// the order of the pools and their types: cores and memory, and for each offering whether it can be
// launched and the price of the instance, without Offering.NodeCost. Nil types are skipped; of
// several types of one name, as in several pools, the first counts. The offerings of several
// reservations in one zone are one series, which is available if one of them is, at the lowest
// price.
func Offerings(pools map[string][]*cloudprovider.InstanceType) []Sample {
	var out []Sample
	seen := map[string]bool{}
	var types []*cloudprovider.InstanceType
	for _, pool := range slices.Sorted(maps.Keys(pools)) {
		types = append(types, pools[pool]...)
	}
	for _, t := range types {
		if t == nil || seen[t.Name] {
			continue
		}
		seen[t.Name] = true
		sizes := t.Capacity.ResourceList()
		out = append(out, Sample{"karpenter_cloudprovider_instance_type_cpu_cores", []string{t.Name}, sizes.Cpu().AsApproximateFloat64()},
			Sample{"karpenter_cloudprovider_instance_type_memory_bytes", []string{t.Name}, sizes.Memory().AsApproximateFloat64()})
		at := map[[2]string]int{}
		for _, o := range t.Offerings {
			key, available := [2]string{o.CapacityType, o.Zone}, 0.0
			if o.Launchable() {
				available = 1
			}
			i, known := at[key]
			if !known {
				i = len(out)
				at[key] = i
				labels := []string{t.Name, o.CapacityType, o.Zone}
				out = append(out, Sample{"karpenter_cloudprovider_instance_type_offering_available", labels, 0},
					Sample{"karpenter_cloudprovider_instance_type_offering_price_estimate", labels, o.Price - o.NodeCost})
			}
			out[i].Value = max(out[i].Value, available)
			out[i+1].Value = min(out[i+1].Value, o.Price-o.NodeCost)
		}
	}
	return out
}
