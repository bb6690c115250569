package provisioning

import (
	"cmp"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/provisioning/internal/topology"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/volume"
)

// claims are the PersistentVolumeClaims that pods to be placed have in common
// with each other, or with pods that run.
type claims struct {
	users   map[string]*claimUsers // by namespace, slash and name
	shared  map[string]bool        // volumes, claims and disks that several pods have, by name
	holders map[string]holder      // of claims that one pod only may use
	reaches map[string]string      // of claims that get their volume where their pods go: the label these must have in common
}

// claimUsers are the pods that use a claim.
type claimUsers struct {
	waiting []int32  // pods to be placed, by pod ID
	running []string // pods on nodes, but those that are to be placed anew
}

// holder is the pod that may use a claim which only one may use.
type holder struct {
	pod   string
	podID int32 // -1 if it runs
	rival bool  // another pod to be placed could have it instead
}

// readClaims finds out who uses which claim, and which disks. It takes time in proportion to the
// volumes of all pods.
func (x *extras) readClaims(p *Problem) {
	c := &x.claims
	c.users = map[string]*claimUsers{}
	own, disks := map[string]bool{}, map[string]bool{}
	for podID, pod := range p.pods {
		if !hasClaims(pod) && !hasDisks(pod) {
			continue
		}
		own[podName(pod)] = true
		for _, d := range volume.Disks(pod) {
			disks[d.Name] = true
		}
		for _, name := range volume.Claims(pod) {
			if c.users[name] == nil {
				c.users[name] = &claimUsers{}
			}
			c.users[name].waiting = append(c.users[name].waiting, int32(podID))
		}
	}
	if len(c.users)+len(disks) == 0 {
		return
	}
	holds := map[string]int{}
	for i := range p.daemons {
		for _, d := range volume.Disks(p.daemons[i].pod) {
			holds[d.Name]++
		}
	}
	for i := range p.in.Nodes {
		for _, pod := range p.in.Nodes[i].Pods {
			if pod == nil || finished(pod) || !hasClaims(pod) && !hasDisks(pod) || own[podName(pod)] {
				continue
			}
			known := slices.ContainsFunc(volume.Disks(pod), func(d volume.Disk) bool { return disks[d.Name] })
			for _, name := range volume.Claims(pod) {
				if u := c.users[name]; u != nil {
					u.running, known = append(u.running, podName(pod)), true
				}
			}
			if !known {
				continue
			}
			for _, name := range x.volumes.Holds(pod) {
				holds[name]++
			}
		}
	}
	x.findShared(p, holds)
	x.findHolders(p)
	x.findReaches(p)
}

func podName(pod *corev1.Pod) string { return pod.Namespace + "/" + pod.Name }

// hasClaims says whether a pod names a claim.
func hasClaims(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Spec.Volumes, func(v corev1.Volume) bool { return v.PersistentVolumeClaim != nil })
}

// findShared notes what several pods have, given how many that run have it.
func (x *extras) findShared(p *Problem, holds map[string]int) {
	for podID, pod := range p.pods {
		if !hasVolumes(pod) {
			continue
		}
		for _, name := range x.known(pod, podID).Names() {
			holds[name]++
		}
	}
	x.claims.shared = map[string]bool{}
	for name, n := range holds {
		if n > 1 {
			x.claims.shared[name] = true
		}
	}
}

// sharedDisks are the disks of a pod that others name as well.
func (x *extras) sharedDisks(n *volume.Needs) []volume.Disk {
	return slices.DeleteFunc(slices.Clone(n.Disks), func(d volume.Disk) bool { return !x.claims.shared[d.Name] })
}

