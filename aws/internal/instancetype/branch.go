package instancetype

import (
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
				return nil, fmt.Errorf("branch interfaces: %q in %q is no size with a number above zero", entry, line)
			}
			for _, family := range strings.Fields(families) {
				if _, twice := limits[family+"."+size]; twice {
					return nil, fmt.Errorf("branch interfaces: %s.%s is there twice", family, size)
				}
				limits[family+"."+size] = n
			}
		}
	}
	return limits, nil
}

// branchTable says how many branch network interfaces, each for a pod with
// security groups of its own, the trunk interface of an instance type carries.
// EC2 does not report it. The numbers are those that the VPC resource controller
// of EKS was published with by November 2026. A line is families, a colon, and
// sizes; what is not in it has no trunk.
const branchTable = `
a1: medium=10 large=9 xlarge=18 2xlarge=38 4xlarge=54 metal=54
c5 c5d: large=9 xlarge=18 2xlarge=38 4xlarge=54 9xlarge=54 12xlarge=54 18xlarge=107 24xlarge=107 metal=107
c5a c5ad m5a m5ad r5a r5ad: large=9 xlarge=18 2xlarge=38 4xlarge=54 8xlarge=54 12xlarge=54 16xlarge=107 24xlarge=107
c5n: large=9 xlarge=18 2xlarge=38 4xlarge=54 9xlarge=54 18xlarge=107 metal=107
c6a m6a r6a: large=9 xlarge=18 2xlarge=38 4xlarge=54 8xlarge=84 12xlarge=114 16xlarge=107 24xlarge=107 32xlarge=107 48xlarge=107 metal=107
c6g c6gd c7g c7gd c7gn m6g m6gd m7g m7gd r6g r6gd r7g r7gd: medium=4 large=9 xlarge=18 2xlarge=38 4xlarge=54 8xlarge=54 12xlarge=54 16xlarge=107 metal=107
c6gn: medium=4 large=9 xlarge=18 2xlarge=38 4xlarge=54 8xlarge=54 12xlarge=54 16xlarge=107
c6i c6id m6i m6id r6i r6id: large=9 xlarge=18 2xlarge=38 4xlarge=54 8xlarge=84 12xlarge=114 16xlarge=107 24xlarge=107 32xlarge=107 metal=107
c6in m6idn m6in r6idn r6in: large=9 xlarge=18 2xlarge=38 4xlarge=54 8xlarge=84 12xlarge=114 16xlarge=107 24xlarge=107 32xlarge=106 metal=106
c7a m7a r7a: medium=4 large=9 xlarge=18 2xlarge=38 4xlarge=54 8xlarge=84 12xlarge=114 16xlarge=107 24xlarge=107 32xlarge=107 48xlarge=107 metal-48xl=107
c7g-flex m7g-flex: medium=1 large=3 xlarge=8 2xlarge=18 4xlarge=34 8xlarge=54
c7i-flex m7i-flex: large=3 xlarge=8 2xlarge=18 4xlarge=34 8xlarge=54 12xlarge=114 16xlarge=107
c7i: large=9 xlarge=18 2xlarge=38 4xlarge=54 8xlarge=84 12xlarge=114 16xlarge=107 24xlarge=107 metal-24xl=107 32xlarge=107 48xlarge=107 metal-48xl=107
c8a m8a r8a: medium=4 large=9 xlarge=18 2xlarge=38 4xlarge=54 8xlarge=82 12xlarge=110 16xlarge=106 24xlarge=106 metal-24xl=106 48xlarge=98 metal-48xl=98
c8g c8gd m8g m8gd r8g r8gd x8g: medium=4 large=9 xlarge=18 2xlarge=38 4xlarge=54 8xlarge=54 12xlarge=54 16xlarge=107 24xlarge=107 metal-24xl=107 48xlarge=107 metal-48xl=107
c8g-flex m8g-flex: medium=1 large=3 xlarge=8 2xlarge=18 4xlarge=34 8xlarge=54 12xlarge=54 16xlarge=47
c8gb c8gn m8gb m8gn r8gb r8gn: medium=4 large=9 xlarge=18 2xlarge=38 4xlarge=54 8xlarge=52 12xlarge=50 16xlarge=106 24xlarge=98 metal-24xl=98 48xlarge=98 metal-48xl=98
c8i c8id m8i m8id r8i r8id: large=9 xlarge=18 2xlarge=38 4xlarge=54 8xlarge=82 12xlarge=110 16xlarge=106 24xlarge=106 32xlarge=98 48xlarge=98 metal-48xl=98 96xlarge=98 metal-96xl=98
c8i-flex m8i-flex r8i-flex: large=3 xlarge=8 2xlarge=18 4xlarge=34 8xlarge=52 12xlarge=110 16xlarge=106
c8ib c8in m8ib m8idb m8idn m8in r8ib r8idb r8idn r8in: large=8 xlarge=18 2xlarge=38 4xlarge=54 8xlarge=84 12xlarge=110 16xlarge=106 24xlarge=106 32xlarge=106 48xlarge=98 metal-48xl=98 96xlarge=98 metal-96xl=98
c8ine m8ine: large=8 xlarge=18 2xlarge=38 4xlarge=54 8xlarge=84 12xlarge=110
c9g c9gd m9g m9gd: medium=4 large=9 xlarge=18 2xlarge=38 4xlarge=54 8xlarge=52 12xlarge=50 16xlarge=106 24xlarge=98 48xlarge=98 metal-48xl=98
d3: xlarge=42 2xlarge=92 4xlarge=118 8xlarge=119
d3en: xlarge=24 2xlarge=58 4xlarge=118 6xlarge=118 8xlarge=118 12xlarge=119
dl1 p4d p4de: 24xlarge=62
dl2q p3dn: 24xlarge=107
f2: 6xlarge=84 12xlarge=114 48xlarge=107
g4ad: xlarge=12 2xlarge=12 4xlarge=11 8xlarge=10 16xlarge=6
g4dn: xlarge=39 2xlarge=39 4xlarge=59 8xlarge=58 12xlarge=54 16xlarge=118 metal=107
g5: xlarge=4 2xlarge=17 4xlarge=34 8xlarge=84 12xlarge=107 16xlarge=114 24xlarge=107 48xlarge=115
g5g: xlarge=18 2xlarge=38 4xlarge=54 8xlarge=54 16xlarge=107 metal=107
g6: xlarge=18 2xlarge=38 4xlarge=54 8xlarge=84 12xlarge=114 16xlarge=107 24xlarge=107 48xlarge=107
g6e: xlarge=18 2xlarge=38 4xlarge=54 8xlarge=84 12xlarge=112 16xlarge=107 24xlarge=102 48xlarge=82
g6f: large=10 xlarge=18 2xlarge=38 4xlarge=54
g7: 2xlarge=38 4xlarge=54 8xlarge=82 12xlarge=110 24xlarge=98 48xlarge=98
g7e: 2xlarge=120 4xlarge=120 8xlarge=120 12xlarge=120 24xlarge=120 48xlarge=120
gr6: 4xlarge=54 8xlarge=84
gr6f: 4xlarge=54
hpc7g: 4xlarge=118 8xlarge=118 16xlarge=118
i3: metal=120
i3en: large=5 xlarge=12 2xlarge=28 3xlarge=38 6xlarge=54 12xlarge=54 24xlarge=107 metal=107
i4g im4gn: large=9 xlarge=18 2xlarge=38 4xlarge=54 8xlarge=54 16xlarge=107
i4i: large=9 xlarge=6 2xlarge=26 4xlarge=52 8xlarge=112 12xlarge=112 16xlarge=120 24xlarge=105 32xlarge=120 metal=120
i7i: large=9 xlarge=18 2xlarge=38 4xlarge=54 8xlarge=84 12xlarge=84 16xlarge=107 24xlarge=107 metal-24xl=107 48xlarge=107 metal-48xl=107
i7ie: large=19 xlarge=27 2xlarge=27 3xlarge=27 6xlarge=54 12xlarge=54 18xlarge=107 24xlarge=107 metal-24xl=107 48xlarge=107 metal-48xl=107
i8g: large=9 xlarge=18 2xlarge=38 4xlarge=54 8xlarge=54 12xlarge=54 16xlarge=107 24xlarge=107 metal-24xl=107 48xlarge=107 metal-48xl=107
i8ge: large=19 xlarge=27 2xlarge=27 3xlarge=25 6xlarge=52 12xlarge=50 18xlarge=106 24xlarge=106 metal-24xl=106 48xlarge=98 metal-48xl=98
inf1: xlarge=38 2xlarge=38 6xlarge=54 24xlarge=111
inf2: xlarge=18 8xlarge=84 24xlarge=107 48xlarge=107
is4gen: medium=4 large=9 xlarge=18 2xlarge=38 4xlarge=54 8xlarge=54
m5 r5: large=9 xlarge=18 2xlarge=38 4xlarge=54 8xlarge=54 12xlarge=54 16xlarge=107 24xlarge=107 metal=120
m5d m5dn m5n r5b r5d r5dn r5n: large=9 xlarge=18 2xlarge=38 4xlarge=54 8xlarge=54 12xlarge=54 16xlarge=107 24xlarge=107 metal=107
m5zn: large=13 xlarge=29 2xlarge=62 3xlarge=92 6xlarge=114 12xlarge=107 metal=107
m7i r7i: large=9 xlarge=18 2xlarge=38 4xlarge=54 8xlarge=84 12xlarge=114 16xlarge=107 24xlarge=107 metal-24xl=107 48xlarge=107 metal-48xl=107
m8azn: medium=3 large=8 xlarge=18 3xlarge=34 6xlarge=54 12xlarge=106 metal-12xl=106 24xlarge=106 metal-24xl=106
mac-m3ultra mac-m4 mac-m4max mac-m4pro mac1 mac2 mac2-m1ultra mac2-m2 mac2-m2pro: metal=6
p5: 4xlarge=58 48xlarge=120
p5e p5en p6-b200 p6-b300: 48xlarge=120
r7iz: large=9 xlarge=18 2xlarge=38 4xlarge=54 8xlarge=84 12xlarge=114 16xlarge=107 metal-16xl=107 32xlarge=107 metal-32xl=107
trn1: 2xlarge=17 32xlarge=82
trn1n: 32xlarge=120
u-3tb1: 56xlarge=6
u7i-12tb: 224xlarge=107
u7i-6tb u7i-8tb: 112xlarge=107
u7in-16tb u7in-24tb u7in-32tb: 224xlarge=106
vt1: 3xlarge=38 6xlarge=54 24xlarge=107
x2gd: medium=10 large=9 xlarge=18 2xlarge=38 4xlarge=54 8xlarge=54 12xlarge=54 16xlarge=107 metal=107
x2idn: 16xlarge=107 24xlarge=107 32xlarge=107 metal=107
x2iedn: xlarge=11 2xlarge=27 4xlarge=54 8xlarge=114 16xlarge=107 24xlarge=107 32xlarge=107 metal=107
x2iezn: 2xlarge=62 4xlarge=114 6xlarge=114 8xlarge=114 12xlarge=107 metal=107
x8aedz: large=8 xlarge=18 3xlarge=34 6xlarge=54 12xlarge=106 metal-12xl=106 24xlarge=106 metal-24xl=106
x8i: large=9 xlarge=18 2xlarge=38 4xlarge=54 8xlarge=82 12xlarge=110 16xlarge=106 24xlarge=106 32xlarge=98 48xlarge=98 metal-48xl=98 64xlarge=98 96xlarge=98 metal-96xl=98
z1d: large=13 xlarge=28 2xlarge=58 3xlarge=54 6xlarge=54 12xlarge=107 metal=107
`
