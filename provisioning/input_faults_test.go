package provisioning_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/scenes"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
	"github.com/dovetail-sdk/dovetail/provisioning/verify"
)

// fault is a way to spoil a sound input, and what is said of it.
type fault struct {
	name  string
	spoil func(s *scene)
	says  []string // each fault, in full
}

// terms is where required node affinity stands in a pod.
const terms = "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms"

// reserved is how the fault of a label in the domain of Karpenter begins.
const reserved = `domains that end in "karpenter.sh" are reserved, except for the key "karpenter.sh/capacity-type"; use a domain of your own for `

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
			`NodePool "general": spec.template.metadata.labels[karpenter.sh/initialized]: Forbidden: ` + reserved + `"karpenter.sh/initialized"`,
			`NodePool "general": spec.template.metadata.labels[kubernetes.io/hostname]: Forbidden: the host name of a new node cannot be known; remove "kubernetes.io/hostname"`,
			`NodePool "batch": spec.template.spec.requirements[0].key: Forbidden: ` + reserved + `"karpenter.sh/registered"`,
		}},
		{"taints that are none", func(s *scene) {
			s.General.Spec.Template.Spec.Taints = []corev1.Taint{{Key: "team", Effect: "NoSchedul"}}
			s.Batch.Spec.Template.Spec.StartupTaints = []corev1.Taint{{Key: "ready", Effect: corev1.TaintEffectNoExecute}, {}}
		}, []string{
			`NodePool "general": spec.template.spec.taints[0].effect: Unsupported value: "NoSchedul": supported values: "NoExecute", "NoSchedule", "PreferNoSchedule"`,
			`NodePool "batch": spec.template.spec.startupTaints[1].key: Required value: a taint needs a key`,
			`NodePool "batch": spec.template.spec.startupTaints[1].effect: Required value: use NoSchedule, PreferNoSchedule or NoExecute`,
		}},
		{"labels and requirements that no node can have", func(s *scene) {
			s.General.Spec.Template.Labels = map[string]string{"example.org/ok": "no value!"}
			s.General.Spec.Template.Spec.Requirements = []v1.NodeSelectorRequirementWithMinValues{
				{Key: "", Operator: corev1.NodeSelectorOpExists},
				{Key: "karpenter.sh/foo", Operator: corev1.NodeSelectorOpIn, Values: []string{"a"}},
				{Key: "team", Operator: corev1.NodeSelectorOpIn, Values: []string{"red", "dark red"}},
				{Key: "no key!", Operator: "Near"},
			}
			s.Batch.Spec.Weight = new(int32(-3))
			s.Batch.Spec.Template.Spec.NodeClassRef = &v1.NodeClassReference{Group: "example.org", Name: "default"}
		}, []string{
			`NodePool "general": spec.template.spec.requirements[3].operator: Invalid value: "Near": label "no key!": operator "Near" is not known; use one of In, NotIn, Exists, DoesNotExist, Gt, Gte, Lt, Lte`,
			`NodePool "general": spec.template.metadata.labels[example.org/ok]: Invalid value: "no value!": not a label value: ` + validation.IsValidLabelValue("!")[0],
			`NodePool "general": spec.template.spec.requirements[0].key: Required value: a requirement needs a label key`,
			`NodePool "general": spec.template.spec.requirements[1].key: Forbidden: ` + reserved + `"karpenter.sh/foo"`,
			`NodePool "general": spec.template.spec.requirements[2].values[1]: Invalid value: "dark red": not a label value: ` + validation.IsValidLabelValue("!")[0],
			`NodePool "general": spec.template.spec.requirements[3].key: Invalid value: "no key!": not a label key: ` + validation.IsQualifiedName("!")[0],
			`NodePool "batch": spec.template.spec.nodeClassRef.kind: Required value: the kind of the NodeClass`,
			`NodePool "batch": spec.weight: Invalid value: -3: want 1 to 100; leave it out for the lowest weight, 0`,
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
			`InstanceTypes["general"]: instance type small: offering 0 (small/a/on-demand): price: -1; use a price in USD per hour, above zero and at most 1e+09`,
		}},
		{"price that is not a number", func(s *scene) { s.Small.Offerings[0].Price = math.NaN() }, []string{
			`InstanceTypes["general"]: instance type small: offering 0 (small/a/on-demand): price: NaN; use a price in USD per hour, above zero and at most 1e+09`,
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
			`Options: MinValues: is "Maybe"; use "Strict" or "BestEffort"`,
		}},
		{"negative MaxSteps", func(s *scene) { s.Opts = &provisioning.Options{MaxSteps: -1} }, []string{
			`Options: MaxSteps: is -1; use 0 for the default, or a positive number`,
		}},
		{"all options", func(s *scene) {
			s.Opts = &provisioning.Options{MinValues: "strict", MaxSteps: -1, Parallel: -1, Kubernetes: "banana"}
		}, []string{
			`Options: MinValues: is "strict"; use "Strict" or "BestEffort"`,
			`Options: MaxSteps: is -1; use 0 for the default, or a positive number`,
			`Options: Parallel: is -1; use 0 for the default, or a positive number of goroutines`,
			`Options: Kubernetes: is "banana": it is no minor version of Kubernetes; use one of 1.34, 1.35, 1.36, 1.37, 1.38, or nothing for all of them`,
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
		{"NodeClaim of another machine", func(s *scene) {
			s.Old.Node.Spec.ProviderID = "cloud://old"
			s.Old.NodeClaim.Status.NodeName, s.Old.NodeClaim.Status.ProviderID = "other", "cloud://other"
		}, []string{
			`NodeClaim "claim-old": status.providerID: is "cloud://other", but that of Node "old", with which it is listed, is "cloud://old"; list the NodeClaim with its own Node`,
			`NodeClaim "claim-old": status.nodeName: is "other", but the NodeClaim is listed with Node "old"; list it with its own Node`,
		}},
		{"NodeClaim with two Nodes", func(s *scene) {
			s.Old.NodeClaim.Status = v1.NodeClaimStatus{}
			s.Plain.NodeClaim = s.Old.NodeClaim
		}, []string{
			`NodeClaim "claim-old": is listed with Node "old" and with Node "plain"; list it with its own Node only`,
		}},
		{"machine of two nodes", func(s *scene) {
			s.Old.Node.Spec.ProviderID, s.Plain.Node.Spec.ProviderID = "cloud://one", "cloud://one"
			s.Old.NodeClaim.Status.ProviderID, s.Young.NodeClaim.Status.ProviderID = "", "cloud://one"
		}, []string{
			`NodeClaim "young": status.providerID: is "cloud://one", as for Node "old"; a machine is one node, so leave one of the two out`,
		}},
		{"nil bound pod", func(s *scene) { s.Old.Pods = append(s.Old.Pods, nil) }, []string{
			`Node "old": Pods[1]: is nil; leave it out`,
		}},
	}
}

