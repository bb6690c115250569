package v1

import (
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

func (v *validator) interfaces(path *field.Path, list []NetworkInterface) {
	if len(list) > maxNetworkInterfaces {
		v.add(field.TooMany(path, len(list), maxNetworkInterfaces))
	}
	primary := NetworkInterface{InterfaceType: InterfaceTypeInterface}
	if len(list) > 0 && !slices.Contains(list, primary) {
		v.add(field.Required(path, "list the primary interface: networkCardIndex 0, deviceIndex 0, interfaceType interface"))
	}
	type place struct{ card, device int32 }
	places, adapters := map[place]*field.Path{}, map[int32]*field.Path{}
	for i := range list {
		n, at := &list[i], path.Index(i)
		atLeast(v, at.Child("networkCardIndex"), &n.NetworkCardIndex, 0)
		atLeast(v, at.Child("deviceIndex"), &n.DeviceIndex, 0)
		if n.InterfaceType == "" {
			v.add(field.Required(at.Child("interfaceType"), "use interface or efa-only"))
		} else {
			oneOf(v, at.Child("interfaceType"), &n.InterfaceType, InterfaceTypeEFAOnly, InterfaceTypeInterface)
		}
		p := place{n.NetworkCardIndex, n.DeviceIndex}
		if first, ok := places[p]; ok {
			v.add(field.Forbidden(at.Child("deviceIndex"), first.String()+" is at the same card and device; move or remove one"))
		} else {
			places[p] = at
		}
		if n.InterfaceType != InterfaceTypeEFAOnly {
			continue
		}
		if first, ok := adapters[n.NetworkCardIndex]; ok {
			v.add(field.Forbidden(at.Child("interfaceType"), first.String()+" is the efa-only interface of this card already; a card takes one"))
		} else {
			adapters[n.NetworkCardIndex] = at
		}
	}
}

func (v *validator) metadataOptions(path *field.Path, o *MetadataOptions) {
	if o == nil {
		return
	}
	oneOf(v, path.Child("httpEndpoint"), o.HTTPEndpoint, Disabled, Enabled)
	oneOf(v, path.Child("httpProtocolIPv6"), o.HTTPProtocolIPv6, Disabled, Enabled)
	within(v, path.Child("httpPutResponseHopLimit"), o.HTTPPutResponseHopLimit, 1, 64)
	oneOf(v, path.Child("httpTokens"), o.HTTPTokens, HTTPTokensOptional, HTTPTokensRequired)
}

func (v *validator) connectionTracking(path *field.Path, t *ConnectionTracking) {
	if t == nil {
		return
	}
	if t.TCPEstablishedTimeout == nil && t.UDPStreamTimeout == nil && t.UDPTimeout == nil {
		v.add(field.Required(path, "set tcpEstablishedTimeout, udpStreamTimeout or udpTimeout, or leave connectionTracking out"))
	}
	within(v, path.Child("tcpEstablishedTimeout"), t.TCPEstablishedTimeout, 60, 432000)
	within(v, path.Child("udpStreamTimeout"), t.UDPStreamTimeout, 60, 180)
	within(v, path.Child("udpTimeout"), t.UDPTimeout, 30, 60)
}
