package pricing

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// Quote is the price of one more instance by an offering, and how it came
// about.
type Quote struct {
	// Key is the offering.
	Key cloudprovider.OfferingKey
	// State says how far the price can be trusted.
	State State
	// Price is what one instance costs, in USD per hour, fees included. It is
	// above zero, and zero only if the State is Unknown, when it means nothing.
	Price float64
	// Fees is the part of Price that is fees.
	Fees float64
	// Steps say how the price came about, in order. Empty if it is Unknown.
	Steps []Step
}

// Step is one step to a price.
type Step struct {
	// Source is the name of a layer, adjustment, commitment or fee, or "paid"
	// for capacity that is paid for already.
	Source string
	// Price is the price after the step, in USD per hour.
	Price float64
	// At is when a layer's source gave the price; zero for other steps, and if
	// it is not known.
	At time.Time
}

// String returns one line, as in
//
//	m5.large/zone-a/spot: 0.056 USD/h (spot feed 0.036 of 2026-01-02T15:04:05Z, agent 0.056)
//
// with "stale" or "unknown price" where that is so.
func (q Quote) String() string {
	if q.State == Unknown {
		return q.Key.String() + ": unknown price"
	}
	var steps []string
	for _, s := range q.Steps {
		step := s.Source + " " + usd(s.Price)
		if !s.At.IsZero() {
			step += " of " + s.At.UTC().Format(time.RFC3339)
		}
		steps = append(steps, step)
	}
	text := fmt.Sprintf("%s: %s USD/h (%s)", q.Key, usd(q.Price), strings.Join(steps, ", "))
	if q.State == Stale {
		text += ", stale"
	}
	return text
}

// usd writes a price with six significant digits.
func usd(p float64) string { return strconv.FormatFloat(p, 'g', 6, 64) }

// Quote returns the price of an offering at the instant now, without regard to
// commitments. In this order:
//
//  1. Layers are asked in their order. In each, the entries whose scope covers
//     the offering are tried from the narrowest on: with more fields first, and
//     of as many, one that names the instance type first, then the zone, then
//     the capacity type. The first entry in date is the price. If there is none
//     in any layer, the first entry out of date is, and the State is Stale. If
//     there is none at all, it is Unknown.
//  2. If that is Unknown and the capacity type is reserved, the price is
//     PaidShare of the Quote for the same offering on demand, before fees, and
//     has its State.
//  3. Otherwise the narrowest adjustment that covers the offering is applied.
//  4. All fees that cover the offering are added.
func (b *Book) Quote(now time.Time, key cloudprovider.OfferingKey) Quote {
	if b == nil {
		return Quote{Key: key, State: Unknown}
	}
	q := b.base(now, key)
	if q.State != Unknown {
		b.addFees(&q)
	}
	return q
}

// base is Quote without fees.
func (b *Book) base(now time.Time, key cloudprovider.OfferingKey) Quote {
	q := b.fromLayers(now, key)
	if q.State != Unknown {
		b.adjust(&q)
		return q
	}
	if key.CapacityType != v1.CapacityTypeReserved {
		return q
	}
	onDemand := key
	onDemand.CapacityType, onDemand.ReservationID = v1.CapacityTypeOnDemand, ""
	q = b.base(now, onDemand)
	q.Key = key
	if q.State != Unknown {
		q.step("paid", positive(q.Price*b.opts.PaidShare))
	}
	return q
}

func (b *Book) fromLayers(now time.Time, key cloudprovider.OfferingKey) Quote {
	q := Quote{Key: key, State: Unknown}
	for i := range b.layers {
		l := &b.layers[i]
		l.covering(key, func(_ cloudprovider.Scope, e Entry) bool {
			fresh := l.maxAge == 0 || now.Sub(e.At) <= l.maxAge
			if fresh || q.State == Unknown {
				q.State = Stale
				if fresh {
					q.State = Known
				}
				q.Price, q.Steps = e.Price, []Step{{Source: l.name, Price: e.Price, At: e.At}}
			}
			return !fresh
		})
		if q.State == Known {
			break
		}
	}
	return q
}

func (b *Book) adjust(q *Quote) {
	b.adjustments.covering(q.Key, func(_ cloudprovider.Scope, a Adjustment) bool {
		// The change was tried in New.
		if changed, err := cloudprovider.AdjustPrice(q.Price, a.Change); err == nil {
			q.step(a.Name, min(positive(changed), maxPrice))
		}
		return false
	})
}

func (b *Book) addFees(q *Quote) {
	for _, fee := range b.opts.Fees {
		if fee.Scope.Covers(q.Key) {
			q.Fees += fee.Price
			q.step(fee.Name, q.Price+fee.Price)
		}
	}
}

func (q *Quote) step(source string, price float64) {
	q.Price = price
	q.Steps = append(q.Steps, Step{Source: source, Price: price})
}

// Report says which offerings of a catalog have no price that can be trusted.
// The lists are sorted by OfferingKey.Compare.
type Report struct {
	// Unknown are without a price. They are not offered.
	Unknown []cloudprovider.OfferingKey
	// Stale have a price that is out of date.
	Stale []cloudprovider.OfferingKey
}

// Apply returns types with the prices of Quote at the instant now. An offering
// whose price is Unknown gets the price zero and is not Available; so is one
// whose price is Stale, if the Options say so. What an overlay had set is lost:
// apply overlays afterwards.
//
// The input is not modified: types that differ are replaced by copies, the
// others are shared with the input. The slice is the caller's and has the order
// of the input; an entry that is nil stays nil.
func (b *Book) Apply(now time.Time, types []*cloudprovider.InstanceType) ([]*cloudprovider.InstanceType, Report) {
	return b.apply(types, func(key cloudprovider.OfferingKey) Quote { return b.Quote(now, key) })
}

func (b *Book) apply(
	types []*cloudprovider.InstanceType, quote func(cloudprovider.OfferingKey) Quote,
) ([]*cloudprovider.InstanceType, Report) {
	var r Report
	withhold := b != nil && b.opts.WithholdStale
	out := slices.Clone(types)
	for i, t := range types {
		if t == nil {
			continue
		}
		result := t
		for j := range t.Offerings {
			o := &t.Offerings[j]
			q := quote(o.Key(t.Name))
			available := o.Available
			switch q.State {
			case Unknown:
				available = false
				r.Unknown = append(r.Unknown, q.Key)
			case Stale:
				available = available && !withhold
				r.Stale = append(r.Stale, q.Key)
			}
			if o.Price == q.Price && o.Available == available && o.PriceOverlay == "" {
				continue
			}
			if result == t {
				result = t.Clone()
			}
			n := &result.Offerings[j]
			n.Price, n.Available, n.PriceOverlay = q.Price, available, ""
		}
		out[i] = result
	}
	slices.SortFunc(r.Unknown, cloudprovider.OfferingKey.Compare)
	slices.SortFunc(r.Stale, cloudprovider.OfferingKey.Compare)
	return out, r
}
