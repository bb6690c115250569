package disruption

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/disruption/internal/rule"
	"github.com/dovetail-sdk/dovetail/disruption/internal/state"
	"github.com/dovetail-sdk/dovetail/disruption/internal/words"
	"github.com/dovetail-sdk/dovetail/provisioning"
)

// Candidate is a node that a method may disrupt. Its pointers point into the input.
type Candidate struct {
	// Target identifies the node.
	Target
	// Entry is the entry of the node in Input.Nodes.
	Entry provisioning.Node
	// Pool is its NodePool.
	Pool *v1.NodePool
	// InstanceType is its instance type, nil if the catalog of the pool lacks it.
	InstanceType *cloudprovider.InstanceType
	// Offering is the offering by which it was launched, available or not, nil if there is no such
	// offering. If its reservation is no longer offered, it is the on-demand offering.
	Offering *cloudprovider.Offering
	// Price is the price of the machine in USD per hour. If PriceKnown is false, Price is 0.
	Price      float64
	PriceKnown bool

	// Pods are the pods that need another place if the node is removed, sorted by namespace and
	// name: active pods, and terminating pods of StatefulSets, even ended ones, because these are
	// created again. Pods of DaemonSets and static pods are left out.
	Pods []*corev1.Pod
	// Held are those of Pods that nothing can evict as long as objects do not change: because of
	// do-not-disrupt, of a PodDisruptionBudget that never allows an eviction, or of several
	// budgets. They need no place before the drain is ended by force.
	Held []*corev1.Pod

	// DisruptionCost is 1 for the node plus, for each of Pods, the cost of its eviction if that is
	// positive: 1 + c/2^27 + p/2^25, limited to the range -10 to 10. p is the priority of the pod.
	// c is the 32-bit integer in its annotation karpenter.sh/disruption-cost or, only if that
	// annotation is missing and without Options.IgnorePodDeletionCost, in
	// controller.kubernetes.io/pod-deletion-cost. A value that is no such integer counts as 0.
	DisruptionCost float64
	// LifetimeCost is the sum of the eviction costs of all pods on the node, negative ones
	// included, times the part of expireAfter that is left.
	LifetimeCost float64
	// SavingsRatio is Price / DisruptionCost, in USD per hour.
	SavingsRatio float64
	// Empty says whether the node counts as empty: without Pods or, with
	// Options.Consolidation.FreePodsAreEmpty, if DisruptionCost is 1.
	Empty bool
}

// Candidates divides the nodes of the cluster into those that a method may disrupt, by descending
// SavingsRatio and then by name, and those that it may not, with every cause, in the order of
// Blocked.Compare. Each node is in one of the two.
//
// The rules are checked in the order of the constants of Code. To be a candidate for
//
//   - any method, a node must be managed, registered and initialised, and have a NodePool with a
//     catalog. It must not be dealt with already, rebooted, deleted, or nominated for a pending
//     pod;
//   - Interruption, Emptiness and Consolidation, the node must not be protected: it has no
//     do-not-disrupt on the node or on an active pod, including pods of DaemonSets and static pods;
//     and every pod to be evicted has at most one PodDisruptionBudget, which allows its eviction as
//     drain.Plan reads it;
//   - Emptiness and Consolidation, the pool must be dynamic and consolidateAfter must have passed
//     as well;
//   - Emptiness, it must be empty and have no headroom for a buffer;
//   - Consolidation, it must not be empty, its instance type, zone and capacity type must be known,
//     and the policy must not be WhenEmpty;
//   - Drift, it must have drifted; do-not-disrupt on the node protects it, and protection of its
//     pods counts only if the NodeClaim has no terminationGracePeriod;
//   - Repair, it must be registered but need not be initialised, and must have a condition to be
//     repaired without karpenter.sh/do-not-repair. do-not-disrupt on the node does not count, and
//     protection of its pods counts only if nothing limits the drain.
//
// Both lists are empty for an unknown method.
func (f *Cluster) Candidates(method Method) ([]Candidate, []Blocked) {
	if !slices.Contains(methods(), method) {
		return nil, nil
	}
	nodes, blocked := f.candidates(method)
	var candidates []Candidate
	for _, m := range nodes {
		candidates = append(candidates, f.candidate(m))
	}
	slices.SortStableFunc(candidates, compareSavings)
	slices.SortFunc(blocked, Blocked.Compare)
	return candidates, blocked
}

// candidates divides the nodes as Candidates does, each part sorted by name only.
func (f *Cluster) candidates(method Method) (nodes []*state.StateNode, blocked []Blocked) {
	for _, m := range f.seen.Nodes {
		reasons := f.check(m, method)
		if len(reasons) == 0 {
			nodes = append(nodes, m)
		}
		blocked = append(blocked, reasons...)
	}
	return nodes, blocked
}

func compareSavings(a, b Candidate) int {
	return cmp.Or(cmp.Compare(b.SavingsRatio, a.SavingsRatio), strings.Compare(a.Node, b.Node))
}

