package v1

import (
	corev1 "k8s.io/api/core/v1"
)

// Taint keys of the karpenter.sh domain.
const (
	// DisruptedTaintKey keeps new pods off a node that is being removed.
	DisruptedTaintKey = Group + "/disrupted"
	// UnregisteredTaintKey keeps all pods off a node that was not yet matched
	// with its NodeClaim. The machine must join with it.
	UnregisteredTaintKey = Group + "/unregistered"
	// RebootingTaintKey keeps new pods off a node that is about to reboot.
	RebootingTaintKey = Group + "/rebooting"
)

// DisruptedNoScheduleTaint returns the taint of a node that is being removed.
func DisruptedNoScheduleTaint() corev1.Taint {
	return corev1.Taint{Key: DisruptedTaintKey, Effect: corev1.TaintEffectNoSchedule}
}

// UnregisteredNoExecuteTaint returns the taint of a node that was not yet
// matched with its NodeClaim.
func UnregisteredNoExecuteTaint() corev1.Taint {
	return corev1.Taint{Key: UnregisteredTaintKey, Effect: corev1.TaintEffectNoExecute}
}

// RebootingNoScheduleTaint returns the taint of a node that is about to reboot
// or is doing so.
func RebootingNoScheduleTaint() corev1.Taint {
	return corev1.Taint{Key: RebootingTaintKey, Effect: corev1.TaintEffectNoSchedule}
}
