package v1

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"
	sigsjson "sigs.k8s.io/json"

	"github.com/dovetail-sdk/dovetail/internal/quantity"
	"github.com/dovetail-sdk/dovetail/internal/spelling"
)

// checkFields compares the document with a Go type and returns every field that
// the type does not have, every value that does not fit and every key that
// appears twice, sorted by path. It also returns the parsed document.
func (d Document) checkFields(t reflect.Type) (tree map[string]any, faults field.ErrorList, err error) {
	strict, err := sigsjson.UnmarshalStrict(d.data, &tree, sigsjson.DisallowDuplicateFields)
	if err != nil {
		return nil, nil, err
	}
	c := &fieldChecker{root: t}
	if !d.source.ambiguous { // otherwise a random value was kept, and its faults would be random
		c.value(nil, tree, t)
	}
	for _, path := range d.duplicates(strict) {
		if inItem := t == reflect.TypeFor[list]() && len(path) > 2 && path[0] == "items"; !inItem {
			c.faults = append(c.faults, duplicateKey(path, t))
		}
	}
	slices.SortStableFunc(c.faults, func(a, b *field.Error) int { return strings.Compare(a.Field, b.Field) })
	return tree, c.faults, nil
}

// fieldChecker gathers the faults of one document.
type fieldChecker struct {
	root   reflect.Type
	faults field.ErrorList
}

func (c *fieldChecker) mismatch(path *field.Path, value any, detail string) {
	c.faults = append(c.faults, field.TypeInvalid(path, shorten(value), detail))
}

// value checks a JSON value against the type that it will be decoded into.
func (c *fieldChecker) value(path *field.Path, value any, t reflect.Type) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch kind := t.Kind(); {
	case value == nil:
		// null leaves the field out. Lists and maps refuse it themselves.
	case kind == reflect.Struct && !readsItself(t):
		c.object(path, value, t)
	case kind == reflect.Map && !readsItself(t):
		c.dictionary(path, value, t)
	case kind == reflect.Slice && !readsItself(t):
		c.array(path, value, t)
	default:
		c.leaf(path, value, t)
	}
}

func (c *fieldChecker) object(path *field.Path, value any, t reflect.Type) {
	members, ok := value.(map[string]any)
	if !ok {
		c.mismatch(path, value, "want an object, got "+jsonTypeOf(value))
		return
	}
	fields := jsonFields(t)
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		if t.Field(i).Tag.Get("required") == "true" && members[name] == nil {
			c.faults = append(c.faults, field.Required(path.Child(name), "the field is required"))
		}
		if t.Field(i).Tag.Get("plain") == "true" {
			c.notFloat(path.Child(name), members[name])
		}
		if t.Field(i).Tag.Get("filled") == "true" {
			c.notEmpty(path.Child(name), members[name], "write a value, or leave the field out")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if ft, known := fields[name]; known {
			c.value(path.Child(name), members[name], ft)
			c.written(path.Child(name), t, name, members[name])
			continue
		}
		c.faults = append(c.faults, field.Forbidden(path.Child(name), "unknown field"+c.hint(path, name, t)))
	}
	c.writtenTogether(path, t, members)
}

func (c *fieldChecker) dictionary(path *field.Path, value any, t reflect.Type) {
	members, ok := value.(map[string]any)
	if !ok {
		c.mismatch(path, value, "want an object, got "+jsonTypeOf(value))
		return
	}
	for _, key := range slices.Sorted(maps.Keys(members)) {
		if members[key] == nil {
			c.mismatch(path.Key(key), nil, "want a value, got null; remove the key")
			continue
		}
		if _, nested := members[key].(map[string]any); nested && key == "resources" && t == reflect.TypeFor[Limits]() {
			// A Provisioner had them there.
			c.mismatch(path.Key(key), members[key], "want a quantity, got an object; move what is in it one level up")
			continue
		}
		c.value(path.Key(key), members[key], t.Elem())
	}
}

