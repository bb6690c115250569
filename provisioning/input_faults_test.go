package provisioning_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/scenes"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// fault is a way to spoil a sound input, and what is said of it.
type fault struct {
	name  string
	spoil func(s *scene)
	says  []string // each fault, in full
}

func inputFaults() []fault {
	return append(append(podFaults(), poolFaults()...), nodeFaults()...)
}

// terms is where required node affinity stands in a pod.
const terms = "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms"

func podFaults() []fault {
	return []fault{
		{"nil pod", func(s *scene) { s.In.Pods = append(s.In.Pods, nil) }, []string{
			`Pods[5]: is nil; leave it out`,
		}},
		{"pod without a name", func(s *scene) { s.Huge.Name = "" }, []string{
			`Pods[0]: metadata.name: is empty; pods are told apart by namespace and name`,
		}},
		{"pod listed twice", func(s *scene) { s.In.Pods = append(s.In.Pods, s.Huge) }, []string{
			`Pod "default/huge": is listed twice in Pods; list each pod once`,
		}},
		{"pod that is bound", func(s *scene) { s.Huge.Spec.NodeName = "old" }, []string{
			`Pod "default/huge": spec.nodeName: is "old"; a bound pod belongs in Node.Pods, not among the pods to place`,
		}},
		{"nil DaemonSet pod", func(s *scene) { s.In.DaemonSetPods = append(s.In.DaemonSetPods, nil) }, []string{
			`DaemonSetPods[1]: is nil; leave it out`,
		}},
		{"DaemonSet pod without a name", func(s *scene) { s.Daemon.Name = "" }, []string{
			`DaemonSetPods[0]: metadata.name: is empty; pods are told apart by namespace and name`,
		}},
		{"DaemonSet pod listed twice", func(s *scene) { s.In.DaemonSetPods = append(s.In.DaemonSetPods, s.Daemon) }, []string{
			`Pod "default/agent": is listed twice in DaemonSetPods; list each pod once`,
		}},
		{"negative request of a DaemonSet", func(s *scene) { s.quantity(s.Daemon, "cpu", "-1") }, []string{
			`DaemonSet Pod "default/agent": container main: resource cpu: -1: negative request; use zero or more`,
		}},
		{"selector of a DaemonSet at fault", func(s *scene) { s.term(s.Daemon, "team", "Is", "red") }, []string{
			`DaemonSet Pod "default/agent": ` + terms + `[0].matchExpressions[0].operator: Invalid value: "Is": label "team": operator "Is" is not known; use one of In, NotIn, Exists, DoesNotExist, Gt, Lt`,
		}},
	}
}

