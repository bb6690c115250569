package convert

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"

	karpv1 "github.com/dovetail-sdk/dovetail/api/v1"
	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
)

// The versions that are converted from.
const (
	coreAlpha = karpv1.Group + "/v1alpha5"
	coreBeta  = karpv1.Group + "/v1beta1"
	awsAlpha  = awsv1.Group + "/v1alpha1"
	awsBeta   = awsv1.Group + "/v1beta1"

	coreStable = karpv1.Group + "/" + karpv1.Version
	awsStable  = awsv1.Group + "/" + awsv1.Version
)

// The kinds that have another name now.
const (
	kindProvisioner  = "Provisioner"
	kindMachine      = "Machine"
	kindNodeTemplate = "AWSNodeTemplate"
)

// typeMeta is a version and kind.
type typeMeta struct {
	apiVersion, kind string
}

// conversion is what becomes of an old version and kind.
type conversion struct {
	from, to typeMeta
	provider string   // path of what may name a launch template
	whole    []string // paths of fields; every whole object has one of these fields
	rewrite  func(c *converter, o *object, spec *yaml.Node)
}

// conversions are all there are, the first version of a kind first.
func conversions() []conversion {
	pool := typeMeta{coreStable, karpv1.NodePoolKind}
	claim := typeMeta{coreStable, karpv1.NodeClaimKind}
	class := typeMeta{awsStable, awsv1.EC2NodeClassKind}
	return []conversion{
		{typeMeta{coreAlpha, kindProvisioner}, pool, "spec.provider",
			[]string{"spec.requirements", "spec.providerRef", "spec.provider"}, (*converter).provisioner},
		{typeMeta{coreAlpha, kindMachine}, claim, "", []string{"spec.requirements", "spec.machineTemplateRef"}, (*converter).machine},
		{typeMeta{awsAlpha, kindNodeTemplate}, class, "spec", []string{"spec.subnetSelector", "spec.securityGroupSelector"}, (*converter).nodeTemplate},
		{typeMeta{coreBeta, karpv1.NodePoolKind}, pool, "", []string{"spec.template.spec.nodeClassRef"}, (*converter).betaPool},
		{typeMeta{coreBeta, karpv1.NodeClaimKind}, claim, "", []string{"spec.requirements", "spec.nodeClassRef"}, (*converter).betaClaim},
		{typeMeta{awsBeta, awsv1.EC2NodeClassKind}, class, "", []string{"spec.subnetSelectorTerms", "spec.securityGroupSelectorTerms"}, (*converter).betaClass},
	}
}

// successor is what an old version and kind is now, and false for those that are
// not converted.
func successor(apiVersion, kind string) (typeMeta, bool) {
	for _, k := range conversions() {
		if k.from == (typeMeta{apiVersion, kind}) {
			return k.to, true
		}
	}
	return typeMeta{}, false
}

// versionOf is the first version of a kind of Karpenter's, "" for other kinds.
func versionOf(kind string) string {
	for _, k := range conversions() {
		if k.from.kind == kind {
			return k.from.apiVersion
		}
	}
	return ""
}

// current tells whether a version and kind of Karpenter's groups is that of
// today, and so needs no conversion.
func current(apiVersion, kind string) bool {
	if gvk, ok := karpv1.GroupVersionKindOf(kind); ok {
		return gvk.GroupVersion().String() == apiVersion
	}
	return apiVersion == awsStable && strings.TrimSuffix(kind, "List") == awsv1.EC2NodeClassKind
}

// converter is the state of one conversion.
type converter struct {
	options  Options
	files    []*file
	objects  []*object // of the input, in order
	settings settings
	notes    []ranked
	asked    map[place][]Note // those that ask for something

	// What was converted or is v1 already, in the order of the input.
	pools, claims, classes []*object
	classNames             map[string]int       // those taken, with the last number that was put behind them
	classByName            map[string][]*object // those that have a spec
	kubelets               map[*object]pair     // of pools, taken out of them
	foreign                []*object            // objects of kinds that have nothing to convert
}

func newConverter(opts *Options) *converter {
	c := &converter{kubelets: map[*object]pair{}, asked: map[place][]Note{}, classNames: map[string]int{}}
	if opts != nil {
		c.options = *opts
	}
	return c
}

// add keeps a note. Templating stands in it as in the text.
func (c *converter) add(file, object int, n Note) {
	c.notes = append(c.notes, ranked{source: file, object: object, note: n})
	if n.Severity >= Action {
		at := place{source: file, object: object}
		c.asked[at] = append(c.asked[at], n)
	}
}

// remark makes a note on an object. The node says on which line.
func (c *converter) remark(o *object, severity Severity, field string, where *yaml.Node, format string, args ...any) {
	n := Note{
		Source:   o.doc.file.source.Name,
		Document: o.doc.number,
		Field:    o.doc.words.show(oneLine(field)),
		Severity: severity,
		Message:  o.doc.words.show(oneLine(fmt.Sprintf(format, args...))),
	}
	if o.kind != "" {
		n.Object = oneLine(o.String())
	}
	if where == nil || where.Line == 0 {
		where = o.root
	}
	if where.Line > 0 {
		n.Line = o.doc.Line + where.Line - 1
	}
	c.add(o.doc.file.index, o.order, n)
}

