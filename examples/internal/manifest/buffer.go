package manifest

import (
	"encoding/json"
	"errors"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/dovetail-sdk/dovetail/provisioning"
)

// capacityBuffer is a CapacityBuffer of autoscaling.x-k8s.io/v1beta1, with the fields that decide
// its size and its pods.
type capacityBuffer struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   capacityBufferSpec   `json:"spec"`
	Status capacityBufferStatus `json:"status,omitempty"`
}

type capacityBufferSpec struct {
	ProvisioningStrategy *string             `json:"provisioningStrategy,omitempty"`
	PodTemplateRef       *bufferReference    `json:"podTemplateRef,omitempty"`
	ScalableRef          *bufferReference    `json:"scalableRef,omitempty"`
	Replicas             *int32              `json:"replicas,omitempty"`
	Percentage           *int32              `json:"percentage,omitempty"`
	Limits               corev1.ResourceList `json:"limits,omitempty"`
}

// bufferReference refers to a PodTemplate, which needs only a name, or to a workload.
type bufferReference struct {
	APIGroup string `json:"apiGroup,omitempty"`
	Kind     string `json:"kind,omitempty"`
	Name     string `json:"name"`
}

// capacityBufferStatus is decoded only to check its field names.
type capacityBufferStatus struct {
	PodTemplateRef        *bufferReference   `json:"podTemplateRef,omitempty"`
	PodTemplateGeneration *int64             `json:"podTemplateGeneration,omitempty"`
	Replicas              *int32             `json:"replicas,omitempty"`
	ProvisioningStrategy  *string            `json:"provisioningStrategy,omitempty"`
	Conditions            []metav1.Condition `json:"conditions,omitempty"`
}

// DeepCopyObject makes capacityBuffer a runtime.Object. It copies the fields that JSON has.
func (b *capacityBuffer) DeepCopyObject() runtime.Object {
	out := &capacityBuffer{}
	if data, err := json.Marshal(b); err == nil { // it was read from JSON
		_ = json.Unmarshal(data, out)
	}
	return out
}

// addBuffers resolves the references of the CapacityBuffers.
func (r *reader) addBuffers() {
	for _, b := range byName(listed[*capacityBuffer](r.found)) {
		if b.value.DeletionTimestamp != nil {
			continue
		}
		spec := &b.value.Spec
		template, replicas, ok := r.templateOf(b)
		if !ok {
			continue
		}
		pod := &corev1.Pod{Spec: template.Spec}
		if !r.admit(b.object, "template.", pod) {
			continue
		}
		template = &corev1.PodTemplateSpec{ObjectMeta: template.ObjectMeta, Spec: pod.Spec}
		size := provisioning.BufferSpec{Replicas: spec.Replicas, Percentage: spec.Percentage, ScaledReplicas: replicas, Limits: spec.Limits}
		n, err := size.Count(template)
		if err != nil {
			r.refuseBuffer(b.object, err)
			continue
		}
		r.cluster.Buffers = append(r.cluster.Buffers, provisioning.Buffer{
			Namespace: b.namespace, Name: b.name, UID: b.value.UID, Template: *template, Replicas: n,
		})
		r.cluster.placed("Buffer "+b.namespace+"/"+b.name, place{object: b.object})
	}
}

// refuseBuffer reports all faults that an error of BufferSpec.Count joins.
func (r *reader) refuseBuffer(o *object, err error) {
	if list, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range list.Unwrap() {
			r.refuseBuffer(o, e)
		}
		return
	}
	var fault *field.Error
	if errors.As(err, &fault) {
		r.refuse(o, field.ErrorList{fault})
		return
	}
	r.refuseAll(o, err)
}

// templateOf follows the reference of a buffer. For a workload it also returns the number of
// replicas.
func (r *reader) templateOf(b item[*capacityBuffer]) (template *corev1.PodTemplateSpec, replicas *int32, ok bool) {
	spec := &b.value.Spec
	refuse := func(path, format string, args ...any) {
		r.faults = append(r.faults, b.fault([]any{"spec", path}, format, args...))
	}
	switch {
	case spec.PodTemplateRef != nil && spec.ScalableRef != nil:
		refuse("scalableRef", "stands beside podTemplateRef; remove one of the two")
	case spec.PodTemplateRef != nil:
		if t, ok := named(listed[*corev1.PodTemplate](r.found), b.namespace, spec.PodTemplateRef.Name); ok {
			return &t.Template, nil, true
		}
		refuse("podTemplateRef", "leads to PodTemplate %s, which is not in the input; add it", spec.PodTemplateRef.Name)
	case spec.ScalableRef != nil:
		template, n, ok := r.scalable(b.namespace, spec.ScalableRef)
		if ok {
			return template, &n, true
		}
		refuse("scalableRef", "leads to %s %s, which is not in the input; add it (a Deployment, StatefulSet or ReplicaSet)",
			spec.ScalableRef.Kind, spec.ScalableRef.Name)
	default:
		refuse("podTemplateRef", "is missing, and so is scalableRef; say what pods the buffer is for")
	}
	return nil, nil, false
}

// scalable finds a workload by kind and name.
func (r *reader) scalable(namespace string, ref *bufferReference) (*corev1.PodTemplateSpec, int32, bool) {
	switch ref.Kind {
	case "Deployment":
		if d, ok := named(listed[*appsv1.Deployment](r.found), namespace, ref.Name); ok {
			return &d.Spec.Template, int32(orOne(d.Spec.Replicas)), true
		}
	case "StatefulSet":
		if s, ok := named(listed[*appsv1.StatefulSet](r.found), namespace, ref.Name); ok {
			return &s.Spec.Template, int32(orOne(s.Spec.Replicas)), true
		}
	case "ReplicaSet":
		if rs, ok := named(listed[*appsv1.ReplicaSet](r.found), namespace, ref.Name); ok {
			return &rs.Spec.Template, int32(orOne(rs.Spec.Replicas)), true
		}
	}
	return nil, 0, false
}

// named finds an object by its name.
func named[T any](list []item[T], namespace, name string) (found T, ok bool) {
	for _, i := range list {
		if i.namespace == namespace && i.name == name {
			return i.value, true
		}
	}
	return found, false
}
