package advice

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/dovetail-sdk/dovetail/internal/podlife"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// part identifies the part of a pod, or of a NodePool, that is a constraint.
type part struct {
	kind Kind
	key  string // a label, a taint, a resource
	raw  string // a term as JSON
}

// term is a constraint of one pod or NodePool.
type term struct {
	part
	field, text string
	remove      func() // takes the constraint out of the object
}

// terms collects the constraints of one pod or NodePool.
type terms struct {
	only Kind // of which kind; empty for all
	list []term
}

func (t *terms) add(kind Kind, key, raw, field, text string, remove func()) {
	if t.only == "" || t.only == kind {
		t.list = append(t.list, term{part{kind, key, raw}, field, text, remove})
	}
}

// dropFrom removes a constraint from the object that has the terms.
func (c part) dropFrom(list []term) {
	for _, t := range list {
		if t.part == c {
			t.remove()
		}
	}
}

// podConstraints returns the constraints of pods, by workload.
func podConstraints(pods []*corev1.Pod) []Constraint {
	type key struct {
		object string
		part
	}
	at := map[key]*Constraint{}
	for _, p := range pods {
		if p == nil {
			continue
		}
		if _, _, virtual := provisioning.BufferOf(p); virtual {
			continue
		}
		kind, name := podlife.Workload(p)
		object := kind + " " + p.Namespace + "/" + name
		for _, t := range podTerms(p, "") {
			c := at[key{object, t.part}]
			if c == nil {
				c = &Constraint{Kind: t.kind, Object: object, Field: t.field, Text: t.text, part: t.part, pods: map[types.NamespacedName]bool{}}
				at[key{object, t.part}] = c
			}
			if !c.pods[nameOf(p)] && t.kind == KindRequest {
				c.Amount += t.givenUp(p)
			}
			c.pods[nameOf(p)] = true
		}
	}
	var out []Constraint
	for _, c := range at { // sorted by Constraints
		c.Pods = len(c.pods)
		out = append(out, *c)
	}
	return out
}

// podTerms returns the constraints of one pod: those of one kind, or all if it is empty. One that
// stands in the pod twice is listed twice.
func podTerms(p *corev1.Pod, only Kind) []term {
	t := &terms{only: only}
	for key, value := range p.Spec.NodeSelector { // sorted by Constraints
		t.add(KindNodeSelector, key, value, "spec.nodeSelector["+key+"]", key+"="+value, func() { delete(p.Spec.NodeSelector, key) })
	}
	if a := p.Spec.Affinity; a != nil {
		t.affinity(a)
	}
	for i := range p.Spec.TopologySpreadConstraints {
		s := &p.Spec.TopologySpreadConstraints[i]
		kind, about, id := KindTopologySpread, "", raw(s)
		if s.WhenUnsatisfiable == corev1.ScheduleAnyway {
			kind, about = KindPreference, "topology spread "
		}
		t.add(kind, "spread", id, "spec.topologySpreadConstraints["+s.TopologyKey+"]", about+spreadText(s), func() {
			p.Spec.TopologySpreadConstraints = slices.DeleteFunc(p.Spec.TopologySpreadConstraints,
				func(s corev1.TopologySpreadConstraint) bool { return raw(&s) == id })
		})
	}
	containers := [][]corev1.Container{p.Spec.InitContainers, p.Spec.Containers}
	if ports := hostPorts(p); len(ports) > 0 {
		text := strings.Trim(fmt.Sprint(ports), "[]")
		t.add(KindHostPort, "", text, "spec.containers[*].ports[*].hostPort", text, func() {
			for _, list := range containers {
				for i := range list {
					list[i].Ports = slices.DeleteFunc(list[i].Ports, func(port corev1.ContainerPort) bool { return port.HostPort != 0 })
				}
			}
		})
	}
	for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
		if requested(p, name) > 0 {
			t.add(KindRequest, string(name), "", "spec.containers[*].resources.requests["+string(name)+"]", string(name), func() { halve(p, name) })
		}
	}
	return t.list
}

// affinity adds the constraints of an affinity.
func (t *terms) affinity(a *corev1.Affinity) {
	const required, preferred = ".requiredDuringSchedulingIgnoredDuringExecution", ".preferredDuringSchedulingIgnoredDuringExecution"
	if n := a.NodeAffinity; n != nil {
		const field = "spec.affinity.nodeAffinity"
		if s := n.RequiredDuringSchedulingIgnoredDuringExecution; s != nil {
			for key, text := range restricted(s) { // sorted by Constraints
				t.add(KindNodeAffinity, key, raw(s), field+required+"["+key+"]", text, func() {
					n.RequiredDuringSchedulingIgnoredDuringExecution = withoutKey(s, key)
				})
			}
		}
		addAll(t, KindPreference, "node", field+preferred, &n.PreferredDuringSchedulingIgnoredDuringExecution, func(x *corev1.PreferredSchedulingTerm) string {
			return fmt.Sprintf("node affinity %s of weight %d", selectorText(x.Preference), x.Weight)
		})
	}
	weighted := func(kind Kind) func(x *corev1.WeightedPodAffinityTerm) string {
		return func(x *corev1.WeightedPodAffinityTerm) string {
			return fmt.Sprintf("%s %s of weight %d", words[kind], termText(&x.PodAffinityTerm), x.Weight)
		}
	}
	if n := a.PodAffinity; n != nil {
		const field = "spec.affinity.podAffinity"
		addAll(t, KindPodAffinity, "", field+required, &n.RequiredDuringSchedulingIgnoredDuringExecution, termText)
		addAll(t, KindPreference, "pod", field+preferred, &n.PreferredDuringSchedulingIgnoredDuringExecution, weighted(KindPodAffinity))
	}
	if n := a.PodAntiAffinity; n != nil {
		const field = "spec.affinity.podAntiAffinity"
		addAll(t, KindPodAntiAffinity, "", field+required, &n.RequiredDuringSchedulingIgnoredDuringExecution, termText)
		addAll(t, KindPreference, "anti", field+preferred, &n.PreferredDuringSchedulingIgnoredDuringExecution, weighted(KindPodAntiAffinity))
	}
}

