package instancetype_test

import (
	"fmt"
	"strconv"
	"testing"

	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/aws/internal/apitest"
)

// many returns an account with the given number of instance types, made of the twenty known ones
// under other names.
func many(b *testing.B, n int) *apitest.Cloud {
	b.Helper()
	c := account(b)
	few := c.Types
	c.Types, c.Offerings = nil, nil
	for i := range n {
		t := few[i%len(few)]
		t.InstanceType = ec2types.InstanceType("x" + strconv.Itoa(i) + ".large")
		c.Types = append(c.Types, t)
		for _, zone := range []string{"us-east-1a", "us-east-1b", "us-east-1c"} {
			c.Offerings = append(c.Offerings, ec2types.InstanceTypeOffering{InstanceType: t.InstanceType, Location: &zone, LocationType: "availability-zone"})
			c.Spot = append(c.Spot, ec2types.SpotPrice{InstanceType: t.InstanceType, AvailabilityZone: &zone, SpotPrice: ptr("0.05"), Timestamp: &apitest.Noon, ProductDescription: "Linux/UNIX"})
		}
	}
	c.PageSize = 0
	return c
}

// BenchmarkBuild makes the list of one class, when something has changed and when
// nothing has.
func BenchmarkBuilder(b *testing.B) {
	for _, n := range []int{700, 900} {
		s := newSetup(b, many(b, n))
		r, err := s.resolver.Resolve(bg, resolvedClass())
		require.NoError(b, err)
		b.Run(fmt.Sprintf("types=%d/changed=true", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				s.builder.Restore(s.builder.Learned()) // so that it is made anew
				made, err := s.builder.Build(bg, r.Class)
				require.NoError(b, err)
				require.Len(b, made.Types, n)
			}
		})
		b.Run(fmt.Sprintf("types=%d/changed=false", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_, err := s.builder.Build(bg, r.Class)
				require.NoError(b, err)
			}
		})
	}
}

// BenchmarkResolve resolves a class when all is remembered.
func BenchmarkResolve(b *testing.B) {
	s := newSetup(b, account(b))
	b.ReportAllocs()
	for b.Loop() {
		_, err := s.resolver.Resolve(bg, resolvedClass())
		require.NoError(b, err)
	}
}
