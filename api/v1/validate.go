package v1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Rules describe a provider's labels and resources to validation. They add to the rules of
// karpenter.sh. The zero value and nil add nothing. Rules are read-only.
//
// +k8s:deepcopy-gen=false
type Rules struct {
	// WellKnownLabels are label keys in a restricted domain that users may use.
	WellKnownLabels []string
	// RestrictedDomains are label domains that belong to the provider. A key
	// whose first segment ends in one of them is refused unless it is in
	// WellKnownLabels. karpenter.sh is always restricted.
	RestrictedDomains []string
	// KnownValues lists, by label key, the values that exist. A requirement
	// with operator In must keep at least one of them. The capacity types are
	// always known.
	KnownValues map[string][]string
	// NodeClassLabels are the keys by which nodes name a NodeClass of the provider, in a restricted
	// domain. A NodeClaim may use any of them. Nil means the result of NodeClassLabelKey for the
	// nodeClassRef of the claim.
	NodeClassLabels []string
	// WellKnownResources are resources that the provider reports itself, which
	// a NodeOverlay may therefore not set. cpu, memory, ephemeral-storage and
	// pods are always among them.
	WellKnownResources []corev1.ResourceName
	// Metadata also checks the object's metadata, before its spec, by ValidateMetadata. Without it
	// an object need not even have a name.
	Metadata bool
}

// Validate is ValidateWith(nil).
func (p *NodePool) Validate() field.ErrorList {
	return p.ValidateWith(nil)
}

// ValidateWith returns every fault of the pool's spec, in the order of the
// fields, or nil. Each names the field, the value and the remedy, but not the pool, as is usual for a
// field.ErrorList: a caller with several pools writes the name of the pool before it.
//
// A pool passes if the API server would store it and Karpenter would accept it: it must satisfy the
// schema with its rules, and Karpenter's checks at run time. There are no further rules, with one
// exception: a schedule or a count that the server stores but Karpenter cannot read is a fault,
// because Karpenter then allows no disruption.
//
// A field that was omitted, or is an empty string, counts as its default, so Default need not be
// called first. The text of durations and amounts is not known here; Decode checks it. Metadata is
// checked if Rules.Metadata is set; status is not checked. The receiver is not changed; a nil pool
// is one fault.
func (p *NodePool) ValidateWith(rules *Rules) field.ErrorList {
	spec := field.NewPath("spec")
	if p == nil {
		return nilObject(spec)
	}
	v := newValidator(rules)
	v.metadata(&p.ObjectMeta)
	v.template(spec.Child("template"), &p.Spec.Template)
	v.disruption(spec.Child("disruption"), &p.Spec.Disruption)
	v.capacity(spec, &p.Spec)
	return v.faults
}

// Validate is ValidateWith(nil).
func (c *NodeClaim) Validate() field.ErrorList {
	return c.ValidateWith(nil)
}

// ValidateWith returns every fault of the claim's spec, in the order of the
// fields, or nil.
//
// The rules are those of the schema. The extra checks that Karpenter makes on a NodePool at run
// time (valid label values, length of names, known capacity types, unique taints) are not applied
// to claims, because claims also have the requirements of pods: a pod may exclude a label value
// that no node can have. The key karpenter.sh/nodepool is allowed, and so are
// Rules.NodeClassLabels: Karpenter writes both into each NodeClaim.
//
// As for a pool, omitted fields count as their defaults, metadata is checked if Rules.Metadata is
// set, status is not checked, the receiver is not changed, and nil is one fault.
func (c *NodeClaim) ValidateWith(rules *Rules) field.ErrorList {
	spec := field.NewPath("spec")
	if c == nil {
		return nilObject(spec)
	}
	v := newValidator(rules)
	v.metadata(&c.ObjectMeta)
	v.schemaOnly = true
	v.taints(spec.Child("taints"), c.Spec.Taints, nil)
	v.taints(spec.Child("startupTaints"), c.Spec.StartupTaints, nil)
	own := requirementContext{nodePoolKey: true}
	if own.nodeClassKeys = v.rules.NodeClassLabels; own.nodeClassKeys == nil && c.Spec.NodeClassRef != nil {
		own.nodeClassKeys = []string{NodeClassLabelKey(c.Spec.NodeClassRef.GroupKind())}
	}
	v.requirements(spec.Child("requirements"), c.Spec.Requirements, own)
	v.nodeClassRef(spec.Child("nodeClassRef"), c.Spec.NodeClassRef)
	v.gracePeriod(spec.Child("terminationGracePeriod"), c.Spec.TerminationGracePeriod)
	v.nillable(spec.Child("expireAfter"), c.Spec.ExpireAfter)
	return v.faults
}

// Validate is ValidateWith(nil).
func (o *NodeOverlay) Validate() field.ErrorList {
	return o.ValidateWith(nil)
}

// ValidateWith returns every fault of the overlay's spec, in the order of the fields, or nil. The
// rules of the schema and of the run time both apply, as for a NodePool; the key
// karpenter.sh/nodepool is allowed, and NotIn needs a value. The receiver is not changed; nil is
// one fault.
func (o *NodeOverlay) ValidateWith(rules *Rules) field.ErrorList {
	spec := field.NewPath("spec")
	if o == nil {
		return nilObject(spec)
	}
	v := newValidator(rules)
	v.metadata(&o.ObjectMeta)
	var reqs []NodeSelectorRequirementWithMinValues
	if o.Spec.Requirements != nil {
		reqs = make([]NodeSelectorRequirementWithMinValues, len(o.Spec.Requirements))
	}
	for i, r := range o.Spec.Requirements {
		reqs[i] = NodeSelectorRequirementWithMinValues{Key: r.Key, Operator: r.Operator, Values: r.Values}
	}
	v.requirements(spec.Child("requirements"), reqs, requirementContext{nodePoolKey: true, notInNeedsValue: true})
	v.overlayPrice(spec, &o.Spec)
	v.overlayCapacity(spec.Child("capacity"), o.Spec.Capacity)
	v.weight(spec.Child("weight"), o.Spec.Weight, maxOverlayWeight)
	return v.faults
}

// Bounds of the schema.
const (
	maxLabels           = 100
	maxRequirements     = 100
	maxRequirementKey   = 316
	maxMinValues        = 50
	maxBudgets          = 50
	maxReasonsPerBudget = 50
	maxPoolWeight       = 100
	maxOverlayWeight    = 10000
)

// validator gathers the faults of one object.
type validator struct {
	rules      Rules
	schemaOnly bool // Karpenter has no run time checks for the object
	faults     field.ErrorList
}

func newValidator(rules *Rules) *validator {
	v := &validator{}
	if rules != nil {
		v.rules = *rules
	}
	return v
}

func (v *validator) add(faults ...*field.Error) {
	v.faults = append(v.faults, faults...)
}

func (v *validator) metadata(meta *metav1.ObjectMeta) {
	if v.rules.Metadata {
		v.add(ValidateMetadata(meta)...)
	}
}

func nilObject(path *field.Path) field.ErrorList {
	return field.ErrorList{field.Required(path, "the object is nil")}
}
