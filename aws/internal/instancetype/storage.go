package instancetype

import (
	"math"

	"github.com/dovetail-sdk/dovetail/amiselect"
	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/aws/bootstrap"
)

const (
	gigabyte = 1_000_000_000
	gibibyte = 1 << 30

	// defaultVolume is the ephemeral storage of a node for which neither class nor family states
	// any.
	defaultVolume = 20 * gibibyte
	// ebsDriver is the name of the storage driver of EBS.
	ebsDriver = "ebs.csi.aws.com"
	// attachedInterfaces is the number of network interfaces that a node has when
	// its storage driver counts them: the primary one, and the one that the
	// network plugin keeps warm.
	attachedInterfaces = 2
)

// storage has the settings of a class for the disks of its nodes.
type storage struct {
	raid    bool
	volume  int64 // bytes of ephemeral storage on a volume
	volumes int64 // number of volumes
}

// newStorage reads the volumes of a class. A mapping may lack ebs, deviceName or volumeSize, if
// admission did not check it; missing fields are ignored.
func newStorage(class *awsv1.EC2NodeClass, family amiselect.Family) storage {
	features := bootstrap.FeaturesOf(family)
	policy := class.Spec.InstanceStorePolicy
	s := storage{
		// Windows cannot join the disks.
		raid:    policy != nil && *policy == awsv1.InstanceStorePolicyRAID0 && !family.Windows(),
		volumes: int64(len(class.Spec.BlockDeviceMappings)),
	}
	if s.volumes == 0 {
		s.volumes = max(int64(len(features.Devices)), 1)
	}
	s.volume = ephemeralVolume(class.Spec.BlockDeviceMappings, family == amiselect.FamilyCustom, features)
	return s
}

// ephemeralVolume returns the size of the volume that pods write to, in bytes:
//
//  1. that of the mapping marked as root volume;
//  2. for images of no known family, that of the last mapping;
//  3. that of the mapping of the family's device for it;
//  4. that of the family's default for that device;
//  5. 20 GiB.
func ephemeralVolume(mappings []awsv1.BlockDeviceMapping, custom bool, features bootstrap.Features) int64 {
	for i := range mappings {
		if size := volumeSize(&mappings[i]); mappings[i].RootVolume && size > 0 {
			return size
		}
	}
	if custom {
		if n := len(mappings); n > 0 && volumeSize(&mappings[n-1]) > 0 {
			return volumeSize(&mappings[n-1])
		}
		return defaultVolume
	}
	for i := range mappings {
		name := mappings[i].DeviceName
		if size := volumeSize(&mappings[i]); name != nil && *name == features.EphemeralDevice && size > 0 {
			return size
		}
	}
	for _, d := range features.Devices {
		if d.Name == features.EphemeralDevice {
			return d.GiB * gibibyte
		}
	}
	return defaultVolume
}

func volumeSize(m *awsv1.BlockDeviceMapping) int64 {
	if m.EBS == nil || m.EBS.VolumeSize == nil {
		return 0
	}
	return max(m.EBS.VolumeSize.Value(), 0)
}

// bytes returns the ephemeral storage of a node of the machine.
func (s *storage) bytes(m *machine) int64 {
	if s.raid && m.storeGB > 0 {
		return min(m.storeGB, math.MaxInt64/gigabyte) * gigabyte
	}
	return s.volume
}

// attachable returns how many volumes pods of a node can have attached, and false if EC2 does not
// say. The node's own volumes are subtracted, and also interfaces and the machine's disks if they
// count against the limit, as the storage driver does when a node joins. The result is at least
// one.
func (s *storage) attachable(m *machine) (int64, bool) {
	if m.attachments == 0 {
		return 0, false
	}
	left := m.attachments - s.volumes
	if m.shared {
		left -= min(attachedInterfaces, m.limits.Interfaces) + m.storeDisks
	}
	return max(left, 1), true
}
