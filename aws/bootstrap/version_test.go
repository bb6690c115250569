package bootstrap_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/amiselect"
	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/aws/bootstrap"
)

// TestInstanceStoreVersions: which versions know by themselves which directories
// to move.
func TestInstanceStoreVersions(t *testing.T) {
	for version, knows := range map[string]bool{
		"latest": true, "1.46.0": true, "v1.46.0": true, "1.46": true, "2.0.0": true, "1.100.0": true,
		"1.45.9": false, "1.22.0": false, "": false, "golden": false, "v1": false, "1.x.0": false,
	} {
		n := plain(amiselect.FamilyBottlerocket)
		n.InstanceStore, n.BottlerocketVersion = awsv1.InstanceStorePolicyRAID0, version
		require.Equal(t, !knows, strings.Contains(render(t, n).Text, "'--dirs'"), version)
	}
}

// TestBottlerocketVersion: where the version stands in the name of an image.
func TestBottlerocketVersion(t *testing.T) {
	for name, want := range map[string]string{
		"bottlerocket-aws-k8s-1.31-x86_64-v1.46.0-431fe75a":        "v1.46.0",
		"bottlerocket-aws-k8s-1.31-nvidia-aarch64-v1.20.4-a1b2c3d": "v1.20.4",
		"bottlerocket-golden-very-v1":                              "",
		"":                                                         "",
	} {
		require.Equal(t, want, bootstrap.BottlerocketVersion(name))
	}
}
