package launchtemplate

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	karpv1 "github.com/dovetail-sdk/dovetail/api/v1"
	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/aws/bootstrap"
	"github.com/dovetail-sdk/dovetail/aws/internal/api"
)

// Reservation is a capacity reservation to launch into.
type Reservation struct {
	ID string
	// Block says that it is a capacity block, and Interruptible that its owner
	// may take instances back.
	Block, Interruptible bool
}

// Input has the content of a launch template. It is read-only.
type Input struct {
	// Region is the name of the region.
	Region string
	// Class is the node class. Of its status, securityGroups and instanceProfile
	// are used.
	Class *awsv1.EC2NodeClass
	// ImageID is the image.
	ImageID string
	// UserData is the user data in base64. May be empty.
	UserData string
	// CapacityType is how instances are bought.
	CapacityType string
	// Reservation is nil unless CapacityType is reserved.
	Reservation *Reservation
	// OpenReservations lets instances that are not reserved use open reservations. Otherwise they
	// use none.
	OpenReservations bool
	// EFAs is how many elastic fabric adapters the instance is given because pods
	// asked for them. Zero is none. It is not used if the class lists network
	// interfaces.
	EFAs int64
	// FirstEFACard is the network card of the first of them; the others follow it. Card 0
	// has a plain interface if it is above zero.
	FirstEFACard int32
	// Tenancy is default or dedicated.
	Tenancy string
	// GroupID is the placement group. Empty is none.
	GroupID string
	// Partition is the partition in it. Zero leaves it to EC2.
	Partition int32
	// IPv6 says that pods have IPv6 addresses.
	IPv6 bool
	// Tags are for the template, network interfaces and the spot request.
	Tags map[string]string
}

// Template is a launch template.
type Template struct {
	// Name is its name, which contains a hash of its content.
	Name string
	// Data is its content.
	Data *ec2types.RequestLaunchTemplateData
	// Tags are its tags.
	Tags map[string]string
}

// Build writes a launch template.
func Build(in Input) (Template, error) {
	devices, err := blockDevices(in.Class)
	if err != nil {
		return Template{}, err
	}
	spec := &in.Class.Spec
	data := &ec2types.RequestLaunchTemplateData{
		BlockDeviceMappings: devices,
		ImageId:             &in.ImageID,
		MetadataOptions:     metadataOptions(spec.MetadataOptions, in.Region),
		Monitoring:          &ec2types.LaunchTemplatesMonitoringRequest{Enabled: new(awssdk.ToBool(spec.DetailedMonitoring))},
		NetworkInterfaces:   in.interfaces(),
		TagSpecifications: []ec2types.LaunchTemplateTagSpecificationRequest{
			{ResourceType: ec2types.ResourceTypeNetworkInterface, Tags: api.Tags(in.Tags)},
		},
	}
	if name := in.Class.Status.InstanceProfile; name != "" {
		data.IamInstanceProfile = &ec2types.LaunchTemplateIamInstanceProfileSpecificationRequest{Name: &name}
	}
	if in.UserData != "" {
		data.UserData = &in.UserData
	}
	if in.CapacityType == karpv1.CapacityTypeSpot {
		data.TagSpecifications = append(data.TagSpecifications, ec2types.LaunchTemplateTagSpecificationRequest{
			ResourceType: ec2types.ResourceTypeSpotInstancesRequest, Tags: api.Tags(in.Tags),
		})
	}
	in.placement(data)
	in.market(data)
	if o := spec.EnclaveOptions; o != nil && awssdk.ToBool(o.Enabled) {
		data.EnclaveOptions = &ec2types.LaunchTemplateEnclaveOptionsRequest{Enabled: new(true)}
	}
	if spec.CPUOptions != nil && spec.CPUOptions.NestedVirtualization != nil {
		data.CpuOptions = &ec2types.LaunchTemplateCpuOptionsRequest{
			NestedVirtualization: ec2types.NestedVirtualizationSpecification(*spec.CPUOptions.NestedVirtualization),
		}
	}
	// Karpenter's templates have names of the same form, and 64 bits as well.
	text, err := json.Marshal(struct {
		Data *ec2types.RequestLaunchTemplateData
		Tags map[string]string
	}{data, in.Tags})
	if err != nil {
		return Template{}, fmt.Errorf("launch template: %w", err)
	}
	return Template{Name: nameOf(text), Data: data, Tags: in.Tags}, nil
}

