package main

import (
	"cmp"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/examples/internal/command"
	"github.com/dovetail-sdk/dovetail/examples/internal/output"
	"github.com/dovetail-sdk/dovetail/internal/golden"
)

// program and call run the program of this folder.
var (
	program = output.Program(run)
	call    = program.Call
)

func read(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(name)
	require.NoError(t, err)
	return string(data)
}

// TestQuestions runs the commands of docs/questions.md.
func TestQuestions(t *testing.T) {
	output.Questions(t, func(args []string, _ io.Reader, stdout, _ io.Writer) int {
		_, err := io.WriteString(stdout, asked(t, args...).in(t, "table"))
		require.NoError(t, err)
		return command.OK
	})
}

func TestSample(t *testing.T) {
	code, stdout, stderr := call("")
	require.Equal(t, 0, code)
	require.Empty(t, stderr)
	golden.Equal(t, stdout, "golden", "sample.txt")
	output.Fits(t, stdout)
}

func TestShop(t *testing.T) {
	code, stdout, stderr := call("", "-f", "testdata/shop.yaml")
	require.Equal(t, 0, code)
	require.Equal(t, "whatif: prices include what a node costs in addition to its instance, in us-east-1: 0.0022 USD/h (volumes 0.0022) with EC2NodeClass default; -bill=false leaves it out\n"+
		"whatif: EC2NodeClass default: no subnets in its status; it is taken to launch in every zone of the cluster\n", stderr)
	golden.Equal(t, stdout, "golden", "shop.txt")
	output.Fits(t, stdout)

	// What it says to ask is understood, and tells of a pod whose name nobody knows.
	_, ask, _ := strings.Cut(stdout, "Ask -explain ")
	name, _, _ := strings.Cut(ask, " ")
	require.Equal(t, "shop/train-recommender", name)
	code, told, stderr := call("", "-f", "testdata/shop.yaml", "-explain", name)
	require.Equal(t, 0, code, stderr)
	require.Contains(t, told, "shop/train-recommender-9lm5q")
}

func TestOwnInstanceTypes(t *testing.T) {
	args := []string{"-f", "testdata/small.yaml", "-instance-types", "testdata/types.yaml"}
	for format, extension := range map[string]string{"table": "txt", "json": "json", "yaml": "yaml"} {
		code, stdout, stderr := call("", append(args, "-o", format)...)
		require.Equal(t, 0, code)
		require.Equal(t, "whatif: ignored 1 ConfigMap\n", stderr)
		// How long the engine searches is its own affair.
		golden.Equal(t, regexp.MustCompile(`("?steps"?): \d+`).ReplaceAllString(stdout, "$1: 0"), "golden", "small."+extension)

		code, again, _ := call("", append(args, "-o", format)...)
		require.Equal(t, 0, code)
		require.Equal(t, stdout, again)
	}
}

func TestStandardInput(t *testing.T) {
	args := []string{"-instance-types", "testdata/types.yaml", "-f"}
	_, fromFile, _ := call("", append(args, "testdata/small.yaml")...)
	code, fromStdin, _ := call(read(t, "testdata/small.yaml"), append(args, "-")...)
	require.Equal(t, 0, code)
	require.Equal(t, fromFile, fromStdin)

	code, typesFromStdin, _ := call(read(t, "testdata/types.yaml"), "-instance-types", "-", "-f", "testdata/small.yaml")
	require.Equal(t, 0, code)
	require.Equal(t, fromFile, typesFromStdin)
}

func TestSeveralFiles(t *testing.T) {
	pools, workloads, found := strings.Cut(read(t, "testdata/small.yaml"), "---\n")
	require.True(t, found)
	file := filepath.Join(t.TempDir(), "pools.yaml")
	require.NoError(t, os.WriteFile(file, []byte(pools), 0o666))
	_, want, _ := call("", "-f", "testdata/small.yaml")
	code, got, _ := call(workloads, "-f", file, "-f", "-")
	require.Equal(t, 0, code)
	require.Equal(t, want, got)
}

func TestFailUnplaced(t *testing.T) {
	args := []string{"-f", "testdata/small.yaml", "-instance-types", "testdata/types.yaml"}
	code, without, _ := call("", args...)
	require.Equal(t, 0, code)
	code, with, _ := call("", append(args, "-fail-unplaced")...)
	require.Equal(t, 1, code)
	require.Equal(t, without, with, "the plan is printed all the same")
}

func TestNoPools(t *testing.T) {
	code, stdout, _ := call("apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: a}]}", "-f", "-")
	require.Equal(t, 0, code)
	require.Contains(t, stdout, "1 pod stays pending.\nThe input has no NodePool, so no node can be launched.\n")
}

