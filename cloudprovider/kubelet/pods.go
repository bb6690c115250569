package kubelet

import "math"

// AddressPods returns the number of pods for which a node has addresses: on each interface that is
// not reserved, all addresses except the first, which is the interface's own; and two more pods on
// the host's network. It is 0 if every interface is reserved.
func AddressPods(interfaces, addresses, reserved int64) int64 {
	return PrefixPods(interfaces, addresses, reserved, 1)
}

// PrefixPods is AddressPods for interfaces with blocks of addresses (16 for an IPv4 prefix of /28)
// instead of single ones.
func PrefixPods(interfaces, addresses, reserved, block int64) int64 {
	left := max(interfaces, 0) - max(reserved, 0)
	if left <= 0 {
		return 0
	}
	return plus(times(times(left, addresses-1), block), 2)
}

// RangePods returns the number of pods for the address range of a node with a prefix of prefix bits
// out of addressBits, 32 (IPv4) or 128 (IPv6). Each pod takes two addresses, so that an address is
// not reused at once: 128 pods for a /24 of IPv4. It is 0 if the prefix is longer than the address,
// or negative.
func RangePods(prefix, addressBits int) int64 {
	host := addressBits - prefix
	switch {
	case prefix < 0 || host < 1:
		return 0
	case host > 63:
		return math.MaxInt64
	}
	return 1 << (host - 1)
}

// PodsPerCore returns pods, lowered to perCore for each whole CPU of cpu, which
// is in milli-CPU. A perCore of zero or less is no limit.
func PodsPerCore(pods, perCore, cpu int64) int64 {
	if perCore <= 0 {
		return pods
	}
	return min(pods, times(perCore, cpu/1000))
}

// SupportedPods returns pods, lowered to the limits that Kubernetes is tested with: 110 on machines
// below 30 CPUs, and 250 on larger ones. cpu is in milli-CPU.
func SupportedPods(pods, cpu int64) int64 {
	const (
		large      = 30_000
		small, big = 110, 250
	)
	if cpu < large {
		return min(pods, small)
	}
	return min(pods, big)
}

// VisibleMemory returns the memory of a machine, in bytes, without the part for the hypervisor, the
// firmware and the kernel. That part is taken/10,000 of the memory, rounded up to whole MiB: taken
// is 1000 for a tenth. The result is not below zero.
//
// One share does not fit all sizes: the part falls as machines grow. Prefer the memory that nodes
// of the type have reported.
func VisibleMemory(memory, taken int64) int64 {
	perMiB := share(memory, taken, whole*mebibyte, true)
	return max(memory-times(perMiB, mebibyte), 0)
}