// nameOf hashes what is in a template.
func nameOf(text []byte) string {
	sum := sha256.Sum256(text)
	return awsv1.LaunchTemplateNamePrefix + "/" + strconv.FormatUint(binary.BigEndian.Uint64(sum[:8]), 10)
}

// CreateInput returns the call that makes the template.
func (t Template) CreateInput() *ec2.CreateLaunchTemplateInput {
	return &ec2.CreateLaunchTemplateInput{
		LaunchTemplateName: &t.Name,
		LaunchTemplateData: t.Data,
		TagSpecifications:  []ec2types.TagSpecification{{ResourceType: ec2types.ResourceTypeLaunchTemplate, Tags: api.Tags(t.Tags)}},
	}
}

// placement sets tenancy, placement group and partition.
func (in *Input) placement(data *ec2types.RequestLaunchTemplateData) {
	if in.Tenancy == "" && in.GroupID == "" {
		return
	}
	p := &ec2types.LaunchTemplatePlacementRequest{Tenancy: ec2types.Tenancy(in.Tenancy)}
	if in.GroupID != "" {
		p.GroupId = &in.GroupID
	}
	if in.Partition > 0 {
		p.PartitionNumber = &in.Partition
	}
	data.Placement = p
}

// market sets the reservation and the market options that the fleet request does not have.
func (in *Input) market(data *ec2types.RequestLaunchTemplateData) {
	r := in.Reservation
	if r == nil {
		if !in.OpenReservations {
			data.CapacityReservationSpecification = &ec2types.LaunchTemplateCapacityReservationSpecificationRequest{
				CapacityReservationPreference: ec2types.CapacityReservationPreferenceNone,
			}
		}
		return
	}
	data.CapacityReservationSpecification = &ec2types.LaunchTemplateCapacityReservationSpecificationRequest{
		CapacityReservationPreference: ec2types.CapacityReservationPreferenceCapacityReservationsOnly,
		CapacityReservationTarget:     &ec2types.CapacityReservationTarget{CapacityReservationId: &r.ID},
	}
	switch {
	case r.Block:
		data.InstanceMarketOptions = &ec2types.LaunchTemplateInstanceMarketOptionsRequest{MarketType: ec2types.MarketTypeCapacityBlock}
	case r.Interruptible:
		data.InstanceMarketOptions = &ec2types.LaunchTemplateInstanceMarketOptionsRequest{MarketType: ec2types.MarketTypeInterruptibleCapacityReservation}
	}
}

// noMetadataIPv6 are regions in which EC2 does not take the option for IPv6.
var noMetadataIPv6 = []string{
	"us-iso-east-1", "us-iso-west-1", "us-isob-east-1", "us-isob-west-1", "us-isof-east-1", "us-isof-south-1",
}

func metadataOptions(o *awsv1.MetadataOptions, region string) *ec2types.LaunchTemplateInstanceMetadataOptionsRequest {
	set := &awsv1.MetadataOptions{}
	if o != nil {
		set = o.DeepCopy()
	}
	set.Default()
	out := &ec2types.LaunchTemplateInstanceMetadataOptionsRequest{
		HttpEndpoint:            ec2types.LaunchTemplateInstanceMetadataEndpointState(*set.HTTPEndpoint),
		HttpProtocolIpv6:        ec2types.LaunchTemplateInstanceMetadataProtocolIpv6(*set.HTTPProtocolIPv6),
		HttpPutResponseHopLimit: new(int32(min(*set.HTTPPutResponseHopLimit, math.MaxInt32))),
		HttpTokens:              ec2types.LaunchTemplateHttpTokensState(*set.HTTPTokens),
		// Pods must not read the tags.
		InstanceMetadataTags: ec2types.LaunchTemplateInstanceMetadataTagsStateDisabled,
	}
	if slices.Contains(noMetadataIPv6, region) {
		out.HttpProtocolIpv6 = ""
	}
	return out
}

