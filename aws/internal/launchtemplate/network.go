package launchtemplate

import (
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
)

type nic = ec2types.LaunchTemplateInstanceNetworkInterfaceSpecificationRequest

// interfaces are the network interfaces: those that the class lists, else an
// adapter for each that pods ask for, else one.
func (in *Input) interfaces() []nic {
	groups := make([]string, 0, len(in.Class.Status.SecurityGroups))
	for _, g := range in.Class.Status.SecurityGroups {
		groups = append(groups, g.ID)
	}
	var out []nic
	switch listed := in.Class.Spec.NetworkInterfaces; {
	case len(listed) > 0:
		for _, i := range listed {
			out = append(out, nic{
				NetworkCardIndex: ptr(i.NetworkCardIndex), DeviceIndex: ptr(i.DeviceIndex),
				InterfaceType: ptr(string(i.InterfaceType)), Groups: groups,
			})
			if i.InterfaceType != awsv1.InterfaceTypeEFAOnly {
				in.addresses(&out[len(out)-1])
			}
		}
	case in.EFAs > 0:
		for card := range in.EFAs {
			i := nic{NetworkCardIndex: ptr(int32(card)), DeviceIndex: ptr(int32(min(card, 1))), InterfaceType: ptr("efa"), Groups: groups}
			in.addresses(&i)
			out = append(out, i)
		}
	default:
		i := nic{DeviceIndex: ptr(int32(0)), Groups: groups}
		in.addresses(&i)
		out = append(out, i)
	}
	return out
}

// addresses sets what goes with IP traffic.
func (in *Input) addresses(i *nic) {
	spec := &in.Class.Spec
	i.AssociatePublicIpAddress = spec.AssociatePublicIPAddress
	if in.IPv6 {
		i.PrimaryIpv6, i.Ipv6AddressCount = ptr(true), ptr(int32(1))
		i.Ipv6PrefixCount = spec.IPPrefixCount
	} else {
		i.Ipv4PrefixCount = spec.IPPrefixCount
	}
	if t := spec.ConnectionTracking; t != nil {
		i.ConnectionTrackingSpecification = &ec2types.ConnectionTrackingSpecificationRequest{
			TcpEstablishedTimeout: t.TCPEstablishedTimeout, UdpStreamTimeout: t.UDPStreamTimeout, UdpTimeout: t.UDPTimeout,
		}
	}
}
