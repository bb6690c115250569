package aws_test

import (
	"maps"
	"strings"
	"testing"
	"time"

	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/amiselect"
	karpv1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/aws"
	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/aws/awstest"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// claim returns the NodeClaim of an instance, as a controller writes it.
func (s *scene) claim(i *cloudprovider.Instance) *karpv1.NodeClaim {
	s.Helper()
	c := &karpv1.NodeClaim{}
	c.Name, c.Labels = i.Name, maps.Clone(i.Labels)
	annotations, err := s.p.ClaimAnnotations(s.Context(), "default")
	require.NoError(s, err)
	c.Annotations = annotations
	c.Spec.NodeClassRef = nodePool().Spec.Template.Spec.NodeClassRef
	c.Status.ProviderID, c.Status.ImageID = i.ID, i.ImageID
	return c
}

func (s *scene) drift(claim *karpv1.NodeClaim) cloudprovider.Drift {
	s.Helper()
	d, err := s.p.IsDrifted(s.Context(), claim)
	require.NoError(s, err)
	return d
}

func TestDrift(t *testing.T) {
	for name, c := range map[string]struct {
		change func(s *scene)
		reason string
		detail string
	}{
		"none":                        {func(*scene) {}, "", ""},
		"node class":                  {func(s *scene) { s.class.Spec.UserData = new("#!/bin/sh\n") }, aws.DriftNodeClass, "hash"},
		"a field that does not count": {func(s *scene) { s.class.Spec.IPPrefixCount = new(int32(1)) }, "", ""},
		"image": {func(s *scene) {
			s.cloud.Publish(ec2types.Image{ImageId: new("ami-00000000000000new"), Name: new("amazon-eks-node-al2023-x86_64-standard-1.34-v20260101")},
				s.parameter("x86_64/standard"))
			s.pass(10 * time.Minute)
		}, aws.DriftAMI, "ami-00000000000000new"},
		"no image for the type any more": {func(s *scene) {
			in := s.cloud.Instances()[0].ImageID
			family, selected := amiselect.FamilyAL2023, ""
			for _, i := range s.cloud.Options().Images {
				if i.Architecture == ec2types.ArchitectureValuesArm64 {
					selected = *i.ImageId
				}
			}
			require.NotEmpty(s, selected)
			require.NotEqual(s, in, selected)
			s.class.Spec.AMIFamily, s.class.Spec.AMISelectorTerms = &family, []awsv1.AMISelectorTerm{{ID: selected}}
		}, aws.DriftAMI, "no longer selects an image for"},
		"security groups": {func(s *scene) {
			for _, g := range s.cloud.Options().SecurityGroups {
				s.class.Spec.SecurityGroupSelectorTerms = append(s.class.Spec.SecurityGroupSelectorTerms, awsv1.SecurityGroupSelectorTerm{ID: *g.GroupId})
			}
		}, aws.DriftSecurityGroup, "security groups"},
		"subnet": {func(s *scene) {
			in := s.cloud.Instances()[0].SubnetID
			s.class.Spec.SubnetSelectorTerms = nil
			for _, n := range s.cloud.Options().Subnets {
				if *n.SubnetId != in {
					s.class.Spec.SubnetSelectorTerms = append(s.class.Spec.SubnetSelectorTerms, awsv1.SubnetSelectorTerm{ID: *n.SubnetId})
				}
			}
		}, aws.DriftSubnet, "does not select"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			claim := s.claim(s.create("one", large))
			c.change(s)
			d := s.drift(claim)
			require.Equal(t, c.reason, d.Reason, d.Detail)
			require.Contains(t, d.Detail, c.detail)
		})
	}
}

// Groups of another network are no reason to replace nodes, while nobody can say which
// network is that of the subnets.
func TestNoDriftByGroupsOfAnotherNetwork(t *testing.T) {
	tags := map[string]string{"karpenter.sh/discovery": "demo"}
	for name, change := range map[string]func(s *scene){
		"a new process that cannot read subnets": func(s *scene) {
			now, err := s.p.NodeClass(s.Context(), "default")
			require.NoError(s, err)
			s.class.Status = now.Status
			s.script(awstest.Fault{Op: "DescribeSubnets", Err: awstest.ErrBroken})
			s.p = s.provider()
		},
		"a typo in the terms of subnets": func(s *scene) {
			s.class.Spec.SubnetSelectorTerms[0].Tags, s.class.Generation = map[string]string{"karpenter.sh/discovery": "dmeo"}, 2
		},
		"groups by id, and a typo in the terms of subnets": func(s *scene) {
			s.class.Spec.SubnetSelectorTerms[0].Tags, s.class.Generation = map[string]string{"karpenter.sh/discovery": "dmeo"}, 2
			s.class.Spec.SecurityGroupSelectorTerms = []awsv1.SecurityGroupSelectorTerm{{ID: "sg-0000000000000foreign"}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t, func(s *scene) {
				s.world.SecurityGroups = []ec2types.SecurityGroup{
					{GroupId: new("sg-00000000000000own"), GroupName: new("nodes"), Tags: tagsOf(tags)},
					{GroupId: new("sg-0000000000000foreign"), GroupName: new("nodes"), VpcId: new("vpc-0foreign"), Tags: tagsOf(tags)},
				}
			})
			claim := s.claim(s.create("one", large))
			claim.Annotations = nil // the class is another, which is not the question here
			change(s)
			d := s.drift(claim)
			require.Zero(t, d)
		})
	}
}

func tagsOf(tags map[string]string) (out []ec2types.Tag) {
	for key, value := range tags {
		out = append(out, ec2types.Tag{Key: &key, Value: &value})
	}
	return out
}

