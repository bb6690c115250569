package launchtemplate_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/resource"

	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/aws/internal/launchtemplate"
	"github.com/dovetail-sdk/dovetail/internal/golden"
)

func size(text string) *resource.Quantity { return new(resource.MustParse(text)) }

func TestBuildGolden(t *testing.T) {
	everything := class(func(c *awsv1.EC2NodeClass) {
		s := &c.Spec
		s.BlockDeviceMappings = []awsv1.BlockDeviceMapping{
			{DeviceName: new("/dev/xvda"), RootVolume: true, EBS: &awsv1.BlockDevice{
				VolumeSize: size("100G"), VolumeType: new("gp3"), IOPS: new(int64(3000)), Throughput: new(int64(125)), Encrypted: new(true),
				KMSKeyID: new("alias/x"), DeleteOnTermination: new(true), SnapshotID: new("snap-1"), VolumeInitializationRate: new(int32(200))}},
			{DeviceName: new("/dev/xvdb"), EBS: &awsv1.BlockDevice{VolumeSize: size("1Gi"), IOPS: new(int64(0)), Throughput: new(int64(0))}},
		}
		s.MetadataOptions = &awsv1.MetadataOptions{HTTPPutResponseHopLimit: new(int64(2))}
		s.DetailedMonitoring = new(true)
		s.AssociatePublicIPAddress = new(false)
		s.IPPrefixCount = new(int32(2))
		s.EnclaveOptions = &awsv1.EnclaveOptions{Enabled: new(true)}
		s.ConnectionTracking = &awsv1.ConnectionTracking{UDPTimeout: new(int32(30))}
		s.CPUOptions = &awsv1.CPUOptions{NestedVirtualization: new("enabled")}
		s.NetworkInterfaces = []awsv1.NetworkInterface{
			{InterfaceType: awsv1.InterfaceTypeInterface}, {NetworkCardIndex: 1, DeviceIndex: 1, InterfaceType: awsv1.InterfaceTypeEFAOnly}}
	})
	for name, in := range map[string]launchtemplate.Input{
		"plain":      input(),
		"spot":       input(func(in *launchtemplate.Input) { in.CapacityType = "spot" }),
		"everything": input(func(in *launchtemplate.Input) { in.Class = everything; in.Tenancy = "dedicated" }),
		"ipv6": input(func(in *launchtemplate.Input) {
			in.IPv6 = true
			in.Class = class(func(c *awsv1.EC2NodeClass) {
				c.Spec.IPPrefixCount = new(int32(1))
				c.Spec.EnclaveOptions = &awsv1.EnclaveOptions{Enabled: new(false)}
			})
		}),
		"efa":             input(func(in *launchtemplate.Input) { in.EFAs = 3 }),
		"efa-from-card-1": input(func(in *launchtemplate.Input) { in.EFAs, in.FirstEFACard = 2, 1 }),
		"partition":       input(func(in *launchtemplate.Input) { in.GroupID, in.Partition = "pg-1", 2 }),
		"reservation": input(func(in *launchtemplate.Input) {
			in.CapacityType, in.Reservation = "reserved", &launchtemplate.Reservation{ID: "cr-1"}
		}),
		"block": input(func(in *launchtemplate.Input) {
			in.CapacityType, in.Reservation = "reserved", &launchtemplate.Reservation{ID: "cr-1", Block: true}
		}),
		"interruptible": input(func(in *launchtemplate.Input) {
			in.CapacityType, in.Reservation = "reserved", &launchtemplate.Reservation{ID: "cr-1", Interruptible: true}
		}),
		"open": input(func(in *launchtemplate.Input) { in.OpenReservations = true }),
		"bottlerocket": input(func(in *launchtemplate.Input) {
			in.Class = class(func(c *awsv1.EC2NodeClass) { c.Spec.AMISelectorTerms[0].Alias = "bottlerocket@latest" })
		}),
		"iso": input(func(in *launchtemplate.Input) { in.Region = "us-iso-east-1" }),
	} {
		t.Run(name, func(t *testing.T) {
			before := in.Class.DeepCopy()
			got, err := launchtemplate.Build(in)
			require.NoError(t, err)
			require.Equal(t, before, in.Class, "the class is not modified")
			golden.JSON(t, name, got.CreateInput())
			again, err := launchtemplate.Build(in)
			require.NoError(t, err)
			require.Equal(t, got.Name, again.Name)
			require.True(t, strings.HasPrefix(got.Name, "karpenter.k8s.aws/"))
		})
	}
}

func TestNameTellsTemplatesApart(t *testing.T) {
	names := map[string]string{}
	for what, change := range map[string]func(*launchtemplate.Input){
		"nothing":   func(*launchtemplate.Input) {},
		"image":     func(in *launchtemplate.Input) { in.ImageID = "ami-2" },
		"user data": func(in *launchtemplate.Input) { in.UserData = "eA==" },
		"tenancy":   func(in *launchtemplate.Input) { in.Tenancy = "dedicated" },
		"tags":      func(in *launchtemplate.Input) { in.Tags = map[string]string{"a": "b"} },
		"profile":   func(in *launchtemplate.Input) { in.Class.Status.InstanceProfile = "demo_2" },
		"groups":    func(in *launchtemplate.Input) { in.Class.Status.SecurityGroups = in.Class.Status.SecurityGroups[:1] },
		"spot":      func(in *launchtemplate.Input) { in.CapacityType = "spot" },
	} {
		got, err := launchtemplate.Build(input(change))
		require.NoError(t, err)
		require.Empty(t, names[got.Name], what)
		names[got.Name] = what
	}
}

func TestVolumesThatCannotBe(t *testing.T) {
	_, err := launchtemplate.Build(input(func(in *launchtemplate.Input) {
		in.Class.Spec.BlockDeviceMappings = []awsv1.BlockDeviceMapping{
			{}, {DeviceName: new("/dev/xvda"), EBS: &awsv1.BlockDevice{VolumeSize: size("100Ti")}},
			{DeviceName: new("/dev/xvdb"), EBS: &awsv1.BlockDevice{VolumeSize: size("-1Gi")}},
		}
	}))
	require.EqualError(t, err, strings.Join([]string{
		"EC2NodeClass default: spec.blockDeviceMappings[0].deviceName: missing; name the device, such as /dev/xvda",
		"EC2NodeClass default: spec.blockDeviceMappings[0].ebs: missing; describe the volume",
		"EC2NodeClass default: spec.blockDeviceMappings[1].ebs.volumeSize: 100Ti; use 1Gi to 64000Gi",
		"EC2NodeClass default: spec.blockDeviceMappings[2].ebs.volumeSize: -1Gi; use 1Gi to 64000Gi",
	}, "\n"))
}
