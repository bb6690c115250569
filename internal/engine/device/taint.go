package device

import (
	"slices"

	resourcev1 "k8s.io/api/resource/v1"
)

// countedTolerations drops those that can have no part in an allocation: what
// has another effect than the two that keep a device back.
func countedTolerations(list []resourcev1.DeviceToleration) []resourcev1.DeviceToleration {
	var out []resourcev1.DeviceToleration
	for _, t := range list {
		if t.Effect == "" || keepsBack(t.Effect) {
			out = append(out, t)
		}
	}
	return out
}

// keepsBack says whether a taint of this effect keeps a device from being
// allocated. Unknown effects do not, as Kubernetes has it.
func keepsBack(e resourcev1.DeviceTaintEffect) bool {
	return e == resourcev1.DeviceTaintEffectNoSchedule || e == resourcev1.DeviceTaintEffectNoExecute
}

// toleratesAll says whether each taint that keeps a device back is tolerated.
func toleratesAll(tolerations []resourcev1.DeviceToleration, taints []resourcev1.DeviceTaint) bool {
	for i := range taints {
		t := &taints[i]
		if keepsBack(t.Effect) && !slices.ContainsFunc(tolerations, func(o resourcev1.DeviceToleration) bool { return tolerates(&o, t) }) {
			return false
		}
	}
	return true
}

// tolerates says whether a toleration covers a taint. Without a key it covers
// every key, without an effect every effect; the operator is Equal unless it
// says otherwise, and an unknown one covers nothing.
func tolerates(o *resourcev1.DeviceToleration, t *resourcev1.DeviceTaint) bool {
	if o.Effect != "" && o.Effect != t.Effect || o.Key != "" && o.Key != t.Key {
		return false
	}
	switch o.Operator {
	case "", resourcev1.DeviceTolerationOpEqual:
		return o.Value == t.Value
	case resourcev1.DeviceTolerationOpExists:
		return true
	}
	return false
}

// tolerationText renders a toleration in the manner of kubectl.
func tolerationText(o *resourcev1.DeviceToleration) string {
	text := quotedUnlessPlain(o.Key)
	if o.Key == "" {
		text = "*"
	}
	switch o.Operator {
	case "", resourcev1.DeviceTolerationOpEqual:
		text += "=" + quotedUnlessPlain(o.Value)
	case resourcev1.DeviceTolerationOpExists:
	default:
		text += " " + quoted(string(o.Operator)) + " " + quoted(o.Value)
	}
	if o.Effect != "" {
		text += ":" + string(o.Effect)
	}
	return text
}
