package launch

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	karpv1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/aws/internal/api"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// maxTemplates is how many launch templates EC2 takes in one call.
const maxTemplates = 50

// Group is the options that use one launch template.
type Group struct {
	// Template is the name of the launch template.
	Template string
	// ImageID is the image.
	ImageID string
	// Options can be launched from the template.
	Options []cloudprovider.LaunchOption
}

// Spec is the content of a launch request to EC2. It is read-only.
type Spec struct {
	// CapacityType is that of all options.
	CapacityType string
	// Reservation is the kind of reservation, if CapacityType is reserved.
	Reservation ReservationKind
	// Context is spec.context of the node class; nil if there is none, or if it
	// must not be used.
	Context *string
	// Prioritized says that our prices differ from EC2's, so that EC2 must follow the order of the
	// options and not its own prices.
	Prioritized bool
	// Tags are for instances, volumes and the fleet.
	Tags map[string]string
	// Groups are the options, by launch template.
	Groups []Group
	// Types are the instance types of all requested options: those of Groups and those beyond the
	// limit of a call. Only Judge uses them.
	Types []string
}

// override is one row of the request.
type override struct {
	InstanceType, Zone, Image string
	Price                     float64
}

// overrides returns the rows of a group, without duplicates.
func (g *Group) overrides() []override {
	var out []override
	for _, o := range g.Options {
		out = append(out, override{o.InstanceType.Name, o.Offering.Zone, g.ImageID, o.Offering.Price})
	}
	slices.SortFunc(out, func(a, b override) int {
		return cmp.Or(cmp.Compare(a.Price, b.Price), cmp.Compare(a.InstanceType, b.InstanceType), cmp.Compare(a.Zone, b.Zone))
	})
	seen := map[override]bool{}
	return slices.DeleteFunc(out, func(o override) bool {
		key := override{InstanceType: o.InstanceType, Zone: o.Zone}
		if seen[key] {
			return true
		}
		seen[key] = true
		return false
	})
}

// sorted returns the groups, the one with the cheapest option first.
func (s *Spec) sorted() []Group {
	groups := slices.Clone(s.Groups)
	slices.SortFunc(groups, func(a, b Group) int {
		x, y := a.overrides(), b.overrides()
		switch {
		case len(x) == 0 || len(y) == 0:
			return cmp.Or(cmp.Compare(len(y), len(x)), cmp.Compare(a.Template, b.Template))
		case x[0].Price != y[0].Price:
			return cmp.Compare(x[0].Price, y[0].Price)
		}
		return cmp.Compare(a.Template, b.Template)
	})
	return groups
}

