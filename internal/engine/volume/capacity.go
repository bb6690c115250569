package volume

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/dovetail-sdk/dovetail/internal/minors"
	"github.com/dovetail-sdk/dovetail/internal/quantity"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// setCapacities indexes the capacities that have a topology and an amount.
func (x *Index) setCapacities(list []*storagev1.CSIStorageCapacity) {
	x.capacities = map[string][]*storagev1.CSIStorageCapacity{}
	for _, c := range list {
		if c.NodeTopology != nil && largestVolume(c) != nil {
			x.capacities[c.StorageClassName] = append(x.capacities[c.StorageClassName], c)
		}
	}
	for _, of := range x.capacities {
		slices.SortFunc(of, func(a, b *storagev1.CSIStorageCapacity) int {
			return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
		})
	}
}

// largestVolume returns the size of the largest volume that can be made, nil if it is not known.
func largestVolume(c *storagev1.CSIStorageCapacity) *resource.Quantity {
	if c.MaximumVolumeSize != nil {
		return c.MaximumVolumeSize
	}
	return c.Capacity
}

// withRoom returns the nodes for which the driver of a class has room for a new volume of a claim.
// It returns nil if capacity does not matter: the driver does not publish it, or the claim requests
// no size. As in kube-scheduler, each volume is checked alone.
func (x *Index) withRoom(c *corev1.PersistentVolumeClaim, class *storagev1.StorageClass) *affinity {
	driver := x.drivers[class.Provisioner]
	size, sized := c.Spec.Resources.Requests[corev1.ResourceStorage]
	if !sized || driver == nil || driver.Spec.StorageCapacity == nil || !*driver.Spec.StorageCapacity {
		return nil
	}
	out := &affinity{}
	for i, capacity := range x.capacities[class.Name] {
		if !x.sufficient(*largestVolume(capacity), size) {
			continue
		}
		if expressions, err := expressionsOf(capacity.NodeTopology); err == nil { // an invalid topology admits no node
			out.add(i, expressions, x.vocabulary, nil)
		}
	}
	out.merge()
	return out
}

// sufficient says whether a volume of a size can be made where largest is the largest possible
// size. The exact comparison is valid for kube-schedulers that compare rounded sizes as well.
func (x *Index) sufficient(largest, size resource.Quantity) bool {
	if x.kubernetes.After(minors.StorageCapacities) {
		return quantity.Compare(size, largest) <= 0
	}
	return size.Value() <= largest.Value()
}

// expressionsOf converts a label selector to requirements on the labels of a node.
func expressionsOf(s *metav1.LabelSelector) ([]corev1.NodeSelectorRequirement, error) {
	if _, err := metav1.LabelSelectorAsSelector(s); err != nil {
		return nil, err
	}
	var out []corev1.NodeSelectorRequirement
	for key, value := range s.MatchLabels {
		out = append(out, corev1.NodeSelectorRequirement{Key: key, Operator: corev1.NodeSelectorOpIn, Values: []string{value}})
	}
	slices.SortFunc(out, func(a, b corev1.NodeSelectorRequirement) int { return cmp.Compare(a.Key, b.Key) })
	for _, e := range s.MatchExpressions {
		out = append(out, corev1.NodeSelectorRequirement{Key: e.Key, Operator: corev1.NodeSelectorOperator(e.Operator), Values: e.Values})
	}
	return out, nil
}

// merge reduces the number of Sets of an affinity, because a driver may publish a capacity for each
// node.
func (a *affinity) merge() {
	for _, sets := range []*[]requirements.Set{&a.launch, &a.exact} {
		if len(*sets) > 0 {
			if *sets = simplify(distinct(*sets)); *sets == nil {
				*sets = []requirements.Set{{}} // every node
			}
		}
	}
}

// distinct removes Sets with the same text as an earlier one.
func distinct(sets []requirements.Set) (out []requirements.Set) {
	seen := map[string]bool{}
	for _, s := range sets {
		if text := s.String(); !seen[text] {
			seen[text] = true
			out = append(out, s)
		}
	}
	return out
}

// and returns the affinity of the nodes that satisfy both.
func (a *affinity) and(b *affinity) affinity {
	both := func(left, right []requirements.Set) (out []requirements.Set) {
		for _, s := range left {
			for _, t := range right {
				if set := s.Intersect(t); !set.Impossible() {
					out = append(out, set)
				}
			}
		}
		return out
	}
	out := affinity{launch: both(a.launch, b.launch), exact: both(a.exact, b.exact), err: a.err}
	out.merge()
	return out
}
