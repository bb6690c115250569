package v1

// InterfaceType is the type of a network interface.
type InterfaceType string

// The types of network interfaces that a class can list. The type efa, which
// carries both kinds of traffic, is only used for pods that request EFA.
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
	NetworkCardIndex int32 `json:"networkCardIndex"`
	// DeviceIndex is the place on the card, zero or more. Required.
	DeviceIndex int32 `json:"deviceIndex"`
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

// MetadataOptions govern the instance metadata service, from which whoever is on
// the node can read the credentials of its role.
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

// ConnectionTracking is how many seconds idle connections are kept track of by
// the security groups of a node's interfaces. At least one field is set; the
// others are left to EC2.
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
	// Enabled is required. If it is true, only the instance types that support
	// enclaves are used. False is no enclaves, but has another hash than options
	// that are left out.
	Enabled *bool `json:"enabled,omitempty"`
}

// CPUOptions configure the processors of a node.
type CPUOptions struct {
	// NestedVirtualization is enabled, which keeps only the instance types that
	// can, or disabled. Nil leaves it to EC2.
	NestedVirtualization *string `json:"nestedVirtualization,omitempty"`
}
