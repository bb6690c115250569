package v1

import (
	"strconv"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/dovetail-sdk/dovetail/internal/structhash"
)

// EC2NodeClassHashVersion is the version of the rules by which EC2NodeClass.Hash
// is computed. Hashes are comparable only if their versions are equal.
const EC2NodeClassHashVersion = "v6"

// Hash returns the static drift hash of the class, a decimal number of 64 bits. It is equal to the
// one that Karpenter 1.15 computes for the same object and keeps in the annotation
// EC2NodeClassHashAnnotationKey, so that both treat NodeClaims of either alike.
//
// caBundle is the cluster's CA certificate as it goes into user data, base64, or
// empty if there is none. It is hashed because a node that trusts an old one is
// out of date.
//
// The hash covers the spec except the fields whose comments say otherwise, the ResolvedAMIFamily
// and the CA bundle. The order of lists does not matter, and two identical items of one list cancel
// out. An empty map or list that is not nil changes the hash, as in Karpenter.
//
// The settings of the kubelet are hashed as the JSON text that an API server keeps of them, so any
// change of the text changes the hash: 60s in place of 1m, an empty list in place of none. For
// objects that were read, KubeletConfiguration.AsRead has the text. For settings made in Go it is
// the text of MarshalJSON; settings with a value that JSON cannot write hash as null.
//
// Objects that come from an API server have their defaults; call Default on
// others first, or the hash will differ. A nil class hashes like an empty one.
func (c *EC2NodeClass) Hash(caBundle string) string {
	var spec EC2NodeClassSpec
	if c != nil {
		spec = c.Spec
	}
	// Karpenter hashes a list of the four, and the order of a list does not matter.
	sum := hashSpec(&spec) ^ structhash.Text(string(c.ResolvedAMIFamily())) ^ structhash.Text(caBundle) ^
		structhash.Text(spec.Kubelet.text())
	return strconv.FormatUint(sum, 10)
}

// The names below are those of Karpenter's Go types and fields, which are part of the hashed bytes.
// They must stay if our fields are renamed. Their order is that of Karpenter's structs and matters
// too.

func hashSpec(s *EC2NodeClassSpec) uint64 {
	h := structhash.Of("EC2NodeClassSpec")
	structhash.Pointer(&h, "PlacementGroupSelector", s.PlacementGroupSelector, hashPlacementGroup)
	structhash.Pointer(&h, "AssociatePublicIPAddress", s.AssociatePublicIPAddress, structhash.Bool)
	structhash.Pointer(&h, "UserData", s.UserData, structhash.Text)
	h.Text("Role", s.Role)
	structhash.Pointer(&h, "InstanceProfile", s.InstanceProfile, structhash.Text)
	h.TextMap("Tags", s.Tags)
	if s.BlockDeviceMappings != nil {
		h.Field("BlockDeviceMappings", structhash.List(s.BlockDeviceMappings, hashMapping))
	}
	structhash.Pointer(&h, "InstanceStorePolicy", (*string)(s.InstanceStorePolicy), structhash.Text)
	if s.NetworkInterfaces != nil {
		h.Field("NetworkInterfaces", structhash.List(s.NetworkInterfaces, hashInterface))
	}
	structhash.Pointer(&h, "DetailedMonitoring", s.DetailedMonitoring, structhash.Bool)
	structhash.Pointer(&h, "MetadataOptions", s.MetadataOptions, hashMetadataOptions)
	structhash.Pointer(&h, "EnclaveOptions", s.EnclaveOptions, hashEnclaveOptions)
	structhash.Pointer(&h, "ConnectionTracking", s.ConnectionTracking, hashConnectionTracking)
	structhash.Pointer(&h, "Context", s.Context, structhash.Text)
	structhash.Pointer(&h, "CPUOptions", s.CPUOptions, hashCPUOptions)
	return h.Sum()
}

func hashPlacementGroup(s PlacementGroupSelector) uint64 {
	h := structhash.Of("PlacementGroupSelector")
	structhash.Pointer(&h, "Name", s.Name, structhash.Text)
	structhash.Pointer(&h, "ID", s.ID, structhash.Text)
	return h.Sum()
}

func hashMapping(m BlockDeviceMapping) uint64 {
	h := structhash.Of("BlockDeviceMapping")
	structhash.Pointer(&h, "DeviceName", m.DeviceName, structhash.Text)
	structhash.Pointer(&h, "EBS", m.EBS, hashBlockDevice)
	if m.RootVolume {
		h.Field("RootVolume", structhash.Bool(true))
	}
	return h.Sum()
}

func hashBlockDevice(d BlockDevice) uint64 {
	h := structhash.Of("BlockDevice")
	structhash.Pointer(&h, "DeleteOnTermination", d.DeleteOnTermination, structhash.Bool)
	structhash.Pointer(&h, "Encrypted", d.Encrypted, structhash.Bool)
	structhash.Pointer(&h, "IOPS", d.IOPS, structhash.Int64)
	structhash.Pointer(&h, "KMSKeyID", d.KMSKeyID, structhash.Text)
	structhash.Pointer(&h, "SnapshotID", d.SnapshotID, structhash.Text)
	structhash.Pointer(&h, "Throughput", d.Throughput, structhash.Int64)
	structhash.Pointer(&h, "VolumeInitializationRate", d.VolumeInitializationRate, structhash.Int32)
	structhash.Pointer(&h, "VolumeSize", d.VolumeSize, hashQuantity)
	structhash.Pointer(&h, "VolumeType", d.VolumeType, structhash.Text)
	return h.Sum()
}

// hashQuantity hashes the canonical form, because a quantity has several forms in memory.
func hashQuantity(q resource.Quantity) uint64 { return structhash.Text(quantityText(q)) }

// quantityText returns the canonical form. String caches the text in the quantity; q is a copy, so
// the caller's is not modified.
func quantityText(q resource.Quantity) string { return q.String() }

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

func hashMetadataOptions(o MetadataOptions) uint64 {
	h := structhash.Of("MetadataOptions")
	structhash.Pointer(&h, "HTTPEndpoint", o.HTTPEndpoint, structhash.Text)
	structhash.Pointer(&h, "HTTPProtocolIPv6", o.HTTPProtocolIPv6, structhash.Text)
	structhash.Pointer(&h, "HTTPPutResponseHopLimit", o.HTTPPutResponseHopLimit, structhash.Int64)
	structhash.Pointer(&h, "HTTPTokens", o.HTTPTokens, structhash.Text)
	return h.Sum()
}

// hashEnclaveOptions leaves false out: the field is not a pointer in Karpenter.
func hashEnclaveOptions(o EnclaveOptions) uint64 {
	h := structhash.Of("EnclaveOptions")
	if o.Enabled != nil && *o.Enabled {
		h.Field("Enabled", structhash.Bool(true))
	}
	return h.Sum()
}

func hashConnectionTracking(t ConnectionTracking) uint64 {
	h := structhash.Of("ConnectionTracking")
	structhash.Pointer(&h, "TCPEstablishedTimeout", t.TCPEstablishedTimeout, structhash.Int32)
	structhash.Pointer(&h, "UDPStreamTimeout", t.UDPStreamTimeout, structhash.Int32)
	structhash.Pointer(&h, "UDPTimeout", t.UDPTimeout, structhash.Int32)
	return h.Sum()
}

func hashCPUOptions(o CPUOptions) uint64 {
	h := structhash.Of("CPUOptions")
	structhash.Pointer(&h, "NestedVirtualization", o.NestedVirtualization, structhash.Text)
	return h.Sum()
}