func (f *Cluster) candidate(m *state.StateNode) Candidate {
	c := Candidate{
		Target: targetOf(m), Entry: m.Node, InstanceType: m.InstanceType, Offering: m.Offering,
		DisruptionCost: state.DisruptionCost(m),
		LifetimeCost:   f.lifetimeCost(m),
		Empty:          f.empty(m),
	}
	if m.Pool != nil {
		c.Pool = m.Pool.NodePool
	}
	c.Price, c.PriceKnown = m.Price()
	c.SavingsRatio = c.Price / c.DisruptionCost
	for _, p := range m.PodViews {
		if p.Reschedulable {
			c.Pods = append(c.Pods, p.Pod)
			if p.Stuck() {
				c.Held = append(c.Held, p.Pod)
			}
		}
	}
	return c
}

// lifetimeCost returns Candidate.LifetimeCost.
func (f *Cluster) lifetimeCost(m *state.StateNode) float64 {
	return m.AllCost.Float() * m.LifetimeLeft(f.seen.Now)
}

// empty reports whether the node counts as empty.
func (f *Cluster) empty(m *state.StateNode) bool {
	if f.opts.Consolidation.FreePodsAreEmpty {
		return m.Cost == 0
	}
	return m.CountMovable() == 0
}

// check collects the causes that prevent one method from acting on one node.
type check struct {
	cluster *Cluster
	m       *state.StateNode
	method  Method
	blocked []Blocked
}

// check lists all causes that prevent a method from acting on a node; none if the node is a
// candidate.
func (f *Cluster) check(m *state.StateNode, method Method) []Blocked {
	c := &check{cluster: f, m: m, method: method}
	if !c.existence() {
		return c.blocked
	}
	c.state()
	c.protection()
	c.membership()
	if !c.bypassesPods() {
		c.pods()
	}
	switch method {
	case MethodEmptiness:
		c.emptiness()
	case MethodConsolidation:
		c.consolidation()
	case MethodDrift:
		c.drift()
	case MethodRepair:
		c.health()
	}
	return c.blocked
}

func (c *check) add(rule rule.Rule, until time.Time, format string, args ...any) {
	c.about("", rule, until, format, args...)
}

func (c *check) about(object string, r rule.Rule, until time.Time, format string, args ...any) {
	c.blocked = append(c.blocked, blockedBy(targetOf(c.m), c.method,
		rule.Outcome{Rule: r, Object: object, Detail: fmt.Sprintf(format, args...), Until: until}))
}

// never is the instant for causes that time does not end.
var never time.Time

// existence reports whether further checks are possible.
func (c *check) existence() bool {
	switch {
	case c.m.Underway:
		c.add(rule.MarkedForDeletion, never, "it is being dealt with already (%s)", c.cluster.in.MarkedForDeletion[c.m.Name])
	case !c.m.Managed():
		c.add(rule.Unmanaged, never, "it has no NodeClaim, so somebody else manages it")
	case c.m.Node.Node == nil && c.m.IsTrue(v1.ConditionTypeRegistered):
		c.add(rule.NoNode, never, "its Node is gone although its NodeClaim is registered; delete the NodeClaim unless the Node comes back")
	case c.m.Node.Node == nil:
		c.add(rule.NoNode, never, "its NodeClaim has no Node yet")
	}
	return len(c.blocked) == 0
}

func (c *check) state() {
	m := c.m
	if m.Rebooting() {
		c.add(rule.Rebooting, never, "it is being rebooted")
	}
	if m.Leaving {
		text := "it is being deleted"
		if held := heldText(c.cluster.seen.Departs(m, time.Time{})); held != "" {
			text += "; " + held
		}
		c.add(rule.Deleting, never, "%s", text)
	}
	switch {
	case !m.Registered():
		c.add(rule.Unregistered, never, "its Node has not registered yet, see condition Registered of the NodeClaim")
	case !m.Initialized() && c.method != MethodRepair:
		c.add(rule.Uninitialized, never, "it is not ready for pods yet, see condition Initialized of the NodeClaim")
	}
	until, nominated := c.cluster.in.Nominations[m.Name]
	// Repair does not wait for a nomination to a node that has not come up.
	if nominated && until.After(c.cluster.seen.Now) && (c.method != MethodRepair || m.Initialized()) {
		c.add(rule.Nominated, until, "a place on it was promised to a pending pod, until %s", words.Instant(until))
	}
}

func (c *check) protection() {
	if c.method != MethodRepair && c.m.Annotations[v1.DoNotDisruptAnnotationKey] == "true" {
		c.add(rule.NodeDoNotDisrupt, never, "it has the annotation %s", v1.DoNotDisruptAnnotationKey)
	}
}

func (c *check) membership() {
	switch m := c.m; {
	case m.PoolName == "":
		c.add(rule.NoNodePoolLabel, never, "it has no label %s", v1.NodePoolLabelKey)
	case m.Pool == nil:
		c.add(rule.NodePoolMissing, never, "its %s does not exist", state.PoolObject(m.PoolName))
	case len(m.Pool.Types) == 0:
		c.add(rule.NoInstanceTypes, never, "its %s has no instance types", state.PoolObject(m.PoolName))
	}
}

