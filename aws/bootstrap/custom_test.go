package bootstrap_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/amiselect"
	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/aws/bootstrap"
)

// archive returns a MIME archive with one part of a type.
func archive(kind, body string) string {
	return lines("MIME-Version: 1.0", `Content-Type: multipart/mixed; boundary="b"`, "", "--b", "Content-Type: "+kind, "", body, "--b--")
}

// TestCustomFaults: custom user data that is not what the family reads.
func TestCustomFaults(t *testing.T) {
	const (
		al2    = amiselect.FamilyAL2
		al2023 = amiselect.FamilyAL2023
		rocket = amiselect.FamilyBottlerocket
		win    = amiselect.FamilyWindows2022
	)
	multi := `Content-Type: multipart/mixed; boundary="b"`
	for _, c := range []struct {
		family     amiselect.Family
		text, want string
	}{
		{al2, "Content-Type: text/x-shellscript\n\n#!/bin/sh\n", "the Content-Type is not that of an archive, multipart/mixed: wrap the text"},
		{al2, "MIME-Version: 1.0\n\n--b\n", "write it as multipart/mixed"},
		{al2, "MIME-Version: 1.0\nContent-Type: multipart/mixed\n\n--b\n", "has no boundary"},
		{al2, "Content-Type: multipart/mixed; boundary=//\n\n--//--\n", "with the quotes"},
		{al2, multi + "\n" + multi + "\n\n--b--\n", "two headers Content-Type: remove one"},
		{al2, multi, "the archive ends within headers"},
		{al2, multi + "\n\n--other\n", "no line of two dashes and the boundary begins a part"},
		{al2, lines(multi, "", "--b", "Content-Type: text/x-shellscript", "#!/bin/sh", "--b--"), "line 5: it is no header: put an empty line"},
		{al2, lines(multi, "", "--b", "exec > log: rm -rf /tmp/a-rather-long-line-of-a-script", "--b--"), "line 4: it is no header"},
		{al2, lines(multi, "", "--b", " folded: nothing", "", "--b--"), "line 4: the header begins with a blank"},
		{al2, lines(multi, "", "--b", "Content-Type: text/x-shellscript", "", "#!/bin/sh"), "line 4: the part that begins here has no end: add a line of two dashes"},
		{al2, archive("text/html", "x"), "part 1: nothing acts on its Content-Type: write text/x-shellscript"},
		{al2, archive("text/x-shellscript; charset", "x"), "part 1: its Content-Type cannot be read"},
		{al2, archive("application/node.eks.aws", nodeText), "part 1 is a NodeConfig, which AL2 nodes do not read: set spec.kubelet instead"},
		{al2, nodeText, "is a NodeConfig, which AL2 nodes do not read"},
		{al2023, archive("application/node.eks.aws", "kind: ["), "part 1: line 1 of its text: is no YAML"},
		{al2023, archive("application/node.eks.aws", "kind: Pod"), "part 1: is YAML without the apiVersion and kind of a NodeConfig"},
		{al2023, "runcmd: [ls]\n", "begin a script with #!/bin/bash and cloud-config with #cloud-config"},
		{al2023, "# a comment\necho a: b; ls\n", "begin a script with #!/bin/bash"},
		{al2023, strings.Repeat("#", 1<<20+1), "has 1048577 bytes: EC2 takes 16384"},
		{rocket, "a = \n", "line 1, column 5: is no TOML"},
		{rocket, "[settings]\na = 1\na = 2\n", "line 3, column 1: is no TOML"},
		{rocket, mimeText, "write settings as TOML"},
		{rocket, shellText, "write settings as TOML"},
		{rocket, "settings = 1", "settings is no table: write [settings]"},
		{rocket, "[settings]\nkubernetes = 'x'", "settings.kubernetes is no table"},
		{rocket, "[[settings.kubernetes]]", "settings.kubernetes is no table"},
		{rocket, "[settings.kubernetes]\nnode-labels = []\n[settings]\nbootstrap-commands = 1", "settings.bootstrap-commands is no table"},
		{rocket, "a" + strings.Repeat(".a", 40) + "=1", "nested more than 32 deep"},
		{rocket, "a=" + strings.Repeat("[", 40) + strings.Repeat("]", 40), "nested more than 32 deep"},
		{win, "<powershell>\nls\n</powershell>", "line 1: has <powershell>: write the PowerShell commands alone"},
		{win, "ls\n</POWERSHELL>", "line 2: has </powershell>"},
		{win, mimeText, "is a MIME archive, which Windows nodes do not read"},
	} {
		n := plain(c.family)
		n.CustomUserData = c.text
		u, err := bootstrap.Render(n)
		require.ErrorContains(t, err, c.want)
		require.ErrorContains(t, err, "customUserData: Invalid value: ")
		require.Empty(t, u)
		n.CustomUserData = "s3cr3t\n" + c.text
		sayNothing(t, n)
		for i := range len(c.text) {
			if len(c.text) < 1000 && (i == 0 || strings.ContainsAny(c.text[i-1:i+1], " =:;\n\"'[,/")) {
				n.CustomUserData = c.text[:i] + "s3cr3t" + c.text[i:]
				sayNothing(t, n)
			}
		}
	}
}

