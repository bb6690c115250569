package provisioning_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/verify"
)

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
