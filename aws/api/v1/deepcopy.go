package v1

import (
	"k8s.io/apimachinery/pkg/runtime"
)

// The copies in this file and its neighbour are written by hand: the types are
// few, and a build must not need a generator. A test walks every type by
// reflection and fails if a copy shares memory with its source or misses a
// field, so a new field cannot be forgotten.

// DeepCopyInto copies c into out. Nothing is shared.
func (c *EC2NodeClass) DeepCopyInto(out *EC2NodeClass) {
	out.TypeMeta = c.TypeMeta
	c.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	c.Spec.DeepCopyInto(&out.Spec)
	c.Status.DeepCopyInto(&out.Status)
}

// DeepCopy returns a copy that shares nothing with c, or nil for nil.
func (c *EC2NodeClass) DeepCopy() *EC2NodeClass {
	return deepCopy(c)
}

// DeepCopyObject is DeepCopy for the apimachinery runtime.
func (c *EC2NodeClass) DeepCopyObject() runtime.Object {
	if d := c.DeepCopy(); d != nil {
		return d
	}
	return nil
}

// DeepCopyInto copies l into out. Nothing is shared.
func (l *EC2NodeClassList) DeepCopyInto(out *EC2NodeClassList) {
	out.TypeMeta = l.TypeMeta
	l.ListMeta.DeepCopyInto(&out.ListMeta)
	out.Items = deepCopySlice(l.Items)
}

// DeepCopy returns a copy that shares nothing with l, or nil for nil.
func (l *EC2NodeClassList) DeepCopy() *EC2NodeClassList {
	return deepCopy(l)
}

// DeepCopyObject is DeepCopy for the apimachinery runtime.
func (l *EC2NodeClassList) DeepCopyObject() runtime.Object {
	if d := l.DeepCopy(); d != nil {
		return d
	}
	return nil
}

// DeepCopyInto copies s into out. Nothing is shared.
func (s *EC2NodeClassStatus) DeepCopyInto(out *EC2NodeClassStatus) {
	*out = *s
	out.Subnets = cloneSlice(s.Subnets)
	out.SecurityGroups = cloneSlice(s.SecurityGroups)
	out.CapacityReservations = deepCopySlice(s.CapacityReservations)
	out.AMIs = deepCopySlice(s.AMIs)
	out.Conditions = deepCopySlice(s.Conditions)
}

// DeepCopy returns a copy that shares nothing with s, or nil for nil.
func (s *EC2NodeClassStatus) DeepCopy() *EC2NodeClassStatus {
	return deepCopy(s)
}

// DeepCopyInto copies a into out. Nothing is shared.
func (a *AMI) DeepCopyInto(out *AMI) {
	*out = *a
	out.Requirements = deepCopySlice(a.Requirements)
}

// DeepCopy returns a copy that shares nothing with a, or nil for nil.
func (a *AMI) DeepCopy() *AMI {
	return deepCopy(a)
}

// DeepCopyInto copies r into out. Nothing is shared.
func (r *CapacityReservation) DeepCopyInto(out *CapacityReservation) {
	*out = *r
	out.EndTime = r.EndTime.DeepCopy()
}

// DeepCopy returns a copy that shares nothing with r, or nil for nil.
func (r *CapacityReservation) DeepCopy() *CapacityReservation {
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

// deepCopySlice keeps the difference between nil and empty.
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

// cloneSlice is slices.Clone for items without pointers, with no room to spare.
func cloneSlice[T comparable](in []T) []T {
	if in == nil {
		return nil
	}
	out := make([]T, len(in))
	copy(out, in)
	return out
}

func clonePointer[T comparable](p *T) *T {
	if p == nil {
		return nil
	}
	v := *p
	return &v
}