// bypassesPods reports whether protection of the pods does not count.
func (c *check) bypassesPods() bool {
	switch c.method {
	case MethodDrift:
		return c.m.Bounded(Drifted)
	case MethodRepair:
		return c.m.Bounded(Unhealthy) || !c.m.Sick.Due() // otherwise nothing is to be repaired
	}
	return false
}

func (c *check) pods() {
	demand := state.Demand{}
	first := map[*state.PDB]string{}
	say := func(r rule.Rule) rule.Rule { return r }
	if c.method == MethodRepair {
		// They would not count if the drain were limited.
		say = func(rule.Rule) rule.Rule { return rule.NoDrainBound }
	}
	for _, p := range c.m.PodViews {
		switch {
		case p.Held && p.HeldUntil.IsZero():
			c.about(p.Object(), say(rule.PodDoNotDisrupt), never, "%s has the annotation %s", p.Object(), v1.DoNotDisruptAnnotationKey)
		case p.Held:
			c.about(p.Object(), say(rule.PodDoNotDisrupt), p.HeldUntil, "%s has the annotation %s, until %s",
				p.Object(), v1.DoNotDisruptAnnotationKey, words.Instant(p.HeldUntil))
		case len(p.Budgets) > 1:
			c.about(p.Object(), say(rule.SeveralBudgets), never, "%s is selected by %d budgets, the first two %s and %s, and then it cannot be evicted",
				p.Object(), len(p.Budgets), p.Budgets[0].Object, p.Budgets[1].Object)
		default:
			if b := p.Governing(); b != nil {
				if demand[b] == 0 {
					first[b] = p.Object()
				}
				demand[b]++
			}
		}
	}
	for _, b := range demand.Sorted() {
		want := demand[b]
		if b.Allowed >= want || b.Allowed > 0 && !c.cluster.opts.EvictAtOnce {
			continue
		}
		c.about(b.Object, say(rule.PodDisruptionBudget), never, "%s lets %s go now, and selects %d of the node, the first %s",
			b.Object, words.Plural(b.Allowed, "pod"), want, first[b])
	}
}

// dynamic checks what Emptiness and Consolidation require of the pool, and reports whether the
// quiet time matters.
func (c *check) dynamic() bool {
	switch {
	case c.m.Pool == nil:
		return false
	case c.m.Pool.Static():
		c.add(rule.Static, never, "its %s is static", state.PoolObject(c.m.PoolName))
		return false
	case c.m.Pool.ConsolidateAfter.Duration == nil:
		c.add(rule.ConsolidationOff, never, "consolidateAfter of its %s is Never", state.PoolObject(c.m.PoolName))
		return false
	}
	return true
}

func (c *check) emptiness() {
	quiet := c.dynamic()
	if c.m.Buffer {
		c.add(rule.Buffer, never, "spare room is kept on it")
	}
	if n := c.m.CountMovable(); !c.cluster.empty(c.m) {
		c.add(rule.NotEmpty, never, "it is not empty: %s without a place elsewhere", words.Plural(n, "pod"))
	}
	if quiet {
		c.quiet()
	}
}

func (c *check) consolidation() {
	m := c.m
	quiet := c.dynamic()
	if m.Pool != nil && m.InstanceType == nil {
		c.add(rule.UnknownInstanceType, never, "its instance type %q is not in the catalog of its %s",
			m.Labels[corev1.LabelInstanceTypeStable], state.PoolObject(m.PoolName))
	}
	if m.Labels[v1.CapacityTypeLabelKey] == "" {
		c.add(rule.NoCapacityType, never, "it has no label %s", v1.CapacityTypeLabelKey)
	}
	if m.Labels[corev1.LabelTopologyZone] == "" {
		c.add(rule.NoZone, never, "it has no label %s", corev1.LabelTopologyZone)
	}
	if c.cluster.empty(m) {
		c.add(rule.Empty, never, "it is empty, and goes as such")
	}
	switch {
	case m.Pool == nil:
	case m.Pool.PolicyUnknown:
		c.add(rule.PolicyWhenEmpty, never, "consolidationPolicy of its %s is %q, which is not known, so only empty nodes go",
			state.PoolObject(m.PoolName), m.Pool.Policy)
	case m.Pool.Policy == v1.ConsolidationPolicyWhenEmpty:
		c.add(rule.PolicyWhenEmpty, never, "consolidationPolicy of its %s is WhenEmpty", state.PoolObject(m.PoolName))
	}
	if quiet {
		c.quiet()
	}
}

// quiet checks that consolidateAfter has passed.
func (c *check) quiet() {
	since, known := c.cluster.seen.LastPodEvent(c.m)
	if !known {
		c.add(rule.ConsolidateAfter, never, "condition Initialized of its NodeClaim is not True, so consolidateAfter does not count yet")
		return
	}
	if until := since.Add(*c.m.Pool.ConsolidateAfter.Duration); until.After(c.cluster.seen.Now) {
		c.add(rule.ConsolidateAfter, until, "it was initialized, or pods have come or gone, within consolidateAfter, which passes at %s", words.Instant(until))
	}
}
