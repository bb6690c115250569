package aws_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/aws"
	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
)

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
