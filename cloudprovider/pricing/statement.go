package pricing

import (
	"cmp"
	"slices"
	"time"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// Usage is a number of instances that run by one offering.
type Usage struct {
	// Key is the offering.
	Key cloudprovider.OfferingKey
	// Count is the number of instances. Below one it is nothing.
	Count int
}

// UsageOf counts instances by offering, sorted by key. Those that are going
// down, and entries that are nil, are left out.
func UsageOf(instances []*cloudprovider.Instance) []Usage {
	counts := map[cloudprovider.OfferingKey]int{}
	for _, i := range instances {
		if i != nil && !i.Deleting {
			counts[i.OfferingKey()]++
		}
	}
	return sortedUsage(counts)
}

func sortedUsage(counts map[cloudprovider.OfferingKey]int) []Usage {
	out := make([]Usage, 0, len(counts))
	for key, n := range counts {
		out = append(out, Usage{Key: key, Count: n})
	}
	slices.SortFunc(out, func(a, b Usage) int { return a.Key.Compare(b.Key) })
	return out
}

// Line is what the instances of one offering cost.
type Line struct {
	// Key and Count are those of the Usage.
	Key   cloudprovider.OfferingKey
	Count int
	// Quote is the price of one instance without commitments.
	Quote Quote
	// Covered says what commitments cover, in the order in which they were
	// used up.
	Covered []Coverage
	// Cost is what all of them cost, in USD per hour, fees included: covered
	// ones at the lower price, the others at that of Quote. If the price is
	// Unknown, what no commitment covers is missing in it.
	Cost float64
}

// Coverage is a part of a Line that a commitment covers.
type Coverage struct {
	// Commitment is its name.
	Commitment string
	// Instances is how many it covers. The last one may be covered in part.
	Instances float64
	// Rate is the lower price, in USD per hour, without fees.
	Rate float64
}

// Use is what became of a commitment.
type Use struct {
	// Commitment is its name.
	Commitment string
	// Active says that it holds now. If not, nothing is used, and it costs
	// nothing.
	Active bool
	// Amount, Used and Left are in USD per hour, or in instances, as the
	// commitment is.
	Amount, Used, Left float64
}

// Statement is what running instances cost, and what one more would. It is
// read-only.
type Statement struct {
	// Lines are what runs, sorted by key.
	Lines []Line
	// Uses are what became of the commitments, in their order.
	Uses []Use
	// Cost is what everything costs, in USD per hour: all Lines, and what is
	// left unused of commitments in USD. (The price of one in instances that is
	// unused is not known, as it may stand for different types.)
	Cost float64
	// Unknown are the offerings of Lines whose price is not known. If there
	// are any, Cost is too low.
	Unknown []cloudprovider.OfferingKey

	book    *Book
	now     time.Time
	types   []*cloudprovider.InstanceType
	options map[cloudprovider.OfferingKey]cloudprovider.LaunchOption
}

// Account returns what the running instances cost at the instant now, and what
// of the commitments they use up. types is the catalog, by which the labels of
// an offering are known; instances of others are covered by nothing. Usage may
// list a key more than once, in any order; give it what runs in all pools, as
// all of them draw on the commitments.
//
// Commitments are used up one after the other, in the order of the Book. Each
// covers what those before it have left: first the instances of which it saves
// the largest part of the price, then by key. A commitment in USD may cover a
// part of an instance; the rest of that instance costs the lower price of the
// next commitment, or the usual one.
func (b *Book) Account(now time.Time, types []*cloudprovider.InstanceType, usage []Usage) *Statement {
	s := &Statement{book: b, now: now, types: types, options: map[cloudprovider.OfferingKey]cloudprovider.LaunchOption{}}
	for _, t := range types {
		if t == nil {
			continue
		}
		for i := range t.Offerings {
			o := cloudprovider.LaunchOption{InstanceType: t, Offering: &t.Offerings[i]}
			s.options[o.Key()] = o
		}
	}
	counts := map[cloudprovider.OfferingKey]int{}
	for _, u := range usage {
		if u.Count > 0 {
			counts[u.Key] += u.Count
		}
	}
	for _, u := range sortedUsage(counts) {
		s.Lines = append(s.Lines, Line{Key: u.Key, Count: u.Count, Quote: b.Quote(now, u.Key)})
	}
	left := make([]float64, len(s.Lines)) // instances that nothing covers yet
	for i := range s.Lines {
		left[i] = float64(s.Lines[i].Count)
	}
	for i := range s.commitments() {
		s.Uses = append(s.Uses, s.use(&b.opts.Commitments[i], left))
	}
	s.sum(left)
	return s
}

func (s *Statement) commitments() []Commitment {
	if s.book == nil {
		return nil
	}
	return s.book.opts.Commitments
}

// use lets one commitment cover what is left.
func (s *Statement) use(c *Commitment, left []float64) Use {
	u := Use{Commitment: c.Name, Active: c.active(s.now), Amount: c.amount()}
	u.Left = u.Amount
	if !u.Active {
		return u
	}
	type candidate struct {
		line         int
		rate, saving float64
	}
	var candidates []candidate
	for i := range s.Lines {
		rate, saving, ok := s.terms(c, s.Lines[i].Quote)
		if ok && left[i] > 0 {
			candidates = append(candidates, candidate{i, rate, saving})
		}
	}
	slices.SortStableFunc(candidates, func(a, b candidate) int { return cmp.Compare(b.saving, a.saving) })
	for _, k := range candidates {
		n := min(left[k.line], u.Left/c.perInstance(k.rate))
		if n <= 0 {
			continue
		}
		left[k.line] -= n
		u.Left = max(u.Left-n*c.perInstance(k.rate), 0)
		l := &s.Lines[k.line]
		l.Covered = append(l.Covered, Coverage{Commitment: c.Name, Instances: n, Rate: k.rate})
	}
	u.Used = u.Amount - u.Left
	return u
}

// terms returns the lower price of an offering and which part of its price that
// saves. It reports false if the commitment does not cover the offering, or if
// its lower price depends on one that is not known.
func (s *Statement) terms(c *Commitment, q Quote) (rate, saving float64, ok bool) {
	o, found := s.options[q.Key]
	if !found || !c.covers(o) {
		return 0, 0, false
	}
	base := q.Price - q.Fees
	if _, set := c.Rates[q.Key.InstanceType]; !set && q.State == Unknown {
		return 0, 0, false
	}
	rate = c.rate(q.Key.InstanceType, base)
	if base > 0 {
		saving = (base - rate) / base
	}
	return rate, saving, true
}

// sum adds up what everything costs.
func (s *Statement) sum(left []float64) {
	for i := range s.Lines {
		l := &s.Lines[i]
		if l.Quote.State == Unknown {
			s.Unknown = append(s.Unknown, l.Key)
		}
		l.Cost = (l.Quote.Price-l.Quote.Fees)*left[i] + s.fees(l.Key)*float64(l.Count)
		for _, c := range l.Covered {
			l.Cost += c.Instances * c.Rate
		}
		s.Cost += l.Cost
	}
	for i, u := range s.Uses {
		if s.book.opts.Commitments[i].Instances == 0 && u.Active {
			s.Cost += u.Left
		}
	}
}

// fees are what a node costs beside the machine, also if that is unknown.
func (s *Statement) fees(key cloudprovider.OfferingKey) float64 {
	if s.book == nil {
		return 0
	}
	q := Quote{Key: key}
	s.book.addFees(&q)
	return q.Fees
}
