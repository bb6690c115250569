package v1

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// maxAnnotations is the largest total size of the annotations of an object, in bytes.
const maxAnnotations = 256 << 10

// ValidateMetadata returns every fault of the metadata of a cluster-scoped object, such as a
// NodePool or a NodeClass, for which an API server would refuse to create it, or nil. The rules: it
// has a name, or a prefix in generateName; names are DNS names; keys and values of labels, keys of
// annotations, owners and finalizers are well-formed; at most one owner is the controller. Faults
// are in this order, and by key. Nil is one fault.
//
// Fields that an API server sets or drops are not checked: a namespace and a generation, a single
// empty entry of managedFields, and owners with the uid of an earlier owner.
func ValidateMetadata(meta *metav1.ObjectMeta) field.ErrorList {
	path := field.NewPath("metadata")
	if meta == nil {
		return nilObject(path)
	}
	v := newValidator(nil)
	v.objectName(path, meta)
	for _, key := range slices.Sorted(maps.Keys(meta.Labels)) {
		at := path.Child("labels").Key(key)
		v.name(at, key, "not a label key: ")
		for _, msg := range validation.IsValidLabelValue(meta.Labels[key]) {
			v.add(field.Invalid(at, meta.Labels[key], "not a label value: "+msg))
		}
	}
	size, at := 0, path.Child("annotations")
	for _, key := range slices.Sorted(maps.Keys(meta.Annotations)) {
		size += len(key) + len(meta.Annotations[key])
		for _, msg := range validation.IsQualifiedName(strings.ToLower(key)) {
			v.add(field.Invalid(at.Key(key), key, "not a key of an annotation: "+msg))
		}
	}
	if size > maxAnnotations {
		v.add(field.TooLong(at, "", maxAnnotations))
	}
	v.owners(path.Child("ownerReferences"), meta.OwnerReferences)
	v.finalizers(path.Child("finalizers"), meta.Finalizers)
	if reset := len(meta.ManagedFields) == 1 && meta.ManagedFields[0] == (metav1.ManagedFieldsEntry{}); !reset {
		v.add(metavalidation.ValidateManagedFields(meta.ManagedFields, path.Child("managedFields"))...)
	}
	return v.faults
}

// objectName checks the prefix of a name, and the name or the one that the API server would
// make.
func (v *validator) objectName(path *field.Path, meta *metav1.ObjectMeta) {
	if prefix := meta.GenerateName; prefix != "" {
		if n := len(prefix); n > 1 && prefix[n-1] == '-' { // the name continues behind the prefix
			prefix = prefix[:n-2] + "a"
		}
		faults := validation.IsDNS1123Subdomain(prefix)
		for _, msg := range faults {
			v.add(field.Invalid(path.Child("generateName"), shortened(meta.GenerateName), msg))
		}
		if len(faults) > 0 && meta.Name == "" {
			return
		}
	}
	name, at := meta.Name, path.Child("name")
	if name == "" && meta.GenerateName != "" {
		const most, tail = 58, "xxxxx"
		name, at = meta.GenerateName[:min(len(meta.GenerateName), most)]+tail, path.Child("generateName")
	}
	if name == "" {
		v.add(field.Required(at, "name the object"))
		return
	}
	for _, msg := range validation.IsDNS1123Subdomain(name) {
		v.add(field.Invalid(at, name, msg))
	}
}

func (v *validator) owners(path *field.Path, owners []metav1.OwnerReference) {
	var controller *field.Path
	seen := map[types.UID]bool{}
	for i, owner := range owners {
		at := path.Index(i)
		if seen[owner.UID] && owner.UID != "" {
			continue // the API server drops it
		}
		seen[owner.UID] = true
		kind := schema.FromAPIVersionAndKind(owner.APIVersion, owner.Kind)
		for _, part := range []struct{ name, value string }{
			{"apiVersion", kind.Version}, {"kind", owner.Kind}, {"name", owner.Name}, {"uid", string(owner.UID)},
		} {
			if part.value == "" {
				v.add(field.Required(at.Child(part.name), "an owner needs apiVersion, kind, name and uid"))
			}
		}
		if kind == (schema.GroupVersionKind{Version: "v1", Kind: "Event"}) {
			v.add(field.Forbidden(at.Child("kind"), "an Event owns nothing; remove it"))
		}
		if owner.Controller == nil || !*owner.Controller {
			continue
		}
		if controller != nil {
			v.add(field.Forbidden(at.Child("controller"), fmt.Sprintf("%s is the controller already; keep one", controller)))
			continue
		}
		controller = at
	}
}

func (v *validator) finalizers(path *field.Path, finalizers []string) {
	for i, name := range finalizers {
		for _, msg := range validation.IsQualifiedName(name) {
			v.add(field.Invalid(path.Index(i), name, msg))
		}
	}
	if slices.Contains(finalizers, metav1.FinalizerOrphanDependents) && slices.Contains(finalizers, metav1.FinalizerDeleteDependents) {
		v.add(field.Forbidden(path, fmt.Sprintf("%s and %s contradict each other; keep one", metav1.FinalizerOrphanDependents, metav1.FinalizerDeleteDependents)))
	}
}

// name checks a qualified name: the key of a label or taint, or the value of a taint. The schema
// checks only its form, the run time also its length.
func (v *validator) name(path *field.Path, text, what string) {
	if v.schemaOnly && hasNameForm(text) {
		return
	}
	for _, msg := range validation.IsQualifiedName(text) {
		v.add(field.Invalid(path, text, what+msg))
	}
}

// hasNameForm reports whether the text is a name with an optional prefix and
// slash: the name of letters, digits and -_. and the prefix of labels of small
// letters, digits and - with dots between, each of them beginning and ending
// with a letter or digit.
func hasNameForm(text string) bool {
	const digits, small, capital = "0123456789", "abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	prefix, name, ok := strings.Cut(text, "/")
	if !ok {
		return isWord(text, digits+small+capital, "-_.")
	}
	for _, label := range strings.Split(prefix, ".") {
		if !isWord(label, digits+small, "-") {
			return false
		}
	}
	return isWord(name, digits+small+capital, "-_.")
}

// isWord reports whether the text has only the given characters and neither
// begins nor ends with an inner one. It must not be empty.
func isWord(text, outer, inner string) bool {
	return text != "" && strings.Trim(text, outer+inner) == "" && strings.Trim(text, inner) == text
}
