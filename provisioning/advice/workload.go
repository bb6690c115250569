package advice

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// workloadOf returns what a pod belongs to, such as "Deployment shop/web": its controller, or
// itself if nothing controls it. A ReplicaSet whose name ends in the hash of its pods' template
// stands for the Deployment that made it.
func workloadOf(pod *corev1.Pod) string {
	ref := metav1.GetControllerOfNoCopy(pod)
	if ref == nil {
		return "Pod " + pod.Namespace + "/" + pod.Name
	}
	kind, name := ref.Kind, ref.Name
	if hash := pod.Labels[appsv1.DefaultDeploymentUniqueLabelKey]; kind == "ReplicaSet" && hash != "" {
		if short, ok := strings.CutSuffix(name, "-"+hash); ok && short != "" {
			kind, name = "Deployment", short
		}
	}
	return kind + " " + pod.Namespace + "/" + name
}

// podPart identifies the part of a pod, or of a NodePool, that is a constraint.
type podPart struct {
	kind Kind
	key  string // a label, a taint, a resource
	raw  string // a term as JSON
}

// found is a constraint of one pod.
type found struct {
	podPart
	field, text string
}

// podConstraints returns the constraints of pods, by workload.
func podConstraints(pods []*corev1.Pod) []Constraint {
	type key struct {
		object string
		podPart
	}
	at := map[key]*Constraint{}
	for _, p := range pods {
		if p == nil {
			continue
		}
		if _, _, virtual := provisioning.BufferOf(p); virtual {
			continue
		}
		object := workloadOf(p)
		seen := map[podPart]bool{}
		for _, f := range constraintsOf(p) {
			if seen[f.podPart] {
				continue
			}
			seen[f.podPart] = true
			c := at[key{object, f.podPart}]
			if c == nil {
				c = &Constraint{Kind: f.kind, Object: object, Field: f.field, Text: f.text, part: f.podPart, pods: map[types.NamespacedName]bool{}}
				at[key{object, f.podPart}] = c
			}
			c.pods[nameOf(p)] = true
			if f.kind == KindRequest {
				c.Amount += f.givenUp(p)
			}
		}
	}
	var out []Constraint
	for _, c := range at { // sorted by Constraints
		c.Pods = len(c.pods)
		out = append(out, *c)
	}
	return out
}

// constraintsOf returns the constraints of one pod.
func constraintsOf(p *corev1.Pod) []found {
	var out []found
	add := func(kind Kind, key, raw, field, text string) {
		out = append(out, found{podPart{kind, key, raw}, field, text})
	}
	for key, value := range p.Spec.NodeSelector { // sorted by Constraints
		add(KindNodeSelector, key, value, "spec.nodeSelector["+key+"]", key+"="+value)
	}
	if a := p.Spec.Affinity; a != nil {
		out = append(out, affinityOf(a)...)
	}
	for i := range p.Spec.TopologySpreadConstraints {
		t := &p.Spec.TopologySpreadConstraints[i]
		kind, text := KindTopologySpread, spreadText(t)
		if t.WhenUnsatisfiable == corev1.ScheduleAnyway {
			kind, text = KindPreference, "topology spread "+text
		}
		add(kind, "spread", raw(t), "spec.topologySpreadConstraints["+t.TopologyKey+"]", text)
	}
	if ports := hostPorts(p); len(ports) > 0 {
		text := strings.Trim(fmt.Sprint(ports), "[]")
		add(KindHostPort, "", text, "spec.containers[*].ports[*].hostPort", text)
	}
	for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
		if requested(p, name) > 0 {
			add(KindRequest, string(name), "", "spec.containers[*].resources.requests["+string(name)+"]", string(name))
		}
	}
	return out
}

// affinityOf returns the constraints of an affinity.
func affinityOf(a *corev1.Affinity) []found {
	var out []found
	add := func(kind Kind, key string, term any, field, text string) {
		out = append(out, found{podPart{kind, key, raw(term)}, field, text})
	}
	if n := a.NodeAffinity; n != nil {
		if n.RequiredDuringSchedulingIgnoredDuringExecution != nil {
			out = append(out, nodeAffinityOf(n.RequiredDuringSchedulingIgnoredDuringExecution)...)
		}
		for i := range n.PreferredDuringSchedulingIgnoredDuringExecution {
			t := &n.PreferredDuringSchedulingIgnoredDuringExecution[i]
			add(KindPreference, "node", t, "spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution",
				fmt.Sprintf("node affinity %s of weight %d", selectorText(t.Preference), t.Weight))
		}
	}
	ofPods := func(kind Kind, key, field string, required []corev1.PodAffinityTerm, preferred []corev1.WeightedPodAffinityTerm) {
		for i := range required {
			add(kind, "", &required[i], field+".requiredDuringSchedulingIgnoredDuringExecution", termText(&required[i]))
		}
		for i := range preferred {
			t := &preferred[i]
			add(KindPreference, key, t, field+".preferredDuringSchedulingIgnoredDuringExecution",
				fmt.Sprintf("%s %s of weight %d", words[kind], termText(&t.PodAffinityTerm), t.Weight))
		}
	}
	if n := a.PodAffinity; n != nil {
		ofPods(KindPodAffinity, "pod", "spec.affinity.podAffinity", n.RequiredDuringSchedulingIgnoredDuringExecution, n.PreferredDuringSchedulingIgnoredDuringExecution)
	}
	if n := a.PodAntiAffinity; n != nil {
		ofPods(KindPodAntiAffinity, "anti", "spec.affinity.podAntiAffinity", n.RequiredDuringSchedulingIgnoredDuringExecution, n.PreferredDuringSchedulingIgnoredDuringExecution)
	}
	return out
}

