package scenario_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/benchmarks/scenario"
)

// small has something in every field.
func small() *scenario.Scenario {
	meta := metav1.ObjectMeta{Name: "a", Namespace: "b"}
	pod := func(name string) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "b", Name: name, UID: "3"}}
	}
	one, two, daemon := pod("one"), pod("two"), pod("daemon")
	one.UID, two.UID = "1", "2"
	return &scenario.Scenario{
		Name:      "small",
		Now:       time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
		NodePools: []*v1.NodePool{{ObjectMeta: metav1.ObjectMeta{Name: "pool"}}},
		InstanceTypes: []scenario.InstanceType{{
			Name:         "m.large",
			Requirements: []corev1.NodeSelectorRequirement{{Key: "k", Operator: corev1.NodeSelectorOpIn, Values: []string{"v"}}},
			Capacity:     corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("2")},
			Overhead:     corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("70m")},
			Offerings: []scenario.Offering{{
				Zone: "z", CapacityType: v1.CapacityTypeReserved, Price: 0.001, Available: true, ReservationID: "cr-1", ReservationCapacity: 2,
			}},
		}},
		InstanceTypesByPool:    map[string][]string{"pool": {"m.large"}},
		Pods:                   []*corev1.Pod{one},
		DaemonSetPods:          []*corev1.Pod{daemon},
		Nodes:                  []scenario.Node{{Node: &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node"}}, Pods: []*corev1.Pod{two}}},
		Namespaces:             []*corev1.Namespace{{ObjectMeta: meta}},
		PersistentVolumeClaims: []*corev1.PersistentVolumeClaim{{ObjectMeta: meta}},
		PersistentVolumes:      []*corev1.PersistentVolume{{ObjectMeta: meta}},
		StorageClasses:         []*storagev1.StorageClass{{ObjectMeta: meta}},
		CSINodes:               []*storagev1.CSINode{{ObjectMeta: meta}},
		PodDisruptionBudgets:   []*policyv1.PodDisruptionBudget{{ObjectMeta: meta}},
		Options:                scenario.Options{PreferencePolicy: "Ignore", MinValuesPolicy: "BestEffort"},
	}
}

func smallPlan() *scenario.Plan {
	return &scenario.Plan{
		Contender: "somebody 1.0", Scenario: "small",
		SolveSeconds: []float64{1.5}, SetupSeconds: []float64{0.5}, TruncateSeconds: []float64{0.1},
		AllocBytes: 3, Allocs: 4, Bound: 0.5,
		NewNodeClaims: []scenario.NewNodeClaim{{
			NodePool: "pool", InstanceTypes: []string{"m.large"}, Pods: []string{"b/one"},
			Requirements: []v1.NodeSelectorRequirementWithMinValues{{Key: "k", Operator: v1.NodeSelectorOpGte, Values: []string{"3"}}},
			Labels:       map[string]string{"k": "v"},
		}},
		ExistingNodes:  []scenario.ExistingNode{{Node: "node", Pods: []string{"b/three", "b/four"}}},
		PlacementOrder: []string{"b/one", "b/three", "b/four"},
		Errors:         map[string]string{"b/two": "too large"},
	}
}

// jsonOf compares documents by what is in their files: quantities remember how
// they were read.
func jsonOf(t testing.TB, document any) string {
	t.Helper()
	data, err := json.Marshal(document)
	require.NoError(t, err)
	return string(data)
}

func TestFilesReadBackAsWritten(t *testing.T) {
	for _, ending := range []string{".json", ".json.gz"} {
		name := filepath.Join(t.TempDir(), "document"+ending)
		require.NoError(t, scenario.WriteScenario(name, small()))
		s, err := scenario.ReadScenario(name)
		require.NoError(t, err)
		require.JSONEq(t, jsonOf(t, small()), jsonOf(t, s))

		require.NoError(t, scenario.WritePlan(name, smallPlan()))
		p, err := scenario.ReadPlan(name)
		require.NoError(t, err)
		require.Equal(t, smallPlan(), p)
	}
}

// The fixture leaves no field of the documents at its zero value, so that the
// test above sees each.
func TestFixturesUseEveryField(t *testing.T) {
	for _, document := range []any{small(), smallPlan()} {
		var fields map[string]any
		require.NoError(t, json.Unmarshal([]byte(jsonOf(t, document)), &fields))
		for name, value := range fields {
			require.NotEmpty(t, value, name)
		}
	}
	require.Contains(t, jsonOf(t, small()), `"podDisruptionBudgets"`)
	require.Contains(t, jsonOf(t, smallPlan()), `"truncateSeconds"`)
}

func TestEqualDocumentsMakeEqualFiles(t *testing.T) {
	dir := t.TempDir()
	var files [][]byte
	for _, name := range []string{"a.json.gz", "b.json.gz"} {
		require.NoError(t, scenario.WriteScenario(filepath.Join(dir, name), small()))
		data, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		files = append(files, data)
	}
	require.Equal(t, files[0], files[1])
}

