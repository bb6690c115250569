package convert

import (
	"cmp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/dovetail-sdk/dovetail/amiselect"
	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
)

// familyUbuntu is a family that is no more.
const familyUbuntu = "Ubuntu"

// betaClass converts an EC2NodeClass of v1beta1.
func (c *converter) betaClass(o *object, spec *yaml.Node) {
	c.identity(o, "spec", spec)
	c.classSettings(o, "spec", spec)
	c.classes = append(c.classes, o)
}

// classSettings converts what v1alpha1 and v1beta1 have in common.
func (c *converter) classSettings(o *object, path string, spec *yaml.Node) {
	c.images(o, path, spec)
	c.hopLimit(o, path, spec)
	c.restrictedTags(o, path, spec)
	if find(spec, "associatePublicIPAddress").key == nil {
		c.remark(o, Info, join(path, "associatePublicIPAddress"), nil,
			"was false of its own accord if all subnets are private, and is left to the subnet now; set it if a policy of the account asks for it")
	}
}

// images converts the family and the terms that go with it.
func (c *converter) images(o *object, path string, spec *yaml.Node) {
	family := find(spec, "amiFamily")
	hasTerms := !empty(at(spec, "amiSelectorTerms"))
	name := textOf(family.value)
	where := join(path, "amiFamily")
	if name == string(amiselect.FamilyAL2) && !hasTerms {
		c.remark(o, Warning, where, family.key, "there are no images of AL2 for Kubernetes 1.33 and later; plan for AL2023")
	}
	switch {
	case name == familyUbuntu:
		c.ubuntu(o, path, spec, family, hasTerms)
	case name == string(amiselect.FamilyCustom):
		c.remark(o, Action, where, family.key, "user data of family Custom must make the kubelet register with the taint %s:NoExecute; see to it", "karpenter.sh/unregistered")
		if !hasTerms {
			c.remark(o, Action, join(path, "amiSelectorTerms"), family.key, "write terms that select the images; family Custom has none of its own")
		}
	case hasTerms:
	case c.unexpanded(o, family.value):
		c.remark(o, Action, join(path, "amiSelectorTerms"), family.key,
			"write a term with an alias such as al2023@latest: which images amiFamily %s took by itself is not known before it is expanded", name)
	default:
		c.alias(o, path, spec, family)
	}
}

// alias puts the alias of a family in the place of the family.
func (c *converter) alias(o *object, path string, spec *yaml.Node, family pair) {
	name := textOf(family.value)
	i := slices.IndexFunc(amiselect.Families(), func(f amiselect.Family) bool { return string(f) == name && f.AliasName() != "" })
	if i < 0 {
		c.remark(o, Action, join(path, "amiFamily"), family.key, "family %q has no images of its own; write amiSelectorTerms", name)
		return
	}
	version := "latest"
	if kept := takeAnnotation(o, aliasAnnotation); kept.key != nil {
		version = cmp.Or(textOf(kept.value), version)
	} else if !strings.HasPrefix(name, "Windows") {
		version = cmp.Or(c.options.AMIVersion, version)
	}
	take(spec, "amiSelectorTerms")
	text := amiselect.Families()[i].AliasName() + "@" + version
	comment := family.value.LineComment
	family.key.Value = "amiSelectorTerms"
	*family.value = *newList(newMap(entry("alias", newText(text))))
	family.value.Content[0].Content[1].LineComment = comment
	c.remark(o, Info, join(path, "amiFamily"), family.key, "is amiSelectorTerms with alias %s now, which gives the family too", text)
}

// ubuntu converts the family Ubuntu, whose nodes joined the way those of AL2 do.
func (c *converter) ubuntu(o *object, path string, spec *yaml.Node, family pair, hasTerms bool) {
	family.value.Value = string(amiselect.FamilyAL2)
	c.remark(o, Warning, join(path, "amiFamily"), family.key, "there is no family Ubuntu any more; AL2 has user data of the same form")
	if empty(at(spec, "blockDeviceMappings")) {
		take(spec, "blockDeviceMappings")
		put(spec, entry("blockDeviceMappings", newList(newMap(
			entry("deviceName", newText("/dev/sda1")),
			entry("rootVolume", newBool(true)),
			entry("ebs", newMap(
				entry("encrypted", newBool(true)),
				entry("volumeType", newText("gp3")),
				entry("volumeSize", newText("20Gi")),
			)),
		))))
		c.remark(o, Info, join(path, "blockDeviceMappings"), nil, "set to what Ubuntu had by default: a root volume of 20Gi at /dev/sda1")
	}
	if !hasTerms {
		take(spec, "amiSelectorTerms")
		put(spec, entry("amiSelectorTerms", newList(newMap(entry("id", newText(AMIPlaceholder))))))
		c.remark(o, Action, join(path, "amiSelectorTerms"), nil,
			"replace %s by the id of an image of Ubuntu, or select by name and owner: there is no default any more", AMIPlaceholder)
	}
}

// hopLimit writes out a default that has changed.
func (c *converter) hopLimit(o *object, path string, spec *yaml.Node) {
	const key = "httpPutResponseHopLimit"
	if options := at(spec, "metadataOptions"); !isNull(options) && !isMap(options) {
		c.remark(o, Action, join(path, "metadataOptions"), options,
			"is no mapping, perhaps because it is not expanded; %s was 2 by default up to v1beta1 and is 1 now, so write it there", key)
		return
	}
	options := within(spec, "metadataOptions")
	if !isNull(at(options, key)) {
		return
	}
	take(options, key)
	put(options, entry(key, newInt(2)))
	c.remark(o, Info, join(join(path, "metadataOptions"), key), nil,
		"set to 2, the default up to v1beta1; that of v1 is 1, which keeps pods from the credentials of the node")
}

// restrictedTags takes out tags that only the controller sets.
func (c *converter) restrictedTags(o *object, path string, spec *yaml.Node) {
	tags := find(spec, "tags")
	for _, p := range pairs(tags.value) {
		key := p.key.Value
		if key != oldPoolLabel && key != oldManagedBy && !awsv1.IsRestrictedTag(key) {
			continue
		}
		take(tags.value, key)
		c.remark(o, Warning, join(join(path, "tags"), key), p.key, "removed: the controller sets the tags by which it knows its machines itself, today %s, %s and %s",
			awsv1.NodePoolTagKey, awsv1.ClusterNameTagKey, awsv1.ClusterTagPrefix+"NAME")
	}
	if isMap(tags.value) && len(tags.value.Content) == 0 {
		take(spec, "tags")
	}
}