func TestMinValues(t *testing.T) {
	text := strings.Replace(read(t, "testdata/small.yaml"), "values: [spot, on-demand]}",
		"values: [spot, on-demand]}\n        - {key: node.kubernetes.io/instance-type, operator: Exists, minValues: 3}", 1)
	args := []string{"-f", "-", "-instance-types", "testdata/types.yaml"}
	code, strict, _ := call(text, args...)
	require.Equal(t, 0, code)
	require.Contains(t, strict, "4 pods stay pending.")
	code, relaxed, _ := call(text, append(args, "-min-values", "BestEffort")...)
	require.Equal(t, 0, code)
	require.Contains(t, relaxed, "1 pod stays pending.")
	require.Contains(t, relaxed, "      minValues of node.kubernetes.io/instance-type is 2 instead of 3\n")
}

func TestBadInput(t *testing.T) {
	const pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  containers:\n    - name: a\n"
	badTypes := filepath.Join(t.TempDir(), "types.yaml")
	require.NoError(t, os.WriteFile(badTypes, []byte("instanceTypes: [{name: a, colour: red}]"), 0o666))
	for _, tt := range []struct {
		name, stdin string
		args        []string
		want        []string // parts of lines, in order
	}{
		{"an empty file", "", []string{"-f", "-"}, []string{"whatif: -: holds no object"}},
		{"a folder", "", []string{"-f", "testdata"}, []string{"whatif: testdata is a directory; name the files in it, one by one"}},
		{"faults in all files", pod + "      imge: y\n", []string{"-f", "testdata/none.yaml", "-f", "-", "-instance-types", badTypes}, []string{
			"whatif: open testdata/none.yaml: ", "whatif: -:7 (document 1): Pod default/p", "whatif: " + badTypes}},
		{"a pool that is not valid", `
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: general}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements:
        - {key: karpenter.k8s.aws/instance-famly, operator: Exists}
        - {key: kubernetes.io/arch, operator: In}
`, []string{"-f", "-"}, []string{
			"whatif: -:10 (document 1): NodePool general: spec.template.spec.requirements[0].key: ",
			"whatif: -:11 (document 1): NodePool general: spec.template.spec.requirements[1].values: "}},
		{"what only the engine finds", "apiVersion: v1\nkind: Node\nmetadata: {name: node}\nstatus:\n  allocatable: {cpu: 1E}\n",
			[]string{"-f", "-"}, []string{"whatif: -:5 (document 1): Node node: status.allocatable: "}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			program.RefusesLines(t, tt.stdin, tt.args, tt.want...) // nothing is planned from half-read input
		})
	}
}

func TestBadFlags(t *testing.T) {
	for _, tt := range []struct {
		args []string
		want []string
	}{
		{[]string{"shop.yaml", "b"}, []string{`unexpected argument "shop.yaml b"; files are named with -f`}},
		{[]string{"-o", "xml", "-min-values", "None", "-options", "-1"}, []string{
			`invalid value "xml" for flag -o: must be table, json or yaml, or html with -compare or -advise`,
			`invalid value "None" for flag -min-values: must be Strict or BestEffort`,
			`invalid value -1 for flag -options: must not be negative`}},
		{[]string{"-preferences", "None", "-reserved", "", "-node-fee", "-0.1"}, []string{
			`invalid value "None" for flag -preferences: must be Respect or Ignore`,
			`invalid value "" for flag -reserved: must be Fallback or Strict`,
			`invalid value -0.1 for flag -node-fee: must be an amount of USD per hour, or 0`}},
		{[]string{"-kubernetes", "1.20"}, []string{`invalid value for flag -kubernetes: "1.20": it is not supported; use one of 1.34, 1.35, 1.36, 1.37, 1.38, or all`}},
		{[]string{"-node-fee", "NaN"}, []string{`invalid value NaN for flag -node-fee: must be an amount of USD per hour, or 0`}},
		{[]string{"-now", "noon"}, []string{`invalid value "noon" for flag -now: must be a time such as 2026-03-02T12:00:00Z`}},
		{[]string{"-o", "html"}, []string{"-o html is a page for -compare or -advise; give one of them, or another format"}},
		{[]string{"-without", ""}, []string{`invalid value "" for flag -without: the name of the node is empty`}},
		{[]string{"-explain", "web/", "-why", "a/b/c", "-o", "json"}, []string{
			`invalid value "web/" for flag -explain: must be NAMESPACE/POD`,
			`invalid value "a/b/c" for flag -why: must be NODE/INSTANCETYPE`,
			`-explain and -why are several questions; ask one at a time`,
			`-explain and -why answer in text; leave out -o json`}},
	} {
		t.Run(strings.Join(tt.args, " "), func(t *testing.T) {
			program.RefusesFlags(t, "whatif", tt.args, tt.want...)
		})
	}
}

