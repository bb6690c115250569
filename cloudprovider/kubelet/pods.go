package kubelet

import "math"

// AddressPods returns how many pods a node can give an address of its network
// interfaces to: on each interface that is not reserved for something else, all
// addresses but the first, which is the interface's own; and two pods more that
// run on the network of the host. It is 0 if every interface is reserved.
func AddressPods(interfaces, addresses, reserved int64) int64 {
	return PrefixPods(interfaces, addresses, reserved, 1)
}

// PrefixPods is AddressPods for interfaces that are given blocks of so many
// addresses (16 for an IPv4 prefix of /28) in place of single ones.
func PrefixPods(interfaces, addresses, reserved, block int64) int64 {
	left := max(interfaces, 0) - max(reserved, 0)
	if left <= 0 {
		return 0
	}
	return plus(times(times(left, addresses-1), block), 2)
}

// RangePods returns how many pods fit into the range of addresses of a node
// that has a prefix of so many bits out of 32 (IPv4) or 128 (IPv6), where every
// pod is given two, so that an address is not used again at once: 128 for a /24
// of IPv4. A prefix that is longer than the address, or negative, has none.
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

// SupportedPods returns pods, lowered to what Kubernetes is tested with: 110 on
// machines below 30 CPUs, and 250 on larger ones. cpu is in milli-CPU.
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

// VisibleMemory returns what is left of the memory of a machine, in bytes, once
// the hypervisor, the firmware and the kernel have taken theirs: the memory less
// a share of it, of 10,000, rounded up to whole MiB. A tenth of the machine is
// 1000. Not below zero.
//
// A share that is right for one size is wrong for another: the part that is
// taken falls as machines grow. Use what nodes of the type have reported where
// that is known.
func VisibleMemory(memory, taken int64) int64 {
	perMiB := share(memory, taken, whole*mebibyte, true)
	return max(memory-times(perMiB, mebibyte), 0)
}