func TestInputFaults(t *testing.T) {
	for _, f := range slices.Concat(podFaults(), poolFaults(), nodeFaults()) {
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
		`Options: MaxSteps: is -1; use 0 for the default, or a positive number`,
		`Pods[5]: is nil; leave it out`,
		`Nodes[3]: has neither a Node nor a NodeClaim; set at least one`,
		`Node "old": is listed twice; list each node once, with its NodeClaim beside it`,
		`DaemonSet Pod "default/agent": container main: resource memory: 1e30: amount out of range; the amount in bytes must fit in a signed 64-bit integer, use a smaller quantity`,
		`Pod "default/huge": spec.nodeName: is "old"; a bound pod belongs in Node.Pods, not among the pods to place`,
		`NodePools[2]: is nil; leave it out`,
		`NodePool "batch": is listed twice; list each NodePool once`,
		`InstanceTypes["general"]: instance type small: offering 2 (small/b/on-demand): price: -2; use a price in USD per hour, above zero and at most 1e+09`,
		`NodePool "general": spec.limits[cpu]: is negative; a limit is zero or more`,
		`Node "old": pod default/bound: container main: resource cpu: -1: negative request; use zero or more`,
		`Node "plain": status.allocatable: resource memory: 1e30: amount out of range; the amount in bytes must fit in a signed 64-bit integer, use a smaller quantity`,
	}, texts(provisioning.Faults(err)))
	require.ErrorIs(t, err, resources.ErrNegative)
	require.ErrorIs(t, err, resources.ErrOverflow)
	require.Equal(t, strings.Join(texts(provisioning.Faults(err)), "\n"), err.Error())
}

