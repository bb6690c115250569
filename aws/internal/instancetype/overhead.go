package instancetype

import (
	"fmt"
	"math/bits"
	"strconv"
	"strings"

	"github.com/dovetail-sdk/dovetail/cloudprovider/kubelet"
)

const mebibyte = 1 << 20

// armReserved is the memory in MiB that machines of AWS with Arm processors keep
// for themselves before anything boots.
const armReserved = 64

// prefixAddresses is the number of addresses in a prefix of a network interface,
// a /28 of IPv4.
const prefixAddresses = 16

// windowsPods is the number of pods on a node whose family does not count them by
// network interfaces.
const windowsPods = 110

// Machine is what of an instance type decides what its nodes can hold.
type Machine struct {
	// Name is the name of the instance type, for expressions that ask for it.
	Name string
	// VCPUs is the number of virtual CPUs.
	VCPUs int64
	// MemoryMiB is the memory of the machine in MiB, as EC2 states it.
	MemoryMiB int64
	// Arm64 says that the processors are Arm.
	Arm64 bool
	// Prefixes says that network interfaces can be given prefixes, which those
	// of the Nitro system and bare metal can.
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

// DefaultMemoryShare is 7.5%, what is taken to be lost unless it is known better.
const DefaultMemoryShare Share = 75_000

// ParseShare reads a share from a decimal number from 0 up to, but not including,
// 1, with up to six decimals: "0.075" is 7.5%. The error says what is wanted.
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

// String returns the number that ParseShare reads back, without needless zeros.
// A share outside of what ParseShare takes counts as the nearest one inside.
func (s Share) String() string {
	s = s.bounded()
	if s == 0 {
		return "0"
	}
	return "0." + strings.TrimRight(fmt.Sprintf("%06d", int64(s)), "0")
}

func (s Share) bounded() Share { return min(max(s, 0), wholeShare-1) }

// Memory returns the memory in bytes that a node of the machine is taken to
// report: what EC2 states, less 64 MiB on Arm, less the share of that, rounded up
// to whole MiB. Not below zero. It is computed in whole numbers, so no result
// depends on how a decimal fraction is rounded to a binary one.
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

// AddressPods returns how many pods the interfaces of the default card can give
// an address to, each a single one, when so many of the interfaces are used for
// something else: on every other one all addresses but the first, and two pods on
// the network of the host. It is 0 if no interface is left.
func (m Machine) AddressPods(used int64) int64 {
	return kubelet.AddressPods(m.Interfaces, m.Addresses, used)
}

// prefixPods is AddressPods where every address of an interface but the first is
// a prefix, up to the number of pods that Kubernetes is tested with.
func (m Machine) prefixPods(used int64) int64 {
	pods := kubelet.PrefixPods(m.Interfaces, m.Addresses, used, prefixAddresses)
	return kubelet.SupportedPods(pods, min(max(m.VCPUs, 0), 1<<40)*1000)
}
