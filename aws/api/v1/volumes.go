package v1

import (
	"encoding/json"
	"strconv"

	"k8s.io/apimachinery/pkg/api/resource"
)

// BlockDeviceMapping is a volume of a node.
type BlockDeviceMapping struct {
	// DeviceName is the name of the device, such as /dev/xvda. Required by
	// validation, and unique.
	DeviceName *string `json:"deviceName,omitempty"`
	// EBS describes the volume. Required by validation.
	EBS *BlockDevice `json:"ebs,omitempty"`
	// RootVolume says that the kubelet keeps its data on this volume, which then
	// counts as the node's ephemeral storage. At most one mapping says so.
	RootVolume bool `json:"rootVolume,omitempty"`
}

// BlockDevice describes a volume of Amazon EBS. It needs SnapshotID or
// VolumeSize.
type BlockDevice struct {
	// DeleteOnTermination deletes the volume with the instance. Nil leaves it to
	// EC2, which does.
	DeleteOnTermination *bool `json:"deleteOnTermination,omitempty"`
	// Encrypted encrypts the volume. Nil leaves it to the account's setting.
	Encrypted *bool `json:"encrypted,omitempty"`
	// IOPS is the number of operations per second, for types that take one. Not
	// negative; zero, like nil, leaves it to EC2.
	IOPS *int64 `json:"iops,omitempty"`
	// KMSKeyID is the key to encrypt with, by id, alias or ARN.
	KMSKeyID *string `json:"kmsKeyID,omitempty"`
	// SnapshotID is the snapshot that the volume is filled from.
	SnapshotID *string `json:"snapshotID,omitempty"`
	// Throughput is in MiB per second, for gp3. Not negative; zero, like nil,
	// leaves it to EC2.
	Throughput *int64 `json:"throughput,omitempty"`
	// VolumeInitializationRate is how fast the snapshot is read, in MiB per
	// second, 100 to 300. It needs SnapshotID.
	VolumeInitializationRate *int32 `json:"volumeInitializationRate,omitempty"`
	// VolumeSize is a whole number of Gi or G, from 1G to 64T. EC2 is asked for
	// whole GiB, rounded up. The hash takes the quantity in its normal form, so
	// 1024Gi and 1Ti are the same. The API server takes a few forms of those
	// sizes only: 1Gi to 59000Gi, 1G to 64000G, 1T to 64T, and 1Ti to 58Ti but
	// for 18, 19, 28 and so on. Decoding refuses all others.
	VolumeSize *resource.Quantity `json:"volumeSize,omitempty"`
	// VolumeType is one of gp2, gp3, io1, io2, sc1, st1 and standard. Nil leaves
	// it to EC2.
	VolumeType *string `json:"volumeType,omitempty"`
}

// MarshalJSON writes a VolumeSize in a form that the API server takes, where its
// normal form is none: 18432Gi is not written as 18Ti.
func (d BlockDevice) MarshalJSON() ([]byte, error) {
	type plain BlockDevice
	if d.VolumeSize == nil || isSizeText(d.VolumeSize.String()) || !isVolumeSize(*d.VolumeSize) {
		return json.Marshal(plain(d))
	}
	const gi, g = 1 << 30, 1_000_000_000
	text := strconv.FormatInt(d.VolumeSize.Value()/gi, 10) + "Gi"
	if d.VolumeSize.Value()%gi != 0 {
		text = strconv.FormatInt(d.VolumeSize.Value()/g, 10) + "G"
	}
	return json.Marshal(struct {
		plain
		VolumeSize string `json:"volumeSize"`
	}{plain(d), text})
}

// VolumeTypes returns the values of BlockDevice.VolumeType, sorted. The slice is
// the caller's.
func VolumeTypes() []string {
	return []string{"gp2", "gp3", "io1", "io2", "sc1", "st1", "standard"}
}

// InstanceStorePolicy says what to do with the disks of an instance.
type InstanceStorePolicy string

// InstanceStorePolicyRAID0 joins the NVMe disks of an instance into one, on
// which containers, the kubelet's data and logs are kept. Their sum is the
// node's ephemeral storage.
const InstanceStorePolicyRAID0 InstanceStorePolicy = "RAID0"
