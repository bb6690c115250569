package overlay

import (
	"math"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// alreadyPaid is the share of the provider's price that an offering keeps when an overlay makes it
// free. It is small enough to sort first, and keeps larger machines dearer than smaller ones.
const alreadyPaid = 1e-7

// AdjustPrice returns a provider's price, in USD per hour, changed by the text
// of a NodeOverlay's spec.priceAdjustment:
//
//	+0.05, -1.2     plus or minus an amount in USD per hour
//	+10%, -15.5%    plus or minus a part of the price; at the least -100%
//
// The result is at least one ten-millionth of price, because an offering must cost something for
// costs to be comparable: a result of zero or less becomes that, and still sorts first. (spec.price
// "0" gives the same.) The result is at most the largest float64. A price of zero, of an offering
// that is not for sale, stays zero, and a price that is not finite stays as it is.
//
// The error, for a text of another form, says what is wanted; the price is returned unchanged then.
func AdjustPrice(price float64, adjustment string) (float64, error) {
	spec := v1.NodeOverlaySpec{Requirements: []v1.NodeSelectorRequirement{}, PriceAdjustment: &adjustment}
	if faults := (&v1.NodeOverlay{Spec: spec}).Validate(); len(faults) > 0 {
		return price, faults.ToAggregate()
	}
	change, fault := readPrice(&spec)
	if fault != nil {
		return price, fault
	}
	return change.of(price), nil
}

// priceChange is the change of a price by an overlay.
type priceChange struct {
	kind  priceKind
	value float64
}

type priceKind int

const (
	priceSet     priceKind = iota // to value
	priceAdd                      // value
	pricePercent                  // add value percent
)

// readPrice reads the price or adjustment of a valid spec; nil if it has
// neither.
func readPrice(s *v1.NodeOverlaySpec) (*priceChange, *field.Error) {
	out := &priceChange{}
	var text, name string
	switch {
	case s.Price != nil:
		text, name = *s.Price, "price"
	case s.PriceAdjustment != nil:
		text, name = *s.PriceAdjustment, "priceAdjustment"
		out.kind = priceAdd
	default:
		return nil, nil
	}
	number, percent := strings.CutSuffix(text, "%")
	if percent {
		out.kind = pricePercent
	}
	var err error
	if out.value, err = strconv.ParseFloat(number, 64); err != nil || out.value > cloudprovider.MaxPrice {
		return nil, field.Invalid(field.NewPath("spec", name), text, "the number is too large; use a price in USD per hour")
	}
	return out, nil
}

// of returns the changed price.
func (c *priceChange) of(price float64) float64 {
	if c.kind == priceSet && c.value > 0 {
		return c.value
	}
	if math.IsNaN(price) || math.IsInf(price, 0) {
		return price
	}
	var changed float64
	switch c.kind {
	case priceAdd:
		changed = price + c.value
	case pricePercent:
		// In this order +10% of 1 is 1.1 exactly.
		changed = price * (100 + c.value) / 100
	}
	return min(max(changed, price*alreadyPaid), math.MaxFloat64)
}
