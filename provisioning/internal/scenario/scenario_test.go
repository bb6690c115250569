package scenario_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/scenario"
)

const sample = `This is what it is
about.

# a comment
well-known example.com/cpu
alias storage.example.com/zone=topology.kubernetes.io/zone
type m cpu=4, memory=8Gi
  labels example.com/cpu = 4, kubernetes.io/os in (linux, windows)
  keeps cpu=100m
  offer b,a on-demand 0.20
  offer a spot 0.05 unavailable capacity(memory=9Gi, cpu=3) overhead(cpu=0) labels(rack = r1)
  offer a reserved 0.001 reservation=cr-1:2
type n cpu=1, pods=5
  offer a on-demand 0.01

pool general
  types m
  weight 10
  labels team=red
  require example.com/cpu > 2, tier in (gold, silver) minvalues 2
  taints dedicated=batch:NoSchedule, other:NoExecute
  limits cpu=10, nodes=2
pool closed
  types none
  static 1
  ready False Why

case one
options MinValues=BestEffort, MaxSteps=3
show names, claim
pod web x2
  request cpu=1
  init cpu=2
  select a=b
  term cpus > 4, cpus < 9, metadata.name = node-1
  term
  tolerate *, dedicated=batch, gpu:NoExecute
  labels app=web
  uses gate, host-port
daemon agent
  request cpu=100m
node old
  of general
  allocatable cpu=4
  cordoned
  runs web-0 cpu=1 finished
  runs agent-0 cpu=100m of agent
  runs db cpu=1 repels app=web, tier=gold within topology.kubernetes.io/zone
----
outcome of one

of two lines

case two
pool general
----
`

func TestParse(t *testing.T) {
	f, err := scenario.Parse(sample)
	require.NoError(t, err)
	require.Equal(t, "This is what it is about.", f.Intent)
	require.Len(t, f.Cases, 2)
	one, two := f.Cases[0], f.Cases[1]
	require.Equal(t, "one", one.Title)
	require.Equal(t, "outcome of one\n\nof two lines", one.Want)
	require.Equal(t, "two", two.Title)
	require.Empty(t, two.Want)

	w := one.World
	require.Equal(t, "BestEffort", w.MinValues)
	require.Equal(t, 3, w.MaxSteps)
	require.Equal(t, map[string]bool{"names": true, "claim": true}, w.Show)
	require.True(t, w.Vocabulary.WellKnown("example.com/cpu"))
	require.Equal(t, corev1.LabelTopologyZone, w.Vocabulary.NormalizeKey("storage.example.com/zone"))
	require.Len(t, w.NodePools, 2)
	require.Len(t, w.Pods, 2)
	require.Len(t, w.DaemonSetPods, 1)
	require.Len(t, w.Nodes, 1)

	// The second case declares the pool anew.
	require.Len(t, two.World.NodePools, 2)
	require.Nil(t, two.World.NodePools[1].Spec.Weight)
	require.Len(t, two.World.InstanceTypes["general"], 2, "a pool has all types unless it names some")
	require.Empty(t, two.World.Pods)
	require.NotSame(t, w.InstanceTypes["general"][0], two.World.InstanceTypes["general"][0], "cases share nothing")
}

