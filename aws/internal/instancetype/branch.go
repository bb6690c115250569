package instancetype

import (
	_ "embed"
	"fmt"
	"strconv"
	"strings"
)

// branchLimits reads branchTable.
func branchLimits(table string) (map[string]int64, error) {
	limits := map[string]int64{}
	for line := range strings.Lines(table) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		families, sizes, found := strings.Cut(line, ":")
		if !found {
			return nil, fmt.Errorf("branch interfaces: %q has no colon", line)
		}
		for _, entry := range strings.Fields(sizes) {
			size, number, _ := strings.Cut(entry, "=")
			n, err := strconv.ParseInt(number, 10, 64)
			if err != nil || n < 1 || size == "" {
				return nil, fmt.Errorf("branch interfaces: %q in %q: want a size and a number above zero", entry, line)
			}
			for _, family := range strings.Fields(families) {
				if _, twice := limits[family+"."+size]; twice {
					return nil, fmt.Errorf("branch interfaces: %s.%s is listed twice", family, size)
				}
				limits[family+"."+size] = n
			}
		}
	}
	return limits, nil
}

// branchTable has the number of branch network interfaces, each for a pod with its own security
// groups, of the trunk interface of an instance type. EC2 does not report it. The numbers are those
// of the VPC resource controller of EKS in November 2026. A line is families, a colon, and sizes;
// types that are not listed have no trunk.
//
//go:embed tables/branches.txt
var branchTable string
