package overlay

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/internal/status"
)

// Status is the effect of one NodeOverlay. Counts are over all NodePools: an instance type of two
// pools counts twice.
type Status struct {
	// Name is the name of the overlay, and Generation its
	// metadata.generation as it was read.
	Name       string
	Generation int64

	// Faults are the faults of its spec, in the order of the fields. An overlay with faults changes
	// nothing, and all fields below are zero.
	Faults field.ErrorList

	// InstanceTypes and Offerings count the selected types and offerings. Zero often means that a
	// requirement is misspelt.
	InstanceTypes, Offerings int

	// Priced counts the offerings whose price it sets, and Resized the instance types of which it
	// sets at least one resource. They are lower than the counts above where a heavier overlay
	// takes precedence, where this one gives way in a conflict, and where it has no price or no
	// capacity.
	Priced, Resized int

	// Conflicts are the places where it gives way to an overlay of the same
	// weight, in the order of Conflict.Compare.
	Conflicts []Conflict
}

// Conflict is one price or resource that overlays of the same weight
// would all set.
type Conflict struct {
	// NodePool is the pool of the catalog.
	NodePool string

	// Offering is the offering of the price. If Resource is set it has only InstanceType, because
	// capacity belongs to the type.
	Offering cloudprovider.OfferingKey

	// Resource is the resource, or empty for a price.
	Resource corev1.ResourceName

	// With are the names of all other overlays in the conflict, in byte order. The first is the one
	// that is applied.
	With []string
}

// Compare orders conflicts by pool, offering and resource. It returns -1, 0 or
// +1.
func (c Conflict) Compare(other Conflict) int {
	return cmp.Or(
		cmp.Compare(c.NodePool, other.NodePool),
		c.Offering.Compare(other.Offering),
		cmp.Compare(c.Resource, other.Resource),
	)
}

// String returns the place and the other overlays, as in
//
//	price of m5.large/zone-a/spot in NodePool "general": NodeOverlay "cheap" counts
//	example.com/gpu of m5.large in NodePool "general": NodeOverlay "cheap" counts, "third" gives way too
func (c Conflict) String() string {
	var b strings.Builder
	if c.Resource == "" {
		fmt.Fprintf(&b, "price of %s", c.Offering)
	} else {
		fmt.Fprintf(&b, "%s of %s", c.Resource, c.Offering.InstanceType)
	}
	fmt.Fprintf(&b, " in NodePool %q", c.NodePool)
	for i, name := range c.With {
		switch i {
		case 0:
			fmt.Fprintf(&b, ": NodeOverlay %q counts", name)
		default:
			fmt.Fprintf(&b, ", %q", name)
		}
	}
	switch len(c.With) {
	case 0, 1:
	case 2:
		b.WriteString(" gives way too")
	default:
		b.WriteString(" give way too")
	}
	return b.String()
}

// Valid reports whether the overlay has no faults and no conflicts.
func (s *Status) Valid() bool { return len(s.Faults)+len(s.Conflicts) == 0 }

// Conditions returns the conditions for the status of the overlay, in the order Ready,
// ValidationSucceeded, with ObservedGeneration and without a transition time, which the caller sets
// (meta.SetStatusCondition keeps the old one if the status is unchanged).
//
// ValidationSucceeded is False with the reason RuntimeValidation if there are Faults, else False
// with the reason Conflict if there are Conflicts, else True. A conflict in one place does not
// affect the overlay in others. The message has all Faults, or the first of the Conflicts with the
// number of the others, cut at 1024 bytes. Ready is the same, because it depends on no other
// condition.
func (s *Status) Conditions() []metav1.Condition {
	validation := metav1.Condition{
		Type:               v1.ConditionTypeValidationSucceeded,
		Status:             metav1.ConditionFalse,
		ObservedGeneration: s.Generation,
	}
	ready := validation
	ready.Type, ready.Reason = v1.ConditionTypeReady, "UnhealthyDependents"
	ready.Message = v1.ConditionTypeValidationSucceeded + "=False"
	switch {
	case len(s.Faults) > 0:
		validation.Reason = v1.ReasonRuntimeValidation
		texts := make([]string, len(s.Faults))
		for i, fault := range s.Faults {
			texts[i] = oneLine(fault)
		}
		validation.Message = status.Short(strings.Join(texts, "; "), maxMessage)
	case len(s.Conflicts) > 0:
		validation.Reason = v1.ReasonConflict
		validation.Message = status.Short(s.conflictText(), maxMessage)
	default:
		validation.Status, validation.Reason = metav1.ConditionTrue, v1.ConditionTypeValidationSucceeded
		ready.Status, ready.Reason, ready.Message = metav1.ConditionTrue, v1.ConditionTypeReady, ""
	}
	return []metav1.Condition{ready, validation}
}

// conflictText names the first conflict, and the overlays of all conflicts.
func (s *Status) conflictText() string {
	var names []string
	for _, c := range s.Conflicts {
		names = append(names, c.With...)
	}
	slices.Sort(names)
	text := s.Conflicts[0].String()
	if more := len(s.Conflicts) - 1; more > 0 {
		text += fmt.Sprintf("; and %d more", more)
	}
	return fmt.Sprintf("%s; give this overlay a weight that differs from those of %s",
		text, strings.Join(slices.Compact(names), ", "))
}

// maxMessage bounds the message of a condition, in bytes.
const maxMessage = 1024
