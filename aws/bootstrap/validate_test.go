package bootstrap_test

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/dovetail-sdk/dovetail/amiselect"
	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/aws/bootstrap"
)

// TestFaults: each fault names its field and says what to do.
func TestFaults(t *testing.T) {
	const (
		al2    = amiselect.FamilyAL2
		al2023 = amiselect.FamilyAL2023
		rocket = amiselect.FamilyBottlerocket
		win    = amiselect.FamilyWindows2025
	)
	taint := corev1.Taint{Key: "a", Effect: corev1.TaintEffectNoSchedule}
	for _, c := range []struct {
		family amiselect.Family
		change func(n *bootstrap.Node)
		want   string
	}{
		{"", func(*bootstrap.Node) {}, `family: Unsupported value: "": supported values: "AL2", "AL2023", "Bottlerocket"`},
		{"al2", func(*bootstrap.Node) {}, `family: Unsupported value: "al2"`},
		{al2, func(n *bootstrap.Node) { n.ClusterName = "" }, "clusterName: Required value: give the name"},
		{al2, func(n *bootstrap.Node) { n.ClusterName = "a'b" }, `clusterName: Invalid value: "a'b": is no name of an EKS cluster`},
		{al2, func(n *bootstrap.Node) { n.ClusterName = "-a" }, `clusterName: Invalid value: "-a"`},
		{al2, func(n *bootstrap.Node) { n.ClusterName = strings.Repeat("a", 101) }, "clusterName: Invalid value"},
		{win, func(n *bootstrap.Node) { n.Endpoint = "" }, "endpoint: Required value"},
		{win, func(n *bootstrap.Node) { n.Endpoint = "http://x" }, `endpoint: Invalid value: "http://x": is no URL of an API server: write it as https://host`},
		{win, func(n *bootstrap.Node) { n.Endpoint = "https://" }, "endpoint: Invalid value"},
		{win, func(n *bootstrap.Node) { n.Endpoint = "https://x';rm" }, "endpoint: Invalid value"},
		{al2, func(n *bootstrap.Node) { n.CABundle = "-----BEGIN" }, "caBundle: Invalid value"},
		{al2, func(n *bootstrap.Node) { n.CABundle = "Y2Et\nYnVuZGxlCg==" }, "caBundle: Invalid value"},
		{al2023, func(n *bootstrap.Node) { n.CABundle = "" }, "caBundle: Required value: nodeadm does not look it up"},
		{al2023, func(n *bootstrap.Node) { n.ClusterCIDR = "" }, "clusterCIDR: Required value: nodeadm does not look it up"},
		{al2, func(n *bootstrap.Node) { n.ClusterCIDR = "10.0.0.0" }, "clusterCIDR: Invalid value"},
		{al2, func(n *bootstrap.Node) { n.ClusterCIDR = "::ffff:10.0.0.0/112" }, "clusterCIDR: Invalid value"},
		{al2, func(n *bootstrap.Node) { n.DNSIP = "kube-dns" }, `dnsIP: Invalid value: "kube-dns": is no IP address`},
		{al2, func(n *bootstrap.Node) { n.DNSIP = "fe80::1%eth0" }, "dnsIP: Invalid value"},
		{al2, func(n *bootstrap.Node) { n.DNSIP = "fd00::a" }, "dnsIP: Invalid value: \"fd00::a\": is ipv6 in a cluster of ipv4"},
		{al2, func(n *bootstrap.Node) { n.IPFamily = bootstrap.IPv6 }, "clusterCIDR: Invalid value: \"10.100.0.0/16\": is ipv4 in a cluster of ipv6"},
		{al2, func(n *bootstrap.Node) { n.IPFamily = "dual" }, `ipFamily: Unsupported value: "dual"`},
		{win, func(n *bootstrap.Node) { n.ClusterCIDR = "fd00::/108" }, "ipFamily: Forbidden: Windows nodes cannot join a cluster of IPv6"},
		{al2, func(n *bootstrap.Node) { n.Taints = []corev1.Taint{{Key: "a b", Effect: "NoSchedule"}} }, "taints[0].key: Invalid value"},
		{al2, func(n *bootstrap.Node) {
			n.StartupTaints = []corev1.Taint{{Key: "a", Value: "b,c", Effect: "NoSchedule"}}
		}, "startupTaints[0].value: Invalid value"},
		{al2, func(n *bootstrap.Node) { n.Taints = []corev1.Taint{{Key: "a"}} }, "taints[0].effect: Unsupported value"},
		{al2, func(n *bootstrap.Node) {
			n.Taints = []corev1.Taint{taint}
			n.StartupTaints = []corev1.Taint{{Key: "a", Value: "b", Effect: taint.Effect}}
		}, `startupTaints[0]: Invalid value: "b": differs from the value "" of taints[0]`},
		{al2, func(n *bootstrap.Node) { n.MaxPods = new(int32(-1)) }, "maxPods: Invalid value: -1: must not be negative"},
		{al2, func(n *bootstrap.Node) { n.InstanceStore = "raid0" }, `instanceStore: Unsupported value: "raid0": supported values: "RAID0"`},
		{rocket, func(n *bootstrap.Node) {
			n.InstanceStore, n.BottlerocketVersion = awsv1.InstanceStorePolicyRAID0, "v1.21.1"
		}, "bottlerocketVersion: Invalid value: \"v1.21.1\": has no command for instance stores"},
		{al2, func(n *bootstrap.Node) { n.Kubelet.ClusterDNS = []string{"10.0.0.1", "10.0.0.2"} }, "kubelet.clusterDNS: Invalid value: \"10.0.0.1, 10.0.0.2\": the family AL2 takes one address; keep one"},
		{al2, func(n *bootstrap.Node) { n.Kubelet.MaxPods = new(intstr.FromInt32(-1)) }, "kubelet.maxPods: Invalid value"},
		{rocket, func(n *bootstrap.Node) { n.Kubelet.PodsPerCore = new(int32(1)) }, "kubelet.podsPerCore: Forbidden: Bottlerocket has no such setting; use maxPods"},
		{al2, func(n *bootstrap.Node) { n.Kubelet.KubeReserved = map[string]string{"cpu": "vcpus * 10"} }, "kubelet.kubeReserved[cpu]: Invalid value: \"vcpus * 10\": is an expression; resolve it before"},
		{al2, func(n *bootstrap.Node) { n.Kubelet.Extra = map[string]any{"seccompDefault": true} }, "kubelet.extra[seccompDefault]: Forbidden: AL2 nodes do not have it"},
		{al2023, func(n *bootstrap.Node) { n.Kubelet.Extra = map[string]any{"registerWithTaints": nil} }, "taints come from the NodePool"},
		{al2023, func(n *bootstrap.Node) { n.Kubelet.Extra = map[string]any{"maxPods": 3} }, "Kubelet has a field of that name"},
		{al2023, func(n *bootstrap.Node) { n.Kubelet.Extra = map[string]any{"": 3} }, "kubelet.extra[]: Required value"},
		{al2023, func(n *bootstrap.Node) { n.Kubelet.Extra = map[string]any{"x": math.Inf(1)} }, "kubelet.extra[x]: Invalid value: \"float64\": cannot be written as JSON"},
		{al2023, func(n *bootstrap.Node) { n.Kubelet.Extra = map[string]any{"x": func() {}} }, "cannot be written as JSON"},
	} {
		n := plain(c.family)
		c.change(&n)
		u, err := bootstrap.Render(n)
		require.ErrorContains(t, err, c.want)
		require.Empty(t, u)
		_, err = bootstrap.KubeletFlags(n)
		require.ErrorContains(t, err, c.want)
	}
}

