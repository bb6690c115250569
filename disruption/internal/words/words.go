// Package words writes amounts, numbers and instants for the one-line details of
// disruption.
package words

import (
	"fmt"
	"strings"
	"time"
)

// Instant renders a time to the second, in UTC.
func Instant(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// Span writes a duration to the second, without what is zero at its end: 1h, or 1m30s.
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

// Plural writes a number of things.
func Plural(n int, thing string) string {
	switch n {
	case 0:
		return "no " + thing
	case 1:
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// Verb is the verb of so many things: one for one of them, else more.
func Verb(n int, one, more string) string {
	if n == 1 {
		return one
	}
	return more
}

// USD is an amount of USD per hour.
func USD(amount float64) string { return fmt.Sprintf("%.4g USD/h", amount) }

// FirstLine is the first line of an error.
func FirstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}
