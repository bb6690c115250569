package source_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/aws/internal/api"
	"github.com/dovetail-sdk/dovetail/aws/internal/source"
	"github.com/dovetail-sdk/dovetail/aws/internal/source/sourcetest"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

func TestNewNamesEveryFault(t *testing.T) {
	_, err := source.New(api.Clients{}, source.Options{SubnetRefresh: time.Second, SecurityGroupRefresh: time.Second, ImageRefresh: -1})
	for _, want := range []string{"clients.EC2", "region", "now", "subnetRefresh: 1s", "securityGroupRefresh: 1s", "imageRefresh"} {
		require.ErrorContains(t, err, want)
	}
}

func TestInventoryReadsAllPages(t *testing.T) {
	c, k := region(t), newClock()
	c.PageSize = 3
	s := sources(t, c, k)
	inv, reading, err := s.Inventory(bg)
	require.NoError(t, err)
	require.Equal(t, 20, inv.Len())
	require.Equal(t, []string{"us-east-1a", "us-east-1b", "us-east-1c"}, inv.Zones())
	require.Equal(t, noon, reading.At)
	asked := c.Asked()
	require.Equal(t, "DescribeInstanceTypes processor-info.supported-architecture=x86_64,arm64 supported-virtualization-type=hvm", asked[0])
	require.Equal(t, 7, c.Calls()["DescribeInstanceTypes"], "twenty, by three")
	problems, err := s.InventoryProblems(bg)
	require.NoError(t, err)
	require.Empty(t, problems)
	require.Empty(t, c.Calls(), "twelve hours have not passed")
}

// One page of many that fails leaves nothing half done.
func TestInventoryFailure(t *testing.T) {
	c, k := region(t), newClock()
	fail(c, "DescribeInstanceTypeOfferings", throttled("DescribeInstanceTypeOfferings"))
	s := sources(t, c, k)
	inv, _, err := s.Inventory(bg)
	require.ErrorIs(t, err, cloudprovider.ErrThrottled)
	require.ErrorContains(t, err, "DescribeInstanceTypeOfferings us-east-1")
	require.Nil(t, inv)
	fail(c, "DescribeInstanceTypeOfferings", nil)
	k.add(2 * time.Second)
	inv, _, err = s.Inventory(bg)
	require.NoError(t, err)

	k.add(12 * time.Hour)
	fail(c, "DescribeInstanceTypes", sourcetest.Error("EC2", "DescribeInstanceTypes", "UnauthorizedOperation", "You are not authorized."))
	same, reading, err := s.Inventory(bg)
	require.NoError(t, err)
	require.Same(t, inv, same)
	require.True(t, reading.Stale)
	require.ErrorIs(t, reading.Err, cloudprovider.ErrDenied)
	require.ErrorContains(t, reading.Err, "allow the controller ec2:DescribeInstanceTypes")

	k.add(time.Hour)
	fail(c, "DescribeInstanceTypes", nil)
	same, reading, err = s.Inventory(bg)
	require.NoError(t, err)
	require.False(t, reading.Stale)
	require.Same(t, inv, same, "nothing has changed, so nothing need be made anew")

	k.add(12 * time.Hour)
	c.Change(func(c *sourcetest.Cloud) { c.Types = c.Types[1:] })
	other, _, err := s.Inventory(bg)
	require.NoError(t, err)
	require.NotSame(t, inv, other)
	require.Equal(t, 19, other.Len())
}

// An answer without anything is no answer: it would take every node for unknown.
func TestInventoryEmptyAnswer(t *testing.T) {
	c, k := region(t), newClock()
	s := sources(t, c, k)
	_, _, err := s.Inventory(bg)
	require.NoError(t, err)
	k.add(12 * time.Hour)
	c.Change(func(c *sourcetest.Cloud) { c.Types = nil })
	inv, reading, err := s.Inventory(bg)
	require.NoError(t, err)
	require.Equal(t, 20, inv.Len())
	require.True(t, reading.Stale)
	require.ErrorContains(t, reading.Err, "check the region")
}
