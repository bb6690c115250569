package v1

import (
	"encoding/json"
	"maps"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/dovetail-sdk/dovetail/amiselect"
	"github.com/dovetail-sdk/dovetail/internal/structhash"
)

// EC2NodeClass says how nodes on Amazon EC2 are made. It is cluster scoped,
// karpenter.k8s.aws/v1.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type EC2NodeClass struct {
	metav1.TypeMeta `json:",inline"`
	// ObjectMeta is the usual Kubernetes metadata.
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is what the user asks for. Required.
	Spec EC2NodeClassSpec `json:"spec,omitempty,omitzero"`
	// Status is what a controller has resolved the spec to.
	Status EC2NodeClassStatus `json:"status,omitempty,omitzero"`
}

// EC2NodeClassSpec is the user's part of an EC2NodeClass. A change of any field drifts the nodes
// unless its comment says otherwise; if a selector resolves to other objects, nodes that use the
// old ones drift.
type EC2NodeClassSpec struct {
	// SubnetSelectorTerms select the subnets nodes are launched into, and so
	// their zones. Terms are ORed. Required, 1 to 30. Not hashed.
	SubnetSelectorTerms []SubnetSelectorTerm `json:"subnetSelectorTerms"`
	// SecurityGroupSelectorTerms select the security groups of the network
	// interfaces. Terms are ORed. Required, 1 to 30. Not hashed.
	SecurityGroupSelectorTerms []SecurityGroupSelectorTerm `json:"securityGroupSelectorTerms"`
	// CapacityReservationSelectorTerms select the capacity reservations that
	// nodes may be launched into. Terms are ORed; none selects none. At most
	// 30. Not hashed.
	CapacityReservationSelectorTerms []CapacityReservationSelectorTerm `json:"capacityReservationSelectorTerms,omitzero"`
	// PlacementGroupSelector names the placement group nodes are launched into.
	// Nil is none.
	PlacementGroupSelector *PlacementGroupSelector `json:"placementGroupSelector,omitempty"`
	// AssociatePublicIPAddress gives nodes a public IPv4 address or denies them
	// one. Nil leaves it to the subnet.
	AssociatePublicIPAddress *bool `json:"associatePublicIPAddress,omitempty"`
	// IPPrefixCount is the number of address prefixes, IPv6 ones in an IPv6 cluster, given to a
	// network interface at launch. Zero or more. It does not change the assumed number of pods of a
	// node. Not hashed.
	IPPrefixCount *int32 `json:"ipPrefixCount,omitempty"`
	// AMISelectorTerms select the images nodes boot. Terms are ORed. Required, 1
	// to 30. Not hashed.
	AMISelectorTerms []AMISelectorTerm `json:"amiSelectorTerms"`
	// AMIFamily says what the images are, which decides the form of the user data and the default
	// volumes. Nil means the family of the alias; without an alias the field is required. With an
	// alias it must be the alias's family or Custom. It is hashed as ResolvedAMIFamily.
	AMIFamily *amiselect.Family `json:"amiFamily,omitempty"`
	// UserData is the user's part of the user data, in the form of the family; the rest is merged
	// in. For the family Custom there is no other user data.
	UserData *string `json:"userData,omitempty"`
	// Role is the name of the IAM role of nodes, for which an instance profile
	// is made. Exactly one of Role and InstanceProfile.
	Role string `json:"role,omitempty"`
	// InstanceProfile is the name of an instance profile that exists, with a
	// role in it that may be passed to EC2.
	InstanceProfile *string `json:"instanceProfile,omitempty"`
	// Tags are put on everything that is created in EC2 for a node. See
	// IsRestrictedTag for keys that cannot be set.
	Tags map[string]string `json:"tags,omitzero"`
	// Kubelet configures the kubelet of nodes. Nil leaves it to the image.
	Kubelet *KubeletConfiguration `json:"kubelet,omitempty"`
	// BlockDeviceMappings are the volumes of a node, in place of those that the
	// family has by default. At most 50.
	BlockDeviceMappings []BlockDeviceMapping `json:"blockDeviceMappings,omitzero"`
	// InstanceStorePolicy says what to do with the disks that come with an
	// instance type. Nil ignores them.
	InstanceStorePolicy *InstanceStorePolicy `json:"instanceStorePolicy,omitempty"`
	// NetworkInterfaces lists the network interfaces of a node. If there are any, one is the
	// primary: card 0, device 0, type interface. At most 150. Nil or empty means one interface, or
	// the adapters for pods that request EFA.
	NetworkInterfaces []NetworkInterface `json:"networkInterfaces,omitzero"`
	// DetailedMonitoring sends metrics of a node every minute instead of every
	// five. Nil is false.
	DetailedMonitoring *bool `json:"detailedMonitoring,omitempty"`
	// MetadataOptions govern the metadata service of a node. Nil takes the
	// defaults of its fields.
	MetadataOptions *MetadataOptions `json:"metadataOptions,omitempty"`
	// EnclaveOptions let a node host Nitro Enclaves. Nil is no enclaves.
	EnclaveOptions *EnclaveOptions `json:"enclaveOptions,omitempty"`
	// ConnectionTracking sets how long idle connections are kept track of. If it
	// is set, only instance types of the Nitro system are used, which leaves out
	// bare metal.
	ConnectionTracking *ConnectionTracking `json:"connectionTracking,omitempty"`
	// Context is an opaque value that is handed to EC2's CreateFleet.
	Context *string `json:"context,omitempty"`
	// CPUOptions configure the processors of a node.
	CPUOptions *CPUOptions `json:"cpuOptions,omitempty"`
}

