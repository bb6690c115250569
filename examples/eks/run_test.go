package main

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/api/convert"
	"github.com/dovetail-sdk/dovetail/aws/awstest"
	"github.com/dovetail-sdk/dovetail/examples/internal/command"
	"github.com/dovetail-sdk/dovetail/examples/internal/output"
	"github.com/dovetail-sdk/dovetail/internal/golden"
)

// call runs the program.
// program and call run the program of this folder.
var (
	program = output.Program(run)
	call    = program.Call
)

func TestLoopback(t *testing.T) {
	code, stdout, stderr := call("")
	require.Equal(t, command.OK, code, stderr)
	require.Empty(t, stderr)
	golden.Equal(t, stdout, "golden", "loopback.txt")
	output.Fits(t, stdout)
}

// amazon returns an AWS that the program finds by its environment, as it finds the real
// one.
func amazon(t *testing.T) *awstest.Server {
	t.Helper()
	cloud, err := awstest.Start(nil)
	require.NoError(t, err)
	t.Cleanup(cloud.Close)
	for name, v := range map[string]string{
		"AWS_ENDPOINT_URL": cloud.URL, "AWS_REGION": "us-east-1", "AWS_ACCESS_KEY_ID": awstest.AccessKeyID, "AWS_SECRET_ACCESS_KEY": "secret",
		"AWS_EC2_METADATA_DISABLED": "true", "AWS_CONFIG_FILE": os.DevNull, "AWS_SHARED_CREDENTIALS_FILE": os.DevNull, "AWS_PROFILE": "",
	} {
		t.Setenv(name, v)
	}
	return cloud
}

// A pod that fits nowhere stays pending, and the reason is beside it.
func TestPendingSaysWhy(t *testing.T) {
	const vast = "\n---\napiVersion: v1\nkind: Pod\nmetadata: {name: vast, namespace: shop}\nspec: {containers: [{name: a, image: a, resources: {requests: {cpu: 4k}}}]}\n"
	sample, err := os.ReadFile("sample.yaml")
	require.NoError(t, err)
	code, stdout, stderr := call(string(sample)+vast, "-f", "-")
	require.Equal(t, command.OK, code, stderr)
	require.Contains(t, strings.Join(strings.Fields(stdout), " "), "1× Pod shop/vast NodePool general: the pod asks for cpu=4000, but ")
	output.Fits(t, stdout)
}

// Devices are read too: a pod whose claim is there waits for a device, not for the claim.
func TestDevices(t *testing.T) {
	const claim = "\n---\napiVersion: v1\nkind: Pod\nmetadata: {name: gpu, namespace: shop}\nspec: {resourceClaims: [{name: g, resourceClaimName: one}]," +
		" containers: [{name: a, image: a, resources: {requests: {cpu: 1}, claims: [{name: g}]}}]}\n---\napiVersion: resource.k8s.io/v1\nkind: ResourceClaim\n" +
		"metadata: {name: one, namespace: shop}\nspec: {devices: {requests: [{name: g, exactly: {deviceClassName: gpu}}]}}\n---\n" +
		"apiVersion: resource.k8s.io/v1\nkind: DeviceClass\nmetadata: {name: gpu}\nspec: {selectors: [{cel: {expression: 'device.driver == \"gpu.example.com\"'}}]}\n"
	code, stdout, stderr := call(string(sample)+claim, "-f", "-")
	require.Equal(t, command.OK, code, stderr)
	require.Contains(t, strings.Join(strings.Fields(stdout), " "), "1× Pod shop/gpu NodePool general: the pod asks for 1 device of class gpu, but no suitable instance type has any")
}

// With -cluster AWS is asked and nothing is changed.
func TestDryRun(t *testing.T) {
	cloud := amazon(t)
	code, stdout, stderr := call("", "-cluster", "demo")
	require.Equal(t, command.OK, code, stderr)
	golden.Equal(t, stdout, "golden", "dryrun.txt")
	output.Fits(t, stdout)
	for _, c := range cloud.Calls() {
		read := slices.ContainsFunc([]string{"Describe", "Get", "List"}, func(p string) bool { return strings.HasPrefix(c.Action, p) })
		require.True(t, read, c.Action)
	}
	require.Empty(t, cloud.Instances())
}

func TestLaunch(t *testing.T) {
	cloud := amazon(t)
	code, stdout, stderr := call("", "-cluster", "demo", "-launch")
	require.Equal(t, command.OK, code, stderr)
	require.Equal(t, 6, cloud.Running())
	require.Equal(t, 6, strings.Count(stdout, "launched "))

	code, _, stderr = call("", "-cluster", "demo", "-launch")
	require.Equal(t, command.OK, code, stderr)
	require.Equal(t, 12, cloud.Running(), "the second run plans the same names, and gets machines of its own")
}

