package instancetype

import (
	"fmt"
	"math/bits"
	"strconv"
	"strings"

	"github.com/dovetail-sdk/dovetail/cloudprovider/kubelet"
)

const mebibyte = 1 << 20

// armReserved is the memory in MiB that AWS machines with Arm processors reserve before the
// operating system boots.
const armReserved = 64

// prefixAddresses is the number of addresses in a prefix of a network interface,
// a /28 of IPv4.
const prefixAddresses = 16

// windowsPods is the number of pods on a node whose family does not count them by
// network interfaces.
const windowsPods = 110

// Machine has the properties of an instance type that determine the pods and the overhead of its
// nodes.
type Machine struct {
	// Name is the name of the instance type, for expressions that ask for it.
	Name string
	// VCPUs is the number of virtual CPUs.
	VCPUs int64
	// MemoryMiB is the memory of the machine in MiB, as EC2 states it.
	MemoryMiB int64
	// Arm64 says that the processors are Arm.
	Arm64 bool
	// Prefixes says that network interfaces can have prefixes, as those of the Nitro system and of
	// bare metal can.
	Prefixes bool
	// Card is the default network card, and Interfaces the number of network
	// interfaces that it takes.
	Card, Interfaces int64
	// Addresses is the number of IPv4 addresses of a network interface.
	Addresses int64
}

// Share is a part of the memory of a machine, in millionths.
type Share int64

// wholeShare is all of the memory.
const wholeShare Share = 1_000_000

// DefaultMemoryShare is 7.5%, the share that is assumed to be lost until nodes have reported their
// memory.
const DefaultMemoryShare Share = 75_000

// ParseShare reads a share from a decimal number from 0 up to, but not including, 1, with up to six
// decimals: "0.075" is 7.5%.
func ParseShare(text string) (Share, error) {
	bad := fmt.Errorf("share of memory %q: use a number from 0 up to 1, with at most six decimals, such as 0.075", text)
	integer, fraction, _ := strings.Cut(text, ".")
	digits := integer + fraction
	if digits == "" || len(fraction) > 6 || len(integer) > 9 || strings.Trim(digits, "0123456789") != "" {
		return 0, bad
	}
	n, err := strconv.ParseInt(digits+strings.Repeat("0", 6-len(fraction)), 10, 64)
	if err != nil || Share(n) >= wholeShare {
		return 0, bad
	}
	return Share(n), nil
}

// String returns the number in the form of ParseShare, without needless zeros. A share outside of
// ParseShare's range becomes the nearest one inside.
func (s Share) String() string {
	s = s.bounded()
	if s == 0 {
		return "0"
	}
	return "0." + strings.TrimRight(fmt.Sprintf("%06d", int64(s)), "0")
}

func (s Share) bounded() Share { return min(max(s, 0), wholeShare-1) }

// Memory returns the memory in bytes that a node of the machine is assumed to report: EC2's figure,
// minus 64 MiB on Arm, minus the share of the rest, which is rounded up to whole MiB. It is never
// below zero. It is computed in integers, so that floating-point rounding plays no part.
func (m Machine) Memory(lost Share) int64 {
	size := min(max(m.MemoryMiB, 0), 1<<40)
	if m.Arm64 {
		size = max(size-armReserved, 0)
	}
	hi, lo := bits.Mul64(uint64(size), uint64(lost.bounded()))
	taken, rest := bits.Div64(hi, lo, uint64(wholeShare))
	if rest > 0 {
		taken++
	}
	return (size - int64(taken)) * mebibyte
}

// AddressPods returns the number of pods for which the interfaces of the default card have single
// addresses when used of the interfaces serve something else. Every other interface gives all its
// addresses except the first; two more pods use the host's network. It is 0 if no interface is
// left.
func (m Machine) AddressPods(used int64) int64 {
	return kubelet.AddressPods(m.Interfaces, m.Addresses, used)
}

// prefixPods is AddressPods with a prefix instead of each address except the first, up to the
// number of pods that Kubernetes is tested with.
func (m Machine) prefixPods(used int64) int64 {
	pods := kubelet.PrefixPods(m.Interfaces, m.Addresses, used, prefixAddresses)
	return kubelet.SupportedPods(pods, min(max(m.VCPUs, 0), 1<<40)*1000)
}
