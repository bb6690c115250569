package family_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/benchmarks/internal/family"
	"github.com/dovetail-sdk/dovetail/benchmarks/scenario"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

const app = "app.kubernetes.io/name"

// workloads returns a pod of each workload, and how many replicas it has.
func workloads(pods []*corev1.Pod) (map[string]*corev1.Pod, map[string]int) {
	one, replicas := map[string]*corev1.Pod{}, map[string]int{}
	for _, p := range pods {
		one[p.Labels[app]] = p
		replicas[p.Labels[app]]++
	}
	return one, replicas
}

func TestProductionHasItsShares(t *testing.T) {
	const n = 242 // for 2,000 pods
	s := generate(t, family.Spec{Family: "production", Pods: 2000, Types: "aws", Seed: 3})
	one, replicas := workloads(s.Pods)
	require.Len(t, one, n)
	most := 0
	for _, r := range replicas {
		most = max(most, r)
	}
	require.Greater(t, most, 2000/n*5, "few workloads have most of the replicas")

	spaces := map[string]bool{}
	got := map[string]int{}
	count := func(what string, is bool) {
		if is {
			got[what]++
		}
	}
	for name, p := range one {
		spaces[p.Namespace] = true
		spec := &p.Spec
		_, gpu := spec.Containers[0].Resources.Requests[awsv1.ResourceNVIDIAGPU]
		count("gpu", gpu)
		count("arm", spec.NodeSelector[corev1.LabelArchStable] == "arm64")
		count("spot", spec.NodeSelector["karpenter.sh/capacity-type"] == "spot")
		for _, c := range spec.TopologySpreadConstraints {
			count("spread "+string(c.WhenUnsatisfiable), true)
			require.False(t, gpu)
		}
		count("port", spec.Containers[0].Ports[0].HostPort != 0)
		if spec.Containers[0].Ports[0].HostPort != 0 {
			require.LessOrEqual(t, replicas[name], 4)
		}
		if a := spec.Affinity; a != nil {
			count("either", a.NodeAffinity != nil && a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution != nil)
			count("wish", a.NodeAffinity != nil && a.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution != nil)
			count("alone", a.PodAntiAffinity != nil && a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution != nil)
			count("apart", a.PodAntiAffinity != nil && a.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution != nil)
		}
	}
	require.Len(t, spaces, 8)
	require.Equal(t, map[string]int{
		"gpu": 13, "arm": 13, "spot": 25, "either": 25, // of 242, rounded up
		"port": 3, "alone": 25, "spread DoNotSchedule": 73, "spread ScheduleAnyway": 13, "apart": 13, "wish": 13,
	}, got)
	require.Len(t, s.DaemonSetPods, 5)
	require.Len(t, s.NodePools, 4)
}

func TestDiverseHasFifths(t *testing.T) {
	s := generate(t, family.Spec{Family: "diverse", Pods: 203, Types: "fake400", Seed: 1})
	got := map[string]int{}
	for _, p := range s.Pods {
		switch a := p.Spec.Affinity; {
		case len(p.Spec.TopologySpreadConstraints) > 0:
			got[p.Spec.TopologySpreadConstraints[0].TopologyKey]++
		case a == nil:
			got["generic"]++
		case a.PodAffinity != nil:
			got["affinity"]++
		case a.PodAntiAffinity != nil:
			got["anti-affinity"]++
		}
	}
	require.Equal(t, map[string]int{
		"generic": 43, corev1.LabelTopologyZone: 40, corev1.LabelHostname: 40, "affinity": 40, "anti-affinity": 40,
	}, got)
}

func TestNodesHoldWhatRunsOnThem(t *testing.T) {
	for _, test := range []struct {
		family    string
		low, high float64 // mean share of CPU or memory, whichever is larger
	}{{"mixedexisting", 0.50, 0.70}, {"consolidate", 0.28, 0.60}} {
		s := generate(t, family.Spec{Family: test.family, Pods: 1000, Nodes: 80, Types: "aws", Seed: 2})
		sum, ordinary := 0.0, 0
		for _, n := range s.Nodes {
			used := requests(t, n.Pods)
			room, err := resources.FromResourceList(n.Node.Status.Allocatable)
			require.NoError(t, err)
			require.Empty(t, used.Exceeds(room), n.Name())
			require.Equal(t, n.Node.Spec.ProviderID, n.NodeClaim.Status.ProviderID)
			require.Equal(t, n.Node.Name, n.NodeClaim.Status.NodeName)
			if n.Node.Labels["karpenter.sh/nodepool"] == "gpu" {
				continue
			}
			ordinary++
			sum += max(share(used, room, corev1.ResourceCPU), share(used, room, corev1.ResourceMemory))
		}
		require.Greater(t, sum/float64(ordinary), test.low, test.family)
		require.Less(t, sum/float64(ordinary), test.high, test.family)
		checkApart(t, s)
	}
}

func requests(t *testing.T, pods []*corev1.Pod) resources.List {
	t.Helper()
	var sum resources.List
	for _, p := range pods {
		r, err := resources.PodRequests(p)
		require.NoError(t, err)
		sum, err = sum.Add(r)
		require.NoError(t, err)
	}
	return sum
}

func share(used, room resources.List, name corev1.ResourceName) float64 {
	return float64(used.Get(name)) / float64(room.Get(name))
}

// checkApart asks of what runs already that it keeps the rules: strict spreading
// over zones, one replica to a node, tolerated taints.
func checkApart(t *testing.T, s *scenario.Scenario) {
	t.Helper()
	perZone := map[string]map[string]int{}
	for _, n := range s.Nodes {
		seen := map[string]bool{}
		for _, p := range n.Pods {
			name := p.Labels[app]
			anti := p.Spec.Affinity != nil && p.Spec.Affinity.PodAntiAffinity != nil &&
				p.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution != nil
			require.False(t, anti && seen[name], name)
			seen[name] = true
			for key, value := range p.Spec.NodeSelector {
				require.Equal(t, value, n.Node.Labels[key], p.Name)
			}
			for _, c := range p.Spec.TopologySpreadConstraints {
				if c.WhenUnsatisfiable == corev1.DoNotSchedule {
					if perZone[name] == nil {
						perZone[name] = map[string]int{}
					}
					perZone[name][n.Node.Labels[corev1.LabelTopologyZone]]++
				}
			}
		}
	}
	require.NotEmpty(t, perZone)
	for name, zones := range perZone {
		least, most := 1<<30, 0
		for _, zone := range []string{"us-east-1a", "us-east-1b", "us-east-1c", "us-east-1d"} {
			least, most = min(least, zones[zone]), max(most, zones[zone])
		}
		require.LessOrEqual(t, most-least, 1, name)
	}
}

func TestBudgetsMatchWhatRuns(t *testing.T) {
	s := generate(t, family.Spec{Family: "consolidate", Nodes: 80, Types: "aws", Seed: 2})
	var all []*corev1.Pod
	for _, n := range s.Nodes {
		all = append(all, n.Pods...)
	}
	_, replicas := workloads(all)
	require.NotEmpty(t, s.PodDisruptionBudgets)
	for _, b := range s.PodDisruptionBudgets {
		require.EqualValues(t, replicas[b.Name], b.Status.ExpectedPods)
		require.Equal(t, b.Status.CurrentHealthy-b.Status.DesiredHealthy, b.Status.DisruptionsAllowed)
	}
}
