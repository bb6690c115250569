package volume_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/dovetail-sdk/dovetail/internal/engine/faults"
	"github.com/dovetail-sdk/dovetail/internal/engine/volume"
	"github.com/dovetail-sdk/dovetail/internal/minors"
)

func TestNewReportsAllFaults(t *testing.T) {
	other := claimOf("data", "fast")
	other.Namespace = "bank"
	x, err := volume.New(volume.Objects{
		Claims:   []*corev1.PersistentVolumeClaim{nil, claimOf("data", "fast"), claimOf("", "fast"), other, claimOf("data", "slow")},
		Volumes:  []*corev1.PersistentVolume{volumeOf("", "fast"), nil, volumeOf("v", ""), volumeOf("v", "")},
		Classes:  []*storagev1.StorageClass{classOf("fast", ebs), nil, classOf("fast", ebs)},
		CSINodes: []*storagev1.CSINode{csiNodeOf(""), csiNodeOf("n"), csiNodeOf("n"), nil},
	}, nil, minors.Range{})
	require.Equal(t, &volume.Index{}, x, "it knows nothing")
	require.EqualError(t, err, `Volumes.Claims[0]: is nil; leave it out
Volumes.Claims[2]: metadata.name: is empty; objects are told apart by their names
Volumes.Claims[4]: metadata.name: is "shop/data", which is listed before; list each object once
Volumes.Volumes[0]: metadata.name: is empty; objects are told apart by their names
Volumes.Volumes[1]: is nil; leave it out
Volumes.Volumes[3]: metadata.name: is "v", which is listed before; list each object once
Volumes.Classes[1]: is nil; leave it out
Volumes.Classes[2]: metadata.name: is "fast", which is listed before; list each object once
Volumes.CSINodes[0]: metadata.name: is empty; objects are told apart by their names
Volumes.CSINodes[2]: metadata.name: is "n", which is listed before; list each object once
Volumes.CSINodes[3]: is nil; leave it out`)
	var fault *faults.Fault
	require.True(t, errors.As(err, &fault))
	require.Equal(t, &faults.Fault{Object: "Volumes.Claims[0]", Detail: "is nil; leave it out"}, fault)
}

func TestZeroIndexKnowsNothing(t *testing.T) {
	var x volume.Index
	n := needsOf(t, &x, podOf())
	require.Nil(t, n.Alternatives)
	require.True(t, x.Admits(&n, "any", nil, false))
	_, err := x.Of(podOf("data"))
	require.EqualError(t, err, `PersistentVolumeClaim "shop/data" is not found; create it`)
	require.Empty(t, x.Attached(podOf("data")))
}

func TestDefaultClass(t *testing.T) {
	at := func(hour int) func(*storagev1.StorageClass) {
		return func(c *storagev1.StorageClass) {
			c.CreationTimestamp = metav1.Date(2026, 1, 1, hour, 0, 0, 0, time.UTC)
		}
	}
	old := func(c *storagev1.StorageClass) {
		c.Annotations["storageclass.beta.kubernetes.io/is-default-class"] = "true"
	}
	for name, tc := range map[string]struct {
		classes []any
		want    string // zone of the class that is taken
	}{
		"the marked one":       {[]any{classOf("a", ebs, allowed("zone", "za")), classOf("b", ebs, allowed("zone", "zb"), standard)}, "zb"},
		"marked the old way":   {[]any{classOf("a", ebs, allowed("zone", "za"), old)}, "za"},
		"the newest":           {[]any{classOf("a", ebs, allowed("zone", "za"), standard, at(1)), classOf("b", ebs, allowed("zone", "zb"), standard, at(2))}, "zb"},
		"the newest, reversed": {[]any{classOf("b", ebs, allowed("zone", "zb"), standard, at(2)), classOf("a", ebs, allowed("zone", "za"), standard, at(1))}, "zb"},
		"the first by name":    {[]any{classOf("b", ebs, allowed("zone", "zb"), standard, at(1)), classOf("a", ebs, allowed("zone", "za"), standard, at(1))}, "za"},
	} {
		t.Run(name, func(t *testing.T) {
			x := indexOf(t, append(tc.classes, claimOf("data", ""))...)
			n := needsOf(t, x, podOf("data"))
			require.Equal(t, "zone = "+tc.want, text(n.Alternatives))
			n = needsOf(t, x, ephemeralPod("web", ""))
			require.Equal(t, "zone = "+tc.want, text(n.Alternatives))
		})
	}
}

// Each volume is tried for each claim. Exact arithmetic would not come to an end
// with some of these.
func TestSizes(t *testing.T) {
	sizes := []string{"-1E2147483647", "-1Gi", "0", "1", "1023Mi", "1Gi", "1073741825", "9E", "8Ei", "1e30", "1E2147483647"}
	for i, have := range sizes {
		for j, want := range sizes {
			x := indexOf(t, classOf("local", "kubernetes.io/no-provisioner"),
				volumeOf("v", "local", capacity(have)), claimOf("data", "local", sized(want)))
			_, err := x.Of(podOf("data"))
			if i >= j {
				require.NoError(t, err, "%s for %s", have, want)
			} else {
				require.ErrorContains(t, err, "no free volume matches it", "%s for %s", have, want)
			}
		}
	}
}

// Zero is zero, whatever the exponent.
func TestZeroSize(t *testing.T) {
	for _, zero := range []string{"0", "0E2147483647", "-0e400"} {
		x := indexOf(t, classOf("local", "kubernetes.io/no-provisioner"),
			volumeOf("v", "local", capacity("1Gi")), volumeOf("w", "local", capacity(zero)),
			claimOf("data", "local", sized("1")), claimOf("all", "local", sized(zero)))
		_, err := x.Of(podOf("data", "all"))
		require.NoError(t, err, zero)
		_, err = x.Of(podOf("data", "data"))
		require.Error(t, err, zero)
	}
}

func TestExtremeSizesAreShown(t *testing.T) {
	for size, want := range map[string]string{"1E2147483647": "+Inf", "0e99999": "0", "1e-99": "1e-9", "10240Mi": "10Gi"} {
		x := indexOf(t, classOf("local", "kubernetes.io/no-provisioner"), claimOf("data", "local", sized(size)))
		_, err := x.Of(podOf("data"))
		require.ErrorContains(t, err, "create a volume of "+want+" or more")
	}
}
