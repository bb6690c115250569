package manifest

import (
	"encoding/json"
	"errors"
	"slices"

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

	Spec struct {
		ProvisioningStrategy *string             `json:"provisioningStrategy,omitempty"`
		PodTemplateRef       *bufferReference    `json:"podTemplateRef,omitempty"`
		ScalableRef          *bufferReference    `json:"scalableRef,omitempty"`
		Replicas             *int32              `json:"replicas,omitempty"`
		Percentage           *int32              `json:"percentage,omitempty"`
		Limits               corev1.ResourceList `json:"limits,omitempty"`
	} `json:"spec"`
	Status map[string]any `json:"status,omitempty"` // of any form, as it decides nothing
}

// bufferReference refers to a PodTemplate, which needs only a name, or to a workload.
type bufferReference struct {
	APIGroup string `json:"apiGroup,omitempty"`
	Kind     string `json:"kind,omitempty"`
	Name     string `json:"name"`
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
	each(r.found, func(b item[*capacityBuffer]) {
		spec := &b.value.Spec
		template, replicas, ok := r.templateOf(b)
		if !ok {
			return
		}
		pod := &corev1.Pod{Spec: template.Spec}
		if !r.admit(b.Object, "template.", pod) {
			return
		}
		template = &corev1.PodTemplateSpec{ObjectMeta: template.ObjectMeta, Spec: pod.Spec}
		size := provisioning.BufferSpec{Replicas: spec.Replicas, Percentage: spec.Percentage, ScaledReplicas: replicas, Limits: spec.Limits}
		n, err := size.Count(template)
		for _, e := range joined(err) {
			if fault, ok := errors.AsType[*field.Error](e); ok {
				r.refuse(b.Object, field.ErrorList{fault})
			} else {
				r.refuseAll(b.Object, e)
			}
		}
		if err != nil {
			return
		}
		r.cluster.Buffers = append(r.cluster.Buffers, provisioning.Buffer{
			Namespace: b.Namespace, Name: b.Name, UID: b.value.UID, Template: *template, Replicas: n,
		})
		r.cluster.places["Buffer "+b.Namespace+"/"+b.Name] = place{object: b.Object}
	})
}

// templateOf follows the reference of a buffer. For a workload it also returns the number of
// replicas.
func (r *reader) templateOf(b item[*capacityBuffer]) (template *corev1.PodTemplateSpec, replicas *int32, ok bool) {
	spec := &b.value.Spec
	switch {
	case spec.PodTemplateRef != nil && spec.ScalableRef != nil:
		return nil, nil, r.fault(b.Object, "spec.scalableRef", "stands beside podTemplateRef; remove one of the two")
	case spec.PodTemplateRef != nil:
		if o := r.seen[id("PodTemplate", b.Namespace, spec.PodTemplateRef.Name)]; o != nil {
			return &o.value.(*corev1.PodTemplate).Template, nil, true
		}
		return nil, nil, r.fault(b.Object, "spec.podTemplateRef", "leads to PodTemplate %s, which is not in the input; add it", spec.PodTemplateRef.Name)
	case spec.ScalableRef != nil:
		ref := spec.ScalableRef
		scalable := slices.Contains([]string{"Deployment", "StatefulSet", "ReplicaSet"}, ref.Kind)
		if o := r.seen[id(ref.Kind, b.Namespace, ref.Name)]; o != nil && scalable {
			w, _ := workloadOf(o.value)
			return w.template, new(int32(orOne(w.replicas))), true
		}
		return nil, nil, r.fault(b.Object, "spec.scalableRef",
			"leads to %s %s, which is not in the input; add it (a Deployment, StatefulSet or ReplicaSet)", ref.Kind, ref.Name)
	}
	return nil, nil, r.fault(b.Object, "spec.podTemplateRef", "is missing, and so is scalableRef; say what pods the buffer is for")
}
