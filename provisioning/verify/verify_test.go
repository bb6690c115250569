package verify_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/scenes"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
	"github.com/dovetail-sdk/dovetail/provisioning/verify"
)

// verdict is a planted fault and what the referee must make of it.
type verdict struct {
	name  string
	plant func(s *scene)
	rules []verify.Rule // found, each once; none means that the plan stays valid
	says  string        // part of some message
}

func all(plants ...func(*scene)) func(*scene) {
	return func(s *scene) {
		for _, plant := range plants {
			plant(s)
		}
	}
}

func judge(t *testing.T, verdicts []verdict) {
	t.Helper()
	for _, v := range verdicts {
		t.Run(v.name, func(t *testing.T) {
			s := newScene()
			v.plant(s)
			found := verify.Plan(s.In, s.Plan, s.Opts)
			require.True(t, slices.IsSortedFunc(found, compareLines), "violations must be sorted")
			var rules []verify.Rule
			said := v.says == ""
			for _, f := range found {
				rules = append(rules, f.Rule)
				said = said || strings.Contains(f.String(), v.says)
				require.NotContains(t, f.String(), "\n")
				require.NotContains(t, f.String(), "%!", "a message with a formatting fault")
			}
			require.Equal(t, v.rules, slices.Compact(rules), "%v", found)
			require.True(t, said, "no violation says %q: %v", v.says, found)
		})
	}
}

func compareLines(a, b verify.Violation) int {
	return strings.Compare(string(a.Rule)+"\x00"+a.Node+"\x00"+a.Pod+"\x00"+a.Message, string(b.Rule)+"\x00"+b.Node+"\x00"+b.Pod+"\x00"+b.Message)
}

func rules(r ...verify.Rule) []verify.Rule { return r }

func TestAcceptsSoundPlan(t *testing.T) {
	s := newScene()
	require.Empty(t, verify.Plan(s.In, s.Plan, nil))
	require.Empty(t, verify.Unplaced(s.In, s.Plan, nil))
	require.Empty(t, verify.Plan(s.In, s.Plan, &provisioning.Options{MinValues: provisioning.Strict}))
	require.Empty(t, verify.Plan(provisioning.Input{}, &provisioning.Plan{}, nil))
}

func TestLeavesItsArgumentsAlone(t *testing.T) {
	s, untouched := newScene(), newScene()
	verify.Plan(s.In, s.Plan, nil)
	verify.Unplaced(s.In, s.Plan, nil)
	require.Equal(t, untouched.In.Nodes, s.In.Nodes)
	require.Equal(t, untouched.In.Pods, s.In.Pods)
	require.Equal(t, untouched.In.NodePools, s.In.NodePools)
	require.Equal(t, untouched.Plan, s.Plan)
}

func TestIgnoresOrderOfInput(t *testing.T) {
	s := newScene()
	s.First().Options = scenes.Options(s.Gone, s.Open)
	s.Plan.Unplaced = nil
	want := verify.Plan(s.In, s.Plan, nil)
	require.NotEmpty(t, want)
	slices.Reverse(s.In.NodePools)
	slices.Reverse(s.In.Nodes)
	slices.Reverse(s.In.Pods)
	require.Equal(t, want, verify.Plan(s.In, s.Plan, nil))
}

func TestViolationString(t *testing.T) {
	v := verify.Violation{Rule: verify.RuleTaints, Node: "n", Pod: "a/b", Message: "no"}
	require.Equal(t, "taints: node n: pod a/b: no", v.String())
	require.Equal(t, "limits: no", verify.Violation{Rule: verify.RuleLimits, Message: "no"}.String())
}

