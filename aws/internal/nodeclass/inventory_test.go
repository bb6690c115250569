package nodeclass_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/aws/internal/api"
	"github.com/dovetail-sdk/dovetail/aws/internal/nodeclass"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

func TestNewSourcesNamesTheRegion(t *testing.T) {
	_, err := nodeclass.NewSources(api.Clients{}, nodeclass.Options{Region: "mars north"})
	require.ErrorContains(t, err, "region")
}

func TestInventoryReadsAllPages(t *testing.T) {
	c, k := region(t), newClock()
	c.PageSize = 3
	s := sources(t, c, k)
	inv, reading, err := s.Inventory(bg)
	require.NoError(t, err)
	require.Equal(t, 20, inv.Len())
	require.Equal(t, []string{"us-east-1a", "us-east-1b", "us-east-1c"}, inv.Zones())
	require.Equal(t, Noon, reading.At)
	asked := c.Asked()
	require.Equal(t, "DescribeInstanceTypes processor-info.supported-architecture=x86_64,arm64 supported-virtualization-type=hvm", asked[0])
	require.Equal(t, 7, c.Calls()["DescribeInstanceTypes"], "twenty, by three")
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
	k.Step(2 * time.Second)
	_ = s.Refresh(bg)
	inv, _, err = s.Inventory(bg)
	require.NoError(t, err)

	k.Step(12 * time.Hour)
	fail(c, "DescribeInstanceTypes", Error("EC2", "DescribeInstanceTypes", "UnauthorizedOperation", "You are not authorized."))
	_ = s.Refresh(bg)
	same, reading, err := s.Inventory(bg)
	require.NoError(t, err)
	require.Same(t, inv, same)
	require.True(t, reading.Stale)
	require.ErrorIs(t, reading.Err, cloudprovider.ErrDenied)
	require.ErrorContains(t, reading.Err, "allow the controller ec2:DescribeInstanceTypes")

	k.Step(time.Hour)
	fail(c, "DescribeInstanceTypes", nil)
	_ = s.Refresh(bg)
	same, reading, err = s.Inventory(bg)
	require.NoError(t, err)
	require.False(t, reading.Stale)
	require.Same(t, inv, same, "nothing has changed, so nothing need be made anew")

	k.Step(12 * time.Hour)
	c.Change(func(c *Cloud) { c.Types = c.Types[1:] })
	_ = s.Refresh(bg)
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
	k.Step(12 * time.Hour)
	c.Change(func(c *Cloud) { c.Types = nil })
	_ = s.Refresh(bg)
	inv, reading, err := s.Inventory(bg)
	require.NoError(t, err)
	require.Equal(t, 20, inv.Len())
	require.True(t, reading.Stale)
	require.ErrorContains(t, reading.Err, "check the region")
}
