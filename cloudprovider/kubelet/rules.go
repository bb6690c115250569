package kubelet

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

const (
	mebibyte = 1 << 20
	gibibyte = 1 << 30
)

// Rules are the default reserves and thresholds of nodes. Callers may change fields of the value.
type Rules struct {
	// CPU, Memory and EphemeralStorage are the rules for kubeReserved.
	CPU, Memory, EphemeralStorage Reserve
	// SystemReserved is for everything outside of Kubernetes. May be empty.
	SystemReserved resources.List
	// EvictionMemory and EvictionStorage are the thresholds of the signals
	// MemoryAvailable and NodeFSAvailable.
	EvictionMemory, EvictionStorage Threshold
}

// upstreamCPU returns the curve of the first managed services: 6% of the first CPU, 1% of the
// second, 0.5% of the next two, 0.25% of the rest.
func upstreamCPU() Curve {
	return Curve{{UpTo: 1000, Share: 600}, {UpTo: 2000, Share: 100}, {UpTo: 4000, Share: 50}, {Share: 25}}
}

// EKS returns the defaults of the images of Amazon EKS: CPU in falling shares
// (6%, 1%, 0.5%, 0.25%), 255 MiB of memory and 11 MiB more for each pod, 1 GiB
// of disk, and thresholds of 100 MiB of memory and 10% of the disk.
func EKS() Rules {
	return Rules{
		CPU:              Reserve{Curve: upstreamCPU()},
		Memory:           Reserve{Flat: 255 * mebibyte, PerPod: 11 * mebibyte},
		EphemeralStorage: Reserve{Flat: gibibyte},
		EvictionMemory:   Amount(100 * mebibyte),
		EvictionStorage:  Percent(10),
	}
}

// GKE returns the defaults of Google Kubernetes Engine: CPU as on EKS; memory in falling shares
// (25% of the first 4 GiB, 20% of the next 4, 10% of the next 8, 6% of the next 112, 2% of the
// rest), or 255 MiB on machines below 1 GiB; of a boot disk 6 GiB and 35%, at most half of it and
// 100 GiB; thresholds of 100 MiB of memory and 10% of the disk.
func GKE() Rules {
	return Rules{
		CPU: Reserve{Curve: upstreamCPU()},
		Memory: Reserve{
			Curve: Curve{
				{UpTo: 4 * gibibyte, Share: 2500}, {UpTo: 8 * gibibyte, Share: 2000}, {UpTo: 16 * gibibyte, Share: 1000},
				{UpTo: 128 * gibibyte, Share: 600}, {Share: 200},
			},
			Small: 255 * mebibyte, SmallBelow: gibibyte,
		},
		EphemeralStorage: Reserve{Flat: 6 * gibibyte, Curve: Curve{{Share: 3500}}, Max: 100 * gibibyte, MaxShare: 5000},
		EvictionMemory:   Amount(100 * mebibyte),
		EvictionStorage:  Percent(10),
	}
}

// Config has the settings of users for the kubelets of their nodes. The zero Config, and nil, leave
// everything to the Rules.
type Config struct {
	// KubeReserved and SystemReserved replace the amounts of the Rules name by
	// name.
	KubeReserved, SystemReserved resources.List
	// EvictionHard replaces the thresholds of the Rules signal by signal; see ParseThresholds.
	// Signals other than MemoryAvailable and NodeFSAvailable reserve nothing.
	EvictionHard map[Signal]Threshold
	// ReservedPods is the number of pods that resources are reserved for; zero is the pods of the
	// capacity. Some images reserve for as many pods as the machine could have, regardless of the
	// node's limit.
	ReservedPods int64
}

// ParseReserved reads a kubeReserved or systemReserved map of a kubelet configuration, whose names
// are cpu, memory, ephemeral-storage and pid. The field is the name that errors begin with. The
// error lists every fault, sorted by name: an unknown name, a quantity that cannot be read or is
// negative.
func ParseReserved(field string, m map[string]string) (resources.List, error) {
	var faults []error
	var out resources.List
	for _, name := range slices.Sorted(maps.Keys(m)) {
		switch corev1.ResourceName(name) {
		case corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage, "pid":
		default:
			faults = append(faults, fmt.Errorf("%s: %q cannot be reserved; use cpu, memory, ephemeral-storage or pid", field, name))
			continue
		}
		one, err := resources.Parse(name + "=" + m[name])
		switch {
		case err != nil || one.Len() != 1:
			faults = append(faults, fmt.Errorf("%s: %s: %q is no quantity; use one such as 100m or 1Gi", field, name, m[name]))
		case len(one.Negative()) > 0:
			faults = append(faults, fmt.Errorf("%s: %s: %q is negative; use zero or more", field, name, m[name]))
		default:
			out = out.Merge(one)
		}
	}
	if len(faults) > 0 {
		return resources.List{}, errors.Join(faults...)
	}
	return out, nil
}

// Overhead returns the overhead of a node with this capacity. For the resources cpu, memory and
// ephemeral-storage:
//
//  1. KubeReserved is the Reserve of the resource for its capacity and for config.ReservedPods, or
//     else the pods of the capacity; a name in config.KubeReserved has that amount instead.
//  2. SystemReserved is that of the Rules, with its amounts replaced by those of
//     config.SystemReserved, name by name.
//  3. EvictionThreshold has memory and ephemeral-storage, by config.EvictionHard
//     or else the Rules, of the capacity.
//
// A resource that the capacity does not list counts as zero. Overhead may be
// more than capacity; see InstanceType.Allocatable.
func (r Rules) Overhead(capacity resources.List, config *Config) cloudprovider.Overhead {
	if config == nil {
		config = &Config{}
	}
	pods := config.ReservedPods
	if pods == 0 {
		pods = capacity.Get(corev1.ResourcePods)
	}
	cpu, memory := capacity.Get(corev1.ResourceCPU), capacity.Get(corev1.ResourceMemory)
	storage := capacity.Get(corev1.ResourceEphemeralStorage)
	threshold := func(s Signal, otherwise Threshold) Threshold {
		if t, set := config.EvictionHard[s]; set {
			return t
		}
		return otherwise
	}
	return cloudprovider.Overhead{
		KubeReserved: resources.New(map[corev1.ResourceName]int64{
			corev1.ResourceCPU:              r.CPU.Of(cpu, pods),
			corev1.ResourceMemory:           r.Memory.Of(memory, pods),
			corev1.ResourceEphemeralStorage: r.EphemeralStorage.Of(storage, pods),
		}).Merge(config.KubeReserved),
		SystemReserved: r.SystemReserved.Merge(config.SystemReserved),
		EvictionThreshold: resources.New(map[corev1.ResourceName]int64{
			corev1.ResourceMemory:           threshold(MemoryAvailable, r.EvictionMemory).Of(memory),
			corev1.ResourceEphemeralStorage: threshold(NodeFSAvailable, r.EvictionStorage).Of(storage),
		}),
	}
}
