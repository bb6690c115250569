package convert

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	karpv1 "github.com/dovetail-sdk/dovetail/api/v1"
	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/internal/textstream"
)

// The versions that are converted from.
const (
	coreAlpha = karpv1.Group + "/v1alpha5"
	coreBeta  = karpv1.Group + "/v1beta1"
	awsAlpha  = awsv1.Group + "/v1alpha1"
	awsBeta   = awsv1.Group + "/v1beta1"
)

// converter is the state of one conversion.
type converter struct {
	options    Options
	objects    []*object         // of all files, in order
	profile    string            // aws.defaultInstanceProfile of the ConfigMap karpenter-global-settings
	tags       map[string]string // aws.tags of it
	pools      []*pool
	classes    []*class
	classNames map[string]int // those taken, with the last number that was appended to them
}

// oldKind is a kind of an old version, and the kind of v1 that it becomes.
type oldKind struct {
	apiVersion, kind string
	now              schema.GroupVersionKind
	convert          func(*converter, *object)
}

// oldKinds returns all kinds that are converted.
func oldKinds() []oldKind {
	pool, claim := karpv1.GroupVersion.WithKind(karpv1.NodePoolKind), karpv1.GroupVersion.WithKind(karpv1.NodeClaimKind)
	class := awsv1.GroupVersion.WithKind(awsv1.EC2NodeClassKind)
	return []oldKind{
		{coreAlpha, "Provisioner", pool, decoded((*converter).provisioner)},
		{coreAlpha, "Machine", claim, decoded((*converter).machine)},
		{awsAlpha, "AWSNodeTemplate", class, decoded((*converter).nodeTemplate)},
		{coreBeta, pool.Kind, pool, decoded((*converter).betaPool)},
		{coreBeta, claim.Kind, claim, decoded((*converter).betaClaim)},
		{awsBeta, class.Kind, class, decoded((*converter).betaClass)},
	}
}

// becomes returns the kind of v1 that an object is or becomes, and its conversion if it is of an old
// kind. known is false for other kinds than Karpenter's, and for other versions.
func (o *object) becomes() (now schema.GroupVersionKind, convert func(*converter, *object), known bool) {
	for _, k := range oldKinds() {
		if k.apiVersion == o.kind.GroupVersion().String() && k.kind == o.kind.Kind {
			return k.now, k.convert, true
		}
	}
	now, known = karpv1.GroupVersionKindOf(o.kind.Kind)
	return o.kind, nil, known && now == o.kind || o.kind == awsv1.GroupVersion.WithKind(awsv1.EC2NodeClassKind)
}

// likeKind returns the kind of the object's apiVersion that differs only in upper and lower
// case, "" if there is none.
func (o *object) likeKind() string {
	kinds := []schema.GroupVersionKind{awsv1.GroupVersion.WithKind(awsv1.EC2NodeClassKind)}
	for _, k := range oldKinds() {
		now, _ := karpv1.GroupVersionKindOf(k.now.Kind)
		kinds = append(kinds, schema.FromAPIVersionAndKind(k.apiVersion, k.kind), now)
	}
	for _, k := range kinds {
		if k.GroupVersion() == o.kind.GroupVersion() && k.Kind != o.kind.Kind && strings.EqualFold(k.Kind, o.kind.Kind) {
			return k.Kind
		}
	}
	return ""
}

// convert converts one object.
func (c *converter) convert(o *object) {
	group, version := o.kind.Group, o.kind.GroupVersion().String()
	switch _, convert, known := o.becomes(); {
	case convert != nil:
		convert(c, o)
	case known:
		c.current(o)
	case o.likeKind() != "":
		o.refuse("kind", "%q is not a kind of %s; write %s if that is meant", o.kind.Kind, version, o.likeKind())
	case group == karpv1.Group || group == awsv1.Group || version == "" && slices.ContainsFunc(oldKinds(), func(k oldKind) bool { return k.kind == o.kind.Kind }):
		o.refuse("apiVersion", "%s of apiVersion %q is not known; what is converted are versions %s, %s, %s and %s", o.kind.Kind, version, coreAlpha, awsAlpha, coreBeta, awsBeta)
	case group == "kustomize.config.k8s.io":
		o.kustomization()
	}
}

