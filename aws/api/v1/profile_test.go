package v1_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	v1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
)

func TestInstanceProfiles(t *testing.T) {
	// The values that Karpenter computes.
	require.Equal(t, "demo_8891960937105949750", v1.LegacyInstanceProfileName("demo", "eu-west-1", "default"))
	require.Equal(t, "demo_4459284570608246251", v1.LegacyInstanceProfileName("demo", "eu-west-1", ""))
	require.Equal(t, "demo_8891960937105949750", v1.InstanceProfileName("demo", "eu-west-1", "default", ""))
	require.NotEqual(t,
		v1.InstanceProfileName("demo", "eu-west-1", "default", "1"),
		v1.InstanceProfileName("demo", "eu-west-1", "default", "2"))
	require.Equal(t, "/karpenter/eu-west-1/demo/", v1.InstanceProfilePath("demo", "eu-west-1", ""))
	require.Equal(t, "/karpenter/eu-west-1/demo/u-1/", v1.InstanceProfilePath("demo", "eu-west-1", "u-1"))
}

func TestInstanceProfileTags(t *testing.T) {
	c := class()
	c.Spec.Tags = map[string]string{"team": "a", v1.ClusterNameTagKey: "forged"}
	before := c.DeepCopy()
	tags := c.InstanceProfileTags("demo", "eu-west-1")
	require.Equal(t, map[string]string{
		"team":                           "a",
		"kubernetes.io/cluster/demo":     "owned",
		"eks:eks-cluster-name":           "demo",
		"karpenter.k8s.aws/ec2nodeclass": "default",
		"topology.kubernetes.io/region":  "eu-west-1",
	}, tags)
	tags["team"] = "b"
	require.Equal(t, before, c)
	require.Len(t, (*v1.EC2NodeClass)(nil).InstanceProfileTags("demo", "eu-west-1"), 4)
}