// Every fault has its parts by themselves: what is wrong in Detail, and where in Object and Field.
func TestInputErrorParts(t *testing.T) {
	s := newScene()
	s.Opts = &provisioning.Options{MaxSteps: -1, DefaultSpread: []corev1.TopologySpreadConstraint{{MaxSkew: 1, WhenUnsatisfiable: corev1.DoNotSchedule}}}
	s.In.Overlays = []*v1.NodeOverlay{nil, {}}
	s.Small.Offerings[0].Price = -1
	s.Young.NodeClaim.Status = v1.NodeClaimStatus{}
	s.Young.NodeClaim.Spec.Requirements = []v1.NodeSelectorRequirementWithMinValues{{Key: "x", Operator: "Foo"}}
	s.Plain.Node.Status.Allocatable = corev1.ResourceList{"memory": resource.MustParse("1e30")}
	_, err := provisioning.Prepare(s.In, s.Opts)
	var got [][3]string
	for _, f := range provisioning.Faults(err) {
		got = append(got, [3]string{f.Object, f.Field, f.Detail})
		require.Equal(t, f.Object+": "+f.Field+": "+f.Detail, f.Error())
	}
	require.Equal(t, [][3]string{
		{"Options", "DefaultSpread[0].topologyKey", "is empty; name a node label"},
		{"Options", "MaxSteps", "is -1; use 0 for the default, or a positive number"},
		{"Overlays", "overlay 0", "is nil; leave it out"},
		{"Overlays", "overlay 1: metadata.name", "is empty; overlays are identified by name"},
		{`InstanceTypes["general"]`, "instance type small", "offering 0 (small/a/on-demand): price: -1; use a price in USD per hour, above zero and at most 1e+09"},
		{`Node "plain"`, "status.allocatable", "resource memory: 1e30: amount out of range; the amount in bytes must fit in a signed 64-bit integer, use a smaller quantity"},
		{`NodeClaim "young"`, "spec.requirements[0].operator", `Invalid value: "Foo": label "x": operator "Foo" is not known; use one of In, NotIn, Exists, DoesNotExist, Gt, Gte, Lt, Lte`},
	}, got)
}

func TestInputErrorFields(t *testing.T) {
	s := newScene()
	s.term(s.Daemon, "team", "Is", "red")
	_, err := provisioning.Prepare(s.In, nil)
	var fault *provisioning.InputError
	require.ErrorAs(t, err, &fault)
	require.Equal(t, `DaemonSet Pod "default/agent"`, fault.Object)
	require.Equal(t, terms+"[0].matchExpressions[0].operator", fault.Field)
	require.Equal(t, `Invalid value: "Is": label "team": operator "Is" is not known; use one of In, NotIn, Exists, DoesNotExist, Gt, Lt`, fault.Detail)
	var cause *field.Error
	require.ErrorAs(t, err, &cause)
	require.Equal(t, fault.Field, cause.Field)
}

