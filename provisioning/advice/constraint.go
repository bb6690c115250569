package advice

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/provisioning"
)

// Kind is the kind of a constraint. The set is closed within a major version.
type Kind string

// The kinds, in the order in which they are listed.
const (
	KindRequirement     Kind = "Requirement"     // of a NodePool, on one label
	KindMinValues       Kind = "MinValues"       // of a requirement
	KindTaint           Kind = "Taint"           // of the nodes of a NodePool
	KindLimit           Kind = "Limit"           // of a NodePool, on one resource
	KindWeight          Kind = "Weight"          // of a NodePool
	KindNodeSelector    Kind = "NodeSelector"    // of pods, on one label
	KindNodeAffinity    Kind = "NodeAffinity"    // required, on one label
	KindPodAffinity     Kind = "PodAffinity"     // required, one term
	KindPodAntiAffinity Kind = "PodAntiAffinity" // required, one term
	KindTopologySpread  Kind = "TopologySpread"  // that must hold, one constraint
	KindHostPort        Kind = "HostPort"        // all ports of a pod on its node
	KindPreference      Kind = "Preference"      // preferred affinity or a spread that need not hold, one term
	KindRequest         Kind = "Request"         // half of the CPU or memory that pods request
)

// kinds are all kinds in the order of the constants.
var kinds = []Kind{KindRequirement, KindMinValues, KindTaint, KindLimit, KindWeight, KindNodeSelector, KindNodeAffinity, KindPodAffinity,
	KindPodAntiAffinity, KindTopologySpread, KindHostPort, KindPreference, KindRequest}

// Constraint is a constraint of a NodePool, or of the pods of a workload, that could be removed.
// Constraints makes it; the zero value is not a constraint.
type Constraint struct {
	Kind Kind
	// Object has the constraint: "NodePool general", or a workload such as "Deployment shop/web",
	// which stands for all its pods with this constraint.
	Object string
	// Field is the path of the constraint in the object, such as
	// spec.template.spec.taints[dedicated:NoSchedule].
	Field string
	// Text describes the constraint, such as "kubernetes.io/arch In [amd64]".
	Text string
	// Pods is the number of pods that have the constraint; 0 if a NodePool has it.
	Pods int
	// Amount, for KindRequest, is how much of the request Without removes from each pod: CPU in cores or memory in GiB. Otherwise
	// it is 0.
	Amount float64

	pool string
	pods map[types.NamespacedName]bool // the pods that have the constraint
	part part
}

// Compare orders constraints by kind, as the constants are listed, then by object, field
// and text. No two of one input are equal.
func (c Constraint) Compare(other Constraint) int {
	return cmp.Or(cmp.Compare(slices.Index(kinds, c.Kind), slices.Index(kinds, other.Kind)), cmp.Compare(c.Object, other.Object),
		cmp.Compare(c.Field, other.Field), cmp.Compare(c.Text, other.Text), cmp.Compare(c.part.raw, other.part.raw))
}

// poolsFirst puts constraints of NodePools first.
func poolsFirst(a, b Constraint) int {
	switch {
	case a.pool != "" && b.pool == "":
		return -1
	case a.pool == "" && b.pool != "":
		return 1
	}
	return 0
}

// String describes the constraint in one line, such as "NodePool general: requirement
// kubernetes.io/arch In [amd64]".
func (c Constraint) String() string {
	text := fmt.Sprintf("%s: %s %s", c.Object, words[c.Kind], c.Text)
	if c.Pods > 0 {
		text += fmt.Sprintf(" (%d pods)", c.Pods)
	}
	return strings.Replace(text, "(1 pods)", "(1 pod)", 1)
}

// words are the kinds in the text of Constraint.String.
var words = map[Kind]string{KindRequirement: "requirement", KindMinValues: "minValues", KindTaint: "taint", KindLimit: "limit",
	KindWeight: "weight", KindNodeSelector: "nodeSelector", KindNodeAffinity: "node affinity", KindPodAffinity: "pod affinity",
	KindPodAntiAffinity: "pod anti-affinity", KindTopologySpread: "topology spread", KindHostPort: "host port",
	KindPreference: "preference", KindRequest: "half of the request for"}

// Constraints lists the constraints of an input, sorted by Constraint.Compare: those of the
// NodePools that may launch nodes, and those of Pods. Constraints that only DaemonSets, buffers,
// bound pods or Options.DefaultSpread have are left out, and so are the zones of volumes. The time
// is proportional to the number of pods.
func Constraints(in provisioning.Input) []Constraint {
	var out []Constraint
	for _, pool := range in.NodePools {
		if pool != nil && pool.Spec.Replicas == nil && pool.DeletionTimestamp.IsZero() {
			out = append(out, poolConstraints(pool)...)
		}
	}
	out = append(out, podConstraints(in.Pods)...)
	slices.SortFunc(out, Constraint.Compare)
	return out
}

