package convert

import (
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	karpv1 "github.com/dovetail-sdk/dovetail/api/v1"
	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
)

// provisioner converts a Provisioner of v1alpha5 to a NodePool.
func (c *converter) provisioner(o *object, spec *yaml.Node) {

	old := pairs(spec)
	hasReference := !empty(at(spec, "providerRef"))
	spec.Content = nil
	p := &poolParts{meta: newMap(), template: newMap(), disruption: newMap(), spec: spec}
	for _, field := range old {
		c.provisionerField(o, p, field)
	}
	c.consolidation(o, p)
	if p.expiry.key == nil {
		put(p.template, entry("expireAfter", newText(karpv1.Never)))
		c.remark(o, Info, "spec.template.spec.expireAfter", nil,
			"set to Never, as nodes without ttlSecondsUntilExpired did not expire; left out it would be 720h")
	}
	c.defaultRequirements(o, p)
	switch {
	case hasReference:
	case p.provider.key != nil:
		c.inlineProvider(o, p)
	default:
		put(p.template, entry("nodeClassRef", newReference(NodeClassPlaceholder)))
		c.remark(o, Action, "spec.template.spec.nodeClassRef.name", nil,
			"there is neither a providerRef nor a provider; replace %s by the name of an EC2NodeClass; if this is a patch, convert what kustomize build prints", NodeClassPlaceholder)
	}
	p.assemble()
	c.pools = append(c.pools, o)
}

// poolParts are the parts of a NodePool that is put together.
type poolParts struct {
	meta, template, disruption, spec *yaml.Node

	provider, expiry, ttl, consolidation pair // as they were in the Provisioner
}

// assemble puts the parts in their places, before what is in spec already.
func (p *poolParts) assemble() {
	template := newMap()
	if len(p.meta.Content) > 0 {
		put(template, entry("metadata", p.meta))
	}
	put(template, entry("spec", p.template))
	rest := p.spec.Content
	p.spec.Content = nil
	put(p.spec, entry("template", template))
	put(p.spec, entry("disruption", p.disruption))
	p.spec.Content = append(p.spec.Content, rest...)
}

// provisionerField puts a field of a Provisioner where it belongs.
func (c *converter) provisionerField(o *object, p *poolParts, f pair) {
	switch f.key.Value {
	case "labels":
		c.rename(o, f.value, "spec.labels", renamedLabels())
		put(p.meta, f)
	case "annotations":
		c.rename(o, f.value, "spec.annotations", renamedAnnotations())
		put(p.meta, f)
	case "taints", "startupTaints":
		put(p.template, f)
	case "requirements":
		c.requirements(o, "spec.requirements", f.value)
		put(p.template, f)
	case "kubeletConfiguration":
		c.kubelets[o] = f
	case "providerRef":
		if !empty(f.value) {
			put(p.template, f.as("nodeClassRef", c.reference(o, "spec.providerRef", f.value)))
		}
	case "provider":
		if !empty(f.value) {
			p.provider = f
		}
	case "ttlSecondsAfterEmpty":
		p.ttl = f
	case "consolidation":
		p.consolidation = f
	case "ttlSecondsUntilExpired":
		if !isNull(f.value) {
			p.expiry = f
			put(p.template, f.as("expireAfter", seconds(f.value)))
			c.remark(o, Warning, "spec.ttlSecondsUntilExpired", f.key,
				"is spec.template.spec.expireAfter now, and is by force: no budget holds it back, and changing it replaces nodes")
		}
	case "limits":
		c.limits(o, p, f)
	case "weight":
		put(p.spec, f)
	default:
		put(p.spec, f)
		c.remark(o, Action, join("spec", f.key.Value), f.key, "a Provisioner has no such field; it is kept, and has to be removed or put right")
	}
}

// limits takes resources out of limits.
func (c *converter) limits(o *object, p *poolParts, f pair) {
	inner := find(f.value, "resources")
	switch {
	case isNull(f.value), isMap(f.value) && len(f.value.Content) == 0:
	case inner.key == nil:
		put(p.spec, f) // templating, or a fault that will be reported
	case isNull(inner.value):
	default:
		if f.key.HeadComment == "" {
			f.key.HeadComment = inner.key.HeadComment
		}
		for _, other := range pairs(f.value) {
			if other.key.Value != "resources" {
				c.remark(o, Warning, join("spec.limits", other.key.Value), other.key, "removed: limits have nothing but resources")
			}
		}
		put(p.spec, f.as("limits", inner.value))
	}
}

