package volume_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

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