// EC2NodeClassList is a list of EC2NodeClasses, as the API server returns it.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type EC2NodeClassList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	// Items are the classes, in the server's order.
	Items []EC2NodeClass `json:"items"`
}

// AMITerms returns the image selector terms as package amiselect takes them.
// They share no memory with the receiver. It is nil for a nil class.
func (c *EC2NodeClass) AMITerms() []amiselect.Term {
	if c == nil {
		return nil
	}
	return amiTerms(c.Spec.AMISelectorTerms)
}

// ResolvedAMIFamily returns the family of the nodes' images: AMIFamily if it is set, else the
// family of the first alias among the terms, else Custom. An alias with an invalid version still
// has a family. Validate checks the result.
func (c *EC2NodeClass) ResolvedAMIFamily() amiselect.Family {
	if c == nil {
		return amiselect.FamilyCustom
	}
	if c.Spec.AMIFamily != nil {
		return *c.Spec.AMIFamily
	}
	for i := range c.Spec.AMISelectorTerms {
		if alias := c.Spec.AMISelectorTerms[i].Alias; alias != "" {
			return aliasFamily(alias)
		}
	}
	return amiselect.FamilyCustom
}

// SubnetSelectorTerm selects subnets, by exactly one of its fields.
type SubnetSelectorTerm struct {
	// Tags select the subnets that have all of these tags, 1 to 20. The value "*" matches any value
	// of the tag; in other values "*" and "?" are wildcards of EC2.
	Tags map[string]string `json:"tags,omitzero"`
	// ID selects the subnet with this id, such as subnet-0123456789abcdef0.
	ID string `json:"id,omitempty" filled:"true"`
}

// SecurityGroupSelectorTerm selects security groups, by exactly one of its
// fields.
type SecurityGroupSelectorTerm struct {
	// Tags select the groups that have all of these tags, as for subnets.
	Tags map[string]string `json:"tags,omitzero"`
	// ID selects the group with this id, such as sg-0123456789abcdef0.
	ID string `json:"id,omitempty"`
	// Name selects groups by the name of the group, not by the tag Name. "*" and
	// "?" are wildcards. Groups of that name in other VPCs match too.
	Name string `json:"name,omitempty"`
}

// CapacityReservationSelectorTerm selects capacity reservations: by ID alone, or
// by the other fields, which are ANDed. OwnerID alone is not enough.
type CapacityReservationSelectorTerm struct {
	// Tags select the reservations that have all of these tags, as for subnets.
	Tags map[string]string `json:"tags,omitzero"`
	// ID selects the reservation with this id, such as cr-0123456789abcdef0.
	ID string `json:"id,omitempty" filled:"true"`
	// OwnerID restricts Tags and InstanceMatchCriteria to reservations of this account, twelve
	// digits.
	OwnerID string `json:"ownerID,omitempty" filled:"true"`
	// InstanceMatchCriteria selects reservations that any matching instance uses
	// (open) or only those that name them (targeted).
	InstanceMatchCriteria string `json:"instanceMatchCriteria,omitempty" filled:"true"`
}

