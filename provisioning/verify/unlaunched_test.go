package verify_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/randproblem"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/scenes"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
	"github.com/dovetail-sdk/dovetail/provisioning/verify"
)

// hope adds a NodeClaim of pool general that nothing is launched for, with the
// requirements given, and binds pod tiny to it.
func (s *scene) hope(text string) *v1.NodeClaim {
	claim := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "hoped", Labels: map[string]string{v1.NodePoolLabelKey: "general"}}}
	claim.Spec.Requirements = requirements.MustParse(text).NodeSelectorRequirements()
	s.In.Nodes = append(s.In.Nodes, provisioning.Node{NodeClaim: claim})
	s.Bind(s.Tiny, "hoped")
	return claim
}

// hope changes a scene by a NodeClaim that no machine stands for, with the requirements of a text.
func hope(text string, more ...func(*scene, *v1.NodeClaim)) func(*scene) {
	return func(s *scene) {
		claim := s.hope(text)
		for _, m := range more {
			m(s, claim)
		}
	}
}

// The claim of most cases may become type small, with 1900m CPU, 3796Mi memory
// and 8 pods to allocate, or large, with 7900m, 16084Mi and 58.
const smallOrLarge = "node.kubernetes.io/instance-type in (large, small)"

func TestUnlaunchedRoom(t *testing.T) {
	ask := func(list string) func(*scene, *v1.NodeClaim) {
		return func(s *scene, _ *v1.NodeClaim) { s.request(s.Tiny, list) }
	}
	broken := rules(verify.RuleResources)
	judge(t, []verdict{
		{"to the last milli-CPU of the smaller type", hope(smallOrLarge, ask("cpu=1800m")), nil, ""},
		{"a milli-CPU too many", hope(smallOrLarge, ask("cpu=1801m")), broken,
			"node hoped: its new pods ask for 1801m of cpu, DaemonSets for 100m and its present pods hold 0, but it can allocate 1900m"},
		{"one type", hope("node.kubernetes.io/instance-type = large", ask("cpu=7800m")), nil, ""},
		{"too much for one type", hope("node.kubernetes.io/instance-type = large", ask("cpu=7801m")), broken, "can allocate 7900m"},
		{"the least of each resource", hope(smallOrLarge, func(s *scene, _ *v1.NodeClaim) {
			s.Large.Capacity = s.Large.Capacity.With(corev1.ResourceMemory, 3<<30)
		}, ask("cpu=1800m, memory=2708Mi")), nil, ""},
		{"less memory on the larger type", hope(smallOrLarge, func(s *scene, _ *v1.NodeClaim) {
			s.Large.Capacity = s.Large.Capacity.With(corev1.ResourceMemory, 3<<30)
		}, ask("memory=2709Mi")), broken, "2709Mi of memory, DaemonSets for 64Mi and its present pods hold 0, but it can allocate 2772Mi"},
		{"a resource that only one type has", hope(smallOrLarge, func(s *scene, _ *v1.NodeClaim) {
			s.Large.Capacity = s.Large.Capacity.With("example.com/gpu", 8)
		}, ask("example.com/gpu=1")), broken, "1 of example.com/gpu, DaemonSets for 0 and its present pods hold 0, but it can allocate 0"},
		{"a resource of the only type", hope("node.kubernetes.io/instance-type = large", func(s *scene, _ *v1.NodeClaim) {
			s.Large.Capacity = s.Large.Capacity.With("example.com/gpu", 8)
		}, ask("example.com/gpu=8")), nil, ""},
		{"types that are sold out count", hope("node.kubernetes.io/instance-type in (gone, large)", ask("cpu=7")), broken, "of cpu"},
		{"no requirements admit every type", hope("", ask("cpu=7")), broken, "of cpu"},
		{"what it may cost in labels", hope("kubernetes.io/os = windows", ask("cpu=3800m")), nil, ""},
		{"too much for the type that its labels leave", hope("kubernetes.io/os = windows", ask("cpu=3801m")), broken, "can allocate 3900m"},
		{"its labels choose too", hope("", func(_ *scene, claim *v1.NodeClaim) {
			claim.Labels[corev1.LabelInstanceTypeStable] = "large"
		}, ask("cpu=7")), nil, ""},
		{"a type that does not name itself", hope("node.kubernetes.io/instance-type = large", func(s *scene, _ *v1.NodeClaim) {
			for _, of := range []*cloudprovider.InstanceType{s.Small, s.Large} {
				of.Requirements = of.Requirements.Without(corev1.LabelInstanceTypeStable)
			}
		}, ask("cpu=7")), nil, ""},
		{"huge pages come off memory", hope("node.kubernetes.io/instance-type = large", func(s *scene, _ *v1.NodeClaim) {
			s.Large.Capacity = s.Large.Capacity.With("hugepages-2Mi", 14<<30)
		}, ask("memory=2Gi")), broken, "can allocate 1748Mi"},

		{"no such type", hope("node.kubernetes.io/instance-type = mars"), broken,
			"node hoped: it has no room: its NodeClaim is not launched, and its requirements admit no instance type of NodePool general"},
		{"no such zone", hope("topology.kubernetes.io/zone = z"), broken, "admit no instance type"},
		{"at odds with itself", hope("example.org/line = day", func(_ *scene, claim *v1.NodeClaim) {
			claim.Labels["example.org/line"] = "night"
		}), broken, "admit no instance type"},
		{"no catalog", hope(smallOrLarge, func(_ *scene, claim *v1.NodeClaim) {
			claim.Labels[v1.NodePoolLabelKey] = "mars"
		}), broken, "admit no instance type of NodePool mars"},
		{"no pool", hope(smallOrLarge, func(_ *scene, claim *v1.NodeClaim) { claim.Labels = nil }), broken, "names no NodePool"},
		{"pool by requirement", hope("karpenter.sh/nodepool = general", func(_ *scene, claim *v1.NodeClaim) { claim.Labels = nil }), nil, ""},
		{"a type in debt", hope(smallOrLarge, func(s *scene, _ *v1.NodeClaim) {
			s.Large.Capacity = s.Large.Capacity.With(corev1.ResourceEphemeralStorage, 1<<30)
			s.Large.Overhead.SystemReserved = resources.MustParse("ephemeral-storage=2Gi")
			s.First().Options = scenes.Options(s.Small)
		}), broken, "an instance type it may become has less ephemeral-storage than it holds back"},
		{"unreadable requirements", hope("", func(_ *scene, claim *v1.NodeClaim) {
			claim.Spec.Requirements = []v1.NodeSelectorRequirementWithMinValues{{Key: "k", Operator: "Near"}}
		}), broken, "what it can allocate cannot be read"},
		{"launched, and no word of its size", hope(smallOrLarge, func(_ *scene, claim *v1.NodeClaim) {
			claim.Status.ProviderID = "id"
		}), broken, "but it can allocate 0"},
		{"launched, with its size", hope(smallOrLarge, func(_ *scene, claim *v1.NodeClaim) {
			claim.Status.ProviderID = "id"
			claim.Status.Allocatable = resources.MustParse("cpu=8, memory=8Gi, pods=9").ResourceList()
		}, ask("cpu=7")), nil, ""},
		{"its size without its name", hope(smallOrLarge, func(_ *scene, claim *v1.NodeClaim) {
			claim.Status.Allocatable = resources.MustParse("cpu=8, memory=8Gi, pods=9").ResourceList()
		}, ask("cpu=7")), nil, ""},
		{"deleted", hope(smallOrLarge, func(_ *scene, claim *v1.NodeClaim) { claim.DeletionTimestamp = &metav1.Time{} }),
			rules(verify.RuleNode), "it is being deleted"},
	})
}

