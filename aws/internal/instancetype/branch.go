package instancetype

import (
	_ "embed"
	"strconv"
	"strings"
)

// branchLimits reads branchTable, whose form a test checks.
func branchLimits() map[string]int64 {
	limits := map[string]int64{}
	for line := range entries(branchTable) {
		families, sizes, _ := strings.Cut(line, ":")
		for entry := range strings.FieldsSeq(sizes) {
			size, number, _ := strings.Cut(entry, "=")
			n, _ := strconv.ParseInt(number, 10, 64)
			for family := range strings.FieldsSeq(families) {
				limits[family+"."+size] = n
			}
		}
	}
	return limits
}

// branchTable has the number of branch network interfaces, each for a pod with its own security
// groups, of the trunk interface of an instance type. EC2 does not report it. The numbers are those
// of the VPC resource controller of EKS in November 2026. A line is families, a colon, and sizes;
// types that are not listed have no trunk.
//
//go:embed tables/branches.txt
var branchTable string
