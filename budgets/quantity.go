package budgets

import (
	"math"
	"strconv"
	"strings"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
)

// quantity is a count of nodes, or a percentage of them.
type quantity struct {
	n       int
	percent bool
}

// parseQuantity reads what the field nodes of a budget may hold, which is what
// v1.Budget.Validate admits.
func parseQuantity(text string) (quantity, bool) {
	probe := v1.Budget{Nodes: text}
	if text == "" || len(probe.Validate()) > 0 {
		return quantity{}, false
	}
	digits, percent := strings.CutSuffix(text, "%")
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil {
		return quantity{}, false
	}
	return quantity{int(min(n, math.MaxInt)), percent}, true
}

// of is the number of nodes that it stands for in a pool of so many. A
// percentage is rounded up.
func (q quantity) of(nodes int) int {
	if !q.percent {
		return q.n
	}
	// Whole hundreds first, so that nothing overflows.
	nodes = max(nodes, 0)
	return nodes/100*q.n + (nodes%100*q.n+99)/100
}

// atMost reports whether q is at most o whatever the size of the pool, taking
// no count of nodes in an empty pool.
func (q quantity) atMost(o quantity) bool {
	switch {
	case q.n == 0:
		return true
	case q.percent == o.percent:
		return q.n <= o.n
	case o.percent:
		return q.n == 1 && o.n > 0 // any share of some nodes is one at least
	}
	return false // there are pools large enough
}
