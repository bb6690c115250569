package instancetype

import (
	"cmp"
	"slices"
	"strconv"

	karpv1 "github.com/dovetail-sdk/dovetail/api/v1"
	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/cloudprovider/pricing"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// offerings returns the ways to buy a machine, without prices.
func (b *builder) offerings(m *machine, usable bool) []cloudprovider.Offering {
	usable = usable && !b.group.missing
	var out []cloudprovider.Offering
	for _, zone := range m.zones {
		labels := b.zoneLabels(zone)
		for _, capacityType := range m.capacityTypes {
			out = append(out, cloudprovider.Offering{
				Zone:         zone,
				CapacityType: capacityType,
				Requirements: labels,
				Available:    usable && b.places.open(zone),
			})
		}
	}
	last := ""
	for _, r := range b.reserved[m.name] {
		if r.ID == last {
			continue
		}
		last = r.ID
		out = append(out, cloudprovider.Offering{
			Zone:                r.AvailabilityZone,
			CapacityType:        karpv1.CapacityTypeReserved,
			ReservationID:       r.ID,
			Requirements:        b.zoneLabels(r.AvailabilityZone).Intersect(reservationLabels(r)),
			Available:           usable && b.places.open(r.AvailabilityZone) && holds(b.in.Now, r),
			ReservationCapacity: b.in.Stock.Left(r.ID),
		})
	}
	return out
}

func (b *builder) zoneLabels(zone string) requirements.Set {
	id := b.places.ids[zone]
	if id == "" {
		return requirements.Set{}
	}
	return requirements.NewSet(requirements.In(awsv1.LabelTopologyZoneID, id))
}

func reservationLabels(r *awsv1.CapacityReservation) requirements.Set {
	kind := cmp.Or(r.ReservationType, awsv1.CapacityReservationTypeDefault)
	return requirements.NewSet(
		requirements.In(awsv1.LabelCapacityReservationID, r.ID),
		requirements.In(awsv1.LabelCapacityReservationType, string(kind)),
		requirements.In(awsv1.LabelCapacityReservationInterruptible, strconv.FormatBool(r.Interruptible)),
	)
}

// paidPerVCPU is the price in USD per hour and vCPU of reserved capacity of types without an
// on-demand price, such as types that are sold only in capacity blocks. It is a ten-millionth of
// five cents.
const paidPerVCPU = 5e-9

// price sets the prices of the offerings of the kept types: those of the instances plus the node
// costs of the class.
func (b *builder) price(c *Catalog) {
	types := make([]*cloudprovider.InstanceType, len(b.kept))
	for i := range b.kept {
		types[i] = b.kept[i].sold
	}
	priced, report := b.in.Prices.Apply(b.in.Now, types)
	c.Unpriced, c.Stale = withoutPaid(report.Unknown), withoutPaid(report.Stale)
	for i, t := range priced {
		for j := range t.Offerings {
			before := types[i].Offerings[j]
			if before.CapacityType != karpv1.CapacityTypeReserved {
				continue
			}
			if priced[i] == types[i] {
				priced[i] = t.Clone()
			}
			o := &priced[i].Offerings[j]
			// Reserved capacity is available whether or not it has a price.
			o.Available = before.Available
			if o.Price == 0 {
				o.Price = paidPerVCPU * float64(b.kept[i].machine.limits.VCPUs)
			}
		}
	}
	beside := b.opts.NodeRates.Of(b.in.Class).Total()
	for i, t := range pricing.AddNodeCost(priced, func(*cloudprovider.InstanceType) float64 { return beside }) {
		b.kept[i].sold = t
	}
}

// withoutPaid leaves out the offerings of reservations.
func withoutPaid(keys []cloudprovider.OfferingKey) []cloudprovider.OfferingKey {
	return slices.DeleteFunc(keys, func(k cloudprovider.OfferingKey) bool { return k.CapacityType == karpv1.CapacityTypeReserved })
}
