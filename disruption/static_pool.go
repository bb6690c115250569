package disruption

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/disruption/internal/rule"
	"github.com/dovetail-sdk/dovetail/disruption/internal/state"
	"github.com/dovetail-sdk/dovetail/disruption/internal/words"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// Why a node is terminated first; see Action.OperationCause.
const (
	// NoReservedCapacity: no reserved capacity is left for a replacement while the node exists.
	NoReservedCapacity = "NoReservedCapacity"
	// StaticAtLimit: the static pool is at its limit of nodes.
	StaticAtLimit = "StaticAtLimit"
)

// staticSlots counts the room for replacements of nodes of static pools.
type staticSlots struct {
	cluster *Cluster
	method  Method
	gate    bool // nodes may be terminated first
	room    map[string]int
	held    map[string]string // by pool: why it launches nothing now
	blocked []Blocked
}

// placement says how a node can be replaced.
type placement struct {
	operation Operation
	why       string // why the node is terminated first, "" if it is not
	drain     *time.Duration
	comes     string // description of its replacement; "" if the engine adds it
}

// detail returns the reason, completed by the replacement.
func (p placement) detail(reason string) string {
	if p.comes == "" {
		return reason
	}
	return reason + "; " + p.comes
}

func (f *Cluster) newStaticSlots(method Method, gate bool) *staticSlots {
	return &staticSlots{cluster: f, method: method, gate: gate, room: map[string]int{}, held: map[string]string{}}
}

// place says how a node is replaced; one of a dynamic pool only if pods on it need another place. For a node of
// a static pool it reserves room for the replacement. If there is none, it records the cause and reports false.
func (s *staticSlots) place(m *state.StateNode) (placement, bool) {
	p := m.Pool
	if !p.Static() {
		if m.CountMovable() == 0 {
			return placement{operation: Delete}, true
		}
		return placement{operation: Replace}, true
	}
	if h := p.Count; int64(h.Active)+int64(h.Pending) > *p.Spec.Replicas {
		s.block(m, rule.OverReplicas, "%s has %s, spec.replicas is %d, and those too many go first",
			state.PoolObject(p.Name), words.Plural(h.Active+h.Pending, "node"), *p.Spec.Replicas)
		return placement{}, false
	}
	if p.LimitFault != nil {
		s.block(m, rule.StaticAtLimit, "%s launches nothing to replace it, as nobody can tell its limit of nodes: spec.limits[nodes]: %v", state.PoolObject(p.Name), p.LimitFault)
		return placement{}, false
	}
	if s.gate && s.cluster.reservedFull(p) {
		if m.Offering == nil || m.Offering.ReservationID == "" || !m.Offering.Available {
			s.block(m, rule.ReservationFull, "%s can launch reserved capacity only and none is left, and the node holds none that it would set free",
				state.PoolObject(p.Name))
			return placement{}, false
		}
		return s.first(m, NoReservedCapacity)
	}
	if held := s.launchesNothing(p); held != "" {
		s.block(m, rule.NothingToLaunch, "%s launches no nodes now, so nothing can replace it: %s", state.PoolObject(p.Name), held)
		return placement{}, false
	}
	if _, known := s.room[p.Name]; !known {
		s.room[p.Name] = p.Room()
	}
	if s.room[p.Name] > 0 {
		s.room[p.Name]--
		return placement{operation: Replace, comes: fmt.Sprintf("a new node by the template of its %s comes first", state.PoolObject(p.Name))}, true
	}
	// While other nodes of the pool are replaced, room will become free.
	if s.gate && p.Room() == 0 {
		return s.first(m, StaticAtLimit)
	}
	remedy := "; raise spec.limits[nodes] above the replicas"
	if limit := p.Spec.Limits[v1.ResourceNodes]; limit.CmpInt64(*p.Spec.Replicas) > 0 {
		remedy = " until others of it have gone; raise spec.limits[nodes] for more at once"
	}
	s.block(m, rule.StaticAtLimit, "%s is at its limit of nodes, so nothing can replace it%s", state.PoolObject(p.Name), remedy)
	return placement{}, false
}

// launchesNothing says why no node can be launched from the template of a pool and its catalog now,
// "" if one can or that is not known.
func (s *staticSlots) launchesNothing(p *state.NodePool) string {
	if _, known := s.held[p.Name]; !known {
		types := map[string][]*cloudprovider.InstanceType{p.Name: slices.Collect(maps.Values(p.Types))} // the order does not matter
		pool, err := oneMissing(provisioning.Input{InstanceTypes: types, Vocabulary: s.cluster.seen.Vocabulary}, p)
		if err != nil {
			pool.Held = "" // Observe reports the faults of the input
		}
		s.held[p.Name] = pool.Held
	}
	return s.held[p.Name]
}