func TestUnlaunchedLabelsAndTaints(t *testing.T) {
	selects := func(key, value string) func(*scene, *v1.NodeClaim) {
		return func(s *scene, _ *v1.NodeClaim) { s.Tiny.Spec.NodeSelector = map[string]string{key: value} }
	}
	broken := rules(verify.RuleRequirements)
	judge(t, []verdict{
		{"label of the claim", hope(smallOrLarge, selects("team", "red"), func(_ *scene, claim *v1.NodeClaim) {
			claim.Labels["team"] = "red"
		}), nil, ""},
		{"requirement with one value", hope(smallOrLarge+", team = red", selects("team", "red")), nil, ""},
		{"other value", hope(smallOrLarge+", team = blue", selects("team", "red")), broken, "refuses the node, which has team=blue"},
		{"requirement with two values", hope(smallOrLarge+", team in (blue, red)", selects("team", "red")), broken, "no team"},
		{"requirements that leave one value", hope(smallOrLarge+", team in (blue, red)", selects("team", "red"), func(_ *scene, claim *v1.NodeClaim) {
			claim.Spec.Requirements = append(claim.Spec.Requirements, v1.NodeSelectorRequirementWithMinValues{
				Key: "team", Operator: corev1.NodeSelectorOpNotIn, Values: []string{"blue"},
			})
		}), nil, ""},
		{"requirement with any value", hope(smallOrLarge+", team", selects("team", "red")), broken, "no team"},
		{"requirement that rules a value out", hope(smallOrLarge+", team notin (blue)", selects("team", "red")), broken, "no team"},
		{"label that must be absent", hope(smallOrLarge+", !team", selects("team", "red")), broken, "no team"},
		{"requirement by an old name", hope(smallOrLarge, selects(corev1.LabelTopologyZone, "a"), func(_ *scene, claim *v1.NodeClaim) {
			claim.Spec.Requirements = append(claim.Spec.Requirements, v1.NodeSelectorRequirementWithMinValues{
				Key: corev1.LabelFailureDomainBetaZone, Operator: corev1.NodeSelectorOpIn, Values: []string{"a"},
			})
		}), nil, ""},
		{"label that only the types settle", hope(smallOrLarge, selects(corev1.LabelArchStable, "amd64")), broken, "no kubernetes.io/arch"},
		{"name of the claim", hope(smallOrLarge, func(s *scene, _ *v1.NodeClaim) { s.onlyOn("hoped") }), broken, ""},
		{"DaemonSet by a requirement", hope(smallOrLarge+", kubernetes.io/os = linux", func(s *scene, _ *v1.NodeClaim) {
			s.daemons("cpu=1, memory=64Mi", map[string]string{corev1.LabelOSStable: "linux"})
			s.Webs[0].Spec.Containers[0].Resources.Requests = resources.MustParse("cpu=300m").ResourceList()
			s.request(s.Night, "cpu=900m")
			s.request(s.Webs[1], "cpu=300m")
			s.request(s.Tiny, "cpu=901m")
		}), rules(verify.RuleResources), "node hoped: its new pods ask for 901m of cpu, DaemonSets for 1 "},
		{"taint", hope(smallOrLarge, func(_ *scene, claim *v1.NodeClaim) {
			claim.Spec.Taints = []corev1.Taint{{Key: "k", Effect: corev1.TaintEffectNoSchedule}}
		}), rules(verify.RuleTaints), "node hoped: pod default/tiny: it does not tolerate k:NoSchedule"},
		{"startup taint", hope(smallOrLarge, func(_ *scene, claim *v1.NodeClaim) {
			claim.Spec.StartupTaints = []corev1.Taint{{Key: "k", Effect: corev1.TaintEffectNoSchedule}}
			claim.Spec.Taints = claim.Spec.StartupTaints
		}), nil, ""},
	})
}

