package instancetype

import (
	"errors"
	"fmt"
	"slices"
	"time"

	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/aws/nodecost"
	"github.com/dovetail-sdk/dovetail/cloudprovider/pricing"
)

// Zone is an availability zone.
type Zone struct {
	// Name is its name in the account, such as us-east-1a. Required.
	Name string
	// ID is the id that is the same in all accounts, such as use1-az1. If it is empty, nodes have
	// no zone-id label.
	ID string
}

// Input is the input of Inventory.Build. It is read-only.
type Input struct {
	// Now is the instant of the catalog. Reservations that have ended by then are not Available,
	// and prices are those of that instant.
	Now time.Time
	// Region is the name of the region. Required.
	Region string
	// Class is the class of the nodes. Of its status, subnets, amis and
	// capacityReservations are used. Required. It is not validated here; see
	// EC2NodeClass.Validate.
	Class *awsv1.EC2NodeClass
	// Zones are zones of the region by name and id, in any order. They give the ids of zones that
	// the subnets of the class do not give. May be empty.
	Zones []Zone
	// ShiftedZones are the zones, by id or name, that traffic has been shifted
	// away from by a zonal shift that is under way. Nothing is launched there.
	ShiftedZones []string
	// Stock has the free instances of capacity reservations. A reservation that it does not have
	// counts as full.
	Stock Stock
	// PlacementGroup is the group that the placementGroupSelector of the class
	// names, as EC2 describes it. Nil if the class has no selector. If it has one
	// and this is nil, nothing can be launched.
	PlacementGroup *ec2types.PlacementGroup
	// Prices are asked for the price of every offering. If it is nil no offering has a price, and
	// only reservations can be launched into.
	Prices *pricing.Book
	// Learned is the memory that nodes have reported. The zero value is empty.
	Learned Learned
}

// Options apply to all classes of a cluster. The zero value, and nil, mean the defaults.
type Options struct {
	// Cluster says how pods get addresses and how much memory is lost. Nil means
	// overhead.DefaultCluster.
	Cluster *Cluster
	// Expressions evaluates the expressions of a class. If it is nil, a class with expressions has
	// no catalog.
	Expressions awsv1.ExpressionEvaluator
	// NVIDIADevices and EFADevices list the GPUs and the elastic fabric adapters
	// that the drivers gpu.nvidia.com and dra.net will publish on nodes, for the
	// types of which they are known.
	NVIDIADevices, EFADevices bool
	// NodeRates are the prices of what a node of the class has in addition to its instance. Price
	// and NodeCost of its offerings include them. If it is nil, prices are those of the instance
	// alone.
	NodeRates *nodecost.Rates
}

// Validate returns nil, or an error that lists every fault.
func (o *Options) Validate() error {
	if o == nil {
		return nil
	}
	faults := []error{o.NodeRates.Validate()}
	if o.Cluster != nil {
		faults = append(faults, o.Cluster.Validate())
	}
	return errors.Join(faults...)
}

func (o *Options) orDefault() Options {
	out := Options{}
	if o != nil {
		out = *o
	}
	if out.Cluster == nil {
		cluster := DefaultCluster()
		out.Cluster = &cluster
	}
	return out
}

// validate returns nil, or an error that lists every fault of the input.
func (in *Input) validate() error {
	var faults []error
	if in.Region == "" {
		faults = append(faults, errors.New("region: empty; name the region"))
	}
	if in.Class == nil {
		faults = append(faults, errors.New("class: nil; give the EC2NodeClass"))
	}
	ids := map[string]string{}
	for i, z := range in.Zones {
		id, known := ids[z.Name]
		switch {
		case z.Name == "":
			faults = append(faults, fmt.Errorf("zones[%d]: name: empty; give the name of the zone", i))
		case known && id != z.ID:
			faults = append(faults, fmt.Errorf("zones[%d] (%s): id: %q, and %q in an earlier entry; keep one", i, z.Name, z.ID, id))
		}
		ids[z.Name] = z.ID
	}
	return errors.Join(faults...)
}

// places are the zones in which a class can launch.
type places struct {
	ids     map[string]string // by name of the zone
	subnets map[string]bool   // zones that the class has subnets in
	shifted map[string]bool   // zones by name
}

func newPlaces(in *Input) places {
	p := places{ids: map[string]string{}, subnets: map[string]bool{}, shifted: map[string]bool{}}
	for _, z := range in.Zones {
		p.ids[z.Name] = z.ID
	}
	for i := range in.Class.Status.Subnets {
		s := &in.Class.Status.Subnets[i]
		if s.Zone == "" {
			continue
		}
		p.subnets[s.Zone] = true
		// If subnets disagree, which EC2 rules out, the least id counts.
		if known := p.ids[s.Zone]; s.ZoneID != "" && (known == "" || s.ZoneID < known) {
			p.ids[s.Zone] = s.ZoneID
		}
	}
	for name, id := range p.ids {
		if slices.Contains(in.ShiftedZones, id) && id != "" {
			p.shifted[name] = true
		}
	}
	for _, name := range in.ShiftedZones {
		p.shifted[name] = true
	}
	return p
}

// open reports whether the class can launch into a zone.
func (p *places) open(zone string) bool { return p.subnets[zone] && !p.shifted[zone] }
