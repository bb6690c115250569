package manifest

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/rand"
)

// template is the template of a workload's pods: a Pod without a name, whose maps and slices they share.
type template struct {
	corev1.Pod
	object *Object
	claims []string // volume claim templates of a StatefulSet
	hash   string
}

// newTemplate returns the template of a workload, whose pods it owns; nil if the API server would
// refuse the pods.
func (r *reader) newTemplate(o *Object, value metav1.Object, from *corev1.PodTemplateSpec) *template {
	t := &template{object: o, hash: templateHash(from), Pod: corev1.Pod{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}, Spec: from.Spec}}
	t.Namespace, t.Labels, t.Annotations = o.Namespace, from.Labels, from.Annotations
	t.OwnerReferences = controller(o.APIVersion, o.Kind, o.Name, uidOf(value, o.Kind))
	if !r.admit(o, "spec.template.", &t.Pod) {
		return nil
	}
	return t
}

// member is a pod to be made: its name, and the labels that the other pods of the workload do not
// have.
type member struct {
	name   string
	labels map[string]string
}

func (t *template) pod(m member) *corev1.Pod {
	pod := t.Pod
	pod.Name = m.name
	if len(m.labels) > 0 {
		pod.Labels = withLabels(t.Labels, m.labels)
	}
	var volumes []corev1.Volume
	for _, claim := range t.claims {
		v := corev1.Volume{Name: claim}
		v.PersistentVolumeClaim = &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim + "-" + m.name}
		volumes = append(volumes, v)
	}
	pod.Spec.Volumes = append(volumes, t.Spec.Volumes...)
	return &pod
}

// controller returns the owner reference of a workload's pods.
func controller(apiVersion, kind, name string, uid types.UID) []metav1.OwnerReference {
	return []metav1.OwnerReference{{APIVersion: apiVersion, Kind: kind, Name: name, UID: uid, Controller: new(true)}}
}

// uidOf returns the UID of a workload, or one made of its kind, namespace and
// name if it has none yet.
func uidOf(w metav1.Object, kind string) types.UID {
	if uid := w.GetUID(); uid != "" {
		return uid
	}
	return madeUID(kind, w.GetNamespace(), w.GetName())
}

// madeUID returns a text in the form of a UID, because Jobs use their UID as a label.
func madeUID(kind, namespace, name string) types.UID {
	h := fnv.New128a()
	h.Write([]byte(kind + " " + namespace + "/" + name))
	sum := h.Sum(nil)
	return types.UID(fmt.Sprintf("%x-%x-%x-%x-%x", sum[:4], sum[4:6], sum[6:8], sum[8:10], sum[10:]))
}

// withLabels returns a copy of labels with more added; more wins.
func withLabels(labels, more map[string]string) map[string]string {
	all := map[string]string{}
	maps.Copy(all, labels)
	maps.Copy(all, more)
	return all
}

// hashLabel is the label that distinguishes the ReplicaSets of a Deployment.
const hashLabel = appsv1.DefaultDeploymentUniqueLabelKey

// letters is the alphabet of generated names. It has no vowels, so that no words arise, and no
// digits that resemble letters.
const letters = "bcdfghjklmnpqrstvwxz2456789"

const (
	suffixLength = 5
	suffixCount  = 27 * 27 * 27 * 27 * 27 // len(letters) to the power of suffixLength
	// suffixStep has no divisor in common with suffixCount, so repeated addition gives every suffix
	// once, with consecutive ones far apart.
	suffixStep = 8868112

	maxNameLength = 63
)

// suffixes enumerates all suffixes of generated names, in an order that looks random but depends on
// the seed alone.
type suffixes struct{ at uint32 }

func newSuffixes(seed string) *suffixes { return &suffixes{at: hash32([]byte(seed)) % suffixCount} }

func (s *suffixes) next() string {
	n := s.at
	s.at = (s.at + suffixStep) % suffixCount
	var out [suffixLength]byte
	for i := range out {
		out[i] = letters[n%uint32(len(letters))]
		n /= uint32(len(letters))
	}
	return string(out[:])
}

// templateHash returns a substitute for the pod-template-hash of a Deployment. It differs from the
// real one, but is equal for equal templates.
func templateHash(t *corev1.PodTemplateSpec) string {
	data, err := json.Marshal(t)
	if err != nil {
		data = []byte(err.Error()) // a decoded template can always be encoded
	}
	return rand.SafeEncodeString(fmt.Sprint(hash32(data)))
}

func hash32(data []byte) uint32 {
	h := fnv.New32a()
	h.Write(data)
	return h.Sum32()
}
