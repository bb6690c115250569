package main

import (
	"cmp"
	"maps"
	"slices"

	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/aws/awstest"
	"github.com/dovetail-sdk/dovetail/examples/internal/place"
)

// where is the region of the small AWS and its zones: the cluster's, so that what is
// planned there is planned as by whatif.
func (in *input) where(asked place.Asked) (region string, zones []awstest.Zone) {
	var classes []*awsv1.EC2NodeClass
	for _, name := range slices.Sorted(maps.Keys(in.classes)) {
		classes = append(classes, in.classes[name])
	}
	p := place.Find(in.cluster, classes, asked)
	for _, z := range p.Zones {
		zones = append(zones, awstest.Zone{Name: z.Name, ID: cmp.Or(z.ID, z.Name)})
	}
	return p.Region, zones
}
