package verify_test

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/scenes"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
	"github.com/dovetail-sdk/dovetail/provisioning/verify"
)

// request changes what a pod asks for, in a plan that says so.
func (s *scene) request(pod *corev1.Pod, list string) {
	pod.Spec.Containers[0].Resources.Requests = resources.MustParse(list).ResourceList()
	for i := range s.Plan.Create {
		n := &s.Plan.Create[i]
		n.Requests = resources.List{}
		for _, p := range n.Pods {
			requests, _ := resources.PodRequests(p)
			n.Requests, _ = n.Requests.Add(requests)
		}
	}
}

// daemons changes what DaemonSets ask for, in a plan that says so.
func (s *scene) daemons(list string, selector map[string]string) {
	s.Daemon.Spec.Containers[0].Resources.Requests = resources.MustParse(list).ResourceList()
	s.Daemon.Spec.NodeSelector = selector
	requests, _ := resources.PodRequests(s.Daemon)
	for i := range s.Plan.Create {
		s.Plan.Create[i].Daemons = requests
	}
}

func TestNewNodeResources(t *testing.T) {
	broken := rules(verify.RuleResources)
	judge(t, []verdict{
		{"to the last milli-CPU", func(s *scene) { s.request(s.Night, "cpu=1800m, memory=1Gi") }, nil, ""},
		{"a milli-CPU too many", func(s *scene) { s.request(s.Night, "cpu=1801m, memory=1Gi") }, broken,
			"its pods ask for 1801m of cpu and DaemonSets for 100m, but option small/a/spot can allocate 1900m (so do 4 of its options in all)"},
		{"to the last byte", func(s *scene) { s.request(s.Night, "memory=3732Mi") }, nil, ""},
		{"a byte too many", func(s *scene) { s.request(s.Night, "memory=3913285633") }, broken, "of memory"},
		{"a resource that nobody has", func(s *scene) { s.request(s.Night, "example.com/gpu=1") }, broken, "1 of example.com/gpu and DaemonSets for 0"},
		{"none of a resource that nobody has", func(s *scene) { s.request(s.Night, "cpu=1, example.com/gpu=0") }, nil, ""},
		{"too many pods", func(s *scene) {
			s.Small.Capacity = s.Small.Capacity.With(corev1.ResourcePods, 1)
		}, broken, "its pods ask for 1 of pods and DaemonSets for 1"},
		{"only one option too small", func(s *scene) {
			s.First().Options = scenes.Options(s.Small, s.Large)
			s.request(s.Webs[0], "cpu=1500m")
		},
			broken, "general-1: its pods ask for 2 of cpu"},
		{"init container", func(s *scene) {
			s.Night.Spec.InitContainers = []corev1.Container{{Resources: corev1.ResourceRequirements{
				Requests: resources.MustParse("cpu=5").ResourceList(),
			}}}
			s.request(s.Night, "cpu=1")
		}, broken, "5 of cpu"},
		{"offering with less", func(s *scene) {
			less := resources.MustParse("memory=1500Mi")
			s.Small.Offerings[2].Capacity = &less
		}, broken, "option small/b/on-demand can allocate 1200Mi"},
		{"offering with more overhead", func(s *scene) {
			more := resources.MustParse("cpu=1500m")
			s.Small.Offerings[0].Overhead = &more
		}, broken, "option small/a/on-demand can allocate 500m"},
		{"huge pages come off memory", func(s *scene) {
			s.Small.Capacity = s.Small.Capacity.With("hugepages-2Mi", 3<<30)
		}, broken, "can allocate 724Mi"},
		{"overhead above capacity", func(s *scene) {
			s.Small.Overhead.SystemReserved = resources.MustParse("ephemeral-storage=30Gi")
		}, broken, "option small/a/spot has less ephemeral-storage than it holds back"},
		{"overhead of what the type lacks", func(s *scene) {
			s.Small.Overhead.SystemReserved = resources.MustParse("example.com/gpu=3")
		}, nil, ""},
		{"larger DaemonSet", func(s *scene) { s.daemons("cpu=1, memory=64Mi", nil) }, broken, "DaemonSets for 1,"},
		{"DaemonSet of another system", func(s *scene) { s.daemons("cpu=1, memory=64Mi", map[string]string{corev1.LabelOSStable: "windows"}) },
			rules(verify.RuleAccounts), "Daemons says 1 of cpu, but the least on any option is 0"},
		{"DaemonSet on a system left open", func(s *scene) {
			s.Second().Options = scenes.Options(s.Open)
			s.Plan.Cost += 0.05
			s.daemons("cpu=3, memory=64Mi", map[string]string{corev1.LabelOSStable: "windows"})
			s.First().Daemons = resources.List{}
		}, broken, "option open/a/spot can allocate 3900m"},
		{"DaemonSet on a system ruled out", func(s *scene) {
			s.Second().Options = scenes.Options(s.Open)
			s.Second().Requirements = s.Second().Requirements.With(requirements.In(corev1.LabelOSStable, "linux"))
			s.Plan.Cost += 0.05
			s.daemons("cpu=3, memory=64Mi", map[string]string{corev1.LabelOSStable: "windows"})
			s.First().Daemons, s.Second().Daemons = resources.List{}, resources.List{}
		}, nil, ""},
		{"DaemonSet kept off by a taint", func(s *scene) {
			s.daemons("cpu=1, memory=64Mi", nil)
			s.Daemon.Spec.Tolerations = nil
			s.Second().Daemons = resources.List{}
			s.Bind(s.Tiny, "plain")
			s.request(s.Webs[0], "cpu=400m")
			s.request(s.Night, "cpu=1900m")
		}, nil, ""},
		{"DaemonSet on nodes in trouble", func(s *scene) {
			s.Daemon.Spec.Tolerations = []corev1.Toleration{{Key: "dedicated", Operator: corev1.TolerationOpExists}}
			s.Daemon.Spec.HostNetwork = true
			s.Batch.Spec.Template.Spec.Taints = []corev1.Taint{
				{Key: corev1.TaintNodeNotReady, Effect: corev1.TaintEffectNoExecute},
				{Key: corev1.TaintNodeNetworkUnavailable, Effect: corev1.TaintEffectNoSchedule},
				{Key: "dedicated", Value: "batch", Effect: corev1.TaintEffectNoSchedule},
			}
			s.Night.Spec.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}}
			s.request(s.Night, "cpu=1801m")
		}, broken, "DaemonSets for 100m"},
		{"unreadable requests", func(s *scene) {
			s.Night.Spec.Overhead = corev1.ResourceList{"not a name": {}}
		}, rules(verify.RuleAccounts, verify.RuleResources), "its requests cannot be read"},
	})
}

