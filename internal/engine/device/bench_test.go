package device_test

import (
	"fmt"
	"testing"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/internal/engine/device"
)

func BenchmarkCount(b *testing.B) {
	for _, nodes := range []int{0, 1000} {
		b.Run(fmt.Sprintf("types=700/nodes=%d", nodes), func(b *testing.B) {
			o := world()
			for i := range nodes {
				o.Slices = append(o.Slices, slice(fmt.Sprintf("n%d", i), dev("d0", "gpu"), dev("d1", "gpu", "big"), dev("d2", "nic")))
			}
			var types []*cloudprovider.InstanceType
			for i := range 700 {
				types = append(types, shape(fmt.Sprintf("t%d", i), some(1+i%8, "gpu"), some(1, "gpu", "big"), some(1, "nic")))
			}
			x := newIndex(b, o)
			_, needs := counted(b, x, nil, "any", "gpu", "big", "nic", "best")
			var c *device.Counts
			for b.Loop() {
				c = x.Count(needs, types)
			}
			if c.OfType(types[0]).Len() == 0 {
				b.Fatal("nothing was counted")
			}
		})
	}
}