func TestFailures(t *testing.T) {
	cloud := amazon(t)
	code, _, stderr := call("", "-cluster", "other")
	require.Equal(t, command.Failed, code)
	require.Contains(t, stderr, "No cluster found for name: other.")

	require.NoError(t, cloud.Script(awstest.Fault{Op: "DescribeSubnets", Err: awstest.ErrDenied}))
	code, _, stderr = call("", "-cluster", "demo")
	require.Equal(t, command.Failed, code)
	require.Contains(t, stderr, "ec2:DescribeSubnets")

	t.Setenv("AWS_ACCESS_KEY_ID", "")
	code, _, stderr = call("", "-cluster", "demo")
	require.Equal(t, command.Failed, code)
	require.Contains(t, stderr, "eks: AWS configuration: ")
	require.Contains(t, stderr, "set AWS_PROFILE")
}

func TestNoSuchSubnets(t *testing.T) {
	amazon(t)
	code, _, stderr := call(strings.ReplaceAll(string(sample), "discovery: demo", "discovery: shop"), "-f", "-", "-cluster", "demo")
	require.Equal(t, command.Failed, code)
	require.Equal(t, "eks: EC2NodeClass default: spec.securityGroupSelectorTerms: there is no security group with the tag karpenter.sh/discovery=shop; "+
		"correct the terms, or tag the security groups\n"+
		"eks: EC2NodeClass default: spec.subnetSelectorTerms: there is no subnet with the tag karpenter.sh/discovery=shop; correct the terms, or tag the subnets\n", stderr)
}

// The small AWS has what the classes name, however they select it.
func TestOwnCluster(t *testing.T) {
	data, err := os.ReadFile("testdata/own-cluster-name.yaml")
	require.NoError(t, err)
	const tags, alias = "[{tags: {karpenter.sh/discovery: shop}}]", "[{alias: al2023@latest}]"
	for name, changes := range map[string][]string{
		"its name":                nil,
		"an instance profile":     {"role: nodes", "instanceProfile: shop-nodes"},
		"a role with a path":      {"role: nodes", "role: team/nodes"},
		"IDs":                     {tags, "[{id: subnet-0123456789abcdef0}]", tags, "[{id: sg-0123456789abcdef0}]", alias, "[{id: ami-0123456789abcdef0}]\n  amiFamily: AL2023"},
		"wildcards":               {tags, "[{tags: {Name: '*private*', kubernetes.io/cluster/shop: '*'}}]", tags, "[{name: 'shop-node-??'}]", alias, "[{name: 'shop-*', owner: self}]\n  amiFamily: AL2023"},
		"image tags":              {alias, "[{tags: {team: shop}}]\n  amiFamily: Bottlerocket"},
		"a release":               {alias, "[{alias: al2023@v20250101}]"},
		"a release of the others": {alias, "[{alias: bottlerocket@1.31.0}]"},
		"a parameter":             {alias, "[{ssmParameter: /shop/image}]\n  amiFamily: AL2023"},
	} {
		t.Run(name, func(t *testing.T) {
			manifests := string(data)
			for i := 0; i < len(changes); i += 2 {
				changed := strings.Replace(manifests, changes[i], changes[i+1], 1)
				require.NotEqual(t, manifests, changed, changes[i])
				manifests = changed
			}
			code, stdout, stderr := call(manifests, "-f", "-")
			require.Equal(t, command.OK, code, stderr)
			require.Contains(t, stdout, "nothing is sold out, as a node of the plan has no second choice\n")
			require.Contains(t, stdout, "launched default-0001 for ")
			require.Contains(t, stdout, "11:00  0 machines are still there\n")
		})
	}
}

// Long names leave the page as wide as it is.
func TestLongNames(t *testing.T) {
	code, stdout, stderr := call(strings.ReplaceAll(string(sample), "name: general", "name: general-purpose-on-demand-amd64"), "-f", "-")
	require.Equal(t, command.OK, code, stderr)
	output.Fits(t, stdout)
	require.Contains(t, stdout, "general-purpose-on-demand-amd64-0001: web ×2\n")
}

