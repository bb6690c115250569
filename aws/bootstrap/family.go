package bootstrap

import "github.com/dovetail-sdk/dovetail/amiselect"

// compressible reports whether what reads the user data of the family unpacks
// gzip: cloud-init, nodeadm and Bottlerocket do, EC2Launch does not.
func compressible(f amiselect.Family) bool {
	return f == amiselect.FamilyAL2 || f == amiselect.FamilyAL2023 || f == amiselect.FamilyBottlerocket
}

// IPFamily is the kind of address that pods and services of a cluster have.
type IPFamily string

// The kinds of address.
const (
	// IPv4 clusters give pods addresses such as 10.0.0.7.
	IPv4 IPFamily = "ipv4"
	// IPv6 clusters give pods addresses such as fd00::7.
	IPv6 IPFamily = "ipv6"
)
