package pricing

import (
	_ "embed" // for the table
	"fmt"
	"strconv"
	"strings"
	"time"
)

// builtinTable is prices on demand: a line "region", its name and the day the
// prices are of, and then a line for each family with its sizes.
//
//go:embed builtin.txt
var builtinTable string

// builtinRegion is the region whose prices stand for those of regions that have
// none built in. The order of prices is much the same everywhere.
const builtinRegion = "us-east-1"

// parseBuiltin returns the prices of a region in a table, or else those of
// builtinRegion.
func parseBuiltin(table, region string) ([]Product, time.Time, error) {
	at, list, err := builtinOf(table, region)
	if err == nil && list == nil {
		at, list, err = builtinOf(table, builtinRegion)
	}
	return list, at, err
}

func builtinOf(table, region string) (at time.Time, list []Product, err error) {
	wanted := false
	for line := range strings.Lines(table) {
		words := strings.Fields(line)
		switch {
		case len(words) == 0:
		case words[0] == "region" && len(words) == 3:
			wanted = words[1] == region
			if wanted {
				if at, err = time.Parse(time.DateOnly, words[2]); err != nil {
					return at, nil, fmt.Errorf("built-in prices: %w", err)
				}
			}
		case wanted:
			for _, entry := range words[1:] {
				size, number, _ := strings.Cut(entry, "=")
				price, err := strconv.ParseFloat(number, 64)
				if err != nil || priceFault(price) != "" || size == "" {
					return at, nil, fmt.Errorf("built-in prices: %s %s: %q is no size with a price", region, words[0], entry)
				}
				list = append(list, Product{InstanceType: words[0] + "." + size, Price: price})
			}
		}
	}
	return at, list, nil
}
