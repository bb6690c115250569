package replay

import (
	"fmt"
	"maps"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// labelsOf are the labels that a planned node comes up with: those of its option, those
// of the plan, and of a label that both leave open a value that the plan admits. A label with aliases is
// there under each of its names.
func labelsOf(n *provisioning.NewNode, vocabulary *requirements.Vocabulary) map[string]string {
	labels := n.Options[0].NodeLabels()
	maps.Copy(labels, n.Labels)
	for want := range n.Options[0].Requirements().Intersect(n.Requirements).All() {
		if _, set := labels[want.Key()]; set || want.AllowsAbsent() {
			continue
		}
		if value, ok := want.Any(); ok {
			labels[want.Key()] = value
		}
	}
	for alias, key := range vocabulary.Aliases() {
		if value, set := labels[key]; set {
			labels[alias] = value
		}
	}
	return labels
}

// newNode is the node that the cheapest option of a planned one comes up as,
// initialized and without its startup taints.
func newNode(n *provisioning.NewNode, number int, vocabulary *requirements.Vocabulary) (provisioning.Node, error) {
	option := n.Options[0]
	allocatable, err := option.InstanceType.AllocatableFor(option.Offering)
	if err != nil {
		return provisioning.Node{}, fmt.Errorf("node %s as %s: %w", n.Name, option, err)
	}
	name := fmt.Sprintf("replayed-%05d", number)
	labels := labelsOf(n, vocabulary)
	claim := n.NodeClaim()
	claim.GenerateName, claim.Name = "", name
	claim.Labels = maps.Clone(labels)
	claim.Status.NodeName, claim.Status.ProviderID = name, "replay:///"+name
	claim.Status.Capacity = option.InstanceType.Capacity.ResourceList()
	claim.Status.Allocatable = allocatable.ResourceList()
	for _, kind := range []string{v1.ConditionTypeLaunched, v1.ConditionTypeRegistered, v1.ConditionTypeInitialized} {
		claim.Status.Conditions = append(claim.Status.Conditions, metav1.Condition{Type: kind, Status: metav1.ConditionTrue, Reason: kind})
	}
	labels[corev1.LabelHostname] = name
	labels[v1.NodeRegisteredLabelKey], labels[v1.NodeInitializedLabelKey] = "true", "true"
	return provisioning.Node{NodeClaim: claim, Node: &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels},
		Spec:       corev1.NodeSpec{ProviderID: claim.Status.ProviderID, Taints: claim.Spec.Taints},
		Status:     corev1.NodeStatus{Capacity: claim.Status.Capacity, Allocatable: claim.Status.Allocatable},
	}}, nil
}
