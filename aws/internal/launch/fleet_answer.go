package launch

import (
	"cmp"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
)

// Launched is one instance that a call launched.
type Launched struct {
	// ID is the id of the instance.
	ID string
	// InstanceType, Zone, SubnetID and ImageID are those of the override that it
	// was launched by.
	InstanceType, Zone, SubnetID, ImageID string
	// Template is the name of its launch template; empty if EC2 gave an id only.
	Template string
}

// Failure is why a call launched nothing by an override. Fields that EC2 did not
// fill in are empty.
type Failure struct {
	// Code and Message are those of EC2.
	Code, Message string
	// InstanceType, Zone and SubnetID are those of the override.
	InstanceType, Zone, SubnetID string
	// Template is the name of the launch template.
	Template string
}

// ReadAnswer reads the answer of CreateFleet: the instances sorted by id, and the
// failures in an order of their own, each once. zones has the zone of each subnet
// of the request, for answers that do not name it.
func ReadAnswer(out *ec2.CreateFleetOutput, zones map[string]string) ([]Launched, []Failure) {
	if out == nil {
		return nil, nil
	}
	var launched []Launched
	for _, set := range out.Instances {
		row := overridesOf(set.LaunchTemplateAndOverrides, zones)
		for _, id := range set.InstanceIds {
			if id == "" {
				continue
			}
			launched = append(launched, Launched{
				ID: id, InstanceType: cmp.Or(string(set.InstanceType), row.InstanceType), Zone: row.Zone,
				SubnetID: row.SubnetID, ImageID: row.image, Template: row.Template,
			})
		}
	}
	slices.SortFunc(launched, func(a, b Launched) int { return cmp.Compare(a.ID, b.ID) })
	launched = slices.CompactFunc(launched, func(a, b Launched) bool { return a.ID == b.ID })
	var failures []Failure
	for _, e := range out.Errors {
		f := overridesOf(e.LaunchTemplateAndOverrides, zones).Failure
		f.Code, f.Message = value(e.ErrorCode), value(e.ErrorMessage)
		failures = append(failures, f)
	}
	slices.SortFunc(failures, compareFailures)
	return launched, slices.Compact(failures)
}

func compareFailures(a, b Failure) int {
	return cmp.Or(
		cmp.Compare(a.Code, b.Code), cmp.Compare(a.InstanceType, b.InstanceType), cmp.Compare(a.Zone, b.Zone),
		cmp.Compare(a.SubnetID, b.SubnetID), cmp.Compare(a.Template, b.Template), cmp.Compare(a.Message, b.Message))
}

// row is what an answer says of the override that it is about.
type row struct {
	Failure
	image string
}

// overridesOf reads that, and nothing where EC2 has left it out.
func overridesOf(o *ec2types.LaunchTemplateAndOverridesResponse, zones map[string]string) row {
	var r row
	if o == nil {
		return r
	}
	if t := o.LaunchTemplateSpecification; t != nil {
		r.Template = value(t.LaunchTemplateName)
	}
	if o := o.Overrides; o != nil {
		r.InstanceType, r.SubnetID, r.image = string(o.InstanceType), value(o.SubnetId), value(o.ImageId)
		r.Zone = cmp.Or(value(o.AvailabilityZone), zones[r.SubnetID])
	}
	return r
}

func value[T any](p *T) T {
	if p == nil {
		var none T
		return none
	}
	return *p
}