func TestMinValues(t *testing.T) {
	demand := func(key string, least int) func(*scene) {
		return func(s *scene) {
			s.demand(key, least)
			s.First().Requirements = s.First().Requirements.With(requirements.Exists(key))
		}
	}
	relaxed := func(key string, least int, flag bool) func(*scene) {
		return func(s *scene) {
			demand(key, least)(s)
			s.Opts = &provisioning.Options{MinValues: provisioning.BestEffort}
			s.First().MinValuesRelaxed = flag
		}
	}
	broken := rules(verify.RuleMinValues)
	judge(t, []verdict{
		{"types enough", demand(corev1.LabelInstanceTypeStable, 2), nil, ""},
		{"types too few", demand(corev1.LabelInstanceTypeStable, 3), broken,
			"its options have 2 values of node.kubernetes.io/instance-type, NodePool general demands at least 3"},
		{"zones enough", demand(corev1.LabelTopologyZone, 2), nil, ""},
		{"zones the node cannot use", func(s *scene) {
			demand(corev1.LabelTopologyZone, 2)(s)
			s.First().Options = slices.DeleteFunc(s.First().Options, func(o cloudprovider.LaunchOption) bool { return o.Offering.Zone == "b" })
		}, broken, "1 values of topology.kubernetes.io/zone"},
		{"values the Requirements forbid", func(s *scene) {
			demand(corev1.LabelOSStable, 2)(s)
			s.First().Options = scenes.Options(s.Open)
			s.First().Requirements = s.First().Requirements.With(requirements.In(corev1.LabelOSStable, "linux"))
			s.Plan.Cost += 0.05
		}, broken, "1 values of kubernetes.io/os"},
		{"values the Requirements leave", func(s *scene) {
			demand(corev1.LabelOSStable, 2)(s)
			s.First().Options = scenes.Options(s.Open)
			s.Plan.Cost += 0.05
		}, nil, ""},
		{"a key that no type defines", func(s *scene) { demand("color", 1)(s) }, broken, "0 values of color"},
		{"relaxed and said so", relaxed(corev1.LabelInstanceTypeStable, 3, true), nil, ""},
		{"relaxed and not said so", relaxed(corev1.LabelInstanceTypeStable, 3, false), broken, "MinValuesRelaxed is not set"},
		{"said to be relaxed, but met", relaxed(corev1.LabelInstanceTypeStable, 2, true), broken, "every minValues of NodePool general is met"},
		{"relaxed where that is not allowed", func(s *scene) { s.First().MinValuesRelaxed = true }, broken, "the policy is Strict"},
	})
}