func TestParseTypesAndPools(t *testing.T) {
	f, err := scenario.Parse(sample)
	require.NoError(t, err)
	w := f.Cases[0].World
	m := w.InstanceTypes["general"][0]
	require.NoError(t, m.Validate())
	require.Equal(t, "cpu=4, memory=8Gi, pods=110", m.Capacity.String())
	require.Equal(t, "cpu=100m", m.Overhead.KubeReserved.String())
	require.Equal(t, "example.com/cpu = 4, karpenter.sh/capacity-type in (on-demand, reserved, spot), kubernetes.io/arch = amd64, "+
		"kubernetes.io/os in (linux, windows), node.kubernetes.io/instance-type = m, !node.kubernetes.io/windows-build, "+
		"topology.kubernetes.io/region = r, topology.kubernetes.io/zone in (a, b)", m.Requirements.String())
	var keys []string
	for i := range m.Offerings {
		keys = append(keys, m.Offerings[i].Key("m").String())
	}
	require.Equal(t, []string{"m/a/on-demand", "m/a/reserved/cr-1", "m/a/spot", "m/b/on-demand"}, keys)
	require.Equal(t, 2, m.Offerings[1].ReservationCapacity)
	spot := m.Offerings[2]
	require.False(t, spot.Available)
	require.Equal(t, "cpu=3, memory=9Gi", spot.Capacity.String())
	require.Equal(t, "cpu=0", spot.Overhead.String())
	require.Equal(t, "rack = r1", spot.Requirements.String())

	general, closed := w.NodePools[0], w.NodePools[1]
	require.Equal(t, int32(10), *general.Spec.Weight)
	require.Equal(t, map[string]string{"team": "red"}, general.Spec.Template.Labels)
	least := 2
	require.Equal(t, []v1.NodeSelectorRequirementWithMinValues{
		{Key: "example.com/cpu", Operator: v1.NodeSelectorOpGte, Values: []string{"3"}},
		{Key: "tier", Operator: corev1.NodeSelectorOpIn, Values: []string{"gold", "silver"}, MinValues: &least},
	}, general.Spec.Template.Spec.Requirements)
	require.Equal(t, []corev1.Taint{
		{Key: "dedicated", Value: "batch", Effect: "NoSchedule"}, {Key: "other", Effect: "NoExecute"},
	}, general.Spec.Template.Spec.Taints)
	require.Len(t, general.Spec.Limits, 2)
	require.Empty(t, w.InstanceTypes["closed"])
	require.Equal(t, int64(1), *closed.Spec.Replicas)
	require.Equal(t, "Why", closed.Status.Conditions[0].Reason)
}

func TestParsePodsAndNodes(t *testing.T) {
	f, err := scenario.Parse(sample)
	require.NoError(t, err)
	w := f.Cases[0].World
	require.Equal(t, "web-2", w.Pods[1].Name)
	spec := w.Pods[0].Spec
	require.Equal(t, map[string]string{"a": "b"}, spec.NodeSelector)
	require.Equal(t, []corev1.NodeSelectorTerm{
		{
			MatchExpressions: []corev1.NodeSelectorRequirement{
				{Key: "cpus", Operator: "Gt", Values: []string{"4"}}, {Key: "cpus", Operator: "Lt", Values: []string{"9"}},
			},
			MatchFields: []corev1.NodeSelectorRequirement{{Key: "metadata.name", Operator: "In", Values: []string{"node-1"}}},
		},
		{},
	}, spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms)
	require.Equal(t, []corev1.Toleration{
		{Operator: "Exists"}, {Key: "dedicated", Operator: "Equal", Value: "batch"}, {Key: "gpu", Operator: "Exists", Effect: "NoExecute"},
	}, spec.Tolerations)
	require.Len(t, spec.SchedulingGates, 1)
	require.Equal(t, int32(80), spec.Containers[0].Ports[0].HostPort)

	old := w.Nodes[0]
	require.True(t, old.Node.Spec.Unschedulable)
	require.Equal(t, "true", old.Node.Labels[v1.NodeInitializedLabelKey])
	require.Equal(t, "general", old.NodeClaim.Labels[v1.NodePoolLabelKey])
	require.Equal(t, old.Node.Status.Allocatable, old.Node.Status.Capacity)
	require.Equal(t, corev1.PodSucceeded, old.Pods[0].Status.Phase)
	require.Equal(t, "agent", old.Pods[1].OwnerReferences[0].Name)
	term := old.Pods[2].Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution[0]
	require.Equal(t, corev1.LabelTopologyZone, term.TopologyKey)
	require.Equal(t, map[string]string{"app": "web", "tier": "gold"}, term.LabelSelector.MatchLabels)
}

func TestUpdate(t *testing.T) {
	f, err := scenario.Parse(sample)
	require.NoError(t, err)
	require.Equal(t, sample+"\n", f.Update([]string{f.Cases[0].Want, ""}), "an empty outcome is an empty line")
	updated := f.Update([]string{"this", "that"})
	again, err := scenario.Parse(updated)
	require.NoError(t, err)
	require.Equal(t, "this", again.Cases[0].Want)
	require.Equal(t, "that", again.Cases[1].Want)
	require.Equal(t, updated, again.Update([]string{"this", "that"}), "an update keeps the rest as it is")

	bare, err := scenario.Parse("No outcome yet.\n\npool general\n")
	require.NoError(t, err)
	require.Equal(t, "No outcome yet.\n\npool general\n----\nnothing\n", bare.Update([]string{"nothing"}))
}

