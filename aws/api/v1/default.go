package v1

// The defaults of the fields of MetadataOptions.
const (
	// DefaultHTTPEndpoint leaves the metadata service on.
	DefaultHTTPEndpoint = Enabled
	// DefaultHTTPProtocolIPv6 leaves its IPv6 address off.
	DefaultHTTPProtocolIPv6 = Disabled
	// DefaultHTTPPutResponseHopLimit lets tokens reach only the node itself.
	DefaultHTTPPutResponseHopLimit int64 = 1
	// DefaultHTTPTokens asks for session tokens.
	DefaultHTTPTokens = HTTPTokensRequired
)

// Default sets the fields that were left out, as the API server does on
// admission, and touches nothing else:
//
//	spec.metadataOptions.httpEndpoint              enabled
//	spec.metadataOptions.httpProtocolIPv6          disabled
//	spec.metadataOptions.httpPutResponseHopLimit   1
//	spec.metadataOptions.httpTokens                required
//	status.capacityReservations[].reservationType  default
//	status.capacityReservations[].state            active
//
// Defaults that depend on the image's family, such as volumes, are not set.
// Default works in place, is idempotent, and does nothing to a nil class.
func (c *EC2NodeClass) Default() {
	if c == nil {
		return
	}
	if c.Spec.MetadataOptions == nil {
		c.Spec.MetadataOptions = &MetadataOptions{}
	}
	c.Spec.MetadataOptions.Default()
	for i := range c.Status.CapacityReservations {
		r := &c.Status.CapacityReservations[i]
		if r.ReservationType == "" {
			r.ReservationType = CapacityReservationTypeDefault
		}
		if r.State == "" {
			r.State = CapacityReservationStateActive
		}
	}
}

// Default sets the fields that were left out, as described at
// EC2NodeClass.Default. It does nothing to nil options.
func (o *MetadataOptions) Default() {
	if o == nil {
		return
	}
	o.HTTPEndpoint = orDefault(o.HTTPEndpoint, DefaultHTTPEndpoint)
	o.HTTPProtocolIPv6 = orDefault(o.HTTPProtocolIPv6, DefaultHTTPProtocolIPv6)
	o.HTTPPutResponseHopLimit = orDefault(o.HTTPPutResponseHopLimit, DefaultHTTPPutResponseHopLimit)
	o.HTTPTokens = orDefault(o.HTTPTokens, DefaultHTTPTokens)
}

func orDefault[T any](p *T, value T) *T {
	if p == nil {
		return &value
	}
	return p
}