func TestCompleteness(t *testing.T) {
	judge(t, []verdict{
		{"pod lost", func(s *scene) { s.Plan.Unplaced = nil }, rules(verify.RuleCompleteness), "default/huge: it was asked for, but stands nowhere"},
		{"pod twice", func(s *scene) {
			s.Plan.Unplaced = append(s.Plan.Unplaced, provisioning.Unplaced{Pod: s.Tiny, Explanation: s.Plan.Unplaced[0].Explanation})
		}, rules(verify.RuleCompleteness), "default/tiny: it stands in the plan 2 times, in node old and Unplaced"},
		{"pod nobody asked for", func(s *scene) {
			s.Plan.Bind[0].Pods = append([]*corev1.Pod{scenes.Pod("alien", "1m", "1Mi")}, s.Plan.Bind[0].Pods...)
		}, rules(verify.RuleCompleteness), "default/alien: it was not asked for"},
		{"nil pod", func(s *scene) { s.Plan.Bind[0].Pods = append(s.Plan.Bind[0].Pods, nil) }, rules(verify.RuleCompleteness), "nil"},
		{"node for nobody", func(s *scene) {
			s.Plan.Bind = append(s.Plan.Bind, provisioning.Binding{Node: "plain"})
		}, rules(verify.RuleCompleteness), "lists no pod"},
		{"new node for nobody", func(s *scene) {
			s.Second().Pods, s.Second().Requests = nil, resources.List{}
			delete(s.Night.Spec.NodeSelector, "example.org/line")
			s.Bind(s.Night, "young")
			slices.SortFunc(s.Plan.Bind, func(a, b provisioning.Binding) int { return strings.Compare(a.Node, b.Node) })
		}, rules(verify.RuleCompleteness), "for no pod"},
		{"same name asked for twice, planned twice", func(s *scene) {
			s.In.Pods = append(s.In.Pods, s.Huge)
			s.Plan.Unplaced = append(s.Plan.Unplaced, s.Plan.Unplaced[0])
			s.Plan.Stats.Pods++
		}, rules(verify.RuleInput), "input: pending Pod default/huge is listed twice"},
		{"same name asked for twice, planned once", func(s *scene) {
			s.In.Pods = append(s.In.Pods, s.Huge)
			s.Plan.Stats.Pods++
		}, rules(verify.RuleInput), "list each object once"},
	})
	require.Equal(t, []verify.Violation{{Rule: verify.RuleCompleteness, Message: "there is no plan: it is nil"}},
		verify.Plan(newScene().In, nil, nil))
}

func TestOrder(t *testing.T) {
	judge(t, []verdict{
		{"pools", func(s *scene) { slices.Reverse(s.Plan.Create) }, rules(verify.RuleOrder), "NodePool general is tried before batch"},
		{"options", func(s *scene) { slices.Reverse(s.Second().Options) }, rules(verify.RuleOrder), "options are sorted by price"},
		{"option twice", func(s *scene) {
			s.Second().Options = append([]cloudprovider.LaunchOption{s.Second().Options[0]}, s.Second().Options...)
		}, rules(verify.RuleOrder), "is listed twice"},
		{"pods of a node", func(s *scene) { slices.Reverse(s.First().Pods) }, rules(verify.RuleOrder), "default/web-1: it comes after default/web-2"},
		{"unplaced pods", func(s *scene) {
			s.Plan.Bind = nil
			s.Plan.Unplaced = append([]provisioning.Unplaced{{Pod: s.Tiny, Explanation: s.Plan.Unplaced[0].Explanation}}, s.Plan.Unplaced...)
		}, rules(verify.RuleOrder), "default/huge: it comes after default/tiny"},
		{"bindings", func(s *scene) {
			more := scenes.Pod("tiny-2", "1m", "1Mi")
			s.In.Pods = append(s.In.Pods, more)
			s.Plan.Stats.Pods++
			s.Plan.Bind = []provisioning.Binding{{Node: "plain", Pods: []*corev1.Pod{s.Tiny}}, {Node: "old", Pods: []*corev1.Pod{more}}}
		}, rules(verify.RuleOrder), "node old: its binding comes after that of node plain"},
		{"two bindings of a node", func(s *scene) {
			more := scenes.Pod("tiny-2", "1m", "1Mi")
			s.In.Pods = append(s.In.Pods, more)
			s.Plan.Stats.Pods++
			s.Plan.Bind = append(s.Plan.Bind, provisioning.Binding{Node: "old", Pods: []*corev1.Pod{more}})
		}, rules(verify.RuleOrder), "two bindings"},
		{"nodes of a pool by price", func(s *scene) {
			s.split()
			s.Plan.Create[1].Options = scenes.Options(s.Large)
			s.Plan.Cost += 0.15
		}, rules(verify.RuleOrder), "the dearest nodes of a NodePool come first"},
		{"nodes of a pool by pod", func(s *scene) {
			s.split()
			s.Plan.Create[0].Pods, s.Plan.Create[1].Pods = s.Plan.Create[1].Pods, s.Plan.Create[0].Pods
		}, rules(verify.RuleOrder), "whose first pod comes later"},
		{"nodes of a pool apart", func(s *scene) {
			s.split()
			s.General.Spec.Weight = nil
			s.Plan.Create[1], s.Plan.Create[2] = s.Plan.Create[2], s.Plan.Create[1]
		}, rules(verify.RuleOrder), "side by side"},
		{"split in order", func(s *scene) { s.split() }, nil, ""},
		{"two nodes of a name", func(s *scene) { s.Second().Name = s.First().Name }, rules(verify.RuleOrder), "two new nodes"},
		{"node without a name", func(s *scene) { s.Second().Name = "" }, rules(verify.RuleOrder), "index 1 has no name"},
	})
}

