package catalog

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/internal/engine/model"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// whyNoOptions explains why a pool has no options. If its requirements exclude all of them, the
// reason lists each requirement that removes any, as steps.
func (p *Pool) whyNoOptions() model.PoolReason {
	reason := model.PoolReason{NodePool: p.Object.Name, Cause: model.CauseNoInstanceTypes}
	suited, offered := p.Allowed(p.Template)
	var excluded string
	switch {
	case suited == 0 && len(p.Types) == 1:
		excluded = "the only instance type that it has: it does not meet "
	case suited == 0:
		excluded = fmt.Sprintf("all %d instance types: none meets ", len(p.Types))
	case offered == 0:
		excluded = fmt.Sprintf("every offering of the instance types that they allow (%d): none meets ", suited)
	case offered == 1:
		reason.Detail = "the only offering that its requirements allow is not available now"
		return reason
	default:
		reason.Detail = fmt.Sprintf("none of the %d offerings that its requirements allow is available now", offered)
		return reason
	}
	others, culprits := p.culprits(suited == 0)
	reason.Detail = "its requirements rule out " + excluded + inWords(culprits)
	reason.Options, reason.Steps = p.exclusions(append(others, culprits...))
	return reason
}

// Allowed counts the instance types of the pool that a set of requirements allows, and the
// offerings of these types that it allows, available or not.
func (p *Pool) Allowed(set requirements.Set) (types, offerings int) {
	types = p.offers(set, func(cloudprovider.LaunchOption) { offerings++ })
	return types, offerings
}

// Launches says whether the pool has an available offering that a set of requirements allows.
func (p *Pool) Launches(set requirements.Set) (some bool) {
	p.offers(set, func(o cloudprovider.LaunchOption) { some = some || o.Offering.Launchable() })
	return some
}

// culprits returns a minimal list of requirements of the pool that together exclude every offering,
// and every instance type if types is set: without any one of them something is left. others are
// its other requirements.
func (p *Pool) culprits(types bool) (others, culprits []requirements.Requirement) {
	culprits = slices.Collect(p.Template.All())
	for i := len(culprits) - 1; i >= 0; i-- {
		rest := slices.Delete(slices.Clone(culprits), i, i+1)
		if suited, offered := p.Allowed(requirements.NewSet(rest...)); offered == 0 && (suited == 0 || !types) {
			others, culprits = append(others, culprits[i]), rest
		}
	}
	slices.Reverse(others)
	return others, culprits
}

// inWords renders requirements that apply together, for a message.
func inWords(list []requirements.Requirement) string {
	texts := make([]string, len(list))
	for i, r := range list {
		texts[i] = r.String()
	}
	return strings.Join(texts, " with ")
}

// exclusions counts the offerings that the pool could launch without requirements, and lists the
// steps in which the requirements, in the given order, exclude all of them.
func (p *Pool) exclusions(order []requirements.Requirement) (ways int, steps []model.Step) {
	set := requirements.NewSet()
	_, ways = p.Allowed(set)
	left := ways
	for _, r := range order {
		set = set.With(r)
		types, now := p.Allowed(set)
		if now < left {
			steps = append(steps, model.Step{Constraint: fmt.Sprintf("%s; %d of %d instance types are left", r, types, len(p.Types)), Removed: left - now, Left: now})
		}
		left = now
	}
	return ways, steps
}