// sayNothing checks that an error about user data does not repeat what is in it, which
// can be a secret.
func sayNothing(t *testing.T, n bootstrap.Node) {
	t.Helper()
	if _, err := bootstrap.Render(n); err != nil {
		require.NotContains(t, strings.ToLower(err.Error()), "s3cr3t", "%s", n.CustomUserData)
	}
}

// TestFaultsQuoteNothing: parsers say what they found, and nobody repeats it.
func TestFaultsQuoteNothing(t *testing.T) {
	for _, c := range []struct {
		family amiselect.Family
		text   string
	}{
		{amiselect.FamilyAL2023, archive("application/node.eks.aws", "s3cr3t word")},
		{amiselect.FamilyAL2023, archive("application/node.eks.aws", "a: *s3cr3t")},
		{amiselect.FamilyAL2023, archive("application/node.eks.aws", "{s3cr3t: 1}: 2")},
		{amiselect.FamilyAL2023, archive("application/node.eks.aws", "s3cr3t: 1\ns3cr3t: 2")},
		{amiselect.FamilyAL2023, archive("application/node.eks.aws", "a: !!int s3cr3t")},
		{amiselect.FamilyAL2023, archive("application/node.eks.aws", "apiVersion: s3cr3t\nkind: s3cr3t")},
		{amiselect.FamilyAL2023, archive("application/node.eks.aws", "- s3cr3t")},
		{amiselect.FamilyAL2023, "token: s3cr3t"},
		{amiselect.FamilyBottlerocket, "s3cr3t"},
		{amiselect.FamilyBottlerocket, "s3cr3t = 1\ns3cr3t = 2"},
		{amiselect.FamilyBottlerocket, "[s3cr3t]\na = 1\n[s3cr3t]\n"},
		{amiselect.FamilyBottlerocket, "a = s3cr3t"},
		{amiselect.FamilyBottlerocket, "a = \"s3cr3t\\q\""},
		{amiselect.FamilyBottlerocket, "[settings.kubernetes]\nnode-labels = \"s3cr3t\""},
		{amiselect.FamilyAL2, "MIME-Version: 1.0\ns3cr3t\n"},
		{amiselect.FamilyAL2, "Content-Type: s3cr3t\n\n"},
		{amiselect.FamilyAL2, "Content-Type: multipart/mixed; boundary=\"s3cr3t\"\n\n"},
		{amiselect.FamilyAL2, "Content-Type: multipart/mixed; s3cr3t; boundary=\"b\"\n\n--b"},
		{amiselect.FamilyAL2, archive("s3cr3t/s3cr3t", "x")},
		{amiselect.FamilyWindows2022, "<script>s3cr3t</script>"},
	} {
		n := plain(c.family)
		n.CustomUserData = c.text
		_, err := bootstrap.Render(n)
		require.Error(t, err, c.text)
		sayNothing(t, n)
	}
	// Digits are no less a secret, and parsers of numbers quote them.
	n := plain(amiselect.FamilyBottlerocket)
	n.CustomUserData = "a = 99999999999999999999999999\n"
	_, err := bootstrap.Render(n)
	require.ErrorContains(t, err, "line 1")
	require.NotContains(t, err.Error(), "9999")
}