func TestUnlaunchedLimits(t *testing.T) {
	limited := func(list, text string) func(*scene) {
		return func(s *scene) {
			s.hope(text)
			s.General.Spec.Limits = v1.Limits(resources.MustParse(list).ResourceList())
		}
	}
	broken := rules(verify.RuleLimits)
	judge(t, []verdict{
		// Node old has 2 CPUs and 4Gi, and the new node may become large.
		{"the most of its types", limited("cpu=18, memory=36Gi, nodes=3", smallOrLarge), nil, ""},
		{"a CPU less", limited("cpu=17", smallOrLarge), broken, "NodePool general may have 17 of cpu and has 7 left, but its new nodes could add 8"},
		{"a node less", limited("nodes=2", smallOrLarge), broken, "2 of nodes and has 0 left"},
		{"only the smaller type", limited("cpu=12", "node.kubernetes.io/instance-type = small"), nil, ""},
		{"the most of each resource", func(s *scene) {
			limited("cpu=18, memory=84Gi", smallOrLarge)(s)
			s.Small.Capacity = s.Small.Capacity.With(corev1.ResourceMemory, 40<<30)
		}, nil, ""},
		{"a byte less", func(s *scene) {
			limited("memory=90194313215", smallOrLarge)(s)
			s.Small.Capacity = s.Small.Capacity.With(corev1.ResourceMemory, 40<<30)
		}, broken, "of memory"},
		{"no type, still a node", func(s *scene) {
			limited("cpu=10, nodes=2", "node.kubernetes.io/instance-type = mars")(s)
			s.Bind(s.Tiny, "plain")
		}, broken, "2 of nodes and has 0 left"},
		{"no type, no size", func(s *scene) {
			limited("cpu=10, nodes=3", "node.kubernetes.io/instance-type = mars")(s)
			s.Bind(s.Tiny, "plain")
		}, nil, ""},
	})
}

// TestUnplacedOnUnlaunched leaves a pod pending beside a claim that has
// room for it, and beside one that has not.
func TestUnplacedOnUnlaunched(t *testing.T) {
	for text, says := range map[string]string{
		smallOrLarge: "it is left pending, but has a place on node hoped",
		"node.kubernetes.io/instance-type = mars": "",
	} {
		s := newScene()
		s.hope(text)
		s.In.NodePools, s.In.Nodes = nil, s.In.Nodes[3:]
		s.request(s.Huge, "cpu=1700m")
		s.Plan.Create, s.Plan.Bind = nil, s.Plan.Bind[:1]
		if says == "" {
			s.Plan.Bind = nil
			require.Empty(t, verify.Unplaced(s.In, s.Plan, nil))
			continue
		}
		found := verify.Unplaced(s.In, s.Plan, nil)
		require.Len(t, found, 1)
		require.Contains(t, found[0].Message, says)
	}
}

// TestUnlaunchedClaimsTakePods makes sure that the laws are tried on them.
func TestUnlaunchedClaimsTakePods(t *testing.T) {
	t.Parallel()
	bound := 0
	for seed := range lawSeeds(1_500, 500) {
		in := randproblem.New(seed)
		plan := solved(t, in, nil)
		for _, b := range plan.Bind {
			at := slices.IndexFunc(in.Nodes, func(n provisioning.Node) bool { return n.Name() == b.Node })
			if oracleUnlaunched(in.Nodes[at]) {
				require.Equal(t, sound, oracleExisting(in, b.Node, b.Pods), "seed %d", seed)
				bound++
			}
		}
	}
	require.Greater(t, bound, enough(20))
	t.Logf("%d claims take pods", bound)
}
