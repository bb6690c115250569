package model

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/internal/engine/device"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// VolumesPrefix begins the resource name under which the volumes of a CSI driver are counted.
const VolumesPrefix = "volumes of driver "

// NodesResource is the name of the limit on the number of nodes.
const NodesResource = corev1.ResourceName("nodes")

// Amount renders a request for a resource, such as "cpu=500m". Volumes and devices are counted
// under their own names.
func Amount(name corev1.ResourceName, n int64) string { return Asked(name, n, InUnits(name, n)) }

// Asked is Amount with text in place of the rendered number.
func Asked(name corev1.ResourceName, n int64, text string) string {
	if text, ok := device.Amount(name, n); ok {
		return text
	}
	if strings.HasPrefix(string(name), VolumesPrefix) {
		return fmt.Sprintf("%d %s", n, name)
	}
	return fmt.Sprintf("%s=%s", name, text)
}

// Quantities renders amounts of one resource as Quantity does, but all in one unit so that they
// compare at a glance: 228881.83Mi and 213552.72Mi, not 234375000Ki and 213552.72Mi. Different
// amounts have different texts.
func Quantities(name corev1.ResourceName, amounts ...int64) []string {
	out, units := make([]string, len(amounts)), map[string]bool{}
	for i, n := range amounts {
		if out[i] = Quantity(name, n); n != 0 {
			units[strings.TrimLeft(out[i], "-.0123456789")] = true
		}
	}
	switch _, isDevice := device.Amount(name, 1); {
	case isDevice || len(units) < 2 || slices.Min(amounts) < 0:
		return out
	case name != corev1.ResourceCPU:
		return inOneUnit(amounts)
	}
	for i, n := range amounts {
		if out[i] = fmt.Sprintf("%dm", n); slices.Max(amounts) > manyMilliCPUs {
			out[i] = inDecimals(n/1000, n%1000, 3)
		}
	}
	return out
}

// inOneUnit renders amounts of bytes in the largest unit in which all are whole, or in MiB rounded
// down to hundredths if MiB is larger and the texts stay distinct.
func inOneUnit(amounts []int64) []string {
	const suffixes, mebi = "KMGTPE", 2
	exact, rounded := len(suffixes), len(suffixes)
	for _, n := range amounts {
		unit := 0
		for unit < len(suffixes) && n%(1<<(10*(unit+1))) == 0 {
			unit++
		}
		exact = min(exact, unit)
		if n >= 1<<(10*mebi) {
			unit = max(unit, mebi)
		}
		rounded = min(rounded, unit)
	}
	write := func(unit int) (out []string, apart bool) {
		seen := map[string]int64{}
		apart = true
		for _, n := range amounts {
			size, suffix := int64(1)<<(10*unit), ""
			if unit > 0 {
				suffix = suffixes[unit-1:unit] + "i"
			}
			text := inDecimals(n/size, n%size*100/size, 2) + suffix
			if same, ok := seen[text]; ok && same != n {
				apart = false
			}
			seen[text] = n
			out = append(out, text)
		}
		return out, apart
	}
	out, apart := write(rounded)
	if !apart {
		out, _ = write(exact)
	}
	return out
}

// Quantity renders an amount of a resource. Bytes that are not a whole number of KiB are rounded
// down to hundredths of a MiB: 7783.98Mi, not 8162095000. Such amounts occur where a share of the
// memory is reserved.
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

// manyMilliCPUs is the amount of CPU, in thousandths, above which InUnits writes decimals.
const manyMilliCPUs = 10_000

// InUnits renders more than 10 CPUs in decimals of a CPU so that they compare at a glance: 382.97,
// not 382970m.
func InUnits(name corev1.ResourceName, n int64) string {
	if name == corev1.ResourceCPU && n > manyMilliCPUs && n%1000 != 0 {
		return inDecimals(n/1000, n%1000, 3)
	}
	return resources.Format(name, n)
}

// inDecimals renders a number from its whole part and the given number of decimal digits, without
// trailing zeros.
func inDecimals(whole, rest int64, digits int) string {
	return strings.TrimRight(strings.TrimRight(fmt.Sprintf("%d.%0*d", whole, digits, rest), "0"), ".")
}