// split gives each of the web pods a node of its own.
func (s *scene) split() {
	other := *s.First()
	other.Name, other.Pods = "general-2", s.Webs[1:]
	s.First().Pods = s.Webs[:1]
	s.First().Requests = resources.MustParse("cpu=500m, memory=1Gi, pods=1")
	other.Requests = s.First().Requests
	s.Plan.Create = slices.Insert(s.Plan.Create, 1, other)
	s.Plan.Cost += other.Price()
}

func TestAccounts(t *testing.T) {
	judge(t, []verdict{
		{"cost", func(s *scene) { s.Plan.Cost += 0.001 }, rules(verify.RuleAccounts), "Cost is 0.101 USD/h, but the cheapest options of the new nodes sum up to 0.1 USD/h"},
		{"cost is no number", func(s *scene) { s.Plan.Cost = math.NaN() }, rules(verify.RuleAccounts), "Cost is NaN"},
		{"bound above cost", func(s *scene) { s.Plan.LowerBound = s.Plan.Cost * 1.001 }, rules(verify.RuleAccounts), "LowerBound is 0.1001 USD/h, above"},
		{"bound of the packing above cost", func(s *scene) { s.Plan.PackingBound = s.Plan.Cost * 1.001 }, rules(verify.RuleAccounts), "PackingBound is 0.1001 USD/h, above"},
		{"bound of the packing is no number", func(s *scene) { s.Plan.PackingBound = math.NaN() }, rules(verify.RuleAccounts), "PackingBound is NaN"},
		{"bound of the objective above cost", func(s *scene) { s.Plan.ObjectiveBound = s.Plan.Cost * 1.001 }, rules(verify.RuleAccounts), "ObjectiveBound is 0.1001 USD/h, above"},
		{"bound above the cost of another plan", func(s *scene) {
			s.Second().Options = scenes.Options(s.Large)
			s.Plan.Cost = s.First().Price() + s.Second().Price()
			s.Plan.LowerBound = s.Plan.Cost
		}, rules(verify.RuleAccounts), "LowerBound is 0.25 USD/h, but the same pods on as many nodes cost 0.1 USD/h where each is launched as the cheapest option that holds its pods"},
		{"bound equals cost", func(s *scene) { s.Plan.LowerBound = s.Plan.Cost * (1 + 1e-15) }, nil, ""},
		{"bound below zero", func(s *scene) { s.Plan.LowerBound = -1 }, rules(verify.RuleAccounts), "not negative"},
		{"bound is no number", func(s *scene) { s.Plan.LowerBound = math.NaN() }, rules(verify.RuleAccounts), "LowerBound is NaN"},
		{"bound is infinite", func(s *scene) { s.Plan.LowerBound = math.Inf(1) }, rules(verify.RuleAccounts), "LowerBound is +Inf"},
		{"pods counted", func(s *scene) { s.Plan.Stats.Pods = 4 }, rules(verify.RuleAccounts), "Stats.Pods is 4"},
		{"requests", func(s *scene) { s.First().Requests = s.First().Requests.With(corev1.ResourceCPU, 999) },
			rules(verify.RuleAccounts), "Requests says 999m of cpu, its pods ask for 1"},
		{"requests of pods", func(s *scene) { s.First().Requests = s.First().Requests.Without(corev1.ResourcePods) },
			rules(verify.RuleAccounts), "Requests says 0 of pods, its pods ask for 2"},
		{"daemons", func(s *scene) { s.First().Daemons = resources.List{} }, rules(verify.RuleAccounts), "Daemons says 0 of cpu, but the least on any option is 100m"},
		{"daemons of another resource", func(s *scene) { s.First().Daemons = s.First().Daemons.With("example.com/gpu", 1) },
			rules(verify.RuleAccounts), "Daemons says 1 of example.com/gpu"},
	})
}

