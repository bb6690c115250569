package state

// Rate returns what a pod of a class accounts for of the price of a new node, in USD per hour: its
// largest share of a resource of an option, times the price of the option, for the option that admits
// the pod and where this is least. It is 0 if the pod requests nothing, and +Inf if no option admits it.
func (s *State) Rate(class int) float64 {
	for len(s.rates) <= class {
		s.rates = append(s.rates, -1)
	}
	if s.rates[class] < 0 {
		s.rates[class], _ = s.Problem.Rates.Rater().Best(s.Problem.Requests[class], s.Problem.Admission.SuitedToAny(class))
	}
	return s.rates[class]
}
