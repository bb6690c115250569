package convert

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/util/validation/field"

	karpv1 "github.com/dovetail-sdk/dovetail/api/v1"
	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
)

// check decodes and validates what was converted, and what is of v1 already if
// that is asked for.
func (c *converter) check() {
	for _, o := range slices.Concat(c.pools, c.claims, c.classes) {
		if o.converted && !o.refused {
			c.checkObject(o)
		}
	}
	for _, o := range c.objects {
		switch {
		case !c.options.Check || o.converted:
		case slices.Contains(judged(), typeMeta{o.apiVersion, o.kind}):
			c.placeholders(o)
			c.checkObject(o)
		}
	}
}

// judged are the kinds of today that judge knows.
func judged() []typeMeta {
	return []typeMeta{
		{coreStable, karpv1.NodePoolKind}, {coreStable, karpv1.NodeClaimKind},
		{karpv1.GroupVersionAlpha.String(), karpv1.NodeOverlayKind}, {awsStable, awsv1.EC2NodeClassKind},
	}
}

// placeholders points out those that an earlier conversion left.
func (c *converter) placeholders(o *object) {
	for _, place := range [][2]string{
		{"spec.role", RolePlaceholder},
		{"spec.nodeClassRef.name", NodeClassPlaceholder},
		{"spec.template.spec.nodeClassRef.name", NodeClassPlaceholder},
		{"spec.amiSelectorTerms[].id", AMIPlaceholder},
	} {
		visit(o.root, "", place[0], func(path string, n *yaml.Node) {
			if textOf(n) == place[1] {
				c.remark(o, Action, path, n, "replace %s, which a conversion has left", place[1])
			}
		})
	}
}

// checkObject makes a note of each fault that was not pointed out yet. A value
// that holds templating may be of any type: such values are left out if the type
// would not admit them.
func (c *converter) checkObject(o *object) {
	tree := copyNode(o.root)
	faults := judge(tree)
	var rest field.ErrorList
	left := map[string]bool{}
	for _, f := range faults {
		if c.isTemplated(o, tree, f.Field) {
			left[f.Field] = true
		}
	}
	if len(left) > 0 {
		for _, path := range slices.Sorted(maps.Keys(left)) {
			cut(tree, path)
		}
		faults = judge(tree)
	}
	for _, f := range faults {
		if !left[f.Field] && !c.isTemplated(o, tree, f.Field) && !underAny(left, f.Field) {
			rest = append(rest, f)
		}
	}
	for _, f := range rest {
		if c.pointedOut(o, f.Field) {
			continue
		}
		nodes := nodesAt(o.root, f.Field)
		prefix := ""
		if o.made {
			prefix = "in EC2NodeClass " + o.name + ": "
		}
		text := strings.TrimSuffix(f.ErrorBody(), ".")
		c.remark(o, Action, f.Field, nodes[len(nodes)-1], "%s%s", prefix, text)
	}
}

// judge decodes and validates an object of v1.
func judge(tree *yaml.Node) field.ErrorList {
	text, err := jsonOf(tree)
	if err != nil {
		return field.ErrorList{field.Invalid(nil, "", err.Error())}
	}
	data := []byte(text)
	switch textOf(at(tree, "kind")) {
	case karpv1.NodePoolKind:
		pool, err := karpv1.DecodeNodePool(data)
		if err != nil {
			return faultsOf(err)
		}
		pool.Default()
		if pool.Spec.Template.Spec.NodeClassRef.GroupKind().Group != awsv1.Group {
			return pool.Validate()
		}
		return pool.ValidateWith(awsv1.NodePoolRules())
	case karpv1.NodeClaimKind:
		claim, err := karpv1.DecodeNodeClaim(data)
		if err != nil {
			return faultsOf(err)
		}
		claim.Default()
		if claim.Spec.NodeClassRef.GroupKind().Group != awsv1.Group {
			return claim.Validate()
		}
		return claim.ValidateWith(awsv1.NodePoolRules())
	case karpv1.NodeOverlayKind:
		overlay, err := karpv1.DecodeNodeOverlay(data)
		if err != nil {
			return faultsOf(err)
		}
		return overlay.Validate()
	}
	class, err := awsv1.DecodeEC2NodeClass(data)
	if err != nil {
		return faultsOf(err)
	}
	class.Default()
	return class.Validate()
}

// faultsOf are the faults of a decoding, with their paths as far as they have
// any.
func faultsOf(err error) field.ErrorList {
	if broken, ok := errors.AsType[*karpv1.DecodeError](err); ok && len(broken.Faults) > 0 {
		return broken.Faults
	}
	return field.ErrorList{field.Invalid(nil, "", oneLine(err.Error()))}
}

// isTemplated tells whether the value at a path holds templating, or one it is
// in does.
func (c *converter) isTemplated(o *object, tree *yaml.Node, path string) bool {
	for _, n := range nodesAt(tree, path) {
		if c.unexpanded(o, n) {
			return true
		}
	}
	// A fault of a key names the key.
	return o.doc.words.unexpanded(path)
}

// underAny tells whether a path is one of others, or what contains one.
func underAny(paths map[string]bool, path string) bool {
	for p := range paths {
		if strings.HasPrefix(p, path) {
			return true
		}
	}
	return false
}

// cut takes the value at a path out of a tree. Items of lists stay, as the places
// of others would change.
func cut(tree *yaml.Node, path string) {
	nodes := nodesAt(tree, path)
	for i := len(nodes) - 1; i > 0; i-- {
		parent := nodes[i-1]
		for j := 1; isMap(parent) && j < len(parent.Content); j += 2 {
			if parent.Content[j] == nodes[i] {
				parent.Content = slices.Delete(parent.Content, j-1, j+1)
				return
			}
		}
	}
}

// pointedOut tells whether there is a note already that asks for something to be
// done about a field, or something in it.
func (c *converter) pointedOut(o *object, path string) bool {
	return slices.ContainsFunc(c.asked[place{source: o.doc.file.index, object: o.order}], func(n Note) bool {
		return n.Document == o.doc.number && n.Field != "" && strings.HasPrefix(n.Field, path) && path != ""
	})
}
