package v1_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
)

func TestAddToScheme(t *testing.T) {
	scheme := runtime.NewScheme()
	require.NoError(t, v1.AddToScheme(scheme))
	require.NoError(t, v1.AddToScheme(scheme), "twice is harmless")
	for kind, want := range map[string]runtime.Object{
		"karpenter.sh/v1, Kind=NodePool":              &v1.NodePool{},
		"karpenter.sh/v1, Kind=NodePoolList":          &v1.NodePoolList{},
		"karpenter.sh/v1, Kind=NodeClaim":             &v1.NodeClaim{},
		"karpenter.sh/v1, Kind=NodeClaimList":         &v1.NodeClaimList{},
		"karpenter.sh/v1alpha1, Kind=NodeOverlay":     &v1.NodeOverlay{},
		"karpenter.sh/v1alpha1, Kind=NodeOverlayList": &v1.NodeOverlayList{},
	} {
		gvks, unversioned, err := scheme.ObjectKinds(want)
		require.NoError(t, err)
		require.False(t, unversioned)
		require.Len(t, gvks, 1)
		require.Equal(t, kind, gvks[0].String())
		obj, err := scheme.New(gvks[0])
		require.NoError(t, err)
		require.Equal(t, want, obj)

		known, ok := v1.GroupVersionKindOf(gvks[0].Kind)
		require.True(t, ok)
		require.Equal(t, gvks[0], known)
	}
	_, ok := v1.GroupVersionKindOf("Pod")
	require.False(t, ok)
}

func TestGroupHelpers(t *testing.T) {
	require.Equal(t, schema.GroupKind{Group: "karpenter.sh", Kind: "NodePool"}, v1.Kind("NodePool"))
	require.Equal(t, schema.GroupResource{Group: "karpenter.sh", Resource: "nodepools"}, v1.Resource("nodepools"))
	require.Equal(t, "karpenter.k8s.aws/ec2nodeclass", v1.NodeClassLabelKey(nodeClass().GroupKind()))
	require.Equal(t, schema.GroupKind{}, (*v1.NodeClassReference)(nil).GroupKind())
}

// TestUnstructured sends objects through the converter that dynamic clients
// use; it has its own reading of struct tags.
func TestUnstructured(t *testing.T) {
	docs, err := v1.DecodeAll(readFile(t, "manifests", "budgets.yaml"))
	require.NoError(t, err)
	p := docs[0].(*v1.NodePool)
	m, err := runtime.DefaultUnstructuredConverter.ToUnstructured(p)
	require.NoError(t, err)
	spec := m["spec"].(map[string]any)
	require.NotContains(t, m, "status")
	require.NotContains(t, spec["disruption"], "consolidateAfter", "unset is left out")
	template := spec["template"].(map[string]any)
	require.Equal(t, "1440h", template["spec"].(map[string]any)["expireAfter"])
	var back v1.NodePool
	require.NoError(t, runtime.DefaultUnstructuredConverter.FromUnstructured(m, &back))
	require.Equal(t, p, &back)
}
