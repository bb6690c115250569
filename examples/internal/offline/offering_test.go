package offline

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

func TestOfferingsOfNodeGroups(t *testing.T) {
	for _, tt := range []struct {
		labels          map[string]string
		group, capacity string
	}{
		{nil, "", "on-demand"},
		{map[string]string{"eks.amazonaws.com/nodegroup": "a", "eks.amazonaws.com/capacityType": "ON_DEMAND"}, "a", "on-demand"},
		{map[string]string{"alpha.eksctl.io/nodegroup-name": "a", "eks.amazonaws.com/capacityType": "SPOT"}, "a", "spot"},
		{map[string]string{"eks.amazonaws.com/nodegroup": "a", "eks.amazonaws.com/capacityType": "CAPACITY_BLOCK"}, "a", "reserved"},
		{map[string]string{"cloud.google.com/gke-nodepool": "a", "cloud.google.com/gke-spot": "true"}, "a", "spot"},
		{map[string]string{"cloud.google.com/gke-nodepool": "a", "cloud.google.com/gke-preemptible": "true"}, "a", "spot"},
		{map[string]string{"kubernetes.azure.com/agentpool": "a", "kubernetes.azure.com/scalesetpriority": "spot"}, "a", "spot"},
		{map[string]string{"agentpool": "a"}, "a", "on-demand"},
		{map[string]string{"karpenter.sh/capacity-type": "spot"}, "", "spot"},
	} {
		require.Equal(t, tt.group, groupOf(tt.labels), "%v", tt.labels)
		require.Equal(t, cloudprovider.OfferingKey{CapacityType: tt.capacity}, offeringOf(tt.labels), "%v", tt.labels)
	}
	require.Equal(t, cloudprovider.OfferingKey{InstanceType: "m5.large", Zone: "a", CapacityType: "on-demand"},
		offeringOf(map[string]string{"beta.kubernetes.io/instance-type": "m5.large", "failure-domain.beta.kubernetes.io/zone": "a"}))
}
