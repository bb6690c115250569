package offline_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/examples/internal/offline"
)

// What Karpenter refuses on AWS is refused here: an overlay speaks of instance types, and so
// of no tenancy.
func TestRules(t *testing.T) {
	for key, ok := range map[string]bool{"karpenter.k8s.aws/instance-tenancy": false, "karpenter.k8s.aws/instance-family": true, "karpenter.k8s.aws/instance-nitro-enclaves-supported": true, "karpenter.k8s.aws/nitro-sandbox": false} {
		_, err := offline.Read(offline.Files{Sample: []byte(`
apiVersion: karpenter.sh/v1alpha1
kind: NodeOverlay
metadata: {name: a}
spec: {price: "1", requirements: [{key: ` + key + `, operator: Exists}]}
`)}, nil)
		require.Equal(t, ok, err == nil, "%s: %v", key, err)
	}
}
