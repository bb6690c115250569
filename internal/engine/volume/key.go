package volume

import (
	"encoding/json"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/internal/quantity"
)

// Key returns a text by which results of Of can be cached: pods with equal Keys get equal Needs and
// equal errors. It is empty for a pod without volumes that matter. Pods made from one template have
// the same Key, unless a claim or volume exists by name for one of them.
func (x *Index) Key(pod *corev1.Pod) string {
	if pod == nil {
		return "nil"
	}
	var b strings.Builder
	for i := range pod.Spec.Volumes {
		v := &pod.Spec.Volumes[i]
		name, kind := claimName(pod, v)
		id := key(pod.Namespace, name)
		switch {
		case kind == inline:
			appendInline(&b, v)
		case kind == named:
			appendWords(&b, "claim", id)
		case x.claims[id] != nil || len(x.reserved[id]) > 0:
			appendWords(&b, "ephemeral", id, v.Name, string(pod.UID), template(v.Ephemeral))
		default:
			appendWords(&b, "made", pod.Namespace, v.Name, template(v.Ephemeral))
		}
	}
	return b.String()
}

func appendInline(b *strings.Builder, v *corev1.Volume) {
	if s, ok := inlineSource(&v.VolumeSource); ok {
		appendWords(b, "inline", strconv.Itoa(int(s.plugin)), s.handle)
		if s.err != nil {
			appendWords(b, "fault", v.Name, s.err.Error())
		}
	}
	pod := corev1.Pod{Spec: corev1.PodSpec{Volumes: []corev1.Volume{*v}}}
	for _, d := range Disks(&pod) {
		appendWords(b, "disk", d.Name, strconv.FormatBool(d.ReadOnly))
	}
}

// template returns a text of everything that decides how a claim is made.
func template(e *corev1.EphemeralVolumeSource) string {
	if e.VolumeClaimTemplate == nil {
		return ""
	}
	t := e.VolumeClaimTemplate
	size := t.Spec.Resources.Requests[corev1.ResourceStorage]
	out := struct {
		Annotations map[string]string
		Spec        corev1.PersistentVolumeClaimSpec
		Size        string
	}{t.Annotations, t.Spec, quantity.Text(size)}
	out.Spec.Resources = corev1.VolumeResourceRequirements{} // Size replaces it
	// Strings and lists of them can always be marshalled.
	text, _ := json.Marshal(out)
	return string(text)
}

func appendWords(b *strings.Builder, words ...string) {
	for _, w := range words {
		b.WriteString(strconv.Quote(w))
	}
	b.WriteByte('\n')
}
