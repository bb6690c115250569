package v1_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
)

// class returns the smallest class that passes validation.
func class() *v1.EC2NodeClass {
	tags := map[string]string{"karpenter.sh/discovery": "demo"}
	return &v1.EC2NodeClass{
		TypeMeta:   metav1.TypeMeta{APIVersion: "karpenter.k8s.aws/v1", Kind: "EC2NodeClass"},
		ObjectMeta: metav1.ObjectMeta{Name: "default"},
		Spec: v1.EC2NodeClassSpec{
			SubnetSelectorTerms:        []v1.SubnetSelectorTerm{{Tags: tags}},
			SecurityGroupSelectorTerms: []v1.SecurityGroupSelectorTerm{{Tags: tags}},
			AMISelectorTerms:           []v1.AMISelectorTerm{{Alias: "al2023@latest"}},
			Role:                       "KarpenterNodeRole-demo",
		},
	}
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

// manifests returns the names of the files under testdata/manifests.
func manifests(t testing.TB) []string {
	t.Helper()
	files, err := os.ReadDir(filepath.Join("testdata", "manifests"))
	require.NoError(t, err)
	var names []string
	for _, f := range files {
		names = append(names, f.Name())
	}
	require.NotEmpty(t, names)
	return names
}
