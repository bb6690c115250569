package layout

import (
	"math"
	"strconv"
)

// USD formats an amount of money with the given number of decimals. Absurdly large prices are
// shortened, so that they do not break the layout.
func USD(amount float64, decimals int) string {
	if math.Abs(amount) >= 1e8 || math.IsNaN(amount) {
		return strconv.FormatFloat(amount, 'g', 3, 64)
	}
	if math.Abs(amount) < math.Pow(10, -float64(decimals))/2 {
		amount = 0 // and not below
	}
	return strconv.FormatFloat(amount, 'f', decimals, 64)
}

// Arrow formats an amount before and after a change.
func Arrow(old, fresh float64, decimals int) string {
	a, b := USD(old, decimals), USD(fresh, decimals)
	if a == b {
		return a
	}
	return a + " → " + b
}

// Percent formats a share from 0 to 1, rounded down so that only 1 is shown as 100%.
func Percent(share float64) string {
	// The share is rounded to six decimals, which may have been downwards.
	n := math.Floor(100*share + 1e-6)
	if n > 999 {
		return ">999%"
	}
	return strconv.FormatFloat(n, 'f', 0, 64) + "%"
}

// Rounded rounds an amount to six decimals, so that sums have no binary remainders.
func Rounded(x float64) float64 { return math.Round(x*1e6) / 1e6 }

// Phrase returns a number followed by the phrase for one or for several: "1 pod fits", "2 pods
// fit".
func Phrase(n int, one, several string) string {
	return strconv.Itoa(n) + " " + Either(n, one, several)
}

// Either returns the word for one or for several.
func Either(n int, one, several string) string {
	if n == 1 {
		return one
	}
	return several
}
