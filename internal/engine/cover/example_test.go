package cover_test

import (
	"fmt"

	"github.com/dovetail-sdk/dovetail/internal/engine/cover"
)

// Two kinds of node, one with much CPU and one with much memory, and pods that
// want as much of the one as of the other.
func ExampleSolve() {
	s := cover.Solve(&cover.Problem{
		Demand: [][]float64{{30, 30}},
		Serves: [][]int{{0}},
		Supplies: []cover.Supply{
			{Price: 1, Amount: []float64{8, 2}},
			{Price: 1, Amount: []float64{2, 8}},
		},
	}, 100)
	fmt.Printf("bound %.3f prices %.3f bought %.3f\n", s.Bound, s.Prices, s.Bought)
	// Output: bound 6.000 prices [[0.100 0.100]] bought [3.000 3.000]
}
