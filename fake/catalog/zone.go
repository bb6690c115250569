package catalog

import (
	"fmt"
	"strings"
)

// DefaultRegion is the region of a catalog unless Options say otherwise.
// Prices are those of this region whatever the region is called.
const DefaultRegion = "us-east-1"

// Zone is an availability zone.
type Zone struct {
	// Name is the value of topology.kubernetes.io/zone: us-east-1a. Required.
	Name string
	// ID is the value of topology.k8s.aws/zone-id: use1-az1. Empty means the abbreviated region,
	// "-az" and the place of the zone in the list, from 1, or the next free number beyond
	// the list if another zone of the list has that ID.
	ID string
}

// defaultZones are four zones, named as AWS does.
func defaultZones(region string) []Zone {
	out := make([]Zone, len(zoneLetters))
	for i, letter := range zoneLetters {
		out[i] = Zone{Name: region + string(letter)}
	}
	return out
}

// zoneLetters are the letters by which ec2.txt names zones.
const zoneLetters = "abcd"

// withIDs returns a copy in which every zone has an ID.
func withIDs(region string, zones []Zone) []Zone {
	out := make([]Zone, len(zones))
	taken := map[string]bool{}
	for _, z := range zones {
		taken[z.ID] = true
	}
	next := len(zones)
	for i, z := range zones {
		if z.ID == "" {
			z.ID = fmt.Sprintf("%s-az%d", abbreviate(region), i+1)
			for taken[z.ID] {
				next++
				z.ID = fmt.Sprintf("%s-az%d", abbreviate(region), next)
			}
			taken[z.ID] = true
		}
		out[i] = z
	}
	return out
}

// abbreviate shortens a region as AWS does in the ids of zones: us-east-1 is
// use1, ap-southeast-2 is apse2, us-gov-west-1 is usgw1.
func abbreviate(region string) string {
	var b strings.Builder
	for i, word := range strings.Split(region, "-") {
		switch {
		case i == 0 || isNumber(word):
			b.WriteString(word)
		case len(word) > len("south") && (strings.HasPrefix(word, "north") || strings.HasPrefix(word, "south")):
			b.WriteString(word[:1] + word[5:6])
		case word != "":
			b.WriteString(word[:1])
		}
	}
	return b.String()
}
