package v1

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/dovetail-sdk/dovetail/internal/spelling"
)

// hint returns what the author of an unknown field may have meant, as the tail
// of a message, or "". In this order: a field that is known to have moved, a
// field of the same object that is spelt nearly the same, a field of the same
// name elsewhere in the object.
func (c *fieldChecker) hint(path *field.Path, name string, t reflect.Type) string {
	if moved := retired(t, name); moved != "" {
		return "; " + moved
	}
	if near := nearest(name, slices.Sorted(maps.Keys(jsonFields(t)))); near != "" {
		return fmt.Sprintf("; did you mean %q?", near)
	}
	places := placesOf(name, c.root, nil)
	if len(places) == 1 && places[0] != path.Child(name).String() {
		return "; it belongs at " + places[0]
	}
	return ""
}

// retired names the successor of fields that older versions had at the same
// place.
func retired(t reflect.Type, name string) string {
	switch {
	case t == reflect.TypeFor[NodeClassReference]() && name == "apiVersion":
		return "write the group alone, without a version, as group"
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

// placesOf returns the paths below spec at which a struct has a field of the
// name, sorted. Lists are written as [].
func placesOf(name string, t reflect.Type, path []string) []string {
	// No kind nests deeper than this; the bound is for types that contain
	// themselves.
	const deepest = 8
	suffix := ""
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		if t.Kind() == reflect.Slice {
			suffix += "[]"
		}
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || readsItself(t) || len(path) > deepest {
		return nil
	}
	if len(path) > 0 {
		path = append(slices.Clone(path[:len(path)-1]), path[len(path)-1]+suffix)
	}
	var places []string
	fields := jsonFields(t)
	for _, child := range slices.Sorted(maps.Keys(fields)) {
		if len(path) == 0 && child != "spec" {
			continue
		}
		here := append(slices.Clone(path), child)
		if child == name {
			places = append(places, strings.Join(here, "."))
		}
		places = append(places, placesOf(name, fields[child], here)...)
	}
	return places
}

// nearest returns the candidate that is most like the word, the first of equal
// ones, or "" if none is near: the same but for case, or at most a third of the
// letters, and two, to change.
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
