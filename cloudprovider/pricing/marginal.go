package pricing

import (
	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// Basis says what a machine that a commitment covers is taken to cost.
type Basis string

const (
	// BasisRate is the lower price of the commitment. It is how a bill reads,
	// and it changes little when a commitment is nearly used up. The zero
	// Basis means this.
	BasisRate Basis = "Rate"
	// BasisMarginal is what more is paid than without the machine: next to
	// nothing as long as a commitment has something left, and the full price
	// afterwards. It fills commitments first, and makes other capacity look
	// dear to consolidation until they are full.
	BasisMarginal Basis = "Marginal"
)

// Next returns what one more instance by the offering costs, with what is left
// of the commitments, in their order. Where they cover a part of it, the rest
// costs what Book.Quote says. Steps end with a step for each commitment that
// counts and for each fee. An offering that the catalog of Account does not have is
// covered by nothing.
//
// The price holds for as many as Room says; ask again with what runs then.
func (s *Statement) Next(key cloudprovider.OfferingKey, basis Basis) Quote {
	if s.book == nil {
		return Quote{Key: key, State: Unknown}
	}
	q := s.book.base(s.now, key)
	base, known := q.Price, q.State != Unknown
	var cost float64
	rest := 1.0
	for i := range s.Uses {
		rate, part := s.share(i, base, q)
		if part = min(part, rest); part <= 0 {
			continue
		}
		if basis == BasisMarginal {
			rate *= s.book.opts.PaidShare
		}
		cost += part * rate
		rest -= part
		q.step(s.Uses[i].Commitment, positive(cost+rest*base))
	}
	if !known && rest > 0 {
		return Quote{Key: key, State: Unknown} // a part of it has no price
	}
	if !known {
		q.State = Known // by the rates of commitments alone
	}
	s.book.addFees(&q)
	return q
}

// share returns the lower price of an offering of that price by commitment i,
// and which part of one instance it can still cover, of one.
func (s *Statement) share(i int, base float64, q Quote) (rate, part float64) {
	u, c := s.Uses[i], &s.book.opts.Commitments[i]
	if !u.Active || u.Left <= 0 {
		return 0, 0
	}
	q.Price = base
	rate, _, ok := s.terms(c, q)
	if !ok {
		return 0, 0
	}
	return rate, min(u.Left/c.perInstance(rate), 1)
}

// Room returns how many more instances by the offering commitments would cover
// as a whole, each commitment counted by itself. Offerings share that room: what
// one uses is missing for the others.
func (s *Statement) Room(key cloudprovider.OfferingKey) int {
	if s.book == nil {
		return 0
	}
	q := s.book.base(s.now, key)
	room := 0
	for i, u := range s.Uses {
		if rate, part := s.share(i, q.Price, q); part >= 1 {
			// A hair more, as a sum of thirds is a hair below one.
			const hair = 1e-9
			room += int(min(u.Left/s.book.opts.Commitments[i].perInstance(rate)+hair, maxPrice))
		}
	}
	return room
}

// Apply returns the catalog of Account with the prices of Next, and the rest as
// Book.Apply does. All offerings that a commitment could cover get the lower
// price, though there is not room for all of them: plan, launch, and ask again.
func (s *Statement) Apply(basis Basis) ([]*cloudprovider.InstanceType, Report) {
	return s.book.apply(s.types, func(key cloudprovider.OfferingKey) Quote { return s.Next(key, basis) })
}