func TestBadInput(t *testing.T) {
	for _, c := range []struct {
		name, stdin string
		args        []string
		want        []string
	}{
		{"flags", "", []string{"-launch", "now"}, []string{`eks: unexpected argument "now"`, "eks: -launch is for the AWS of -cluster", "eks -h lists the flags."}},
		{"zones of AWS", "", []string{"-cluster", "shop", "-zones", "us-east-1a"}, []string{"eks: -zones is for the small AWS"}},
		{"file twice", "", []string{"-f", "a", "-f", "a"}, []string{"it is given twice"}},
		{"empty name", "", []string{"-f", ""}, []string{"the file name is empty"}},
		{"no file", "", []string{"-f", "testdata/none.yaml"}, []string{"eks: open testdata/none.yaml"}},
		{"no class", strings.ReplaceAll(string(sample), "name: default}", "name: other}"), []string{"-f", "-"},
			[]string{`eks: NodePool general: there is no EC2NodeClass "other" in the manifests; add it`}},
		{"bad class", strings.Replace(string(sample), "alias: al2023@latest", "alias: al2023", 1), []string{"-f", "-"},
			[]string{"eks: -:34 (document 3): EC2NodeClass default: spec.amiSelectorTerms[0].alias"}},
		{"two faults", strings.Replace(string(sample), "alias: al2023@latest", "alias: al2023", 1) + "---\napiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\nmetadata: {name: other}\n" +
			"---\napiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\nmetadata: {name: default}\n",
			[]string{"-f", "-"}, []string{"spec.amiSelectorTerms[0].alias", "(document 6): EC2NodeClass other: spec.subnetSelectorTerms: Required",
				"EC2NodeClass other: spec.role: Required", "(document 7): EC2NodeClass default: metadata.name: stands twice in the input, first in -, document 3; remove one of them"}},
		{"no NodePool", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n", []string{"-f", "-"},
			[]string{"eks: the manifests have no NodePool; add one, and its EC2NodeClass\n"}},
		{"unknown field", strings.Replace(string(sample), "  role:", "  rolle:", 1), []string{"-f", "-"}, []string{"rolle"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			program.Refuses(t, c.stdin, c.args, c.want...)
		})
	}
	program.Help(t, about)

	_, _, stderr := call("kind: [", "-f", "-")
	require.Equal(t, 1, strings.Count(stderr, "\n"), "said once: %s", stderr)
}

// TestConverted is the way from manifests of an old version, as README.md has it.
func TestConverted(t *testing.T) {
	old, err := os.ReadFile("testdata/old.yaml")
	require.NoError(t, err)
	program.Refuses(t, string(old), []string{"-f", "-"}, "examples/migrate")

	result := convert.Convert([]convert.Source{{Data: old}}, &convert.Options{Role: "nodes"})
	require.Less(t, convert.Worst(result.Notes), convert.Action)
	data := result.Stream()
	code, _, stderr := call(string(data), "-f", "-")
	require.Equal(t, command.Failed, code)
	require.Contains(t, stderr, "there is no Amazon Linux 2 for Kubernetes 1.34")
	require.Contains(t, stderr, "move to al2023 or bottlerocket")

	code, stdout, stderr := call(strings.Replace(string(data), "al2@latest", "al2023@latest", 1), "-f", "-")
	require.Equal(t, command.OK, code, stderr)
	require.Contains(t, stdout, "3 pods need 1 new node.\n")
}

// Settings of the kubelet may be expressions, which are worked out for each instance
// type.
func TestExpressions(t *testing.T) {
	with := func(maxPods string) string {
		return strings.Replace(string(sample), "  role: KarpenterNodeRole-demo\n", "  role: KarpenterNodeRole-demo\n  kubelet: {maxPods: "+maxPods+"}\n", 1)
	}
	code, stdout, stderr := call(with(`"vcpus / vcpus"`), "-f", "-")
	require.Equal(t, command.OK, code, stderr)
	require.Contains(t, stdout, "13 pods need 13 new nodes.\n", "a node has room for one")

	code, _, stderr = call(with(`"vcpus * cores"`), "-f", "-")
	require.Equal(t, command.Failed, code)
	require.Contains(t, stderr, "cores")
}

// The small AWS is where the cluster is: there is no node in a zone that it has not.
func TestPlace(t *testing.T) {
	manifests := string(sample)
	for _, zone := range []string{"eu-west-1a", "eu-west-1c"} {
		manifests += "---\n{apiVersion: v1, kind: Node, metadata: {name: n-" + zone + ", labels: {topology.kubernetes.io/zone: " + zone +
			", topology.k8s.aws/zone-id: id-" + zone + "}}, status: {allocatable: {cpu: 1}}}\n"
	}
	code, stdout, stderr := call(manifests, "-f", "-")
	require.Equal(t, command.OK, code, stderr)
	require.Contains(t, stdout, "Its prices are those of us-east-1.\n")
	for zone, want := range map[string]bool{"eu-west-1a": true, "eu-west-1b": false, "eu-west-1c": true, "us-east-1a": false} {
		require.Equal(t, want, strings.Contains(stdout, zone), zone)
	}

	code, stdout, stderr = call(manifests, "-f", "-", "-region", "us-west-2", "-zones", "us-west-2d")
	require.Equal(t, command.OK, code, stderr)
	require.Contains(t, stdout, "us-west-2d")
	before, pending, _ := strings.Cut(stdout, "\nSTILL PENDING")
	_, after, _ := strings.Cut(pending, "\nCOST")
	require.NotContains(t, before+after, "eu-west-1", "but for a reason that speaks of the nodes there are")
}

func TestNothingToDo(t *testing.T) {
	pools, _, found := strings.Cut(string(sample), "---\napiVersion: apps/v1")
	require.True(t, found)
	code, stdout, stderr := call(pools, "-f", "-")
	require.Equal(t, command.OK, code, stderr)
	require.Contains(t, stdout, "No pod is pending, so there is nothing to plan.\n")
}
