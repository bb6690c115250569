package launch

import (
	"cmp"
	"math"
	"slices"
	"strings"

	karpv1 "github.com/dovetail-sdk/dovetail/api/v1"
	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	kit "github.com/dovetail-sdk/dovetail/cloudprovider/launch"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// MaxTypes is how many instance types one call names.
const MaxTypes = 60

// minFlexibleTypes is how many instance types a launch that allows spot should have. With fewer,
// spot capacity is hard to find.
const minFlexibleTypes = 5

const (
	// NoImage: no image of the node class boots the instance type.
	NoImage kit.Reason = "NoImage"
	// OtherReservation: the launch uses another kind of reservation, or another reservation for the
	// same instance type and zone.
	OtherReservation kit.Reason = "OtherReservation"
)

// Selection is the result of Select.
type Selection struct {
	kit.Selection
	// CapacityType is that of all options; empty if there are none.
	CapacityType string
	// Reservation is the kind of reservation of all options, if CapacityType is
	// reserved.
	Reservation ReservationKind
	// InflexibleTypes is the number of instance types of a launch that allows spot and goes on
	// demand, if it is below minFlexibleTypes; else zero.
	InflexibleTypes int
}

// ReservationKind has the properties that must be equal for all reservations of one call.
type ReservationKind struct {
	// Block says that they are capacity blocks.
	Block bool
	// Interruptible says that their owner may take instances back.
	Interruptible bool
}

// rank returns the place of a kind in the order of preference among kinds of the same price.
func (k ReservationKind) rank() int {
	switch {
	case k.Interruptible:
		return 2
	case k.Block:
		return 1
	}
	return 0
}

// Select returns which options of a request to ask EC2 for, and in which order.
// images has the image of each instance type that the node class boots. In this
// order:
//
//  1. Options without an image, options that are not launchable, and duplicates are dropped.
//  2. If there are reserved options, one kind of reservation is chosen: the one
//     with the cheapest option; of the same price the default kind, then capacity
//     blocks, then interruptible ones.
//  3. Of capacity blocks only the cheapest option is kept, because a call can name only one.
//  4. Of several reservations for one instance type and zone the one with most
//     capacity left is kept.
//  5. Unusual machines are dropped if others are left: those with accelerators, and bare metal,
//     unless the request asks for them.
//  6. Spot capacity dearer than the cheapest on demand is dropped.
//  7. The rest is put in order, cheapest first, and cut to MaxTypes instance
//     types. Of spot and on-demand the first is used.
//
// If minValues hold without reservations but not after steps 2 to 4, the launch goes without
// reservations. Steps 5 to 7 respect minValues as kit.Select says.
func Select(req *cloudprovider.LaunchRequest, images map[string]string) Selection {
	if req == nil {
		return Selection{}
	}
	var dropped []kit.Dropped
	var reserved, other []cloudprovider.LaunchOption
	for _, o := range req.Options {
		switch {
		case o.InstanceType == nil || o.Offering == nil:
			other = append(other, o) // kit.Select reports these
		case images[o.InstanceType.Name] == "":
			dropped = append(dropped, kit.Dropped{Key: o.Key(), Reason: NoImage,
				Detail: "no image of the node class boots the instance type"})
		case o.Offering.CapacityType != karpv1.CapacityTypeReserved || !o.Offering.Launchable():
			other = append(other, o)
		default:
			reserved = append(reserved, o)
		}
	}
	slices.SortFunc(dropped, func(a, b kit.Dropped) int { return a.Key.Compare(b.Key) })
	if len(reserved) > 0 {
		kept, gone, kind := chooseReserved(reserved)
		s := selectFrom(req, kept)
		if len(s.Unmet) == 0 || len(selectFrom(req, other).Unmet) > 0 {
			s.Reservation = kind
			s.Dropped = slices.Concat(dropped, gone, otherTypes(other), s.Dropped)
			return s
		}
		for _, o := range reserved {
			dropped = append(dropped, kit.Dropped{Key: o.Key(), Reason: OtherReservation,
				Detail: "with reservations alone minValues would not hold"})
		}
	}
	s := selectFrom(req, other)
	s.Dropped = slices.Concat(dropped, s.Dropped)
	if s.CapacityType == karpv1.CapacityTypeOnDemand && wantsSpot(req.Requirements) {
		if n := countTypes(s.Options); n < minFlexibleTypes {
			s.InflexibleTypes = n
		}
	}
	return s
}

// otherTypes returns the unreserved options, which a launch into reservations drops.
func otherTypes(options []cloudprovider.LaunchOption) []kit.Dropped {
	var out []kit.Dropped
	for _, o := range options {
		if o.InstanceType != nil && o.Offering != nil {
			out = append(out, kit.Dropped{Key: o.Key(), Reason: kit.OtherCapacityType, Detail: "the call asks for reserved capacity"})
		}
	}
	slices.SortFunc(out, func(a, b kit.Dropped) int { return a.Key.Compare(b.Key) })
	return out
}

// selectFrom takes the steps from 5 on.
func selectFrom(req *cloudprovider.LaunchRequest, options []cloudprovider.LaunchOption) Selection {
	pass := *req
	pass.Options = options
	rare := exotic(options)
	first := kit.Select(&pass, &kit.Options{
		Limit: math.MaxInt, KeepDearSpot: true, DropExotic: true, Exotic: rare,
	})
	pass.Options = first.Options
	second := &kit.Options{Limit: MaxTypes, OneCapacityType: true, Exotic: []kit.Exotic{}}
	if slices.Contains(first.Spared, kit.OutOfTheOrdinary) {
		second.Exotic = rare // still allowed, but last
	}
	s := Selection{Selection: kit.Select(&pass, second)}
	s.Dropped = slices.Concat(first.Dropped, s.Dropped)
	s.Spared = slices.Concat(first.Spared, s.Spared)
	if len(s.Options) > 0 {
		s.CapacityType = s.Options[0].Offering.CapacityType
	}
	return s
}

// exotic returns the machines that are launched only if the request asks for them. The sizes of
// bare metal are taken from the options, because EC2 adds new ones.
func exotic(options []cloudprovider.LaunchOption) []kit.Exotic {
	all := []kit.Exotic{}
	for _, name := range awsv1.ExoticResources() {
		all = append(all, kit.Exotic{Name: string(name), Resource: name})
	}
	var sizes []string
	for _, o := range options {
		if o.InstanceType == nil {
			continue
		}
		if _, size, _ := strings.Cut(o.InstanceType.Name, "."); strings.HasPrefix(size, "metal") && !slices.Contains(sizes, size) {
			sizes = append(sizes, size)
		}
	}
	if len(sizes) == 0 {
		return all
	}
	return append(all, kit.Exotic{Name: "bare metal",
		Labels: requirements.NewSet(requirements.In(awsv1.LabelInstanceSize, sizes...))})
}

// wantsSpot reports whether a request allows spot.
func wantsSpot(s requirements.Set) bool {
	r, found := s.Get(karpv1.CapacityTypeLabelKey)
	return found && r.Has(karpv1.CapacityTypeSpot)
}

func countTypes(options []cloudprovider.LaunchOption) int {
	names := map[string]bool{}
	for _, o := range options {
		names[o.InstanceType.Name] = true
	}
	return len(names)
}

// kindOf returns the kind of the reservation of an offering.
func kindOf(o *cloudprovider.Offering) ReservationKind {
	has := func(key, value string) bool {
		r, found := o.Requirements.Get(key)
		return found && r.Has(value) && !r.AllowsAbsent()
	}
	return ReservationKind{
		Block:         has(awsv1.LabelCapacityReservationType, string(awsv1.CapacityReservationTypeCapacityBlock)),
		Interruptible: has(awsv1.LabelCapacityReservationInterruptible, "true"),
	}
}

// chooseReserved takes steps 2 to 4.
func chooseReserved(options []cloudprovider.LaunchOption) (kept []cloudprovider.LaunchOption, gone []kit.Dropped, kind ReservationKind) {
	sorted := slices.SortedFunc(slices.Values(options), func(a, b cloudprovider.LaunchOption) int {
		return cmp.Or(
			cmp.Compare(a.Offering.Price, b.Offering.Price),
			cmp.Compare(kindOf(a.Offering).rank(), kindOf(b.Offering).rank()),
			a.Key().Compare(b.Key()))
	})
	kind = kindOf(sorted[0].Offering)
	type place struct{ instanceType, zone string }
	best := map[place]int{}
	drop := func(o cloudprovider.LaunchOption, detail string) {
		gone = append(gone, kit.Dropped{Key: o.Key(), Reason: OtherReservation, Detail: detail})
	}
	for _, o := range sorted {
		if kindOf(o.Offering) != kind {
			drop(o, "a call can name one kind of reservation, and another kind has the cheapest option")
			continue
		}
		if kind.Block && len(kept) > 0 {
			drop(o, "a call can name one capacity block")
			continue
		}
		at := place{o.InstanceType.Name, o.Offering.Zone}
		i, found := best[at]
		if !found {
			best[at] = len(kept)
			kept = append(kept, o)
			continue
		}
		if o.Offering.ReservationCapacity > kept[i].Offering.ReservationCapacity {
			kept[i], o = o, kept[i]
		}
		drop(o, "another reservation has more left")
	}
	slices.SortFunc(gone, func(a, b kit.Dropped) int {
		return cmp.Or(a.Key.Compare(b.Key), cmp.Compare(a.Detail, b.Detail))
	})
	return kept, gone, kind
}
