package static

import (
	"fmt"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/internal/engine/catalog"
	"github.com/dovetail-sdk/dovetail/internal/nodelimit"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// maxStaticLaunch is the most nodes of one pool that are launched at a time.
const maxStaticLaunch = 10_000

// launch divides the number of missing nodes into those to launch now and those held back.
func (s *Pool) launch(short int64) {
	now := int64(0)
	s.Held = s.closed()
	if s.Held == "" {
		now = short
		if limit, limited, err := nodelimit.Of(s.Pool.Spec.Limits); limited && err == nil {
			there := int64(s.Active + s.PendingDisruption + s.Deleting)
			if now = min(short, max(limit-there, 0)); now < short {
				s.Held = fmt.Sprintf("its limit of %d nodes leaves room for %d: it has %d, of which %d are on their way out",
					limit, now, there, s.PendingDisruption+s.Deleting)
			}
		}
		if now > maxStaticLaunch {
			now = maxStaticLaunch
			s.Held = fmt.Sprintf("no more than %d nodes are launched at a time", maxStaticLaunch)
		}
	}
	s.Missing = int(now)
	s.HeldBack = int(min(short-now, int64(^uint(0)>>1)))
}

// closed says why the pool launches nothing at all, "" if it launches nodes.
func (s *Pool) closed() string {
	dynamic := *s.Pool
	dynamic.Spec.Replicas = nil // so that Idle looks for other causes than spec.replicas
	if reason := catalog.Idle(&dynamic); reason.Cause != "" {
		return reason.Detail
	}
	if keys := catalog.ImpossibleKeys(s.Requirements); keys != "" {
		return "its own labels and requirements contradict each other over " + keys
	}
	return ""
}

// soldOut says why no offering of the instance types can be launched: the requirements admit none,
// or none of those admitted is available.
func soldOut(types []*cloudprovider.InstanceType, reqs requirements.Set) string {
	admitted := 0
	for _, t := range types {
		for i := range t.Offerings {
			option := cloudprovider.LaunchOption{InstanceType: t, Offering: &t.Offerings[i]}
			if !option.Requirements().Intersect(reqs).Impossible() {
				admitted++
			}
		}
	}
	if admitted == 0 {
		return fmt.Sprintf("its template admits none of the %d instance types of its catalog", len(types))
	}
	return fmt.Sprintf("none of the %d offerings that its template admits is available; they are launched once one is", admitted)
}