// nodeAffinityOf returns the labels that a required node affinity restricts.
func nodeAffinityOf(s *corev1.NodeSelector) []found {
	var out []found
	texts := map[string][]string{}
	var keys []string
	for i := range s.NodeSelectorTerms {
		t := &s.NodeSelectorTerms[i]
		for _, e := range slices.Concat(t.MatchExpressions, t.MatchFields) {
			if texts[e.Key] == nil {
				keys = append(keys, e.Key)
			}
			if text := expressionText(e); !slices.Contains(texts[e.Key], text) {
				texts[e.Key] = append(texts[e.Key], text)
			}
		}
	}
	for _, key := range keys {
		out = append(out, found{podPart{KindNodeAffinity, key, raw(s)},
			"spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution[" + key + "]", strings.Join(texts[key], " or ")})
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
func (c podPart) givenUp(p *corev1.Pod) float64 {
	name, without := corev1.ResourceName(c.key), p.DeepCopy()
	c.dropFrom(without)
	return requested(p, name) - requested(without, name)
}

// dropFrom takes the constraint out of a pod, which is the caller's own copy.
func (c podPart) dropFrom(p *corev1.Pod) {
	switch c.kind {
	case KindNodeSelector:
		if p.Spec.NodeSelector[c.key] == c.raw {
			delete(p.Spec.NodeSelector, c.key)
		}
	case KindTopologySpread:
		c.dropSpread(p)
	case KindHostPort:
		for _, list := range [][]corev1.Container{p.Spec.InitContainers, p.Spec.Containers} {
			for i := range list {
				list[i].Ports = slices.DeleteFunc(list[i].Ports, func(port corev1.ContainerPort) bool { return port.HostPort != 0 })
			}
		}
	case KindRequest:
		c.halve(p)
	case KindPreference:
		if c.key == "spread" {
			c.dropSpread(p)
			return
		}
		c.dropAffinity(p.Spec.Affinity)
	default:
		c.dropAffinity(p.Spec.Affinity)
	}
}

func (c podPart) dropSpread(p *corev1.Pod) {
	p.Spec.TopologySpreadConstraints = slices.DeleteFunc(p.Spec.TopologySpreadConstraints,
		func(t corev1.TopologySpreadConstraint) bool { return raw(&t) == c.raw })
}

// dropAffinity takes a term out of an affinity.
func (c podPart) dropAffinity(a *corev1.Affinity) {
	if a == nil {
		return
	}
	if n := a.NodeAffinity; n != nil {
		if s := n.RequiredDuringSchedulingIgnoredDuringExecution; c.kind == KindNodeAffinity && s != nil && raw(s) == c.raw {
			n.RequiredDuringSchedulingIgnoredDuringExecution = withoutKey(s, c.key)
		}
		n.PreferredDuringSchedulingIgnoredDuringExecution = drop(c, "node", n.PreferredDuringSchedulingIgnoredDuringExecution)
	}
	if n := a.PodAffinity; n != nil {
		if c.kind == KindPodAffinity {
			n.RequiredDuringSchedulingIgnoredDuringExecution = drop(c, "", n.RequiredDuringSchedulingIgnoredDuringExecution)
		}
		n.PreferredDuringSchedulingIgnoredDuringExecution = drop(c, "pod", n.PreferredDuringSchedulingIgnoredDuringExecution)
	}
	if n := a.PodAntiAffinity; n != nil {
		if c.kind == KindPodAntiAffinity {
			n.RequiredDuringSchedulingIgnoredDuringExecution = drop(c, "", n.RequiredDuringSchedulingIgnoredDuringExecution)
		}
		n.PreferredDuringSchedulingIgnoredDuringExecution = drop(c, "anti", n.PreferredDuringSchedulingIgnoredDuringExecution)
	}
}

// drop removes the term of c from list if that list is the one that key names.
func drop[T any](c podPart, key string, list []T) []T {
	if c.key != key {
		return list
	}
	return slices.DeleteFunc(list, func(term T) bool { return raw(&term) == c.raw })
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

// halve makes containers, and the pod as a whole, request half as much.
func (c podPart) halve(p *corev1.Pod) {
	name := corev1.ResourceName(c.key)
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