func TestHelp(t *testing.T) { program.Help(t, about) }

// TestNoNodePool: a constraint is not to blame where nothing can be launched.
func TestNoNodePool(t *testing.T) {
	const pod = `apiVersion: v1
kind: Pod
metadata: {name: web, labels: {app: web}}
spec:
  topologySpreadConstraints: [{maxSkew: 1, topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: web}}}]
  containers: [{name: a, resources: {requests: {cpu: 1}}}]
`
	_, stdout, _ := call(pod, "-f", "-")
	require.Contains(t, stdout, "Pod default/web\n      there is neither a NodePool nor a node\nAsk")
	const full = "---\napiVersion: v1\nkind: Node\nmetadata: {name: node-1, labels: {topology.kubernetes.io/zone: a}}\nstatus: {allocatable: {cpu: 500m, memory: 1Gi, pods: 9}}\n"
	_, stdout, stderr := call(pod+full, "-f", "-")
	require.Empty(t, stderr)
	require.Contains(t, stdout, "Pod default/web\n      there is no NodePool; on the nodes that exist:\n      ")
}

// With -bill=false prices are those of instances. TestShop has the others.
func TestBill(t *testing.T) {
	code, stdout, stderr := call("", "-f", "testdata/shop.yaml", "-bill=false")
	require.Equal(t, command.OK, code, stderr)
	require.NotContains(t, stdout, "Of that not for instances")
	require.Contains(t, read(t, "testdata/golden/shop.txt"), "Of that not for instances, but for volumes and the like")
}

// Names stay whole where they are to be typed, and where they tell rows apart.
func TestLongNames(t *testing.T) {
	code, stdout, stderr := call("", "-f", "testdata/long-names.yaml")
	require.Equal(t, command.OK, code, stderr)
	const pod = "observability-collection-production/opentelemetry-collector-gateway-traces-production-eu-0"
	require.Contains(t, stdout, "Ask -explain\n      "+pod+"\n      for all")
	require.Contains(t, stdout, "1× Pod\n         "+pod+"\n")
	require.NotContains(t, stdout, "…")
}

// kubectl answers as one does in a cluster without Karpenter: a list of kinds with one that the
// cluster does not know is refused as a whole.
const kubectl = `#!/bin/sh
case "$2" in
*nodepools*|*nodeclaims*|*nodeoverlays*|*ec2nodeclasses*)
	echo "error: the server doesn't have a resource type" >&2
	exit 1 ;;
esac
printf 'apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Namespace, metadata: {name: shop}}\n'
`

// The dump that README.md shows works in a cluster without Karpenter too.
func TestDump(t *testing.T) {
	folder := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(folder, "kubectl"), []byte(kubectl), 0o700))
	root := read(t, "../../README.md")
	_, dump, found := strings.Cut(root, "For a cluster of yours write one dump, which serves both:\n\n```sh\n")
	require.True(t, found)
	dump, _, found = strings.Cut(dump, "go run ")
	require.True(t, found)
	for line := range strings.Lines(dump) {
		require.Contains(t, read(t, "README.md"), strings.TrimSpace(line), "this program's README.md has the same dump")
	}
	shell := exec.Command("sh", "-c", dump)
	shell.Dir, shell.Env = folder, append(os.Environ(), "PATH="+folder+string(os.PathListSeparator)+os.Getenv("PATH"))
	_ = shell.Run() // the exit code is that of the last kind, which may be missing
	code, stdout, stderr := call("", "-f", filepath.Join(folder, "cluster.yaml"))
	require.Equal(t, command.OK, code, stderr)
	require.Contains(t, stdout, "No pod is pending")
}

