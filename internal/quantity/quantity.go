// Package quantity finds quantities that would take too long to work out: a few
// characters, such as 1e-99999999, would take minutes, and more memory than there
// is. It also compares quantities.
package quantity

import "strings"

const (
	maxNumber     = 100 // characters in front of the unit or exponent
	maxDigits     = 4   // of an exponent
	maxLongNumber = 18  // characters that are held in 64 bits
)

// Endless reports whether a text is a number on which resource.ParseQuantity, or the use of its
// result, would take too long: a number of more than 100 characters, one with an exponent of five
// digits or more, or one of more than 18 characters with an exponent of four. Leading zeros of an
// exponent do not count. It is false for a text that is no number.
func Endless(text string) bool {
	rest := strings.TrimLeft(strings.TrimSpace(text), "+-.0123456789")
	number := strings.TrimSpace(text)
	number = number[:len(number)-len(rest)]
	if len(number) > maxNumber {
		return true
	}
	if rest == "" || rest[0] != 'e' && rest[0] != 'E' {
		return false
	}
	exponent := strings.TrimLeft(strings.TrimLeft(rest[1:], "+-"), "0")
	if strings.Trim(exponent, "0123456789") != "" {
		return false // E is a unit too, which nothing but an i follows
	}
	return len(exponent) > maxDigits || len(exponent) == maxDigits && len(number) > maxLongNumber
}
