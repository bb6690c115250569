package bootstrap

import (
	"strconv"
	"strings"

	"github.com/dovetail-sdk/dovetail/amiselect"
)

// version is a release of Bottlerocket. The patch level never matters here.
type version struct{ major, minor int }

func (v version) before(major, minor int) bool {
	return v.major < major || v.major == major && v.minor < minor
}

// parseVersion reads a version such as 1.46.0 or v1.46.0. It is not ok for
// anything else.
func parseVersion(text string) (v version, ok bool) {
	major, rest, found := strings.Cut(strings.TrimLeft(text, "v"), ".")
	if !found {
		return v, false
	}
	minor, _, _ := strings.Cut(rest, ".")
	var errMajor, errMinor error
	v.major, errMajor = strconv.Atoi(major)
	v.minor, errMinor = strconv.Atoi(minor)
	return v, errMajor == nil && errMinor == nil && v.major >= 0 && v.minor >= 0
}

// BottlerocketVersion finds the version in the name of an image, such as
// bottlerocket-aws-k8s-1.31-x86_64-v1.46.0-431fe75a: the first of the pieces
// between dashes that begins with "v" and has a dot. It is empty if there is none.
func BottlerocketVersion(imageName string) string {
	for piece := range strings.SplitSeq(imageName, "-") {
		if strings.HasPrefix(piece, "v") && strings.Contains(piece, ".") {
			return piece
		}
	}
	return ""
}

// Features are the properties of a family that affect the capacity of its instances.
type Features struct {
	// ENILimitedMemoryOverhead says that the image reserves memory for as many pods as network
	// interfaces allow, regardless of maxPods.
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
	// EphemeralDevice is the name of the volume that ephemeral storage of pods is on. Empty means
	// that it is not known.
	EphemeralDevice string
}

// Device is a volume of an instance.
type Device struct {
	// Name is that of the device, such as /dev/xvda.
	Name string
	// GiB is the size of the volume in units of 2^30 bytes.
	GiB int64
}

// FeaturesOf returns the features of a family, or the zero value for an unknown family. The slice
// in it is the caller's.
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
