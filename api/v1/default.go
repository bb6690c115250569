package v1

import "time"

// The defaults of absent fields.
const (
	// DefaultExpireAfter is the age at which nodes expire.
	DefaultExpireAfter = 720 * time.Hour
	// DefaultConsolidateAfter is how long a node must be without pod events before consolidation:
	// zero.
	DefaultConsolidateAfter time.Duration = 0
	// DefaultConsolidationPolicy consolidates empty and underused nodes.
	DefaultConsolidationPolicy = ConsolidationPolicyWhenEmptyOrUnderutilized
	// DefaultBudgetNodes is the share of a pool's nodes that may be disrupted at once.
	DefaultBudgetNodes = "10%"
)

// Default sets the fields that were left out, as the API server does on
// admission, and touches nothing else:
//
//	spec.template.spec.expireAfter       720h
//	spec.disruption.consolidateAfter     0s
//	spec.disruption.consolidationPolicy  WhenEmptyOrUnderutilized
//	spec.disruption.budgets              one budget, nodes 10%
//	spec.disruption.budgets[].nodes      10%
//	status.nodes                         0, if there is a status
//
// Never and an empty list of budgets count as set. Default works in place, is idempotent, and does
// nothing to a nil pool.
func (p *NodePool) Default() {
	if p == nil {
		return
	}
	defaultExpireAfter(&p.Spec.Template.Spec.ExpireAfter)
	p.Spec.Disruption.Default()
	s := &p.Status
	present := s.Resources != nil || s.Conditions != nil || s.NodeClassObservedGeneration != 0
	if present && s.Nodes == nil {
		s.Nodes = new(int64)
	}
}

// Default sets the fields of a disruption section that were left out, as
// described at NodePool.Default. It does nothing to a nil section.
func (d *Disruption) Default() {
	if d == nil {
		return
	}
	if d.ConsolidateAfter.IsZero() {
		d.ConsolidateAfter = writtenDuration("0s", DefaultConsolidateAfter)
	}
	if d.ConsolidationPolicy == "" {
		d.ConsolidationPolicy = DefaultConsolidationPolicy
	}
	if d.Budgets == nil {
		d.Budgets = []Budget{{}}
	}
	for i := range d.Budgets {
		d.Budgets[i].Default()
	}
}

// Default sets Nodes to 10% if it is empty. It does nothing to a nil budget.
func (b *Budget) Default() {
	if b != nil && b.Nodes == "" {
		b.Nodes = DefaultBudgetNodes
	}
}

// Default sets spec.expireAfter to 720h if it was left out. It works in place,
// is idempotent, and does nothing to a nil claim.
func (c *NodeClaim) Default() {
	if c != nil {
		defaultExpireAfter(&c.Spec.ExpireAfter)
	}
}

// Default changes nothing: no field of a NodeOverlay has a default. It exists so that all kinds
// have the method.
func (o *NodeOverlay) Default() {}

func defaultExpireAfter(d *NillableDuration) {
	if d.IsZero() {
		*d = writtenDuration("720h", DefaultExpireAfter)
	}
}

// writtenDuration returns a duration with the text that the API server would store. Go's form would
// be 720h0m0s.
func writtenDuration(text string, d time.Duration) NillableDuration {
	return NillableDuration{Duration: &d, Raw: []byte(`"` + text + `"`)}
}
