package bootstrap_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/dovetail-sdk/dovetail/amiselect"
	"github.com/dovetail-sdk/dovetail/aws/bootstrap"
)

// FuzzRender: no input panics, the same input gives the same output, an error
// gives no output, and sizes add up.
func FuzzRender(f *testing.F) {
	for i, text := range []string{"", shellText, cloudText, nodeText, mimeText, tomlText, powerShellText} {
		f.Add(uint8(i), text, "10.100.0.0/16", "", "label", "value", "500Mi", "1.46.0", int32(i))
	}
	f.Add(uint8(1), "", "fd00::/108", "fd00::a", "a/b", "c", "5%", "latest", int32(110))
	f.Add(uint8(1), "x", "nonsense", "nonsense", "a,b=c", "'", "\"", "v", int32(-1))
	f.Fuzz(func(t *testing.T, family uint8, custom, cidr, dns, key, value, amount, version string, number int32) {
		families := amiselect.Families()
		n := full(families[int(family)%len(families)])
		n.CustomUserData, n.ClusterCIDR, n.DNSIP, n.BottlerocketVersion = custom, cidr, dns, version
		n.Labels = map[string]string{key: value}
		n.Taints = []corev1.Taint{{Key: key, Value: value, Effect: corev1.TaintEffectNoExecute}}
		n.Kubelet.MaxPods, n.MaxPods = nil, &number
		n.Kubelet.ClusterDNS = nil
		n.Kubelet.EvictionSoft = map[string]string{"memory.available": amount}
		n.Kubelet.EvictionSoftGracePeriod["memory.available"] = metav1.Duration{Duration: time.Duration(number)}
		n.Compress = number%2 == 0
		u, err := bootstrap.Render(n)
		if err != nil {
			require.Empty(t, u)
			require.NotEmpty(t, err.Error())
			return
		}
		require.LessOrEqual(t, len(u.Bytes()), bootstrap.MaxBytes)
		require.Equal(t, u, render(t, n))
	})
}

// FuzzBottlerocketVersion: any name gives a piece of it, or nothing.
func FuzzBottlerocketVersion(f *testing.F) {
	f.Add("bottlerocket-aws-k8s-1.31-x86_64-v1.46.0-431fe75a")
	f.Add("v.")
	f.Fuzz(func(t *testing.T, name string) {
		require.Contains(t, name, bootstrap.BottlerocketVersion(name))
	})
}
