package snapshot_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/dovetail-sdk/dovetail/benchmarks/internal/family"
	"github.com/dovetail-sdk/dovetail/benchmarks/internal/snapshot"
	"github.com/dovetail-sdk/dovetail/provisioning"
)

func TestInputHasAllOfTheScenario(t *testing.T) {
	s, err := family.Generate(family.Spec{Family: "mixedexisting", Types: "aws", Pods: 20, Nodes: 3, Seed: 1})
	require.NoError(t, err)
	s.PersistentVolumeClaims = []*corev1.PersistentVolumeClaim{{}}
	s.PersistentVolumes = []*corev1.PersistentVolume{{}}
	s.StorageClasses = []*storagev1.StorageClass{{}}
	s.CSINodes = []*storagev1.CSINode{{}}
	in, err := snapshot.Input(s)
	require.NoError(t, err)
	require.Equal(t, s.NodePools, in.NodePools)
	require.Equal(t, s.Pods, in.Pods)
	require.Equal(t, s.DaemonSetPods, in.DaemonSetPods)
	require.Equal(t, s.Namespaces, in.Namespaces)
	require.Equal(t, provisioning.Volumes{
		Claims: s.PersistentVolumeClaims, Volumes: s.PersistentVolumes, Classes: s.StorageClasses, CSINodes: s.CSINodes,
	}, in.Volumes)
	require.Len(t, in.Nodes, 3)
	require.Equal(t, s.Nodes[2].Pods, in.Nodes[2].Pods)
	require.Same(t, s.Nodes[2].NodeClaim, in.Nodes[2].NodeClaim)
	for _, p := range s.NodePools {
		require.Len(t, in.InstanceTypes[p.Name], len(s.InstanceTypes))
	}
	require.True(t, in.Vocabulary.WellKnown("karpenter.k8s.aws/instance-cpu"))
}

// Labels of instance types that nobody else knows are well-known too.
func TestLabelsOfTypesAreWellKnown(t *testing.T) {
	s, err := family.Generate(family.Spec{Family: "generic", Types: "fake3", Pods: 1, Seed: 1})
	require.NoError(t, err)
	in, err := snapshot.Input(s)
	require.NoError(t, err)
	require.True(t, in.Vocabulary.WellKnown("integer"))
	require.False(t, in.Vocabulary.WellKnown("decimal"))
	s.InstanceTypes[1].Requirements[0].Operator = "Like"
	_, err = snapshot.Input(s)
	require.ErrorContains(t, err, "instance type fake-it-1")
}

func TestOptions(t *testing.T) {
	s, err := family.Generate(family.Spec{Family: "generic", Types: "fake3", Pods: 1, Seed: 1})
	require.NoError(t, err)
	s.Options.MinValuesPolicy, s.Options.PreferencePolicy = "BestEffort", "Ignore"
	require.Equal(t, &provisioning.Options{MinValues: provisioning.BestEffort, Preferences: provisioning.Ignore}, snapshot.Options(s))
}
