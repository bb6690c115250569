package state

import "math"

// Rate returns what a pod of a class accounts for of the price of a new node, in USD per hour: its
// largest share of a resource of an option, times the price of the option, for the option that admits
// the pod and where this is least. It is 0 if no option admits the pod, and if it requests nothing.
func (s *State) Rate(class int) float64 {
	for len(s.rates) <= class {
		s.rates = append(s.rates, -1)
	}
	if s.rates[class] < 0 {
		rate, _ := s.Problem.Rates.Rater().Best(s.Problem.Requests[class], s.Problem.Admission.SuitedToAny(class))
		if math.IsInf(rate, 1) {
			rate = 0
		}
		s.rates[class] = rate
	}
	return s.rates[class]
}
