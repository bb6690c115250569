package pack_test

import (
	"context"
	"fmt"
	"math"

	"github.com/dovetail-sdk/dovetail/internal/engine/bitset"
	"github.com/dovetail-sdk/dovetail/internal/engine/pack"
)

// Five pods of four units each, and nodes of eight or twenty.
func ExampleNew() {
	both := bitset.New(2)
	both.AddRange(0, 2)
	packer := pack.New(&pack.Problem{
		Dims:    1,
		Options: []pack.Option{{Price: 1, Capacity: []int64{8}}, {Price: 2, Capacity: []int64{20}}},
		Pools:   []pack.Pool{{First: 0, Last: 2}},
		Classes: []pack.Class{{Request: []int64{4}, Count: 5, Variants: []pack.Variant{{Options: both}}}},
	})
	result, err := packer.Solve(context.Background(), math.MaxInt)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, launch := range result.New {
		fmt.Printf("%d x %.0f USD with %d pods\n", launch.Copies, launch.Price, launch.Shares[0].Count)
	}
	fmt.Printf("bound %.2f\n", result.Bound)
	// Output:
	// 1 x 2 USD with 5 pods
	// bound 2.00
}
