package disruption

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
)

// check collects what keeps one method from one node.
type check struct {
	f       *Fleet
	m       *member
	method  Method
	blocked []Blocked
}

// check lists everything that keeps a method from a node, nothing if it is a
// candidate.
func (f *Fleet) check(m *member, method Method) []Blocked {
	c := &check{f: f, m: m, method: method}
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

func (c *check) add(rule Rule, until time.Time, format string, args ...any) {
	c.about("", rule, until, format, args...)
}

func (c *check) about(object string, rule Rule, until time.Time, format string, args ...any) {
	c.blocked = append(c.blocked, Blocked{Target: c.m.target(), Method: c.method, Rule: rule, Object: object,
		Detail: fmt.Sprintf(format, args...), Until: until})
}

// never is the instant at which something changes that time does not change.
var never time.Time

// existence reports whether there is anything to look at further.
func (c *check) existence() bool {
	switch {
	case c.m.underway:
		c.add(RuleUnderway, never, "it is being dealt with already (%s)", c.f.in.Underway[c.m.name])
	case !c.m.managed():
		c.add(RuleUnmanaged, never, "it has no NodeClaim, so somebody else manages it")
	case c.m.Node.Node == nil:
		c.add(RuleNoNode, never, "its NodeClaim has no Node yet")
	}
	return len(c.blocked) == 0
}

func (c *check) state() {
	m := c.m
	if m.rebooting() {
		c.add(RuleRebooting, never, "it is being rebooted")
	}
	if m.leaving {
		c.add(RuleDeleting, never, "it is being deleted")
	}
	switch {
	case !m.registered():
		c.add(RuleUnregistered, never, "its Node has not registered yet, see condition Registered of the NodeClaim")
	case !m.initialized() && c.method != MethodRepair:
		c.add(RuleUninitialized, never, "it is not ready for pods yet, see condition Initialized of the NodeClaim")
	}
	until, nominated := c.f.in.Nominations[m.name]
	// A place on a node that has not come up is no promise that repair breaks.
	if nominated && until.After(c.f.now) && (c.method != MethodRepair || m.initialized()) {
		c.add(RuleNominated, until, "a place on it was promised to a pending pod, until %s", instant(until))
	}
}

func (c *check) protection() {
	if c.method != MethodRepair && c.m.annotations[v1.DoNotDisruptAnnotationKey] == "true" {
		c.add(RuleNodeDoNotDisrupt, never, "it has the annotation %s", v1.DoNotDisruptAnnotationKey)
	}
}

func (c *check) membership() {
	switch m := c.m; {
	case m.poolName == "":
		c.add(RuleNoNodePoolLabel, never, "it has no label %s", v1.NodePoolLabelKey)
	case m.pool == nil:
		c.add(RuleNodePoolMissing, never, "its %s does not exist", poolObject(m.poolName))
	case len(m.pool.types) == 0:
		c.add(RuleNoInstanceTypes, never, "its %s has no instance types", poolObject(m.poolName))
	}
}

// bypassesPods reports whether what holds the pods does not count.
func (c *check) bypassesPods() bool {
	switch c.method {
	case MethodDrift:
		return c.m.claimBound() != nil
	case MethodRepair:
		// The verdict on the conditions knows whether something bounds the
		// drain. Without one there is nothing to repair either.
		return c.m.sick.bound != nil || c.m.claimBound() != nil || !c.m.sick.due()
	}
	return false
}

func (c *check) pods() {
	demand := pdbDemand{}
	first := map[*pdb]string{}
	rule := func(r Rule) Rule { return r }
	if c.method == MethodRepair {
		// What holds them would not, if the drain were bounded.
		rule = func(Rule) Rule { return RuleNoDrainBound }
	}
	for _, p := range c.m.pods {
		switch {
		case p.held && p.heldUntil.IsZero():
			c.about(p.object(), rule(RulePodDoNotDisrupt), never, "%s has the annotation %s", p.object(), v1.DoNotDisruptAnnotationKey)
		case p.held:
			c.about(p.object(), rule(RulePodDoNotDisrupt), p.heldUntil, "%s has the annotation %s, until %s",
				p.object(), v1.DoNotDisruptAnnotationKey, instant(p.heldUntil))
		case len(p.budgets) > 1:
			c.about(p.object(), rule(RuleSeveralBudgets), never, "%s is selected by %d budgets, the first two %s and %s, and then it cannot be evicted",
				p.object(), len(p.budgets), p.budgets[0].object, p.budgets[1].object)
		default:
			if b := p.governing(); b != nil {
				if demand[b] == 0 {
					first[b] = p.object()
				}
				demand[b]++
			}
		}
	}
	for _, b := range demand.sorted() {
		want := demand[b]
		if b.allowed >= want || b.allowed > 0 && !c.f.opts.EvictAtOnce {
			continue
		}
		c.about(b.object, rule(RulePodDisruptionBudget), never, "%s lets %s go now, and selects %d of the node, the first %s",
			b.object, plural(b.allowed, "pod"), want, first[b])
	}
}

// dynamic is what Emptiness and Consolidation ask of the pool.
func (c *check) dynamic() bool {
	switch {
	case c.m.pool == nil:
		return false
	case c.m.pool.static():
		c.add(RuleStatic, never, "its %s is static", poolObject(c.m.poolName))
		return false
	case c.m.pool.consolidateAfter.Duration == nil:
		c.add(RuleConsolidationOff, never, "consolidateAfter of its %s is Never", poolObject(c.m.poolName))
		return false
	}
	return true
}

func (c *check) emptiness() {
	quiet := c.dynamic()
	if c.m.buffer {
		c.add(RuleBuffer, never, "spare room is kept on it")
	}
	if n := c.m.homeless(); !c.f.empty(c.m) {
		c.add(RuleNotEmpty, never, "it is not empty: %s without a place elsewhere", plural(n, "pod"))
	}
	if quiet {
		c.quiet()
	}
}

func (c *check) consolidation() {
	m := c.m
	quiet := c.dynamic()
	if m.pool != nil && m.instanceType == nil {
		c.add(RuleUnknownInstanceType, never, "its instance type %q is not in the catalog of its %s",
			m.labels[corev1.LabelInstanceTypeStable], poolObject(m.poolName))
	}
	if m.labels[v1.CapacityTypeLabelKey] == "" {
		c.add(RuleNoCapacityType, never, "it has no label %s", v1.CapacityTypeLabelKey)
	}
	if m.labels[corev1.LabelTopologyZone] == "" {
		c.add(RuleNoZone, never, "it has no label %s", corev1.LabelTopologyZone)
	}
	if c.f.empty(m) {
		c.add(RuleEmpty, never, "it is empty, and goes as such")
	}
	switch {
	case m.pool == nil:
	case m.pool.policyUnknown:
		c.add(RulePolicyWhenEmpty, never, "consolidationPolicy of its %s is %q, which is not known, so only empty nodes go",
			poolObject(m.poolName), m.pool.policy)
	case m.pool.policy == v1.ConsolidationPolicyWhenEmpty:
		c.add(RulePolicyWhenEmpty, never, "consolidationPolicy of its %s is WhenEmpty", poolObject(m.poolName))
	}
	if quiet {
		c.quiet()
	}
}

// quiet asks that consolidateAfter has passed.
func (c *check) quiet() {
	since, known := c.f.lastPodEvent(c.m)
	if !known {
		c.add(RuleConsolidateAfter, never, "condition Initialized of its NodeClaim is not True, so consolidateAfter does not count yet")
		return
	}
	if until := since.Add(*c.m.pool.consolidateAfter.Duration); until.After(c.f.now) {
		c.add(RuleConsolidateAfter, until, "it was initialized, or pods have come or gone, within consolidateAfter, which passes at %s", instant(until))
	}
}

// lastPodEvent is when consolidateAfter began to count: at the last event of a
// pod or, without any, when the node was initialized.
func (f *Fleet) lastPodEvent(m *member) (since time.Time, known bool) {
	initialized := m.condition(v1.ConditionTypeInitialized)
	if initialized == nil || initialized.Status != metav1.ConditionTrue {
		return time.Time{}, false
	}
	since = m.NodeClaim.Status.LastPodEventTime.Time
	if event := f.in.PodEvents[m.name]; event.After(since) {
		since = event
	}
	if since.IsZero() {
		since = initialized.LastTransitionTime.Time
	}
	return since, true
}

// instant renders a time to the second, in UTC.
func instant(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// plural writes a number of things.
func plural(n int, thing string) string {
	switch n {
	case 0:
		return "no " + thing
	case 1:
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
