package v1

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The copies in this file and its neighbours are written by hand: the types
// are few, and a build must not need a generator. A test walks every type by
// reflection and fails if a copy shares memory with its source or misses a
// field, so a new field cannot be forgotten.

// DeepCopyInto copies d into out. Nothing is shared.
func (d *NillableDuration) DeepCopyInto(out *NillableDuration) {
	*out = *d
	out.Duration = clonePointer(d.Duration)
	out.Raw = slices.Clone(d.Raw)
}

// DeepCopy returns a copy that shares nothing with d, or nil for nil.
func (d *NillableDuration) DeepCopy() *NillableDuration {
	return deepCopy(d)
}

// DeepCopyInto copies l into out. Nothing is shared.
func (l Limits) DeepCopyInto(out *Limits) {
	*out = Limits(corev1.ResourceList(l).DeepCopy())
}

// DeepCopy returns a copy that shares nothing with l, or nil for nil.
func (l Limits) DeepCopy() Limits {
	return Limits(corev1.ResourceList(l).DeepCopy())
}

// DeepCopyInto copies m into out. Nothing is shared.
func (m *ObjectMeta) DeepCopyInto(out *ObjectMeta) {
	out.Labels = maps.Clone(m.Labels)
	out.Annotations = maps.Clone(m.Annotations)
}

// DeepCopy returns a copy that shares nothing with m, or nil for nil.
func (m *ObjectMeta) DeepCopy() *ObjectMeta {
	return deepCopy(m)
}

// DeepCopyInto copies r into out. Nothing is shared.
func (r *NodeClassReference) DeepCopyInto(out *NodeClassReference) {
	*out = *r
}

// DeepCopy returns a copy that shares nothing with r, or nil for nil.
func (r *NodeClassReference) DeepCopy() *NodeClassReference {
	return deepCopy(r)
}

// DeepCopyInto copies r into out. Nothing is shared.
func (r *NodeSelectorRequirementWithMinValues) DeepCopyInto(out *NodeSelectorRequirementWithMinValues) {
	*out = *r
	out.Values = slices.Clone(r.Values)
	out.MinValues = clonePointer(r.MinValues)
}

// DeepCopy returns a copy that shares nothing with r, or nil for nil.
func (r *NodeSelectorRequirementWithMinValues) DeepCopy() *NodeSelectorRequirementWithMinValues {
	return deepCopy(r)
}

// DeepCopyInto copies r into out. Nothing is shared.
func (r *NodeSelectorRequirement) DeepCopyInto(out *NodeSelectorRequirement) {
	*out = *r
	out.Values = slices.Clone(r.Values)
}

// DeepCopy returns a copy that shares nothing with r, or nil for nil.
func (r *NodeSelectorRequirement) DeepCopy() *NodeSelectorRequirement {
	return deepCopy(r)
}

// DeepCopyInto copies r into out. Nothing is shared.
func (r *ResourceRequirements) DeepCopyInto(out *ResourceRequirements) {
	out.Requests = r.Requests.DeepCopy()
}

// DeepCopy returns a copy that shares nothing with r, or nil for nil.
func (r *ResourceRequirements) DeepCopy() *ResourceRequirements {
	return deepCopy(r)
}

// copier is a pointer to T that can copy itself, which is all that the
// allocation half of a deep copy and the copy of a slice need to know.
type copier[T any] interface {
	*T
	DeepCopyInto(out *T)
}

func deepCopy[T any, P copier[T]](in P) *T {
	if in == nil {
		return nil
	}
	out := new(T)
	in.DeepCopyInto(out)
	return out
}

// deepCopySlice keeps the difference between nil and empty, which means
// something in budgets and requirements.
func deepCopySlice[T any, P copier[T]](in []T) []T {
	if in == nil {
		return nil
	}
	out := make([]T, len(in))
	for i := range in {
		P(&in[i]).DeepCopyInto(&out[i])
	}
	return out
}

func clonePointer[T any](p *T) *T {
	if p == nil {
		return nil
	}
	v := *p
	return &v
}

func copyTaints(in []corev1.Taint) []corev1.Taint {
	return deepCopySlice(in)
}

func copyConditions(in []metav1.Condition) []metav1.Condition {
	return deepCopySlice(in)
}
