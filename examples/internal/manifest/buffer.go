package manifest

import (
	"errors"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/dovetail-sdk/dovetail/provisioning"
)

// capacityBuffer is a CapacityBuffer of autoscaling.x-k8s.io/v1beta1, as far as
// its size and its pods are concerned.
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

// bufferReference leads to a PodTemplate, which needs a name only, or to a
// workload.
type bufferReference struct {
	APIGroup string `json:"apiGroup,omitempty"`
	Kind     string `json:"kind,omitempty"`
	Name     string `json:"name"`
}

// capacityBufferStatus is decoded for the sake of its field names.
type capacityBufferStatus struct {
	PodTemplateRef        *bufferReference   `json:"podTemplateRef,omitempty"`
	PodTemplateGeneration *int64             `json:"podTemplateGeneration,omitempty"`
	Replicas              *int32             `json:"replicas,omitempty"`
	ProvisioningStrategy  *string            `json:"provisioningStrategy,omitempty"`
	Conditions            []metav1.Condition `json:"conditions,omitempty"`
}

// DeepCopyObject makes it a runtime.Object.
func (b *capacityBuffer) DeepCopyObject() runtime.Object {
	out := *b
	b.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	s := b.Spec
	out.Spec = capacityBufferSpec{
		ProvisioningStrategy: cloned(s.ProvisioningStrategy), PodTemplateRef: cloned(s.PodTemplateRef), ScalableRef: cloned(s.ScalableRef),
		Replicas: cloned(s.Replicas), Percentage: cloned(s.Percentage), Limits: s.Limits.DeepCopy(),
	}
	t := b.Status
	out.Status = capacityBufferStatus{
		PodTemplateRef: cloned(t.PodTemplateRef), PodTemplateGeneration: cloned(t.PodTemplateGeneration), Replicas: cloned(t.Replicas),
		ProvisioningStrategy: cloned(t.ProvisioningStrategy), Conditions: slices.Clone(t.Conditions),
	}
	return &out
}

func cloned[T any](p *T) *T {
	if p == nil {
		return nil
	}
	out := *p
	return &out
}

// addBuffers resolves what the CapacityBuffers refer to.
func (r *reader) addBuffers() {
	for _, b := range byName(r.found.buffers) {
		if b.value.DeletionTimestamp != nil {
			continue
		}
		spec := &b.value.Spec
		template, replicas, ok := r.templateOf(b)
		if !ok {
			continue
		}
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

// refuseBuffer reports all that an error of BufferSpec.Count joins.
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

// templateOf follows the reference of a buffer. Of a workload it returns the
// number of replicas as well.
func (r *reader) templateOf(b item[*capacityBuffer]) (template *corev1.PodTemplateSpec, replicas *int32, ok bool) {
	spec := &b.value.Spec
	refuse := func(path, format string, args ...any) {
		r.faults = append(r.faults, b.fault([]any{"spec", path}, format, args...))
	}
	switch {
	case spec.PodTemplateRef != nil && spec.ScalableRef != nil:
		refuse("scalableRef", "stands beside podTemplateRef; remove one of the two")
	case spec.PodTemplateRef != nil:
		for _, t := range r.found.podTemplates {
			if t.namespace == b.namespace && t.name == spec.PodTemplateRef.Name {
				return &t.value.Template, nil, true
			}
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
		for _, d := range r.found.deployments {
			if d.namespace == namespace && d.name == ref.Name {
				return &d.value.Spec.Template, int32(orOne(d.value.Spec.Replicas)), true
			}
		}
	case "StatefulSet":
		for _, s := range r.found.statefulSets {
			if s.namespace == namespace && s.name == ref.Name {
				return &s.value.Spec.Template, int32(orOne(s.value.Spec.Replicas)), true
			}
		}
	case "ReplicaSet":
		for _, rs := range r.found.replicaSets {
			if rs.namespace == namespace && rs.name == ref.Name {
				return &rs.value.Spec.Template, int32(orOne(rs.value.Spec.Replicas)), true
			}
		}
	}
	return nil, 0, false
}