func poolFaults() []fault {
	return []fault{
		{"nil NodePool", func(s *scene) { s.In.NodePools = append(s.In.NodePools, nil) }, []string{
			`NodePools[2]: is nil; leave it out`,
		}},
		{"NodePool without a name", func(s *scene) { s.In.NodePools = append(s.In.NodePools, &v1.NodePool{}) }, []string{
			`NodePools[2]: metadata.name: is empty; every NodePool needs a name of its own`,
		}},
		{"NodePool listed twice", func(s *scene) { s.In.NodePools = append(s.In.NodePools, s.General) }, []string{
			`NodePool "general": is listed twice; list each NodePool once`,
		}},
		{"requirement of a NodePool at fault", func(s *scene) {
			s.General.Spec.Template.Spec.Requirements = append(s.General.Spec.Template.Spec.Requirements,
				v1.NodeSelectorRequirementWithMinValues{Key: "cpus", Operator: "Gt", Values: []string{"many"}})
		}, []string{
			`NodePool "general": spec.template.spec.requirements[1].values: Invalid value: ["many"]: label "cpus": operator Gt needs exactly one integer of at most 64 bits, found ["many"]; write one such as "4"`,
		}},
		{"label that a node gets as it starts", func(s *scene) {
			s.General.Spec.Template.Labels = map[string]string{corev1.LabelHostname: "h", v1.NodeInitializedLabelKey: "true"}
			s.Batch.Spec.Template.Spec.Requirements[0].Key = v1.NodeRegisteredLabelKey
		}, []string{
			`NodePool "general": spec.template: names label kubernetes.io/hostname, which a node gets only as it starts; leave it out`,
			`NodePool "general": spec.template: names label karpenter.sh/initialized, which a node gets only as it starts; leave it out`,
			`NodePool "batch": spec.template: names label karpenter.sh/registered, which a node gets only as it starts; leave it out`,
		}},
		{"taints that are none", func(s *scene) {
			s.General.Spec.Template.Spec.Taints = []corev1.Taint{{Key: "team", Effect: "NoSchedul"}}
			s.Batch.Spec.Template.Spec.StartupTaints = []corev1.Taint{{Key: "ready", Effect: corev1.TaintEffectNoExecute}, {}}
		}, []string{
			`NodePool "general": spec.template.spec.taints[0].effect: is "NoSchedul"; use NoSchedule, PreferNoSchedule or NoExecute`,
			`NodePool "batch": spec.template.spec.startupTaints[1].key: is empty; name the taint`,
			`NodePool "batch": spec.template.spec.startupTaints[1].effect: is ""; use NoSchedule, PreferNoSchedule or NoExecute`,
		}},
		{"negative limit", func(s *scene) { s.limit("cpu", "-1") }, []string{
			`NodePool "general": spec.limits[cpu]: is negative; a limit is zero or more`,
		}},
		{"limit out of range", func(s *scene) { s.limit("memory", "1e30") }, []string{
			`NodePool "general": spec.limits: resource memory: 1e30: amount out of range; the amount in bytes must fit in a signed 64-bit integer, use a smaller quantity`,
		}},
		{"nil instance type", func(s *scene) { s.In.InstanceTypes["batch"] = append(s.In.InstanceTypes["batch"], nil) }, []string{
			`InstanceTypes["batch"]: holds a nil instance type; leave it out`,
		}},
		{"instance type listed twice", func(s *scene) {
			s.In.InstanceTypes["batch"] = append(s.In.InstanceTypes["batch"], s.Small)
		}, []string{
			`InstanceTypes["batch"]: lists "small" twice; list each instance type once`,
		}},
		{"instance type without a name", func(s *scene) { s.Small.Name = "" }, []string{
			`InstanceTypes["general"]: instance type without a name: name: empty; set it to the value of node.kubernetes.io/instance-type`,
			`InstanceTypes["general"]: instance type without a name: requirements: node.kubernetes.io/instance-type = small does not admit the name; use In with the name alone`,
		}},
		{"negative price", func(s *scene) { s.Small.Offerings[0].Price = -1 }, []string{
			`InstanceTypes["general"]: instance type small: offering 0 (small/a/on-demand): price: -1; use a price in USD per hour`,
		}},
		{"price that is not a number", func(s *scene) { s.Small.Offerings[0].Price = math.NaN() }, []string{
			`InstanceTypes["general"]: instance type small: offering 0 (small/a/on-demand): price: NaN; use a price in USD per hour`,
		}},
		{"no price on what is for sale", func(s *scene) { s.Small.Offerings[0].Price = 0 }, []string{
			`InstanceTypes["general"]: instance type small: offering 0 (small/a/on-demand): price: 0; use a price above zero, a tiny one for capacity already paid for, or set available to false while the price is unknown`,
		}},
		{"offering twice", func(s *scene) { s.Small.Offerings[1] = s.Small.Offerings[0] }, []string{
			`InstanceTypes["general"]: instance type small: offering 1 (small/a/on-demand): offered twice; zone, capacity type and reservation must differ`,
		}},
		{"offering without a zone", func(s *scene) { s.Small.Offerings[0].Zone = "" }, []string{
			`InstanceTypes["general"]: instance type small: offering 0 (small/?/on-demand): zone: empty; set it to the value of topology.kubernetes.io/zone`,
		}},
		{"instance type without pods", func(s *scene) { s.Small.Capacity = s.Small.Capacity.Without("pods") }, []string{
			`InstanceTypes["general"]: instance type small: capacity: no pods, so that nothing fits; set pods to the number of pods a node can run`,
		}},
		{"overhead out of range", func(s *scene) {
			s.Small.Overhead.KubeReserved = resources.New(map[corev1.ResourceName]int64{"cpu": math.MaxInt64})
			s.Small.Overhead.SystemReserved = s.Small.Overhead.KubeReserved
		}, []string{
			`InstanceTypes["general"]: instance type small: overhead: resource cpu: 9223372036854775807m + 9223372036854775807m: amount out of range; use smaller amounts`,
		}},
		{"DaemonSets out of range", func(s *scene) {
			s.quantity(s.Daemon, "memory", "9223372036854775807")
			other := s.Daemon.DeepCopy()
			other.Name = "other"
			s.In.DaemonSetPods = append(s.In.DaemonSetPods, other)
		}, []string{
			`DaemonSetPods: requests in sum: resource memory: 9223372036854775807 + 9223372036854775807: amount out of range; use smaller amounts`,
		}},
		{"unknown MinValues policy", func(s *scene) { s.Opts = &provisioning.Options{MinValues: "Maybe"} }, []string{
			`Options: MinValues is "Maybe"; use "Strict" or "BestEffort"`,
		}},
		{"negative MaxSteps", func(s *scene) { s.Opts = &provisioning.Options{MaxSteps: -1} }, []string{
			`Options: MaxSteps is -1; use 0 for the default, or a positive number`,
		}},
		{"all options", func(s *scene) { s.Opts = &provisioning.Options{MinValues: "strict", MaxSteps: -1} }, []string{
			`Options: MinValues is "strict"; use "Strict" or "BestEffort"`,
			`Options: MaxSteps is -1; use 0 for the default, or a positive number`,
		}},
	}
}