// A Node that has come back under another name is the same machine, and Nodes without a NodeClaim are
// ended by nobody here.
func TestMachinesThatAreNoFault(t *testing.T) {
	s := newScene()
	s.Old.Node.Spec.ProviderID, s.Old.NodeClaim.Status.ProviderID, s.Old.NodeClaim.Status.NodeName = "cloud://old", "cloud://old", "before"
	twin := *s.Plain
	twin.Node = twin.Node.DeepCopy()
	twin.Node.Name = "twin"
	twin.Node.Labels[corev1.LabelHostname] = "twin"
	twin.Node.Spec.ProviderID, s.Plain.Node.Spec.ProviderID = "kind://", "kind://"
	s.In.Nodes = append(s.In.Nodes, twin)
	_, err := provisioning.Prepare(s.In, nil)
	require.NoError(t, err)
}

// A pod that is to be placed, or is expected on a node, may also be on a node that it leaves. Pods
// that have finished, and virtual pods of buffers, do not count.
func TestSuccessorsAreNoFault(t *testing.T) {
	deleted := func(p *corev1.Pod) *corev1.Pod {
		p = p.DeepCopy()
		p.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)}
		return p
	}
	for _, tt := range []struct {
		name  string
		allow func(s *scene)
	}{
		{"of a node that is leaving", func(s *scene) {
			s.Plain.Pods = []*corev1.Pod{s.Huge}
			*s.Plain = s.Plain.Leaving()
		}},
		{"of a pod that is being deleted", func(s *scene) { s.Plain.Pods = []*corev1.Pod{deleted(s.Huge)} }},
		{"of a pod that ends", func(s *scene) { s.Plain.Ending = []*corev1.Pod{deleted(s.Huge)} }},
		{"on another node", func(s *scene) {
			s.Plain.Pods = []*corev1.Pod{scenes.Pod("promised", "1", "1Gi")}
			s.Young.Pods = []*corev1.Pod{deleted(s.Plain.Pods[0])}
		}},
		{"of a pod that has finished", func(s *scene) {
			s.Plain.Pods = []*corev1.Pod{s.Huge.DeepCopy()}
			s.Plain.Pods[0].Status.Phase = corev1.PodFailed
		}},
		{"of a virtual pod", func(s *scene) {
			s.In.Buffers = []provisioning.Buffer{{Namespace: "default", Name: "spare", Replicas: 1, Template: corev1.PodTemplateSpec{Spec: s.Huge.Spec}}}
			s.Plain.Pods = s.In.Buffers[0].Pods()
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newScene()
			tt.allow(s)
			_, err := provisioning.Prepare(s.In, nil)
			require.NoError(t, err)
		})
	}
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

// podFault is a way to spoil one pending pod, and the reason it then stays
// pending for.
type podFault struct {
	name  string
	spoil func(s *scene, pod *corev1.Pod)
	says  string
}

// Where the terms of pod affinity stand.
const (
	required  = "requiredDuringSchedulingIgnoredDuringExecution"
	preferred = "preferredDuringSchedulingIgnoredDuringExecution"
)

func ownFaults() []podFault {
	return append(selectionFaults(), neighbourFaults()...)
}

