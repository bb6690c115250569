package workload

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/dovetail-sdk/dovetail/internal/engine/model"
	"github.com/dovetail-sdk/dovetail/internal/podterm"
)

// newDefaultSpread returns the default spread constraints, nil if there are none.
func newDefaultSpread(in *model.Input, constraints []corev1.TopologySpreadConstraint, f *model.Faults) *podterm.Defaults {
	for i, s := range in.Services {
		if s == nil {
			f.Add(fmt.Sprintf("Services[%d]", i), "", "is nil; leave it out")
		}
	}
	if len(constraints) == 0 {
		return nil
	}
	controllers := map[types.UID]*metav1.LabelSelector{}
	for i, c := range in.Controllers {
		if _, twice := controllers[c.UID]; twice {
			f.Add(fmt.Sprintf("Controllers[%d]", i), "UID", "%q is listed twice; list each controller once", c.UID)
		}
		controllers[c.UID] = c.Selector
	}
	return podterm.NewDefaults(constraints, in.Services, controllers)
}

// ValidateDefaultSpread reports constraints that cannot be used as defaults.
func ValidateDefaultSpread(constraints []corev1.TopologySpreadConstraint) []error {
	var errs []error
	seen := map[string]bool{}
	for i := range constraints {
		c := &constraints[i]
		complain := func(format string, args ...any) {
			errs = append(errs, fmt.Errorf("DefaultSpread[%d].%s", i, fmt.Sprintf(format, args...)))
		}
		if c.TopologyKey == "" {
			complain("topologyKey is empty; name a node label")
		}
		if c.MaxSkew < 1 {
			complain("maxSkew is %d; it must be at least 1", c.MaxSkew)
		}
		if c.WhenUnsatisfiable != corev1.DoNotSchedule && c.WhenUnsatisfiable != corev1.ScheduleAnyway {
			complain("whenUnsatisfiable is %q; use DoNotSchedule or ScheduleAnyway", c.WhenUnsatisfiable)
		}
		if c.LabelSelector != nil || len(c.MatchLabelKeys) > 0 {
			complain("labelSelector is set; what a default counts is deduced from Services and controllers")
		}
		key := c.TopologyKey + "/" + string(c.WhenUnsatisfiable)
		if seen[key] {
			complain("topologyKey is %q with %s twice; use each once", c.TopologyKey, c.WhenUnsatisfiable)
		}
		seen[key] = true
	}
	return errs
}
