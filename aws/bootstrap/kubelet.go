package bootstrap

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// managedKubeletFields returns the names of the kubelet's settings that have fields in Kubelet, and
// the setting for taints.
func managedKubeletFields() []string {
	return []string{"clusterDNS", "cpuCFSQuota", "evictionHard", "evictionMaxPodGracePeriod", "evictionSoft",
		"evictionSoftGracePeriod", "imageGCHighThresholdPercent", "imageGCLowThresholdPercent", "kubeReserved",
		"maxPods", "podsPerCore", "registerWithTaints", "systemReserved"}
}

// maxPods returns the number of pods in the kubelet's settings, or nil.
func (n *Node) maxPods() *int32 {
	if own := n.ownMaxPods(); own != nil {
		return own
	}
	return n.MaxPods
}

// ownMaxPods returns the number of pods that Kubelet sets, or nil.
func (n *Node) ownMaxPods() *int32 {
	if own := n.Kubelet.MaxPods; own != nil && own.Type == intstr.Int {
		return &own.IntVal
	}
	return nil
}

// durations renders durations as the kubelet reads them.
func durations(m map[string]metav1.Duration) map[string]string {
	out := make(map[string]string, len(m))
	for k, d := range m {
		out[k] = d.Duration.String()
	}
	return out
}

func sortedKeys[V any](m map[string]V) []string {
	return slices.Sorted(maps.Keys(m))
}

// validateKubelet checks the kubelet's settings, and whether the family has them: by the rules of
// an EC2NodeClass, except that expressions must be resolved and that Extra may have any Go value
// that JSON can write. Addresses are checked with the network.
func (n *Node) validateKubelet() field.ErrorList {
	at := field.NewPath("kubelet")
	k := n.Kubelet
	k.Extra, k.AsRead = nil, nil
	if n.ownMaxPods() == nil {
		k.MaxPods = nil // an expression: Node.MaxPods has its value
	}
	faults := k.Validate(at, n.Family)
	for _, x := range k.Expressions() {
		faults = append(faults, field.Invalid(field.NewPath(strings.TrimPrefix(x.Field, "spec.")), x.Text, "is an expression; resolve it before"))
	}
	return append(faults, n.validateExtra(at)...)
}

// validateExtra checks the fields that Kubelet does not have.
func (n *Node) validateExtra(at *field.Path) (faults field.ErrorList) {
	for _, key := range sortedKeys(n.Kubelet.Extra) {
		path := at.Child("extra").Key(key)
		switch {
		case !FeaturesOf(n.Family).ArbitraryKubelet:
			faults = append(faults, field.Forbidden(path, fmt.Sprintf("%s nodes do not have it: write it in the custom user data, or choose AL2023", n.Family)))
		case key == "":
			faults = append(faults, field.Required(path, "give the name of a field"))
		case key == "registerWithTaints":
			faults = append(faults, field.Forbidden(path, "taints come from the NodePool: give them there"))
		case slices.Contains(managedKubeletFields(), key):
			faults = append(faults, field.Forbidden(path, "Kubelet has a field of that name: use it"))
		default:
			if _, err := json.Marshal(n.Kubelet.Extra[key]); err != nil {
				faults = append(faults, field.Invalid(path, fmt.Sprintf("%T", n.Kubelet.Extra[key]), "cannot be written as JSON: use maps, slices, strings, numbers and booleans"))
			}
		}
	}
	return faults
}