func TestFilesThatAreNone(t *testing.T) {
	dir := t.TempDir()
	for _, test := range []struct{ name, text, want string }{
		{"plain.json.gz", `{"name":"x"}`, "the name ends in .gz, but"},
		{"two.json", `{"name":"x"} {}`, "a file holds one"},
		{"half.json", `{"name":`, "no valid JSON document"},
		{"wrong.json", `{"name":1}`, "no valid JSON document"},
		{"empty.json", `{}`, "scenario: name: is empty"},
	} {
		file := filepath.Join(dir, test.name)
		require.NoError(t, os.WriteFile(file, []byte(test.text), 0o644))
		_, err := scenario.ReadScenario(file)
		require.ErrorContains(t, err, test.want)
		require.ErrorContains(t, err, test.name)
	}
	_, err := scenario.ReadPlan(filepath.Join(dir, "missing.json"))
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestFaultsOfScenarios(t *testing.T) {
	for want, breakIt := range map[string]func(*scenario.Scenario){
		"name: is empty":                                  func(s *scenario.Scenario) { s.Name = "" },
		"nodePools[1]: is null":                           func(s *scenario.Scenario) { s.NodePools = append(s.NodePools, nil) },
		`nodePools[1]: "pool" is there twice`:             func(s *scenario.Scenario) { s.NodePools = append(s.NodePools, s.NodePools[0]) },
		"nodePools[0]: has no name":                       func(s *scenario.Scenario) { s.NodePools[0].Name = "" },
		"instanceTypesByPool[x]: there is no such node p": func(s *scenario.Scenario) { s.InstanceTypesByPool["x"] = nil },
		`there is no instance type "y"`:                   func(s *scenario.Scenario) { s.InstanceTypesByPool["pool"] = []string{"y"} },
		`instanceTypes[1]: "m.large" is there twice`:      func(s *scenario.Scenario) { s.InstanceTypes = append(s.InstanceTypes, s.InstanceTypes[0]) },
		"price is -1":                                     func(s *scenario.Scenario) { s.InstanceTypes[0].Offerings[0].Price = -1 },
		"zone or capacityType is empty":                   func(s *scenario.Scenario) { s.InstanceTypes[0].Offerings[0].Zone = "" },
		"names no reservationID":                          func(s *scenario.Scenario) { s.InstanceTypes[0].Offerings[0].ReservationID = "" },
		"pods[0]: is null":                                func(s *scenario.Scenario) { s.Pods[0] = nil },
		"pods[0]: has no name":                            func(s *scenario.Scenario) { s.Pods[0].Name = "" },
		`nodes[0].pods[0]: "b/one" is there twice`:        func(s *scenario.Scenario) { s.Nodes[0].Pods[0].Name = "one" },
		`metadata.uid "" is empty`:                        func(s *scenario.Scenario) { s.Pods[0].UID = "" },
		`metadata.uid "1" is empty or there twice`:        func(s *scenario.Scenario) { s.Nodes[0].Pods[0].UID = "1" },
		"nodes[0]: has no name":                           func(s *scenario.Scenario) { s.Nodes[0].Node = nil },
		"daemonSetPods[0]: is null":                       func(s *scenario.Scenario) { s.DaemonSetPods[0] = nil },
		"csiNodes[0]: is null":                            func(s *scenario.Scenario) { s.CSINodes[0] = nil },
		`preferencePolicy: is "No"`:                       func(s *scenario.Scenario) { s.Options.PreferencePolicy = "No" },
		`minValuesPolicy: is "No"`:                        func(s *scenario.Scenario) { s.Options.MinValuesPolicy = "No" },
	} {
		s := small()
		require.NoError(t, s.Validate())
		breakIt(s)
		require.ErrorContains(t, s.Validate(), want)
	}
}

func TestFaultsOfPlans(t *testing.T) {
	p := smallPlan()
	require.NoError(t, p.Validate())
	p.Scenario = ""
	p.NewNodeClaims[0].NodePool, p.NewNodeClaims[0].InstanceTypes = "", nil
	p.ExistingNodes[0].Pods = []string{"b/one", "b/two", ""}
	err := p.Validate()
	for _, want := range []string{
		"plan: scenario: is empty",
		"newNodeClaims[0]: nodePool is empty",
		"newNodeClaims[0]: has no instanceTypes",
		`existingNodes[0].pods: "b/one" is there twice`,
		"existingNodes[0].pods: has no name",
		`errors: "b/two" is placed too`,
	} {
		require.ErrorContains(t, err, want)
	}
	require.Len(t, strings.Split(err.Error(), "\n"), 6)
}

func TestPlaced(t *testing.T) {
	onNew, onExisting := smallPlan().Placed()
	require.Equal(t, []int{1, 2}, []int{onNew, onExisting})
}

// fuzzDecode feeds a decoder with an object, a strange text and what becomes of them. What is decoded is
// written and decoded again as the same.
func fuzzDecode[T any](f *testing.F, object *T, strange string, decode func([]byte) (*T, error)) {
	f.Helper()
	f.Add([]byte(jsonOf(f, object)))
	f.Add([]byte(strange))
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := decode(data)
		if err != nil {
			require.Nil(t, got)
			return
		}
		again, err := decode([]byte(jsonOf(t, got)))
		require.NoError(t, err)
		require.Equal(t, jsonOf(t, got), jsonOf(t, again))
	})
}

func FuzzDecodeScenario(f *testing.F) {
	fuzzDecode(f, small(), `{"name":"x","nodes":[{}],"pods":[null],"instanceTypes":[{"offerings":[{}]}]}`, scenario.DecodeScenario)
}

func FuzzDecodePlan(f *testing.F) {
	fuzzDecode(f, smallPlan(), `{"scenario":"x","newNodeClaims":[{}],"errors":{"a":"b"}}`, scenario.DecodePlan)
}
