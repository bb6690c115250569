package place

import (
	"cmp"
	"flag"
	"fmt"
	"slices"
	"strings"

	"github.com/dovetail-sdk/dovetail/examples/internal/command"
)

// Asked is the values of the flags -region and -zones.
type Asked struct {
	Region string
	Zones  []string
}

// Flags declares -region, and -zones, which lists zones with commas between and may be
// repeated.
func (a *Asked) Flags(set *flag.FlagSet) {
	set.StringVar(&a.Region, "region", "", "`REGION` the region of the cluster. Default: that of its nodes")
	set.Func("zones", "`ZONE,...` the zones of the cluster. Default: those of its nodes and, by their status, of the subnets of its EC2NodeClasses", func(text string) error {
		for _, name := range strings.Split(text, ",") {
			name = strings.TrimSpace(name)
			switch {
			case name == "":
				return fmt.Errorf("the name of a zone is empty; list them as in us-east-1a,us-east-1b")
			case slices.Contains(a.Zones, name):
				return fmt.Errorf("%s is given twice", name)
			}
			a.Zones = append(a.Zones, name)
		}
		return nil
	})
}

// Check lists the zones that are, by their names, in another region than -region or, without it,
// than the first zone. A cluster is in one region.
func (a *Asked) Check(f *command.Faults) {
	region := a.Region
	for _, name := range a.Zones {
		of := regionOf(name)
		region = cmp.Or(region, of)
		f.If(of != "" && of != region, "zone %s of flag -zones is not of region %s; name zones of one region", name, region)
	}
}

// Given reports whether any of the two flags is set.
func (a *Asked) Given() bool { return a.Region != "" || len(a.Zones) > 0 }
