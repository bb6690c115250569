package provisioning_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// TestClaimKeepsMinValues: a NodeClaim goes without a type that is no option everywhere
// rather than without a zone, if minValues hold then.
func TestClaimKeepsMinValues(t *testing.T) {
	n := provisioning.NewNode{Pool: &v1.NodePool{}}
	sold := func(name string, price float64, zones ...string) *cloudprovider.InstanceType {
		it := &cloudprovider.InstanceType{Name: name, Requirements: requirements.NewSet(requirements.In(corev1.LabelInstanceTypeStable, name))}
		for _, zone := range zones {
			it.Offerings = append(it.Offerings, cloudprovider.Offering{Zone: zone, CapacityType: v1.CapacityTypeOnDemand, Price: price, Available: true})
		}
		return it
	}
	// The fourth is sold in both zones, and may be launched in the first only.
	for i, it := range []*cloudprovider.InstanceType{sold("a", 1, "x"), sold("b", 2, "y"), sold("c", 3, "y"), sold("d", 4, "x", "y")} {
		n.Options = append(n.Options, cloudprovider.LaunchOption{InstanceType: it, Offering: &it.Offerings[0]})
		require.Equal(t, float64(i+1), n.Options[i].Offering.Price)
	}
	claim := func(minValues int) (types []string, least int, relaxed string) {
		n.Requirements = requirements.NewSet(requirements.Exists(corev1.LabelInstanceTypeStable).WithMinValues(minValues))
		c := n.NodeClaim()
		for _, r := range c.Spec.Requirements {
			if r.Key == corev1.LabelInstanceTypeStable {
				types, least = r.Values, *r.MinValues
			}
		}
		return types, least, c.Annotations[v1.NodeClaimMinValuesRelaxedAnnotationKey]
	}
	types, least, relaxed := claim(3)
	require.Equal(t, []string{"a", "b", "c"}, types)
	require.Equal(t, 3, least)
	require.Equal(t, "false", relaxed)

	types, least, relaxed = claim(4)
	require.Equal(t, []string{"a", "b", "c"}, types)
	require.Equal(t, 3, least)
	require.Equal(t, "true", relaxed)
}