// blockDevices returns the volumes of the class, or those of its family.
func blockDevices(class *awsv1.EC2NodeClass) ([]ec2types.LaunchTemplateBlockDeviceMappingRequest, error) {
	var out []ec2types.LaunchTemplateBlockDeviceMappingRequest
	if len(class.Spec.BlockDeviceMappings) == 0 {
		for _, d := range bootstrap.FeaturesOf(class.ResolvedAMIFamily()).Devices {
			out = append(out, ec2types.LaunchTemplateBlockDeviceMappingRequest{
				DeviceName: new(d.Name),
				Ebs: &ec2types.LaunchTemplateEbsBlockDeviceRequest{
					Encrypted: new(true), VolumeSize: new(int32(d.GiB)), VolumeType: ec2types.VolumeTypeGp3,
				},
			})
		}
		return out, nil
	}
	var faults []error
	for i := range class.Spec.BlockDeviceMappings {
		m := &class.Spec.BlockDeviceMappings[i]
		fault := func(format string, args ...any) {
			faults = append(faults, fmt.Errorf("EC2NodeClass %s: spec.blockDeviceMappings[%d]."+format, append([]any{class.Name, i}, args...)...))
		}
		if m.DeviceName == nil || *m.DeviceName == "" {
			fault("deviceName: missing; name the device, such as /dev/xvda")
		}
		if m.EBS == nil {
			fault("ebs: missing; describe the volume")
			continue
		}
		volume, why := volume(m.EBS)
		if why != "" {
			fault("%s", why)
		}
		out = append(out, ec2types.LaunchTemplateBlockDeviceMappingRequest{DeviceName: m.DeviceName, Ebs: volume})
	}
	return out, errors.Join(faults...)
}

// volume returns a volume and, if its size is out of range, the fault.
func volume(d *awsv1.BlockDevice) (*ec2types.LaunchTemplateEbsBlockDeviceRequest, string) {
	out := &ec2types.LaunchTemplateEbsBlockDeviceRequest{
		DeleteOnTermination:      d.DeleteOnTermination,
		Encrypted:                d.Encrypted,
		Iops:                     nilIfZero(d.IOPS),
		KmsKeyId:                 d.KMSKeyID,
		SnapshotId:               d.SnapshotID,
		Throughput:               nilIfZero(d.Throughput),
		VolumeInitializationRate: d.VolumeInitializationRate,
		VolumeType:               ec2types.VolumeType(awssdk.ToString(d.VolumeType)),
	}
	if d.VolumeSize == nil {
		return out, ""
	}
	const gib = 1 << 30
	bytes := d.VolumeSize.Value()
	if bytes <= 0 || bytes > 64_000*gib {
		return out, fmt.Sprintf("ebs.volumeSize: %s; use 1Gi to 64000Gi", d.VolumeSize)
	}
	out.VolumeSize = new(int32((bytes + gib - 1) / gib))
	return out, ""
}

// nilIfZero leaves a zero to EC2's default.
func nilIfZero(n *int64) *int32 {
	if n == nil || *n <= 0 {
		return nil
	}
	return new(int32(min(*n, math.MaxInt32)))
}

type nic = ec2types.LaunchTemplateInstanceNetworkInterfaceSpecificationRequest

// interfaces returns the network interfaces that the class lists. If the class lists none, it
// returns one adapter on each network card that takes adapters if pods ask for them, and one
// plain interface otherwise.
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
				NetworkCardIndex: new(i.NetworkCardIndex), DeviceIndex: new(i.DeviceIndex),
				InterfaceType: new(string(i.InterfaceType)), Groups: groups,
			})
			if i.InterfaceType != awsv1.InterfaceTypeEFAOnly {
				in.addresses(&out[len(out)-1])
			}
		}
	case in.EFAs > 0:
		if in.FirstEFACard > 0 {
			i := nic{NetworkCardIndex: new(int32(0)), DeviceIndex: new(int32(0)), InterfaceType: new("interface"), Groups: groups}
			in.addresses(&i)
			out = append(out, i)
		}
		for n := range int32(in.EFAs) {
			card := in.FirstEFACard + n
			i := nic{NetworkCardIndex: new(card), DeviceIndex: new(min(card, 1)), InterfaceType: new("efa"), Groups: groups}
			in.addresses(&i)
			out = append(out, i)
		}
	default:
		i := nic{DeviceIndex: new(int32(0)), Groups: groups}
		in.addresses(&i)
		out = append(out, i)
	}
	return out
}

// addresses sets the IP addresses of an interface.
func (in *Input) addresses(i *nic) {
	spec := &in.Class.Spec
	i.AssociatePublicIpAddress = spec.AssociatePublicIPAddress
	if in.IPv6 {
		i.PrimaryIpv6, i.Ipv6AddressCount = new(true), new(int32(1))
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