func selectionFaults() []podFault {
	return []podFault{
		{"negative request", func(s *scene, p *corev1.Pod) { s.quantity(p, "cpu", "-1") },
			`container main: resource cpu: -1: negative request; use zero or more`},
		{"request out of range", func(s *scene, p *corev1.Pod) { s.quantity(p, "cpu", "1e30") },
			`container main: resource cpu: 1e30: amount out of range; the amount in milli-CPU must fit in a signed 64-bit integer, use a smaller quantity`},
		{"resource without a proper name", func(s *scene, p *corev1.Pod) { s.quantity(p, "my gpu", "1") },
			`container main: resource "my gpu": not a resource name; use letters, digits, "-", "_", "." and "/", as in nvidia.com/gpu`},
		{"two requests at fault", func(s *scene, p *corev1.Pod) {
			s.quantity(p, "cpu", "-1")
			s.quantity(p, "memory", "-1")
		}, `container main: resource cpu: -1: negative request; use zero or more; container main: resource memory: -1: negative request; use zero or more`},
		{"operator that is not known", func(s *scene, p *corev1.Pod) { s.term(p, "team", "Is", "red") },
			terms + `[0].matchExpressions[0].operator: Invalid value: "Is": label "team": operator "Is" is not known; use one of In, NotIn, Exists, DoesNotExist, Gt, Lt`},
		{"operator of NodePools only", func(s *scene, p *corev1.Pod) { s.term(p, "cpus", v1.NodeSelectorOpGte, "4") },
			terms + `[0].matchExpressions[0].operator: Invalid value: "Gte": label "cpus": operator Gte is not known to Kubernetes; use Gt or Lt with the next integer`},
		{"In without values", func(s *scene, p *corev1.Pod) { s.term(p, "team", corev1.NodeSelectorOpIn) },
			terms + `[0].matchExpressions[0].values: Required value: label "team": operator In needs at least one value; add one, or use DoesNotExist if the label must be absent`},
		{"Exists with a value", func(s *scene, p *corev1.Pod) { s.term(p, "team", corev1.NodeSelectorOpExists, "red") },
			terms + `[0].matchExpressions[0].values: Invalid value: ["red"]: label "team": operator Exists takes no values; remove them, or use In or NotIn`},
		{"Gt of no number", func(s *scene, p *corev1.Pod) { s.term(p, "cpus", corev1.NodeSelectorOpGt, "many") },
			terms + `[0].matchExpressions[0].values: Invalid value: ["many"]: label "cpus": operator Gt needs exactly one integer of at most 64 bits, found ["many"]; write one such as "4"`},
		{"label key that is none", func(s *scene, p *corev1.Pod) { s.term(p, "my team", corev1.NodeSelectorOpExists) },
			terms + `[0].matchExpressions[0].key: Invalid value: "my team": label "my team": it is not a label key: name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')`},
		{"field that is not known", func(s *scene, p *corev1.Pod) {
			s.term(p, "team", corev1.NodeSelectorOpExists)
			s.terms(p)[0].MatchFields = []corev1.NodeSelectorRequirement{{Key: "spec.hostname", Operator: "In", Values: []string{"a"}}}
		}, terms + `[0].matchFields[0].key: Invalid value: "spec.hostname": no node can be selected by this field; use metadata.name`},
		{"several selectors at fault", func(s *scene, p *corev1.Pod) {
			s.term(p, "team", corev1.NodeSelectorOpIn)
			s.term(p, "cpus", corev1.NodeSelectorOpGt, "many")
		}, terms + `[0].matchExpressions[0].values: Required value: label "team": operator In needs at least one value; add one, or use DoesNotExist if the label must be absent; ` +
			terms + `[1].matchExpressions[0].values: Invalid value: ["many"]: label "cpus": operator Gt needs exactly one integer of at most 64 bits, found ["many"]; write one such as "4"`},
	}
}

// badSpread gives a pod a sound topology spread constraint and spoils it.
func badSpread(change func(c *corev1.TopologySpreadConstraint)) func(s *scene, p *corev1.Pod) {
	return func(_ *scene, p *corev1.Pod) {
		c := corev1.TopologySpreadConstraint{
			MaxSkew: 1, TopologyKey: corev1.LabelTopologyZone, WhenUnsatisfiable: corev1.DoNotSchedule,
			LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}},
		}
		change(&c)
		p.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{c}
	}
}

