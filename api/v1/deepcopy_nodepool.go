package v1

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
)

// DeepCopyInto copies p into out. Nothing is shared.
func (p *NodePool) DeepCopyInto(out *NodePool) {
	out.TypeMeta = p.TypeMeta
	p.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	p.Spec.DeepCopyInto(&out.Spec)
	p.Status.DeepCopyInto(&out.Status)
}

// DeepCopy returns a copy that shares nothing with p, or nil for nil.
func (p *NodePool) DeepCopy() *NodePool {
	return deepCopy(p)
}

// DeepCopyObject is DeepCopy for the apimachinery runtime.
func (p *NodePool) DeepCopyObject() runtime.Object {
	if c := p.DeepCopy(); c != nil {
		return c
	}
	return nil
}

// DeepCopyInto copies s into out. Nothing is shared.
func (s *NodePoolSpec) DeepCopyInto(out *NodePoolSpec) {
	s.Template.DeepCopyInto(&out.Template)
	s.Disruption.DeepCopyInto(&out.Disruption)
	out.Limits = s.Limits.DeepCopy()
	out.Weight = clonePointer(s.Weight)
	out.Replicas = clonePointer(s.Replicas)
}

// DeepCopy returns a copy that shares nothing with s, or nil for nil.
func (s *NodePoolSpec) DeepCopy() *NodePoolSpec {
	return deepCopy(s)
}

// DeepCopyInto copies t into out. Nothing is shared.
func (t *NodeClaimTemplate) DeepCopyInto(out *NodeClaimTemplate) {
	t.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	t.Spec.DeepCopyInto(&out.Spec)
}

// DeepCopy returns a copy that shares nothing with t, or nil for nil.
func (t *NodeClaimTemplate) DeepCopy() *NodeClaimTemplate {
	return deepCopy(t)
}

// DeepCopyInto copies s into out. Nothing is shared.
func (s *NodeClaimTemplateSpec) DeepCopyInto(out *NodeClaimTemplateSpec) {
	out.Taints = copyTaints(s.Taints)
	out.StartupTaints = copyTaints(s.StartupTaints)
	out.Requirements = deepCopySlice(s.Requirements)
	out.NodeClassRef = s.NodeClassRef.DeepCopy()
	out.TerminationGracePeriod = clonePointer(s.TerminationGracePeriod)
	s.ExpireAfter.DeepCopyInto(&out.ExpireAfter)
}

// DeepCopy returns a copy that shares nothing with s, or nil for nil.
func (s *NodeClaimTemplateSpec) DeepCopy() *NodeClaimTemplateSpec {
	return deepCopy(s)
}

// DeepCopyInto copies d into out. Nothing is shared.
func (d *Disruption) DeepCopyInto(out *Disruption) {
	d.ConsolidateAfter.DeepCopyInto(&out.ConsolidateAfter)
	out.ConsolidationPolicy = d.ConsolidationPolicy
	out.Budgets = deepCopySlice(d.Budgets)
}

// DeepCopy returns a copy that shares nothing with d, or nil for nil.
func (d *Disruption) DeepCopy() *Disruption {
	return deepCopy(d)
}

// DeepCopyInto copies b into out. Nothing is shared.
func (b *Budget) DeepCopyInto(out *Budget) {
	out.Reasons = slices.Clone(b.Reasons)
	out.Nodes = b.Nodes
	out.Schedule = clonePointer(b.Schedule)
	out.Duration = clonePointer(b.Duration)
}

// DeepCopy returns a copy that shares nothing with b, or nil for nil.
func (b *Budget) DeepCopy() *Budget {
	return deepCopy(b)
}

// DeepCopyInto copies s into out. Nothing is shared.
func (s *NodePoolStatus) DeepCopyInto(out *NodePoolStatus) {
	out.Resources = s.Resources.DeepCopy()
	out.Nodes = clonePointer(s.Nodes)
	out.NodeClassObservedGeneration = s.NodeClassObservedGeneration
	out.Conditions = copyConditions(s.Conditions)
}

// DeepCopy returns a copy that shares nothing with s, or nil for nil.
func (s *NodePoolStatus) DeepCopy() *NodePoolStatus {
	return deepCopy(s)
}

// DeepCopyInto copies l into out. Nothing is shared.
func (l *NodePoolList) DeepCopyInto(out *NodePoolList) {
	out.TypeMeta = l.TypeMeta
	l.ListMeta.DeepCopyInto(&out.ListMeta)
	out.Items = deepCopySlice(l.Items)
}

// DeepCopy returns a copy that shares nothing with l, or nil for nil.
func (l *NodePoolList) DeepCopy() *NodePoolList {
	return deepCopy(l)
}

// DeepCopyObject is DeepCopy for the apimachinery runtime.
func (l *NodePoolList) DeepCopyObject() runtime.Object {
	if c := l.DeepCopy(); c != nil {
		return c
	}
	return nil
}
