package instancetype_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/amiselect"
	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/aws/internal/instancetype"
)

// Whatever EC2 answers, what comes out is a sound catalog.
func FuzzBuild(f *testing.F) {
	data, err := os.ReadFile("testdata/types.json")
	require.NoError(f, err)
	for line := range strings.Lines(string(data)) {
		f.Add([]byte(strings.TrimRight(strings.TrimSpace(line), ",")), uint8(0))
	}
	f.Add([]byte(`{"InstanceType":"a.b","MemoryInfo":{"SizeInMiB":9223372036854775807},"VCpuInfo":{"DefaultVCpus":2147483647},`+
		`"ProcessorInfo":{"SupportedArchitectures":["arm64"]}}`), uint8(3))
	families := amiselect.Families()
	f.Fuzz(func(t *testing.T, data []byte, choice uint8) {
		var info ec2types.InstanceTypeInfo
		if json.Unmarshal(data, &info) != nil {
			return
		}
		offerings := []ec2types.InstanceTypeOffering{{InstanceType: info.InstanceType, Location: new("us-east-1a"), LocationType: "availability-zone"}}
		inv, _ := instancetype.NewInventory([]ec2types.InstanceTypeInfo{info}, offerings)
		c := class(families[int(choice)%len(families)])
		if choice&128 != 0 {
			c.Spec.InstanceStorePolicy = new(awsv1.InstanceStorePolicyRAID0)
		}
		got, err := inv.Build(input(t, c), nil)
		require.NoError(t, err)
		require.Equal(t, inv.Len(), len(got.Types)+len(got.Problems))
		requireSound(t, got.Types)
	})
}