// parameter returns the name of a parameter of images whose path ends so.
func (s *scene) parameter(end string) string {
	for name := range s.cloud.Options().Parameters {
		if strings.Contains(name, end) && strings.Contains(name, "amazon-linux-2023") && strings.Contains(name, "recommended") {
			return name
		}
	}
	require.Fail(s, "no such parameter", end)
	return ""
}

func TestDriftFromReservationAndGroup(t *testing.T) {
	const id, group = "cr-0123456789abcdef0", "pg-0123456789abcdef0"
	s := newScene(t, func(s *scene) {
		s.world.Reservations = []ec2types.CapacityReservation{{
			CapacityReservationId: new(id), InstanceType: new("m5.large"), AvailabilityZone: new("us-east-1a"), TotalInstanceCount: new(int32(2)),
			InstanceMatchCriteria: ec2types.InstanceMatchCriteriaTargeted,
		}}
		s.world.PlacementGroups = []ec2types.PlacementGroup{{GroupId: new(group), GroupName: new("spread"), Strategy: ec2types.PlacementStrategyCluster, State: "available"}}
		s.class.Spec.CapacityReservationSelectorTerms = []awsv1.CapacityReservationSelectorTerm{{ID: id}}
	})
	_ = s.request("", nil)
	s.cloud.Advance(time.Second) // what is launched later is not in what EC2 said
	i := s.create("one", nil)
	require.Equal(t, id, i.ReservationID)
	require.Equal(t, "reserved", i.CapacityType)
	require.Equal(t, "default", i.Labels[awsv1.LabelCapacityReservationType])
	class := s.read()
	require.Equal(t, 1, class.Left[id])
	claim := s.claim(i)
	got, err := s.p.Get(t.Context(), i.ID)
	require.NoError(t, err)
	require.Equal(t, i.OfferingKey(), got.OfferingKey())
	s.class.Spec.CapacityReservationSelectorTerms = nil
	d := s.drift(claim)
	require.Equal(t, aws.DriftCapacityReservation, d.Reason)

	s.class.Spec.CapacityReservationSelectorTerms = []awsv1.CapacityReservationSelectorTerm{{ID: id}}
	s.class.Spec.PlacementGroupSelector = &awsv1.PlacementGroupSelector{ID: new(group)}
	claim.Annotations = nil // a class of another hash version is not compared
	d = s.drift(claim)
	require.Equal(t, aws.DriftPlacementGroup, d.Reason)
}

func TestDriftOfWhatIsNotThere(t *testing.T) {
	s := newScene(t)
	claim := s.claim(s.create("one", large))
	claim.Spec.NodeClassRef = &karpv1.NodeClassReference{Group: awsv1.Group, Kind: awsv1.EC2NodeClassKind, Name: "gone"}
	_, err := s.p.IsDrifted(t.Context(), claim)
	require.ErrorIs(t, err, cloudprovider.ErrNotFound)
	_, err = s.p.IsDrifted(t.Context(), nil)
	require.ErrorIs(t, err, cloudprovider.ErrDenied)
}

func TestDriftDoesNotAskEC2EachTime(t *testing.T) {
	s := newScene(t)
	claim := s.claim(s.create("one", large))
	for range 20 {
		s.drift(claim)
	}
	s.cloud.ForgetCalls()
	for range 20 {
		s.drift(claim)
	}
	require.Zero(t, s.cloud.Count("DescribeInstances"))
}

// Dashboards and budgets go by the reasons that nodes drift for.
func TestReasonsOfDriftAreThoseInUse(t *testing.T) {
	require.Equal(t, []string{"NodeClassDrift", "AMIDrift", "SecurityGroupDrift", "SubnetDrift", "CapacityReservationDrift", "PlacementGroupDrift"},
		[]string{aws.DriftNodeClass, aws.DriftAMI, aws.DriftSecurityGroup, aws.DriftSubnet, aws.DriftCapacityReservation, aws.DriftPlacementGroup})
}

func TestClaimsOfOtherReleasesAreMigrated(t *testing.T) {
	s := newScene(t)
	claim := s.claim(s.create("one", large))
	present := maps.Clone(claim.Annotations)
	claim.Annotations[awsv1.EC2NodeClassHashAnnotationKey] = "1"
	claim.Annotations[awsv1.EC2NodeClassHashVersionAnnotationKey] = "v5" // of Karpenter 1.14
	m, err := s.p.MigrateClaims(t.Context(), "default", []*karpv1.NodeClaim{claim})
	require.NoError(t, err)
	require.Len(t, m.Claims, 1)
	require.Equal(t, present[awsv1.EC2NodeClassHashAnnotationKey], m.Claims[0].Annotations[awsv1.EC2NodeClassHashAnnotationKey])
	require.Equal(t, awsv1.EC2NodeClassHashVersion, m.Class[awsv1.EC2NodeClassHashVersionAnnotationKey])

	s.class.Spec.UserData = new("#!/bin/sh\n")
	d := s.drift(claim)
	require.Empty(t, d, "nobody can compare it")
	maps.Copy(claim.Annotations, m.Claims[0].Annotations)
	d = s.drift(claim)
	require.Equal(t, aws.DriftNodeClass, d.Reason)

	s.class.Annotations = m.Class
	s.class.Spec.UserData = nil
	m, err = s.p.MigrateClaims(t.Context(), "default", []*karpv1.NodeClaim{claim})
	require.NoError(t, err)
	require.Empty(t, m, "all are of the present version")
	_, err = s.p.MigrateClaims(t.Context(), "none", nil)
	require.ErrorIs(t, err, cloudprovider.ErrNotFound)
}
