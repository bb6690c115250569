package awsinput_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/examples/internal/awsinput"
	"github.com/dovetail-sdk/dovetail/examples/internal/place"
)

const sample = `
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: general}
spec: {template: {spec: {nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}, requirements: []}}}
---
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: default}
spec:
  role: nodes
  amiSelectorTerms: [{alias: al2023@latest}]
  subnetSelectorTerms: [{tags: {team: shop}}]
  securityGroupSelectorTerms: [{tags: {team: shop}}]
---
apiVersion: v1
kind: Node
metadata: {name: a, labels: {topology.kubernetes.io/zone: eu-west-1b, topology.k8s.aws/zone-id: euw1-az2}}
status: {allocatable: {cpu: 1}}
`

func TestRead(t *testing.T) {
	in, err := awsinput.Read(nil, nil, []byte(sample))
	require.NoError(t, err)
	pools, err := in.Pools(t.Context())
	require.NoError(t, err)
	require.Len(t, pools, 1)
	class, err := in.Class(t.Context(), "default")
	require.NoError(t, err)
	require.Equal(t, "default", class.Name)
	_, err = in.Class(t.Context(), "other")
	require.ErrorIs(t, err, cloudprovider.ErrNotFound)
	o := in.Account("", place.Asked{})
	require.Equal(t, []string{"nodes"}, o.Roles)
	require.Equal(t, "eu-west-1", o.Region)
	require.Equal(t, "euw1-az2", o.Zones[0].ID)
}

// Faults of the classes and of the rest are reported together, each once.
func TestFaults(t *testing.T) {
	faulty := strings.NewReplacer("role: nodes", "role: ''", "name: a,", "name: A_,").Replace(sample)
	_, err := awsinput.Read([]string{"-"}, strings.NewReader(faulty), nil)
	require.ErrorContains(t, err, "-:11 (document 2): EC2NodeClass default: spec.role")
	_, err = awsinput.Read([]string{"-"}, strings.NewReader("kind: ["), nil)
	require.Equal(t, 1, strings.Count(err.Error(), "\n")+1, "%v", err)
	_, err = awsinput.Read([]string{"-"}, strings.NewReader(strings.Replace(sample, "name: default}, req", "name: other}, req", 1)), nil)
	require.EqualError(t, err, `NodePool general: there is no EC2NodeClass "other" in the manifests; add it`)
	_, err = awsinput.Read([]string{"-"}, strings.NewReader(strings.Replace(sample, "karpenter.k8s.aws, kind: EC2NodeClass", "karpenter.azure.com, kind: AKSNodeClass", 1)), nil)
	require.EqualError(t, err, `NodePool general: its nodeClassRef names the AKSNodeClass default of karpenter.azure.com, and nodes are launched from an EC2NodeClass of karpenter.k8s.aws here; remove the NodePool, or name one`)
	_, err = awsinput.Read([]string{"none.yaml"}, nil, nil)
	require.Error(t, err)
	require.True(t, errors.Unwrap(err) == nil, "all faults are joined")
}
