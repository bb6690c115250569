package repair

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/internal/order"
)

// rankWorth is the waiting time that one step of priority is worth: a node that has waited so much
// longer is as urgent as one of the next higher priority.
const rankWorth = 30 * time.Minute

// Policies is a compiled set of repair policies.
type Policies struct {
	policies []policy
	fallback int
}

type policy struct {
	cloudprovider.RepairPolicy
	reason *regexp.Regexp // nil for the fallback policy
	rank   int            // rank of its priority among those in use, from 0
}

// Read compiles policies. It returns nil, which repairs nothing, if there are none or if the set is
// invalid.
func Read(policies []cloudprovider.RepairPolicy) (*Policies, error) {
	if len(policies) == 0 {
		return nil, nil
	}
	if err := cloudprovider.ValidateRepairPolicies(policies); err != nil {
		return nil, err
	}
	var priorities []int
	for i := range policies {
		priorities = append(priorities, policies[i].Priority)
	}
	slices.Sort(priorities)
	priorities = slices.Compact(priorities)
	s := &Policies{}
	for i, p := range policies {
		r := policy{RepairPolicy: p, rank: slices.Index(priorities, p.Priority)}
		if p.ReasonRegex == "" {
			s.fallback = i
		} else {
			r.reason = regexp.MustCompile(p.ReasonRegex) // ValidateRepairPolicies has compiled it
		}
		s.policies = append(s.policies, r)
	}
	return s, nil
}

// of returns the policies for a condition: those whose expression matches its reason, or else the
// fallback. It returns none if no policy names the type and status of the condition.
func (s *Policies) of(c *corev1.NodeCondition) []*policy {
	known := false
	var out []*policy
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

// Diagnosis is the repair that the policies require for the conditions of a node.
type Diagnosis struct {
	Unhealthy bool      // some policy names one of the conditions
	Next      time.Time // when the policies will ask for something else; zero is never

	Action    cloudprovider.RepairAction // empty if nothing is asked for now
	Spent     bool                       // a reboot would be due, but earlier reboots have not helped
	Condition corev1.NodeCondition       // the condition that decided
	Since     time.Time                  // since when the policies ask for the action
	Bound     *time.Duration             // time limit of the drain, by the policies
	Turn      time.Time                  // order of urgency: the earlier, the more urgent
}

// Due reports whether an action is asked for now.
func (s *Diagnosis) Due() bool { return s.Action != "" }

// complaint is a condition with a policy that matches it.
type complaint struct {
	policy    *policy
	condition *corev1.NodeCondition
	since     time.Time
}

// Diagnose evaluates the policies for a Node at an instant. rebooted is when its last reboot ended.
// Until rebootsSpent, another reboot is not tried. Both may be zero. A nil set finds nothing.
func (s *Policies) Diagnose(now time.Time, node *corev1.Node, rebooted, rebootsSpent time.Time) Diagnosis {
	var out Diagnosis
	if s == nil {
		return out
	}
	var due []complaint
	conditions := node.Status.Conditions
	for i := range conditions {
		c := &conditions[i]
		for _, p := range s.of(c) {
			out.Unhealthy = true
			since := slices.MaxFunc([]time.Time{c.LastTransitionTime.Time, node.CreationTimestamp.Time, rebooted}, time.Time.Compare).Add(p.TolerationDuration)
			if since.After(now) {
				out.Next = order.Sooner(out.Next, since)
				continue
			}
			due = append(due, complaint{p, c, since})
		}
	}
	if len(due) == 0 {
		return out
	}
	slices.SortFunc(due, compareComplaints)
	first := due[0]
	out.Action, out.Condition, out.Since = first.policy.Action, *first.condition, first.since
	for _, c := range due {
		if b := c.policy.TerminationGracePeriod; b != nil && (out.Bound == nil || *b < *out.Bound) {
			out.Bound = b
		}
		out.Turn = order.Sooner(out.Turn, c.since.Add(-time.Duration(c.policy.rank)*rankWorth))
	}
	if out.Action == cloudprovider.RebootNode && rebootsSpent.After(now) {
		out.Action, out.Spent = cloudprovider.ReplaceNode, true
		out.Next = order.Sooner(out.Next, rebootsSpent)
	}
	return out
}

// compareComplaints orders complaints by precedence: the more disruptive action, the higher
// priority, the earlier time, and the condition type by name.
func compareComplaints(a, b complaint) int {
	reboots := func(c complaint) bool { return c.policy.Action == cloudprovider.RebootNode }
	return cmp.Or(order.Bools(reboots(a), reboots(b)), cmp.Compare(b.policy.Priority, a.policy.Priority),
		a.since.Compare(b.since), strings.Compare(string(a.condition.Type), string(b.condition.Type)),
		strings.Compare(a.condition.Reason, b.condition.Reason))
}
