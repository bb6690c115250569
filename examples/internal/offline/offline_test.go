package offline_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/examples/internal/command"
	"github.com/dovetail-sdk/dovetail/examples/internal/offline"
	"github.com/dovetail-sdk/dovetail/examples/internal/place"
)

// manifests are a NodePool and its class as examples/migrate writes it, with a
// role to be filled in.
const manifests = `apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: web}
spec:
  template:
    spec:
      requirements: []
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: web}
---
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: web}
spec:
  amiSelectorTerms: [{alias: ALIAS@latest}]
  role: $KARPENTER_NODE_ROLE
  kubelet: KUBELET
`

// worldOf reads manifests, which are text where files names none.
func worldOf(t *testing.T, files offline.Files, text string) *offline.World {
	t.Helper()
	if files.Manifests == nil {
		files.Manifests = []string{"-"}
	}
	w, err := offline.Read(files, strings.NewReader(text))
	require.NoError(t, err)
	return w
}

// read reads the manifests, and returns what a node of type m5a.large has for pods.
func read(t *testing.T, alias, kubelet, types string) (allocatable string, remarks []string) {
	t.Helper()
	text := strings.NewReplacer("ALIAS", alias, "KUBELET", kubelet).Replace(manifests)
	w := worldOf(t, offline.Files{InstanceTypes: types, InstancePrices: true}, text)
	for _, it := range w.Input().InstanceTypes["web"] {
		if it.Name == "m5a.large" {
			list, err := it.Allocatable()
			require.NoError(t, err)
			allocatable = list.String()
		}
	}
	return allocatable, w.Remarks()
}

func TestKubeletOfClasses(t *testing.T) {
	const anywhere = "EC2NodeClass web: no subnets in its status; it is taken to launch in every zone of the cluster"
	const asEver = "cpu=1930m, ephemeral-storage=17Gi, memory=6903Mi, pods=29"
	for _, tt := range []struct {
		name, alias, kubelet string
		want                 string
		remarks              []string
	}{
		{"none", "al2023", "null", asEver, nil},
		{"an empty one", "al2023", "{}", asEver, nil},
		{"reserves and thresholds", "al2", "{kubeReserved: {cpu: 200m, memory: 600Mi}, systemReserved: {cpu: 100m, memory: 200Mi}, evictionHard: {memory.available: 5%}}",
			"cpu=1700m, ephemeral-storage=17Gi, memory=6708946534, pods=29", nil},
		{"pods by core", "al2023", "{maxPods: 58, podsPerCore: 8}", "memory=6903Mi, pods=16", nil},
		{"Bottlerocket reserves for the pods there are", "bottlerocket", "{maxPods: 19}", "memory=7013Mi, pods=19", nil},
		{"what cannot be read", "al2023", `{maxPods: -1, kubeReserved: {gpu: "1"}}`, asEver,
			[]string{`EC2NodeClass web: spec.kubelet has no say: `}},
		{"a field that is not known", "al2023", "{maxPodz: 1}", asEver, []string{"ignored 1 EC2NodeClass",
			"EC2NodeClass web: it has no say: "}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, remarks := read(t, tt.alias, tt.kubelet, "")
			require.Contains(t, got, tt.want)
			remarks = slices.DeleteFunc(remarks, func(s string) bool { return s == anywhere })
			require.Len(t, remarks, len(tt.remarks))
			for i, want := range tt.remarks {
				require.Contains(t, remarks[i], want)
			}
		})
	}
}

// A dump of all versions has a class in several.
func TestClassesOfOtherVersions(t *testing.T) {
	text := strings.NewReplacer("ALIAS", "al2023", "KUBELET", "{maxPods: 10}").Replace(manifests)
	for _, name := range []string{"web", "other"} {
		text += "---\n{apiVersion: karpenter.k8s.aws/v1beta1, kind: EC2NodeClass, metadata: {name: " + name + "}, spec: {amiFamily: AL2}}\n"
	}
	w := worldOf(t, offline.Files{InstancePrices: true}, text)
	require.Equal(t, []string{"ignored 1 EC2NodeClass",
		"1 EC2NodeClass of karpenter.k8s.aws/v1beta1 not read: there in the version that is",
		"EC2NodeClass other: it has no say, as it is of karpenter.k8s.aws/v1beta1; convert it to karpenter.k8s.aws/v1 with examples/migrate",
		"EC2NodeClass web: no subnets in its status; it is taken to launch in every zone of the cluster"}, w.Remarks())
	require.Contains(t, w.Input().InstanceTypes["web"][0].Capacity.String(), "pods=10")
}

