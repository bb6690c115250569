package offline

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/examples/internal/command"
	"github.com/dovetail-sdk/dovetail/fake"
	"github.com/dovetail-sdk/dovetail/provisioning"
)

// Prices returns the prices of the nodes that no NodePool launched, by name, in USD per hour. They
// are those of the instance type, zone and capacity type in the labels. Nodes whose offering is
// unknown are left out.
func (w *World) Prices() map[string]float64 {
	prices := map[string]float64{}
	types := w.plainTypes()
	for i := range w.Cluster.Nodes {
		n := &w.Cluster.Nodes[i]
		if n.Node == nil || n.NodeClaim != nil {
			continue
		}
		for _, it := range types {
			if o, found := it.Offering(offeringOf(n.Node.Labels)); found {
				prices[n.Name()] = o.Price
			}
		}
	}
	return prices
}

// asPools converts each node group to a NodePool. The pool launches the instance types, zones and
// capacity types of its nodes, with the labels and taints that all of them share. Its nodes may be
// consolidated and do not expire.
func (w *World) asPools() {
	groups := map[string][]*provisioning.Node{}
	for i := range w.Cluster.Nodes {
		n := &w.Cluster.Nodes[i]
		if n.Node == nil || n.NodeClaim != nil || n.Node.Labels[v1.NodePoolLabelKey] != "" {
			continue
		}
		if group := groupOf(n.Node.Labels); group != "" {
			groups[group] = append(groups[group], n)
		}
	}
	for _, group := range slices.Sorted(maps.Keys(groups)) {
		name := poolName(group, w.Cluster.NodePools)
		pool := poolOf(name, groups[group])
		w.Cluster.NodePools = append(w.Cluster.NodePools, pool)
		for _, n := range groups[group] {
			adopt(pool, n)
		}
		w.note("node group %s is read as NodePool %s with %s", group, name, command.Count(len(groups[group]), "node"))
	}
	slices.SortFunc(w.Cluster.NodePools, func(a, b *v1.NodePool) int { return strings.Compare(a.Name, b.Name) })
}

// poolName returns a name for the NodePool of a group that no other pool has.
func poolName(group string, pools []*v1.NodePool) string {
	name := strings.ToLower(strings.ReplaceAll(group, "_", "-"))
	if len(validation.IsDNS1123Subdomain(name)) > 0 {
		name = "group"
	}
	for stem, n := name, 2; slices.ContainsFunc(pools, func(p *v1.NodePool) bool { return p.Name == name }); n++ {
		name = fmt.Sprintf("%s-%d", stem, n)
	}
	return name
}

func poolOf(name string, nodes []*provisioning.Node) *v1.NodePool {
	pool := &v1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: name}}
	template := &pool.Spec.Template
	template.Spec.NodeClassRef = classOfGroup(name, nodes[0].Node.Labels)
	template.Labels, template.Spec.Taints = shared(nodes)
	template.Spec.ExpireAfter = v1.NeverDuration()
	for i, key := range []string{corev1.LabelInstanceTypeStable, corev1.LabelTopologyZone, v1.CapacityTypeLabelKey} {
		values := map[string]bool{}
		for _, n := range nodes {
			k := offeringOf(n.Node.Labels)
			values[[]string{k.InstanceType, k.Zone, k.CapacityType}[i]] = true
		}
		if delete(values, ""); len(values) > 0 {
			template.Spec.Requirements = append(template.Spec.Requirements, v1.NodeSelectorRequirementWithMinValues{
				Key: key, Operator: corev1.NodeSelectorOpIn, Values: slices.Sorted(maps.Keys(values))})
		}
	}
	pool.Default()
	return pool
}

// classOfGroup returns a reference to a node class of the cloud of a group.
func classOfGroup(name string, labels map[string]string) *v1.NodeClassReference {
	for key := range labels { // of each cloud there are only its own
		switch domain, _, _ := strings.Cut(key, "/"); domain {
		case "cloud.google.com":
			return &v1.NodeClassReference{Group: "karpenter.k8s.gcp", Kind: "GCENodeClass", Name: name}
		case "kubernetes.azure.com":
			return &v1.NodeClassReference{Group: "karpenter.azure.com", Kind: "AKSNodeClass", Name: name}
		}
	}
	return &v1.NodeClassReference{Group: awsv1.Group, Kind: classKind, Name: name}
}

