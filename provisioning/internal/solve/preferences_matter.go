package solve

import (
	"slices"

	"github.com/dovetail-sdk/dovetail/provisioning/internal/compile"
	corev1 "k8s.io/api/core/v1"
)

// mayExceedBudget says whether a plan may have to be made with fewer preferences, and
// there are steps left for it.
func mayExceedBudget(p *compile.Problem, plan *Solution) bool {
	return plan.Cost > 0 && plan.Stats.Steps < p.Opts.MaxSteps && preferencesMatter(p, plan)
}

// preferencesMatter says whether a plan may have become dearer for a preference.
func preferencesMatter(p *compile.Problem, plan *Solution) bool {
	if len(p.Preferred.Classes) == 0 {
		return false
	}
	if plan.did.Closed {
		return true // who is on a node that exists may have been on a new one
	}
	// Who is to be in some domain may take the room of others there.
	if slices.ContainsFunc(p.Preferred.Classes, func(c int) bool { return len(p.Preferences[c].Spans) > 0 }) {
		return true
	}
	bought := map[*corev1.Pod]bool{}
	for i := range plan.Create {
		for _, pod := range plan.Create[i].Pods {
			bought[pod] = true
		}
	}
	return slices.ContainsFunc(p.Preferred.Classes, func(c int) bool {
		return slices.ContainsFunc(p.Classes[c].Pods, func(podID int32) bool { return bought[p.Pods[podID]] })
	})
}
