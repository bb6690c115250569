package provisioning_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// verdict is a planted fault and what Verify must make of it.
type verdict struct {
	name  string
	plant func(s *scene)
	rules []provisioning.Rule // found, each once; none means that the plan stays valid
	says  string              // part of some message
}

func judge(t *testing.T, verdicts []verdict) {
	t.Helper()
	for _, v := range verdicts {
		t.Run(v.name, func(t *testing.T) {
			s := newScene()
			v.plant(s)
			found := provisioning.Verify(s.in, s.plan, s.opts)
			require.True(t, slices.IsSortedFunc(found, compareLines), "violations must be sorted")
			var rules []provisioning.Rule
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

func compareLines(a, b provisioning.Violation) int {
	return strings.Compare(string(a.Rule)+"\x00"+a.Node+"\x00"+a.Pod+"\x00"+a.Message, string(b.Rule)+"\x00"+b.Node+"\x00"+b.Pod+"\x00"+b.Message)
}

func rules(r ...provisioning.Rule) []provisioning.Rule { return r }

func TestVerifyAcceptsSoundPlan(t *testing.T) {
	s := newScene()
	require.Empty(t, provisioning.Verify(s.in, s.plan, nil))
	require.Empty(t, provisioning.VerifyUnplaced(s.in, s.plan, nil))
	require.Empty(t, provisioning.Verify(s.in, s.plan, &provisioning.Options{MinValues: provisioning.Strict}))
	require.Empty(t, provisioning.Verify(provisioning.Input{}, &provisioning.Plan{}, nil))
}

func TestVerifyLeavesItsArgumentsAlone(t *testing.T) {
	s, untouched := newScene(), newScene()
	provisioning.Verify(s.in, s.plan, nil)
	provisioning.VerifyUnplaced(s.in, s.plan, nil)
	require.Equal(t, untouched.in.Nodes, s.in.Nodes)
	require.Equal(t, untouched.in.Pods, s.in.Pods)
	require.Equal(t, untouched.in.NodePools, s.in.NodePools)
	require.Equal(t, untouched.plan, s.plan)
}

func TestVerifyIgnoresOrderOfInput(t *testing.T) {
	s := newScene()
	s.first().Options = sceneOptions(s.gone, s.open)
	s.plan.Unplaced = nil
	want := provisioning.Verify(s.in, s.plan, nil)
	require.NotEmpty(t, want)
	slices.Reverse(s.in.NodePools)
	slices.Reverse(s.in.Nodes)
	slices.Reverse(s.in.Pods)
	require.Equal(t, want, provisioning.Verify(s.in, s.plan, nil))
}

func TestViolationString(t *testing.T) {
	v := provisioning.Violation{Rule: provisioning.RuleTaints, Node: "n", Pod: "a/b", Message: "no"}
	require.Equal(t, "taints: node n: pod a/b: no", v.String())
	require.Equal(t, "limits: no", provisioning.Violation{Rule: provisioning.RuleLimits, Message: "no"}.String())
}

func TestVerifyCompleteness(t *testing.T) {
	judge(t, []verdict{
		{"pod lost", func(s *scene) { s.plan.Unplaced = nil }, rules(provisioning.RuleCompleteness), "default/huge: it was asked for, but stands nowhere"},
		{"pod twice", func(s *scene) {
			s.plan.Unplaced = append(s.plan.Unplaced, provisioning.Unplaced{Pod: s.tiny, Reason: s.plan.Unplaced[0].Reason})
		}, rules(provisioning.RuleCompleteness), "default/tiny: it stands in the plan 2 times, in node old and Unplaced"},
		{"pod nobody asked for", func(s *scene) {
			s.plan.Bind[0].Pods = append([]*corev1.Pod{scenePod("alien", "1m", "1Mi")}, s.plan.Bind[0].Pods...)
		}, rules(provisioning.RuleCompleteness), "default/alien: it was not asked for"},
		{"nil pod", func(s *scene) { s.plan.Bind[0].Pods = append(s.plan.Bind[0].Pods, nil) }, rules(provisioning.RuleCompleteness), "nil"},
		{"node for nobody", func(s *scene) {
			s.plan.Bind = append(s.plan.Bind, provisioning.Binding{Node: "plain"})
		}, rules(provisioning.RuleCompleteness), "lists no pod"},
		{"new node for nobody", func(s *scene) {
			s.second().Pods, s.second().Requests = nil, resources.List{}
			delete(s.night.Spec.NodeSelector, "example.org/line")
			s.bind(s.night, "young")
			slices.SortFunc(s.plan.Bind, func(a, b provisioning.Binding) int { return strings.Compare(a.Node, b.Node) })
		}, rules(provisioning.RuleCompleteness), "for no pod"},
		{"same name asked for twice, planned twice", func(s *scene) {
			s.in.Pods = append(s.in.Pods, s.huge)
			s.plan.Unplaced = append(s.plan.Unplaced, s.plan.Unplaced[0])
			s.plan.Stats.Pods++
		}, nil, ""},
		{"same name asked for twice, planned once", func(s *scene) {
			s.in.Pods = append(s.in.Pods, s.huge)
			s.plan.Stats.Pods++
		}, rules(provisioning.RuleCompleteness), "the input lists it 2 times, the plan 1 times"},
	})
	require.Equal(t, []provisioning.Violation{{Rule: provisioning.RuleCompleteness, Message: "there is no plan: it is nil"}},
		provisioning.Verify(newScene().in, nil, nil))
}

func TestVerifyOrder(t *testing.T) {
	judge(t, []verdict{
		{"pools", func(s *scene) { slices.Reverse(s.plan.Create) }, rules(provisioning.RuleOrder), "NodePool general is tried before batch"},
		{"options", func(s *scene) { slices.Reverse(s.second().Options) }, rules(provisioning.RuleOrder), "options are sorted by price"},
		{"option twice", func(s *scene) {
			s.second().Options = append([]cloudprovider.LaunchOption{s.second().Options[0]}, s.second().Options...)
		}, rules(provisioning.RuleOrder), "is listed twice"},
		{"pods of a node", func(s *scene) { slices.Reverse(s.first().Pods) }, rules(provisioning.RuleOrder), "default/web-1: it comes after default/web-2"},
		{"unplaced pods", func(s *scene) {
			s.plan.Bind = nil
			s.plan.Unplaced = append([]provisioning.Unplaced{{Pod: s.tiny, Reason: s.plan.Unplaced[0].Reason}}, s.plan.Unplaced...)
		}, rules(provisioning.RuleOrder), "default/huge: it comes after default/tiny"},
		{"bindings", func(s *scene) {
			more := scenePod("tiny-2", "1m", "1Mi")
			s.in.Pods = append(s.in.Pods, more)
			s.plan.Stats.Pods++
			s.plan.Bind = []provisioning.Binding{{Node: "plain", Pods: []*corev1.Pod{s.tiny}}, {Node: "old", Pods: []*corev1.Pod{more}}}
		}, rules(provisioning.RuleOrder), "node old: its binding comes after that of node plain"},
		{"two bindings of a node", func(s *scene) {
			more := scenePod("tiny-2", "1m", "1Mi")
			s.in.Pods = append(s.in.Pods, more)
			s.plan.Stats.Pods++
			s.plan.Bind = append(s.plan.Bind, provisioning.Binding{Node: "old", Pods: []*corev1.Pod{more}})
		}, rules(provisioning.RuleOrder), "two bindings"},
		{"nodes of a pool by price", func(s *scene) {
			s.split()
			s.plan.Create[1].Options = sceneOptions(s.large)
			s.plan.Cost += 0.15
		}, rules(provisioning.RuleOrder), "the dearest nodes of a NodePool come first"},
		{"nodes of a pool by pod", func(s *scene) {
			s.split()
			s.plan.Create[0].Pods, s.plan.Create[1].Pods = s.plan.Create[1].Pods, s.plan.Create[0].Pods
		}, rules(provisioning.RuleOrder), "whose first pod comes later"},
		{"nodes of a pool apart", func(s *scene) {
			s.split()
			s.general.Spec.Weight = nil
			s.plan.Create[1], s.plan.Create[2] = s.plan.Create[2], s.plan.Create[1]
		}, rules(provisioning.RuleOrder), "side by side"},
		{"split in order", func(s *scene) { s.split() }, nil, ""},
		{"two nodes of a name", func(s *scene) { s.second().Name = s.first().Name }, rules(provisioning.RuleOrder), "two new nodes"},
		{"node without a name", func(s *scene) { s.second().Name = "" }, rules(provisioning.RuleOrder), "index 1 has no name"},
	})
}

// split gives each of the web pods a node of its own.
func (s *scene) split() {
	other := *s.first()
	other.Name, other.Pods = "general-2", s.webs[1:]
	s.first().Pods = s.webs[:1]
	s.first().Requests = resources.MustParse("cpu=500m, memory=1Gi, pods=1")
	other.Requests = s.first().Requests
	s.plan.Create = slices.Insert(s.plan.Create, 1, other)
	s.plan.Cost += other.Price()
}

func TestVerifyAccounts(t *testing.T) {
	judge(t, []verdict{
		{"cost", func(s *scene) { s.plan.Cost += 0.001 }, rules(provisioning.RuleAccounts), "Cost is 0.101 USD/h, but the cheapest options of the new nodes sum up to 0.1 USD/h"},
		{"cost is no number", func(s *scene) { s.plan.Cost = math.NaN() }, rules(provisioning.RuleAccounts), "Cost is NaN"},
		{"bound above cost", func(s *scene) { s.plan.LowerBound = s.plan.Cost * 1.001 }, rules(provisioning.RuleAccounts), "LowerBound is 0.1001 USD/h, above"},
		{"bound of the packing above cost", func(s *scene) { s.plan.PackingBound = s.plan.Cost * 1.001 }, rules(provisioning.RuleAccounts), "PackingBound is 0.1001 USD/h, above"},
		{"bound of the packing is no number", func(s *scene) { s.plan.PackingBound = math.NaN() }, rules(provisioning.RuleAccounts), "PackingBound is NaN"},
		{"bound equals cost", func(s *scene) { s.plan.LowerBound = s.plan.Cost * (1 + 1e-15) }, nil, ""},
		{"bound below zero", func(s *scene) { s.plan.LowerBound = -1 }, rules(provisioning.RuleAccounts), "not negative"},
		{"bound is no number", func(s *scene) { s.plan.LowerBound = math.NaN() }, rules(provisioning.RuleAccounts), "LowerBound is NaN"},
		{"bound is infinite", func(s *scene) { s.plan.LowerBound = math.Inf(1) }, rules(provisioning.RuleAccounts), "LowerBound is +Inf"},
		{"pods counted", func(s *scene) { s.plan.Stats.Pods = 4 }, rules(provisioning.RuleAccounts), "Stats.Pods is 4"},
		{"requests", func(s *scene) { s.first().Requests = s.first().Requests.With(corev1.ResourceCPU, 999) },
			rules(provisioning.RuleAccounts), "Requests says 999m of cpu, its pods ask for 1"},
		{"requests of pods", func(s *scene) { s.first().Requests = s.first().Requests.Without(corev1.ResourcePods) },
			rules(provisioning.RuleAccounts), "Requests says 0 of pods, its pods ask for 2"},
		{"daemons", func(s *scene) { s.first().Daemons = resources.List{} }, rules(provisioning.RuleAccounts), "Daemons says 0 of cpu, but the least on any option is 100m"},
		{"daemons of another resource", func(s *scene) { s.first().Daemons = s.first().Daemons.With("example.com/gpu", 1) },
			rules(provisioning.RuleAccounts), "Daemons says 1 of example.com/gpu"},
	})
}

func TestVerifyReasons(t *testing.T) {
	because := func(r *provisioning.Reason) func(*scene) { return func(s *scene) { s.plan.Unplaced[0].Reason = r } }
	blames := func(pool string, cause provisioning.Cause) func(*scene) {
		return because(&provisioning.Reason{Cause: provisioning.CauseNodePools, Pools: []provisioning.PoolReason{{NodePool: pool, Cause: cause}}})
	}
	judge(t, []verdict{
		{"no reason", because(nil), rules(provisioning.RuleReason), "without a reason"},
		{"no cause", because(&provisioning.Reason{}), rules(provisioning.RuleReason), "no cause"},
		{"unknown pool", blames("nowhere", provisioning.CauseResources), rules(provisioning.RuleReason), `NodePool "nowhere"`},
		{"no limits to blame", blames("general", provisioning.CauseLimits), rules(provisioning.RuleReason), "blames the limits"},
		{"no taints to blame", blames("general", provisioning.CauseTaints), rules(provisioning.RuleReason), "blames the taints"},
		{"taints to blame", blames("batch", provisioning.CauseTaints), nil, ""},
		{"nothing unsupported", because(&provisioning.Reason{Cause: provisioning.CauseUnsupported, Detail: "magic"}),
			rules(provisioning.RuleReason), `says that "magic" is not supported`},
	})
}

func TestVerifyPools(t *testing.T) {
	judge(t, []verdict{
		{"nil", func(s *scene) { s.second().Pool = nil }, rules(provisioning.RulePool), "it has no NodePool"},
		{"unknown", func(s *scene) { s.in.NodePools = s.in.NodePools[1:] }, rules(provisioning.RulePool), `NodePool "batch" is not in the input`},
		{"deleted", func(s *scene) { s.batch.DeletionTimestamp = &metav1.Time{} }, rules(provisioning.RulePool), "it is being deleted"},
		{"static", func(s *scene) { s.batch.Spec.Replicas = new(int64) }, rules(provisioning.RulePool), "it is static"},
		{"not ready", func(s *scene) {
			s.batch.Status.Conditions = []metav1.Condition{{Type: "Ready", Status: metav1.ConditionUnknown}}
		}, rules(provisioning.RulePool), "it is not ready"},
		{"ready", func(s *scene) {
			s.batch.Status.Conditions = []metav1.Condition{{Type: "Ready", Status: metav1.ConditionTrue}, {Type: "Other", Status: metav1.ConditionFalse}}
		}, nil, ""},
		{"broken requirements", func(s *scene) {
			s.batch.Spec.Template.Spec.Requirements[0].Operator = "Near"
		}, rules(provisioning.RulePool, provisioning.RuleRequirements), "cannot be read"},
	})
}

func TestVerifyOfferings(t *testing.T) {
	copyOf := func(o *cloudprovider.Offering, change func(*cloudprovider.Offering)) *cloudprovider.Offering {
		c := *o
		change(&c)
		return &c
	}
	judge(t, []verdict{
		{"sold out", func(s *scene) {
			s.second().Options = sceneOptions(s.gone)
			s.plan.Cost += 0.005 - 0.05
			s.plan.LowerBound = 0
		}, rules(provisioning.RuleOffering), "option gone/a/spot is not available (so do 4 of its options in all)"},
		{"not in the catalog", func(s *scene) { s.in.InstanceTypes["batch"] = s.in.InstanceTypes["batch"][1:] },
			rules(provisioning.RuleOffering), "instance type small is not in the catalog of NodePool batch"},
		{"offering of another type", func(s *scene) {
			s.second().Options = []cloudprovider.LaunchOption{{InstanceType: s.small, Offering: copyOf(&s.small.Offerings[1], func(o *cloudprovider.Offering) { o.Zone = "z" })}}
		}, rules(provisioning.RuleOffering), "instance type small has no such offering"},
		{"price invented", func(s *scene) {
			s.second().Options = []cloudprovider.LaunchOption{{InstanceType: s.small, Offering: copyOf(&s.small.Offerings[1], func(o *cloudprovider.Offering) { o.Price = 0.04 })}}
			s.plan.Cost -= 0.01
			s.plan.LowerBound = 0
		}, rules(provisioning.RuleOffering), "listed at 0.04 USD/h, the catalog says 0.05 USD/h"},
		{"availability invented", func(s *scene) {
			available := copyOf(&s.gone.Offerings[1], func(o *cloudprovider.Offering) { o.Available = true })
			s.second().Options = []cloudprovider.LaunchOption{{InstanceType: s.gone, Offering: available}}
			s.plan.Cost += 0.005 - 0.05
			s.plan.LowerBound = 0
		}, rules(provisioning.RuleOffering), "option gone/a/spot is not available"},
		{"an equal copy will do", func(s *scene) {
			small := *s.small
			small.Offerings = slices.Clone(s.small.Offerings)
			s.second().Options = sceneOptions(&small)
		}, nil, ""},
		{"no options", func(s *scene) {
			s.second().Options = nil
			s.plan.Cost, s.plan.LowerBound = 0.05, 0
		}, rules(provisioning.RuleOffering), "it has no options"},
		{"option without type", func(s *scene) {
			s.second().Options = append(s.second().Options, cloudprovider.LaunchOption{Offering: s.second().Options[0].Offering})
		}, rules(provisioning.RuleOffering), "index 4 lacks its instance type or offering"},
		{"option without offering", func(s *scene) {
			s.second().Options = append(s.second().Options, cloudprovider.LaunchOption{InstanceType: s.small})
		}, rules(provisioning.RuleOffering), "index 4 lacks"},
		{"reservation oversold", func(s *scene) {
			s.reserve(1)
			for i := range s.plan.Create {
				s.plan.Create[i].Options = sceneOptions(s.small)
			}
			s.plan.Cost, s.plan.LowerBound = 0.002, 0
		}, rules(provisioning.RuleReservation), "2 new nodes count on reservation cr-1, which has room for 1"},
		{"reservation", func(s *scene) {
			s.reserve(1)
			s.second().Options = sceneOptions(s.small)
			s.plan.Cost, s.plan.LowerBound = 0.051, 0
		}, nil, ""},
		{"full reservation", func(s *scene) {
			s.reserve(0)
			s.second().Options = sceneOptions(s.small)
			s.plan.Cost, s.plan.LowerBound = 0.051, 0
		}, rules(provisioning.RuleOffering, provisioning.RuleReservation), "small/a/reserved/cr-1 is not available"},
	})
}

// reserve adds a reservation for type small; plans made before do not see it.
func (s *scene) reserve(capacity int) {
	// The plan points at the offerings, which must not move.
	before := s.small.Offerings
	s.small.Offerings = append(slices.Clone(before), cloudprovider.Offering{
		Zone: "a", CapacityType: v1.CapacityTypeReserved, ReservationID: "cr-1", ReservationCapacity: capacity, Price: 0.001, Available: true,
	})
	s.small.Requirements = s.small.Requirements.Without(v1.CapacityTypeLabelKey)
}

func TestVerifyTaints(t *testing.T) {
	taint := func(taints ...corev1.Taint) func(*scene) {
		return func(s *scene) { s.batch.Spec.Template.Spec.Taints = taints }
	}
	tolerate := func(taint corev1.Taint, tolerations ...corev1.Toleration) func(*scene) {
		return func(s *scene) {
			s.batch.Spec.Template.Spec.Taints = []corev1.Taint{taint}
			s.night.Spec.Tolerations = tolerations
		}
	}
	numeric := corev1.Taint{Key: "rank", Value: "7", Effect: corev1.TaintEffectNoSchedule}
	judge(t, []verdict{
		{"none tolerated", func(s *scene) { s.night.Spec.Tolerations = nil }, rules(provisioning.RuleTaints),
			"batch-1: pod default/night-1: it does not tolerate dedicated=batch:NoSchedule of NodePool batch"},
		{"NoExecute", taint(corev1.Taint{Key: "k", Effect: corev1.TaintEffectNoExecute}), rules(provisioning.RuleTaints), "k:NoExecute"},
		{"other value", taint(corev1.Taint{Key: "dedicated", Value: "web", Effect: corev1.TaintEffectNoSchedule}), rules(provisioning.RuleTaints), "dedicated=web:NoSchedule"},
		{"PreferNoSchedule", taint(corev1.Taint{Key: "k", Effect: corev1.TaintEffectPreferNoSchedule}), nil, ""},
		{"no taints", taint(), nil, ""},
		{"everything tolerated", tolerate(numeric, corev1.Toleration{Operator: corev1.TolerationOpExists}), nil, ""},
		{"key tolerated", tolerate(numeric, corev1.Toleration{Key: "rank", Operator: corev1.TolerationOpExists}), nil, ""},
		{"other effect tolerated", tolerate(numeric, corev1.Toleration{Key: "rank", Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute}), rules(provisioning.RuleTaints), ""},
		{"below bound", tolerate(numeric, corev1.Toleration{Key: "rank", Operator: corev1.TolerationOpLt, Value: "8"}), nil, ""},
		{"not below bound", tolerate(numeric, corev1.Toleration{Key: "rank", Operator: corev1.TolerationOpLt, Value: "7"}), rules(provisioning.RuleTaints), ""},
		{"above bound", tolerate(numeric, corev1.Toleration{Key: "rank", Operator: corev1.TolerationOpGt, Value: "-1"}), nil, ""},
		{"bound is no number", tolerate(numeric, corev1.Toleration{Key: "rank", Operator: corev1.TolerationOpGt, Value: "06"}), rules(provisioning.RuleTaints), ""},
		{"unknown operator", tolerate(numeric, corev1.Toleration{Key: "rank", Operator: "Near", Value: "7"}), rules(provisioning.RuleTaints), ""},
	})
}
