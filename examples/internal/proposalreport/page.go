package proposalreport

import (
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/dovetail-sdk/dovetail/examples/internal/layout"
)

// fit is a text in a column of a width.
func fit(text string, width int) string {
	text = layout.Shorten(layout.Printable(text), width)
	return text + strings.Repeat(" ", width-utf8.RuneCountInString(text))
}

// listed joins items by commas, so many of them at most.
func listed(items []string, most int) string {
	if hidden := len(items) - most; hidden > 0 {
		items = append(append([]string{}, items[:most]...), fmt.Sprintf("and %d more", hidden))
	}
	return strings.Join(items, ", ")
}

// bar draws a share from 0 to 1 as a bar of a width.
func bar(share float64, width int) string {
	n := int(math.Round(share * float64(width)))
	n = min(max(n, 0), width)
	return strings.Repeat("█", n) + strings.Repeat("░", width-n)
}