func TestParseFaults(t *testing.T) {
	for _, tc := range []struct{ name, text, says string }{
		{"nothing", "", "line 1: the file must open with a sentence that says what it is about"},
		{"no sentence", "pool general\n", "line 1: the file must open with a sentence that says what it is about"},
		{"kind", "A.\n\nplanet mars\n", `line 3: "planet" is not known`},
		{"property", "A.\n\npool general\n  colour red\n", "line 4: pool general: colour: is not known here"},
		{"property of nothing", "A.\n\n  weight 1\n", `line 3: "weight 1" stands below no declaration`},
		{"property of a line", "A.\n\nshow names\n  weight 1\n", `line 4: "show" takes no lines below it`},
		{"weight", "A.\n\npool general\n  weight heavy\n", `line 4: pool general: weight: strconv.ParseInt: parsing "heavy": invalid syntax`},
		{"amounts", "A.\n\ntype m cpu\n", "line 3: type m: "},
		{"offer", "A.\n\ntype m cpu=1\n  offer a spot\n", `line 4: type m cpu=1: offer: "a spot" is not ZONES CAPACITY-TYPE PRICE`},
		{"offer's end", "A.\n\ntype m cpu=1\n  offer a spot 1 soon\n", `line 4: type m cpu=1: offer: "soon" is not known behind a price`},
		{"labels", "A.\n\npod p\n  labels red\n", `line 4: pod p: labels: "red" is not key=value`},
		{"taints", "A.\n\npool p\n  taints red\n", `line 4: pool p: taints: "red" is not key:Effect or key=value:Effect`},
		{"clauses", "A.\n\npod p\n  term a b\n", "line 4: pod p: term: "},
		{"count", "A.\n\npod p x0\n", `line 3: pod p: "0" is not a count`},
		{"feature", "A.\n\npod p\n  uses magic\n", `line 4: pod p: uses: there is no feature "magic"; use one of gate, `},
		{"stage", "A.\n\nnode n\n  stage asleep\n", `line 3: node n: stage "asleep" is not known`},
		{"repels", "A.\n\nnode n\n  runs p cpu=1 repels app=web\n", `line 4: node n: runs: "app=web" is not LABELS within KEY`},
		{"types", "A.\n\npool general\n  types m\n", `pool general: there is no type "m"`},
		{"option", "A.\n\noptions Speed=9\n", `line 3: option "Speed" is not known; use one of MinValues, MaxSteps, `},
		{"steps", "A.\n\noptions MaxSteps=many\n", `line 3: MaxSteps: strconv.Atoi: parsing "many": invalid syntax`},
		{"alias", "A.\n\nalias zone\n", `line 3: alias: "zone" is not OLD=NEW`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f, err := scenario.Parse(tc.text)
			require.Nil(t, f)
			require.ErrorContains(t, err, tc.says)
		})
	}
	_, err := scenario.Parse("A.\n\npool a\n  colour red\npod p x0\n\ncase b\npool c\n  size 3\n")
	for _, says := range []string{"line 4: ", "line 5: ", "line 9: "} {
		require.ErrorContains(t, err, says, "all faults at once")
	}
}

func TestFeatures(t *testing.T) {
	for _, feature := range scenario.Features() {
		f, err := scenario.Parse("A.\n\npod p\n  uses " + feature + "\n")
		require.NoError(t, err)
		plain, err := scenario.Parse("A.\n\npod p\n")
		require.NoError(t, err)
		require.NotEqual(t, plain.Cases[0].World.Pods, f.Cases[0].World.Pods, feature)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(sample)
	f.Add("A.\n\ncase \n----\n\ncase x\n----\n----\n")
	f.Add(neighbours)
	f.Add(storage)
	f.Add(devices)
	f.Fuzz(func(t *testing.T, text string) {
		file, err := scenario.Parse(text)
		if err != nil {
			return
		}
		outcomes := make([]string, len(file.Cases))
		for i := range file.Cases {
			require.NotNil(t, file.Cases[i].World)
			outcomes[i] = "done"
		}
		updated := file.Update(outcomes)
		again, err := scenario.Parse(updated)
		require.NoError(t, err)
		require.Len(t, again.Cases, len(file.Cases))
		require.Equal(t, updated, again.Update(outcomes))
	})
}
