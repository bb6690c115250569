package bootstrap

import "github.com/dovetail-sdk/dovetail/amiselect"

// Features are what a family has beside its user data, as far as it decides what
// an instance of it can hold.
type Features struct {
	// ENILimitedMemoryOverhead says that the image keeps memory for as many pods
	// as network interfaces allow, whatever the number of pods is set to.
	ENILimitedMemoryOverhead bool
	// ENILimitedPodDensity says that network interfaces limit the number of pods.
	// Else it is 110.
	ENILimitedPodDensity bool
	// PodsPerCore says that Kubelet.PodsPerCore has an effect.
	PodsPerCore bool
	// ArbitraryKubelet says that Kubelet.Extra is allowed.
	ArbitraryKubelet bool
	// Devices are the volumes of an EC2NodeClass without blockDeviceMappings, all
	// gp3 and encrypted. None means those of the image.
	Devices []Device
	// EphemeralDevice is the name of the volume that ephemeral storage of pods is
	// on. Empty means that the family does not say.
	EphemeralDevice string
}

// Device is a volume of an instance.
type Device struct {
	// Name is that of the device, such as /dev/xvda.
	Name string
	// GiB is the size of the volume in units of 2^30 bytes.
	GiB int64
}

// FeaturesOf returns the features of a family. For a family that is not known
// they are the zero value. The slice in it is the caller's.
func FeaturesOf(f amiselect.Family) Features {
	switch f {
	case amiselect.FamilyAL2, amiselect.FamilyAL2023:
		return Features{
			ENILimitedMemoryOverhead: true,
			ENILimitedPodDensity:     true,
			PodsPerCore:              true,
			ArbitraryKubelet:         f == amiselect.FamilyAL2023,
			Devices:                  []Device{{"/dev/xvda", 20}},
			EphemeralDevice:          "/dev/xvda",
		}
	case amiselect.FamilyBottlerocket:
		// The first volume is the system's, which is read-only, and no smaller than
		// the snapshot of the image.
		return Features{
			ENILimitedPodDensity: true,
			Devices:              []Device{{"/dev/xvda", 6}, {"/dev/xvdb", 20}},
			EphemeralDevice:      "/dev/xvdb",
		}
	case amiselect.FamilyWindows2019, amiselect.FamilyWindows2022, amiselect.FamilyWindows2025:
		return Features{
			PodsPerCore:     true,
			Devices:         []Device{{"/dev/sda1", 50}},
			EphemeralDevice: "/dev/sda1",
		}
	case amiselect.FamilyCustom:
		return Features{ENILimitedMemoryOverhead: true, ENILimitedPodDensity: true, PodsPerCore: true}
	}
	return Features{}
}