// badAffinity gives a pod an affinity term of each of the four kinds: required
// and preferred, to others and away from them. One of them is spoiled.
func badAffinity(kind int, change func(t *corev1.PodAffinityTerm, weight *int32)) func(s *scene, p *corev1.Pod) {
	return func(_ *scene, p *corev1.Pod) {
		var all [4]corev1.WeightedPodAffinityTerm
		for i := range all {
			all[i] = corev1.WeightedPodAffinityTerm{Weight: 10, PodAffinityTerm: corev1.PodAffinityTerm{
				TopologyKey:   corev1.LabelTopologyZone,
				LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "none"}},
			}}
		}
		change(&all[kind].PodAffinityTerm, &all[kind].Weight)
		p.Spec.Affinity = &corev1.Affinity{
			PodAffinity: &corev1.PodAffinity{
				RequiredDuringSchedulingIgnoredDuringExecution:  []corev1.PodAffinityTerm{all[0].PodAffinityTerm},
				PreferredDuringSchedulingIgnoredDuringExecution: all[1:2],
			},
			PodAntiAffinity: &corev1.PodAntiAffinity{
				RequiredDuringSchedulingIgnoredDuringExecution:  []corev1.PodAffinityTerm{all[2].PodAffinityTerm},
				PreferredDuringSchedulingIgnoredDuringExecution: all[3:4],
			},
		}
	}
}

// unreadable is a selector that no API server would let through.
var unreadable = metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "app", Operator: "Like", Values: []string{"w*"}}}}

func neighbourFaults() []podFault {
	return []podFault{
		{"spread over no label", badSpread(func(c *corev1.TopologySpreadConstraint) { c.TopologyKey = "" }),
			`spec.topologySpreadConstraints[0].topologyKey is empty; name a node label`},
		{"spread with no skew", badSpread(func(c *corev1.TopologySpreadConstraint) { c.MaxSkew = 0 }),
			`spec.topologySpreadConstraints[0].maxSkew is 0; it must be at least 1`},
		{"spread that says not what else", badSpread(func(c *corev1.TopologySpreadConstraint) { c.WhenUnsatisfiable = "Never" }),
			`spec.topologySpreadConstraints[0].whenUnsatisfiable is "Never"; use DoNotSchedule or ScheduleAnyway`},
		{"spread with minDomains below one", badSpread(func(c *corev1.TopologySpreadConstraint) { c.MinDomains = new(int32) }),
			`spec.topologySpreadConstraints[0].minDomains is 0; it must be at least 1`},
		{"soft spread with minDomains", badSpread(func(c *corev1.TopologySpreadConstraint) {
			three := int32(3)
			c.MinDomains, c.WhenUnsatisfiable = &three, corev1.ScheduleAnyway
		}),
			`spec.topologySpreadConstraints[0].minDomains is set, but whenUnsatisfiable is ScheduleAnyway; it goes with DoNotSchedule only`},
		{"spread with a selector that cannot be read", badSpread(func(c *corev1.TopologySpreadConstraint) { c.LabelSelector = unreadable.DeepCopy() }),
			`spec.topologySpreadConstraints[0].labelSelector cannot be read: "Like" is not a valid label selector operator`},
		{"required affinity over no label", badAffinity(0, func(t *corev1.PodAffinityTerm, _ *int32) { t.TopologyKey = "" }),
			`spec.affinity.podAffinity.` + required + `[0].topologyKey is empty; name a node label`},
		{"required affinity to pods that cannot be selected so", badAffinity(0, func(t *corev1.PodAffinityTerm, _ *int32) { t.LabelSelector = unreadable.DeepCopy() }),
			`spec.affinity.podAffinity.` + required + `[0].labelSelector cannot be read: "Like" is not a valid label selector operator`},
		{"preferred affinity without weight", badAffinity(1, func(_ *corev1.PodAffinityTerm, w *int32) { *w = 0 }),
			`spec.affinity.podAffinity.` + preferred + `[0].weight is 0; it must be from 1 to 100`},
		{"preferred affinity over no label", badAffinity(1, func(t *corev1.PodAffinityTerm, _ *int32) { t.TopologyKey = "" }),
			`spec.affinity.podAffinity.` + preferred + `[0].podAffinityTerm.topologyKey is empty; name a node label`},
		{"required anti-affinity over no label", badAffinity(2, func(t *corev1.PodAffinityTerm, _ *int32) { t.TopologyKey = "" }),
			`spec.affinity.podAntiAffinity.` + required + `[0].topologyKey is empty; name a node label`},
		{"required anti-affinity in namespaces that cannot be selected so", badAffinity(2, func(t *corev1.PodAffinityTerm, _ *int32) { t.NamespaceSelector = unreadable.DeepCopy() }),
			`spec.affinity.podAntiAffinity.` + required + `[0].namespaceSelector cannot be read: "Like" is not a valid label selector operator`},
		{"preferred anti-affinity of too much weight", badAffinity(3, func(_ *corev1.PodAffinityTerm, w *int32) { *w = 101 }),
			`spec.affinity.podAntiAffinity.` + preferred + `[0].weight is 101; it must be from 1 to 100`},
	}
}

