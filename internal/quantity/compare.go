package quantity

import (
	"cmp"
	"math"
	"strconv"

	"k8s.io/apimachinery/pkg/api/resource"
)

// Quantities are compared exactly between these, and by their first digits
// beyond. An exact comparison writes out powers of ten, which takes for ever
// with the exponent of a quantity such as 1E2147483647. No real amount is that
// large.
const (
	leastExact = 1e-10
	mostExact  = 1e19
)

// Compare returns a negative number if a is less than b, and a positive one if a is more. It copies
// its arguments, because a comparison may change the internal form of a quantity.
func Compare(a, b resource.Quantity) int {
	x, y := approximate(&a), approximate(&b)
	larger := max(math.Abs(x), math.Abs(y))
	if x == y && (larger == 0 || larger < leastExact || larger > mostExact) {
		return 0
	}
	if larger > mostExact || math.Abs(x-y) > larger*1e-9 || larger < leastExact {
		return cmp.Compare(x, y)
	}
	return a.Cmp(b)
}

// approximate returns the quantity as a float64, never NaN.
func approximate(q *resource.Quantity) float64 {
	x := q.AsApproximateFloat64()
	if math.IsNaN(x) {
		return 0 // zero times a power of ten that is too large for a float
	}
	return x
}

// Exact reports whether a quantity is of a size that is worked out at once: zero, or
// between 1e-10 and 1e19 either way.
func Exact(q resource.Quantity) bool {
	size := math.Abs(q.AsApproximateFloat64())
	return size == 0 && q.Sign() == 0 || size >= leastExact && size <= mostExact
}

// Text shows a quantity, exactly if that can be done in a few digits.
func Text(q resource.Quantity) string {
	x := approximate(&q)
	switch {
	case x == 0:
		return "0"
	case !Exact(q):
		return strconv.FormatFloat(x, 'g', -1, 64)
	}
	return q.String()
}