// The values of InstanceMatchCriteria.
const (
	// InstanceMatchCriteriaOpen is a reservation that matching instances use by
	// themselves.
	InstanceMatchCriteriaOpen = "open"
	// InstanceMatchCriteriaTargeted is a reservation that a launch must name.
	InstanceMatchCriteriaTargeted = "targeted"
)

// PlacementGroupSelector names a placement group, by exactly one of its fields.
type PlacementGroupSelector struct {
	// Name is the name of the group.
	Name *string `json:"name,omitempty"`
	// ID is the id of the group, such as pg-0123456789abcdef0.
	ID *string `json:"id,omitempty"`
}

// AMISelectorTerm selects images. It has the fields of amiselect.Term, where
// they are described at length; Term converts.
type AMISelectorTerm struct {
	// Alias selects the images that AWS publishes for a family, as al2023@latest. It excludes all
	// other terms and fields.
	Alias string `json:"alias,omitempty"`
	// Tags select the images that have all of these tags, 1 to 20.
	Tags map[string]string `json:"tags,omitzero"`
	// ID selects the image with this id. It excludes the other fields of its term.
	ID string `json:"id,omitempty"`
	// Name selects images by name, with "*" and "?" as wildcards.
	Name string `json:"name,omitempty"`
	// Owner restricts Name and Tags to the images of one owner: an account, self,
	// amazon or aws-marketplace.
	Owner string `json:"owner,omitempty"`
	// SSMParameter selects the image whose id is in this parameter, given by name or ARN. It
	// excludes the other fields of its term.
	SSMParameter string `json:"ssmParameter,omitempty"`
}

// Term returns the term as package amiselect takes it. It shares no memory with
// the receiver.
func (t *AMISelectorTerm) Term() amiselect.Term {
	term := amiselect.Term(*t)
	term.Tags = maps.Clone(t.Tags)
	return term
}

func amiTerms(terms []AMISelectorTerm) []amiselect.Term {
	if terms == nil {
		return nil
	}
	out := make([]amiselect.Term, len(terms))
	for i := range terms {
		out[i] = terms[i].Term()
	}
	return out
}

// aliasFamily reads the family of an alias and ignores the version. An unknown family becomes Custom,
// which has no published images, so that validation refuses the alias.
func aliasFamily(alias string) amiselect.Family {
	name, _, _ := strings.Cut(alias, "@")
	for _, f := range amiselect.Families() {
		if n := f.AliasName(); n != "" && n == name {
			return f
		}
	}
	return amiselect.FamilyCustom
}

// InterfaceType is the type of a network interface.
type InterfaceType string

// The types of network interfaces that a class can list. The type efa, which carries both kinds of
// traffic, is used only for pods that request EFA.
const (
	// InterfaceTypeInterface is an elastic network adapter, for IP traffic.
	InterfaceTypeInterface InterfaceType = "interface"
	// InterfaceTypeEFAOnly is an elastic fabric adapter without IP traffic.
	InterfaceTypeEFAOnly InterfaceType = "efa-only"
)

// NetworkInterface is a network interface of a node. Card and device together
// are unique, and a card has at most one interface of type efa-only.
type NetworkInterface struct {
	// NetworkCardIndex is the network card, zero or more. Required.
	NetworkCardIndex int32 `json:"networkCardIndex" required:"true" plain:"true"`
	// DeviceIndex is the place on the card, zero or more. Required.
	DeviceIndex int32 `json:"deviceIndex" required:"true" plain:"true"`
	// InterfaceType is interface or efa-only. Required.
	InterfaceType InterfaceType `json:"interfaceType"`
}

// The values of fields that turn something on or off.
const (
	// Enabled turns it on.
	Enabled = "enabled"
	// Disabled turns it off.
	Disabled = "disabled"
)

// The values of MetadataOptions.HTTPTokens.
const (
	// HTTPTokensRequired asks for a session token in each request (IMDSv2).
	HTTPTokensRequired = "required"
	// HTTPTokensOptional answers requests without token too (IMDSv1).
	HTTPTokensOptional = "optional"
)

