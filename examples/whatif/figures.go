package main

import (
	"math"
	"strconv"

	"github.com/dovetail-sdk/dovetail/examples/internal/layout"
)

// usd renders an amount of money. A catalog can hold absurd prices, and those
// must not break the layout.
func usd(amount float64, decimals int) string {
	if math.Abs(amount) >= 1e8 || math.IsNaN(amount) {
		return strconv.FormatFloat(amount, 'g', 3, 64)
	}
	if math.Abs(amount) < math.Pow(10, -float64(decimals))/2 {
		amount = 0 // and not below
	}
	return strconv.FormatFloat(amount, 'f', decimals, 64)
}

// decimalsFor leaves out the fractions of a cent where there are prices so
// large that the column would grow too wide.
func decimalsFor(nodes []newNode) int {
	for i := range nodes {
		if nodes[i].USDPerHour >= 1000 {
			return 2
		}
	}
	return 4
}

// percents renders a utilization, rounded down so that 100% is full.
func percents(u *utilization) (cpu, memory string) {
	if u == nil {
		return "-", "-"
	}
	return percent(u.CPU), percent(u.Memory)
}

func percent(share float64) string {
	// The share is rounded to six decimals, which may have been downwards.
	n := math.Floor(100*share + 1e-6)
	if n > 999 {
		return ">999%"
	}
	return strconv.FormatFloat(n, 'f', 0, 64) + "%"
}

func orDash(text string) string {
	if text == "" {
		return "-"
	}
	return layout.Printable(text)
}

// manyNamespaces tells whether the pods come from more than one namespace.
func manyNamespaces(r *report) bool {
	seen := map[string]bool{}
	each := func(pods []podRef) {
		for _, p := range pods {
			seen[p.Namespace] = true
		}
	}
	for i := range r.NewNodes {
		each(r.NewNodes[i].Pods)
	}
	for i := range r.Bindings {
		each(r.Bindings[i].Pods)
	}
	for i := range r.Unplaced {
		each([]podRef{r.Unplaced[i].podRef})
	}
	return len(seen) > 1
}
