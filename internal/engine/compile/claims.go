package compile

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/internal/engine/constraint/volumes"
	"github.com/dovetail-sdk/dovetail/internal/engine/model"
	"github.com/dovetail-sdk/dovetail/internal/engine/volume"
	"github.com/dovetail-sdk/dovetail/internal/engine/workload"
	"github.com/dovetail-sdk/dovetail/internal/podlife"
)

// readClaims finds the users of each claim and disk. It takes time in proportion to the volumes of
// all pods.
func readClaims(x *workload.Extras, p *Problem) {
	c := &x.Claims
	c.Users = map[string]*workload.ClaimUsers{}
	own, disks := map[string]bool{}, map[string]bool{}
	for podID, pod := range p.Pods {
		if !volumes.HasClaims(pod) && !workload.HasDisks(pod) {
			continue
		}
		own[workload.PodName(pod)] = true
		for _, d := range volume.Disks(pod) {
			disks[d.Name] = true
		}
		for _, name := range volume.Claims(pod) {
			if c.Users[name] == nil {
				c.Users[name] = &workload.ClaimUsers{}
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
			if pod == nil || podlife.Finished(pod) || !volumes.HasClaims(pod) && !workload.HasDisks(pod) || own[workload.PodName(pod)] {
				continue
			}
			known := slices.ContainsFunc(volume.Disks(pod), func(d volume.Disk) bool { return disks[d.Name] })
			for _, name := range volume.Claims(pod) {
				if u := c.Users[name]; u != nil {
					u.Running, known = append(u.Running, workload.PodName(pod)), true
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
	findShared(x, p, holds)
	findHolders(x, p)
	findReaches(x, p)
}

// findShared records the names that several pods use. holds is, by name, the number of running pods
// that use it.
func findShared(x *workload.Extras, p *Problem, holds map[string]int) {
	for podID, pod := range p.Pods {
		if !workload.HasVolumes(pod) {
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
func findHolders(x *workload.Extras, p *Problem) {
	x.Claims.Holders = map[string]workload.Holder{}
	barred := (&classifier{p: p}).barred
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
				x.Claims.Holders[claim] = workload.Holder{Pod: u.Running[0], PodID: -1}
				continue
			}
			var can []int32
			for _, podID := range u.Waiting {
				other := p.Pods[podID]
				if x.Known(other, int(podID)).Err == nil && barred(other) == nil && !p.Passed[workload.PodName(other)] {
					can = append(can, podID)
				}
			}
			if len(can) == 0 {
				continue
			}
			best := slices.MinFunc(can, func(a, b int32) int {
				return cmp.Or(
					model.CompareBools(p.Headroom[p.Pods[a]], p.Headroom[p.Pods[b]]),
					-cmp.Compare(model.PriorityOf(p.Pods[a]), model.PriorityOf(p.Pods[b])),
					cmp.Compare(a, b),
				)
			})
			x.Claims.Holders[claim] = workload.Holder{Pod: workload.PodName(p.Pods[best]), PodID: best, Rival: len(can) > 1}
		}
	}
}

// findReaches finds the claims that several pods share and whose volume does not exist yet. For each
// it records the label, hostname or zone, of which all these pods must have the same value.
func findReaches(x *workload.Extras, p *Problem) {
	x.Claims.Reaches = map[string]string{}
	zone := corev1.LabelTopologyZone
	if !workload.HasZones(&p.In) {
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