// An old dump has nodes that have expired since.
func TestAgeOfADump(t *testing.T) {
	node := "{apiVersion: v1, kind: Node, metadata: {name: a, creationTimestamp: '2026-01-05T12:00:00Z'}, status: {conditions: [{type: Ready, lastHeartbeatTime: '2026-02-27T12:00:00Z'}]}}"
	age := func(manifest string, now time.Time, present bool) string {
		w := worldOf(t, offline.Files{Now: now}, manifest)
		w.Present = present
		return w.Age()
	}
	noon := time.Date(2026, time.March, 2, 12, 0, 0, 0, time.UTC)
	require.Equal(t, "the newest time in the manifests is 3 days ago, and nodes have aged since; -now 2026-02-27T12:00:00Z starts there", age(node, noon, true))
	require.Empty(t, age(node, noon, false), "it was asked for")
	require.Empty(t, age(node, noon.AddDate(0, 0, -3), true))
	require.Empty(t, age("{apiVersion: v1, kind: Node, metadata: {name: a}}", noon, true))
}

func TestInstanceTypesOfAFileStayAsTheyAre(t *testing.T) {
	_, remarks := read(t, "al2023", "{maxPods: 10}", "../../whatif/testdata/types.yaml")
	require.Equal(t, []string{"1 EC2NodeClass without a say: the instance types are taken as ../../whatif/testdata/types.yaml has them"}, remarks)
}

func TestPoolsWithoutSuchAClassShareTheTypes(t *testing.T) {
	text := strings.NewReplacer("ALIAS", "al2023", "KUBELET", "{maxPods: 10}").Replace(manifests)
	text += "---\n" + strings.NewReplacer("name: web}\n", "name: other}\n", "{name: web}", "{name: other}").Replace(manifests[:strings.Index(manifests, "---")])
	w := worldOf(t, offline.Files{}, text)
	in := w.Input()
	require.Len(t, in.InstanceTypes["other"], len(in.InstanceTypes["web"]))
	require.NotEqual(t, in.InstanceTypes["other"][0].Capacity.String(), in.InstanceTypes["web"][0].Capacity.String())
	require.Equal(t, in.InstanceTypes["other"][0].Name, in.InstanceTypes["web"][0].Name)
}

func TestFaults(t *testing.T) {
	var faults command.Faults
	offline.Files{Manifests: []string{"-", "a", "-"}, InstanceTypes: "-", Place: place.Asked{Region: "us-east-1"}}.Check(&faults)
	require.Equal(t, command.Faults{`invalid value "-" for flag -f: it is given twice`,
		`invalid value "-" for flag -instance-types: standard input holds the manifests already`,
		"-region and -zones say where the fake cloud sells; leave them out with -instance-types, which says so itself"}, faults)
	_, err := offline.Read(offline.Files{Manifests: []string{"testdata/none.yaml"}, InstanceTypes: "testdata/none.json"}, nil)
	require.ErrorContains(t, err, "open testdata/none.yaml")
	require.ErrorContains(t, err, "open testdata/none.json")
}

