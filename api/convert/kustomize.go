package convert

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	karpv1 "github.com/dovetail-sdk/dovetail/api/v1"
	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
)

// isPatch reports whether an object is a patch: it has none of the fields in k.whole. Each whole
// object of its kind has at least one of these fields. isPatch leaves a patch as it is, as the
// defaults of a whole object would override the fields of the object that the patch is for. A value
// that holds templating counts as having the fields.
func (c *converter) isPatch(o *object, k conversion) bool {
	for _, path := range k.whole {
		nodes := nodesAt(o.root, path)
		last := nodes[len(nodes)-1]
		if len(nodes) == strings.Count(path, ".")+2 && !isNull(last) || !isMap(last) && !isNull(last) {
			return false
		}
	}
	o.refused, o.patch = true, true
	has := "no " + k.whole[0]
	if last := len(k.whole) - 1; last > 0 {
		has = "neither " + strings.Join(k.whole[:last], ", ") + " nor " + k.whole[last]
	}
	c.remark(o, Error, "", o.root, "left as it is: it has %s, so it is a patch of a %s that stands elsewhere; "+
		"convert what kustomize build prints, in which the patch is applied, or complete it", has, k.from.kind)
	return true
}

// isKustomization leaves a Kustomization, and makes a note of each of its patches that would
// find no target, or nothing to patch in it, once the target is converted.
func (c *converter) isKustomization(o *object) bool {
	if o.group() != "kustomize.config.k8s.io" {
		return false
	}
	found := false
	refuse := func(path string, n *yaml.Node, what string) {
		found = true
		c.remark(o, Error, path, n, "left as it is: %s; convert what kustomize build prints, or rewrite the patch by hand", what)
	}
	for _, list := range []string{"patches[]", "patchesJson6902[]"} {
		visit(o.root, "", list, func(path string, patch *yaml.Node) {
			if n, what := movedTarget(at(patch, "target")); n != nil {
				refuse(join(path, "target"), n, what+", and kustomize passes over a patch whose target is not there")
			} else if text := at(patch, "patch"); mentionsOld([]byte(textOf(text))) {
				refuse(join(path, "patch"), text, "the patch is of a version that is converted")
			}
		})
	}
	visit(o.root, "", "patchesStrategicMerge[]", func(path string, patch *yaml.Node) {
		if mentionsOld([]byte(textOf(patch))) {
			refuse(path, patch, "the patch is of a version that is converted")
		}
	})
	return found
}

// movedTarget is what a target of a patch names that is no more once it is converted, a kind
// or a version, and a sentence on it; nil if the target names none.
func movedTarget(target *yaml.Node) (*yaml.Node, string) {
	group, version, kind := at(target, "group"), at(target, "version"), at(target, "kind")
	if !empty(group) && !slices.Contains([]string{karpv1.Group, awsv1.Group}, textOf(group)) {
		return nil, ""
	}
	for _, k := range conversions() {
		_, old, _ := strings.Cut(k.from.apiVersion, "/")
		named := textOf(kind) == k.from.kind
		switch {
		case named && k.from.kind != k.to.kind:
			return kind, k.from.kind + " is " + k.to.kind + " of " + k.to.apiVersion + " once it is converted"
		case textOf(version) == old && (named || empty(kind) && !empty(group)):
			return version, k.from.apiVersion + " is " + k.to.apiVersion + " once it is converted"
		}
	}
	return nil, ""
}