func (c *fieldChecker) array(path *field.Path, value any, t reflect.Type) {
	items, ok := value.([]any)
	if !ok {
		c.mismatch(path, value, "want a list, got "+jsonTypeOf(value))
		return
	}
	for i, item := range items {
		if item == nil {
			c.mismatch(path.Index(i), nil, "want a value, got null; remove the item")
			continue
		}
		c.value(path.Index(i), item, t.Elem())
	}
}

// leaf decodes the value into a new instance of the type, so that it accepts exactly what the
// decoder accepts.
func (c *fieldChecker) leaf(path *field.Path, value any, t reflect.Type) {
	if text, ok := value.(string); ok && t == reflect.TypeFor[resource.Quantity]() && quantity.Endless(text) {
		c.mismatch(path, shortened(value), "want a quantity of ordinary size, such as 100m or 1e3; its exponent, or the text, is too long to be worked out")
		return
	}
	data, err := json.Marshal(value)
	if err == nil {
		err = json.Unmarshal(data, reflect.New(t).Interface())
	}
	if err == nil {
		return
	}
	got := jsonTypeOf(value)
	switch {
	case readsItself(t):
		c.mismatch(path, value, unread(t, got, err))
	case t.Kind() == reflect.String && (got == "a number" || got == "a boolean"):
		c.mismatch(path, value, fmt.Sprintf("want a string, got %s; put it in quotes", got))
	case t.Kind() == reflect.String:
		c.mismatch(path, value, "want a string, got "+got)
	case t.Kind() == reflect.Bool:
		c.mismatch(path, value, "want true or false, got "+got)
	case got == "a number":
		c.mismatch(path, value, fmt.Sprintf("want a whole number of %d bits", t.Bits()))
	default:
		c.mismatch(path, value, "want a number, got "+got)
	}
}

// unread returns the error for a type with its own UnmarshalJSON. The errors of Kubernetes
// quantities and durations do not say what to write.
func unread(t reflect.Type, got string, err error) string {
	var want string
	switch t {
	case reflect.TypeFor[resource.Quantity]():
		want = "want a quantity such as 500m, 2 or 4Gi"
	case reflect.TypeFor[metav1.Duration]():
		want = "want a duration such as 720h or 1h30m"
	case reflect.TypeFor[intstr.IntOrString]():
		want = "want a whole number of 32 bits, or a string"
	default:
		return err.Error()
	}
	if got == "an object" || got == "a list" || got == "a boolean" {
		want += ", got " + got
	}
	return want
}

// descend goes one step down, in the path and in the type. The type is nil below unknown fields.
func descend(path *field.Path, t reflect.Type, step any) (*field.Path, reflect.Type) {
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if index, ok := step.(int); ok {
		if t != nil && t.Kind() == reflect.Slice {
			return path.Index(index), t.Elem()
		}
		return path.Index(index), nil
	}
	name, _ := step.(string)
	if t != nil && t.Kind() == reflect.Map {
		return path.Key(name), t.Elem()
	}
	if t != nil && t.Kind() == reflect.Struct {
		return path.Child(name), jsonFields(t)[name]
	}
	return path.Child(name), nil
}

// jsonFields returns the members of a struct by their name in JSON, including those of embedded
// structs without a name.
func jsonFields(t reflect.Type) map[string]reflect.Type {
	fields := map[string]reflect.Type{}
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "-" || !f.IsExported():
		case name == "" && f.Anonymous && f.Type.Kind() == reflect.Struct:
			maps.Copy(fields, jsonFields(f.Type))
		case name == "":
			fields[f.Name] = f.Type
		default:
			fields[name] = f.Type
		}
	}
	return fields
}

func readsItself(t reflect.Type) bool {
	return reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]())
}

