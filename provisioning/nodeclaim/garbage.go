package nodeclaim

import (
	"cmp"
	"slices"
	"time"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// Garbage compares instances and claims. For each instance, in this order:
//
//  1. If it is going down (Deleting), it is left alone.
//  2. If a claim has its ID, it belongs to it.
//  3. If a claim has its name and no ID, it belongs to it: the launch is under
//     way.
//  4. Otherwise it is found: a Twin if a claim of its name has another ID, else
//     with NoClaim.
//
// For each claim that has an ID and is not being deleted: if no instance with
// that ID was listed, not even one that is going down, the claim is found. A
// claim without an ID is left alone: its launch is under way, or failed without
// leaving anything.
//
// What is found is a suspect from now on, or from when the Suspects say. It
// waits until it is older than Grace, by its creation (of a claim, also by the
// time its condition Launched last changed; of an instance whose creation is not
// known, by the time it became a suspect), and until it has been a suspect for
// Confirm. At that instant it is reported.
//
// At the end the brake is tried, for instances and for claims: if what is to be
// reported is more than BrakeAbove and more than BrakeShare of all, it is
// counted in OrphansHeld or LostHeld instead. All are the instances that are not
// going down, and the claims that have an ID.
func Garbage(in GarbageInput, opts *GarbageOptions) GarbageReport {
	f := finder{now: in.Now, opts: opts.complete(), since: map[Suspect]time.Time{}}
	for _, s := range in.Suspects {
		known := Suspect{Kind: s.Kind, Name: s.Name}
		if before, twice := f.since[known]; !twice || s.Since.Before(before) {
			f.since[known] = s.Since
		}
	}
	claims := slices.DeleteFunc(slices.Clone(in.Claims), func(c *v1.NodeClaim) bool { return c == nil })
	slices.SortStableFunc(claims, func(a, b *v1.NodeClaim) int { return cmp.Compare(a.Name, b.Name) })
	instances := slices.DeleteFunc(slices.Clone(in.Instances), func(i *cloudprovider.Instance) bool { return i == nil })
	slices.SortStableFunc(instances, func(a, b *cloudprovider.Instance) int { return cmp.Compare(a.ID, b.ID) })
	instances = slices.CompactFunc(instances, func(a, b *cloudprovider.Instance) bool { return a.ID == b.ID })

	f.claims(claims, instances)
	f.instances(instances, claims)
	slices.SortFunc(f.report.Waiting, func(a, b Waiting) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name))
	})
	slices.SortFunc(f.report.Suspects, func(a, b Suspect) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name))
	})
	return f.report
}

type finder struct {
	now    time.Time
	opts   GarbageOptions
	since  map[Suspect]time.Time // by kind and name
	report GarbageReport
}

func (f *finder) claims(claims []*v1.NodeClaim, instances []*cloudprovider.Instance) {
	listed := make(map[string]bool, len(instances))
	for _, i := range instances {
		listed[i.ID] = true
	}
	all := 0
	owners := map[string]int{}
	for _, c := range claims {
		id := c.Status.ProviderID
		if id == "" {
			continue
		}
		all++
		if owners[id]++; owners[id] == 2 {
			f.report.Shared = append(f.report.Shared, id)
		}
		if listed[id] || !c.DeletionTimestamp.IsZero() {
			continue
		}
		if f.due(KindClaim, c.Name, launchedAt(c)) {
			f.report.Lost = append(f.report.Lost, Lost{Claim: c.Name, ProviderID: id})
		}
	}
	slices.Sort(f.report.Shared)
	if n := len(f.report.Lost); f.brake(n, all) {
		f.report.Lost, f.report.LostHeld = nil, n
	}
}

// launched is when a claim came to have an instance, as far as it is known.
func launchedAt(c *v1.NodeClaim) time.Time {
	at := c.CreationTimestamp.Time
	for i := range c.Status.Conditions {
		condition := &c.Status.Conditions[i]
		if condition.Type == v1.ConditionTypeLaunched && condition.LastTransitionTime.After(at) {
			at = condition.LastTransitionTime.Time
		}
	}
	return at
}

func (f *finder) instances(instances []*cloudprovider.Instance, claims []*v1.NodeClaim) {
	owned := make(map[string]bool, len(claims))      // by ID
	launching := make(map[string]bool, len(claims))  // by name
	hasAnother := make(map[string]bool, len(claims)) // by name
	for _, c := range claims {
		if id := c.Status.ProviderID; id != "" {
			owned[id] = true
			hasAnother[c.Name] = true
		} else {
			launching[c.Name] = true
		}
	}
	all := 0
	for _, i := range instances {
		if i.Deleting {
			continue
		}
		all++
		if owned[i.ID] || i.Name != "" && launching[i.Name] {
			continue
		}
		reason := NoClaim
		if i.Name != "" && hasAnother[i.Name] {
			reason = Twin
		}
		if f.due(KindInstance, i.ID, i.CreatedAt) {
			f.report.Orphans = append(f.report.Orphans, Orphan{Instance: i, Reason: reason})
		}
	}
	if n := len(f.report.Orphans); f.brake(n, all) {
		f.report.Orphans, f.report.OrphansHeld = nil, n
	}
}

// due records a suspect, and reports whether it is time to act on it.
func (f *finder) due(kind SuspectKind, name string, created time.Time) bool {
	since, known := f.since[Suspect{Kind: kind, Name: name}]
	if !known || since.After(f.now) { // the clock may have been set back
		since = f.now
	}
	f.report.Suspects = append(f.report.Suspects, Suspect{Kind: kind, Name: name, Since: since})
	if created.IsZero() {
		created = since
	}
	until := created.Add(f.opts.Grace)
	if confirmed := since.Add(f.opts.Confirm); confirmed.After(until) {
		until = confirmed
	}
	if !until.After(f.now) {
		return true
	}
	f.report.Waiting = append(f.report.Waiting, Waiting{Kind: kind, Name: name, Until: until})
	if f.report.Next.IsZero() || until.Before(f.report.Next) {
		f.report.Next = until
	}
	return false
}

func (f *finder) brake(found, all int) bool {
	share := f.opts.BrakeShare
	return share >= 0 && share < 1 && found > f.opts.BrakeAbove && float64(found) > share*float64(all)
}