// everythingWrong spoils each part of a pod.
func everythingWrong(s *scene, p *corev1.Pod) {
	s.quantity(p, "cpu", "-1")
	s.term(p, "team", "Is", "red")
	selection := p.Spec.Affinity.NodeAffinity
	badAffinity(1, func(t *corev1.PodAffinityTerm, w *int32) { t.TopologyKey, *w = "", 101 })(s, p)
	badSpread(func(c *corev1.TopologySpreadConstraint) {
		c.MaxSkew, c.TopologyKey, c.WhenUnsatisfiable, c.LabelSelector = 0, "", "Never", unreadable.DeepCopy()
	})(s, p)
	p.Spec.Affinity.NodeAffinity = selection
	p.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution[0].TopologyKey = ""
}

// TestPodFaultsAllAtOnce: who mends a pod wants to do it once. The line of the reason is cut at the
// length of an event; its Detail is whole.
func TestPodFaultsAllAtOnce(t *testing.T) {
	s := newScene()
	everythingWrong(s, s.Tiny)
	reason := unplacedReason(solved(t, s.In, nil), s.Tiny)
	require.LessOrEqual(t, len(reason.String()), 1024)
	require.Contains(t, reason.Report(), reason.Detail)
	require.Equal(t, []string{
		"container main: resource cpu: -1: negative request",
		"use zero or more",
		`spec.topologySpreadConstraints[0].whenUnsatisfiable is "Never"`,
		"use DoNotSchedule or ScheduleAnyway",
		"spec.topologySpreadConstraints[0].topologyKey is empty",
		"name a node label",
		"spec.topologySpreadConstraints[0].maxSkew is 0",
		"it must be at least 1",
		`spec.topologySpreadConstraints[0].labelSelector cannot be read: "Like" is not a valid label selector operator`,
		"spec.affinity.podAffinity." + preferred + "[0].weight is 101",
		"it must be from 1 to 100",
		"spec.affinity.podAffinity." + preferred + "[0].podAffinityTerm.topologyKey is empty",
		"name a node label",
		"spec.affinity.podAntiAffinity." + required + "[0].topologyKey is empty",
		"name a node label",
		terms + `[0].matchExpressions[0].operator: Invalid value: "Is": label "team": operator "Is" is not known`,
		"use one of In, NotIn, Exists, DoesNotExist, Gt, Lt",
	}, strings.Split(reason.Detail, "; "))
}

// TestPodFaults: a pod that cannot be read stays pending and hears what is wrong
// with it, at which field. Everybody else is planned for as if it were not
// there.
func TestPodFaults(t *testing.T) {
	without := newScene()
	without.In.Pods = slices.DeleteFunc(without.In.Pods, func(p *corev1.Pod) bool { return p == without.Tiny })
	rest := whereabouts(solved(t, without.In, nil))
	require.Len(t, rest, 4)
	for _, f := range ownFaults() {
		t.Run(f.name, func(t *testing.T) {
			s := newScene()
			f.spoil(s, s.Tiny)
			plan := solved(t, s.In, nil)
			require.Empty(t, verify.Plan(s.In, plan, nil))
			require.Empty(t, verify.Unplaced(s.In, plan, nil))
			reason := unplacedReason(plan, s.Tiny)
			require.NotNil(t, reason)
			require.Equal(t, provisioning.CauseInvalid, reason.Cause)
			require.Equal(t, f.says, reason.String())
			require.Empty(t, reason.Pools)
			places := whereabouts(plan)
			delete(places, "default/tiny")
			require.Equal(t, rest, places)
		})
	}
}

