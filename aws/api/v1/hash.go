package v1

import (
	"strconv"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/dovetail-sdk/dovetail/internal/structhash"
)

// EC2NodeClassHashVersion is the version of the rules by which EC2NodeClass.Hash
// is computed. Hashes are comparable only if their versions are equal.
const EC2NodeClassHashVersion = "v6"

// Hash returns the static drift hash of the class, a decimal number of 64 bits.
// It is equal to the one that Karpenter 1.15 computes for the same object and
// keeps in the annotation EC2NodeClassHashAnnotationKey, so claims made by
// either are judged the same by both.
//
// caBundle is the cluster's CA certificate as it goes into user data, base64, or
// empty if there is none. It is hashed because a node that trusts an old one is
// out of date.
//
// The hash covers the spec but for the fields whose comments say otherwise, the
// ResolvedAMIFamily and the CA bundle. The order of lists does not count, and
// two identical items of one list cancel out. An empty map or list that is not
// nil does count, as it does in Karpenter.
//
// The settings of the kubelet are hashed as the JSON text that an API server
// keeps of them, so any change of how they are written counts: 60s in place of
// 1m, an empty list in place of none. KubeletConfiguration.AsRead makes that
// possible for objects that were read. Of settings made in Go it is the text in
// which they are written; settings with a value that cannot be written as JSON
// hash like nothing else.
//
// Objects that come from an API server have their defaults; call Default on
// others first, or the hash will differ. A nil class hashes like an empty one.
func (c *EC2NodeClass) Hash(caBundle string) string {
	var spec EC2NodeClassSpec
	if c != nil {
		spec = c.Spec
	}
	// Karpenter hashes a list of the four, and lists have no order.
	sum := hashSpec(&spec) ^ structhash.Text(string(c.ResolvedAMIFamily())) ^ structhash.Text(caBundle) ^
		structhash.Text(spec.Kubelet.text())
	return strconv.FormatUint(sum, 10)
}

// The names below are those of Karpenter's Go types and fields, which are part
// of the hashed bytes. They must not follow a renaming on our side. Their order
// is that of Karpenter's structs and counts too.

func hashSpec(s *EC2NodeClassSpec) uint64 {
	h := structhash.Of("EC2NodeClassSpec")
	if s.PlacementGroupSelector != nil {
		h.Field("PlacementGroupSelector", hashPlacementGroup(s.PlacementGroupSelector))
	}
	h.BoolPointer("AssociatePublicIPAddress", s.AssociatePublicIPAddress)
	h.TextPointer("UserData", s.UserData)
	h.Text("Role", s.Role)
	h.TextPointer("InstanceProfile", s.InstanceProfile)
	h.TextMap("Tags", s.Tags)
	if s.BlockDeviceMappings != nil {
		h.Field("BlockDeviceMappings", structhash.List(s.BlockDeviceMappings, hashMapping))
	}
	if s.InstanceStorePolicy != nil {
		h.Field("InstanceStorePolicy", structhash.Text(string(*s.InstanceStorePolicy)))
	}
	if s.NetworkInterfaces != nil {
		h.Field("NetworkInterfaces", structhash.List(s.NetworkInterfaces, hashInterface))
	}
	h.BoolPointer("DetailedMonitoring", s.DetailedMonitoring)
	if s.MetadataOptions != nil {
		h.Field("MetadataOptions", hashMetadataOptions(s.MetadataOptions))
	}
	if s.EnclaveOptions != nil {
		h.Field("EnclaveOptions", hashEnclaveOptions(s.EnclaveOptions))
	}
	if s.ConnectionTracking != nil {
		h.Field("ConnectionTracking", hashConnectionTracking(s.ConnectionTracking))
	}
	h.TextPointer("Context", s.Context)
	if s.CPUOptions != nil {
		h.Field("CPUOptions", hashCPUOptions(s.CPUOptions))
	}
	return h.Sum()
}

func hashPlacementGroup(s *PlacementGroupSelector) uint64 {
	h := structhash.Of("PlacementGroupSelector")
	h.TextPointer("Name", s.Name)
	h.TextPointer("ID", s.ID)
	return h.Sum()
}

func hashMapping(m BlockDeviceMapping) uint64 {
	h := structhash.Of("BlockDeviceMapping")
	h.TextPointer("DeviceName", m.DeviceName)
	if m.EBS != nil {
		h.Field("EBS", hashBlockDevice(m.EBS))
	}
	if m.RootVolume {
		h.Field("RootVolume", structhash.Bool(true))
	}
	return h.Sum()
}

func hashBlockDevice(d *BlockDevice) uint64 {
	h := structhash.Of("BlockDevice")
	h.BoolPointer("DeleteOnTermination", d.DeleteOnTermination)
	h.BoolPointer("Encrypted", d.Encrypted)
	h.Int64Pointer("IOPS", d.IOPS)
	h.TextPointer("KMSKeyID", d.KMSKeyID)
	h.TextPointer("SnapshotID", d.SnapshotID)
	h.Int64Pointer("Throughput", d.Throughput)
	h.Int32Pointer("VolumeInitializationRate", d.VolumeInitializationRate)
	if d.VolumeSize != nil {
		// Of the text, as the number has more than one form in memory.
		h.Field("VolumeSize", structhash.Text(quantityText(d.VolumeSize)))
	}
	h.TextPointer("VolumeType", d.VolumeType)
	return h.Sum()
}

// quantityText returns the normal form. It works on a copy, because String keeps
// the text within the quantity, which is not ours to write to.
func quantityText(q *resource.Quantity) string {
	own := q.DeepCopy()
	return own.String()
}

func hashInterface(n NetworkInterface) uint64 {
	h := structhash.Of("NetworkInterface")
	if n.NetworkCardIndex != 0 {
		h.Field("NetworkCardIndex", structhash.Int32(n.NetworkCardIndex))
	}
	if n.DeviceIndex != 0 {
		h.Field("DeviceIndex", structhash.Int32(n.DeviceIndex))
	}
	h.Text("InterfaceType", string(n.InterfaceType))
	return h.Sum()
}

func hashMetadataOptions(o *MetadataOptions) uint64 {
	h := structhash.Of("MetadataOptions")
	h.TextPointer("HTTPEndpoint", o.HTTPEndpoint)
	h.TextPointer("HTTPProtocolIPv6", o.HTTPProtocolIPv6)
	h.Int64Pointer("HTTPPutResponseHopLimit", o.HTTPPutResponseHopLimit)
	h.TextPointer("HTTPTokens", o.HTTPTokens)
	return h.Sum()
}

// hashEnclaveOptions leaves false out: the field is no pointer in Karpenter.
func hashEnclaveOptions(o *EnclaveOptions) uint64 {
	h := structhash.Of("EnclaveOptions")
	if o.Enabled != nil && *o.Enabled {
		h.Field("Enabled", structhash.Bool(true))
	}
	return h.Sum()
}

func hashConnectionTracking(t *ConnectionTracking) uint64 {
	h := structhash.Of("ConnectionTracking")
	h.Int32Pointer("TCPEstablishedTimeout", t.TCPEstablishedTimeout)
	h.Int32Pointer("UDPStreamTimeout", t.UDPStreamTimeout)
	h.Int32Pointer("UDPTimeout", t.UDPTimeout)
	return h.Sum()
}

func hashCPUOptions(o *CPUOptions) uint64 {
	h := structhash.Of("CPUOptions")
	h.TextPointer("NestedVirtualization", o.NestedVirtualization)
	return h.Sum()
}
