package verify_test

import (
	"slices"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

func addOption(m *mutant) (opinion, bool) {
	n := m.newNode()
	if n == nil {
		return unsure, false
	}
	from := m.in.InstanceTypes[n.Pool.Name]
	if m.IntN(8) == 0 {
		from = m.in.InstanceTypes[m.in.NodePools[m.IntN(len(m.in.NodePools))].Name]
	}
	if len(from) == 0 {
		return unsure, false
	}
	t := from[m.IntN(len(from))]
	option := cloudprovider.LaunchOption{InstanceType: t, Offering: &t.Offerings[m.IntN(len(t.Offerings))]}
	if slices.Contains(n.Options, option) {
		return unsure, false
	}
	verdict := oracleOption(m.in, n, option)
	// What else depends on the list of options is for other tests.
	hazy := len(n.Pool.Spec.Limits) > 0 || option.Offering.ReservationID != "" || len(m.in.DaemonSetPods) > 0
	foreign := !slices.Contains(m.in.InstanceTypes[n.Pool.Name], t)
	if verdict == sound && hazy || foreign && m.similar(n, option) {
		verdict = unsure
	}
	n.Options = append(n.Options, option)
	m.settle()
	return verdict, true
}

// similar says whether the pool of n has an offering by the same names, which
// the referee takes for the one that is meant.
func (m *mutant) similar(n *provisioning.NewNode, option cloudprovider.LaunchOption) bool {
	return slices.ContainsFunc(m.in.InstanceTypes[n.Pool.Name], func(t *cloudprovider.InstanceType) bool {
		_, found := t.Offering(option.Key())
		return found
	})
}

func removeOption(m *mutant) (opinion, bool) {
	n := m.newNode()
	if n == nil {
		return unsure, false
	}
	if len(n.Options) == 1 {
		n.Options = nil
		return broken, true
	}
	at := m.IntN(len(n.Options))
	dearer := n.Options[0].Offering.Price < n.Options[1].Offering.Price
	n.Options = slices.Delete(n.Options, at, at+1)
	counted := slices.ContainsFunc(m.requirementsOf(n), func(r requirements.Requirement) bool { return r.MinValues() > 0 })
	switch {
	case at == 0 && dearer:
		return broken, true // Cost counts an option that is not there
	case counted || len(m.in.DaemonSetPods) > 0:
		return unsure, true
	}
	return sound, true
}

func (m *mutant) requirementsOf(n *provisioning.NewNode) []requirements.Requirement {
	set, _ := requirements.FromNodePool(n.Pool, m.in.Vocabulary)
	return slices.Collect(set.All())
}
