package manifest

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	kjson "sigs.k8s.io/json"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/internal/layout"
	"github.com/dovetail-sdk/dovetail/internal/textstream"
)

// decode decodes an object into out, and reports whether that succeeded. It uses package api/v1,
// which finds all faults at once; a JSON decoder would stop at the first. A field that the Go type
// does not have is a fault, unless it is newer than this program: then it is noted. It is newer if
// an API server has accepted the object, or if Kubernetes 1.37 added it.
func (r *reader) decode(o *Object, out runtime.Object) bool {
	if o.fromServer { // several times faster than the search for all faults, and nearly every object of a dump has none
		if faults, err := kjson.UnmarshalStrict(o.JSON, out); err == nil && len(faults) == 0 {
			return true
		}
	}
	err := o.written.Into(o.written.GroupVersionKind(), out)
	if err == nil {
		return true
	}
	broken, ok := errors.AsType[*v1.DecodeError](err)
	if !ok || len(broken.Faults) == 0 {
		return r.refuseAll(o, err)
	}
	var faults field.ErrorList
	var newer []string
	for _, f := range broken.Faults {
		if f.Type == field.ErrorTypeForbidden && (o.fromServer || addedLater(o, f.Field)) {
			newer = append(newer, o.String()+": "+f.Field+" is newer than this program and was ignored")
			continue
		}
		faults = append(faults, f)
	}
	if !r.refuse(o, faults) {
		return false
	}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(o.JSON, out); err != nil {
		return r.refuseAll(o, err)
	}
	r.cluster.Notes = append(r.cluster.Notes, newer...)
	return true
}

// laterFields are the fields of pods, Jobs and devices that Kubernetes 1.37 added. The types
// that this program is built with are those of 1.36.
var laterFields = []string{
	"bindMountOptions", "compatibilityGroups", "derivedAttributes", "disableResizePreemption", "evictionResponders",
	"grpc.mode", "httpGet.protocol", "nodeAllocatableResources", "partitionTypeAttribute", "podPreemptionPolicy",
	"spec.scheduling", "skipNodeOperations",
}

// addedLater says whether a field of an object of Kubernetes is one of laterFields.
func addedLater(o *Object, path string) bool {
	if strings.Contains(o.APIVersion, "karpenter") {
		return false
	}
	return slices.ContainsFunc(laterFields, func(name string) bool { return strings.HasSuffix("."+path, "."+name) })
}

// decodeValid decodes an object, sets its defaults, and validates it as far as its Go type and this
// package know defaults and rules. It reports whether the object has no fault. An object with
// faults of decoding is validated without the fields that have them, so that all its faults are
// reported at once. Faults that may only follow from those fields are left out.
func (r *reader) decodeValid(o *Object, out decoded) bool {
	before := len(r.faults)
	var follows func(*Fault) bool
	if !r.decode(o, out) {
		var rest []byte
		rest, follows = o.without(r.faults[before:])
		if kjson.UnmarshalCaseSensitivePreserveInts(rest, out) != nil {
			return false
		}
	}
	unread := len(r.faults)
	if v, ok := out.(interface{ Default() }); ok {
		v.Default()
	}
	var faults field.ErrorList
	switch v := out.(type) {
	case *v1.NodeOverlay:
		faults = v.ValidateWith(r.rules.NodeOverlays)
	case interface {
		ValidateWith(*v1.Rules) field.ErrorList
	}:
		faults = v.ValidateWith(r.rules.NodePools)
	case interface{ Validate() field.ErrorList }:
		faults = v.Validate()
	}
	r.refuse(o, faults)
	r.validate(o, out)
	if follows != nil {
		r.faults = append(r.faults[:unread], slices.DeleteFunc(r.faults[unread:], follows)...)
	}
	return len(r.faults) == before
}

// without returns an object without the fields that could not be decoded, as JSON. A list has null in
// place of such an element. The function reports whether a fault of the rest may follow from those
// fields: it is a fault of a field that is missing, because that may be the misspelt one, or of a
// field around or within one of them.
func (o *Object) without(unread []*Fault) (rest []byte, follows func(*Fault) bool) {
	var tree any
	if err := kjson.UnmarshalCaseSensitivePreserveInts(o.JSON, &tree); err != nil { // of equal keys the last counts
		return nil, nil
	}
	data, _ := json.Marshal(tree) // it was JSON
	root, err := textstream.Parse(data)
	if err != nil {
		return nil, nil
	}
	var paths []string
	for _, f := range unread {
		paths = append(paths, f.Field)
		if value, _ := textstream.Find(root, f.Field); value != nil && value.Encode(nil) != nil {
			return nil, nil
		}
	}
	if root.Decode(&tree) != nil {
		return nil, nil
	}
	rest, _ = json.Marshal(withoutNull(tree))
	return rest, func(f *Fault) bool {
		about := strings.TrimSuffix(f.Field, ".minValues") // is compared with the values of its requirement
		value, _ := textstream.Find(root, f.Field)
		return value == nil || slices.ContainsFunc(paths, func(path string) bool { return within(path, about) || within(about, path) })
	}
}

// withoutNull removes the fields that are null from a JSON value, and returns the value.
func withoutNull(value any) any {
	switch v := value.(type) {
	case []any:
		for _, element := range v {
			withoutNull(element)
		}
	case map[string]any:
		maps.DeleteFunc(v, func(_ string, member any) bool { return withoutNull(member) == nil })
	}
	return value
}