// consolidation sets the disruption section.
func (c *converter) consolidation(o *object, p *poolParts) {
	enabled := at(p.consolidation.value, "enabled")
	hasTTL := p.ttl.key != nil && !isNull(p.ttl.value)
	policy := func(from pair, policy karpv1.ConsolidationPolicy) {
		field := entry("consolidationPolicy", newText(string(policy)))
		if from.key != nil {
			field = from.as(field.key.Value, field.value)
			if enabled != nil && field.value.LineComment == "" {
				field.value.LineComment = enabled.LineComment
			}
		}
		put(p.disruption, field)
	}
	isEnabled, legible := truth(enabled)
	switch {
	case isEnabled:
		policy(p.consolidation, karpv1.ConsolidationPolicyWhenEmptyOrUnderutilized)
		put(p.disruption, entry("consolidateAfter", newText("0s")))
		if hasTTL {
			c.remark(o, Warning, "spec.ttlSecondsAfterEmpty", p.ttl.key,
				"removed: beside consolidation, which wins, it was not allowed")
		}
	case hasTTL:
		policy(p.consolidation, karpv1.ConsolidationPolicyWhenEmpty)
		put(p.disruption, p.ttl.as("consolidateAfter", seconds(p.ttl.value)))
	default:
		policy(p.consolidation, karpv1.ConsolidationPolicyWhenEmpty)
		put(p.disruption, entry("consolidateAfter", newText(karpv1.Never)))
		c.remark(o, Info, "spec.disruption", nil,
			"set to consolidate never, as the Provisioner did; left out, empty and underused nodes would be removed")
	}
	switch remedy := "write consolidationPolicy WhenEmptyOrUnderutilized and consolidateAfter 0s"; {
	case c.unexpanded(o, enabled):
		c.remark(o, Action, "spec.consolidation.enabled", p.consolidation.key, "is %s, which is not expanded; if that is true, %s", enabled.Value, remedy)
	case !legible && !isNull(enabled):
		c.remark(o, Action, "spec.consolidation.enabled", p.consolidation.key, "is neither true nor false, and was taken for false; if true is meant, %s", remedy)
	}
	c.remark(o, Warning, "spec.disruption.budgets", nil,
		"there is a budget of 10%% of the nodes at a time now, for drift, emptiness and consolidation together; write budgets for another pace")
}

// seconds is a number of seconds as a duration.
func seconds(n *yaml.Node) *yaml.Node {
	text := n.Value
	if i, err := strconv.ParseInt(n.Value, 0, 64); err == nil {
		text = strconv.FormatInt(i, 10)
	}
	return newText(text + "s")
}

// newReference is a nodeClassRef to an EC2NodeClass.
func newReference(name string) *yaml.Node {
	return newMap(
		entry("group", newText(awsv1.Group)),
		entry("kind", newText(awsv1.EC2NodeClassKind)),
		entry("name", newText(name)),
	)
}

// hasLaunchTemplate leaves an object whose machines are launched from a template
// of the user's own: what is in it is known to AWS alone.
func (c *converter) hasLaunchTemplate(o *object, path string) bool {
	spec := at(o.root, strings.Split(path, ".")...)
	for _, key := range launchTemplateKeys() {
		launch := find(spec, key)
		if launch.key == nil || empty(launch.value) {
			continue
		}
		o.refused = true
		c.remark(o, Error, join(path, key), launch.key,
			"left as it is: launch templates of one's own are not supported any more; write an EC2NodeClass with the image, user data, "+
				"security groups, instance profile and volumes of %s", textOf(launch.value))
		return true
	}
	return false
}

func launchTemplateKeys() []string { return []string{"launchTemplate", "launchTemplateName"} }

// unexpanded tells whether a value holds templating.
func (c *converter) unexpanded(o *object, n *yaml.Node) bool {
	return n != nil && n.Kind == yaml.ScalarNode && o.doc.words.unexpanded(n.Value)
}
