package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/dovetail-sdk/dovetail/amiselect"
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

// EC2NodeClassSpec is the user's part of an EC2NodeClass. A change of any field
// drifts the nodes unless its comment says otherwise; changes of what selectors
// resolve to are judged by what a node has.
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
	// IPPrefixCount is the number of address prefixes, IPv6 ones in an IPv6
	// cluster, given to a network interface at launch. Zero or more. It does
	// not change how many pods a node is taken to hold. Not hashed.
	IPPrefixCount *int32 `json:"ipPrefixCount,omitempty"`
	// AMISelectorTerms select the images nodes boot. Terms are ORed. Required, 1
	// to 30. Not hashed.
	AMISelectorTerms []AMISelectorTerm `json:"amiSelectorTerms"`
	// AMIFamily says what the images are, which decides the form of the user
	// data and the default volumes. Nil takes the family of the alias; without
	// an alias it is required. With one it is the alias's family or Custom. It
	// is hashed as ResolvedAMIFamily.
	AMIFamily *amiselect.Family `json:"amiFamily,omitempty"`
	// UserData is the user's part of the user data, in the form of the family;
	// the rest is merged in. For the family Custom it is all of it.
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
	// NetworkInterfaces lists the network interfaces of a node. If there are
	// any, one is the primary: card 0, device 0, type interface. At most 150.
	// Nil or empty is one interface, or those that pods ask for by requesting
	// EFA.
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

// ResolvedAMIFamily returns what the nodes boot: AMIFamily if it is set, else
// the family of the first alias among the terms, else Custom. An alias whose
// version is not valid still has a family. Whether the answer makes sense is for
// Validate.
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
