package source_test

import (
	"context"
	"encoding/json"
	"os"
	"sync"
	"testing"
	"time"

	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"
	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/aws/internal/api"
	"github.com/dovetail-sdk/dovetail/aws/internal/source"
	"github.com/dovetail-sdk/dovetail/aws/internal/source/sourcetest"
)

// noon is later than the prices that are compiled in.
var noon = time.Date(2026, 11, 2, 12, 0, 0, 0, time.UTC)

func ptr[T any](v T) *T { return &v }

// clock is set by the test.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func newClock() *clock { return &clock{now: noon} }

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// region has the instance types of the test data of package catalog.
func region(t testing.TB) *sourcetest.Cloud {
	t.Helper()
	var file struct {
		InstanceTypes         []ec2types.InstanceTypeInfo
		InstanceTypeOfferings []ec2types.InstanceTypeOffering
	}
	for _, name := range []string{"../catalog/testdata/types.json", "../catalog/testdata/offerings.json"} {
		data, err := os.ReadFile(name)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(data, &file))
	}
	return &sourcetest.Cloud{
		Types: file.InstanceTypes, Offerings: file.InstanceTypeOfferings,
		Cluster: &ekstypes.Cluster{Arn: ptr("arn:aws:eks:us-east-1:123456789012:cluster/shop"), Version: ptr("1.34"),
			Endpoint: ptr("https://shop.example"), CertificateAuthority: &ekstypes.Certificate{Data: ptr("Q0E=")},
			KubernetesNetworkConfig: &ekstypes.KubernetesNetworkConfigResponse{ServiceIpv4Cidr: ptr("10.100.0.0/16"), IpFamily: ekstypes.IpFamilyIpv4}},
	}
}

func sources(t testing.TB, c *sourcetest.Cloud, k *clock, edit ...func(*api.Clients, *source.Options)) *source.Sources {
	t.Helper()
	clients, opts := c.Clients(), source.Options{Region: "us-east-1", ClusterName: "shop", Now: k.Now}
	for _, e := range edit {
		e(&clients, &opts)
	}
	c.Calls()
	s, err := source.New(clients, opts)
	require.NoError(t, err)
	require.Empty(t, c.Calls(), "New asks nothing")
	return s
}

func throttled(operation string) error {
	return sourcetest.Error("EC2", operation, "RequestLimitExceeded", "Request limit exceeded.")
}

func fail(c *sourcetest.Cloud, operation string, err error) {
	c.Change(func(c *sourcetest.Cloud) {
		if c.Fail == nil {
			c.Fail = map[string]error{}
		}
		c.Fail[operation] = err
	})
}

var bg = context.Background()