// shared returns the labels and taints that all nodes of a group have and that a NodePool may set.
func shared(nodes []*provisioning.Node) (map[string]string, []corev1.Taint) {
	labels, taints := maps.Clone(nodes[0].Node.Labels), slices.Clone(nodes[0].Node.Spec.Taints)
	for _, n := range nodes {
		maps.DeleteFunc(labels, func(key, value string) bool { return n.Node.Labels[key] != value })
		taints = slices.DeleteFunc(taints, func(t corev1.Taint) bool {
			same := func(o corev1.Taint) bool { return o.Key == t.Key && o.Value == t.Value && o.Effect == t.Effect }
			return strings.HasPrefix(t.Key, "node.kubernetes.io/") || !slices.ContainsFunc(n.Node.Spec.Taints, same)
		})
	}
	maps.DeleteFunc(labels, func(key, _ string) bool {
		return fake.Vocabulary().WellKnown(key) || fake.Vocabulary().CheckKey(key) != nil
	})
	for i := range taints {
		taints[i].TimeAdded = nil
	}
	return labels, taints
}

// adopt makes a node look as if the pool had launched it.
func adopt(pool *v1.NodePool, n *provisioning.Node) {
	node := n.Node.DeepCopy()
	node.Labels[v1.NodePoolLabelKey], node.Labels[v1.CapacityTypeLabelKey] = pool.Name, offeringOf(node.Labels).CapacityType
	node.Labels[v1.NodeRegisteredLabelKey], node.Labels[v1.NodeInitializedLabelKey] = "true", "true"
	claim := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: node.Name, CreationTimestamp: node.CreationTimestamp, Labels: maps.Clone(node.Labels),
		Annotations: map[string]string{v1.NodePoolHashAnnotationKey: pool.Hash(), v1.NodePoolHashVersionAnnotationKey: v1.NodePoolHashVersion}}}
	claim.Spec.NodeClassRef, claim.Spec.ExpireAfter = pool.Spec.Template.Spec.NodeClassRef, pool.Spec.Template.Spec.ExpireAfter
	claim.Spec.Requirements = pool.Spec.Template.Spec.Requirements
	claim.Status.ProviderID, claim.Status.NodeName = cmp.Or(node.Spec.ProviderID, "group:///"+node.Name), node.Name
	claim.Status.Capacity, claim.Status.Allocatable = node.Status.Capacity, node.Status.Allocatable
	for _, kind := range []string{v1.ConditionTypeLaunched, v1.ConditionTypeRegistered, v1.ConditionTypeInitialized, v1.ConditionTypeConsolidatable} {
		claim.Status.Conditions = append(claim.Status.Conditions, metav1.Condition{Type: kind, Status: metav1.ConditionTrue, Reason: kind,
			LastTransitionTime: node.CreationTimestamp})
	}
	node.Spec.ProviderID = claim.Status.ProviderID
	n.Node, n.NodeClaim = node, claim
}

// groupOf returns the name of the node group that a cloud or an installer has stored in the labels of a
// node. It returns "" if these have none.
func groupOf(labels map[string]string) string {
	return cmp.Or(labels["eks.amazonaws.com/nodegroup"], labels["alpha.eksctl.io/nodegroup-name"], labels["cloud.google.com/gke-nodepool"],
		labels["kubernetes.azure.com/agentpool"], labels["agentpool"], labels["kops.k8s.io/instancegroup"], labels["doks.digitalocean.com/node-pool"])
}

// offeringOf returns the offering in the labels of a node: those of Karpenter, of Kubernetes, and of
// the node groups of EKS, GKE and AKS. A node without a spot label is on-demand, as in these clouds.
func offeringOf(labels map[string]string) cloudprovider.OfferingKey {
	return cloudprovider.OfferingKey{
		InstanceType: cmp.Or(labels[corev1.LabelInstanceTypeStable], labels[corev1.LabelInstanceType]),
		Zone:         cmp.Or(labels[corev1.LabelTopologyZone], labels[corev1.LabelFailureDomainBetaZone]),
		CapacityType: cmp.Or(labels[v1.CapacityTypeLabelKey], groupCapacity(labels)),
	}
}

// groupCapacity returns the capacity type of a node of a node group.
func groupCapacity(labels map[string]string) string {
	switch {
	case labels["eks.amazonaws.com/capacityType"] == "CAPACITY_BLOCK":
		return v1.CapacityTypeReserved
	case labels["eks.amazonaws.com/capacityType"] == "SPOT", labels["cloud.google.com/gke-spot"] == "true",
		labels["cloud.google.com/gke-preemptible"] == "true", labels["kubernetes.azure.com/scalesetpriority"] == "spot":
		return v1.CapacityTypeSpot
	}
	return v1.CapacityTypeOnDemand
}
