package provisioning

import (
	"errors"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// BufferSpec is the part of a CapacityBuffer's spec that defines its size.
type BufferSpec struct {
	// Replicas is a fixed number of pods, zero or more. Nil sets none.
	Replicas *int32

	// Percentage is a share of ScaledReplicas, zero or more; above 100 is
	// allowed. Nil sets none.
	Percentage *int32

	// ScaledReplicas is spec.replicas of the object that the buffer's scalableRef names: 1 if that
	// is unset, as in Kubernetes. It is nil if the buffer has a podTemplateRef instead; then
	// Percentage is ignored.
	ScaledReplicas *int32

	// Limits bound the total requests of the pods, by resource; "pods" bounds their number. A limit
	// on a resource that the template does not request has no effect.
	Limits corev1.ResourceList
}

// Count returns the number of pods of the buffer, given the template that its reference names:
//
//  1. The greater of Replicas and, rounded up, Percentage of ScaledReplicas, if both are set. (The
//     comment in the API says the lesser, but Karpenter takes the greater, and so does Count:
//     either number alone promises that much headroom.)
//  2. At most the number of pods that fit into Limits: for each resource its limit divided by the
//     request of one pod, rounded down. The request is what kube-scheduler reserves for a pod of
//     the template, where a missing request of a container equals its limit.
//  3. If neither number is set, as many as fit into Limits.
//
// Neither s nor the template is changed. The error joins every fault: a *field.Error with a path
// such as spec.replicas for a negative number, a quantity out of range, a buffer without any size,
// or a result above MaxBufferReplicas; and the error of resources.PodRequests for the template.
// With an error the count is 0.
func (s *BufferSpec) Count(template *corev1.PodTemplateSpec) (int, error) {
	spec := field.NewPath("spec")
	if template == nil {
		return 0, field.Required(spec.Child("podTemplateRef"), "the pod template is nil; resolve the reference first")
	}
	faults := s.negatives(spec)
	wanted, set := s.wanted()
	fit, bounded, err := s.fit(spec, template)
	if err != nil {
		faults = append(faults, err)
	}
	if len(faults) == 0 && !set && !bounded {
		faults = append(faults, s.unsized(spec))
	}
	if len(faults) > 0 {
		return 0, errors.Join(faults...)
	}
	count := wanted
	if bounded && (!set || fit < wanted) {
		count = fit
	}
	if count > MaxBufferReplicas {
		return 0, field.Invalid(spec, count, fmt.Sprintf("the buffer has this many pods; lower replicas, percentage or limits to at most %d pods", MaxBufferReplicas))
	}
	return int(count), nil
}

func (s *BufferSpec) negatives(spec *field.Path) []error {
	var faults []error
	for _, number := range []struct {
		name  string
		value *int32
	}{
		{"replicas", s.Replicas},
		{"percentage", s.Percentage},
		{"scalableRef", s.ScaledReplicas},
	} {
		if number.value != nil && *number.value < 0 {
			faults = append(faults, field.Invalid(spec.Child(number.name), *number.value, "it is negative; use zero or more"))
		}
	}
	return faults
}

// wanted returns the number of pods by Replicas and Percentage, and false if neither is set.
func (s *BufferSpec) wanted() (n int64, set bool) {
	if s.Replicas != nil {
		n, set = int64(*s.Replicas), true
	}
	if s.Percentage != nil && s.ScaledReplicas != nil {
		// Both factors have 32 bits, so this cannot overflow.
		share := (int64(*s.ScaledReplicas)*int64(*s.Percentage) + 99) / 100
		n, set = max(n, share), true
	}
	return n, set
}

// fit returns the number of pods that fit into the limits, and false if the limits have no effect.
func (s *BufferSpec) fit(spec *field.Path, template *corev1.PodTemplateSpec) (n int64, bounded bool, err error) {
	if len(s.Limits) == 0 {
		return 0, false, nil
	}
	limits, err := resources.FromResourceList(s.Limits)
	if err != nil {
		return 0, false, field.Invalid(spec.Child("limits"), len(s.Limits), strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	var faults []error
	for _, name := range limits.Negative() {
		faults = append(faults, field.Invalid(spec.Child("limits").Key(string(name)),
			resources.Format(name, limits.Get(name)), "it is negative; use zero or more"))
	}
	pod, _ := Admitted(&corev1.Pod{Spec: template.Spec}) // only a RuntimeClass gives an error
	requests, err := resources.PodRequests(pod)
	if err != nil {
		faults = append(faults, fmt.Errorf("pod template: %w", err))
	}
	if len(faults) > 0 {
		return 0, false, errors.Join(faults...)
	}
	for name, limit := range limits.All() {
		request := requests.Get(name)
		if request <= 0 {
			continue
		}
		if room := limit / request; !bounded || room < n {
			n, bounded = room, true
		}
	}
	return n, bounded, nil
}

// unsized returns the fault of a buffer whose size is not defined.
func (s *BufferSpec) unsized(spec *field.Path) error {
	switch {
	case len(s.Limits) > 0:
		return field.Invalid(spec.Child("limits"), len(s.Limits),
			"the pod template requests none of the limited resources, so they bound nothing; limit one that it requests, or pods, or set replicas")
	case s.Percentage != nil:
		return field.Invalid(spec.Child("percentage"), *s.Percentage,
			"it is a share of the replicas of a scalableRef, and there is none; set replicas or limits")
	}
	return field.Required(spec.Child("replicas"), "nothing says how large the buffer is; set replicas, limits, or a percentage with a scalableRef")
}
