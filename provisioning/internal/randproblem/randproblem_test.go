package randproblem_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/internal/testlong"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/randproblem"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// covered counts in how many of two thousand problems each edge comes up. An edge
// that never does would be one that no law is tried on.
func covered(t *testing.T, edgesOf func(seed uint64, note func(edge string, there bool)), edges ...string) {
	t.Helper()
	seen := map[string]int{}
	for seed := range uint64(testlong.Seeds(600, 2000)) {
		found := map[string]bool{}
		edgesOf(seed, func(edge string, there bool) {
			if there && !found[edge] {
				found[edge] = true
				seen[edge]++
			}
		})
	}
	for _, edge := range edges {
		require.GreaterOrEqual(t, seen[edge], testlong.Seeds(1, 8), "%s", edge)
		t.Logf("%-32s %4d", edge, seen[edge])
	}
}

func TestNewCoversEdges(t *testing.T) {
	covered(t, func(seed uint64, note func(string, bool)) { problemEdges(note, randproblem.New(seed)) },
		"no pods", "no nodes", "many pods", "default vocabulary",
		"pool deleted", "pool static", "pool not ready", "pool without catalog", "pools of equal weight", "pool with weight",
		"pool taint", "pool soft taint", "pool startup taint", "pool limits", "limit on nodes", "limit of zero", "minValues",
		"pool label", "pool requires custom label", "pool excludes custom label", "pool at odds with itself",
		"GPU type", "huge pages", "open system", "open architecture", "open flavor", "flavor not named", "one zone", "overhead above capacity",
		"sold-out offering", "reserved offering", "full reservation", "spot offering", "capacity override", "overhead override", "offering label",
		"unmanaged node", "claim without node", "claim without instance", "claim without instance, of several types", "claim of no known type", "node not registered", "node not initialized", "node initialized", "node rebooting",
		"node deleted", "node cordoned", "node tainted", "kubelet reports nothing", "bound DaemonSet pod", "bound pod done", "bound anti-affinity",
		"daemon selects", "daemon tolerates all", "daemon owned",
		"pod selector", "pod alternatives", "pod empty term", "pod names node", "pod excludes node", "pod NotIn", "pod Gt", "pod DoesNotExist",
		"pod alias", "pod tolerates by number", "pod init container", "pod sidecar", "pod overhead", "pod zero request", "pod unsupported", "pod alike",
	)
}

func problemEdges(note func(string, bool), in provisioning.Input) {
	note("no pods", len(in.Pods) == 0)
	note("no nodes", len(in.Nodes) == 0)
	note("many pods", len(in.Pods) > 50)
	note("default vocabulary", in.Vocabulary == nil)
	weights := map[int32]bool{}
	for _, pool := range in.NodePools {
		poolEdges(note, in, pool)
		if pool.Spec.Weight != nil {
			note("pools of equal weight", weights[*pool.Spec.Weight])
			weights[*pool.Spec.Weight] = true
		}
	}
	for _, types := range in.InstanceTypes {
		for _, it := range types {
			typeEdges(note, it)
		}
	}
	for _, node := range in.Nodes {
		nodeEdges(note, in, node)
	}
	for _, pod := range in.DaemonSetPods {
		note("daemon selects", len(pod.Spec.NodeSelector) > 0 || pod.Spec.Affinity != nil)
		note("daemon tolerates all", len(pod.Spec.Tolerations) == 1 && pod.Spec.Tolerations[0].Key == "")
		note("daemon owned", len(pod.OwnerReferences) > 0)
	}
	shapes := map[string]bool{}
	for _, pod := range in.Pods {
		podEdges(note, in.Vocabulary, pod)
		shape := pod.Namespace + "/" + pod.Name[:len(pod.Name)-2]
		note("pod alike", shapes[shape])
		shapes[shape] = true
	}
}

func poolEdges(note func(string, bool), in provisioning.Input, pool *v1.NodePool) {
	note("pool deleted", pool.DeletionTimestamp != nil)
	note("pool static", pool.Spec.Replicas != nil)
	for _, c := range pool.Status.Conditions {
		note("pool not ready", c.Status != "True")
	}
	note("pool without catalog", len(in.InstanceTypes[pool.Name]) == 0)
	note("pool with weight", pool.Spec.Weight != nil)
	template := pool.Spec.Template
	for _, taint := range template.Spec.Taints {
		note("pool taint", taint.Effect != corev1.TaintEffectPreferNoSchedule)
		note("pool soft taint", taint.Effect == corev1.TaintEffectPreferNoSchedule)
	}
	note("pool startup taint", len(template.Spec.StartupTaints) > 0)
	note("pool limits", len(pool.Spec.Limits) > 0)
	for name, limit := range pool.Spec.Limits {
		note("limit on nodes", name == v1.ResourceNodes)
		note("limit of zero", limit.IsZero())
	}
	note("pool label", len(template.Labels) > 0)
	for _, r := range template.Spec.Requirements {
		note("minValues", r.MinValues != nil)
		custom := r.Key == "team" || r.Key == "example.org/tier" || r.Key == "example.org/rank"
		note("pool requires custom label", custom && r.Operator != corev1.NodeSelectorOpNotIn)
		note("pool excludes custom label", custom && r.Operator == corev1.NodeSelectorOpNotIn)
	}
	set, _ := requirements.FromNodePool(pool, in.Vocabulary)
	note("pool at odds with itself", set.Impossible())
}

