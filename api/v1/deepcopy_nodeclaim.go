package v1

import (
	"k8s.io/apimachinery/pkg/runtime"
)

// DeepCopyInto copies c into out. Nothing is shared.
func (c *NodeClaim) DeepCopyInto(out *NodeClaim) {
	out.TypeMeta = c.TypeMeta
	c.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	c.Spec.DeepCopyInto(&out.Spec)
	c.Status.DeepCopyInto(&out.Status)
}

// DeepCopy returns a copy that shares nothing with c, or nil for nil.
func (c *NodeClaim) DeepCopy() *NodeClaim {
	return deepCopy(c)
}

// DeepCopyObject is DeepCopy for the apimachinery runtime.
func (c *NodeClaim) DeepCopyObject() runtime.Object {
	if d := c.DeepCopy(); d != nil {
		return d
	}
	return nil
}

// DeepCopyInto copies s into out. Nothing is shared.
func (s *NodeClaimSpec) DeepCopyInto(out *NodeClaimSpec) {
	out.Taints = copyTaints(s.Taints)
	out.StartupTaints = copyTaints(s.StartupTaints)
	out.Requirements = deepCopySlice(s.Requirements)
	s.Resources.DeepCopyInto(&out.Resources)
	out.NodeClassRef = s.NodeClassRef.DeepCopy()
	out.TerminationGracePeriod = clonePointer(s.TerminationGracePeriod)
	s.ExpireAfter.DeepCopyInto(&out.ExpireAfter)
}

// DeepCopy returns a copy that shares nothing with s, or nil for nil.
func (s *NodeClaimSpec) DeepCopy() *NodeClaimSpec {
	return deepCopy(s)
}

// DeepCopyInto copies s into out. Nothing is shared.
func (s *NodeClaimStatus) DeepCopyInto(out *NodeClaimStatus) {
	*out = *s
	out.Capacity = s.Capacity.DeepCopy()
	out.Allocatable = s.Allocatable.DeepCopy()
	out.Conditions = copyConditions(s.Conditions)
	s.LastPodEventTime.DeepCopyInto(&out.LastPodEventTime)
}

// DeepCopy returns a copy that shares nothing with s, or nil for nil.
func (s *NodeClaimStatus) DeepCopy() *NodeClaimStatus {
	return deepCopy(s)
}

// DeepCopyInto copies l into out. Nothing is shared.
func (l *NodeClaimList) DeepCopyInto(out *NodeClaimList) {
	out.TypeMeta = l.TypeMeta
	l.ListMeta.DeepCopyInto(&out.ListMeta)
	out.Items = deepCopySlice(l.Items)
}

// DeepCopy returns a copy that shares nothing with l, or nil for nil.
func (l *NodeClaimList) DeepCopy() *NodeClaimList {
	return deepCopy(l)
}

// DeepCopyObject is DeepCopy for the apimachinery runtime.
func (l *NodeClaimList) DeepCopyObject() runtime.Object {
	if c := l.DeepCopy(); c != nil {
		return c
	}
	return nil
}
