package bootstrap_test

import (
	"encoding/base64"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/amiselect"
	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/aws/bootstrap"
	"github.com/dovetail-sdk/dovetail/internal/golden"
)

// Custom user data of each kind.
const (
	shellText = "#!/bin/bash\necho \"before the node joins\"\n"
	cloudText = "#cloud-config\nruncmd:\n- touch /tmp/x\n"
	nodeText  = `apiVersion: node.eks.aws/v1alpha1
kind: NodeConfig
spec:
  kubelet:
    config:
      maxPods: 7
      clusterDNS: [169.254.20.11]
    flags:
    - --registry-qps=0
`
	mimeText = `MIME-Version: 1.0
Content-Type: multipart/mixed; boundary="BOUNDARY"

This line is for readers of other mail programs.

--BOUNDARY
Content-Type: text/x-shellscript;
  charset="us-ascii"
Content-Transfer-Encoding: 7bit

#!/bin/sh
echo '--//'

--BOUNDARY
Content-Type: text/cloud-config
X-Merge-Type: list(append)+dict(recurse_array)

packages: [htop]
--//
--BOUNDARY--
`
	tomlText = `# comments are lost
[settings]
motd = "it's \"here\""
[settings.kubernetes]
cluster-name = "not-this-one"
cluster-dns-ip = ["8.8.8.8", "8.8.4.4"]
future-setting = 2024-02-29
kube-api-qps = 30
[settings.kubernetes.node-labels]
"karpenter.sh/nodepool" = "not-this-one"
"example.com/custom" = "yes"
[settings.kubernetes.node-taints]
"example.com/lost" = [":NoSchedule"]
[settings.kubernetes.eviction-hard]
"memory.available" = "15%"
"pid.available" = "1%"
[settings.bootstrap-commands.010-mine]
commands = [["apiclient", "set", "motd=hi"]]
mode = "once"
[[settings.container-registry.mirrors]]
registry = "*"
endpoint = ["https://mirror.example.com"]
`
	powerShellText = "Write-Host \"before the node joins\"\r\nGet-Disk\r\n"
)

// TestGolden pins user data to the byte. Review the difference after -update.
func TestGolden(t *testing.T) {
	with := func(n bootstrap.Node, custom string) bootstrap.Node {
		n.CustomUserData = custom
		return n
	}
	ipv6 := func(n bootstrap.Node) bootstrap.Node {
		n.ClusterCIDR = "fd30:1c53:5f8a::/108"
		return n
	}
	latest := func(n bootstrap.Node) bootstrap.Node {
		n.InstanceStore, n.BottlerocketVersion = awsv1.InstanceStorePolicyRAID0, "latest"
		return n
	}
	const (
		al2    = amiselect.FamilyAL2
		al2023 = amiselect.FamilyAL2023
		rocket = amiselect.FamilyBottlerocket
		win    = amiselect.FamilyWindows2022
	)
	for name, n := range map[string]bootstrap.Node{
		"al2-plain":             plain(al2),
		"al2-full":              full(al2),
		"al2-ipv6":              ipv6(plain(al2)),
		"al2-shell":             with(plain(al2), shellText),
		"al2-cloud-config":      with(plain(al2), cloudText),
		"al2-mime":              with(plain(al2), mimeText),
		"al2023-plain":          plain(al2023),
		"al2023-full":           full(al2023),
		"al2023-ipv6":           ipv6(plain(al2023)),
		"al2023-shell":          with(plain(al2023), shellText),
		"al2023-cloud-config":   with(plain(al2023), cloudText),
		"al2023-nodeconfig":     with(plain(al2023), nodeText),
		"al2023-mime":           with(plain(al2023), mimeText),
		"bottlerocket-plain":    plain(rocket),
		"bottlerocket-full":     full(rocket),
		"bottlerocket-latest":   latest(plain(rocket)),
		"bottlerocket-ipv6":     ipv6(plain(rocket)),
		"bottlerocket-toml":     with(plain(rocket), tomlText),
		"bottlerocket-toml-all": with(full(rocket), tomlText),
		"windows-plain":         plain(win),
		"windows-full":          full(win),
		"windows-powershell":    with(plain(win), powerShellText),
	} {
		t.Run(name, func(t *testing.T) {
			u := render(t, n)
			golden.Equal(t, u.Text, name+".txt")
			for range 20 {
				require.Equal(t, u, render(t, n), "the same each time")
			}
			decoded, err := base64.StdEncoding.DecodeString(u.Base64())
			require.NoError(t, err)
			require.Equal(t, u.Text, string(decoded))
		})
	}
}

// TestWindowsVersions: the versions of Windows differ in the image alone.
func TestWindowsVersions(t *testing.T) {
	want := render(t, full(amiselect.FamilyWindows2019))
	require.Equal(t, want, render(t, full(amiselect.FamilyWindows2022)))
	require.Equal(t, want, render(t, full(amiselect.FamilyWindows2025)))
}

// TestCustom: the text of a custom image is not touched, whatever it is, and
// nothing else is looked at.
func TestCustom(t *testing.T) {
	for _, text := range []string{"", " \r\n", shellText, mimeText, "Content-Type: nonsense", "\xff\x00"} {
		u := render(t, bootstrap.Node{Family: amiselect.FamilyCustom, CustomUserData: text, Endpoint: "nonsense"})
		require.Equal(t, text, u.Text)
		require.Equal(t, text, string(u.Bytes()))
		require.Empty(t, u.Warnings)
	}
}