// decoded returns a conversion that first decodes the object strictly.
func decoded[S, T any](convert func(*converter, *object, *manifest[S, T])) func(*converter, *object) {
	return func(c *converter, o *object) {
		for _, path := range []string{"spec.launchTemplate", "spec.launchTemplateName", "spec.provider.launchTemplate", "spec.provider.launchTemplateName"} {
			if name := textAt(o.node, path); name != "" {
				o.refuse(path, "launch templates of one's own are not supported any more; write an EC2NodeClass with the settings of %s", name)
				return
			}
		}
		if n, message := unfit(o.node); n != nil {
			o.refused = true
			o.part.note(n.Line, Note{Object: o.String(), Severity: Error, Message: asIs + "it " + message})
			return
		}
		old := &manifest[S, T]{}
		if err := o.doc.Into(o.kind, old); err != nil {
			o.refuseFaults(faultsOf(err))
			return
		}
		now, _, _ := o.becomes()
		first := len(o.part.notes)
		o.note(Info, "", "is %s of %s now", now.Kind, now.GroupVersion())
		meta := &old.ObjectMeta
		if now.Kind != o.kind.Kind { // to the API server, which gave some of the metadata, it is another object
			if meta.UID != "" || meta.Annotations[corev1.LastAppliedConfigAnnotation] != "" {
				o.note(Info, "metadata", "keeps name, labels, annotations and finalizers: what the API server gave to the old object is removed")
			}
			*meta = metav1.ObjectMeta{Name: meta.Name, Labels: meta.Labels, Annotations: meta.Annotations, Finalizers: meta.Finalizers}
			delete(meta.Annotations, corev1.LastAppliedConfigAnnotation)
			if status, _ := textstream.Find(o.node, "status"); status != nil && now.Kind != karpv1.NodeClaimKind {
				o.note(Info, "status", "removed: the controller observes it anew")
			}
		}
		delete(meta.Annotations, "compatibility.karpenter.sh/v1beta1-nodeclass-reference") // of Karpenter 1.0, unused
		for i := range meta.OwnerReferences {
			r := &meta.OwnerReferences[i]
			r.APIVersion = strings.Replace(r.APIVersion, coreBeta, karpv1.GroupVersion.String(), 1)
		}
		if convert(c, o, old); o.now == nil {
			o.part.notes = slices.Delete(o.part.notes, first, first+1)
		}
	}
}

// refuseFaults leaves the object as it is because it could not be decoded: each fault is a note. An
// object that lacks a required field of its version is a partial object.
func (o *object) refuseFaults(faults field.ErrorList) {
	for _, f := range faults {
		text, _ := f.BadValue.(string)
		if f.Type == field.ErrorTypeRequired {
			o.refuse("", "it has no %s, which every %s needs, so it is a Kustomize patch or another part of an object; "+
				"convert what kustomize build prints, or add what is missing", f.Field, o.kind.Kind)
			return
		}
		if mark := textstream.Mark(text, thenConvert); mark != "" {
			o.refuse(f.Field, "it %s", mark)
		} else {
			o.refuse(f.Field, "%s", strings.TrimSuffix(f.ErrorBody(), "."))
		}
	}
}

// encoded returns a value as JSON. The value was read from JSON, so it can be written without an
// error.
func encoded(v any) json.RawMessage {
	data, _ := json.Marshal(v)
	return data
}

// recode copies the fields that two types have in common by their names in JSON.
func recode(from, to any) { _ = json.Unmarshal(encoded(from), to) }

// readSettings reads the ConfigMap of Karpenter up to 0.32. Classes must have its tags and instance
// profile now.
func (c *converter) readSettings(o *object) {
	if o.kind.Group != "" || o.kind.Kind != "ConfigMap" || o.doc.Name() != "karpenter-global-settings" {
		return
	}
	var m struct{ Data map[string]string }
	err := json.Unmarshal(o.doc.JSON(), &m)
	if text := m.Data["aws.tags"]; err == nil && text != "" {
		err = json.Unmarshal([]byte(text), &c.tags)
	}
	if err != nil {
		o.note(Action, "data", "is no mapping of texts with a JSON object of texts as aws.tags; write its tags and its instance profile into each EC2NodeClass")
	}
	c.profile = m.Data["aws.defaultInstanceProfile"]
	o.note(Warning, "", asIs+"nothing reads it since Karpenter 0.33; classes have its tags and its instance profile, and the other settings are "+
		"environment variables, or settings.* in the values of the Helm chart")
}

