package v1

import (
	"encoding/binary"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// NodePoolHashVersion is the version of the rules by which NodePool.Hash is
// computed. Hashes are comparable only if their versions are equal; a NodeClaim
// with a hash of another version is not drifted because of it.
const NodePoolHashVersion = "v3"

// Hash returns the static drift hash of the pool, a decimal number of 64 bits.
// It is equal to the one that Karpenter 1.15 computes for the same object and
// keeps in the annotation NodePoolHashAnnotationKey, so claims made by either
// are judged the same by both.
//
// The hash covers Spec.Template: labels, annotations, taints, startup taints,
// the NodeClass reference, the termination grace period, and the length of
// time of ExpireAfter. It leaves out the requirements, whose drift is judged
// by meaning, and everything outside the template. The order of taints does
// not count. Two identical taints in one list cancel out. An empty map or list
// that is not nil does count, as it does in Karpenter.
//
// An unset ExpireAfter hashes like Never. Objects that come from an API server
// have their defaults; call Default on others first, or the hash will differ.
//
// The times of taints are hashed as instants, whatever the zone of the machine.
// A nil pool hashes like an empty one.
func (p *NodePool) Hash() string {
	var t NodeClaimTemplate
	if p != nil {
		t = p.Spec.Template
	}
	return strconv.FormatUint(hashTemplate(&t), 10)
}

// The names below are those of Karpenter's Go types and fields, which are part
// of the hashed bytes. They must not follow a renaming on our side. Their order
// is that of Karpenter's structs and counts too.

func hashTemplate(t *NodeClaimTemplate) uint64 {
	h := newStructHash("NodeClaimTemplate")
	if t.Labels != nil || t.Annotations != nil {
		h.field("ObjectMeta", hashObjectMeta(&t.ObjectMeta))
	}
	if !emptyTemplateSpec(&t.Spec) {
		h.field("Spec", hashTemplateSpec(&t.Spec))
	}
	return h.sum
}

func hashObjectMeta(m *ObjectMeta) uint64 {
	h := newStructHash("ObjectMeta")
	if m.Labels != nil {
		h.field("Labels", hashStringMap(m.Labels))
	}
	if m.Annotations != nil {
		h.field("Annotations", hashStringMap(m.Annotations))
	}
	return h.sum
}

// emptyTemplateSpec reports whether no field at all is set. The requirements
// are not hashed, yet a spec that has only them is not empty.
func emptyTemplateSpec(s *NodeClaimTemplateSpec) bool {
	return s.Taints == nil && s.StartupTaints == nil && s.Requirements == nil && s.NodeClassRef == nil &&
		s.TerminationGracePeriod == nil && s.ExpireAfter.Duration == nil
}

func hashTemplateSpec(s *NodeClaimTemplateSpec) uint64 {
	h := newStructHash("NodeClaimTemplateSpec")
	if s.Taints != nil {
		h.field("Taints", hashTaints(s.Taints))
	}
	if s.StartupTaints != nil {
		h.field("StartupTaints", hashTaints(s.StartupTaints))
	}
	if s.NodeClassRef != nil {
		h.field("NodeClassRef", hashNodeClassReference(s.NodeClassRef))
	}
	if s.TerminationGracePeriod != nil {
		h.field("TerminationGracePeriod", hashDuration(s.TerminationGracePeriod))
	}
	if s.ExpireAfter.Duration != nil {
		h.field("ExpireAfter", hashNillableDuration(*s.ExpireAfter.Duration))
	}
	return h.sum
}

func hashNodeClassReference(r *NodeClassReference) uint64 {
	h := newStructHash("NodeClassReference")
	h.text("Kind", r.Kind)
	h.text("Name", r.Name)
	h.text("Group", r.Group)
	return h.sum
}

func hashTaints(taints []corev1.Taint) uint64 {
	var set uint64
	for i := range taints {
		set ^= hashTaint(&taints[i])
	}
	return set
}

func hashTaint(t *corev1.Taint) uint64 {
	h := newStructHash("Taint")
	h.text("Key", t.Key)
	h.text("Value", t.Value)
	h.text("Effect", string(t.Effect))
	if t.TimeAdded != nil {
		h.field("TimeAdded", hashTime(t.TimeAdded))
	}
	return h.sum
}

// hashTime hashes the instant with a zone offset of zero. Karpenter hashes the
// offset of its host; it runs in containers whose zone is UTC, so the values
// agree there, and ours do not change with the machine.
func hashTime(t *metav1.Time) uint64 {
	h := newStructHash("Time")
	if t.Time == (time.Time{}) {
		return h.sum
	}
	// The only fault of MarshalBinary is a zone offset that it cannot express,
	// and zero is none.
	data, _ := t.Time.In(time.FixedZone("", 0)).MarshalBinary()
	h.field("Time", fnv1(data))
	return h.sum
}

// hashDuration leaves out a length of zero, as every zero field.
func hashDuration(d *metav1.Duration) uint64 {
	h := newStructHash("Duration")
	if d.Duration != 0 {
		h.field("Duration", hashUint64s(uint64(d.Duration)))
	}
	return h.sum
}

// hashNillableDuration does hash a length of zero: there the field is a
// pointer, and one that is set is not a zero field.
func hashNillableDuration(d time.Duration) uint64 {
	h := newStructHash("NillableDuration")
	h.field("Duration", hashUint64s(uint64(d)))
	return h.sum
}

func hashStringMap(m map[string]string) uint64 {
	var set uint64
	for k, v := range m {
		set ^= hashUint64s(fnv1([]byte(k)), fnv1([]byte(v)))
	}
	return hashUint64s(set)
}

// structHash accumulates the hash of a struct. Each field is mixed in by
// exclusive or and the sum is hashed again after it, so the order of fields
// counts.
type structHash struct {
	sum uint64
}

func newStructHash(typeName string) structHash {
	return structHash{sum: fnv1([]byte(typeName))}
}

func (h *structHash) field(name string, value uint64) {
	h.sum = hashUint64s(h.sum ^ hashUint64s(fnv1([]byte(name)), value))
}

// text adds a field of type string unless it is empty: zero fields are left
// out, so that a new field does not change the hash of old objects.
func (h *structHash) text(name, value string) {
	if value != "" {
		h.field(name, fnv1([]byte(value)))
	}
}

// hashUint64s hashes the numbers as little-endian bytes.
func hashUint64s(values ...uint64) uint64 {
	var buf [16]byte
	data := buf[:0]
	for _, v := range values {
		data = binary.LittleEndian.AppendUint64(data, v)
	}
	return fnv1(data)
}

// fnv1 is the 64-bit FNV-1 hash (multiply, then exclusive or).
func fnv1(data []byte) uint64 {
	const (
		offset = 14695981039346656037
		prime  = 1099511628211
	)
	sum := uint64(offset)
	for _, b := range data {
		sum *= prime
		sum ^= uint64(b)
	}
	return sum
}
