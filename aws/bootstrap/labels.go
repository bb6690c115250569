package bootstrap

import (
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/amiselect"
	v1 "github.com/dovetail-sdk/dovetail/api/v1"
)

// RegistrationLabels returns the labels that the kubelet registers the Node with:
//
//  1. Labels whose domain is kubernetes.io or k8s.io or ends in one of them are left out, because a
//     kubelet may not set them. The Node gets them from the NodeClaim.
//  2. karpenter.sh/do-not-sync-taints is "true", because the taints are
//     registered too.
//
// It is nil for FamilyCustom, which decides its labels itself. The caller owns the map.
func (n Node) RegistrationLabels() map[string]string {
	if n.Family == amiselect.FamilyCustom {
		return nil
	}
	labels := make(map[string]string, len(n.Labels)+1)
	for key, value := range n.Labels {
		if !reservedLabel(key) {
			labels[key] = value
		}
	}
	labels[v1.NodeDoNotSyncTaintsLabelKey] = "true"
	return labels
}

// reservedLabel reports whether a kubelet may not set the label. It may set a few in these domains,
// but the Node gets those from the NodeClaim too.
func reservedLabel(key string) bool {
	domain, _, found := strings.Cut(key, "/")
	if !found {
		return false
	}
	return domain == "kubernetes.io" || strings.HasSuffix(domain, ".kubernetes.io") ||
		domain == "k8s.io" || strings.HasSuffix(domain, ".k8s.io")
}

// RegistrationTaints returns the taints that the kubelet registers the Node with: Taints, then
// StartupTaints, then karpenter.sh/unregistered:NoExecute, each as key, value and effect, without
// duplicates. It is nil for FamilyCustom, which has to register with the last one by itself. The
// slice is the caller's.
func (n Node) RegistrationTaints() []corev1.Taint {
	if n.Family == amiselect.FamilyCustom {
		return nil
	}
	type id struct {
		key    string
		effect corev1.TaintEffect
	}
	seen := map[id]bool{}
	var taints []corev1.Taint
	add := func(t corev1.Taint) {
		if i := (id{t.Key, t.Effect}); !seen[i] {
			seen[i] = true
			taints = append(taints, corev1.Taint{Key: t.Key, Value: t.Value, Effect: t.Effect})
		}
	}
	for _, t := range n.Taints {
		add(t)
	}
	for _, t := range n.StartupTaints {
		add(t)
	}
	add(v1.UnregisteredNoExecuteTaint())
	return taints
}
