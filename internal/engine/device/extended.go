package device

import (
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
)

// ClassServing returns the name of the DeviceClass whose devices provide an extended resource, by
// spec.extendedResourceName or by the resource name that every class has implicitly; "" if there is
// none. Of several classes it is the newest, and of equally new ones the first by name, as in
// kube-scheduler.
func (x *Index) ClassServing(name corev1.ResourceName) string {
	var best *resourcev1.DeviceClass
	for _, c := range x.classes { // the order does not affect the result
		if string(name) == resourcev1.ResourceDeviceClassPrefix+c.Name {
			return c.Name
		}
		if n := c.Spec.ExtendedResourceName; n == nil || *n != string(name) {
			continue
		}
		if best == nil || best.CreationTimestamp.Before(&c.CreationTimestamp) ||
			best.CreationTimestamp.Equal(&c.CreationTimestamp) && c.Name < best.Name {
			best = c
		}
	}
	if best == nil {
		return ""
	}
	return best.Name
}
