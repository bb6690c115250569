package requirements

import "math"

// parseInteger reads a label value as strconv.ParseInt does in base 10 and 64
// bits, which is how kube-scheduler reads it: an optional sign, then digits
// only. It exists because strconv allocates an error for every value that is
// not a number, and those are most of them.
func parseInteger(s string) (int64, bool) {
	negative := false
	if len(s) > 0 && (s[0] == '-' || s[0] == '+') {
		negative = s[0] == '-'
		s = s[1:]
	}
	if len(s) == 0 {
		return 0, false
	}
	// Count downwards, where there is room for math.MinInt64.
	var n int64
	for i := 0; i < len(s); i++ {
		d := int64(s[i]) - '0'
		if d < 0 || d > 9 || n < math.MinInt64/10 {
			return 0, false
		}
		n *= 10
		if n < math.MinInt64+d {
			return 0, false
		}
		n -= d
	}
	if negative {
		return n, true
	}
	if n == math.MinInt64 {
		return 0, false
	}
	return -n, true
}