// findHolders gives each claim that only one pod may use to one: to the pod that
// runs with it, or to the one of the highest priority, then the first by name.
// Pods that cannot be placed whatever happens, or that were passed over, hold
// nothing.
func (x *extras) findHolders(p *Problem) {
	x.claims.holders = map[string]holder{}
	barred := (&classifier{p: p}).barred
	seen := map[string]bool{} // a claim may have no holder
	for podID, pod := range p.pods {
		if !hasClaims(pod) {
			continue
		}
		for _, claim := range x.known(pod, podID).Exclusive {
			if seen[claim] {
				continue
			}
			seen[claim] = true
			u := x.claims.users[claim]
			if len(u.running) > 0 {
				x.claims.holders[claim] = holder{pod: u.running[0], podID: -1}
				continue
			}
			var can []int32
			for _, podID := range u.waiting {
				other := p.pods[podID]
				if x.known(other, int(podID)).err == nil && barred(other) == nil && !p.passed[podName(other)] {
					can = append(can, podID)
				}
			}
			if len(can) == 0 {
				continue
			}
			best := slices.MinFunc(can, func(a, b int32) int {
				return cmp.Or(
					compareBools(p.headroom[p.pods[a]], p.headroom[p.pods[b]]),
					-cmp.Compare(priorityOf(p.pods[a]), priorityOf(p.pods[b])),
					cmp.Compare(a, b),
				)
			})
			x.claims.holders[claim] = holder{pod: podName(p.pods[best]), podID: best, rival: len(can) > 1}
		}
	}
}

func priorityOf(pod *corev1.Pod) int32 {
	if pod.Spec.Priority == nil {
		return 0
	}
	return *pod.Spec.Priority
}

// mayUse says why a pod must leave claims that are for one pod only to another.
func (x *extras) mayUse(pod *corev1.Pod, exclusive []string) error {
	name := podName(pod)
	for _, claim := range exclusive {
		if h, ok := x.claims.holders[claim]; ok && h.pod != name {
			if h.podID < 0 {
				return fmt.Errorf("claim %s is for one pod only (ReadWriteOncePod), and pod %s uses it", claim, h.pod)
			}
			return fmt.Errorf("claim %s is for one pod only (ReadWriteOncePod), and pod %s gets it", claim, h.pod)
		}
	}
	return nil
}

// findReaches works out how far apart the pods may be that share a claim which
// gets its volume where they go.
func (x *extras) findReaches(p *Problem) {
	x.claims.reaches = map[string]string{}
	zone := corev1.LabelTopologyZone
	if !hasZones(&p.in) {
		zone = corev1.LabelHostname
	}
	for podID, pod := range p.pods {
		if !hasClaims(pod) {
			continue
		}
		need := x.known(pod, podID)
		for _, claim := range need.Unbound {
			if u := x.claims.users[claim]; len(u.waiting)+len(u.running) < 2 || slices.Contains(need.Exclusive, claim) {
				continue
			}
			switch need.Reach(claim) {
			case volume.ReachNode:
				x.claims.reaches[claim] = corev1.LabelHostname
			case volume.ReachZone:
				x.claims.reaches[claim] = zone
			}
		}
	}
}

// hasZones says whether any node or offering is in a zone.
func hasZones(in *Input) bool {
	for i := range in.Nodes {
		if in.Nodes[i].Node == nil && in.Nodes[i].NodeClaim == nil {
			continue // a fault, which is reported elsewhere
		}
		if _, ok := in.Nodes[i].labels()[corev1.LabelTopologyZone]; ok {
			return true
		}
	}
	for _, types := range in.InstanceTypes {
		for _, t := range types {
			if t != nil && len(t.Offerings) > 0 {
				return true // an offering has a zone
			}
		}
	}
	return false
}

// addSharing adds to the constraints of a pod that it goes with the others it
// shares a claim with, where these get their volume.
func (r *termReader) addSharing(terms []term, x *extras, claims []string) []term {
	for _, claim := range claims {
		terms = append(terms, term{kind: topology.Together, key: x.claims.reaches[claim], pods: r.claimSelection(claim), storage: true})
	}
	slices.SortFunc(terms, compareTerms)
	return slices.Compact(terms)
}

// sharing lists the claims of a pod that get their volume where it and others
// go.
func (x *extras) sharing(pod *corev1.Pod, podID int) []string {
	if len(x.claims.reaches) == 0 || !hasClaims(pod) {
		return nil
	}
	need := x.known(pod, podID)
	return slices.DeleteFunc(slices.Clone(need.Unbound), func(claim string) bool { return x.claims.reaches[claim] == "" })
}