func TestReasons(t *testing.T) {
	because := func(r *provisioning.Explanation) func(*scene) {
		return func(s *scene) { s.Plan.Unplaced[0].Explanation = r }
	}
	blames := func(pool string, cause provisioning.Cause) func(*scene) {
		return because(&provisioning.Explanation{Cause: provisioning.CauseNodePools, Pools: []provisioning.PoolExplanation{{NodePool: pool, Cause: cause}}})
	}
	unsupported := func(plant func(*scene, *corev1.Pod)) func(*scene) {
		return func(s *scene) {
			plant(s, s.Plan.Unplaced[0].Pod)
			s.Plan.Unplaced[0].Explanation = &provisioning.Explanation{Cause: provisioning.CauseUnsupported, Detail: "it"}
		}
	}
	servedBy := func(name string) func(*scene, *corev1.Pod) {
		return func(s *scene, pod *corev1.Pod) {
			pod.Spec.Containers[0].Resources.Requests[corev1.ResourceName(name)] = resource.MustParse("1")
			s.In.Devices.Classes = []*resourcev1.DeviceClass{nil, {Spec: resourcev1.DeviceClassSpec{ExtendedResourceName: &name}}}
		}
	}
	judge(t, []verdict{
		{"no reason", because(nil), rules(verify.RuleReason), "without a reason"},
		{"no cause", because(&provisioning.Explanation{}), rules(verify.RuleReason), "no cause"},
		{"unknown pool", blames("nowhere", provisioning.CauseResources), rules(verify.RuleReason), `NodePool "nowhere"`},
		{"no limits to blame", blames("general", provisioning.CauseLimits), rules(verify.RuleReason), "blames the limits"},
		{"no taints to blame", blames("general", provisioning.CauseTaints), rules(verify.RuleReason), "blames the taints"},
		{"taints to blame", blames("batch", provisioning.CauseTaints), nil, ""},
		{"nothing unsupported", because(&provisioning.Explanation{Cause: provisioning.CauseUnsupported, Detail: "magic"}),
			rules(verify.RuleReason), `says that "magic" is not supported`},
		{"a group of pods", unsupported(func(_ *scene, pod *corev1.Pod) { pod.Spec.SchedulingGroup = &corev1.PodSchedulingGroup{} }), nil, ""},
		{"a feature that nodes declare", unsupported(func(_ *scene, pod *corev1.Pod) {
			pod.Spec.HostNetwork, pod.Spec.HostUsers = true, new(bool)
		}), nil, ""},
		{"a resource that only devices serve", unsupported(servedBy("example.com/tpu")), nil, ""},
		{"a resource that devices serve, and nodes", unsupported(servedBy("cpu")), rules(verify.RuleReason), "not supported"},
	})
}

func TestPools(t *testing.T) {
	judge(t, []verdict{
		{"nil", func(s *scene) { s.Second().Pool = nil }, rules(verify.RulePool), "it has no NodePool"},
		{"unknown", func(s *scene) { s.In.NodePools = s.In.NodePools[1:] }, rules(verify.RulePool), `NodePool "batch" is not in the input`},
		{"deleted", func(s *scene) { s.Batch.DeletionTimestamp = &metav1.Time{} }, rules(verify.RulePool), "it is being deleted"},
		{"static", func(s *scene) { s.Batch.Spec.Replicas = new(int64) }, rules(verify.RulePool), "it is static"},
		{"not ready", func(s *scene) {
			s.Batch.Status.Conditions = []metav1.Condition{{Type: "Ready", Status: metav1.ConditionUnknown}}
		}, rules(verify.RulePool), "it is not ready"},
		{"ready", func(s *scene) {
			s.Batch.Status.Conditions = []metav1.Condition{{Type: "Ready", Status: metav1.ConditionTrue}, {Type: "Other", Status: metav1.ConditionFalse}}
		}, nil, ""},
		{"broken requirements", func(s *scene) {
			s.Batch.Spec.Template.Spec.Requirements[0].Operator = "Near"
		}, rules(verify.RulePool, verify.RuleRequirements), "cannot be read"},
	})
}

