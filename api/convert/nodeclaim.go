package convert

import (
	"go.yaml.in/yaml/v3"

	karpv1 "github.com/dovetail-sdk/dovetail/api/v1"
)

// machine converts a Machine of v1alpha5 to a NodeClaim.
func (c *converter) machine(o *object, spec *yaml.Node) {
	if ref := find(spec, "machineTemplateRef"); ref.key != nil {
		ref.key.Value = "nodeClassRef"
		c.reference(o, "spec.machineTemplateRef", ref.value)
	}
	c.claimSpec(o)
}

// betaClaim converts a NodeClaim of v1beta1.
func (c *converter) betaClaim(o *object, spec *yaml.Node) {
	c.dropReferenceCopy(o)
	if ref := find(spec, "nodeClassRef"); ref.key != nil {
		c.reference(o, "spec.nodeClassRef", ref.value)
	}
	c.claimSpec(o)
}

// claimSpec converts what claims of both versions have.
func (c *converter) claimSpec(o *object) {
	spec := o.spec()
	c.requirements(o, "spec.requirements", at(spec, "requirements"))
	if find(spec, "requirements").key == nil {
		put(spec, entry("requirements", newList()))
	}
	if find(spec, "nodeClassRef").key == nil {
		put(spec, entry("nodeClassRef", newReference(NodeClassPlaceholder)))
		c.remark(o, Action, "spec.nodeClassRef.name", spec, "replace %s by the name of the node class", NodeClassPlaceholder)
	}
	c.drop(o, spec, "spec", Info, "the settings of a node come from its EC2NodeClass, to which its pool gives them", "kubelet", "kubeletConfiguration")
	c.claims = append(c.claims, o)
}

// expireClaims gives claims the expiry of their pools. They had none of their
// own before v1.
func (c *converter) expireClaims() {
	const field = "spec.expireAfter"
	pools := map[string]*object{} // the first of each name
	for _, p := range c.pools {
		if pools[p.name] == nil {
			pools[p.name] = p
		}
	}
	for _, o := range c.claims {
		if find(o.spec(), "expireAfter").key != nil {
			continue
		}
		name := o.text(at(o.root, "metadata", "labels", karpv1.NodePoolLabelKey))
		pool := pools[name]
		if name == "" || pool == nil {
			c.remark(o, Warning, field, nil, "is left out, which means 720h, because its NodePool is not among the sources; write what the pool says")
			continue
		}
		expiry := at(pool.root, "spec", "template", "spec", "expireAfter")
		if isNull(expiry) {
			c.remark(o, Info, field, nil, "is left out, which means 720h, as in NodePool %s", name)
			continue
		}
		put(o.spec(), entry("expireAfter", newText(o.doc.words.adopt(pool.doc.words, expiry.Value))))
		c.remark(o, Info, field, nil, "set to %s, which NodePool %s says", pool.text(expiry), name)
	}
}