// TestPodFaultsOfEveryPod: nobody can be planned for, and each is told why.
func TestPodFaultsOfEveryPod(t *testing.T) {
	for _, f := range ownFaults() {
		s := newScene()
		for _, pod := range s.In.Pods {
			f.spoil(s, pod)
		}
		plan := solved(t, s.In, nil)
		require.Empty(t, plan.Create, f.name)
		require.Empty(t, plan.Bind, f.name)
		require.Empty(t, plan.Order, f.name)
		require.Len(t, plan.Unplaced, len(s.In.Pods), f.name)
		for _, u := range plan.Unplaced {
			require.Equal(t, provisioning.CauseInvalid, u.Explanation.Cause, f.name)
			require.Equal(t, f.says, u.Explanation.String(), f.name)
		}
	}
}

// TestPodFaultsBesideOthers: faults of the pod, of other pods and of their
// node selection at once. What keeps a pod from being scheduled now comes first.
func TestPodFaultsBesideOthers(t *testing.T) {
	s := newScene()
	s.quantity(s.Webs[0], "cpu", "-1")
	s.quantity(s.Webs[1], "cpu", "-1")
	s.quantity(s.Tiny, "cpu", "-1")
	s.Tiny.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "example.com/quota"}}
	s.term(s.Night, "team", corev1.NodeSelectorOpIn)
	plan := solved(t, s.In, nil)
	require.Empty(t, plan.Create)
	require.Empty(t, plan.Bind)
	require.Equal(t, provisioning.CauseGated, unplacedReason(plan, s.Tiny).Cause)
	for _, pod := range s.Webs {
		require.Equal(t, provisioning.CauseInvalid, unplacedReason(plan, pod).Cause)
		require.Contains(t, unplacedReason(plan, pod).String(), "container main: resource cpu: -1: negative request; use zero or more")
	}
	require.Contains(t, unplacedReason(plan, s.Night).String(), "matchExpressions[0].values: Required value")
	require.Equal(t, provisioning.CauseNodePools, unplacedReason(plan, s.Huge).Cause)
}

// TestBoundPodFaults: a selector of a running pod that cannot be read keeps
// nobody away, as in kube-scheduler.
func TestBoundPodFaults(t *testing.T) {
	s := newScene()
	want := whereabouts(solved(t, s.In, nil))
	badAffinity(2, func(t *corev1.PodAffinityTerm, _ *int32) { t.LabelSelector = unreadable.DeepCopy() })(s, s.Old.Pods[0])
	require.Equal(t, want, whereabouts(solved(t, s.In, nil)))
}

// unplacedReason is why a pod stays pending, nil if it does not.
func unplacedReason(plan *provisioning.Plan, pod *corev1.Pod) *provisioning.Explanation {
	for _, u := range plan.Unplaced {
		if u.Pod == pod {
			return u.Explanation
		}
	}
	return nil
}

// whereabouts tells, by pod, what became of it.
func whereabouts(plan *provisioning.Plan) map[string]string {
	out := map[string]string{}
	add := func(where string, pods ...*corev1.Pod) {
		for _, pod := range pods {
			out[pod.Namespace+"/"+pod.Name] = where
		}
	}
	for _, n := range plan.Create {
		add(n.Name, n.Pods...)
	}
	for _, b := range plan.Bind {
		add(b.Node, b.Pods...)
	}
	for _, u := range plan.Unplaced {
		add("pending", u.Pod)
	}
	return out
}
