package convert

import (
	"maps"
	"slices"
	"strconv"

	"go.yaml.in/yaml/v3"

	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
)

// nodeTemplate converts an AWSNodeTemplate of v1alpha1 to an EC2NodeClass.
func (c *converter) nodeTemplate(o *object, spec *yaml.Node) {
	c.alphaClass(o, "spec", spec)
	c.classes = append(c.classes, o)
}

// inlineProvider makes an EC2NodeClass of the provider section of a Provisioner,
// with the Provisioner's name.
func (c *converter) inlineProvider(o *object, p *poolParts) {
	const path = "spec.provider"
	spec := copyNode(p.provider.value)
	if !isMap(spec) {
		put(p.spec, p.provider)
		c.remark(o, Action, path, p.provider.key, "is no mapping; write an EC2NodeClass, and a nodeClassRef that names it")
		return
	}
	take(spec, "apiVersion")
	take(spec, "kind")
	name := c.freeClassName(o.name)
	root := newMap(
		entry("apiVersion", newText(awsStable)),
		entry("kind", newText(awsv1.EC2NodeClassKind)),
		entry("metadata", newMap(entry("name", newText(o.inDocument(name))))),
		entry("spec", spec),
	)
	c.alphaClass(o, path, spec)
	put(p.template, p.provider.as("nodeClassRef", newReference(o.inDocument(name))))
	c.remark(o, Info, path, p.provider.key, "is an object of its own now, EC2NodeClass %s", name)
	c.classes = append(c.classes, c.addAfter(o, root, name))
}

// inDocument is a text as it stands in the tree of the document: the reverse of
// text, for a name that was read from the same document.
func (o *object) inDocument(text string) string {
	if own := textOf(at(o.root, "metadata", "name")); o.doc.words.show(own) == text {
		return own
	}
	return text
}

// freeClassName takes a name that no EC2NodeClass has: the wanted one, or with a
// number behind it.
func (c *converter) freeClassName(wanted string) string {
	if wanted == "" {
		wanted = "default"
	}
	name := wanted
	for c.classNames[name] > 0 {
		c.classNames[wanted]++
		name = wanted + "-" + strconv.Itoa(c.classNames[wanted])
	}
	c.classNames[name] = 1
	return name
}

// nameClasses takes the names of EC2NodeClasses that there are, or will be.
func (c *converter) nameClasses() {
	for _, o := range c.objects {
		to, ok := successor(o.apiVersion, o.kind)
		if ok && to.kind == awsv1.EC2NodeClassKind || o.apiVersion == awsStable && o.kind == awsv1.EC2NodeClassKind {
			c.classNames[o.name] = 1
		}
	}
}

// alphaClass converts the settings of v1alpha1, in place.
func (c *converter) alphaClass(o *object, path string, spec *yaml.Node) {
	for _, key := range launchTemplateKeys() {
		take(spec, key)
	}
	c.selector(o, path, spec, "subnetSelector", "subnetSelectorTerms")
	c.selector(o, path, spec, "securityGroupSelector", "securityGroupSelectorTerms")
	if find(spec, "amiSelector").key != nil {
		c.remark(o, Info, join(path, "amiSelector"), find(spec, "amiSelector").key,
			"tags of images do not act as requirements of their nodes any more")
	}
	c.selector(o, path, spec, "amiSelector", "amiSelectorTerms")
	if empty(at(spec, "amiFamily")) {
		take(spec, "amiFamily")
		put(spec, entry("amiFamily", newText("AL2")))
		c.remark(o, Info, join(path, "amiFamily"), nil, "is AL2, the default of v1alpha1")
	}
	c.identity(o, path, spec)
	c.mergeTags(o, path, spec)
	c.classSettings(o, path, spec)
}

// identity sees to it that nodes have an IAM role.
func (c *converter) identity(o *object, path string, spec *yaml.Node) {
	for _, key := range []string{"role", "instanceProfile"} {
		if empty(at(spec, key)) {
			take(spec, key)
		}
	}
	profile := find(spec, "instanceProfile")
	fallback := c.options.InstanceProfile
	if fallback == "" {
		fallback = c.settings.instanceProfile
	}
	switch {
	case find(spec, "role").key != nil:
	case profile.key != nil && o.apiVersion == awsBeta:
	case profile.key != nil:
		c.remark(o, Info, join(path, "instanceProfile"), profile.key,
			"is kept; a role in its place would have a profile made for it")
	case fallback != "":
		put(spec, entry("instanceProfile", newText(fallback)))
		c.remark(o, Info, join(path, "instanceProfile"), nil, "set to %s, the default of the global settings", fallback)
	case c.options.Role != "":
		put(spec, entry("role", newText(c.options.Role)))
		c.remark(o, Info, join(path, "role"), nil, "set to %s, as asked for", c.options.Role)
	default:
		put(spec, entry("role", newText(RolePlaceholder)))
		c.remark(o, Action, join(path, "role"), nil,
			"replace %s by the IAM role of nodes, or name an instanceProfile: the default of the global settings is not known here", RolePlaceholder)
	}
}

// mergeTags adds the tags of the global settings.
func (c *converter) mergeTags(o *object, path string, spec *yaml.Node) {
	global := maps.Clone(c.settings.tags)
	if global == nil {
		global = map[string]string{}
	}
	maps.Copy(global, c.options.Tags)
	if len(global) == 0 {
		return
	}
	tags := within(spec, "tags")
	if tags == nil {
		c.remark(o, Action, join(path, "tags"), at(spec, "tags"), "is no mapping, so the tags of the global settings were not added")
		return
	}
	for _, key := range slices.Sorted(maps.Keys(global)) {
		if find(tags, key).key == nil {
			put(tags, entry(key, newText(global[key])))
			c.remark(o, Info, join(join(path, "tags"), key), nil, "added from the global settings, which have no tags any more")
		}
	}
}
