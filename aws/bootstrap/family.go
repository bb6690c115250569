package bootstrap

import "slices"

// Family is an operating system that nodes boot, spelled as in the field
// amiFamily of an EC2NodeClass. It decides the format of user data.
type Family string

// The families.
const (
	// FamilyAL2 is Amazon Linux 2: a multipart archive with a shell script.
	FamilyAL2 Family = "AL2"
	// FamilyAL2023 is Amazon Linux 2023: a multipart archive with a NodeConfig.
	FamilyAL2023 Family = "AL2023"
	// FamilyBottlerocket is Bottlerocket: settings as TOML.
	FamilyBottlerocket Family = "Bottlerocket"
	// FamilyWindows2019 is Windows Server 2019: PowerShell.
	FamilyWindows2019 Family = "Windows2019"
	// FamilyWindows2022 is Windows Server 2022: PowerShell.
	FamilyWindows2022 Family = "Windows2022"
	// FamilyWindows2025 is Windows Server 2025: PowerShell.
	FamilyWindows2025 Family = "Windows2025"
	// FamilyCustom is an image that joins by means of its own: the user's text
	// and nothing else.
	FamilyCustom Family = "Custom"
)

// Families returns all families, sorted by name. The slice is the caller's.
func Families() []Family {
	return []Family{FamilyAL2, FamilyAL2023, FamilyBottlerocket, FamilyCustom,
		FamilyWindows2019, FamilyWindows2022, FamilyWindows2025}
}

// Windows reports whether the family is a version of Windows Server.
func (f Family) Windows() bool {
	return f == FamilyWindows2019 || f == FamilyWindows2022 || f == FamilyWindows2025
}

func (f Family) known() bool { return slices.Contains(Families(), f) }

// compressible reports whether what reads the user data of the family unpacks
// gzip: cloud-init, nodeadm and Bottlerocket do, EC2Launch does not.
func (f Family) compressible() bool {
	return f == FamilyAL2 || f == FamilyAL2023 || f == FamilyBottlerocket
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

// InstanceStorePolicy says what becomes of disks that belong to the machine.
type InstanceStorePolicy string

// InstanceStoreRAID0 makes one volume of all of them, for containerd, the kubelet
// and the logs of pods. The zero value leaves the disks alone.
const InstanceStoreRAID0 InstanceStorePolicy = "RAID0"
