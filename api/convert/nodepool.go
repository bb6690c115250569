package convert

import (
	"strings"

	"go.yaml.in/yaml/v3"

	karpv1 "github.com/dovetail-sdk/dovetail/api/v1"
	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
)

// betaPool converts a NodePool of v1beta1.
func (c *converter) betaPool(o *object, spec *yaml.Node) {
	c.dropReferenceCopy(o)
	c.rename(o, at(spec, "template", "metadata", "labels"), "spec.template.metadata.labels", renamedLabels())
	c.rename(o, at(spec, "template", "metadata", "annotations"), "spec.template.metadata.annotations", renamedAnnotations())
	c.pools = append(c.pools, o)
	template := at(spec, "template", "spec")
	if !isMap(template) {
		c.remark(o, Action, "spec.template.spec", template, "is no mapping, so what belongs in it was not converted")
		return
	}
	const path = "spec.template.spec"
	c.requirements(o, path+".requirements", at(template, "requirements"))
	if ref := find(template, "nodeClassRef"); ref.key != nil {
		c.reference(o, path+".nodeClassRef", ref.value)
	}
	c.drop(o, template, path, Warning, "what nodes must have room for follows from the pods", "resources")
	if k := take(template, "kubelet"); k.key != nil {
		c.kubelets[o] = k
	} else {
		c.storedKubelet(o)
	}
	c.betaDisruption(o, spec, template)
}

// betaDisruption converts the disruption section of v1beta1.
func (c *converter) betaDisruption(o *object, spec, template *yaml.Node) {
	section := find(spec, "disruption")
	if section.key != nil && !isNull(section.value) && !isMap(section.value) {
		c.remark(o, Action, "spec.disruption", section.key, "is no mapping, so what belongs in it was not converted")
		return
	}
	expiry := take(section.value, "expireAfter")
	if expiry.key != nil && !isNull(expiry.value) && find(template, "expireAfter").key == nil {
		put(template, expiry)
	}
	severity := Warning
	if textOf(expiry.value) == karpv1.Never {
		severity = Info
	}
	c.remark(o, severity, "spec.disruption.expireAfter", expiry.key,
		"is spec.template.spec.expireAfter now, by default 720h as before, and is by force: no budget holds it back, and changing it replaces nodes")

	policy, after := find(section.value, "consolidationPolicy"), find(section.value, "consolidateAfter")
	if textOf(policy.value) == "WhenUnderutilized" {
		policy.value.Value = string(karpv1.ConsolidationPolicyWhenEmptyOrUnderutilized)
		c.remark(o, Info, "spec.disruption.consolidationPolicy", policy.key, "WhenUnderutilized is WhenEmptyOrUnderutilized now")
	}
	hasAfter := after.key != nil && !isNull(after.value)
	switch text := textOf(policy.value); {
	case hasAfter && text != string(karpv1.ConsolidationPolicyWhenEmpty) && textOf(after.value) != karpv1.Never:
		c.remark(o, Warning, "spec.disruption.consolidateAfter", after.key,
			"was not allowed with this policy and holds now: nodes are looked at once no pod came or went for so long")
	case hasAfter:
	case text == string(karpv1.ConsolidationPolicyWhenEmpty):
		c.remark(o, Warning, "spec.disruption.consolidateAfter", policy.key, "is missing, which v1beta1 did not allow; the default is 0s")
	default:
		m := within(spec, "disruption")
		take(m, "consolidateAfter")
		if policy.key == nil {
			put(m, entry("consolidationPolicy", newText(string(karpv1.ConsolidationPolicyWhenEmptyOrUnderutilized))))
		}
		put(m, entry("consolidateAfter", newText("0s")))
		c.remark(o, Info, "spec.disruption.consolidateAfter", policy.key, "set to 0s: it goes with every policy now; v1beta1 waited 15s of its own accord")
	}
	if section := find(spec, "disruption"); section.key != nil && empty(section.value) {
		take(spec, "disruption")
	}
}

// stablePool looks at a NodePool of v1.
func (c *converter) stablePool(o *object) {
	c.pools = append(c.pools, o)
	c.storedKubelet(o)
}

// storedKubelet reads what the conversion webhook of Karpenter 1.0 left in a NodePool.
func (c *converter) storedKubelet(o *object) {
	annotations := at(o.root, "metadata", "annotations")
	kept := find(annotations, kubeletAnnotation)
	if kept.key == nil {
		return
	}
	section, err := parseYAML([]byte(textOf(kept.value)))
	if err == nil {
		section.Content[0], err = expand(section.Content[0])
	}
	if err != nil || !isMap(section.Content[0]) {
		c.remark(o, Error, join("metadata.annotations", kubeletAnnotation), kept.key,
			"holds no kubelet settings that can be read; write them into spec.kubelet of the EC2NodeClass and remove the annotation")
		return
	}
	each(section.Content[0], func(n *yaml.Node) { n.Style, n.Line, n.Column = 0, kept.key.Line, 0 })
	c.kubelets[o] = pair{newText("kubelet"), section.Content[0]}
}

// dropReferenceCopy removes what the webhook kept of the reference of v1beta1.
func (c *converter) dropReferenceCopy(o *object) {
	if gone := takeAnnotation(o, classAnnotation); gone.key != nil {
		c.remark(o, Info, join("metadata.annotations", classAnnotation), gone.key, "removed: nothing reads it any more")
	}
}

// reference converts a reference to a node class in place, and returns it.
func (c *converter) reference(o *object, path string, ref *yaml.Node) *yaml.Node {
	if !isMap(ref) {
		c.remark(o, Action, path, ref, "is no mapping; write group, kind and name of the node class")
		return ref
	}
	version, kind := find(ref, "apiVersion"), find(ref, "kind")
	group := awsv1.Group
	switch text := textOf(version.value); {
	case version.key == nil || text == "":
	case strings.Contains(text, "/"):
		group, _, _ = strings.Cut(text, "/")
	default:
		group = text
		c.remark(o, Action, join(path, "apiVersion"), version.key, "%s has no group; write the API group of the node class", text)
	}
	if find(ref, "group").key == nil {
		g := entry("group", newText(group))
		if version.key != nil {
			g = version.as("group", newText(group))
		}
		ref.Content = append([]*yaml.Node{g.key, g.value}, ref.Content...)
	}
	take(ref, "apiVersion")
	switch {
	case kind.key == nil:
		put(ref, entry("kind", newText(awsv1.EC2NodeClassKind)))
	case textOf(kind.value) == kindNodeTemplate || isNull(kind.value):
		*kind.value = yaml.Node{Kind: yaml.ScalarNode, Tag: tagText, Value: awsv1.EC2NodeClassKind,
			LineComment: kind.value.LineComment, Line: kind.value.Line}
	}
	if find(ref, "name").key == nil {
		put(ref, entry("name", newText(NodeClassPlaceholder)))
		c.remark(o, Action, join(path, "name"), ref, "replace %s by the name of the node class", NodeClassPlaceholder)
	}
	sortReference(ref)
	return ref
}

// sortReference puts group, kind and name in this order, and what else there is
// behind them.
func sortReference(ref *yaml.Node) {
	var front []*yaml.Node
	for _, key := range []string{"group", "kind", "name"} {
		if p := take(ref, key); p.key != nil {
			front = append(front, p.key, p.value)
		}
	}
	ref.Content = append(front, ref.Content...)
}
