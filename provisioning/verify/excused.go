package verify

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
	"github.com/dovetail-sdk/dovetail/provisioning/verify/internal/nodefit"
	"github.com/dovetail-sdk/dovetail/provisioning/verify/internal/nodestate"
	"github.com/dovetail-sdk/dovetail/provisioning/verify/internal/podselect"
	"github.com/dovetail-sdk/dovetail/provisioning/verify/internal/storage"
)

// bindCompleted is the annotation that the volume controller sets on a claim that is bound to its
// volume.
const bindCompleted = "pv.kubernetes.io/bind-completed"

// excused says whether an engine may leave a pod pending whatever room there is.
func (r *referee) excused(p *podInfo) bool {
	if p.requestsErr != nil || p.constraintsErr != nil || len(p.Spec.ResourceClaims) > 0 || r.waits(p) != "" ||
		slices.ContainsFunc(p.Spec.TopologySpreadConstraints, podselect.Malformed) || nodefit.Unwritable(p.Pod) {
		return true
	}
	return slices.ContainsFunc(r.storage.ClaimsOf(p.Pod), func(c storage.Claim) bool {
		return c.Fault != "" || c.Claim.Spec.VolumeName != "" && c.Claim.Annotations[bindCompleted] == "" ||
			c.Ephemeral && r.storage.Claims[c.Key] == nil || r.undecided(&c)
	})
}

// undecided says whether a claim that several pods use, perhaps on several nodes, may be bound to
// any of several existing volumes: which one is known only once it is bound.
func (r *referee) undecided(c *storage.Claim) bool {
	if c.Claim.Spec.VolumeName != "" || !c.Shared() || len(r.storage.Static[r.storage.ClassOf(c.Claim)]) == 0 {
		return false
	}
	users := 0
	count := func(pods []*corev1.Pod) {
		for _, pod := range pods {
			if pod != nil && pod.Namespace == c.Key.Namespace {
				users += len(slices.DeleteFunc(slices.Clone(pod.Spec.Volumes), func(v corev1.Volume) bool {
					return v.PersistentVolumeClaim == nil || v.PersistentVolumeClaim.ClaimName != c.Key.Name
				}))
			}
		}
	}
	count(r.in.Pods)
	for i := range r.in.Nodes {
		count(r.in.Nodes[i].Pods)
	}
	return users > 1
}

// withClaimSharers says whether a pod goes where the other pods are that share a claim with it
// whose volume is still to be made. kube-scheduler may place the pod elsewhere, but there it may
// not reach the volume, if that is for one node at a time or made in another zone. So an engine may
// leave the pod pending instead.
func (r *referee) withClaimSharers(s *site, p *podInfo) bool {
	for _, c := range r.storage.ClaimsOf(p.Pod) {
		users := r.storage.users[c.Key]
		if c.Claim == nil || c.Claim.Spec.VolumeName != "" || len(users) == 0 || slices.Contains(users, s) {
			continue
		}
		if !c.Shared() || !slices.ContainsFunc(users, func(other *site) bool { return r.sameZone(s, other) }) {
			return false
		}
	}
	return true
}

// mayExclude says whether anti-affinity, the pod's own or another pod's, excludes the pod from a
// site once the nodes that are not registered yet have their labels: the site may be one of them,
// or share a domain with one of them.
func (r *referee) mayExclude(s *site, p *podInfo) bool {
	excludes := func(others *domainCounts) bool {
		if r.mayGet(s.node, others.key) {
			return others.total+len(others.open) > 0
		}
		return len(others.open) > 0 && slices.ContainsFunc(r.domainsOf(others.topology, s).values, func(value string) bool {
			return slices.ContainsFunc(others.open, func(n *nodestate.State) bool { return r.mayBeIn(n, others.key, value) })
		})
	}
	return slices.ContainsFunc(p.avoids, func(c *counter) bool { return excludes(&c.counts[0]) }) ||
		slices.ContainsFunc(r.counters.excluding(p), func(c *counter) bool { return excludes(&c.owners) })
}

// mayGet says whether an existing node is not registered yet and may get a label that it lacks. It
// is false for nil.
func (r *referee) mayGet(n *nodestate.State, key string) bool {
	if n == nil || n.Coming == nil {
		return false
	}
	if _, known := n.Node.Labels[key]; known {
		return false
	}
	return r.vocabulary.WellKnown(r.vocabulary.NormalizeKey(key)) ||
		slices.ContainsFunc(n.Coming.Spec.Requirements, func(q v1.NodeSelectorRequirementWithMinValues) bool { return q.Key == key })
}

// mayBeIn says whether the requirements of a node that is not registered yet admit a domain.
func (r *referee) mayBeIn(n *nodestate.State, key, value string) bool {
	asked, err := requirements.FromRequirements(n.Coming.Spec.Requirements, r.vocabulary)
	want, named := asked.Get(r.vocabulary.NormalizeKey(key))
	return err != nil || !named || value == nodefit.OtherValue || want.Has(value)
}
