package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/awslabs/operatorpkg/status"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	karpenterv1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	"sigs.k8s.io/karpenter/pkg/scheduling"

	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/benchmarks/internal/karpenter"
	"github.com/dovetail-sdk/dovetail/benchmarks/scenario"
)

// cloud is a cloud provider that sells the scenario's catalog. The scheduler calls none of the
// methods inherited from the embedded interface.
type cloud struct {
	cloudprovider.CloudProvider
	types   []*cloudprovider.InstanceType
	byName  map[string]*cloudprovider.InstanceType
	byPool  map[string][]string
	classes []status.Object
}

// newCloud returns the cloud of a scenario. It also changes two package variables of Karpenter, as
// cloud providers do when they are linked in: the labels of its instance types become well-known,
// and the label with the ID of the reservation is set.
func newCloud(s *scenario.Scenario, pools []*karpenterv1.NodePool) *cloud {
	cloudprovider.ReservationIDLabel = awsv1.LabelCapacityReservationID
	cloudprovider.ReservedCapacityLabels.Insert(reservationLabels()...)
	c := &cloud{byName: map[string]*cloudprovider.InstanceType{}, byPool: s.InstanceTypesByPool}
	for i := range s.InstanceTypes {
		t := instanceType(&s.InstanceTypes[i])
		c.types = append(c.types, t)
		c.byName[t.Name] = t
		for _, r := range s.InstanceTypes[i].Requirements {
			karpenterv1.WellKnownLabels.Insert(r.Key)
		}
	}
	var seen []schema.GroupKind
	for _, p := range pools {
		gk := p.Spec.Template.Spec.NodeClassRef.GroupKind()
		if slices.Contains(seen, gk) {
			continue
		}
		seen = append(seen, gk)
		c.classes = append(c.classes, karpenter.NewNodeClass(gk))
	}
	return c
}

func reservationLabels() []string {
	return []string{awsv1.LabelCapacityReservationID, awsv1.LabelCapacityReservationType, awsv1.LabelCapacityReservationInterruptible}
}

// Name returns the name of the provider.
func (c *cloud) Name() string { return "benchmark" }

// GetSupportedNodeClasses returns a class of every kind that pools refer to, so that all pools
// count as this provider's.
func (c *cloud) GetSupportedNodeClasses() []status.Object { return c.classes }

// GetInstanceTypes returns new instance types at every call, with shared parts, as providers with a
// cache do. Each solve starts from scratch, and none pays for building a catalog.
func (c *cloud) GetInstanceTypes(_ context.Context, pool *karpenterv1.NodePool) ([]*cloudprovider.InstanceType, error) {
	sold := c.types
	if c.byPool != nil {
		sold = nil
		for _, name := range c.byPool[pool.Name] {
			t, ok := c.byName[name]
			if !ok {
				return nil, fmt.Errorf("pool %s: there is no instance type %s", pool.Name, name)
			}
			sold = append(sold, t)
		}
	}
	out := make([]*cloudprovider.InstanceType, len(sold))
	for i, t := range sold {
		out[i] = &cloudprovider.InstanceType{
			Name: t.Name, Requirements: t.Requirements, Offerings: t.Offerings, Capacity: t.Capacity, Overhead: t.Overhead,
		}
	}
	return out, nil
}

func instanceType(t *scenario.InstanceType) *cloudprovider.InstanceType {
	out := &cloudprovider.InstanceType{
		Name:         t.Name,
		Requirements: scheduling.NewNodeSelectorRequirements(t.Requirements...),
		Capacity:     t.Capacity,
		Overhead:     &cloudprovider.InstanceTypeOverhead{KubeReserved: t.Overhead},
	}
	for _, o := range t.Offerings {
		out.Offerings = append(out.Offerings, &cloudprovider.Offering{
			Requirements:        offeringRequirements(out, o),
			Price:               o.Price,
			Available:           o.Available,
			ReservationCapacity: o.ReservationCapacity,
		})
	}
	return out
}

// offeringRequirements returns the zone, the capacity type and the reservation of an offering. If
// some offering of the type is reserved, all other offerings exclude the reservation labels.
func offeringRequirements(t *cloudprovider.InstanceType, o scenario.Offering) scheduling.Requirements {
	out := scheduling.NewLabelRequirements(map[string]string{
		corev1.LabelTopologyZone:         o.Zone,
		karpenterv1.CapacityTypeLabelKey: o.CapacityType,
	})
	if t.Requirements.Has(awsv1.LabelCapacityReservationID) {
		for _, key := range reservationLabels() {
			out.Add(scheduling.NewRequirement(key, corev1.NodeSelectorOpDoesNotExist))
		}
	}
	if o.ReservationID != "" {
		key := awsv1.LabelCapacityReservationID
		out[key] = scheduling.NewRequirement(key, corev1.NodeSelectorOpIn, o.ReservationID)
	}
	return out
}
