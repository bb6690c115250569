package v1_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	v1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
)

func TestDefault(t *testing.T) {
	c := class()
	c.Default()
	text, err := json.Marshal(c)
	require.NoError(t, err)
	require.JSONEq(t, `{
		"apiVersion": "karpenter.k8s.aws/v1",
		"kind": "EC2NodeClass",
		"metadata": {"name": "default"},
		"spec": {
			"amiSelectorTerms": [{"alias": "al2023@latest"}],
			"metadataOptions": {
				"httpEndpoint": "enabled",
				"httpProtocolIPv6": "disabled",
				"httpPutResponseHopLimit": 1,
				"httpTokens": "required"
			},
			"role": "KarpenterNodeRole-demo",
			"securityGroupSelectorTerms": [{"tags": {"karpenter.sh/discovery": "demo"}}],
			"subnetSelectorTerms": [{"tags": {"karpenter.sh/discovery": "demo"}}]
		}
	}`, string(text))
	again := c.DeepCopy()
	again.Default()
	require.Equal(t, c, again, "idempotent")
}

func TestDefaultKeepsWhatIsSet(t *testing.T) {
	c := class()
	c.Spec.MetadataOptions = &v1.MetadataOptions{HTTPPutResponseHopLimit: new(int64(2)), HTTPTokens: new(v1.HTTPTokensOptional)}
	c.Status.CapacityReservations = []v1.CapacityReservation{
		{ID: "cr-1"},
		{ID: "cr-2", ReservationType: v1.CapacityReservationTypeCapacityBlock, State: v1.CapacityReservationStateExpiring},
	}
	c.Default()
	require.Equal(t, &v1.MetadataOptions{
		HTTPEndpoint: new(v1.Enabled), HTTPProtocolIPv6: new(v1.Disabled),
		HTTPPutResponseHopLimit: new(int64(2)), HTTPTokens: new(v1.HTTPTokensOptional),
	}, c.Spec.MetadataOptions)
	require.Equal(t, []v1.CapacityReservation{
		{ID: "cr-1", ReservationType: v1.CapacityReservationTypeDefault, State: v1.CapacityReservationStateActive},
		{ID: "cr-2", ReservationType: v1.CapacityReservationTypeCapacityBlock, State: v1.CapacityReservationStateExpiring},
	}, c.Status.CapacityReservations)
	(*v1.EC2NodeClass)(nil).Default()
	(*v1.MetadataOptions)(nil).Default()
}