// TestCustomAccepted: what cloud-init and nodeadm take is taken, as what it is.
func TestCustomAccepted(t *testing.T) {
	for _, c := range []struct {
		family     amiselect.Family
		text, want string
	}{
		{amiselect.FamilyAL2, "echo no shebang", "text/x-shellscript; charset=\"us-ascii\"\n\necho no shebang\n"},
		{amiselect.FamilyAL2, "#!/bin/sh\r\necho\r\n", "text/x-shellscript; charset=\"us-ascii\"\n\n#!/bin/sh\necho\n\n--//"},
		{amiselect.FamilyAL2, "#!/bin/sh\necho é", "text/x-shellscript; charset=\"utf-8\"\n\n#!/bin/sh"},
		{amiselect.FamilyAL2, "\n\n#cloud-boothook\nls", "text/cloud-boothook;"},
		{amiselect.FamilyAL2, "#include-once\nhttps://x", "text/x-include-once-url;"},
		{amiselect.FamilyAL2, "a: b", "text/x-shellscript;"},
		{amiselect.FamilyAL2, archive("text/x-anything", "x") + "this is ignored", ""},
		{amiselect.FamilyAL2023, "#!/bin/sh\na: b\n", "text/x-shellscript;"},
		{amiselect.FamilyAL2023, "# only a comment\n", "text/x-shellscript;"},
		{amiselect.FamilyAL2023, `{"apiVersion": "node.eks.aws/v1alpha1", "kind": "NodeConfig"}`, "application/node.eks.aws\n\n{"},
		{amiselect.FamilyAL2023, archive("application/node.eks.aws; charset=\"us-ascii\"", "a2luZDogUG9kCg=="), "a2luZDogUG9kCg=="},
		{amiselect.FamilyAL2023, lines(`Content-Type: multipart/mixed; boundary="b"`, "", "--b", "content-type: application/node.eks.aws", "Content-Transfer-Encoding: Base64", "", "kind: [", "--b--"), "Base64\n\nkind: ["},
		{amiselect.FamilyAL2023, archive("multipart/mixed; boundary=x", "--x\n\nls\n--x--"), "--x--"},
		{amiselect.FamilyAL2023, archive("", "#!/bin/sh"), "Content-Type: \n\n#!/bin/sh"},
		{amiselect.FamilyAL2023, lines(`content-type: multipart/mixed; boundary="b"`, "", "--b--"), "boundary=\"//\"\n\n--//\nContent-Type: application/node.eks.aws"},
	} {
		n := plain(c.family)
		n.CustomUserData = c.text
		if strings.Contains(c.text, "x-anything") {
			// A part handler may know any type.
			n.CustomUserData = strings.Replace(c.text, "--b\n", "--b\nContent-Type: text/part-handler\n\nprint()\n--b\n", 1)
			u := render(t, n)
			require.Contains(t, u.Text, "text/x-anything")
			require.NotContains(t, u.Text, "this is ignored")
			continue
		}
		require.Contains(t, render(t, n).Text, c.want)
	}
	for _, family := range managed() {
		n := plain(family)
		want := render(t, n)
		n.CustomUserData = " \r\n\t\n"
		require.Equal(t, want.Text, render(t, n).Text, "%s: blanks are nothing", family)
	}
}

