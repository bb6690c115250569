package workload

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/internal/engine/constraint/volumes"
	"github.com/dovetail-sdk/dovetail/internal/engine/model"
	"github.com/dovetail-sdk/dovetail/internal/engine/volume"
	"github.com/dovetail-sdk/dovetail/internal/order"
	"github.com/dovetail-sdk/dovetail/internal/podlife"
)

// Users are the pods that may use claims and disks.
type Users struct {
	In       *model.Input
	Pods     []*corev1.Pod // to be placed
	Daemons  []Daemon
	Headroom map[*corev1.Pod]bool
	Passed   map[string]bool        // names of pods that give up claims which only one pod may use
	Barred   func(*corev1.Pod) bool // the pod is not to be scheduled now
}

// readClaims finds the users of each claim and disk. It takes time in proportion to the volumes of
// all pods.
func (x *Extras) readClaims(p *Users) {
	c := &x.Claims
	c.Users = map[string]*ClaimUsers{}
	own, disks := map[string]bool{}, map[string]bool{}
	for podID, pod := range p.Pods {
		if !volumes.HasClaims(pod) && !HasDisks(pod) {
			continue
		}
		own[PodName(pod)] = true
		for _, d := range volume.Disks(pod) {
			disks[d.Name] = true
		}
		for _, name := range volume.Claims(pod) {
			if c.Users[name] == nil {
				c.Users[name] = &ClaimUsers{}
			}
			c.Users[name].Waiting = append(c.Users[name].Waiting, int32(podID))
		}
	}
	if len(c.Users)+len(disks) == 0 {
		return
	}
	holds := map[string]int{}
	for i := range p.Daemons {
		for _, d := range volume.Disks(p.Daemons[i].Pod) {
			holds[d.Name]++
		}
	}
	for i := range p.In.Nodes {
		for _, pod := range p.In.Nodes[i].Pods {
			if pod == nil || podlife.Finished(pod) || !volumes.HasClaims(pod) && !HasDisks(pod) || own[PodName(pod)] {
				continue
			}
			known := slices.ContainsFunc(volume.Disks(pod), func(d volume.Disk) bool { return disks[d.Name] })
			for _, name := range volume.Claims(pod) {
				if u := c.Users[name]; u != nil {
					u.Running, known = append(u.Running, PodName(pod)), true
				}
			}
			if !known {
				continue
			}
			for _, name := range x.Volumes.Holds(pod) {
				holds[name]++
			}
		}
	}
	x.findShared(p, holds)
	x.findHolders(p)
	x.findReaches(p)
}

// findShared records the names that several pods use. holds is, by name, the number of running pods
// that use it.
func (x *Extras) findShared(p *Users, holds map[string]int) {
	for podID, pod := range p.Pods {
		if !HasVolumes(pod) {
			continue
		}
		for _, name := range x.Known(pod, podID).Names() {
			holds[name]++
		}
	}
	x.Claims.Shared = map[string]bool{}
	for name, n := range holds {
		if n > 1 {
			x.Claims.Shared[name] = true
		}
	}
}

// findHolders assigns each claim that only one pod may use to one pod: the running pod that uses
// it, or else the pod of the highest priority, then the first by name. Pods that cannot be placed
// at all, or that gave the claim up, get none.
func (x *Extras) findHolders(p *Users) {
	x.Claims.Holders = map[string]Holder{}
	seen := map[string]bool{} // a claim may have no holder
	for podID, pod := range p.Pods {
		if !volumes.HasClaims(pod) {
			continue
		}
		for _, claim := range x.Known(pod, podID).Exclusive {
			if seen[claim] {
				continue
			}
			seen[claim] = true
			u := x.Claims.Users[claim]
			if len(u.Running) > 0 {
				x.Claims.Holders[claim] = Holder{Pod: u.Running[0], PodID: -1}
				continue
			}
			var can []int32
			for _, podID := range u.Waiting {
				other := p.Pods[podID]
				if x.Known(other, int(podID)).Err == nil && !p.Barred(other) && !p.Passed[PodName(other)] {
					can = append(can, podID)
				}
			}
			if len(can) == 0 {
				continue
			}
			best := slices.MinFunc(can, func(a, b int32) int {
				return cmp.Or(
					order.Bools(p.Headroom[p.Pods[a]], p.Headroom[p.Pods[b]]),
					-cmp.Compare(model.PriorityOf(p.Pods[a]), model.PriorityOf(p.Pods[b])),
					cmp.Compare(a, b),
				)
			})
			x.Claims.Holders[claim] = Holder{Pod: PodName(p.Pods[best]), PodID: best, Rival: len(can) > 1}
		}
	}
}

// findReaches finds the claims that several pods share and whose volume does not exist yet. For each
// it records the label, hostname or zone, of which all these pods must have the same value.
func (x *Extras) findReaches(p *Users) {
	x.Claims.Reaches = map[string]string{}
	zone := corev1.LabelTopologyZone
	if !HasZones(p.In) {
		zone = corev1.LabelHostname
	}
	for podID, pod := range p.Pods {
		if !volumes.HasClaims(pod) {
			continue
		}
		need := x.Known(pod, podID)
		for _, claim := range need.Unbound {
			if u := x.Claims.Users[claim]; len(u.Waiting)+len(u.Running) < 2 || slices.Contains(need.Exclusive, claim) {
				continue
			}
			switch need.Reach(claim) {
			case volume.ReachNode:
				x.Claims.Reaches[claim] = corev1.LabelHostname
			case volume.ReachZone:
				x.Claims.Reaches[claim] = zone
			}
		}
	}
}
