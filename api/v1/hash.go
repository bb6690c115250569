package v1

import (
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/dovetail-sdk/dovetail/internal/structhash"
)

// NodePoolHashVersion is the version of the rules by which NodePool.Hash is
// computed. Hashes are comparable only if their versions are equal; a NodeClaim
// with a hash of another version is not drifted because of it.
const NodePoolHashVersion = "v3"

// Hash returns the static drift hash of the pool, a decimal number of 64 bits. It is equal to the
// one that Karpenter 1.15 computes for the same object and keeps in the annotation
// NodePoolHashAnnotationKey, so that both treat NodeClaims of either alike.
//
// The hash covers Spec.Template: labels, annotations, taints, startup taints, the NodeClass
// reference, the termination grace period, and the length of time of ExpireAfter. It leaves out the
// requirements, whose drift is determined by comparing labels, and everything outside the template.
// The order of taints does not matter. Two identical taints in one list cancel out. An empty map or
// list that is not nil changes the hash, as in Karpenter.
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

// The names below are those of Karpenter's Go types and fields, which are part of the hashed bytes.
// They must stay if our fields are renamed. Their order is that of Karpenter's structs and matters
// too.

func hashTemplate(t *NodeClaimTemplate) uint64 {
	h := structhash.Of("NodeClaimTemplate")
	if t.Labels != nil || t.Annotations != nil {
		h.Field("ObjectMeta", hashObjectMeta(&t.ObjectMeta))
	}
	if !emptyTemplateSpec(&t.Spec) {
		h.Field("Spec", hashTemplateSpec(&t.Spec))
	}
	return h.Sum()
}

func hashObjectMeta(m *ObjectMeta) uint64 {
	h := structhash.Of("ObjectMeta")
	h.TextMap("Labels", m.Labels)
	h.TextMap("Annotations", m.Annotations)
	return h.Sum()
}

// emptyTemplateSpec reports whether no field at all is set. The requirements
// are not hashed, yet a spec that has only them is not empty.
func emptyTemplateSpec(s *NodeClaimTemplateSpec) bool {
	return s.Taints == nil && s.StartupTaints == nil && s.Requirements == nil && s.NodeClassRef == nil &&
		s.TerminationGracePeriod == nil && s.ExpireAfter.Duration == nil
}

func hashTemplateSpec(s *NodeClaimTemplateSpec) uint64 {
	h := structhash.Of("NodeClaimTemplateSpec")
	if s.Taints != nil {
		h.Field("Taints", structhash.List(s.Taints, hashTaint))
	}
	if s.StartupTaints != nil {
		h.Field("StartupTaints", structhash.List(s.StartupTaints, hashTaint))
	}
	structhash.Pointer(&h, "NodeClassRef", s.NodeClassRef, hashNodeClassReference)
	structhash.Pointer(&h, "TerminationGracePeriod", s.TerminationGracePeriod, hashDuration)
	structhash.Pointer(&h, "ExpireAfter", s.ExpireAfter.Duration, hashNillableDuration)
	return h.Sum()
}

func hashNodeClassReference(r NodeClassReference) uint64 {
	h := structhash.Of("NodeClassReference")
	h.Text("Kind", r.Kind)
	h.Text("Name", r.Name)
	h.Text("Group", r.Group)
	return h.Sum()
}

func hashTaint(t corev1.Taint) uint64 {
	h := structhash.Of("Taint")
	h.Text("Key", t.Key)
	h.Text("Value", t.Value)
	h.Text("Effect", string(t.Effect))
	structhash.Pointer(&h, "TimeAdded", t.TimeAdded, hashTime)
	return h.Sum()
}

// hashTime hashes the instant with a zone offset of zero. Karpenter hashes the offset of its host;
// it runs in containers whose zone is UTC, so the values agree there, and do not depend on the
// machine here.
func hashTime(t metav1.Time) uint64 {
	h := structhash.Of("Time")
	if t.Time == (time.Time{}) {
		return h.Sum()
	}
	// MarshalBinary fails only for some zone offsets, and not for zero.
	data, _ := t.Time.In(time.FixedZone("", 0)).MarshalBinary()
	h.Field("Time", structhash.Bytes(data))
	return h.Sum()
}

// hashDuration leaves out a zero duration, like every zero field.
func hashDuration(d metav1.Duration) uint64 {
	h := structhash.Of("Duration")
	if d.Duration != 0 {
		h.Field("Duration", structhash.Int64(int64(d.Duration)))
	}
	return h.Sum()
}

// hashNillableDuration hashes a zero duration: in Karpenter the field is a pointer, and a pointer
// that is set is not a zero field.
func hashNillableDuration(d time.Duration) uint64 {
	h := structhash.Of("NillableDuration")
	h.Field("Duration", structhash.Int64(int64(d)))
	return h.Sum()
}
