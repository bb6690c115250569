package requirements

import (
	"math"
	"strconv"
)

// Any returns one admitted string, and false if there is none (AllowsPresent says which). The same
// requirement gives the same string every time:
//
//   - if the admitted strings are listed, as for In, the first in byte order;
//   - otherwise the smallest integer from zero up that is admitted in its plain decimal spelling:
//     Exists gives 0, Gt 4 gives 5, Gt 4 but not 5 gives 6. So the string can be a label value.
//
// There are two special cases. If the plain spellings of all those integers are excluded, zeroes
// are put before the smallest integer until it is admitted: for Gt 4, Lt 6 but not 5 the result is
// 05. An interval below zero, which no valid label value is in, gives its greatest integer in the
// same way.
func (r Requirement) Any() (string, bool) {
	switch r.shape {
	case shapeOnly:
		if len(r.values) == 0 {
			return "", false
		}
		return r.values[0], true
	case shapeIntegers:
		if r.hi < 0 {
			return r.anyInteger(r.hi, r.lo, -1), true
		}
		return r.anyInteger(max(r.lo, 0), r.hi, 1), true
	default:
		return r.anyInteger(0, math.MaxInt64, 1), true
	}
}

// anyInteger walks from first to last in the direction of step. It takes at
// most one step more than there are excluded values, then as many paddings.
func (r Requirement) anyInteger(first, last, step int64) string {
	for n := first; ; n += step {
		if s := strconv.FormatInt(n, 10); !contains(r.values, s) {
			return s
		}
		if n == last {
			break
		}
	}
	sign, digits := "", strconv.FormatInt(first, 10)
	if first < 0 {
		sign, digits = "-", digits[1:]
	}
	for {
		digits = "0" + digits
		if s := sign + digits; !contains(r.values, s) {
			return s
		}
	}
}
