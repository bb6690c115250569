package device

import (
	"slices"

	resourcev1 "k8s.io/api/resource/v1"
)

// countedTolerations returns the tolerations of effects that prevent the allocation of a device;
// others do not matter.
func countedTolerations(list []resourcev1.DeviceToleration) []resourcev1.DeviceToleration {
	var out []resourcev1.DeviceToleration
	for _, t := range list {
		if t.Effect == "" || keepsBack(t.Effect) {
			out = append(out, t)
		}
	}
	return out
}

// keepsBack says whether a taint with this effect keeps a device from being allocated. As in
// Kubernetes, unknown effects do not.
func keepsBack(e resourcev1.DeviceTaintEffect) bool {
	return e == resourcev1.DeviceTaintEffectNoSchedule || e == resourcev1.DeviceTaintEffectNoExecute
}

// toleratesAll says whether each taint that keeps a device from being allocated is tolerated.
func toleratesAll(tolerations []resourcev1.DeviceToleration, taints []resourcev1.DeviceTaint) bool {
	for i := range taints {
		t := &taints[i]
		if keepsBack(t.Effect) && !slices.ContainsFunc(tolerations, func(o resourcev1.DeviceToleration) bool { return tolerates(&o, t) }) {
			return false
		}
	}
	return true
}

// tolerates says whether a toleration tolerates a taint. Without a key it tolerates every key, and
// without an effect every effect. The operator defaults to Equal; an unknown operator tolerates
// nothing.
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

// tolerationText renders a toleration as kubectl does.
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
