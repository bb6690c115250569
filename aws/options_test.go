package aws_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/aws"
	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/aws/internal/api"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// templates keeps the last launch template that was made.
type templates struct {
	api.EC2
	last *ec2types.RequestLaunchTemplateData
}

func (k *templates) CreateLaunchTemplate(ctx context.Context, in *ec2.CreateLaunchTemplateInput, o ...func(*ec2.Options)) (*ec2.CreateLaunchTemplateOutput, error) {
	k.last = in.LaunchTemplateData
	return k.EC2.CreateLaunchTemplate(ctx, in, o...)
}

func (k *templates) watch(s *scene) {
	s.wrap = func(c aws.Clients) aws.Clients {
		k.EC2 = c.EC2
		c.EC2 = k
		return c
	}
}

// A script of 40 kB, of which gzip makes a hundredth, boots a node only if it is packed.
func TestUserDataThatIsTooLargeIsPacked(t *testing.T) {
	script := "#!/bin/bash\n" + strings.Repeat("echo one of many lines that are alike\n", 1000)
	s := newScene(t)
	req := s.request("one", large)
	s.class.Spec.UserData = &script
	_, err := s.p.Create(t.Context(), req)
	require.ErrorContains(t, err, "more than the 16384 that EC2 takes")

	var made templates
	s = newScene(t, made.watch, func(s *scene) {
		s.class.Spec.UserData = &script
		s.opts.CompressUserData = true
	})
	s.create("one", large)
	packed, err := base64.StdEncoding.DecodeString(*made.last.UserData)
	require.NoError(t, err)
	require.Less(t, len(packed), 4096)
	unpacked, err := gzip.NewReader(bytes.NewReader(packed))
	require.NoError(t, err)
	text, err := io.ReadAll(unpacked)
	require.NoError(t, err)
	require.Contains(t, string(text), script)
}

// An account whose reservations are for others than the cluster, or are open to any
// instance, has its nodes launched as EC2 likes.
func TestReservationsCanBeLeftToEC2(t *testing.T) {
	const id = "cr-0123456789abcdef0"
	reserved := func(o cloudprovider.LaunchOption) bool { return o.Offering.CapacityType == "reserved" }
	for _, alone := range []bool{false, true} {
		var made templates
		s := newScene(t, made.watch, func(s *scene) {
			s.world.Reservations = []ec2types.CapacityReservation{{
				CapacityReservationId: new(id), InstanceType: new("m5.large"), AvailabilityZone: new("us-east-1a"), TotalInstanceCount: new(int32(2)),
			}}
			s.class.Spec.CapacityReservationSelectorTerms = []awsv1.CapacityReservationSelectorTerm{{ID: id}}
			s.opts.NoReservedCapacity = alone
		})
		offered := false
		for _, o := range s.request("one", nil).Options {
			offered = offered || reserved(o)
		}
		s.create("one", large)
		preference := made.last.CapacityReservationSpecification
		if require.Equal(t, !alone, offered); alone {
			require.Nil(t, preference, "that of EC2: any that is open")
			require.Zero(t, s.cloud.Count("DescribeCapacityReservations"))
		} else {
			require.Equal(t, ec2types.CapacityReservationPreferenceNone, preference.CapacityReservationPreference)
		}
	}
}

// A cluster that is described in full is not asked for, so the permission is not needed;
// its ARN is what zonal shifts are looked up by.
func TestAClusterThatIsKnownIsNotAskedFor(t *testing.T) {
	for _, arn := range []string{"", "arn:aws:eks:us-east-1:123456789012:cluster/demo"} {
		s := newScene(t, func(s *scene) {
			s.opts.Cluster = aws.Cluster{Name: "demo", Endpoint: "https://demo.example.com", CABundle: "YQ==", ServiceCIDR: "10.100.0.0/16",
				DNSIP: "10.100.0.10", Version: "1.34", ARN: arn}
		})
		i := s.create("one", func(o cloudprovider.LaunchOption) bool { return large(o) && o.Offering.Zone == "us-east-1a" })
		require.Equal(t, arn == "", s.cloud.Count("DescribeCluster") > 0)
		s.cloud.Shift("use1-az1", s.cloud.Now().Add(time.Hour))
		s.pass(time.Minute)
		require.ErrorIs(t, s.p.Delete(t.Context(), i.ID), cloudprovider.ErrNotReady)
	}
}

// What is wrong with the cluster is told before a node fails to join it.
func TestNewJudgesTheCluster(t *testing.T) {
	with := func(c aws.Cluster) error {
		_, err := aws.New(aws.Clients{}, &aws.Options{Region: "us-east-1", Cluster: c,
			NodeClasses: func(context.Context, string) (*awsv1.EC2NodeClass, error) { return nil, nil }})
		return err
	}
	const noClient = "aws: clients: EC2: nil; pass a client, such as *ec2.Client"
	require.EqualError(t, with(aws.Cluster{
		Name: "demo", Endpoint: "10.0.0.1", CABundle: "-----BEGIN", ServiceCIDR: "10.100.0.0", DNSIP: "kube-dns", Version: "v1.34.1", Account: "12",
	}), `aws: options: cluster.endpoint: "10.0.0.1"; give the URL of the API server, such as https://0123456789abcdef.gr7.eu-central-1.eks.amazonaws.com
aws: options: cluster.caBundle: not base64; encode the PEM certificates, on one line
aws: options: cluster.serviceCIDR: "10.100.0.0"; give a range of addresses, such as 10.100.0.0/16
aws: options: cluster.dnsIP: "kube-dns"; give an IP address, such as 10.100.0.10
aws: options: cluster.version: "v1.34.1"; give major and minor of the control plane, such as 1.34
aws: options: cluster.account: "12"; give the twelve digits of the AWS account
`+noClient)
	require.EqualError(t, with(aws.Cluster{
		Name: "demo", Endpoint: "https://demo.example.com", CABundle: "YQ==", ServiceCIDR: "fd30::/108", DNSIP: "fd30::a", Version: "1.34+", Account: "123456789012",
	}), noClient)
	require.EqualError(t, with(aws.Cluster{Name: "demo"}), noClient)
}
