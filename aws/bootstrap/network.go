package bootstrap

import (
	"fmt"
	"net/netip"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// network has the addresses of the cluster that a node needs.
type network struct {
	cidr   string // as given
	family IPFamily
	// dns are the name servers of pods, empty if unknown.
	dns []string
	// asked says that spec.kubelet sets the name servers.
	asked bool
}

// ipv6CIDR returns the range of services if it is an IPv6 range, else "".
func (w network) ipv6CIDR() string {
	if prefix, err := netip.ParsePrefix(w.cidr); err == nil && prefix.Addr().Is6() {
		return prefix.String()
	}
	return ""
}

// network resolves the fields on addresses, in the order of precedence that Node
// documents.
func (n *Node) network() (network, field.ErrorList) {
	w := network{cidr: n.ClusterCIDR, family: n.IPFamily}
	var faults field.ErrorList
	decide := func(at *field.Path, given string, addr netip.Addr) {
		kind := familyOf(addr)
		if w.family == "" {
			w.family = kind
		} else if w.family != kind {
			faults = append(faults, field.Invalid(at, given, fmt.Sprintf("is %s in a cluster of %s: the fields ipFamily, clusterCIDR and dnsIP must agree", kind, w.family)))
		}
	}
	if n.IPFamily != "" && n.IPFamily != IPv4 && n.IPFamily != IPv6 {
		return w, append(faults, field.NotSupported(field.NewPath("ipFamily"), n.IPFamily, []IPFamily{IPv4, IPv6}))
	}
	var derived netip.Addr
	if n.ClusterCIDR != "" {
		at := field.NewPath("clusterCIDR")
		prefix, err := netip.ParsePrefix(n.ClusterCIDR)
		if err != nil || prefix.Addr().Is4In6() {
			faults = append(faults, field.Invalid(at, n.ClusterCIDR, "is no range of addresses: write it as 10.100.0.0/16 or fd30::/108"))
		} else {
			decide(at, n.ClusterCIDR, prefix.Addr())
			derived = tenth(prefix)
		}
	}
	if n.DNSIP != "" {
		at := field.NewPath("dnsIP")
		if addr, ok := parseAddr(n.DNSIP); ok {
			decide(at, n.DNSIP, addr)
			derived = addr
		} else {
			faults = append(faults, badAddr(at, n.DNSIP))
		}
	}
	if len(n.Kubelet.ClusterDNS) == 0 && derived.IsValid() {
		w.dns = []string{derived.String()}
	}
	for _, text := range n.Kubelet.ClusterDNS {
		addr, ok := parseAddr(text)
		if !ok {
			// The kubelet gets the user's text, and warns of it.
			w.dns, w.asked = append(w.dns, text), true
			continue
		}
		// A local cache may listen on an address of the other kind, so a user's address decides the
		// family only if nothing else does.
		if w.family == "" {
			w.family = familyOf(addr)
		}
		w.dns, w.asked = append(w.dns, addr.String()), true
	}
	if w.family == "" {
		w.family = IPv4
	}
	return w, faults
}

func badAddr(at *field.Path, text string) *field.Error {
	return field.Invalid(at, text, "is no IP address: write it as 10.100.0.10 or fd30::a")
}

// parseAddr reads an address. It refuses addresses with a zone, which are valid on one machine
// only, and IPv4 addresses written as IPv6.
func parseAddr(text string) (netip.Addr, bool) {
	addr, err := netip.ParseAddr(text)
	return addr, err == nil && addr.Zone() == "" && !addr.Is4In6()
}

func familyOf(addr netip.Addr) IPFamily {
	if addr.Is4() {
		return IPv4
	}
	return IPv6
}

// tenth returns the tenth address of a range, which EKS assigns to kube-dns. It is not valid if the
// range is too small.
func tenth(prefix netip.Prefix) netip.Addr {
	addr := prefix.Masked().Addr()
	for range 10 {
		addr = addr.Next()
	}
	if !prefix.Contains(addr) {
		return netip.Addr{}
	}
	return addr
}