// Key returns a text that is equal for launches that can share a call, and different for others.
func (s *Spec) Key() string {
	type row struct {
		Template  string
		Overrides []override
	}
	text := struct {
		CapacityType string
		Reservation  ReservationKind
		Context      *string
		Prioritized  bool
		Tags         map[string]string
		Rows         []row
	}{s.CapacityType, s.Reservation, s.Context, s.Prioritized, s.Tags, nil}
	for _, g := range s.sorted() {
		text.Rows = append(text.Rows, row{g.Template, g.overrides()})
	}
	data, err := json.Marshal(text)
	if err != nil { // a price is NaN or infinite
		data = fmt.Append(nil, text)
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// RequestInput is the part of a call that is not in its Spec.
type RequestInput struct {
	// Count is how many instances to launch.
	Count int
	// Token makes the call repeatable.
	Token string
	// Subnets has the subnet to use in each zone. Options in other zones are left
	// out.
	Subnets map[string]string
	// Tags are for the instances only, in addition to those of the Spec.
	Tags map[string]string
	// DryRun asks whether the call would be allowed.
	DryRun bool
}

// ErrNothing is the error of Request if nothing is left to ask for.
var ErrNothing = errors.New("no subnet in any zone of the options")

// Request returns the input of the call. Launch templates beyond the fifty that EC2 takes are left
// out, those with the dearest options first.
func (s *Spec) Request(c RequestInput) (*ec2.CreateFleetInput, error) {
	in := &ec2.CreateFleetInput{
		Type:        ec2types.FleetTypeInstant,
		ClientToken: &c.Token,
		Context:     s.Context,
		TargetCapacitySpecification: &ec2types.TargetCapacitySpecificationRequest{
			DefaultTargetCapacityType: s.target(),
			TotalTargetCapacity:       new(int32(min(c.Count, 100_000))),
		},
	}
	if c.DryRun {
		in.DryRun = new(true)
	}
	latest := "$Latest"
	for _, g := range s.sorted() {
		config := ec2types.FleetLaunchTemplateConfigRequest{
			LaunchTemplateSpecification: &ec2types.FleetLaunchTemplateSpecificationRequest{
				LaunchTemplateName: new(g.Template), Version: &latest,
			},
		}
		for _, o := range g.overrides() {
			subnet := c.Subnets[o.Zone]
			if subnet == "" {
				continue
			}
			config.Overrides = append(config.Overrides, ec2types.FleetLaunchTemplateOverridesRequest{
				InstanceType:     ec2types.InstanceType(o.InstanceType),
				SubnetId:         new(subnet),
				ImageId:          new(o.Image),
				AvailabilityZone: new(o.Zone),
				Priority:         new(o.Price),
			})
		}
		if len(config.Overrides) > 0 && len(in.LaunchTemplateConfigs) < maxTemplates {
			in.LaunchTemplateConfigs = append(in.LaunchTemplateConfigs, config)
		}
	}
	if len(in.LaunchTemplateConfigs) == 0 {
		return nil, ErrNothing
	}
	s.strategies(in)
	instance := maps.Clone(s.Tags)
	if instance == nil {
		instance = map[string]string{}
	}
	maps.Copy(instance, c.Tags)
	in.TagSpecifications = []ec2types.TagSpecification{
		{ResourceType: ec2types.ResourceTypeInstance, Tags: api.Tags(instance)},
		{ResourceType: ec2types.ResourceTypeVolume, Tags: api.Tags(s.Tags)},
		{ResourceType: ec2types.ResourceTypeFleet, Tags: api.Tags(s.Tags)},
	}
	return in, nil
}

// target returns the capacity type in EC2's terms.
func (s *Spec) target() ec2types.DefaultTargetCapacityType {
	switch {
	case s.CapacityType == karpv1.CapacityTypeSpot:
		return ec2types.DefaultTargetCapacityTypeSpot
	case s.CapacityType != karpv1.CapacityTypeReserved:
		return ec2types.DefaultTargetCapacityTypeOnDemand
	case s.Reservation.Block:
		return ec2types.DefaultTargetCapacityTypeCapacityBlock
	case s.Reservation.Interruptible:
		return ec2types.DefaultTargetCapacityTypeReservedCapacity
	}
	return ec2types.DefaultTargetCapacityTypeOnDemand
}

// strategies sets how EC2 chooses among the options.
func (s *Spec) strategies(in *ec2.CreateFleetInput) {
	switch {
	case s.CapacityType == karpv1.CapacityTypeSpot:
		strategy := ec2types.SpotAllocationStrategyPriceCapacityOptimized
		if s.Prioritized {
			strategy = ec2types.SpotAllocationStrategyCapacityOptimizedPrioritized
		}
		in.SpotOptions = &ec2types.SpotOptionsRequest{AllocationStrategy: strategy}
	case s.CapacityType == karpv1.CapacityTypeReserved && s.Reservation.Interruptible:
		in.ReservedCapacityOptions = &ec2types.ReservedCapacityOptionsRequest{
			ReservationTypes: []ec2types.FleetReservationType{ec2types.FleetReservationTypeInterruptibleCapacityReservation},
		}
	case s.CapacityType == karpv1.CapacityTypeReserved && s.Reservation.Block:
		// EC2 accepts no strategy here: a call names one capacity block.
	default:
		strategy := ec2types.FleetOnDemandAllocationStrategyLowestPrice
		if s.Prioritized {
			strategy = ec2types.FleetOnDemandAllocationStrategyPrioritized
		}
		in.OnDemandOptions = &ec2types.OnDemandOptionsRequest{AllocationStrategy: strategy}
	}
}
