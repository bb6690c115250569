package planreport

import (
	"github.com/dovetail-sdk/dovetail/examples/internal/inventory"
	"github.com/dovetail-sdk/dovetail/examples/internal/layout"
)

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

// percents renders a utilization.
func percents(u *inventory.Utilization) (cpu, memory string) {
	if u == nil {
		return "-", "-"
	}
	return layout.Percent(u.CPU), layout.Percent(u.Memory)
}

func orDash(text string) string {
	if text == "" {
		return "-"
	}
	return layout.Printable(text)
}

// manyNamespaces tells whether the pods come from more than one namespace.
func manyNamespaces(r *Report) bool {
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