// first terminates a node first, if its pool will launch another one.
func (s *staticSlots) first(m *state.StateNode, why string) (placement, bool) {
	if !m.Pool.Ready() {
		s.block(m, rule.PoolNotReady, "%s is not ready or being deleted, so the node would not come back", state.PoolObject(m.PoolName))
		return placement{}, false
	}
	p := placement{operation: TerminateFirst, why: why, comes: fmt.Sprintf("a new node by the template of its %s follows", state.PoolObject(m.PoolName))}
	if m.ClaimBound() == nil {
		p.drain = new(TerminateFirstDrain)
	}
	return p, true
}

func (s *staticSlots) block(m *state.StateNode, r rule.Rule, format string, args ...any) {
	s.blocked = append(s.blocked, blockedBy(targetOf(m), s.method, rule.Forbid(r, format, args...)))
}

// reservedFull reports whether everything that the template of a pool can launch is reserved
// capacity of which none is left. With an offering of another capacity type, even an unavailable
// one, the pool is not full.
func (f *Cluster) reservedFull(p *state.NodePool) bool {
	template, err := requirements.FromNodePool(p.NodePool, f.seen.Vocabulary)
	if err != nil {
		return false
	}
	for _, t := range p.Types {
		for i := range t.Offerings {
			o := &t.Offerings[i]
			if o.CapacityType == v1.CapacityTypeReserved && !o.Launchable() {
				continue
			}
			option := cloudprovider.LaunchOption{InstanceType: t, Offering: o}
			// The template adds labels that only the template names.
			if !option.Requirements().Intersect(template).Impossible() {
				return false
			}
		}
	}
	return true
}

// scaleDown proposes to delete the nodes that static pools have in excess of their replicas, by
// pool name. Within a pool it removes, in this order,
//
//  1. NodeClaims that have no machine yet: no Node and no provider ID;
//  2. nodes without pods that need another place, unless the node or a pod there has do-not-disrupt
//     now;
//  3. other nodes without do-not-disrupt on the node or a pod now;
//  4. all other nodes;
//
// and within each group by Candidate.LifetimeCost, the lowest first, then by age, the oldest first,
// then by name. provisioning.StaticPool.Remove reads neither the clock nor Options, and can have
// another order: there the part of expireAfter that is left and Options.IgnorePodDeletionCost do
// not count, and a duration in karpenter.sh/do-not-disrupt never ends.
//
// Nodes that are being deleted or dealt with do not count. As in Karpenter, budgets do not apply,
// and protection of a node only puts it last. Nothing is Blocked, and time alone changes only which
// nodes are removed.
func (f *Cluster) scaleDown() Result {
	var r Result
	for _, name := range f.seen.PoolNames {
		p := f.seen.Pools[name]
		if !p.Static() || p.Unreadable || p.LimitFault != nil || *p.Spec.Replicas < 0 {
			continue
		}
		h := p.Count
		excess := int64(h.Active) - *p.Spec.Replicas
		if excess <= 0 {
			continue
		}
		for _, m := range f.removalOrder(p)[:excess] {
			a := actionOn(m, ScaledDown, Delete)
			a.Detail = fmt.Sprintf("%s has %s, and spec.replicas is %d", state.PoolObject(name), words.Plural(h.Active, "node"), *p.Spec.Replicas)
			r.Actions = append(r.Actions, a)
		}
	}
	return r
}

// removalOrder lists the active nodes of a static pool in the order in which excess nodes are
// removed.
func (f *Cluster) removalOrder(p *state.NodePool) []*state.StateNode {
	active := slices.DeleteFunc(slices.Clone(p.Members), func(m *state.StateNode) bool { return !m.Active() })
	slices.SortFunc(active, func(a, b *state.StateNode) int {
		return cmp.Or(
			cmp.Compare(removalTurnOf(a), removalTurnOf(b)),
			cmp.Compare(f.lifetimeCost(a), f.lifetimeCost(b)),
			a.NodeClaim.CreationTimestamp.Compare(b.NodeClaim.CreationTimestamp.Time),
			strings.Compare(a.Name, b.Name),
		)
	})
	return active
}

// removalTurn is the first criterion of the order; the lowest value is removed first.
type removalTurn int

const (
	turnNoMachine removalTurn = iota
	turnEmpty
	turnOrdinary
	turnDoNotDisrupt
)

func removalTurnOf(m *state.StateNode) removalTurn {
	switch {
	case m.Node.Node == nil && m.NodeClaim.Status.ProviderID == "":
		return turnNoMachine
	case m.Asks(v1.DoNotDisruptAnnotationKey) || slices.ContainsFunc(m.PodViews, func(p *state.PodView) bool { return p.Held }):
		return turnDoNotDisrupt
	case m.CountMovable() == 0:
		return turnEmpty
	}
	return turnOrdinary
}
