package v1

import (
	"k8s.io/apimachinery/pkg/runtime"
)

// DeepCopyInto copies o into out. Nothing is shared.
func (o *NodeOverlay) DeepCopyInto(out *NodeOverlay) {
	out.TypeMeta = o.TypeMeta
	o.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	o.Spec.DeepCopyInto(&out.Spec)
	o.Status.DeepCopyInto(&out.Status)
}

// DeepCopy returns a copy that shares nothing with o, or nil for nil.
func (o *NodeOverlay) DeepCopy() *NodeOverlay {
	return deepCopy(o)
}

// DeepCopyObject is DeepCopy for the apimachinery runtime.
func (o *NodeOverlay) DeepCopyObject() runtime.Object {
	if c := o.DeepCopy(); c != nil {
		return c
	}
	return nil
}

// DeepCopyInto copies s into out. Nothing is shared.
func (s *NodeOverlaySpec) DeepCopyInto(out *NodeOverlaySpec) {
	out.Requirements = deepCopySlice(s.Requirements)
	out.PriceAdjustment = clonePointer(s.PriceAdjustment)
	out.Price = clonePointer(s.Price)
	out.Capacity = s.Capacity.DeepCopy()
	out.Weight = clonePointer(s.Weight)
}

// DeepCopy returns a copy that shares nothing with s, or nil for nil.
func (s *NodeOverlaySpec) DeepCopy() *NodeOverlaySpec {
	return deepCopy(s)
}

// DeepCopyInto copies s into out. Nothing is shared.
func (s *NodeOverlayStatus) DeepCopyInto(out *NodeOverlayStatus) {
	out.Conditions = copyConditions(s.Conditions)
}

// DeepCopy returns a copy that shares nothing with s, or nil for nil.
func (s *NodeOverlayStatus) DeepCopy() *NodeOverlayStatus {
	return deepCopy(s)
}

// DeepCopyInto copies l into out. Nothing is shared.
func (l *NodeOverlayList) DeepCopyInto(out *NodeOverlayList) {
	out.TypeMeta = l.TypeMeta
	l.ListMeta.DeepCopyInto(&out.ListMeta)
	out.Items = deepCopySlice(l.Items)
}

// DeepCopy returns a copy that shares nothing with l, or nil for nil.
func (l *NodeOverlayList) DeepCopy() *NodeOverlayList {
	return deepCopy(l)
}

// DeepCopyObject is DeepCopy for the apimachinery runtime.
func (l *NodeOverlayList) DeepCopyObject() runtime.Object {
	if c := l.DeepCopy(); c != nil {
		return c
	}
	return nil
}