func TestOfferings(t *testing.T) {
	copyOf := func(o *cloudprovider.Offering, change func(*cloudprovider.Offering)) *cloudprovider.Offering {
		c := *o
		change(&c)
		return &c
	}
	judge(t, []verdict{
		{"sold out", func(s *scene) {
			s.Second().Options = scenes.Options(s.Gone)
			s.Plan.Cost += 0.005 - 0.05
			s.Plan.LowerBound = 0
		}, rules(verify.RuleOffering), "option gone/a/spot is not available (so do 4 of its options in all)"},
		{"not in the catalog", func(s *scene) { s.In.InstanceTypes["batch"] = s.In.InstanceTypes["batch"][1:] },
			rules(verify.RuleOffering), "instance type small is not in the catalog of NodePool batch"},
		{"offering of another type", func(s *scene) {
			s.Second().Options = []cloudprovider.LaunchOption{{InstanceType: s.Small, Offering: copyOf(&s.Small.Offerings[1], func(o *cloudprovider.Offering) { o.Zone = "z" })}}
		}, rules(verify.RuleOffering), "instance type small has no such offering"},
		{"price invented", func(s *scene) {
			s.Second().Options = []cloudprovider.LaunchOption{{InstanceType: s.Small, Offering: copyOf(&s.Small.Offerings[1], func(o *cloudprovider.Offering) { o.Price = 0.04 })}}
			s.Plan.Cost -= 0.01
			s.Plan.LowerBound = 0
		}, rules(verify.RuleOffering), "listed at 0.04 USD/h, the catalog says 0.05 USD/h"},
		{"availability invented", func(s *scene) {
			available := copyOf(&s.Gone.Offerings[1], func(o *cloudprovider.Offering) { o.Available = true })
			s.Second().Options = []cloudprovider.LaunchOption{{InstanceType: s.Gone, Offering: available}}
			s.Plan.Cost += 0.005 - 0.05
			s.Plan.LowerBound = 0
		}, rules(verify.RuleOffering), "option gone/a/spot is not available"},
		{"an equal copy will do", func(s *scene) {
			small := *s.Small
			small.Offerings = slices.Clone(s.Small.Offerings)
			s.Second().Options = scenes.Options(&small)
		}, nil, ""},
		{"no options", func(s *scene) {
			s.Second().Options = nil
			s.Plan.Cost, s.Plan.LowerBound = 0.05, 0
		}, rules(verify.RuleOffering), "it has no options"},
		{"option without type", func(s *scene) {
			s.Second().Options = append(s.Second().Options, cloudprovider.LaunchOption{Offering: s.Second().Options[0].Offering})
		}, rules(verify.RuleOffering), "index 4 lacks its instance type or offering"},
		{"option without offering", func(s *scene) {
			s.Second().Options = append(s.Second().Options, cloudprovider.LaunchOption{InstanceType: s.Small})
		}, rules(verify.RuleOffering), "index 4 lacks"},
		{"reservation oversold", func(s *scene) {
			s.reserve(1)
			for i := range s.Plan.Create {
				s.Plan.Create[i].Options = scenes.Options(s.Small)
			}
			s.Plan.Cost, s.Plan.LowerBound = 0.002, 0
		}, rules(verify.RuleReservation), "2 new nodes count on reservation cr-1, which has room for 1"},
		{"reservation", func(s *scene) {
			s.reserve(1)
			s.Second().Options = scenes.Options(s.Small)
			s.Plan.Cost, s.Plan.LowerBound = 0.051, 0
		}, nil, ""},
		{"full reservation", func(s *scene) {
			s.reserve(0)
			s.Second().Options = scenes.Options(s.Small)
			s.Plan.Cost, s.Plan.LowerBound = 0.051, 0
		}, rules(verify.RuleOffering, verify.RuleReservation), "small/a/reserved/cr-1 is not available"},
	})
}

// reserve adds a reservation for type small; plans made before do not see it.
func (s *scene) reserve(capacity int) {
	// The plan points at the offerings, which must not move.
	before := s.Small.Offerings
	s.Small.Offerings = append(slices.Clone(before), cloudprovider.Offering{
		Zone: "a", CapacityType: v1.CapacityTypeReserved, ReservationID: "cr-1", ReservationCapacity: capacity, Price: 0.001, Available: true,
	})
	s.Small.Requirements = s.Small.Requirements.Without(v1.CapacityTypeLabelKey)
}