// within reports whether a field is another one or a part of it.
func within(path, outer string) bool {
	rest, found := strings.CutPrefix(path, outer)
	return found && (outer == "" || rest == "" || rest[0] == '.' || rest[0] == '[')
}

// refuse reports faults of fields as Faults. It returns true if there are none.
func (r *reader) refuse(o *Object, faults field.ErrorList) bool {
	for _, f := range faults {
		body := strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(f.ErrorBody()) // as encoding/json writes a list
		if f.Type == field.ErrorTypeForbidden && f.Detail == "unknown field" {
			body += "; remove it"
		}
		r.fault(o, f.Field, "%s", oneLine(body))
	}
	return len(faults) == 0
}

// refuseAll reports a fault of an object as a whole. It returns false.
func (r *reader) refuseAll(o *Object, err error) bool {
	return r.fault(o, "", "cannot be read: %s", oneLine(strings.TrimSpace(err.Error())))
}

// fault reports a fault of a field. It returns false.
func (r *reader) fault(o *Object, field, format string, args ...any) bool {
	r.faults = append(r.faults, o.Fault(field, format, args...))
	return false
}

// validate checks the parts of a decoded object of Kubernetes that this package uses, and some
// contradictions for which an API server refuses an object: one that has been accepted has none. The
// engine checks the others.
func (r *reader) validate(o *Object, value metav1.Object) {
	r.labels(o, "metadata.labels", value.GetLabels())
	switch v := value.(type) {
	case *corev1.Pod:
		r.podSpec(o, "spec", &v.Spec)
	case *corev1.PodTemplate:
		r.podSpec(o, "template.spec", &v.Template.Spec)
	case *policyv1.PodDisruptionBudget:
		r.selector(o, v.Spec.Selector)
	case *schedulingv1.PriorityClass:
		for _, other := range listed[*schedulingv1.PriorityClass](r.found) {
			if v.GlobalDefault && other.value.GlobalDefault && !(o.fromServer && other.fromServer) {
				r.fault(o, "globalDefault", "is true, as it is in PriorityClass %s, but a cluster has one default; set it to false in one of them", other.Name)
				break
			}
		}
	}
	if w, ok := workloadOf(value); ok {
		count := "spec.replicas"
		if _, ok := value.(*batchv1.Job); ok {
			count = "spec.parallelism"
		}
		switch {
		case orOne(w.replicas) < 0:
			r.fault(o, count, "is %d; it must not be negative", *w.replicas)
		case orOne(w.replicas) > MaxPods:
			r.fault(o, count, "is %d, but at most %d pods can be planned at once; lower it", *w.replicas, MaxPods)
		}
		r.selector(o, w.selector)
		if w.template == nil {
			r.fault(o, "spec.template", "is missing; say what its pods are to be")
			return
		}
		if s, err := metav1.LabelSelectorAsSelector(w.selector); err == nil && w.selector != nil && !o.fromServer && !s.Matches(labels.Set(w.template.Labels)) {
			r.fault(o, "spec.template.metadata.labels", "do not match spec.selector, %s; change one of the two", layout.Shorten(s.String(), 100))
		}
		r.labels(o, "spec.template.metadata.labels", w.template.Labels)
		r.podSpec(o, "spec.template.spec", &w.template.Spec)
	}
}

func (r *reader) podSpec(o *Object, path string, spec *corev1.PodSpec) {
	r.labels(o, path+".nodeSelector", spec.NodeSelector)
	if len(spec.Containers) == 0 {
		r.fault(o, path+".containers", "is empty; a pod needs a container")
	}
	r.resources(o, path, spec.Resources)
	for i := range spec.InitContainers {
		r.resources(o, fmt.Sprintf("%s.initContainers[%d]", path, i), &spec.InitContainers[i].Resources)
	}
	for i := range spec.Containers {
		r.resources(o, fmt.Sprintf("%s.containers[%d]", path, i), &spec.Containers[i].Resources)
	}
}

// resources checks that no request of a container, or of a pod, is above its limit.
func (r *reader) resources(o *Object, path string, of *corev1.ResourceRequirements) {
	if of == nil || o.fromServer {
		return
	}
	for _, name := range sortedKeys(of.Requests) {
		request := of.Requests[name]
		if limit, found := of.Limits[name]; found && request.Cmp(limit) > 0 {
			r.fault(o, fmt.Sprintf("%s.resources.requests[%s]", path, name), "is %s, above the limit of %s; lower the request or raise the limit", &request, &limit)
		}
	}
}

func (r *reader) selector(o *Object, s *metav1.LabelSelector) {
	if _, err := metav1.LabelSelectorAsSelector(s); err != nil {
		r.fault(o, "spec.selector", "%v; correct it", err)
	}
}

// labels checks the syntax of labels. Only files written by hand can have wrong ones, because an
// API server refuses them.
func (r *reader) labels(o *Object, path string, labels map[string]string) {
	const letters = "use up to 63 letters, digits, '-', '_' and '.', "
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		if len(validation.IsQualifiedName(key)) > 0 {
			r.fault(o, path, "has key %q, which no label can have; %sbehind a DNS name and '/' if need be", layout.Shorten(key, 40), letters)
		}
		if value := labels[key]; len(validation.IsValidLabelValue(value)) > 0 {
			r.fault(o, path, "has value %q of %d bytes for key %q, which no label can have; %swith a letter or digit at either end",
				layout.Shorten(value, 40), len(value), layout.Shorten(key, 40), letters)
		}
	}
}
