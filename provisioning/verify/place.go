package verify

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
	"github.com/dovetail-sdk/dovetail/provisioning/verify/internal/nodefit"
	"github.com/dovetail-sdk/dovetail/provisioning/verify/internal/podselect"
	"github.com/dovetail-sdk/dovetail/provisioning/verify/internal/storage"
)

// bindCompleted is how the volume controller marks a claim whose volume is its own.
const bindCompleted = "pv.kubernetes.io/bind-completed"

// excused says whether an engine may leave a pod pending whatever room there is.
func (r *referee) excused(p *podInfo) bool {
	if p.requestsErr != nil || p.wantsErr != nil || len(p.Spec.ResourceClaims) > 0 || r.waits(p) != "" ||
		slices.ContainsFunc(p.Spec.TopologySpreadConstraints, podselect.Malformed) || nodefit.Unwritable(p.Pod) {
		return true
	}
	for _, c := range r.storage.ClaimsOf(p.Pod) {
		if c.Fault != "" || c.Claim.Spec.VolumeName != "" && c.Claim.Annotations[bindCompleted] == "" ||
			c.Ephemeral && r.storage.Claims[c.Key] == nil || r.undecided(&c) {
			return true
		}
	}
	return false
}

// welcomeAlone says whether a pod may come to a fresh node of an option.
func (r *referee) welcomeAlone(p *podInfo, pool *poolInfo, asked requirements.Set, option int32) bool {
	return r.welcomeNew(&targetNode{number: -1, name: "a fresh node", family: &nodeGroup{
		pool: pool, asked: asked, options: []int32{option}, perhaps: pool.daemons,
		lots: map[*labelFilter]*nodeVariants{},
	}}, p)
}

// welcomeNew says whether a pod may come to a new node after all the others, beside every
// DaemonSet of the pool, and with no constraint getting a domain more by which the plan let
// a pod in only because every domain had some.
func (r *referee) welcomeNew(s *targetNode, p *podInfo) bool {
	if slices.ContainsFunc(r.spreadList, func(c *spreadCounter) bool { return c.leant && c.extended(s) }) {
		return false
	}
	atOdds := func(d *podInfo) bool { return r.atOdds(p, d) }
	return !r.minds(p) || !slices.ContainsFunc(s.family.pool.daemons, atOdds) && r.welcome(s, p)
}

// extended says whether a node would be a domain more to a constraint.
func (c *spreadCounter) extended(s *targetNode) bool {
	return slices.ContainsFunc(c.r.view(c.glance, s).values, func(value string) bool {
		return c.domains[value] == nil || c.domains[value].certain == 0
	})
}

// atOdds says whether a pod and a DaemonSet on the same node could keep each
// other out, or would be counted together.
func (r *referee) atOdds(p, d *podInfo) bool {
	for _, t := range p.apart {
		if t.selects(d) {
			return true
		}
	}
	for _, w := range p.wants {
		if w.selects(d) {
			return true
		}
	}
	return slices.ContainsFunc(d.apart, func(t *antiTerm) bool { return t.selects(p) })
}

// reunited says whether a pod comes to where the others are that it shares claims
// with which get their volumes there. kube-scheduler may send it elsewhere, but
// a volume for one node at a time is then out of its reach, and so may one be
// that is made in another zone: an engine may leave the pod pending instead.
func (r *referee) reunited(s *targetNode, p *podInfo) bool {
	zone := r.glanceAt(corev1.LabelTopologyZone)
	for _, c := range r.storage.ClaimsOf(p.Pod) {
		users := r.storage.users[c.Key]
		if c.Claim == nil || c.Claim.Spec.VolumeName != "" || len(users) == 0 || slices.Contains(users, s) {
			continue
		}
		here := r.view(zone, s)
		if !c.Shared() || !slices.ContainsFunc(users, func(other *targetNode) bool {
			there := r.view(zone, other)
			return here.sure && there.sure && here.values[0] == there.values[0]
		}) {
			return false
		}
	}
	return true
}

// undecided says whether a claim that several nodes may use may be bound to one of
// several volumes that exist: which it is, is known only once it is bound.
func (r *referee) undecided(c *storage.Claim) bool {
	return c.Claim.Spec.VolumeName == "" && c.Shared() && len(r.storage.Static[r.storage.ClassOf(c.Claim)]) > 0 && r.claimants(c.Key) > 1
}

// claimants counts the pods that name a claim.
func (r *referee) claimants(key objectKey) int {
	if r.sharing == nil {
		r.sharing = map[objectKey]int{}
		count := func(pod *corev1.Pod) {
			for i := range pod.Spec.Volumes {
				if c := pod.Spec.Volumes[i].PersistentVolumeClaim; c != nil {
					r.sharing[objectKey{Namespace: pod.Namespace, Name: c.ClaimName}]++
				}
			}
		}
		for _, pod := range r.in.Pods {
			if pod != nil {
				count(pod)
			}
		}
		for i := range r.in.Nodes {
			for _, pod := range r.in.Nodes[i].Pods {
				if pod != nil {
					count(pod)
				}
			}
		}
	}
	return r.sharing[key]
}
