package aws

import (
	"maps"

	corev1 "k8s.io/api/core/v1"

	karpv1 "github.com/dovetail-sdk/dovetail/api/v1"
	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// DemoteClaim returns the NodeClaim with the labels of on-demand capacity if it has those of a
// capacity reservation and its machine, as Get or List of the Provider returned it, runs on demand
// now: when a reservation ends or is cancelled, its instances keep running at the on-demand price.
// The opposite change does not exist.
//
// The given claim is not changed. It is returned itself if there is nothing to change, and also if
// it belongs to another machine, is being deleted, or it or the machine is nil.
//
// Call DemoteClaim about once a minute for all NodeClaims with the label karpenter.sh/capacity-type
// = reserved, and store each result that is a changed copy; then call DemoteNode for its Node.
// Until then a decision treats the machine as on demand only if the reservation is no longer
// offered.
func DemoteClaim(claim *karpv1.NodeClaim, machine *cloudprovider.Instance) *karpv1.NodeClaim {
	if claim == nil || machine == nil || claim.Status.ProviderID != machine.ID || !claim.DeletionTimestamp.IsZero() {
		return claim
	}
	labels, changed := demoted(claim.Labels, machine)
	if !changed {
		return claim
	}
	out := claim.DeepCopy()
	out.Labels = labels
	return out
}

// DemoteNode is DemoteClaim for the Node. A Node that has not been registered is returned
// unchanged, because it gets the labels of its NodeClaim at registration.
func DemoteNode(node *corev1.Node, machine *cloudprovider.Instance) *corev1.Node {
	if node == nil || machine == nil || node.Spec.ProviderID != machine.ID || !node.DeletionTimestamp.IsZero() ||
		node.Labels[karpv1.NodeRegisteredLabelKey] != "true" {
		return node
	}
	labels, changed := demoted(node.Labels, machine)
	if !changed {
		return node
	}
	out := node.DeepCopy()
	out.Labels = labels
	return out
}

// demoted returns the labels of a machine whose reservation has ended, and whether they differ from
// the given ones.
func demoted(labels map[string]string, machine *cloudprovider.Instance) (map[string]string, bool) {
	if labels[karpv1.CapacityTypeLabelKey] != karpv1.CapacityTypeReserved || machine.CapacityType != karpv1.CapacityTypeOnDemand {
		return labels, false
	}
	out := maps.Clone(labels)
	out[karpv1.CapacityTypeLabelKey] = karpv1.CapacityTypeOnDemand
	for _, key := range []string{awsv1.LabelCapacityReservationID, awsv1.LabelCapacityReservationType, awsv1.LabelCapacityReservationInterruptible} {
		delete(out, key)
	}
	return out, true
}