func jsonTypeOf(value any) string {
	switch value.(type) {
	case nil:
		return "null"
	case string:
		return "a string"
	case bool:
		return "a boolean"
	case map[string]any:
		return "an object"
	case []any:
		return "a list"
	}
	return "a number"
}

// shorten keeps a whole subtree out of a message.
func shorten(value any) any {
	switch value := value.(type) {
	case map[string]any:
		return "{...}"
	case []any:
		return "[...]"
	case nil:
		return "null"
	default:
		return value
	}
}

// hint returns the probable correction of an unknown field, as the end of a message, or "". It
// tries in this order: a field that is known to have moved, a field of the same object with a
// similar name, a field of the metadata next to it, a field of the same name elsewhere in the
// object. Fields within lists are not suggested, because the index is not known.
func (c *fieldChecker) hint(path *field.Path, name string, t reflect.Type) string {
	if moved := retired(t, name); moved != "" {
		return "; " + moved
	}
	if near := nearest(name, slices.Sorted(maps.Keys(jsonFields(t)))); near != "" {
		return fmt.Sprintf("; did you mean %q?", near)
	}
	if _, found := jsonFields(reflect.TypeFor[metav1.ObjectMeta]())[name]; found && path == nil {
		return "; it belongs at metadata." + name
	}
	if places := placesOf(name, c.root, nil, 0); len(places) == 1 && places[0] != path.Child(name).String() {
		return "; it belongs at " + places[0]
	}
	return ""
}

// retired returns the replacement of a field of older versions.
func retired(t reflect.Type, name string) string {
	switch {
	case t == reflect.TypeFor[NodeClassReference]() && name == "apiVersion":
		return "write the group alone, without a version, as group"
	case t == reflect.TypeFor[corev1.Taint]() && name == "operator":
		return "a taint has none, but the toleration of a pod; leave it out"
	case t == reflect.TypeFor[NodeClaimTemplateSpec]() && name == "kubelet":
		return "it belongs to the NodeClass now"
	case t == reflect.TypeFor[NodePoolSpec]() && name == "ttlSecondsAfterEmpty":
		return "write spec.disruption.consolidateAfter, with consolidationPolicy WhenEmpty"
	case t == reflect.TypeFor[NodePoolSpec]() && name == "ttlSecondsUntilExpired":
		return "write spec.template.spec.expireAfter"
	case t == reflect.TypeFor[NodePoolSpec]() && (name == "provider" || name == "providerRef"):
		return "write spec.template.spec.nodeClassRef"
	}
	return ""
}

// placesOf returns the paths below spec, and outside of lists, at which a struct has a field of the
// name, sorted.
func placesOf(name string, t reflect.Type, path *field.Path, depth int) (places []string) {
	// No kind nests deeper than this; the bound is for types that contain
	// themselves.
	const deepest = 8
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || readsItself(t) || depth > deepest {
		return nil
	}
	fields := jsonFields(t)
	for _, child := range slices.Sorted(maps.Keys(fields)) {
		if depth == 0 && child != "spec" {
			continue
		}
		if child == name {
			places = append(places, path.Child(child).String())
		}
		places = append(places, placesOf(name, fields[child], path.Child(child), depth+1)...)
	}
	return places
}

// nearest returns the candidate that is most similar to the word, the first of equal ones, or "" if
// none is similar: equal except for case, or at most a third of the letters, and at most two, to
// change.
func nearest(word string, candidates []string) string {
	best, bestDistance := "", min(2, len(word)/3)+1
	for _, candidate := range candidates {
		if strings.EqualFold(candidate, word) {
			return candidate
		}
		if d := spelling.Distance(strings.ToLower(word), strings.ToLower(candidate)); d < bestDistance {
			best, bestDistance = candidate, d
		}
	}
	return best
}

// shortened cuts long texts in messages.
func shortened(value any) any {
	const limit = 40
	if text, ok := value.(string); ok && len(text) > limit {
		return strings.ToValidUTF8(text[:limit], "") + "..."
	}
	return value
}
