package nodeclass_test

import (
	"context"
	"encoding/json"
	"os"
	"testing"
	"time"

	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"
	"github.com/stretchr/testify/require"
	clock "k8s.io/utils/clock/testing"

	"github.com/dovetail-sdk/dovetail/aws/internal/api"
	"github.com/dovetail-sdk/dovetail/aws/internal/nodeclass"
)

// Noon is the initial time of the clocks. It is later than the built-in prices.
var Noon = time.Date(2026, 11, 2, 12, 0, 0, 0, time.UTC)

func newClock() *clock.FakeClock { return clock.NewFakeClock(Noon) }

// withTypes returns a cloud with the instance types of the test data of package instancetype.
func withTypes(t testing.TB) *Cloud {
	t.Helper()
	var file struct {
		InstanceTypes         []ec2types.InstanceTypeInfo
		InstanceTypeOfferings []ec2types.InstanceTypeOffering
	}
	for _, name := range []string{"../instancetype/testdata/types.json", "../instancetype/testdata/offerings.json"} {
		data, err := os.ReadFile(name)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(data, &file))
	}
	return &Cloud{Types: file.InstanceTypes, Offerings: file.InstanceTypeOfferings}
}

// region returns withTypes with a cluster.
func region(t testing.TB) *Cloud {
	t.Helper()
	c := withTypes(t)
	c.Cluster = &ekstypes.Cluster{Arn: new("arn:aws:eks:us-east-1:123456789012:cluster/shop"), Version: new("1.34"),
		Endpoint: new("https://shop.example"), CertificateAuthority: &ekstypes.Certificate{Data: new("Q0E=")},
		KubernetesNetworkConfig: &ekstypes.KubernetesNetworkConfigResponse{ServiceIpv4Cidr: new("10.100.0.0/16"), IpFamily: ekstypes.IpFamilyIpv4}}
	return c
}

func sources(t testing.TB, c *Cloud, k *clock.FakeClock, edit ...func(*api.Clients, *nodeclass.Options)) *nodeclass.Sources {
	t.Helper()
	clients, opts := c.Clients(), nodeclass.Options{Region: "us-east-1", ClusterName: "shop", Now: k.Now}
	for _, e := range edit {
		e(&clients, &opts)
	}
	c.Calls()
	s, err := nodeclass.NewSources(clients, opts)
	require.NoError(t, err)
	require.Empty(t, c.Calls(), "New asks nothing")
	return s
}

func throttled(operation string) error {
	return Error("EC2", operation, "RequestLimitExceeded", "Request limit exceeded.")
}

func fail(c *Cloud, operation string, err error) {
	c.Change(func(c *Cloud) {
		if c.Fail == nil {
			c.Fail = map[string]error{}
		}
		c.Fail[operation] = err
	})
}

var bg = context.Background()