func nodeFaults() []fault {
	return []fault{
		{"namespaces that cannot be told apart", func(s *scene) {
			team := func(name string) *corev1.Namespace {
				return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "shop", Labels: map[string]string{"team": name}}}
			}
			s.In.Namespaces = []*corev1.Namespace{team("a"), nil, {}, team("b")}
		}, []string{
			`Namespace "shop": is listed twice; list each namespace once`,
		}},
		{"node that is nothing", func(s *scene) { s.In.Nodes = append(s.In.Nodes, provisioning.Node{}) }, []string{
			`Nodes[3]: has neither a Node nor a NodeClaim; set at least one`,
		}},
		{"node without a name", func(s *scene) { s.Plain.Node.Name = "" }, []string{
			`Nodes[2]: metadata.name: is empty; nodes are told apart by name`,
		}},
		{"NodeClaim without a name", func(s *scene) { s.Young.NodeClaim.Name = "" }, []string{
			`Nodes[0]: metadata.name: is empty; nodes are told apart by name`,
		}},
		{"node listed twice", func(s *scene) { s.In.Nodes = append(s.In.Nodes, *s.Plain) }, []string{
			`Node "plain": is listed twice; list each node once, with its NodeClaim beside it`,
		}},
		{"NodeClaim listed beside its node", func(s *scene) {
			s.In.Nodes = append(s.In.Nodes, provisioning.Node{NodeClaim: s.Old.NodeClaim})
		}, []string{
			`NodeClaim "claim-old": is listed apart from its Node; list both in one entry`,
		}},
		{"allocatable out of range", func(s *scene) {
			s.Plain.Node.Status.Allocatable = corev1.ResourceList{"memory": resource.MustParse("1e30")}
		}, []string{
			`Node "plain": status.allocatable: resource memory: 1e30: amount out of range; the amount in bytes must fit in a signed 64-bit integer, use a smaller quantity`,
		}},
		{"capacity out of range, where limits count it", func(s *scene) {
			s.limit("cpu", "10")
			s.Old.Node.Status.Capacity = corev1.ResourceList{"memory": resource.MustParse("1e30")}
		}, []string{
			`Node "old": status.capacity: resource memory: 1e30: amount out of range; the amount in bytes must fit in a signed 64-bit integer, use a smaller quantity`,
		}},
		{"allocatable of a NodeClaim out of range", func(s *scene) {
			s.Young.NodeClaim.Status.Allocatable = corev1.ResourceList{"memory": resource.MustParse("1e30")}
		}, []string{
			`NodeClaim "young": status.allocatable: resource memory: 1e30: amount out of range; the amount in bytes must fit in a signed 64-bit integer, use a smaller quantity`,
		}},
		{"negative request of a bound pod", func(s *scene) { s.quantity(s.Old.Pods[0], "cpu", "-1") }, []string{
			`Node "old": pod default/bound: container main: resource cpu: -1: negative request; use zero or more`,
		}},
		{"bound pods out of range", func(s *scene) {
			s.Plain.Pods = []*corev1.Pod{scenes.Pod("a", "1", "1"), scenes.Pod("b", "1", "1"), scenes.Pod("c", "1", "1")}
			for _, pod := range s.Plain.Pods {
				s.quantity(pod, "memory", "9223372036854775807")
			}
		}, []string{
			`Node "plain": bound pods in sum: resource memory: 9223372036854775807 + 9223372036854775807: amount out of range; use smaller amounts`,
		}},
		{"bound pod of another node", func(s *scene) { s.Old.Pods[0].Spec.NodeName = "plain" }, []string{
			`Pod "default/bound": spec.nodeName: is "plain", but the pod is listed under Node "old"; list it under the node that it is bound to`,
		}},
		{"nil bound pod", func(s *scene) { s.Old.Pods = append(s.Old.Pods, nil) }, []string{
			`Node "old": Pods[1]: is nil; leave it out`,
		}},
	}
}

