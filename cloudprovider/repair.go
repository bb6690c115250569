package cloudprovider

import (
	"errors"
	"regexp"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// RepairAction is how to repair an unhealthy node.
type RepairAction string

const (
	// RebootNode restarts the machine; see Reboot.
	RebootNode RepairAction = "RebootNode"
	// ReplaceNode launches another node and deletes this one.
	ReplaceNode RepairAction = "ReplaceNode"
)

// RepairPolicy says which condition makes a node unhealthy, how long that is tolerated, and how the
// node is repaired then.
type RepairPolicy struct {
	// ConditionType and ConditionStatus are those of the node condition. Required.
	ConditionType   corev1.NodeConditionType
	ConditionStatus corev1.ConditionStatus

	// ReasonRegex is a regular expression (package regexp) that matches anywhere in the reason of
	// the condition. Empty marks the fallback, which applies to every condition in the set whose
	// reason no other policy matches.
	ReasonRegex string

	// TolerationDuration is how long the condition is tolerated. Zero or more.
	TolerationDuration time.Duration

	// TerminationGracePeriod bounds the drain before the action. Nil means that of the NodeClaim;
	// if both are set, the shorter one applies. 0 means no drain.
	TerminationGracePeriod *time.Duration

	// Priority, from 0 to 100, ranks policies, the higher first: among several with the same action
	// for one node, and among nodes that wait for repair, where waiting time counts too.
	Priority int

	// Action is the repair. Required.
	Action RepairAction
}

// Repairer is a provider that knows which node conditions show that a machine is broken.
type Repairer interface {
	// RepairPolicies returns a set that ValidateRepairPolicies accepts. It is
	// constant and read-only; its order has no meaning.
	RepairPolicies() []RepairPolicy
}

// RepairPolicies returns the repair policies of p. It is nil, which repairs nothing, if p is not a
// Repairer.
func RepairPolicies(p CloudProvider) []RepairPolicy {
	if r, ok := As[Repairer](p); ok {
		return r.RepairPolicies()
	}
	return nil
}

// ValidateRepairPolicies returns nil if the set can be used, and otherwise an
// error that lists every fault, one a line, with the index of the policy and the
// remedy. Faults are
//
//   - of a policy: an empty condition type, a status other than True, False and
//     Unknown, an expression that does not compile, a negative duration, a priority
//     outside 0 to 100, an unknown action;
//   - of a fallback (empty expression): an action other than ReplaceNode;
//   - of the set, also of an empty one: no fallback, or more than one.
func ValidateRepairPolicies(policies []RepairPolicy) error {
	f := faults{prefix: "repair policies"}
	fallbacks := 0
	for i := range policies {
		if policies[i].ReasonRegex == "" {
			fallbacks++
		}
		one := faults{prefix: "repair policy " + strconv.Itoa(i)}
		one.repairPolicy(&policies[i])
		f.errs = append(f.errs, one.errs...)
	}
	if fallbacks != 1 {
		f.add("%d without reasonRegex; there must be exactly one such fallback, give the others an expression such as .*", fallbacks)
	}
	return errors.Join(f.errs...)
}

func (f *faults) repairPolicy(p *RepairPolicy) {
	if p.ConditionType == "" {
		f.add("conditionType: empty; name a node condition, such as Ready")
	}
	switch p.ConditionStatus {
	case corev1.ConditionTrue, corev1.ConditionFalse, corev1.ConditionUnknown:
	default:
		f.add("conditionStatus: %q; use True, False or Unknown", p.ConditionStatus)
	}
	if _, err := regexp.Compile(p.ReasonRegex); err != nil {
		f.add("reasonRegex: %w; use the syntax of package regexp", err)
	}
	if p.TolerationDuration < 0 {
		f.add("tolerationDuration: %v; use zero or more", p.TolerationDuration)
	}
	if p.TerminationGracePeriod != nil && *p.TerminationGracePeriod < 0 {
		f.add("terminationGracePeriod: %v; use zero for no drain, or nil to inherit", *p.TerminationGracePeriod)
	}
	if p.Priority < 0 || p.Priority > 100 {
		f.add("priority: %d; use 0 to 100", p.Priority)
	}
	switch p.Action {
	case ReplaceNode:
	case RebootNode:
		if p.ReasonRegex == "" {
			f.add("action: %s on the fallback; use %s", RebootNode, ReplaceNode)
		}
	default:
		f.add("action: %q; use %s or %s", p.Action, RebootNode, ReplaceNode)
	}
}
