package convert

import (
	"slices"

	"go.yaml.in/yaml/v3"
	corev1 "k8s.io/api/core/v1"

	karpv1 "github.com/dovetail-sdk/dovetail/api/v1"
	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
)

// requirements converts the requirements of a pool or claim of an old version.
func (c *converter) requirements(o *object, path string, list *yaml.Node) {
	for i, r := range items(list) {
		where := index(path, i)
		key := at(r, "key")
		switch textOf(key) {
		case oldPoolLabel:
			key.Value = karpv1.NodePoolLabelKey
			c.remark(o, Info, where, key, "is about %s now", karpv1.NodePoolLabelKey)
		case oldAMILabel, oldPodsLabel:
			c.remark(o, Action, where, key, "nodes have no label %s any more; remove the requirement, or ask for something else", key.Value)
		case karpv1.CapacityTypeLabelKey:
			if values := items(at(r, "values")); len(values) == 1 && textOf(values[0]) == karpv1.CapacityTypeOnDemand {
				c.remark(o, Info, where, key, "on-demand does not include reserved capacity, a capacity type of its own now; add reserved once you have reservations")
			}
		case awsv1.LabelInstanceAcceleratorName:
			c.accelerators(o, where, r)
		}
	}
}

// accelerators widens requirements on inferentia, which once was the name of all
// of AWS's accelerators.
func (c *converter) accelerators(o *object, where string, r *yaml.Node) {
	values := at(r, "values")
	named := func(name string) bool {
		return slices.ContainsFunc(items(values), func(n *yaml.Node) bool { return textOf(n) == name })
	}
	if !named("inferentia") {
		return
	}
	for _, name := range []string{"inferentia2", "trainium", "trainium2"} {
		if !named(name) {
			values.Content = append(values.Content, newText(name))
		}
	}
	c.remark(o, Warning, join(where, "values"), values,
		"widened to inferentia2, trainium and trainium2, which were called inferentia too; remove what is not meant")
}

// defaultRequirements writes out the requirements that the API server added to a
// Provisioner.
func (c *converter) defaultRequirements(o *object, p *poolParts) {
	list := find(p.template, "requirements")
	if list.key != nil && !isNull(list.value) && !isList(list.value) {
		c.remark(o, Action, "spec.requirements", list.key,
			"is no list, perhaps because it is not expanded, so the defaults of v1alpha5 cannot be added: linux, amd64, on-demand, "+
				"and categories c, m and r of a generation above 2, each unless it is asked otherwise")
		return
	}
	if list.key == nil {
		list = entry("requirements", newList())
		put(p.template, list)
	}
	if isNull(list.value) {
		list.value.Kind, list.value.Tag, list.value.Value, list.value.Style = yaml.SequenceNode, tagList, "", 0
	}
	labels := at(p.meta, "labels")
	asked := func(keys ...string) bool {
		return slices.ContainsFunc(keys, func(key string) bool {
			return find(labels, key).key != nil || slices.ContainsFunc(items(list.value), func(r *yaml.Node) bool {
				return textOf(at(r, "key")) == key
			})
		})
	}
	if !asked(corev1.LabelOSStable, "beta.kubernetes.io/os") {
		c.require(o, list.value, corev1.LabelOSStable, corev1.NodeSelectorOpIn, string(corev1.Linux))
	}
	if !asked(corev1.LabelArchStable, "beta.kubernetes.io/arch") {
		c.require(o, list.value, corev1.LabelArchStable, corev1.NodeSelectorOpIn, karpv1.ArchitectureAmd64)
	}
	if !asked(karpv1.CapacityTypeLabelKey) {
		c.require(o, list.value, karpv1.CapacityTypeLabelKey, corev1.NodeSelectorOpIn, karpv1.CapacityTypeOnDemand)
	}
	if !asked(corev1.LabelInstanceTypeStable, corev1.LabelInstanceType, awsv1.LabelInstanceFamily,
		awsv1.LabelInstanceCategory, awsv1.LabelInstanceGeneration) {
		c.require(o, list.value, awsv1.LabelInstanceCategory, corev1.NodeSelectorOpIn, "c", "m", "r")
		c.require(o, list.value, awsv1.LabelInstanceGeneration, corev1.NodeSelectorOpGt, "2")
	}
}

// require adds a requirement.
func (c *converter) require(o *object, list *yaml.Node, key string, operator corev1.NodeSelectorOperator, values ...string) {
	operands := newList()
	operands.Style = yaml.FlowStyle
	for _, v := range values {
		operands.Content = append(operands.Content, newText(v))
	}
	c.remark(o, Info, index("spec.template.spec.requirements", len(list.Content)), nil,
		"%s %s %v added, which was the default of v1alpha5 and is none of v1", key, operator, values)
	list.Style &^= yaml.FlowStyle
	list.Content = append(list.Content, newMap(
		entry("key", newText(key)), entry("operator", newText(string(operator))), entry("values", operands)))
}
