package awstest_test

import (
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/arczonalshift"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	iamtypes "github.com/aws/aws-sdk-go-v2/service/iam/types"
	"github.com/aws/aws-sdk-go-v2/service/pricing"
	pricingtypes "github.com/aws/aws-sdk-go-v2/service/pricing/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	ssmtypes "github.com/aws/aws-sdk-go-v2/service/ssm/types"
	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/aws/awstest"
	"github.com/dovetail-sdk/dovetail/aws/internal/interruption"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

func TestParameters(t *testing.T) {
	s := start(t, nil)
	c := ssm.NewFromConfig(s.Config())
	const path = "/aws/service/eks/optimized-ami/1.34/amazon-linux-2023/x86_64/standard/recommended/image_id"
	out, err := c.GetParameter(background, &ssm.GetParameterInput{Name: new(path)})
	require.NoError(t, err)
	require.Equal(t, image(t, s, ec2types.ArchitectureValuesX8664), *out.Parameter.Value)

	s.Publish(ec2types.Image{ImageId: new("ami-1")}, path)
	out, err = c.GetParameter(background, &ssm.GetParameterInput{Name: new("arn:aws:ssm:us-east-1::parameter" + path)})
	require.NoError(t, err)
	require.Equal(t, "ami-1", *out.Parameter.Value)
	_, err = c.GetParameter(background, &ssm.GetParameterInput{Name: new(path + "/none")})
	var missing *ssmtypes.ParameterNotFound
	require.ErrorAs(t, err, &missing)
}

func TestImages(t *testing.T) {
	s := start(t, nil)
	c := client(s)
	s.Publish(ec2types.Image{ImageId: new("ami-1"), Name: new("mine"), Tags: []ec2types.Tag{{Key: new("team"), Value: new("a")}}})
	out, err := c.DescribeImages(background, &ec2.DescribeImagesInput{Owners: []string{"self"}})
	require.NoError(t, err)
	require.Len(t, out.Images, 1)
	require.Equal(t, s.Now().Format("2006-01-02T15:04:05.000Z"), *out.Images[0].CreationDate)
	require.Equal(t, "a", *out.Images[0].Tags[0].Value)
	out, err = c.DescribeImages(background, &ec2.DescribeImagesInput{Owners: []string{"amazon"}})
	require.NoError(t, err)
	n := len(out.Images)
	require.Greater(t, n, 5)

	s.Publish(ec2types.Image{ImageId: new("ami-2"), OwnerId: new("099720109477"), ImageOwnerAlias: new("amazon"), DeprecationTime: new("2026-01-01T00:00:00.000Z")})
	out, err = c.DescribeImages(background, &ec2.DescribeImagesInput{Owners: []string{"amazon"}})
	require.NoError(t, err)
	require.Len(t, out.Images, n, "deprecated images hide")
	out, err = c.DescribeImages(background, &ec2.DescribeImagesInput{Owners: []string{"amazon"}, IncludeDeprecated: new(true)})
	require.NoError(t, err)
	require.Len(t, out.Images, n+1)
	_, err = c.DescribeImages(background, &ec2.DescribeImagesInput{ImageIds: []string{"ami-3"}})
	require.Equal(t, "InvalidAMIID.NotFound", code(err))
}

func TestNetwork(t *testing.T) {
	s := start(t, &awstest.Options{PlacementGroups: []ec2types.PlacementGroup{
		{GroupId: new("pg-1"), GroupName: new("racks"), Strategy: ec2types.PlacementStrategyPartition, PartitionCount: new(int32(3))}}})
	tagged := []ec2types.Filter{{Name: new("tag:karpenter.sh/discovery"), Values: []string{"demo"}}}
	subnets, err := client(s).DescribeSubnets(background, &ec2.DescribeSubnetsInput{Filters: tagged})
	require.NoError(t, err)
	require.Len(t, subnets.Subnets, 3)
	require.Equal(t, int32(250), *subnets.Subnets[0].AvailableIpAddressCount)
	require.Equal(t, "use1-az1", *subnets.Subnets[0].AvailabilityZoneId)
	groups, err := client(s).DescribeSecurityGroups(background, &ec2.DescribeSecurityGroupsInput{Filters: tagged})
	require.NoError(t, err)
	require.Len(t, groups.SecurityGroups, 1)
	placements, err := client(s).DescribePlacementGroups(background, &ec2.DescribePlacementGroupsInput{GroupNames: []string{"racks"}})
	require.NoError(t, err)
	require.Equal(t, int32(3), *placements.PlacementGroups[0].PartitionCount)

	_, err = client(s).DescribeSubnets(background, &ec2.DescribeSubnetsInput{SubnetIds: []string{"subnet-0"}})
	require.Equal(t, "InvalidSubnetID.NotFound", code(err))
	_, err = client(s).DescribeSecurityGroups(background, &ec2.DescribeSecurityGroupsInput{GroupIds: []string{"sg-0"}})
	require.Equal(t, "InvalidGroup.NotFound", code(err))
	_, err = client(s).DescribePlacementGroups(background, &ec2.DescribePlacementGroupsInput{GroupIds: []string{"pg-0"}})
	require.Equal(t, "InvalidPlacementGroup.Unknown", code(err))
}

func TestPriceList(t *testing.T) {
	s := start(t, &awstest.Options{PageSize: 1, PageSizes: map[string]int{"GetProducts": 10}})
	s.SetPrice(cloudprovider.Scope{InstanceType: "m5.large", CapacityType: "on-demand"}, 0.111)
	c := pricing.NewFromConfig(s.Config())
	ask := func(tenancy, family string) (texts []string) {
		filter := func(field, value string) pricingtypes.Filter {
			return pricingtypes.Filter{Type: pricingtypes.FilterTypeTermMatch, Field: &field, Value: &value}
		}
		pages := pricing.NewGetProductsPaginator(c, &pricing.GetProductsInput{ServiceCode: new("AmazonEC2"), Filters: []pricingtypes.Filter{
			filter("regionCode", "us-east-1"), filter("tenancy", tenancy), filter("productFamily", family), filter("serviceCode", "AmazonEC2")}})
		for pages.HasMorePages() {
			page, err := pages.NextPage(background)
			require.NoError(t, err)
			require.LessOrEqual(t, len(page.PriceList), 10)
			texts = append(texts, page.PriceList...)
		}
		return texts
	}
	shared := ask("Shared", "Compute Instance")
	require.Len(t, shared, len(awstest.InstanceTypes())-1)
	require.Contains(t, ask("Dedicated", "Compute Instance (bare metal)")[0], `"instanceType":"m5.metal"`)
	found := false
	for _, text := range shared {
		found = found || contains(text, `"instanceType":"m5.large"`) && contains(text, `"USD":"0.1110000000"`)
	}
	require.True(t, found)
	_, err := c.GetProducts(background, &pricing.GetProductsInput{ServiceCode: new("AmazonS3")})
	require.Equal(t, "InvalidParameterException", code(err))
}

func TestQueue(t *testing.T) {
	s := start(t, nil)
	template(t, s, "web")
	c := sqs.NewFromConfig(s.Config())
	url, err := c.GetQueueUrl(background, &sqs.GetQueueUrlInput{QueueName: new("demo")})
	require.NoError(t, err)
	require.Equal(t, s.URL+"/123456789012/demo", *url.QueueUrl)
	_, err = c.GetQueueUrl(background, &sqs.GetQueueUrlInput{QueueName: new("other")})
	var none *sqstypes.QueueDoesNotExist
	require.ErrorAs(t, err, &none)

	receive := func() []sqstypes.Message {
		out, err := c.ReceiveMessage(background, &sqs.ReceiveMessageInput{QueueUrl: url.QueueUrl, MaxNumberOfMessages: 10, VisibilityTimeout: 20, WaitTimeSeconds: 20})
		require.NoError(t, err)
		return out.Messages
	}
	id := launched(launch(t, s, fleet(1, true, "m5.large")))[0]
	require.Empty(t, receive())
	_, err = s.Interrupt(id)
	require.NoError(t, err)
	got := receive()
	require.Len(t, got, 1)
	m, err := interruption.Parse([]byte(*got[0].Body))
	require.NoError(t, err)
	require.Equal(t, interruption.KindSpotInterrupted, m.Kind)
	require.Equal(t, []string{id}, m.InstanceIDs)
	require.Empty(t, receive(), "hidden")
	s.Advance(20 * time.Second)
	again := receive()
	require.Len(t, again, 1)
	require.NotEqual(t, *got[0].ReceiptHandle, *again[0].ReceiptHandle)
	_, err = c.DeleteMessage(background, &sqs.DeleteMessageInput{QueueUrl: url.QueueUrl, ReceiptHandle: again[0].ReceiptHandle})
	require.NoError(t, err)
	require.Zero(t, s.Queued())

	s.Advance(2 * time.Minute)
	require.Equal(t, "terminated", state(t, s, id))
	_, err = s.Interrupt(id)
	require.Error(t, err)
	s.Send("text")
	s.Advance(5 * time.Minute)
	require.Zero(t, s.Queued(), "old messages go")
}

func TestInstanceProfiles(t *testing.T) {
	s := start(t, nil)
	c := iam.NewFromConfig(s.Config())
	create := func(name, path string) error {
		_, err := c.CreateInstanceProfile(background, &iam.CreateInstanceProfileInput{InstanceProfileName: &name, Path: &path,
			Tags: []iamtypes.Tag{{Key: new("team"), Value: new("a")}}})
		return err
	}
	role := func(name, role string) error {
		_, err := c.AddRoleToInstanceProfile(background, &iam.AddRoleToInstanceProfileInput{InstanceProfileName: &name, RoleName: &role})
		return err
	}
	require.NoError(t, create("p1", "/karpenter/us-east-1/demo/1/"))
	require.NoError(t, create("p2", "/karpenter/us-east-1/demo/2/"))
	require.NoError(t, create("p3", "/"))
	require.Equal(t, "EntityAlreadyExists", code(create("p1", "/")))
	require.Equal(t, "ValidationError", code(create("p 4", "/")))
	require.Equal(t, "ValidationError", code(create("p4", "x")))
	require.NoError(t, role("p1", "KarpenterNodeRole-demo"))
	require.Equal(t, "LimitExceeded", code(role("p1", "KarpenterNodeRole-demo")))
	require.Equal(t, "NoSuchEntity", code(role("p2", "nobody")))

	got, err := c.GetInstanceProfile(background, &iam.GetInstanceProfileInput{InstanceProfileName: new("p1")})
	require.NoError(t, err)
	require.Equal(t, "KarpenterNodeRole-demo", *got.InstanceProfile.Roles[0].RoleName)
	require.Equal(t, "team", *got.InstanceProfile.Tags[0].Key)
	require.Equal(t, s.Now(), *got.InstanceProfile.CreateDate)

	pages := iam.NewListInstanceProfilesPaginator(c, &iam.ListInstanceProfilesInput{PathPrefix: new("/karpenter/us-east-1/demo/"), MaxItems: new(int32(1))})
	var names []string
	for pages.HasMorePages() {
		page, err := pages.NextPage(background)
		require.NoError(t, err)
		for _, p := range page.InstanceProfiles {
			names = append(names, *p.InstanceProfileName)
		}
	}
	require.Equal(t, []string{"p1", "p2"}, names)

	remove := func(name string) error {
		_, err := c.DeleteInstanceProfile(background, &iam.DeleteInstanceProfileInput{InstanceProfileName: &name})
		return err
	}
	require.Equal(t, "DeleteConflict", code(remove("p1")))
	_, err = c.RemoveRoleFromInstanceProfile(background, &iam.RemoveRoleFromInstanceProfileInput{InstanceProfileName: new("p1"), RoleName: new("KarpenterNodeRole-demo")})
	require.NoError(t, err)
	_, err = c.RemoveRoleFromInstanceProfile(background, &iam.RemoveRoleFromInstanceProfileInput{InstanceProfileName: new("p1"), RoleName: new("KarpenterNodeRole-demo")})
	require.Equal(t, "NoSuchEntity", code(err))
	require.NoError(t, remove("p1"))
	require.Equal(t, "NoSuchEntity", code(remove("p1")))
	s.AddInstanceProfile(awstest.InstanceProfile{Name: "foreign", Role: "r"})
	require.Equal(t, []string{"foreign", "p2", "p3"}, []string{s.InstanceProfiles()[0].Name, s.InstanceProfiles()[1].Name, s.InstanceProfiles()[2].Name})
}

const clusterARN = "arn:aws:eks:us-east-1:123456789012:cluster/demo"

func TestCluster(t *testing.T) {
	s := start(t, nil)
	c := eks.NewFromConfig(s.Config())
	out, err := c.DescribeCluster(background, &eks.DescribeClusterInput{Name: new("demo")})
	require.NoError(t, err)
	require.Equal(t, "1.34", *out.Cluster.Version)
	require.Equal(t, "10.100.0.0/16", *out.Cluster.KubernetesNetworkConfig.ServiceIpv4Cidr)
	require.Equal(t, clusterARN, *out.Cluster.Arn)
	require.NotEmpty(t, *out.Cluster.CertificateAuthority.Data)
	_, err = c.DescribeCluster(background, &eks.DescribeClusterInput{Name: new("other")})
	require.Equal(t, "ResourceNotFoundException", code(err))
}

func TestZonalShift(t *testing.T) {
	s := start(t, nil)
	c := arczonalshift.NewFromConfig(s.Config())
	ask := func() *arczonalshift.GetManagedResourceOutput {
		out, err := c.GetManagedResource(background, &arczonalshift.GetManagedResourceInput{ResourceIdentifier: new(clusterARN)})
		require.NoError(t, err)
		return out
	}
	require.Empty(t, ask().ZonalShifts)
	s.Shift("use1-az2", s.Now().Add(time.Hour))
	out := ask()
	require.Len(t, out.ZonalShifts, 1)
	require.Equal(t, "use1-az2", *out.ZonalShifts[0].AwayFrom)
	require.Equal(t, s.Now().Add(time.Hour).Unix(), out.ZonalShifts[0].ExpiryTime.Unix())
	s.Shift("use1-az2", time.Time{})
	require.Empty(t, ask().ZonalShifts)
	s.Shift("use1-az1", s.Now().Add(time.Hour))
	s.Advance(time.Hour)
	require.Empty(t, ask().ZonalShifts)
	_, err := c.GetManagedResource(background, &arczonalshift.GetManagedResourceInput{ResourceIdentifier: new("arn:aws:eks:us-east-1:123456789012:cluster/other")})
	require.Equal(t, "ResourceNotFoundException", code(err))
}