// addAll adds the elements of a list.
func addAll[T any](t *terms, kind Kind, key, field string, list *[]T, text func(*T) string) {
	if t.only != "" && t.only != kind {
		return
	}
	for i := range *list {
		id := raw(&(*list)[i])
		t.add(kind, key, id, field, text(&(*list)[i]), func() {
			*list = slices.DeleteFunc(*list, func(x T) bool { return raw(&x) == id })
		})
	}
}

// restricted returns the labels that a required node affinity restricts, with its expressions.
func restricted(s *corev1.NodeSelector) map[string]string {
	texts := map[string][]string{}
	for i := range s.NodeSelectorTerms {
		t := &s.NodeSelectorTerms[i]
		for _, e := range slices.Concat(t.MatchExpressions, t.MatchFields) {
			if text := expressionText(e); !slices.Contains(texts[e.Key], text) {
				texts[e.Key] = append(texts[e.Key], text)
			}
		}
	}
	out := map[string]string{}
	for key, list := range texts { // into a map again
		out[key] = strings.Join(list, " or ")
	}
	return out
}

// raw returns a term as JSON, which identifies it.
func raw(term any) string {
	data, err := json.Marshal(term)
	if err != nil {
		return fmt.Sprintf("%+v", term) // types of the API can be encoded
	}
	return string(data)
}

func spreadText(t *corev1.TopologySpreadConstraint) string {
	text := fmt.Sprintf("over %s by %d", t.TopologyKey, t.MaxSkew)
	if t.MinDomains != nil {
		text += fmt.Sprintf(", at least %d domains", *t.MinDomains)
	}
	return text + " of pods " + metav1.FormatLabelSelector(t.LabelSelector)
}

func termText(t *corev1.PodAffinityTerm) string {
	return fmt.Sprintf("over %s to pods %s", t.TopologyKey, metav1.FormatLabelSelector(t.LabelSelector))
}

func selectorText(t corev1.NodeSelectorTerm) string {
	var parts []string
	for _, e := range slices.Concat(t.MatchExpressions, t.MatchFields) {
		parts = append(parts, expressionText(e))
	}
	return strings.Join(parts, " and ")
}

func expressionText(e corev1.NodeSelectorRequirement) string {
	text := e.Key + " " + string(e.Operator)
	if len(e.Values) > 0 {
		text += " [" + strings.Join(e.Values, ", ") + "]"
	}
	return text
}

// hostPorts returns the host ports of a pod.
func hostPorts(p *corev1.Pod) []int32 {
	var out []int32
	for _, c := range slices.Concat(p.Spec.InitContainers, p.Spec.Containers) {
		for _, port := range c.Ports {
			if port.HostPort != 0 {
				out = append(out, port.HostPort)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// requested returns the request of a pod: CPU in cores, memory in GiB; 0 if it cannot be read.
func requested(p *corev1.Pod, name corev1.ResourceName) float64 {
	list, err := resources.PodRequests(p)
	if err != nil {
		return 0
	}
	if name == corev1.ResourceCPU {
		return float64(list.Get(name)) / 1000
	}
	return float64(list.Get(name)) / (1 << 30)
}

// givenUp returns how much less a pod requests without the constraint.
func (c part) givenUp(p *corev1.Pod) float64 {
	name, without := corev1.ResourceName(c.key), p.DeepCopy()
	halve(without, name)
	return requested(p, name) - requested(without, name)
}

// withoutKey returns a node selector without requirements on a label. A term that becomes empty
// would admit every node, and so would the whole selector: then the result is nil. A term that was
// empty already admits no node, and stays.
func withoutKey(s *corev1.NodeSelector, key string) *corev1.NodeSelector {
	of := func(e corev1.NodeSelectorRequirement) bool { return e.Key == key }
	for i := range s.NodeSelectorTerms {
		t := &s.NodeSelectorTerms[i]
		before := len(t.MatchExpressions) + len(t.MatchFields)
		t.MatchExpressions, t.MatchFields = slices.DeleteFunc(t.MatchExpressions, of), slices.DeleteFunc(t.MatchFields, of)
		if before > 0 && len(t.MatchExpressions)+len(t.MatchFields) == 0 {
			return nil
		}
	}
	return s
}

// halve makes containers, and the pod as a whole, request half as much of a resource.
func halve(p *corev1.Pod, name corev1.ResourceName) {
	half := func(requests corev1.ResourceList) {
		if q, found := requests[name]; found {
			requests[name] = halfOf(q, name)
		}
	}
	for _, list := range [][]corev1.Container{p.Spec.InitContainers, p.Spec.Containers} {
		for i := range list {
			half(list[i].Resources.Requests)
		}
	}
	if p.Spec.Resources != nil {
		half(p.Spec.Resources.Requests)
	}
}

// halfOf returns half of a quantity, rounded up.
func halfOf(q resource.Quantity, name corev1.ResourceName) resource.Quantity {
	if name == corev1.ResourceCPU {
		return *resource.NewMilliQuantity((q.MilliValue()+1)/2, q.Format)
	}
	return *resource.NewQuantity((q.Value()+1)/2, q.Format)
}
