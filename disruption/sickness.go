package disruption

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

const (
	// rankWorth is how much longer a node must wait for repair than one of the
	// next higher priority to be as urgent.
	rankWorth = 30 * time.Minute
	// rebootMemory is how long a reboot counts, and rebootsSpent how many of
	// them show that another would not help.
	rebootMemory = 24 * time.Hour
	rebootsSpent = 2
)

// repairSet is a set of repair policies in a form that answers quickly.
type repairSet struct {
	policies []repairPolicy
	fallback int
}

type repairPolicy struct {
	cloudprovider.RepairPolicy
	reason *regexp.Regexp // nil for the fallback
	rank   int            // of the priority among those in use, from 0
}

// newRepairSet reads policies. It is nil, which repairs nothing, if there are
// none, or if the set has a fault.
func newRepairSet(policies []cloudprovider.RepairPolicy, faults *faultList) *repairSet {
	if len(policies) == 0 {
		return nil
	}
	if err := cloudprovider.ValidateRepairPolicies(policies); err != nil {
		faults.wrap("RepairPolicies", "", err)
		return nil
	}
	var priorities []int
	for i := range policies {
		priorities = append(priorities, policies[i].Priority)
	}
	slices.Sort(priorities)
	priorities = slices.Compact(priorities)
	s := &repairSet{}
	for i, p := range policies {
		r := repairPolicy{RepairPolicy: p, rank: slices.Index(priorities, p.Priority)}
		if p.ReasonRegex == "" {
			s.fallback = i
		} else {
			r.reason = regexp.MustCompile(p.ReasonRegex) // it was validated
		}
		s.policies = append(s.policies, r)
	}
	return s
}

// of lists the policies for a condition: those whose expression matches its
// reason, or else the fallback. None if no policy names its type and status.
func (s *repairSet) of(c *corev1.NodeCondition) []*repairPolicy {
	known := false
	var out []*repairPolicy
	for i := range s.policies {
		p := &s.policies[i]
		if p.ConditionType != c.Type || p.ConditionStatus != c.Status {
			continue
		}
		known = true
		if p.reason != nil && p.reason.MatchString(c.Reason) {
			out = append(out, p)
		}
	}
	if known && len(out) == 0 {
		out = append(out, &s.policies[s.fallback])
	}
	return out
}

// sickness is what the conditions of a node ask for.
type sickness struct {
	unhealthy bool      // some condition is one that policies name
	next      time.Time // when that will ask for more; zero if never

	action    cloudprovider.RepairAction // empty if nothing is asked for now
	spent     bool                       // it would be a reboot, but those have not helped
	condition corev1.NodeCondition       // that decided
	since     time.Time                  // when it began to ask
	bound     *time.Duration             // of the drain, by the policies
	turn      time.Time                  // the earlier, the more urgent
}

func (s *sickness) due() bool { return s.action != "" }

// diagnose sets the sickness of every member.
func (f *Fleet) diagnose(set *repairSet) {
	for _, m := range f.members {
		if m.Node.Node == nil || !m.managed() {
			continue
		}
		if set != nil {
			m.sick = f.sicknessOf(set, m)
		}
		if m.pool != nil {
			m.pool.nodes++
			if m.sick.unhealthy {
				m.pool.sick++
			}
		}
	}
}

// complaint is one condition and one policy that speaks for it.
type complaint struct {
	policy    *repairPolicy
	condition *corev1.NodeCondition
	since     time.Time
}

func (f *Fleet) sicknessOf(set *repairSet, m *member) sickness {
	var s sickness
	var due []complaint
	conditions := m.Node.Node.Status.Conditions
	for i := range conditions {
		c := &conditions[i]
		for _, p := range set.of(c) {
			s.unhealthy = true
			since := latest(c.LastTransitionTime.Time, m.Node.Node.CreationTimestamp.Time, m.rebooted()).Add(p.TolerationDuration)
			if since.After(f.now) {
				s.next = sooner(s.next, since)
				continue
			}
			due = append(due, complaint{p, c, since})
		}
	}
	if len(due) == 0 {
		return s
	}
	slices.SortFunc(due, compareComplaints)
	first := due[0]
	s.action, s.condition, s.since = first.policy.Action, *first.condition, first.since
	for _, c := range due {
		if b := c.policy.TerminationGracePeriod; b != nil && (s.bound == nil || *b < *s.bound) {
			s.bound = b
		}
		s.turn = sooner(s.turn, c.since.Add(-time.Duration(c.policy.rank)*rankWorth))
	}
	if s.action == cloudprovider.RebootNode {
		until := f.rebootsSpentUntil(m)
		if until.After(f.now) {
			s.action, s.spent = cloudprovider.ReplaceNode, true
			s.next = sooner(s.next, until)
		}
	}
	return s
}

// compareComplaints puts first what decides: the more disruptive action, the
// higher priority, the earlier, the condition that is first by name.
func compareComplaints(a, b complaint) int {
	reboots := func(c complaint) int { return zeroOrOne(c.policy.Action == cloudprovider.RebootNode) }
	return cmp.Or(cmp.Compare(reboots(a), reboots(b)), cmp.Compare(b.policy.Priority, a.policy.Priority),
		a.since.Compare(b.since), strings.Compare(string(a.condition.Type), string(b.condition.Type)),
		strings.Compare(a.condition.Reason, b.condition.Reason))
}

// rebooted is when the last reboot of the node ended, zero if there was none.
func (m *member) rebooted() time.Time {
	if c := m.condition(v1.ConditionTypeRebooting); c != nil && c.Status == metav1.ConditionFalse {
		return c.LastTransitionTime.Time
	}
	return time.Time{}
}

// rebootsSpentUntil is when one more reboot can be tried, zero if at any time.
func (f *Fleet) rebootsSpentUntil(m *member) time.Time {
	times := slices.Clone(f.in.Reboots[m.NodeClaim.UID])
	if len(times) < rebootsSpent {
		return time.Time{}
	}
	slices.SortFunc(times, time.Time.Compare)
	return times[len(times)-rebootsSpent].Add(rebootMemory)
}

func latest(times ...time.Time) time.Time {
	var last time.Time
	for _, t := range times {
		if t.After(last) {
			last = t
		}
	}
	return last
}
