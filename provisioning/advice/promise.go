package advice

import (
	"cmp"
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// promise is a constraint, and an estimate of the saving without it.
type promise struct {
	Constraint
	share    float64 // of the bill, in USD per hour: what its pods cost, or everything
	unplaced int     // pods that have it and no place

	placed int // by a quick answer: pods that find a place
	saves  float64
}

func (p promise) pays() bool { return p.placed > 0 || p.saves > noise }

func (p promise) compare(other promise) int {
	return cmp.Or(cmp.Compare(other.placed, p.placed), cmp.Compare(other.saves, p.saves), p.Constraint.Compare(other.Constraint))
}

// promises returns the constraints of an input in the order in which to test them: those of pools,
// of unplaced pods, and of the most expensive pods. Requests are returned separately.
func promises(in provisioning.Input, plan *provisioning.Plan) (singles, requests []promise) {
	share := shares(plan)
	unplaced := map[types.NamespacedName]*provisioning.Explanation{}
	for _, u := range plan.Unplaced {
		unplaced[nameOf(u.Pod)] = u.Explanation
	}
	for _, c := range Constraints(in) {
		p := promise{Constraint: c}
		if c.pool != "" {
			p.share = math.Inf(1)
		}
		var costs []float64
		for name := range c.pods { // sorted below, as the order of a sum matters
			costs = append(costs, share[name])
			if why := unplaced[name]; why != nil && (c.Kind != KindRequest || tooMuch(why, corev1.ResourceName(c.part.key))) {
				p.unplaced++
			}
		}
		slices.Sort(costs)
		for _, cost := range costs {
			p.share += cost
		}
		if c.Kind == KindRequest {
			requests = append(requests, p)
		} else {
			singles = append(singles, p)
		}
	}
	for _, list := range [][]promise{singles, requests} {
		slices.SortFunc(list, func(a, b promise) int {
			return cmp.Or(poolsFirst(a.Constraint, b.Constraint), cmp.Compare(b.unplaced, a.unplaced),
				cmp.Compare(b.share, a.share), a.Constraint.Compare(b.Constraint))
		})
	}
	return singles, requests
}

// tooMuch reports whether a pod that is unplaced for this reason may find a place if it requests
// less of a resource: a limit stops it, or instance types lack nothing else.
func tooMuch(why *provisioning.Explanation, name corev1.ResourceName) bool {
	other := func(s provisioning.Shortfall) bool { return s.Resource != name }
	return slices.ContainsFunc(why.Pools, func(p provisioning.PoolExplanation) bool {
		return p.Cause == provisioning.CauseLimits || p.Cause == provisioning.CauseResources && !slices.ContainsFunc(p.Shortfalls, other)
	})
}

func nameOf(p *corev1.Pod) types.NamespacedName {
	return types.NamespacedName{Namespace: p.Namespace, Name: p.Name}
}

// shares divides the cost of each new node of a plan between its pods, in USD per hour: in
// proportion to the CPU or the memory that they request, whichever is the larger part of the node.
func shares(plan *provisioning.Plan) map[types.NamespacedName]float64 {
	out := map[types.NamespacedName]float64{}
	for i := range plan.Create {
		n := &plan.Create[i]
		capacity := n.Options[0].InstanceType.Capacity
		sum, parts := 0.0, make([]float64, len(n.Pods))
		for k, p := range n.Pods {
			requests, err := resources.PodRequests(p)
			if err != nil {
				continue // the plan has been made: it could be read
			}
			for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
				if all := capacity.Get(name); all > 0 {
					parts[k] = max(parts[k], float64(requests.Get(name))/float64(all))
				}
			}
			parts[k] = max(parts[k], 1/float64(max(1, capacity.Get(corev1.ResourcePods))))
			sum += parts[k]
		}
		for k, p := range n.Pods {
			if _, _, virtual := provisioning.BufferOf(p); !virtual {
				out[nameOf(p)] = n.Price() * parts[k] / sum
			}
		}
	}
	return out
}
