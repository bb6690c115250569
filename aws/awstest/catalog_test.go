package awstest_test

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/aws/awstest"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// What the real client reads is what was put in: every field of the catalog comes
// through the wire.
func TestInstanceTypesRoundTrip(t *testing.T) {
	want := awstest.InstanceTypes()
	require.Greater(t, len(want), 35)
	byName := map[ec2types.InstanceType]ec2types.InstanceTypeInfo{}
	s := start(t, nil)
	pages := ec2.NewDescribeInstanceTypesPaginator(client(s), &ec2.DescribeInstanceTypesInput{MaxResults: new(int32(7))})
	for pages.HasMorePages() {
		page, err := pages.NextPage(background)
		require.NoError(t, err)
		require.LessOrEqual(t, len(page.InstanceTypes), 7)
		for _, it := range page.InstanceTypes {
			byName[it.InstanceType] = it
		}
	}
	require.Len(t, byName, len(want))
	for _, w := range want {
		require.Equal(t, w, byName[w.InstanceType])
	}
}

func TestInstanceTypeFilters(t *testing.T) {
	s := start(t, nil)
	out, err := client(s).DescribeInstanceTypes(background, &ec2.DescribeInstanceTypesInput{Filters: []ec2types.Filter{
		{Name: new("processor-info.supported-architecture"), Values: []string{"arm64"}}, {Name: new("instance-type"), Values: []string{"m6g.*"}},
	}})
	require.NoError(t, err)
	require.Len(t, out.InstanceTypes, 3)

	for _, c := range []struct {
		in   ec2.DescribeInstanceTypesInput
		want string
	}{
		{ec2.DescribeInstanceTypesInput{Filters: []ec2types.Filter{{Name: new("colour"), Values: []string{"red"}}}}, "InvalidParameterValue"},
		{ec2.DescribeInstanceTypesInput{InstanceTypes: []ec2types.InstanceType{"m5.tiny"}}, "InvalidInstanceType"},
		{ec2.DescribeInstanceTypesInput{MaxResults: new(int32(101))}, "InvalidParameterValue"},
		{ec2.DescribeInstanceTypesInput{NextToken: new("garbage")}, "InvalidNextToken"},
		{ec2.DescribeInstanceTypesInput{DryRun: new(true)}, "DryRunOperation"},
	} {
		_, err := client(s).DescribeInstanceTypes(background, &c.in)
		require.Equal(t, c.want, code(err))
	}
}

func TestOfferingsAndZones(t *testing.T) {
	s := start(t, &awstest.Options{TypeZones: map[string][]string{"m5.large": {"us-east-1c", "us-east-1a"}}})
	out, err := client(s).DescribeInstanceTypeOfferings(background, &ec2.DescribeInstanceTypeOfferingsInput{
		LocationType: ec2types.LocationTypeAvailabilityZone, Filters: []ec2types.Filter{{Name: new("instance-type"), Values: []string{"m5.large"}}}})
	require.NoError(t, err)
	require.Len(t, out.InstanceTypeOfferings, 2)
	require.Equal(t, "us-east-1a", *out.InstanceTypeOfferings[0].Location)
	zones, err := client(s).DescribeAvailabilityZones(background, &ec2.DescribeAvailabilityZonesInput{})
	require.NoError(t, err)
	require.Equal(t, "use1-az2", *zones.AvailabilityZones[1].ZoneId)
}

func TestSpotPrices(t *testing.T) {
	s := start(t, nil)
	scope := cloudprovider.Scope{InstanceType: "m5.large", Zone: "us-east-1b", CapacityType: "spot"}
	s.SetPrice(scope, 0.0123)
	out, err := client(s).DescribeSpotPriceHistory(background, &ec2.DescribeSpotPriceHistoryInput{
		StartTime: new(s.Now()), InstanceTypes: []ec2types.InstanceType{"m5.large"}, ProductDescriptions: []string{"Linux/UNIX", "Linux/UNIX (Amazon VPC)"}})
	require.NoError(t, err)
	require.Len(t, out.SpotPriceHistory, 3)
	require.Equal(t, "0.012300", *out.SpotPriceHistory[1].SpotPrice)
	for _, p := range out.SpotPriceHistory {
		require.True(t, p.Timestamp.Before(s.Now()))
	}
	out, err = client(s).DescribeSpotPriceHistory(background, &ec2.DescribeSpotPriceHistoryInput{ProductDescriptions: []string{"Windows"}})
	require.NoError(t, err)
	require.Empty(t, out.SpotPriceHistory)
}