func TestLimits(t *testing.T) {
	limit := func(list string) func(*scene) {
		return func(s *scene) { s.General.Spec.Limits = v1.Limits(resources.MustParse(list).ResourceList()) }
	}
	broken := rules(verify.RuleLimits)
	judge(t, []verdict{
		{"just enough for the largest option", limit("cpu=10, memory=20Gi, nodes=2"), nil, ""},
		{"too little for the largest option", limit("cpu=9"), broken,
			"NodePool general may have 9 of cpu and has 7 left, but its new nodes could add 8"},
		{"nodes", limit("nodes=1"), broken, "may have 1 of nodes and has 0 left, but its new nodes could add 1"},
		{"a limit of zero on what nobody has", limit("example.com/gpu=0"), nil, ""},
		{"a limit of zero", limit("memory=0"), broken, "may have 0 of memory"},
		{"offering with more", func(s *scene) {
			limit("memory=20Gi")(s)
			more := resources.MustParse("memory=17Gi")
			s.Large.Offerings[0].Capacity = &more
		}, broken, "could add 17Gi"},
		{"deleted nodes do not count", func(s *scene) {
			limit("nodes=1")(s)
			s.Old.Node.DeletionTimestamp = &metav1.Time{}
			s.Plan.Bind[0].Node = "plain"
		}, nil, ""},
		{"nodes on their way count", func(s *scene) {
			s.Batch.Spec.Limits = v1.Limits(resources.MustParse("nodes=1").ResourceList())
		}, broken, "NodePool batch may have 1 of nodes"},
		{"pools that do not grow may be above their limits", func(s *scene) {
			limit("nodes=0")(s)
			s.Plan.Create = s.Plan.Create[1:]
			for _, web := range s.Webs {
				s.Plan.Unplaced = append(s.Plan.Unplaced, provisioning.Unplaced{Pod: web, Explanation: s.Plan.Unplaced[0].Explanation})
			}
			s.Plan.Cost, s.Plan.LowerBound = 0.05, 0
			s.Reorder()
		}, nil, ""},
		{"unreadable", func(s *scene) { s.General.Spec.Limits = v1.Limits{"not a name": {}} }, broken, "cannot be applied"},
	})
}