func TestInputFaults(t *testing.T) {
	for _, f := range inputFaults() {
		t.Run(f.name, func(t *testing.T) {
			s := newScene()
			f.spoil(s)
			problem, err := provisioning.Prepare(s.In, s.Opts)
			require.Nil(t, problem)
			require.Error(t, err)
			require.Equal(t, f.says, texts(provisioning.Faults(err)))
			plan, again := provisioning.Solve(context.Background(), s.In, s.Opts)
			require.Nil(t, plan)
			require.EqualError(t, again, err.Error())
			var first *provisioning.InputError
			require.True(t, errors.As(err, &first))
			require.Equal(t, f.says[0], first.Error())
		})
	}
}

// TestInputFaultsAtOnce spoils one input in many ways and asks for all of them
// in one error. What is listed twice or shared is told once.
func TestInputFaultsAtOnce(t *testing.T) {
	s := newScene()
	s.Opts = &provisioning.Options{MaxSteps: -1}
	s.quantity(s.Webs[1], "cpu", "-1") // a pod of its own fault keeps nobody else from being placed
	s.Huge.Spec.NodeName = "old"
	s.term(s.Night, "team", corev1.NodeSelectorOpIn)
	s.quantity(s.Daemon, "memory", "1e30")
	s.In.Pods = append(s.In.Pods, nil)
	s.In.NodePools = append(s.In.NodePools, nil, s.Batch)
	s.Small.Offerings[2].Price = -2 // in the catalogs of both pools
	s.In.Nodes = append(s.In.Nodes, provisioning.Node{}, *s.Old)
	s.limit("cpu", "-2")
	s.Plain.Node.Status.Allocatable = corev1.ResourceList{"memory": resource.MustParse("1e30")}
	s.quantity(s.Old.Pods[0], "cpu", "-1")
	_, err := provisioning.Prepare(s.In, s.Opts)
	require.Equal(t, []string{
		`Options: MaxSteps is -1; use 0 for the default, or a positive number`,
		`Pods[5]: is nil; leave it out`,
		`Nodes[3]: has neither a Node nor a NodeClaim; set at least one`,
		`Node "old": is listed twice; list each node once, with its NodeClaim beside it`,
		`DaemonSet Pod "default/agent": container main: resource memory: 1e30: amount out of range; the amount in bytes must fit in a signed 64-bit integer, use a smaller quantity`,
		`Pod "default/huge": spec.nodeName: is "old"; a bound pod belongs in Node.Pods, not among the pods to place`,
		`NodePools[2]: is nil; leave it out`,
		`NodePool "batch": is listed twice; list each NodePool once`,
		`InstanceTypes["general"]: instance type small: offering 2 (small/b/on-demand): price: -2; use a price in USD per hour`,
		`NodePool "general": spec.limits[cpu]: is negative; a limit is zero or more`,
		`Node "old": pod default/bound: container main: resource cpu: -1: negative request; use zero or more`,
		`Node "plain": status.allocatable: resource memory: 1e30: amount out of range; the amount in bytes must fit in a signed 64-bit integer, use a smaller quantity`,
	}, texts(provisioning.Faults(err)))
	require.ErrorIs(t, err, resources.ErrNegative)
	require.ErrorIs(t, err, resources.ErrOverflow)
	require.Equal(t, strings.Join(texts(provisioning.Faults(err)), "\n"), err.Error())
}

