package disruption

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/provisioning"
)

// launch adds the node that a NodeClaim becomes when it is launched by an
// option. The claim has its name, and is the aftermath's own.
func (a *aftermath) launch(claim *v1.NodeClaim, option cloudprovider.LaunchOption) {
	at := metav1.NewTime(a.now)
	if claim.Labels == nil {
		claim.Labels = map[string]string{}
	}
	for key, value := range option.NodeLabels() {
		if _, set := claim.Labels[key]; !set {
			claim.Labels[key] = value
		}
	}
	claim.UID, claim.CreationTimestamp = types.UID(claim.Name), at
	claim.Finalizers = []string{v1.TerminationFinalizer}
	id := "launched:///" + claim.Name
	claim.Status = v1.NodeClaimStatus{NodeName: claim.Name, ProviderID: id, LastPodEventTime: at}
	capacity, allocatable := option.InstanceType.Capacity, option.InstanceType.Capacity
	if option.Offering.Capacity != nil {
		capacity = capacity.Merge(*option.Offering.Capacity)
	}
	// A type whose sums overflow has no options to be launched by.
	if l, err := option.InstanceType.AllocatableFor(option.Offering); err == nil {
		allocatable = l
	}
	claim.Status.Capacity, claim.Status.Allocatable = capacity.ResourceList(), allocatable.ResourceList()
	for _, kind := range []string{v1.ConditionTypeLaunched, v1.ConditionTypeRegistered, v1.ConditionTypeInitialized, v1.ConditionTypeReady} {
		claim.Status.Conditions = append(claim.Status.Conditions,
			metav1.Condition{Type: kind, Status: metav1.ConditionTrue, Reason: kind, LastTransitionTime: at})
	}

	labels := maps.Clone(claim.Labels)
	labels[corev1.LabelHostname] = claim.Name
	labels[v1.NodeRegisteredLabelKey], labels[v1.NodeInitializedLabelKey] = "true", "true"
	node := &corev1.Node{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Node"},
		ObjectMeta: metav1.ObjectMeta{Name: claim.Name, UID: types.UID(claim.Name), CreationTimestamp: at, Labels: labels,
			Annotations: maps.Clone(claim.Annotations), Finalizers: []string{v1.TerminationFinalizer}},
		Spec: corev1.NodeSpec{ProviderID: id, Taints: slices.Clone(claim.Spec.Taints)},
		Status: corev1.NodeStatus{Capacity: claim.Status.Capacity, Allocatable: claim.Status.Allocatable,
			Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue, LastTransitionTime: at}}},
	}
	a.fresh = append(a.fresh, provisioning.Node{Node: node, NodeClaim: claim})
	a.launched = append(a.launched, &cloudprovider.Instance{ID: id, Name: claim.Name, NodePool: claim.Labels[v1.NodePoolLabelKey],
		Type: option.InstanceType.Name, Zone: option.Offering.Zone, CapacityType: option.Offering.CapacityType,
		ReservationID: option.Offering.ReservationID, OfferingID: option.Offering.ID, Labels: claim.Labels,
		Capacity: capacity, Allocatable: allocatable, Price: option.Offering.Price, CreatedAt: a.now})
	a.reserved[option.Offering.ReservationID]--
}

// catalogs are those of the input, with the capacity of reservations as it is by
// now.
func (a *aftermath) catalogs() map[string][]*cloudprovider.InstanceType {
	delete(a.reserved, "")
	maps.DeleteFunc(a.reserved, func(_ string, n int) bool { return n == 0 })
	if len(a.reserved) == 0 {
		return a.in.InstanceTypes
	}
	out := make(map[string][]*cloudprovider.InstanceType, len(a.in.InstanceTypes))
	changed := map[*cloudprovider.InstanceType]*cloudprovider.InstanceType{}
	for pool, list := range a.in.InstanceTypes {
		out[pool] = slices.Clone(list)
		for i, t := range list {
			if t == nil || !slices.ContainsFunc(t.Offerings, func(o cloudprovider.Offering) bool { return a.reserved[o.ReservationID] != 0 }) {
				continue
			}
			if changed[t] == nil { // pools share types, and go on to
				changed[t] = t.Clone()
				for k := range changed[t].Offerings {
					o := &changed[t].Offerings[k]
					o.ReservationCapacity = max(0, o.ReservationCapacity+a.reserved[o.ReservationID])
				}
			}
			out[pool][i] = changed[t]
		}
	}
	return out
}