// TestField plans for small clusters that were rebuilt from public bug reports of node
// autoscalers. Each line of the answer that is given must be in the plan, with any white space.
func TestField(t *testing.T) {
	flags := map[string][]string{"csi-driver-missing": {"-kubernetes", "1.37"}, "csi-driver-missing-before": {"-kubernetes", "v1.36.3"}}
	files := map[string]string{"csi-driver-missing-before": "csi-driver-missing"}
	for name, want := range map[string][]string{
		"storage-capacity": {
			"1 pod stays pending.",
			`no CSIStorageCapacity of StorageClass "instance-store" has room for a volume of 500Gi on any node; ` +
				"ask for less, or wait for driver lis.csi.aws.com to publish more",
		},
		"csi-driver-missing":        {"1 pod needs 1 new node.", "It is for kube-scheduler of Kubernetes 1.37."},
		"csi-driver-missing-before": {"1 pod fits on 1 existing node.", "It is for kube-scheduler of Kubernetes 1.36."},
		"default-class":             {"1 pod needs 1 new node.", "The referee finds no fault with the plan."},
		"extended-resource-by-dra": {
			"2 pods stay pending.",
			"nodes for this cannot be planned yet: extended resource example.com/gpu: no instance type and no node has it, " +
				`and devices of DeviceClass "gpu.example.com" are given out to resource claims only`,
		},
		"selected-node": {
			"1 pod stays pending.",
			`PersistentVolumeClaim "default/data" is tied to node "gone-1" by its annotation volume.kubernetes.io/selected-node, ` +
				"and there is no such node; bring the node back or remove the annotation",
		},
	} {
		t.Run(name, func(t *testing.T) {
			args := append([]string{"-f", "testdata/field/" + cmp.Or(files[name], name) + ".yaml", "-instance-types", "testdata/field/types.yaml"}, flags[name]...)
			code, stdout, stderr := call("", args...)
			require.Zero(t, code, stderr)
			plan := strings.Join(strings.Fields(stdout), " ")
			for _, line := range want {
				require.Contains(t, plan, line)
			}
		})
	}
}

// The GPUs of the instance types of EC2 are devices for claims, also of pools without a class.
func TestDevicesFromZero(t *testing.T) {
	code, stdout, stderr := call("", "-f", "testdata/field/devices-from-zero.yaml")
	require.Zero(t, code, stderr)
	plan := strings.Join(strings.Fields(stdout), " ")
	require.Contains(t, plan, "1 pod needs 1 new node.")
	require.Contains(t, plan, "general g6.")
	require.Contains(t, plan, "The referee finds no fault with the plan.")
}

// TestPodsOfTemplates: pods that do not exist yet are planned as the API server and their
// controllers would make them.
func TestPodsOfTemplates(t *testing.T) {
	for _, tt := range []struct{ name, stdout, stderr string }{
		{name: "host-network", stdout: "3 pods need 3 new nodes."},
		{name: "host-network-daemon", stdout: "a DaemonSet binds a host port of the pod on every\n        suitable instance type: kube-system/node-exporter\n"},
		{name: "runtime-class", stdout: "1×  general  large "},
		{name: "scale-up-by-revision", stdout: "1×  general  small  zone-c "},
		{name: "job-name-affinity", stdout: "4 pods need 1 new node."},
		{name: "statefulset-pod-index", stdout: "3 pods need 3 new nodes."},
		{name: "deployment-node-name", stdout: "2 pods need 1 new node.",
			stderr: "whatif: Deployment shop/pinned: spec.template.spec.nodeName names node ip-10-0-1-2, which is not in the input; " +
				"its pods (1) run there or nowhere and are not planned for\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			code, stdout, stderr := call("", "-f", "testdata/templates/"+tt.name+".yaml", "-instance-types", "testdata/templates/types.yaml")
			require.Equal(t, 0, code)
			require.Equal(t, tt.stderr, stderr)
			require.Contains(t, stdout, tt.stdout)
			require.Contains(t, stdout, "The referee finds no\nfault with the plan.")
		})
	}
}

// TestLessThanPromised: two nodes have 7Gi where the catalog promises 8Gi, and the pod needs more.
func TestLessThanPromised(t *testing.T) {
	text := read(t, "testdata/less-than-promised.yaml")
	_, stdout, stderr := call(text, "-f", "-", "-instance-types", "testdata/templates/types.yaml")
	require.Contains(t, stdout, "1×  general  small ")
	require.Equal(t, "whatif: NodePool general: instance type small has less than promised: memory of n-1, n-2 is 7Gi, and the catalog promises 8Gi. "+
		"The pods of 1 new node would not fit; exclude the type in the requirements of the NodePool, or correct the catalog\n", stderr)

	for name, change := range map[string][2]string{
		"the pod fits":             {"memory: 7500Mi", "memory: 7000Mi"},
		"a node has what it needs": {"allocatable: {cpu: 2, memory: 7Gi", "allocatable: {cpu: 2, memory: 7900Mi"},
	} {
		_, _, stderr = call(strings.Replace(text, change[0], change[1], 1), "-f", "-", "-instance-types", "testdata/templates/types.yaml")
		require.Empty(t, stderr, name)
	}
}

// TestAmountsInOneUnit: what a pod asks for and what an instance type has are in one unit.
func TestAmountsInOneUnit(t *testing.T) {
	code, stdout, _ := call("", "-f", "testdata/ephemeral-storage.yaml")
	require.Equal(t, 0, code)
	require.Contains(t, stdout, "the pod asks for ephemeral-storage=228881.83Mi, but no\n        suitable instance type has more than 213552.72Mi (c6i.8xlarge)\n")
}