func typeEdges(note func(string, bool), it *cloudprovider.InstanceType) {
	values := func(key string) int {
		r, _ := it.Requirements.Get(key)
		list, _ := r.Values()
		return len(list)
	}
	note("GPU type", it.Capacity.Get("example.com/gpu") > 0)
	note("huge pages", it.Capacity.Get("hugepages-2Mi") > 0)
	note("open system", values(corev1.LabelOSStable) > 1)
	note("open architecture", values(corev1.LabelArchStable) > 1)
	note("open flavor", values(randproblem.FlavorLabel) > 1)
	_, named := it.Requirements.Get(randproblem.FlavorLabel)
	note("flavor not named", !named)
	note("one zone", values(corev1.LabelTopologyZone) == 1)
	allocatable, _ := it.Allocatable()
	note("overhead above capacity", len(allocatable.Negative()) > 0)
	for _, o := range it.Offerings {
		note("sold-out offering", !o.Available)
		note("reserved offering", o.CapacityType == v1.CapacityTypeReserved)
		note("full reservation", o.CapacityType == v1.CapacityTypeReserved && o.ReservationCapacity == 0)
		note("spot offering", o.CapacityType == v1.CapacityTypeSpot)
		note("capacity override", o.Capacity != nil)
		note("overhead override", o.Overhead != nil)
		id, _ := o.Requirements.Get(randproblem.ZoneIDLabel)
		note("offering label", id.AllowsPresent())
	}
}

func nodeEdges(note func(string, bool), in provisioning.Input, n provisioning.Node) {
	note("unmanaged node", n.NodeClaim == nil)
	note("claim without node", n.Node == nil && n.NodeClaim.Status.Allocatable != nil)
	if n.Node == nil && n.NodeClaim.Status.Allocatable == nil {
		note("claim without instance", true)
		claimEdges(note, in, n.NodeClaim)
	}
	if n.Node != nil && n.NodeClaim != nil {
		registered := n.Node.Labels[v1.NodeRegisteredLabelKey] == "true"
		initialized := n.Node.Labels[v1.NodeInitializedLabelKey] == "true"
		note("node not registered", !registered)
		note("node not initialized", registered && !initialized)
		note("node initialized", initialized)
		note("node rebooting", len(n.NodeClaim.Status.Conditions) > 0 && n.NodeClaim.Status.Conditions[0].Type == v1.ConditionTypeRebooting)
	}
	if n.Node != nil {
		note("node deleted", n.Node.DeletionTimestamp != nil)
		note("node cordoned", n.Node.Spec.Unschedulable)
		note("node tainted", len(n.Node.Spec.Taints) > 0)
		note("kubelet reports nothing", n.Node.Status.Allocatable == nil)
	}
	for _, pod := range n.Pods {
		note("bound DaemonSet pod", len(pod.OwnerReferences) > 0)
		note("bound pod done", pod.Status.Phase == corev1.PodSucceeded)
		note("bound anti-affinity", pod.Spec.Affinity != nil && pod.Spec.Affinity.PodAntiAffinity != nil)
	}
}

func claimEdges(note func(string, bool), in provisioning.Input, claim *v1.NodeClaim) {
	asked, err := requirements.FromNodeClaim(claim, in.Vocabulary)
	admitted := 0
	for _, it := range in.InstanceTypes[claim.Labels[v1.NodePoolLabelKey]] {
		if named, _ := asked.Get(corev1.LabelInstanceTypeStable); named.Has(it.Name) && !asked.Intersect(it.Requirements).Impossible() {
			admitted++
		}
	}
	note("claim without instance, of several types", admitted > 1)
	note("claim of no known type", err == nil && admitted == 0)
}

func podEdges(note func(string, bool), v *requirements.Vocabulary, pod *corev1.Pod) {
	for key := range pod.Spec.NodeSelector {
		note("pod selector", true)
		note("pod alias", v.NormalizeKey(key) != key)
	}
	if a := pod.Spec.Affinity; a != nil && a.NodeAffinity != nil && a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution != nil {
		terms := a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
		note("pod alternatives", len(terms) > 1)
		for _, term := range terms {
			note("pod empty term", len(term.MatchExpressions)+len(term.MatchFields) == 0)
			for _, f := range term.MatchFields {
				note("pod names node", f.Operator == corev1.NodeSelectorOpIn)
				note("pod excludes node", f.Operator == corev1.NodeSelectorOpNotIn)
			}
			for _, e := range term.MatchExpressions {
				note("pod "+string(e.Operator), true)
			}
		}
	}
	for _, t := range pod.Spec.Tolerations {
		note("pod tolerates by number", t.Operator == corev1.TolerationOpLt || t.Operator == corev1.TolerationOpGt)
	}
	for _, c := range pod.Spec.InitContainers {
		note("pod init container", c.RestartPolicy == nil)
		note("pod sidecar", c.RestartPolicy != nil)
	}
	note("pod overhead", len(pod.Spec.Overhead) > 0)
	for _, amount := range pod.Spec.Containers[0].Resources.Requests {
		note("pod zero request", amount.IsZero())
	}
	a := pod.Spec.Affinity
	note("pod unsupported", len(pod.Spec.TopologySpreadConstraints)+len(pod.Spec.Volumes)+len(pod.Spec.ResourceClaims) > 0 ||
		a != nil && (a.PodAffinity != nil || a.PodAntiAffinity != nil))
}