func TestExistingNodes(t *testing.T) {
	bind := func(node string, more ...func(*scene)) func(*scene) {
		return func(s *scene) {
			s.Bind(s.Tiny, node)
			for _, m := range more {
				m(s)
			}
		}
	}
	tolerant := func(s *scene) {
		s.Tiny.Spec.Tolerations = []corev1.Toleration{{Key: "dedicated", Operator: corev1.TolerationOpExists}}
	}
	tainted := func(key string, effect corev1.TaintEffect) func(*scene) {
		return func(s *scene) { s.Old.Node.Spec.Taints = []corev1.Taint{{Key: key, Effect: effect}} }
	}
	uninitialized := func(s *scene) { delete(s.Old.Node.Labels, v1.NodeInitializedLabelKey) }
	selects := func(key, value string) func(*scene) {
		return func(s *scene) { s.Tiny.Spec.NodeSelector = map[string]string{key: value} }
	}
	condition := func(kind string) func(*scene) {
		return func(s *scene) {
			s.Old.NodeClaim.Status.Conditions = []metav1.Condition{{Type: kind, Status: metav1.ConditionTrue}}
		}
	}
	judge(t, []verdict{
		{"unmanaged", bind("plain"), nil, ""},
		{"on its way", bind("young", tolerant), nil, ""},
		{"unknown", bind("mars"), rules(verify.RuleNode), "node mars: it is not in the input"},
		{"ambiguous", func(s *scene) { s.In.Nodes = append(s.In.Nodes, *s.Old) }, rules(verify.RuleInput), "Node old is listed twice"},
		{"node deleted", func(s *scene) { s.Old.Node.DeletionTimestamp = &metav1.Time{} }, rules(verify.RuleNode), "is being deleted"},
		{"claim deleted", func(s *scene) { s.Old.NodeClaim.DeletionTimestamp = &metav1.Time{} }, rules(verify.RuleNode), "is being deleted"},
		{"instance ending", condition(v1.ConditionTypeInstanceTerminating), rules(verify.RuleNode), "is being deleted"},

		{"taint", tainted("k", corev1.TaintEffectNoSchedule), rules(verify.RuleTaints), "pod default/tiny: it does not tolerate k:NoSchedule"},
		{"soft taint", tainted("k", corev1.TaintEffectPreferNoSchedule), nil, ""},
		{"startup taint after start", tainted("starting", corev1.TaintEffectNoSchedule), rules(verify.RuleTaints), "starting"},
		{"startup taint before start", func(s *scene) { tainted("starting", corev1.TaintEffectNoSchedule)(s); uninitialized(s) }, nil, ""},
		{"not ready before start", func(s *scene) { tainted(corev1.TaintNodeNotReady, corev1.TaintEffectNoExecute)(s); uninitialized(s) }, nil, ""},
		{"not ready after start", tainted(corev1.TaintNodeNotReady, corev1.TaintEffectNoSchedule), rules(verify.RuleTaints), "not-ready"},
		{"gate before start", func(s *scene) { tainted("readiness.k8s.io/x", corev1.TaintEffectNoSchedule)(s); uninitialized(s) }, nil, ""},
		{"unreachable for good", func(s *scene) {
			tainted(corev1.TaintNodeUnreachable, corev1.TaintEffectNoExecute)(s)
			uninitialized(s)
		}, rules(verify.RuleTaints), "unreachable:NoExecute"},
		{"rebooting", func(s *scene) {
			tainted(v1.RebootingTaintKey, corev1.TaintEffectNoSchedule)(s)
			condition(v1.ConditionTypeRebooting)(s)
		}, nil, ""},
		{"startup taint on an unmanaged node", bind("plain", func(s *scene) {
			s.Plain.Node.Spec.Taints = []corev1.Taint{{Key: corev1.TaintNodeNotReady, Effect: corev1.TaintEffectNoSchedule}}
		}), rules(verify.RuleTaints), "not-ready"},
		{"cordoned", func(s *scene) { s.Old.Node.Spec.Unschedulable = true }, rules(verify.RuleTaints), corev1.TaintNodeUnschedulable},
		{"cordon tolerated", func(s *scene) {
			s.Old.Node.Spec.Unschedulable = true
			s.Tiny.Spec.Tolerations = []corev1.Toleration{{Key: corev1.TaintNodeUnschedulable, Operator: corev1.TolerationOpExists}}
		}, nil, ""},
		{"taint of the claim", bind("young"), rules(verify.RuleTaints), "dedicated=batch:NoSchedule"},

		{"label", selects(corev1.LabelTopologyZone, "a"), nil, ""},
		{"other label", selects(corev1.LabelTopologyZone, "b"), rules(verify.RuleRequirements), "refuses the node, which has topology.kubernetes.io/zone=a"},
		{"label the node lacks", selects(corev1.LabelArchStable, "amd64"), rules(verify.RuleRequirements), "no kubernetes.io/arch"},
		{"old name of a label the node has", selects(corev1.LabelFailureDomainBetaZone, "a"), rules(verify.RuleRequirements), "no failure-domain"},
		{"label of the claim", bind("young", tolerant, selects("team", "red")), nil, ""},
		{"name", func(s *scene) { s.onlyOn("old") }, nil, ""},
		{"other name", func(s *scene) { s.onlyOn("plain") }, rules(verify.RuleRequirements), "name old"},
		{"name not known yet", bind("young", tolerant, func(s *scene) { s.onlyOn("young") }), rules(verify.RuleRequirements), ""},

		{"full to the last milli-CPU", func(s *scene) { s.request(s.Tiny, "cpu=800m") }, nil, ""},
		{"a milli-CPU too many", func(s *scene) { s.request(s.Tiny, "cpu=801m") }, rules(verify.RuleResources),
			"its new pods ask for 801m of cpu, DaemonSets for 100m and its present pods hold 1, but it can allocate 1900m"},
		{"pods that are done take no room", func(s *scene) {
			s.Old.Pods[0].Status.Phase = corev1.PodSucceeded
			s.request(s.Tiny, "cpu=1800m")
		}, nil, ""},
		{"DaemonSet runs already", func(s *scene) { s.runDaemon("agent", "cpu=100m"); s.request(s.Tiny, "cpu=800m") }, nil, ""},
		{"DaemonSet runs already, smaller", func(s *scene) { s.runDaemon("agent", "cpu=60m"); s.request(s.Tiny, "cpu=801m") },
			rules(verify.RuleResources), "DaemonSets for 40m and its present pods hold 1060m"},
		{"another DaemonSet runs", func(s *scene) { s.runDaemon("other", "cpu=100m"); s.request(s.Tiny, "cpu=701m") }, rules(verify.RuleResources), "DaemonSets for 100m"},
		{"DaemonSet kept off by a taint", func(s *scene) {
			tainted("k", corev1.TaintEffectNoExecute)(s)
			s.Daemon.Spec.Tolerations = nil
			s.First().Daemons, s.Second().Daemons = s.First().Daemons, resources.List{}
			s.Tiny.Spec.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}}
			s.request(s.Tiny, "cpu=900m")
		}, nil, ""},
		{"overcommitted in what is not asked for", func(s *scene) {
			s.Old.Pods = append(s.Old.Pods, scenes.Pod("hog", "1m", "100Gi"))
			s.request(s.Tiny, "cpu=100m")
		}, nil, ""},
		{"no room for one more pod", func(s *scene) {
			s.Old.Node.Status.Allocatable = resources.MustParse("cpu=2, memory=4Gi, pods=2").ResourceList()
		}, rules(verify.RuleResources), "1 of pods"},
		{"extended resource before start", func(s *scene) {
			uninitialized(s)
			s.Old.Node.Status.Allocatable["example.com/gpu"] = resource.MustParse("0")
			s.Old.NodeClaim.Status.Allocatable = resources.MustParse("cpu=64, example.com/gpu=1").ResourceList()
			s.request(s.Tiny, "example.com/gpu=1")
		}, nil, ""},
		{"what the node reports wins", func(s *scene) {
			uninitialized(s)
			s.Old.NodeClaim.Status.Allocatable = resources.MustParse("cpu=64").ResourceList()
			s.request(s.Tiny, "cpu=2")
		}, rules(verify.RuleResources), "can allocate 1900m"},
		{"extended resource after start", func(s *scene) {
			s.Old.NodeClaim.Status.Allocatable = resources.MustParse("example.com/gpu=1").ResourceList()
			s.request(s.Tiny, "example.com/gpu=1")
		}, rules(verify.RuleResources), "but it can allocate 0"},
		{"unreadable allocatable", func(s *scene) { s.Old.Node.Status.Allocatable["not a name"] = s.Old.Node.Status.Allocatable["cpu"] },
			rules(verify.RuleResources), "what it can allocate cannot be read"},
	})
}

func (s *scene) onlyOn(node string) {
	s.Tiny.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
		RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
			MatchFields: []corev1.NodeSelectorRequirement{{Key: "metadata.name", Operator: corev1.NodeSelectorOpIn, Values: []string{node}}},
		}}},
	}}
}

// runDaemon binds a pod of a DaemonSet to node old.
func (s *scene) runDaemon(set, requests string) {
	pod := scenes.Pod(set+"-x1y2z", "0", "0")
	pod.Spec.Containers[0].Resources.Requests = resources.MustParse(requests).ResourceList()
	yes := true
	pod.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "DaemonSet", Name: set, UID: "uid", Controller: &yes}}
	s.Old.Pods = append(s.Old.Pods, pod)
}