// MetadataOptions govern the instance metadata service, from which programs on the node can read
// the credentials of its role.
type MetadataOptions struct {
	// HTTPEndpoint is enabled, the default, or disabled.
	HTTPEndpoint *string `json:"httpEndpoint,omitempty"`
	// HTTPProtocolIPv6 is enabled or disabled, the default.
	HTTPProtocolIPv6 *string `json:"httpProtocolIPv6,omitempty"`
	// HTTPPutResponseHopLimit is how many network hops a token may travel, 1 to
	// 64. The default, 1, keeps it from pods that have a network of their own.
	HTTPPutResponseHopLimit *int64 `json:"httpPutResponseHopLimit,omitempty"`
	// HTTPTokens is required, the default, or optional.
	HTTPTokens *string `json:"httpTokens,omitempty"`
}

// ConnectionTracking sets for how many seconds the security groups of a node's interfaces track
// idle connections. At least one field is set; the others are left to EC2.
type ConnectionTracking struct {
	// TCPEstablishedTimeout is for established TCP connections, 60 to 432000.
	TCPEstablishedTimeout *int32 `json:"tcpEstablishedTimeout,omitempty"`
	// UDPStreamTimeout is for UDP flows with more than one request and answer,
	// 60 to 180.
	UDPStreamTimeout *int32 `json:"udpStreamTimeout,omitempty"`
	// UDPTimeout is for other UDP flows, 30 to 60.
	UDPTimeout *int32 `json:"udpTimeout,omitempty"`
}

// EnclaveOptions let a node host Nitro Enclaves.
type EnclaveOptions struct {
	// Enabled is required. If it is true, only the instance types that support enclaves are used.
	// False means no enclaves, but hashes differently from omitted options.
	Enabled *bool `json:"enabled,omitempty"`
}

// CPUOptions configure the processors of a node.
type CPUOptions struct {
	// NestedVirtualization is enabled, which keeps only the instance types that support it, or
	// disabled. Nil leaves it to EC2.
	NestedVirtualization *string `json:"nestedVirtualization,omitempty"`
}

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
	// VolumeSize is a whole number of Gi or G, from 1G to 64T. EC2 is asked for whole GiB, rounded
	// up. The hash uses the canonical form of the quantity, so that 1024Gi and 1Ti are the same.
	// The API server accepts only these forms: 1Gi to 59000Gi, 1G to 64000G, 1T to 64T, and 1Ti to
	// 58Ti without 18, 19, 28 and so on. Decoding refuses all others.
	VolumeSize *resource.Quantity `json:"volumeSize,omitempty"`
	// VolumeType is one of gp2, gp3, io1, io2, sc1, st1 and standard. Nil leaves
	// it to EC2.
	VolumeType *string `json:"volumeType,omitempty"`
}

// MarshalJSON writes a VolumeSize in a form that the API server accepts if it refuses the canonical
// form: 18432Gi is not written as 18Ti.
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

// InstanceProfileName returns the name of the instance profile to make for the role of a class.
// nonce is a new text, such as a random UUID: a change of role makes a new profile, because running
// nodes keep the old one.
func InstanceProfileName(cluster, region, nodeClass, nonce string) string {
	return profileName(cluster, region+nodeClass+nonce)
}

// LegacyInstanceProfileName returns the name that Karpenter before 1.7 gave the instance profile of
// a class. Such profiles are no longer made, and are deleted with their class.
func LegacyInstanceProfileName(cluster, region, nodeClass string) string {
	return profileName(cluster, region+nodeClass)
}

func profileName(cluster, text string) string {
	return cluster + "_" + strconv.FormatUint(structhash.Text(text), 10)
}

// InstanceProfilePath returns the IAM path of the instance profiles made for a
// class, by the UID of the class. With an empty UID it is the path of all of the
// cluster in the region.
func InstanceProfilePath(cluster, region, uid string) string {
	path := "/karpenter/" + region + "/" + cluster + "/"
	if uid != "" {
		path += uid + "/"
	}
	return path
}

// InstanceProfileTags returns the tags of an instance profile made for the class: those of its
// spec, and the tags that assign it to the class, the cluster and the region, which take
// precedence. The caller owns the map.
func (c *EC2NodeClass) InstanceProfileTags(cluster, region string) map[string]string {
	tags := map[string]string{}
	name := ""
	if c != nil {
		maps.Copy(tags, c.Spec.Tags)
		name = c.Name
	}
	tags[ClusterTagKey(cluster)] = ClusterTagValue
	tags[ClusterNameTagKey] = cluster
	tags[NodeClassTagKey] = name
	tags[corev1.LabelTopologyRegion] = region
	return tags
}