// An archive may end with the line that separates its parts, as one of Karpenter's examples
// does: what has nothing after it is no part.
func TestAnArchiveWithAnOpenEnd(t *testing.T) {
	const head = "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=\"//\"\n\n--//\nContent-Type: text/x-shellscript; charset=\"us-ascii\"\n\n#!/bin/bash\necho hello\n"
	for _, family := range []amiselect.Family{amiselect.FamilyAL2, amiselect.FamilyAL2023} {
		n := plain(family)
		n.CustomUserData = head + "--//--\n"
		want := render(t, n).Text
		for _, end := range []string{"--//\n", "--//", "--// \t\n", "--//\r\n\r\n", "--//\n\n \n"} {
			n.CustomUserData = head + end
			require.Equal(t, want, render(t, n).Text, "%q", end)
		}
		for _, end := range []string{"", "--//\nContent-Type: text/x-shellscript\n", "--//\n\n#!/bin/bash\n"} {
			n.CustomUserData = head + end
			_, err := bootstrap.Render(n)
			require.Error(t, err, "%q", end)
		}
	}
}

// TestWarnings: what is lost of custom user data is said.
func TestWarnings(t *testing.T) {
	warnings := func(n bootstrap.Node, custom string) []string {
		n.CustomUserData = custom
		return render(t, n).Warnings
	}
	rocket, al2023 := amiselect.FamilyBottlerocket, amiselect.FamilyAL2023
	require.Equal(t, []string{
		"customUserData: settings.kubernetes.cluster-name is replaced by a generated value: set it in the NodePool or in spec.kubelet, if they have it",
		"customUserData: settings.kubernetes.future-setting is passed on, but is not known: check its spelling and that the image has it, or the node will not boot",
		`customUserData: settings.kubernetes.node-labels has "karpenter.sh/nodepool", which is replaced by the value of the node: set the label in the NodePool`,
		"customUserData: settings.kubernetes.node-taints is replaced by a generated value: set it in the NodePool or in spec.kubelet, if they have it",
	}, warnings(plain(rocket), tomlText))
	require.Empty(t, warnings(plain(rocket), "[settings.kubernetes]\nmax-pods = 58\nnode-labels = {'karpenter.sh/nodepool' = 'default'}\n"), "the same value")
	require.Equal(t, []string{
		"customUserData: part 1 sets spec.kubelet.config.maxPods, which the generated NodeConfig overrides: set it in spec.kubelet",
	}, warnings(plain(al2023), nodeText))
	const flags = "customUserData: part 1 has the flag --register-with-taints of the kubelet, so that nodes join without the taints of their NodePool, " +
		"which come when they register: remove the flag, and set spec.template.spec.taints of the NodePool"
	nodeadm := "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec: {kubelet: "
	require.Equal(t, []string{flags}, warnings(plain(al2023), nodeadm+"{flags: [--v=2, '--register-with-taints=a=b:NoSchedule']}}"))
	require.Equal(t, []string{flags}, warnings(plain(al2023), nodeadm+"{flags: [--register-with-taints, 'a:NoSchedule']}}"))
	require.Empty(t, warnings(plain(al2023), nodeadm+"{flags: ['--node-labels=a=b', 7]}}"))
	require.Equal(t, []string{
		"customUserData: part 1 sets spec.kubelet.config.registerWithTaints, which the generated NodeConfig overrides: set spec.template.spec.taints of the NodePool",
	}, warnings(plain(al2023), nodeadm+"{config: {registerWithTaints: []}}}"))
	asked := plain(al2023)
	asked.Kubelet.ClusterDNS = []string{"10.0.0.7"}
	require.Len(t, warnings(asked, nodeText), 2, "name servers that were asked for do not yield")
	windows := plain(amiselect.FamilyWindows2022)
	windows.InstanceStore = awsv1.InstanceStorePolicyRAID0
	require.Equal(t, []string{"instanceStore: Windows nodes ignore RAID0: format the disks in the custom user data"}, warnings(windows, ""))
}