// Without returns the input without the constraint; unchanged objects are shared with the input.
// Pods are identified by namespace and name, pools by name, so the constraint can also be removed
// from another input of the same cluster, such as one in which the pods still have their nodes.
// Objects that no longer have the constraint stay unchanged.
func (c Constraint) Without(in provisioning.Input) provisioning.Input {
	if c.pool != "" {
		in.NodePools = slices.Clone(in.NodePools)
		for i, pool := range in.NodePools {
			if pool != nil && pool.Name == c.pool {
				in.NodePools[i] = pool.DeepCopy()
				c.part.dropFrom(poolTerms(in.NodePools[i]))
			}
		}
		return in
	}
	in.Pods = c.relaxed(in.Pods)
	nodes := in.Nodes
	for i := range nodes {
		if pods := c.relaxed(nodes[i].Pods); len(pods) > 0 && &pods[0] != &nodes[i].Pods[0] {
			if &in.Nodes[0] == &nodes[0] {
				in.Nodes = slices.Clone(nodes)
			}
			in.Nodes[i].Pods = pods
		}
	}
	return in
}

// relaxed returns the pods without the constraint; the same slice if none has it.
func (c Constraint) relaxed(pods []*corev1.Pod) []*corev1.Pod {
	out := pods
	for i, p := range pods {
		if p == nil || !c.pods[nameOf(p)] {
			continue
		}
		if &out[0] == &pods[0] {
			out = slices.Clone(pods)
		}
		out[i] = p.DeepCopy()
		c.part.dropFrom(podTerms(out[i], c.Kind))
	}
	return out
}

// poolConstraints returns the constraints of a NodePool.
func poolConstraints(pool *v1.NodePool) (out []Constraint) {
	for _, t := range poolTerms(pool) {
		out = append(out, Constraint{Kind: t.kind, Object: "NodePool " + pool.Name, Field: t.field, Text: t.text, pool: pool.Name, part: t.part})
	}
	return out
}

// poolTerms returns the constraints of a NodePool, sorted by Constraints.
func poolTerms(pool *v1.NodePool) []term {
	t := &terms{}
	spec := &pool.Spec
	byKey := map[string][]string{}
	least := map[string]int{} // the first minValues of each label
	for _, r := range spec.Template.Spec.Requirements {
		byKey[r.Key] = append(byKey[r.Key], requirementText(r))
		if _, found := least[r.Key]; r.MinValues != nil && !found {
			least[r.Key] = *r.MinValues
		}
	}
	for key, texts := range byKey {
		field := "spec.template.spec.requirements[" + key + "]"
		of := func(r v1.NodeSelectorRequirementWithMinValues) bool { return r.Key == key }
		slices.Sort(texts)
		t.add(KindRequirement, key, "", field, strings.Join(texts, " and "), func() {
			spec.Template.Spec.Requirements = slices.DeleteFunc(spec.Template.Spec.Requirements, of)
		})
		if n, found := least[key]; found {
			t.add(KindMinValues, key, "", field+".minValues", fmt.Sprintf("%d of %s", n, key), func() {
				for i := range spec.Template.Spec.Requirements {
					if r := &spec.Template.Spec.Requirements[i]; of(*r) {
						r.MinValues = nil
					}
				}
			})
		}
	}
	seen := map[string]bool{}
	for _, taint := range spec.Template.Spec.Taints {
		if text := taint.ToString(); !seen[text] {
			seen[text] = true
			t.add(KindTaint, text, "", "spec.template.spec.taints["+taint.Key+":"+string(taint.Effect)+"]", text, func() {
				spec.Template.Spec.Taints = slices.DeleteFunc(spec.Template.Spec.Taints, func(t corev1.Taint) bool { return t.ToString() == text })
			})
		}
	}
	for name, quantity := range spec.Limits {
		t.add(KindLimit, string(name), "", "spec.limits["+string(name)+"]", string(name)+"="+quantity.String(), func() { delete(spec.Limits, name) })
	}
	if w := spec.Weight; w != nil && *w != 0 {
		t.add(KindWeight, "", "", "spec.weight", fmt.Sprint(*w), func() { spec.Weight = nil })
	}
	return t.list
}

// requirementText returns a requirement as one line.
func requirementText(r v1.NodeSelectorRequirementWithMinValues) string {
	return expressionText(corev1.NodeSelectorRequirement{Key: r.Key, Operator: r.Operator, Values: slices.Sorted(slices.Values(r.Values))})
}
