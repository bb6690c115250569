package nodecost_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/dovetail-sdk/dovetail/amiselect"
	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/aws/nodecost"
)

// A class with a volume of 50 GiB and a public address, where each node has an agent.
func ExampleRates_Of() {
	class := &awsv1.EC2NodeClass{}
	class.Spec.AssociatePublicIPAddress = new(true)
	class.Spec.BlockDeviceMappings = []awsv1.BlockDeviceMapping{{DeviceName: new("/dev/xvda"),
		EBS: &awsv1.BlockDevice{VolumeSize: new(resource.MustParse("50Gi")), VolumeType: new("gp3")}}}
	rates := nodecost.BuiltIn()
	rates.PerNode = 0.02
	fmt.Println(rates.Of(class))
	// Output:
	// 0.0305 USD/h (volumes 0.0055, public address 0.0050, by the node 0.0200)
}

func ExampleBuiltIn() {
	fmt.Printf("%.2f USD for a GiB of gp3 a month\n", nodecost.BuiltIn().Volumes["gp3"].GiB)
	// Output:
	// 0.08 USD for a GiB of gp3 a month
}

func ExampleRates_Validate() {
	rates := nodecost.BuiltIn()
	rates.PerNode = -1
	fmt.Println(rates.Validate())
	// Output:
	// PerNode: -1; use an amount of USD, or 0
}

func TestVolumes(t *testing.T) {
	for name, tt := range map[string]struct {
		class func(*awsv1.EC2NodeClassSpec)
		month float64
	}{
		"a family's own volume": {func(s *awsv1.EC2NodeClassSpec) { s.AMIFamily = new(amiselect.FamilyAL2023) }, 20 * 0.08},
		"a family's own two":    {func(s *awsv1.EC2NodeClassSpec) { s.AMIFamily = new(amiselect.FamilyBottlerocket) }, (6 + 20) * 0.08},
		"images of one's own":   {func(s *awsv1.EC2NodeClassSpec) { s.AMIFamily = new(amiselect.FamilyCustom) }, 20 * 0.08},
		"a mapping of which nothing is said": {func(s *awsv1.EC2NodeClassSpec) {
			s.BlockDeviceMappings = []awsv1.BlockDeviceMapping{{}, {EBS: &awsv1.BlockDevice{}}}
		}, 2 * 20 * 0.08},
		"a size that is no whole number of GiB": {func(s *awsv1.EC2NodeClassSpec) {
			s.BlockDeviceMappings = []awsv1.BlockDeviceMapping{{EBS: &awsv1.BlockDevice{VolumeSize: new(resource.MustParse("100G"))}}}
		}, 94 * 0.08},
		"speed that is included": {func(s *awsv1.EC2NodeClassSpec) {
			s.BlockDeviceMappings = []awsv1.BlockDeviceMapping{{EBS: &awsv1.BlockDevice{VolumeSize: new(resource.MustParse("1Gi")), IOPS: new(int64(3000)), Throughput: new(int64(125))}}}
		}, 0.08},
		"speed that is not": {func(s *awsv1.EC2NodeClassSpec) {
			s.BlockDeviceMappings = []awsv1.BlockDeviceMapping{{EBS: &awsv1.BlockDevice{VolumeSize: new(resource.MustParse("1Gi")), IOPS: new(int64(4000)), Throughput: new(int64(225))}}}
		}, 0.08 + 1000*0.005 + 100*0.04},
		"tiers": {func(s *awsv1.EC2NodeClassSpec) {
			s.BlockDeviceMappings = []awsv1.BlockDeviceMapping{{EBS: &awsv1.BlockDevice{VolumeType: new("io2"), VolumeSize: new(resource.MustParse("8Gi")), IOPS: new(int64(70_000))}}}
		}, 8*0.125 + 32_000*0.065 + 32_000*0.0455 + 6_000*0.03185},
		"a type that is not known": {func(s *awsv1.EC2NodeClassSpec) {
			s.BlockDeviceMappings = []awsv1.BlockDeviceMapping{{EBS: &awsv1.BlockDevice{VolumeType: new("gp9")}}}
		}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			class := &awsv1.EC2NodeClass{}
			tt.class(&class.Spec)
			got := nodecost.BuiltIn().Of(class)
			assert.InDelta(t, tt.month/nodecost.HoursPerMonth, got.Total(), 1e-12)
			assert.Equal(t, got.Total(), got.Volumes)
		})
	}
}

func TestNone(t *testing.T) {
	class := &awsv1.EC2NodeClass{}
	class.Spec.AssociatePublicIPAddress = new(true)
	assert.Zero(t, (*nodecost.Rates)(nil).Of(class))
	assert.Zero(t, (&nodecost.Rates{}).Of(class))
	assert.Equal(t, "0.0000 USD/h (volumes 0.0000)", nodecost.Cost{}.String())
}

func TestValidate(t *testing.T) {
	require.NoError(t, nodecost.BuiltIn().Validate())
	require.NoError(t, (*nodecost.Rates)(nil).Validate())
	err := (&nodecost.Rates{PublicIPv4: math.NaN(), PerNode: -1, Volumes: map[string]nodecost.VolumeRates{
		"gp9": {}, "gp3": {GiB: math.Inf(1), IOPS: []nodecost.Tier{{5, -1}, {5, 1}}, Throughput: []nodecost.Tier{{-1, 0}}},
	}}).Validate()
	assert.EqualError(t, err, `volumes[gp3].GiB: +Inf; use an amount of USD, or 0
volumes[gp3].IOPS[0].USD: -1; use an amount of USD, or 0
volumes[gp3].IOPS[1].From: 5; tiers rise from 0 or more
volumes[gp3].Throughput[0].From: -1; tiers rise from 0 or more
volumes: "gp9" is no type of volume; use one of ["gp2" "gp3" "io1" "io2" "sc1" "st1" "standard"]
PublicIPv4: NaN; use an amount of USD, or 0
PerNode: -1; use an amount of USD, or 0`)
}

// The rates are the caller's: to change them changes no others.
func TestBuiltInIsACopy(t *testing.T) {
	rates := nodecost.BuiltIn()
	rates.Volumes["gp3"].IOPS[0].USD = 1000
	delete(rates.Volumes, "io1")
	assert.Contains(t, nodecost.BuiltIn().Volumes, "io1")
	assert.InDelta(t, 0.005, nodecost.BuiltIn().Volumes["gp3"].IOPS[0].USD, 1e-9)
}