// A cluster of three zones never gets a node in a fourth.
func TestInstanceTypesAreSoldWhereTheClusterIs(t *testing.T) {
	text := manifests
	for _, zone := range []string{"eu-west-1a", "eu-west-1b"} {
		text += "---\n{apiVersion: v1, kind: Node, metadata: {name: " + zone + ", labels: {topology.kubernetes.io/zone: " + zone + "}}, status: {allocatable: {cpu: 1}}}\n"
	}
	text = strings.Replace(text, "  kubelet: KUBELET\n", "status: {subnets: [{id: s-1, zone: eu-west-1c, zoneID: euw1-az7}]}\n", 1)
	text = strings.Replace(text, "ALIAS", "al2023", 1)
	zones := func(files offline.Files) (zones []string, remarks []string) {
		w := worldOf(t, files, text)
		for _, it := range w.Input().InstanceTypes["web"] {
			for _, o := range it.Offerings {
				if !slices.Contains(zones, o.Zone) {
					zones = append(zones, o.Zone)
				}
			}
		}
		slices.Sort(zones)
		return zones, w.Remarks()
	}
	const prices = "prices are those of us-east-1, as those of eu-west-1 are not known here; -instance-types takes others"
	got, remarks := zones(offline.Files{InstancePrices: true})
	require.Equal(t, []string{"eu-west-1a", "eu-west-1b", "eu-west-1c"}, got)
	require.Equal(t, []string{prices}, remarks)
	got, remarks = zones(offline.Files{Place: place.Asked{Zones: []string{"us-east-1d"}}, InstancePrices: true})
	require.Equal(t, []string{"us-east-1d"}, got)
	require.Empty(t, remarks)
}

// All nodes are in the one zone that a NodePool excludes, so that it can launch in none of
// the zones that are known.
func TestZonesThatAPoolExcludes(t *testing.T) {
	text := strings.Replace(strings.Split(manifests, "---")[0], "requirements: []", "requirements: [{key: topology.kubernetes.io/zone, operator: NotIn, values: [us-east-1f]}]", 1) + `---
apiVersion: v1
kind: Node
metadata: {name: n1, labels: {topology.kubernetes.io/zone: us-east-1f}}
`
	const note = "NodePool web can launch in none of the zones that the manifests name (us-east-1f); -zones names all zones of the cluster"
	files := offline.Files{Manifests: []string{"-"}}
	w := worldOf(t, files, text)
	require.Contains(t, w.Remarks(), note)
	files.Place.Zones = []string{"us-east-1a", "us-east-1f"}
	w = worldOf(t, files, text)
	require.NotContains(t, w.Remarks(), note)
	w = worldOf(t, offline.Files{}, strings.Replace(text, "NotIn", "In", 1))
	require.NotContains(t, w.Remarks(), note)
}

// What Karpenter refuses on AWS is refused here: an overlay speaks of instance types, and so
// of no tenancy.
func TestRules(t *testing.T) {
	for key, ok := range map[string]bool{"karpenter.k8s.aws/instance-tenancy": false, "karpenter.k8s.aws/instance-family": true, "karpenter.k8s.aws/instance-nitro-enclaves-supported": true, "karpenter.k8s.aws/nitro-sandbox": false} {
		_, err := offline.Read(offline.Files{Sample: []byte(`
apiVersion: karpenter.sh/v1alpha1
kind: NodeOverlay
metadata: {name: a}
spec: {price: "1", requirements: [{key: ` + key + `, operator: Exists}]}
`)}, nil)
		require.Equal(t, ok, err == nil, "%s: %v", key, err)
	}
}

func TestKubernetesIsThatOfTheNewestKubelet(t *testing.T) {
	for _, tt := range []struct {
		kubelets []string
		want     string
		remark   string
	}{
		{nil, "", ""},
		{[]string{"", "simulated"}, "", ""},
		{[]string{"v1.36.3-eks-1a2b3c4"}, "v1.36.3-eks-1a2b3c4", ""},
		{[]string{"v1.36.9", "v1.37.2", "v1.35.0"}, "v1.37.2", ""},
		{[]string{"v1.37.2", "v1.99.0"}, "", "v1.99.0"},
		{[]string{"v1.20.1"}, "", "v1.20.1"},
	} {
		text := ""
		for i, kubelet := range tt.kubelets {
			text += "---\napiVersion: v1\nkind: Node\nmetadata: {name: n" + string(rune('a'+i)) + "}\nstatus: {nodeInfo: {kubeletVersion: \"" + kubelet + "\"}}\n"
		}
		text += "---\napiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: c}]}\n"
		file := filepath.Join(t.TempDir(), "cluster.yaml")
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		w := worldOf(t, offline.Files{Manifests: []string{file}}, "")
		got, remark := w.Kubernetes()
		require.Equal(t, tt.want, got, tt.kubelets)
		require.Contains(t, remark, tt.remark)
		require.Equal(t, tt.remark == "", remark == "")
	}
}