// kustomization refuses a Kustomization with a patch that has no target once that is converted.
func (o *object) kustomization() {
	var k struct {
		Patches []struct{ Target schema.GroupVersionKind }
	}
	_ = json.Unmarshal(o.doc.JSON(), &k) // kustomize ignores a patch with other types, too
	for i, p := range k.Patches {
		for _, old := range oldKinds() {
			t, version := p.Target, old.now.Group+"/"+p.Target.Version == old.apiVersion
			kind := t.Kind == old.kind && (version || old.kind != old.now.Kind)
			if kind && (t.Group == "" || t.Group == old.now.Group) || version && t.Kind == "" && t.Group == old.now.Group {
				o.refuse(fmt.Sprintf("patches[%d].target", i), "%s of %s is %s of %s once it is converted, and kustomize ignores a patch without a target; "+
					"convert what kustomize build prints, or rewrite the patch", old.kind, old.apiVersion, old.now.Kind, old.now.GroupVersion())
				break
			}
		}
	}
}

// reportDuplicates points out objects of Karpenter of one kind and name.
func (c *converter) reportDuplicates() {
	first := map[string]*object{}
	for _, o := range c.objects {
		now, _, ours := o.becomes()
		if o.name == "" || o.refused || !ours {
			continue
		}
		one := cmp.Or(first[now.Kind+" "+o.name], o)
		if first[now.Kind+" "+o.name] = one; one != o {
			o.note(Error, "metadata.name", "there are two of kind %s of this name now, this and %s on line %d of %s; both are kept, and the one that is "+
				"applied last wins: rename or remove one", now.Kind, one, one.part.Line+one.node.Line-1, cmp.Or(one.part.source, "the text"))
		}
	}
}

// check adds a note for each fault of a converted object, and with Options.Check of an object that
// was v1 already, unless another note of severity Action is about the field. A value that a program
// fills in, such as ${CLUSTER_NAME}, is no fault.
func (c *converter) check(o *object) {
	var faults field.ErrorList
	for _, now := range o.now {
		faults = append(faults, judge(now.GetObjectKind().GroupVersionKind().Kind, encoded(now))...)
	}
	if _, _, known := o.becomes(); c.options.Check && known && !o.refused && o.now == nil {
		if textAt(o.node, "spec.role") == rolePlaceholder {
			o.note(Action, "spec.role", "replace %s, which a conversion has left", rolePlaceholder)
		}
		// The JSON of YAML has each key once, and any field is one of Unstructured.
		if err := o.doc.Into(o.kind, &unstructured.Unstructured{}); err != nil && !o.part.JSON {
			faults = faultsOf(err)
		}
		faults = append(faults, judge(o.kind.Kind, o.doc.JSON())...)
	}
	asked := o.asked
	for _, f := range faults {
		known := f.Field != "" && slices.ContainsFunc(asked, func(path string) bool { return strings.HasPrefix(path, f.Field) })
		if !known && !strings.Contains(fmt.Sprint(f.BadValue), "${") {
			o.note(Action, f.Field, "%s", strings.TrimSuffix(f.ErrorBody(), "."))
		}
	}
}

// judge decodes and validates an object of v1.
func judge(kind string, data []byte) field.ErrorList {
	if kind == awsv1.EC2NodeClassKind {
		class, err := awsv1.DecodeEC2NodeClass(data)
		if err != nil {
			return faultsOf(err)
		}
		class.Default()
		return class.Validate()
	}
	now, err := karpv1.Decode(data)
	if err != nil {
		return faultsOf(err)
	}
	var rules *karpv1.Rules
	if mentions(data, strconv.Quote(awsv1.Group)) { // as the group of a nodeClassRef
		rules = awsv1.NodePoolRules()
	}
	if core, ok := now.(interface {
		Default()
		ValidateWith(*karpv1.Rules) field.ErrorList
	}); ok {
		core.Default()
		return core.ValidateWith(rules)
	}
	return nil // a list, which is its items
}

// faultsOf returns the faults of a decoding error, with their paths if they have any.
func faultsOf(err error) field.ErrorList {
	if broken, ok := errors.AsType[*karpv1.DecodeError](err); ok && len(broken.Faults) > 0 {
		return broken.Faults
	}
	return field.ErrorList{field.Invalid(nil, "", oneLine(err.Error()))}
}