func TestInputErrorFields(t *testing.T) {
	s := newScene()
	s.term(s.Daemon, "team", "Is", "red")
	_, err := provisioning.Prepare(s.In, nil)
	var fault *provisioning.InputError
	require.ErrorAs(t, err, &fault)
	require.Equal(t, `DaemonSet Pod "default/agent"`, fault.Object)
	require.Equal(t, terms+"[0].matchExpressions[0].operator", fault.Field)
	require.Empty(t, fault.Detail)
	var cause *field.Error
	require.ErrorAs(t, err, &cause)
	require.Equal(t, fault.Field, cause.Field)
}

func TestFaults(t *testing.T) {
	require.Empty(t, provisioning.Faults(nil))
	require.Empty(t, provisioning.Faults(context.Canceled))
	require.Empty(t, provisioning.Faults(errors.Join(context.Canceled, nil)))
	one := &provisioning.InputError{Object: `Pod "a/b"`, Detail: "is odd"}
	require.Equal(t, []*provisioning.InputError{one}, provisioning.Faults(one))
	require.Equal(t, []*provisioning.InputError{one}, provisioning.Faults(fmt.Errorf("planning: %w", one)))
	require.Equal(t, []*provisioning.InputError{one, one}, provisioning.Faults(errors.Join(one, context.Canceled, errors.Join(one))))
	two := errors.Join(one, one)
	require.Len(t, provisioning.Faults(fmt.Errorf("planning: %w", two)), 2)
}

func TestSolveStopsWithContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	plan, err := provisioning.Solve(ctx, newScene().In, nil)
	require.Nil(t, plan)
	require.ErrorIs(t, err, context.Canceled)
	require.Empty(t, provisioning.Faults(err))
}

func texts(faults []*provisioning.InputError) []string {
	var out []string
	for _, f := range faults {
		out = append(out, f.Error())
	}
	return out
}

// scene is a scene with methods that spoil it.
type scene struct{ *scenes.Scene }

func newScene() *scene { return &scene{scenes.New()} }

// quantity sets a request as it would stand in a manifest.
func (s *scene) quantity(pod *corev1.Pod, name corev1.ResourceName, text string) {
	pod.Spec.Containers[0].Resources.Requests[name] = resource.MustParse(text)
}

func (s *scene) limit(name corev1.ResourceName, text string) {
	s.General.Spec.Limits = v1.Limits{name: resource.MustParse(text)}
}

// term adds a term of required node affinity with one expression.
func (s *scene) term(pod *corev1.Pod, key string, op corev1.NodeSelectorOperator, values ...string) {
	if pod.Spec.Affinity == nil {
		pod.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{},
		}}
	}
	required := pod.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	required.NodeSelectorTerms = append(required.NodeSelectorTerms, corev1.NodeSelectorTerm{
		MatchExpressions: []corev1.NodeSelectorRequirement{{Key: key, Operator: op, Values: values}},
	})
}

func (s *scene) terms(pod *corev1.Pod) []corev1.NodeSelectorTerm {
	return pod.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
}

// Of two controllers with one UID which one counts would depend on their order.
func TestControllersListedTwice(t *testing.T) {
	in := newScene().In
	in.Controllers = []provisioning.Controller{{UID: "u", Selector: &metav1.LabelSelector{}}, {UID: "v"}, {UID: "u"}}
	_, err := provisioning.Prepare(in, &provisioning.Options{DefaultSpread: []corev1.TopologySpreadConstraint{
		{MaxSkew: 1, TopologyKey: corev1.LabelTopologyZone, WhenUnsatisfiable: corev1.ScheduleAnyway},
	}})
	require.EqualError(t, err, `Controllers[2]: UID: "u" is listed twice; list each controller once`)
}
