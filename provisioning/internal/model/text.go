package model

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/provisioning/internal/device"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// VolumesPrefix begins the name under which the volumes of a driver are counted.
const VolumesPrefix = "volumes of driver "

// NodesResource is the limit that counts nodes.
const NodesResource = corev1.ResourceName("nodes")

// Amount renders how much of a resource is asked for. Volumes and devices are
// counted under names of their own.
func Amount(name corev1.ResourceName, n int64) string {
	if text, ok := device.Amount(name, n); ok {
		return text
	}
	if strings.HasPrefix(string(name), VolumesPrefix) {
		return fmt.Sprintf("%d %s", n, name)
	}
	return fmt.Sprintf("%s=%s", name, InUnits(name, n))
}

// Quantity renders how much of a resource there is, or is taken. Bytes that are no
// whole number of KiB, as where a share of the memory is kept from pods, are rounded
// down to hundredths of a MiB: 7783.98Mi rather than 8162012364.
func Quantity(name corev1.ResourceName, n int64) string {
	if text, ok := device.Amount(name, n); ok {
		return text
	}
	const mebi = 1 << 20
	if (name == corev1.ResourceMemory || name == corev1.ResourceEphemeralStorage) && n >= mebi && n%1024 != 0 {
		return inDecimals(n/mebi, n%mebi*100/mebi, 2) + "Mi"
	}
	return InUnits(name, n)
}

// InUnits writes many CPUs in whole ones, so that they compare at a glance: 382.97
// rather than 382970m.
func InUnits(name corev1.ResourceName, n int64) string {
	const many = 10_000
	if name == corev1.ResourceCPU && n > many && n%1000 != 0 {
		return inDecimals(n/1000, n%1000, 3)
	}
	return resources.Format(name, n)
}

// inDecimals writes a number by its whole part and so many digits after the point,
// less zeros at the end.
func inDecimals(whole, rest int64, digits int) string {
	return strings.TrimRight(strings.TrimRight(fmt.Sprintf("%d.%0*d", whole, digits, rest), "0"), ".")
}
