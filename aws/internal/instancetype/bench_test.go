package instancetype_test

import (
	"fmt"
	"strconv"
	"testing"

	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/amiselect"
	"github.com/dovetail-sdk/dovetail/aws/internal/instancetype"
)

// region returns a region of the given number of types in three zones, made of the twenty known
// ones under other names.
func region(b *testing.B, n int) ([]ec2types.InstanceTypeInfo, []ec2types.InstanceTypeOffering) {
	b.Helper()
	types, _ := answers(b)
	var many []ec2types.InstanceTypeInfo
	var offerings []ec2types.InstanceTypeOffering
	for i := range n {
		t := types[i%len(types)]
		t.InstanceType = ec2types.InstanceType("x" + strconv.Itoa(i) + "." + "large")
		many = append(many, t)
		for _, zone := range []string{"us-east-1a", "us-east-1b", "us-east-1c"} {
			offerings = append(offerings, ec2types.InstanceTypeOffering{InstanceType: t.InstanceType, Location: &zone, LocationType: "availability-zone"})
		}
	}
	return many, offerings
}

func BenchmarkNewInventory(b *testing.B) {
	types, offerings := region(b, 900)
	b.Run("types=900", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_, _, err := instancetype.NewInventory(types, offerings)
			require.NoError(b, err)
		}
	})
}

func BenchmarkBuild(b *testing.B) {
	for _, n := range []int{100, 900} {
		types, offerings := region(b, n)
		inv, _, err := instancetype.NewInventory(types, offerings)
		require.NoError(b, err)
		in := input(b, class(amiselect.FamilyAL2023, reservations...))
		b.Run(fmt.Sprintf("types=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_, err := inv.Build(in, nil)
				require.NoError(b, err)
			}
		})
	}
}
