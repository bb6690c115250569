package v1_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/amiselect"
	v1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
)

// caBundleKey is the annotation in which the vectors carry the CA bundle.
const caBundleKey = "example.com/ca-bundle"

// TestHashVectors compares with the values that Karpenter computes.
func TestHashVectors(t *testing.T) {
	classes, err := v1.DecodeEC2NodeClasses(readFile(t, "hash_vectors.yaml"))
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(classes), 104)
	distinct := map[string]bool{}
	for _, c := range classes {
		before := c.DeepCopy()
		require.Equal(t, v1.EC2NodeClassHashVersion, c.Annotations[v1.EC2NodeClassHashVersionAnnotationKey])
		hash := c.Hash(c.Annotations[caBundleKey])
		require.Equal(t, c.Annotations[v1.EC2NodeClassHashAnnotationKey], hash, c.Name)
		require.Equal(t, before, c, "inputs are not changed")
		distinct[hash] = true
	}
	require.Greater(t, len(distinct), 85, "the vectors tell fields apart")
}

func TestHashOfNothing(t *testing.T) {
	require.Equal(t, "6878625172482653329", (&v1.EC2NodeClass{}).Hash(""), "the vector bare")
	require.Equal(t, "6878625172482653329", (*v1.EC2NodeClass)(nil).Hash(""))
}

func TestHashChangesWithDefaultsThatAreHashed(t *testing.T) {
	c := class()
	before := c.Hash("")
	c.Default()
	require.NotEqual(t, before, c.Hash(""), "a controller hashes what the API server stores")
}

func TestResolvedAMIFamily(t *testing.T) {
	family := amiselect.FamilyCustom
	for alias, want := range map[string]amiselect.Family{
		"al2@latest":          amiselect.FamilyAL2,
		"al2023@20240807":     amiselect.FamilyAL2023,
		"bottlerocket":        amiselect.FamilyBottlerocket,
		"windows2025@a@b":     amiselect.FamilyWindows2025,
		"AL2023@latest":       amiselect.FamilyCustom,
		"@":                   amiselect.FamilyCustom,
		"custom@latest":       amiselect.FamilyCustom,
		"windows2022@latest":  amiselect.FamilyWindows2022,
		"windows2019@latest ": amiselect.FamilyWindows2019,
	} {
		c := class()
		c.Spec.AMISelectorTerms = []v1.AMISelectorTerm{{ID: "ami-1"}, {Alias: alias}}
		require.Equal(t, want, c.ResolvedAMIFamily(), alias)
		c.Spec.AMIFamily = &family
		require.Equal(t, family, c.ResolvedAMIFamily(), alias)
	}
	require.Equal(t, amiselect.FamilyCustom, (*v1.EC2NodeClass)(nil).ResolvedAMIFamily())
	require.Nil(t, (*v1.EC2NodeClass)(nil).AMITerms())
}
