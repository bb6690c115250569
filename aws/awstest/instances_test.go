package awstest_test

import (
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/aws/awstest"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// state is that of a machine as it is described, and "" once it is forgotten.
func state(t testing.TB, s *awstest.Server, id string) string {
	out, err := client(s).DescribeInstances(background, &ec2.DescribeInstancesInput{InstanceIds: []string{id}})
	if code(err) == "InvalidInstanceID.NotFound" {
		return ""
	}
	require.NoError(t, err)
	return string(out.Reservations[0].Instances[0].State.Name)
}

func TestLifeOfAnInstance(t *testing.T) {
	s := start(t, &awstest.Options{Boot: time.Minute, Shutdown: 30 * time.Second, Lag: 5 * time.Second})
	template(t, s, "web")
	id := launched(launch(t, s, fleet(1, false, "m5.large")))[0]
	step := func(d time.Duration, want string) {
		t.Helper()
		s.Advance(d)
		require.Equal(t, want, state(t, s, id))
	}
	step(0, "")
	step(5*time.Second, "pending")
	step(55*time.Second, "running")
	out, err := client(s).TerminateInstances(background, &ec2.TerminateInstancesInput{InstanceIds: []string{id}})
	require.NoError(t, err)
	require.Equal(t, ec2types.InstanceStateNameRunning, out.TerminatingInstances[0].PreviousState.Name)
	require.Equal(t, ec2types.InstanceStateNameShuttingDown, out.TerminatingInstances[0].CurrentState.Name)
	step(29*time.Second, "shutting-down")
	_, err = client(s).TerminateInstances(background, &ec2.TerminateInstancesInput{InstanceIds: []string{id}})
	require.NoError(t, err, "terminating twice is fine")
	step(time.Second, "terminated")
	step(59*time.Minute, "terminated")
	step(time.Minute, "")
	_, err = client(s).TerminateInstances(background, &ec2.TerminateInstancesInput{InstanceIds: []string{id}})
	require.Equal(t, "InvalidInstanceID.NotFound", code(err))
}

func TestDescribeInstancesByFilters(t *testing.T) {
	s := start(t, nil)
	template(t, s, "web")
	ids := launched(launch(t, s, fleet(2, true, "m5.large")))
	require.NoError(t, s.Terminate(ids[0]))
	filter := func(name string, values ...string) ec2types.Filter {
		return ec2types.Filter{Name: &name, Values: values}
	}
	for _, c := range []struct {
		filters []ec2types.Filter
		want    int
	}{
		{nil, 2},
		{[]ec2types.Filter{filter("tag-key", "karpenter.sh/nodepool")}, 2},
		{[]ec2types.Filter{filter("tag:karpenter.sh/nodepool", "gen*")}, 2},
		{[]ec2types.Filter{filter("tag:karpenter.sh/nodepool", "other")}, 0},
		{[]ec2types.Filter{filter("instance-state-name", "pending", "running", "shutting-down")}, 1},
		{[]ec2types.Filter{filter("instance-id", ids...), filter("instance-lifecycle", "spot")}, 2},
		{[]ec2types.Filter{filter("instance-id", ids[1]), filter("availability-zone", "us-east-1?")}, 1},
	} {
		out, err := client(s).DescribeInstances(background, &ec2.DescribeInstancesInput{Filters: c.filters})
		require.NoError(t, err)
		require.Len(t, out.Reservations, c.want)
	}
	_, err := client(s).DescribeInstances(background, &ec2.DescribeInstancesInput{Filters: []ec2types.Filter{filter("instance-colour", "red")}})
	require.Equal(t, "InvalidParameterValue", code(err))
	_, err = client(s).DescribeInstances(background, &ec2.DescribeInstancesInput{InstanceIds: ids, MaxResults: new(int32(5))})
	require.Equal(t, "InvalidParameterCombination", code(err))
}

// Pages hold together when machines come and go between them.
func TestPagesOfInstances(t *testing.T) {
	s := start(t, nil)
	ids := s.Add(25, cloudprovider.OfferingKey{InstanceType: "m5.large", Zone: "us-east-1a", CapacityType: "on-demand"}, map[string]string{"team": "a"})
	var seen []string
	pages := ec2.NewDescribeInstancesPaginator(client(s), &ec2.DescribeInstancesInput{MaxResults: new(int32(10))})
	for pages.HasMorePages() {
		page, err := pages.NextPage(background)
		require.NoError(t, err)
		require.LessOrEqual(t, len(page.Reservations), 10)
		for _, r := range page.Reservations {
			seen = append(seen, *r.Instances[0].InstanceId)
		}
		require.NoError(t, s.Terminate(seen[len(seen)-1]))
		s.Advance(2 * time.Hour)
	}
	require.Equal(t, ids, seen)
	require.Len(t, s.Instances(), 22)
}

func TestTags(t *testing.T) {
	s := start(t, nil)
	template(t, s, "web")
	id := launched(launch(t, s, fleet(1, false, "m5.large")))[0]
	_, err := client(s).CreateTags(background, &ec2.CreateTagsInput{Resources: []string{id}, Tags: []ec2types.Tag{{Key: new("Name"), Value: new("node-1")}}})
	require.NoError(t, err)
	require.Equal(t, "node-1", s.Instances()[0].Tags["Name"])
	require.Equal(t, "aws:///us-east-1a/"+id, s.Instances()[0].ProviderID())
	for _, c := range []struct{ id, key, want string }{{"i-0", "a", "InvalidID"}, {id, "aws:x", "InvalidParameterValue"}} {
		_, err = client(s).CreateTags(background, &ec2.CreateTagsInput{Resources: []string{c.id}, Tags: []ec2types.Tag{{Key: &c.key, Value: new("")}}})
		require.Equal(t, c.want, code(err))
	}
}

func TestStatus(t *testing.T) {
	s := start(t, nil)
	template(t, s, "web")
	ids := launched(launch(t, s, fleet(3, false, "m5.large")))
	s.Impair(ids[0], awstest.SystemCheck)
	s.Schedule(ids[1], "instance-retirement", s.Now().Add(24*time.Hour))
	ask := func(filter, want string) []ec2types.InstanceStatus {
		out, err := client(s).DescribeInstanceStatus(background, &ec2.DescribeInstanceStatusInput{Filters: []ec2types.Filter{{Name: &filter, Values: []string{want}}}})
		require.NoError(t, err)
		return out.InstanceStatuses
	}
	bad := ask("system-status.status", "impaired")
	require.Len(t, bad, 1)
	require.Equal(t, ids[0], *bad[0].InstanceId)
	require.Equal(t, s.Now(), *bad[0].SystemStatus.Details[0].ImpairedSince)
	require.Equal(t, ec2types.StatusTypeFailed, bad[0].SystemStatus.Details[0].Status)
	retired := ask("event.code", "instance-*")
	require.Len(t, retired, 1)
	require.Equal(t, s.Now().Add(24*time.Hour), *retired[0].Events[0].NotBefore)
	require.Len(t, ask("instance-status.status", "ok"), 3)
}

func TestRunInstancesOnlyDry(t *testing.T) {
	s := start(t, nil)
	in := &ec2.RunInstancesInput{MinCount: new(int32(1)), MaxCount: new(int32(1)), DryRun: new(true)}
	_, err := client(s).RunInstances(background, in)
	require.Equal(t, "DryRunOperation", code(err))
	in.IamInstanceProfile = &ec2types.IamInstanceProfileSpecification{Name: new("nobody")}
	_, err = client(s).RunInstances(background, in)
	require.Equal(t, "InvalidParameterValue", code(err))
	s.AddInstanceProfile(awstest.InstanceProfile{Name: "nodes", Role: "node"})
	_, err = client(s).CreateLaunchTemplate(background, &ec2.CreateLaunchTemplateInput{LaunchTemplateName: new("web"), LaunchTemplateData: &ec2types.RequestLaunchTemplateData{
		IamInstanceProfile: &ec2types.LaunchTemplateIamInstanceProfileSpecificationRequest{Name: new("nobody")}}})
	require.NoError(t, err)
	in.LaunchTemplate = &ec2types.LaunchTemplateSpecification{LaunchTemplateName: new("web")}
	for _, c := range []struct {
		profile *string
		want    string
	}{{nil, "InvalidParameterValue"}, {new("nodes"), "DryRunOperation"}, {new("nobody"), "InvalidParameterValue"}} {
		in.IamInstanceProfile = nil
		if c.profile != nil {
			in.IamInstanceProfile = &ec2types.IamInstanceProfileSpecification{Name: c.profile}
		}
		_, err = client(s).RunInstances(background, in)
		require.Equal(t, c.want, code(err))
	}
	in.DryRun, in.ClientToken = nil, nil
	_, err = client(s).RunInstances(background, in)
	require.Equal(t, "UnsupportedOperation", code(err))
}

// Launch templates: names are taken once, tokens repeat, user data has a limit, and
// a description may lag behind.
func TestLaunchTemplates(t *testing.T) {
	s := start(t, &awstest.Options{Lag: time.Second})
	in := &ec2.CreateLaunchTemplateInput{LaunchTemplateName: new("web"), ClientToken: new("t"), LaunchTemplateData: &ec2types.RequestLaunchTemplateData{UserData: new("aGVsbG8=")},
		TagSpecifications: []ec2types.TagSpecification{{ResourceType: ec2types.ResourceTypeLaunchTemplate, Tags: []ec2types.Tag{{Key: new("team"), Value: new("a")}}}}}
	first, err := client(s).CreateLaunchTemplate(background, in)
	require.NoError(t, err)
	again, err := client(s).CreateLaunchTemplate(background, in)
	require.NoError(t, err)
	require.Equal(t, first.LaunchTemplate, again.LaunchTemplate)
	in.ClientToken = new("u")
	_, err = client(s).CreateLaunchTemplate(background, in)
	require.Equal(t, "InvalidLaunchTemplateName.AlreadyExistsException", code(err))

	byName := &ec2.DescribeLaunchTemplatesInput{LaunchTemplateNames: []string{"web"}}
	_, err = client(s).DescribeLaunchTemplates(background, byName)
	require.Equal(t, "InvalidLaunchTemplateName.NotFoundException", code(err))
	s.Advance(time.Second)
	out, err := client(s).DescribeLaunchTemplates(background, byName)
	require.NoError(t, err)
	require.Equal(t, *first.LaunchTemplate, out.LaunchTemplates[0])
	out, err = client(s).DescribeLaunchTemplates(background, &ec2.DescribeLaunchTemplatesInput{Filters: []ec2types.Filter{{Name: new("tag:team"), Values: []string{"b"}}}})
	require.NoError(t, err)
	require.Empty(t, out.LaunchTemplates)

	_, err = client(s).DeleteLaunchTemplate(background, &ec2.DeleteLaunchTemplateInput{LaunchTemplateName: new("web")})
	require.NoError(t, err)
	_, err = client(s).DeleteLaunchTemplate(background, &ec2.DeleteLaunchTemplateInput{LaunchTemplateId: first.LaunchTemplate.LaunchTemplateId})
	require.Equal(t, "InvalidLaunchTemplateId.NotFound", code(err))
	require.Empty(t, s.LaunchTemplates())

	in.LaunchTemplateData.UserData = new(strings.Repeat("QUFB", 16385/3+1))
	_, err = client(s).CreateLaunchTemplate(background, in)
	require.Equal(t, "InvalidUserData.Malformed", code(err))
}