// rewrite converts one object.
func (c *converter) rewrite(o *object) {
	for _, k := range conversions() {
		if k.from == (typeMeta{o.apiVersion, o.kind}) {
			c.convert(o, k)
			return
		}
	}
	switch (typeMeta{o.apiVersion, o.kind}) {
	case typeMeta{coreStable, karpv1.NodePoolKind}:
		c.stablePool(o)
	case typeMeta{awsStable, awsv1.EC2NodeClassKind}:
		c.classes = append(c.classes, o)
	case typeMeta{"v1", "Node"}:
		c.node(o)
	default:
		c.other(o)
	}
}

// convert rewrites an object of an old version, unless its machines are launched from
// a template of the user's own, it has no spec that is a mapping, or it is a patch.
func (c *converter) convert(o *object, k conversion) {
	spec := o.spec()
	switch {
	case k.provider != "" && c.hasLaunchTemplate(o, k.provider):
		return
	case spec == nil:
		o.refused = true
		c.remark(o, Error, "spec", at(o.root, "spec"), "left as it is: it has no spec that is a mapping")
		return
	case c.isPatch(o, k):
		return
	}
	c.retype(o)
	if k.to.kind != k.from.kind {
		c.newIdentity(o)
	}
	c.metadata(o)
	if k.from.kind == kindProvisioner {
		c.keepStatus(o, "resources")
	} else {
		c.conditions(o)
	}
	k.rewrite(c, o, spec)
}

// ours says whether a kind is one of Karpenter's.
func ours(kind string) bool { return versionOf(kind) != "" }

// other converts what holds pods and remarks on what cannot be converted.
func (c *converter) other(o *object) {
	switch {
	case current(o.apiVersion, o.kind):
	case o.group() == karpv1.Group || o.group() == awsv1.Group:
		c.remark(o, Error, "apiVersion", at(o.root, "apiVersion"),
			"left as it is: %s of %s is not known; what is converted are Provisioner and Machine of %s, %s of %s, "+
				"NodePool and NodeClaim of %s, and EC2NodeClass of %s",
			o.kind, o.apiVersion, coreAlpha, kindNodeTemplate, awsAlpha, coreBeta, awsBeta)
	case o.kind == "CustomResourceDefinition" && (strings.HasSuffix(o.name, "."+karpv1.Group) || strings.HasSuffix(o.name, "."+awsv1.Group)):
		if !c.options.Check {
			c.remark(o, Warning, "", o.root, "left as it is: definitions of v1 come with Karpenter; install those")
		}
	case c.workload(o), c.isSettings(o), c.isKustomization(o):
	default:
		c.foreign = append(c.foreign, o)
	}
}

// reportForeign makes one note for each kind of a source that the conversion has
// nothing to do with.
func (c *converter) reportForeign() {
	type group struct {
		file *file
		typeMeta
	}
	first := map[group]*object{}
	count := map[group]int{}
	for _, o := range c.foreign {
		g := group{o.doc.file, typeMeta{o.apiVersion, o.kind}}
		if count[g]++; count[g] == 1 {
			first[g] = o
		}
	}
	for _, o := range c.foreign {
		g := group{o.doc.file, typeMeta{o.apiVersion, o.kind}}
		if first[g] != o {
			continue
		}
		more := ""
		if count[g] > 1 {
			more = fmt.Sprintf(", like %d more of this kind", count[g]-1)
		}
		c.remark(o, Info, "", o.root, "left as it is%s: %s of %s is nothing that Karpenter's versions differ in",
			more, o.kind, o.apiVersion)
	}
}

// retype gives an object its version and kind of today. The kind of the object
// stays as it was in notes.
func (c *converter) retype(o *object) {
	to, _ := successor(o.apiVersion, o.kind)
	c.remark(o, Info, "", at(o.root, "kind"), "is %s of %s now", to.kind, to.apiVersion)
	find(o.root, "apiVersion").value.Value = to.apiVersion
	find(o.root, "kind").value.Value = to.kind
	if spec := o.spec(); spec != nil {
		spec.Style &^= yaml.FlowStyle // what is added would not fit on its line
	}
	o.converted, o.doc.changed = true, true
}

// reportDuplicates points out objects of Karpenter of one kind and name. What else is
// there twice, in an overlay for each environment, is not for this package to judge.
func (c *converter) reportDuplicates() {
	type identity struct {
		group, kind, namespace, name string
	}
	first := map[identity]*object{}
	for _, o := range c.objects {
		known := o.group() == karpv1.Group || o.group() == awsv1.Group || c.isSettings(o)
		if o.name == "" || o.patch || !known {
			continue
		}
		kind := textOf(at(o.root, "kind"))
		if kind == "" {
			kind = o.kind
		}
		id := identity{o.group(), kind, o.namespace, o.name}
		one, found := first[id]
		if !found {
			first[id] = o
			continue
		}
		where := fmt.Sprintf("document %d", one.doc.number)
		if one.doc.file != o.doc.file {
			where += " of " + one.doc.file.source.Name
		}
		c.remark(o, Error, "metadata.name", at(o.root, "metadata", "name"),
			"there are two of kind %s of this name now, this and %s in %s; both are kept, and whichever is applied last wins: rename or remove one",
			id.kind, one, where)
	}
}
