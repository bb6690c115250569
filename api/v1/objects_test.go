package v1_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
)

// pool returns the smallest pool that passes validation.
func pool() *v1.NodePool {
	return &v1.NodePool{
		TypeMeta:   metav1.TypeMeta{APIVersion: "karpenter.sh/v1", Kind: "NodePool"},
		ObjectMeta: metav1.ObjectMeta{Name: "default"},
		Spec: v1.NodePoolSpec{Template: v1.NodeClaimTemplate{Spec: v1.NodeClaimTemplateSpec{
			Requirements: []v1.NodeSelectorRequirementWithMinValues{},
			NodeClassRef: nodeClass(),
		}}},
	}
}

// claim returns the smallest claim that passes validation.
func claim() *v1.NodeClaim {
	return &v1.NodeClaim{
		TypeMeta:   metav1.TypeMeta{APIVersion: "karpenter.sh/v1", Kind: "NodeClaim"},
		ObjectMeta: metav1.ObjectMeta{Name: "default-abcde"},
		Spec: v1.NodeClaimSpec{
			Requirements: []v1.NodeSelectorRequirementWithMinValues{},
			NodeClassRef: nodeClass(),
		},
	}
}

// overlay returns the smallest overlay that passes validation.
func overlay() *v1.NodeOverlay {
	return &v1.NodeOverlay{
		TypeMeta:   metav1.TypeMeta{APIVersion: "karpenter.sh/v1alpha1", Kind: "NodeOverlay"},
		ObjectMeta: metav1.ObjectMeta{Name: "default"},
		Spec:       v1.NodeOverlaySpec{Requirements: []v1.NodeSelectorRequirement{}},
	}
}

func nodeClass() *v1.NodeClassReference {
	return &v1.NodeClassReference{Group: "karpenter.k8s.aws", Kind: "EC2NodeClass", Name: "default"}
}

// messages returns the faults as text, which pins path, value and remedy.
func messages(faults field.ErrorList) []string {
	var out []string
	for _, fault := range faults {
		out = append(out, fault.Error())
	}
	return out
}

func readFile(t testing.TB, parts ...string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(append([]string{"testdata"}, parts...)...))
	require.NoError(t, err)
	return data
}