// TestNetwork: which addresses a node is told.
func TestNetwork(t *testing.T) {
	for _, c := range []struct {
		name            string
		cidr, dns, asks string
		family          bootstrap.IPFamily
		want            []string // options of the script of AL2
	}{
		{"nothing", "", "", "", "", nil},
		{"IPv4 by hand", "", "", "", bootstrap.IPv4, nil},
		{"IPv6 by hand", "", "", "", bootstrap.IPv6, []string{"--ip-family ipv6"}},
		{"derived from the CIDR", "172.20.0.0/16", "", "", "", []string{"--dns-cluster-ip '172.20.0.10'"}},
		{"derived from a CIDR with host bits", "172.20.9.9/16", "", "", "", []string{"--dns-cluster-ip '172.20.0.10'"}},
		{"a CIDR without a tenth address", "172.20.0.0/29", "", "", "", nil},
		{"the last CIDR", "255.255.255.255/32", "", "", "", nil},
		{"kube-dns", "172.20.0.0/16", "172.20.7.7", "", "", []string{"--dns-cluster-ip '172.20.7.7'"}},
		{"kube-dns of IPv6", "", "fd30::a", "", "", []string{"--ip-family ipv6", "--dns-cluster-ip 'fd30::a'"}},
		{"derived from IPv6", "fd30::/108", "", "", "", []string{"--ip-family ipv6", "--service-ipv6-cidr 'fd30::/108'", "--dns-cluster-ip 'fd30::a'"}},
		{"asked for", "172.20.0.0/16", "172.20.0.10", "169.254.20.10", "", []string{"--dns-cluster-ip '169.254.20.10'"}},
		{"asked for IPv6", "", "", "fd00::53", "", []string{"--ip-family ipv6", "--dns-cluster-ip 'fd00::53'"}},
		{"asked for another kind", "fd30::/108", "", "169.254.20.10", "", []string{"--ip-family ipv6", "--service-ipv6-cidr 'fd30::/108'", "--dns-cluster-ip '169.254.20.10'"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := plain(amiselect.FamilyAL2)
			n.ClusterCIDR, n.DNSIP, n.IPFamily = c.cidr, c.dns, c.family
			if c.asks != "" {
				n.Kubelet.ClusterDNS = []string{c.asks}
			}
			var got []string
			for line := range strings.SplitSeq(render(t, n).Text, "\n") {
				line = strings.TrimSpace(strings.TrimSuffix(line, "\\"))
				if strings.HasPrefix(line, "--ip-family") || strings.HasPrefix(line, "--service-ipv6") || strings.HasPrefix(line, "--dns") {
					got = append(got, line)
				}
			}
			require.Equal(t, c.want, got)
		})
	}
}

// TestInputsUnchanged: a Node may be used again.
func TestInputsUnchanged(t *testing.T) {
	for _, family := range managed() {
		n, want := full(family), full(family)
		if !family.Windows() {
			n.CustomUserData = map[amiselect.Family]string{
				amiselect.FamilyAL2: mimeText, amiselect.FamilyAL2023: nodeText, amiselect.FamilyBottlerocket: tomlText}[family]
			want.CustomUserData = n.CustomUserData
		}
		render(t, n)
		labels, taints := n.RegistrationLabels(), n.RegistrationTaints()
		clear(labels)
		taints[0].Key = "changed"
		require.Equal(t, want, n)
	}
}
