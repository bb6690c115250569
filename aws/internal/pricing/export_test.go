package pricing

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// YAML returns the text that ParseFile reads back, sorted by name, with the instant
// in UTC to the second. The error is that of Validate.
func (f *File) YAML() ([]byte, error) {
	if err := f.Validate(); err != nil {
		return nil, err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "version: %d\nregion: %s\ncurrency: %s\nat: %q\n",
		fileVersion, strconv.Quote(f.Region), Currency(f.Region), f.At.UTC().Format(time.RFC3339))
	if len(f.OnDemand) > 0 {
		b.WriteString("onDemand:\n")
		for _, name := range slices.Sorted(maps.Keys(f.OnDemand)) {
			fmt.Fprintf(&b, "  %s: %s\n", strconv.Quote(name), number(f.OnDemand[name]))
		}
	}
	if len(f.Spot) > 0 {
		b.WriteString("spot:\n")
		for _, name := range slices.Sorted(maps.Keys(f.Spot)) {
			fmt.Fprintf(&b, "  %s:", strconv.Quote(name))
			if len(f.Spot[name]) == 0 {
				b.WriteString(" {}")
			}
			b.WriteString("\n")
			for _, zone := range slices.Sorted(maps.Keys(f.Spot[name])) {
				fmt.Fprintf(&b, "    %s: %s\n", strconv.Quote(zone), number(f.Spot[name][zone]))
			}
		}
	}
	return []byte(b.String()), nil
}

// number writes a price with as many digits as it takes to read it back, and
// without an exponent.
func number(p float64) string { return strconv.FormatFloat(p, 'f', -1, 64) }
