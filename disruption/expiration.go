package disruption

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"strings"
	"time"
)

// Expiration wants to delete nodes whose NodeClaim is as old as its own
// spec.expireAfter, the one that was due first first, then by name. It asks
// neither for a NodePool nor for a Node: claims that stand alone or never came up
// expire as well. What has been asked for before is not changed by an edit of the
// pool, as that is drift.
//
// A claim without a creationTimestamp, as manifests written by hand may be, is of
// unknown age and does not expire; see Fleet.Warnings.
//
// With Options.ExpiryJitter a claim is due earlier by that part of expireAfter
// times a number from 0 up to 1 that its name and UID give.
//
// Budgets have no say unless the policy of the pool says so
// (budgets.Policy.ExpiryUnderBudgets); see Pace. Nothing is ever Blocked.
func (f *Fleet) Expiration() Result {
	var r Result
	for _, m := range f.members {
		due, expires := f.expiry(m)
		switch {
		case !expires || m.marked():
		case due.After(f.now):
			r.Next = sooner(r.Next, due)
		default:
			a := m.action(Expired, Delete)
			a.Since = due
			a.Detail = fmt.Sprintf("expireAfter %s has passed since %s", m.NodeClaim.Spec.ExpireAfter.Duration,
				instant(m.NodeClaim.CreationTimestamp.Time))
			r.Actions = append(r.Actions, a)
		}
	}
	slices.SortFunc(r.Actions, func(a, b Action) int {
		return cmp.Or(a.Since.Compare(b.Since), strings.Compare(a.Targets[0].Node, b.Targets[0].Node))
	})
	return r
}

// expiry is when a node expires, if it does and its age is known.
func (f *Fleet) expiry(m *member) (due time.Time, expires bool) {
	if !m.hasLifetime() || m.NodeClaim.CreationTimestamp.IsZero() {
		return time.Time{}, false
	}
	after := *m.NodeClaim.Spec.ExpireAfter.Duration
	if after > 0 && f.opts.ExpiryJitter > 0 {
		h := fnv.New64a()
		h.Write([]byte(string(m.NodeClaim.UID) + "/" + m.NodeClaim.Name))
		share := f.opts.ExpiryJitter * float64(h.Sum64()>>11) / (1 << 53)
		after -= time.Duration(math.Floor(share * float64(after)))
	}
	return m.NodeClaim.CreationTimestamp.Add(after), true
}