func TestFeatures(t *testing.T) {
	restarts := func(pod *corev1.Pod) {
		pod.Spec.Containers[0].RestartPolicyRules = []corev1.ContainerRestartRule{{Action: corev1.ContainerRestartRuleActionRestartAllContainers}}
	}
	feature := "RestartAllContainersOnContainerExits"
	judge(t, []verdict{
		{"not declared", func(s *scene) { restarts(s.Tiny) }, rules(verify.RuleFeatures), "node old: pod default/tiny: it needs the feature " + feature},
		{"declared", func(s *scene) { restarts(s.Tiny); s.Old.Node.Status.DeclaredFeatures = []string{feature} }, nil, ""},
		{"of users on the network of the host", func(s *scene) {
			s.Tiny.Spec.HostNetwork, s.Tiny.Spec.HostUsers = true, new(false)
		}, rules(verify.RuleFeatures), "UserNamespacesHostNetworkSupport"},
		{"a new node", func(s *scene) { restarts(s.Night) }, rules(verify.RuleFeatures), "node batch-1: pod default/night-1: it needs the feature " + feature},
	})
}

func TestTaints(t *testing.T) {
	taint := func(taints ...corev1.Taint) func(*scene) {
		return func(s *scene) { s.Batch.Spec.Template.Spec.Taints = taints }
	}
	tolerate := func(taint corev1.Taint, tolerations ...corev1.Toleration) func(*scene) {
		return func(s *scene) {
			s.Batch.Spec.Template.Spec.Taints = []corev1.Taint{taint}
			s.Night.Spec.Tolerations = tolerations
		}
	}
	numeric := corev1.Taint{Key: "rank", Value: "7", Effect: corev1.TaintEffectNoSchedule}
	judge(t, []verdict{
		{"none tolerated", func(s *scene) { s.Night.Spec.Tolerations = nil }, rules(verify.RuleTaints),
			"batch-1: pod default/night-1: it does not tolerate dedicated=batch:NoSchedule"},
		{"NoExecute", taint(corev1.Taint{Key: "k", Effect: corev1.TaintEffectNoExecute}), rules(verify.RuleTaints), "k:NoExecute"},
		{"other value", taint(corev1.Taint{Key: "dedicated", Value: "web", Effect: corev1.TaintEffectNoSchedule}), rules(verify.RuleTaints), "dedicated=web:NoSchedule"},
		{"PreferNoSchedule", taint(corev1.Taint{Key: "k", Effect: corev1.TaintEffectPreferNoSchedule}), nil, ""},
		{"no taints", taint(), nil, ""},
		{"everything tolerated", tolerate(numeric, corev1.Toleration{Operator: corev1.TolerationOpExists}), nil, ""},
		{"key tolerated", tolerate(numeric, corev1.Toleration{Key: "rank", Operator: corev1.TolerationOpExists}), nil, ""},
		{"other effect tolerated", tolerate(numeric, corev1.Toleration{Key: "rank", Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute}), rules(verify.RuleTaints), ""},
		{"below bound", tolerate(numeric, corev1.Toleration{Key: "rank", Operator: corev1.TolerationOpLt, Value: "8"}), nil, ""},
		{"not below bound", tolerate(numeric, corev1.Toleration{Key: "rank", Operator: corev1.TolerationOpLt, Value: "7"}), rules(verify.RuleTaints), ""},
		{"above bound", tolerate(numeric, corev1.Toleration{Key: "rank", Operator: corev1.TolerationOpGt, Value: "-1"}), nil, ""},
		{"bound is no number", tolerate(numeric, corev1.Toleration{Key: "rank", Operator: corev1.TolerationOpGt, Value: "06"}), rules(verify.RuleTaints), ""},
		{"unknown operator", tolerate(numeric, corev1.Toleration{Key: "rank", Operator: "Near", Value: "7"}), rules(verify.RuleTaints), ""},
	})
}

// scene is a scene with methods that change it.
type scene struct{ *scenes.Scene }

func newScene() *scene { return &scene{scenes.New()} }
