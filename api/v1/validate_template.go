package v1

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func (v *validator) template(path *field.Path, t *NodeClaimTemplate) {
	v.labels(path.Child("metadata", "labels"), t.Labels)
	spec := path.Child("spec")
	// One table for both lists, because a node cannot have a taint with the same key and effect
	// twice.
	seen := map[taintID]*field.Path{}
	v.taints(spec.Child("taints"), t.Spec.Taints, seen)
	v.taints(spec.Child("startupTaints"), t.Spec.StartupTaints, seen)
	v.requirements(spec.Child("requirements"), t.Spec.Requirements, requirementContext{})
	v.nodeClassRef(spec.Child("nodeClassRef"), t.Spec.NodeClassRef)
	v.gracePeriod(spec.Child("terminationGracePeriod"), t.Spec.TerminationGracePeriod)
	v.nillable(spec.Child("expireAfter"), t.Spec.ExpireAfter)
}

func (v *validator) labels(path *field.Path, labels map[string]string) {
	if len(labels) > maxLabels {
		v.add(field.TooMany(path, len(labels), maxLabels))
	}
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		p := path.Key(key)
		v.name(p, key, "not a label key: ")
		v.restrictedKey(p, key, false)
		for _, msg := range validation.IsValidLabelValue(labels[key]) {
			v.add(field.Invalid(p, labels[key], "not a label value: "+msg))
		}
	}
}

// taintID is the key of a node's taints, which must be unique.
type taintID struct {
	key    string
	effect corev1.TaintEffect
}

// taints checks a list of taints. With a nil table, uniqueness is not checked.
func (v *validator) taints(path *field.Path, taints []corev1.Taint, seen map[taintID]*field.Path) {
	for i, t := range taints {
		p := path.Index(i)
		if t.Key == "" {
			v.add(field.Required(p.Child("key"), "a taint needs a key"))
		} else {
			v.name(p.Child("key"), t.Key, "")
		}
		if t.Value != "" {
			v.name(p.Child("value"), t.Value, "")
		}
		switch t.Effect {
		case corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule, corev1.TaintEffectNoExecute:
		case "":
			// Karpenter's run time accepts this, the schema does not.
			v.add(field.Required(p.Child("effect"), "use NoSchedule, PreferNoSchedule or NoExecute"))
		default:
			v.add(field.NotSupported(p.Child("effect"), t.Effect, []corev1.TaintEffect{
				corev1.TaintEffectNoExecute, corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule,
			}))
		}
		if seen == nil {
			continue
		}
		id := taintID{t.Key, t.Effect}
		if first, dup := seen[id]; dup {
			v.add(duplicate(p, t.Key+":"+string(t.Effect), "the same key and effect are at "+first.String()+
				"; remove one, taints and startupTaints count as one list"))
		} else {
			seen[id] = p
		}
	}
}

func (v *validator) nodeClassRef(path *field.Path, ref *NodeClassReference) {
	if ref == nil {
		v.add(field.Required(path, "name the provider's NodeClass by group, kind and name"))
		return
	}
	if ref.Group == "" {
		v.add(field.Required(path.Child("group"), "the API group of the NodeClass, without its version"))
	} else if strings.Contains(ref.Group, "/") {
		group, _, _ := strings.Cut(ref.Group, "/")
		v.add(field.Invalid(path.Child("group"), ref.Group, "a group has no version; write "+strconv.Quote(group)))
	}
	if ref.Kind == "" {
		v.add(field.Required(path.Child("kind"), "the kind of the NodeClass"))
	}
	if ref.Name == "" {
		v.add(field.Required(path.Child("name"), "the name of the NodeClass"))
	}
}

// gracePeriod checks a duration whose text is not kept: whether its value can be written in the
// form that the schema requires.
func (v *validator) gracePeriod(path *field.Path, d *metav1.Duration) {
	if d != nil && (d.Duration < 0 || d.Duration%time.Second != 0) {
		v.add(field.Invalid(path, d.Duration.String(), "want whole hours, minutes and seconds, not negative, such as 1h30m"))
	}
}

// nillable checks the text of the duration, because the text is stored: 1500ms and 1.5s are both
// refused.
func (v *validator) nillable(path *field.Path, d NillableDuration) {
	if d.IsZero() {
		return
	}
	if text := d.String(); text != Never && !isWholeDuration(text) {
		v.add(field.Invalid(path, text, "want whole hours, minutes and seconds, not negative, such as 720h or 1h30m, or Never"))
	}
}

// isWholeDuration reports whether the text is one or more groups of digits,
// each with the unit h, m or s.
func isWholeDuration(text string) bool {
	digits, groups := 0, 0
	for _, c := range []byte(text) {
		switch {
		case c >= '0' && c <= '9':
			digits++
		case (c == 'h' || c == 'm' || c == 's') && digits > 0:
			digits = 0
			groups++
		default:
			return false
		}
	}
	return groups > 0 && digits == 0
}

// duplicate is field.Duplicate with a remedy.
func duplicate(path *field.Path, value any, remedy string) *field.Error {
	fault := field.Duplicate(path, value)
	fault.Detail = remedy
	return fault
}
