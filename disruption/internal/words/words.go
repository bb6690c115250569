// Package words formats amounts, numbers and times for the one-line details of disruption.
package words

import (
	"fmt"
	"strings"
	"time"
)

// Instant formats a time in UTC, to the second.
func Instant(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// Span formats a duration to the second, without zero units at its end: 1h, or 1m30s.
func Span(d time.Duration) string {
	text := d.Round(time.Second).String()
	if whole, ok := strings.CutSuffix(text, "m0s"); ok {
		text = whole + "m"
	}
	if whole, ok := strings.CutSuffix(text, "h0m"); ok {
		text = whole + "h"
	}
	return text
}

// Plural formats a number with a noun, such as "no node", "1 node" and "2 nodes".
func Plural(n int, thing string) string {
	switch n {
	case 0:
		return "no " + thing
	case 1:
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// Verb returns one if n is 1, and more otherwise: the form of a verb that agrees with n.
func Verb(n int, one, more string) string {
	if n == 1 {
		return one
	}
	return more
}

// Names joins names; it only counts those after the first four.
func Names(names []string) string {
	const most = 4
	if n := len(names) - most; n > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), n)
	}
	return strings.Join(names, ", ")
}

// USD formats an amount in USD per hour.
func USD(amount float64) string { return fmt.Sprintf("%.4g USD/h", amount) }

// FirstLine returns the first line of an error's text.
func FirstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}
