package provisioning

// checkMinValues counts, for each requirement of the pool with minValues, the
// distinct values among which the launch of a node can still choose: those of
// the options that can be launched, as far as pool and Requirements admit them.
// A key that an option does not define counts for nothing.
func (r *referee) checkMinValues(f *refereeFresh, values map[string]int) {
	short := false
	for want := range f.pool.demands.All() {
		if want.MinValues() == 0 {
			continue
		}
		got := values[want.Key()]
		if got >= want.MinValues() {
			continue
		}
		short = true
		if r.policy != BestEffort {
			r.report(RuleMinValues, f.Name, "", "its options have %d values of %s, NodePool %s demands at least %d",
				got, want.Key(), f.pool.Name, want.MinValues())
		}
	}
	switch {
	case short && r.policy == BestEffort && !f.MinValuesRelaxed:
		r.report(RuleMinValues, f.Name, "", "it misses a minValues of NodePool %s, but MinValuesRelaxed is not set", f.pool.Name)
	case f.MinValuesRelaxed && r.policy != BestEffort:
		r.report(RuleMinValues, f.Name, "", "MinValuesRelaxed is set, but the policy is %s", r.policy)
	case f.MinValuesRelaxed && !short:
		r.report(RuleMinValues, f.Name, "", "MinValuesRelaxed is set, but every minValues of NodePool %s is met", f.pool.Name)
	}
}

// countValues counts the values of each label that a minValues is about.
func (r *referee) countValues(b *refereeBrief, options []int32) map[string]int {
	var counts map[string]int
	for want := range b.pool.demands.All() {
		if want.MinValues() == 0 {
			continue
		}
		distinct := map[string]bool{}
		for _, admitted := range r.distinct(b, options, want.Key(), countsForMinValues) {
			values, _ := admitted.Values() // none if there are infinitely many
			for _, value := range values {
				distinct[value] = true
			}
		}
		if counts == nil {
			counts = map[string]int{}
		}
		counts[want.Key()] = len(distinct)
	}
	return counts
}

func countsForMinValues(o *refereeOption, state refereeState) bool {
	return state.own && o.Offering.Launchable()
}
