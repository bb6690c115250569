package pricing

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// Quote is the price of one more instance of an offering, and how it was computed.
type Quote struct {
	// Key is the offering.
	Key cloudprovider.OfferingKey
	// State says whether the price is current.
	State State
	// Price is what one instance costs, in USD per hour. It is above zero, except that it is zero
	// if the State is Unknown.
	Price float64
	// Origins say what the price comes from, in order. Empty if it is Unknown.
	Origins []Origin
}

// Origin is a price list or adjustment that a price comes from.
type Origin struct {
	// Source is the name of a layer, or "paid" for reserved capacity.
	Source string
	// Price is the price by that source, in USD per hour.
	Price float64
	// At is when the layer gave the price; zero for paid capacity, and if
	// it is not known.
	At time.Time
}

// String returns one line, as in
//
//	m5.large/zone-a/spot: 0.036 USD/h (spot feed 0.036 of 2026-01-02T15:04:05Z)
//
// with "stale" or "unknown price" if that is the State.
func (q Quote) String() string {
	if q.State != Known && q.State != Stale {
		return q.Key.String() + ": unknown price"
	}
	var steps []string
	for _, s := range q.Origins {
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

// Quote returns the price of an offering at the instant now. In this order:
//
//  1. Layers are searched in their order. In each, the entries whose scope covers the offering are
//     tried from the narrowest on: those with more fields first; of equally many, those with the
//     instance type first, then the zone, then the capacity type. The first current entry has the
//     price. If no layer has one, the first outdated entry has it, and the State is Stale. Without
//     any entry it is Unknown.
//  2. If that is Unknown and the capacity type is reserved, the price is
//     one ten-millionth of the Quote for the same offering on demand, and has its State.
func (b *Book) Quote(now time.Time, key cloudprovider.OfferingKey) Quote {
	if b == nil {
		return Quote{Key: key, State: Unknown}
	}
	q := b.fromLayers(now, key)
	if q.State != Unknown || key.CapacityType != v1.CapacityTypeReserved {
		return q
	}
	onDemand := key
	onDemand.CapacityType, onDemand.ReservationID = v1.CapacityTypeOnDemand, ""
	q = b.Quote(now, onDemand)
	q.Key = key
	if q.State != Unknown {
		q.Price = max(q.Price*paidShare, math.SmallestNonzeroFloat64)
		q.Origins = append(q.Origins, Origin{Source: "paid", Price: q.Price})
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
				q.Price, q.Origins = e.Price, []Origin{{Source: l.name, Price: e.Price, At: e.At}}
			}
			return !fresh
		})
		if q.State == Known {
			break
		}
	}
	return q
}

// Report lists the offerings of a catalog without a current price. The lists are sorted by
// OfferingKey.Compare.
type Report struct {
	// Unknown have no price. They are not Available.
	Unknown []cloudprovider.OfferingKey
	// Stale have a price that is out of date.
	Stale []cloudprovider.OfferingKey
}

// Apply returns types with the prices of Quote at the instant now. An offering whose price is
// Unknown gets the price zero and is not Available; one whose price is Stale keeps that price.
// Changes of overlays and AddNodeCost are lost: call these afterwards.
//
// The input is not modified: types that differ are replaced by copies, the
// others are shared with the input. The slice is the caller's and has the order
// of the input; an entry that is nil stays nil.
func (b *Book) Apply(now time.Time, types []*cloudprovider.InstanceType) ([]*cloudprovider.InstanceType, Report) {
	var r Report
	out := slices.Clone(types)
	for i, t := range types {
		if t == nil {
			continue
		}
		result := t
		for j := range t.Offerings {
			o := &t.Offerings[j]
			q := b.Quote(now, o.Key(t.Name))
			available := o.Available
			switch q.State {
			case Unknown:
				available = false
				r.Unknown = append(r.Unknown, q.Key)
			case Stale:
				r.Stale = append(r.Stale, q.Key)
			}
			if o.Price == q.Price && o.NodeCost == 0 && o.Available == available && o.PriceOverlay == "" {
				continue
			}
			if result == t {
				result = t.Clone()
			}
			n := &result.Offerings[j]
			n.Price, n.NodeCost, n.Available, n.PriceOverlay = q.Price, 0, available, ""
		}
		out[i] = result
	}
	slices.SortFunc(r.Unknown, cloudprovider.OfferingKey.Compare)
	slices.SortFunc(r.Stale, cloudprovider.OfferingKey.Compare)
	return out, r
}
