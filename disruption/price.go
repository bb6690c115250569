package disruption

import (
	"math"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// offeringOf is the offering by which a node was bought, whether available or
// not, judged by its labels: zone and capacity type, and of further labels those
// that the node has. Of several the first by key counts. A node of a reservation
// that is not offered any more is an on-demand machine now.
func offeringOf(t *cloudprovider.InstanceType, labels map[string]string) *cloudprovider.Offering {
	if t == nil {
		return nil
	}
	zone, capacity := labels[corev1.LabelTopologyZone], labels[v1.CapacityTypeLabelKey]
	if zone == "" || capacity == "" {
		return nil
	}
	found := matchOffering(t, labels, zone, capacity)
	if found == nil && capacity == v1.CapacityTypeReserved {
		found = matchOffering(t, nil, zone, v1.CapacityTypeOnDemand)
	}
	return found
}

func matchOffering(t *cloudprovider.InstanceType, labels map[string]string, zone, capacity string) *cloudprovider.Offering {
	var found *cloudprovider.Offering
	for i := range t.Offerings {
		o := &t.Offerings[i]
		if o.Zone != zone || o.CapacityType != capacity || !agrees(o, labels) {
			continue
		}
		if found == nil || o.Key("").Compare(found.Key("")) < 0 {
			found = o
		}
	}
	return found
}

// agrees reports whether no label contradicts what sets an offering apart.
func agrees(o *cloudprovider.Offering, labels map[string]string) bool {
	for r := range o.Requirements.All() {
		if value, found := labels[r.Key()]; found && !r.Has(value) {
			return false
		}
	}
	return true
}

// reservation is the ID of the reservation that the machine draws on, empty if
// none is known.
func (m *member) reservation() string {
	if m.offering == nil {
		return ""
	}
	return m.offering.ReservationID
}

// price is what the machine costs, in USD per hour, if that is known.
func (m *member) price() (price float64, known bool) {
	if m.offering == nil || math.IsNaN(m.offering.Price) || math.IsInf(m.offering.Price, 0) || m.offering.Price < 0 {
		return 0, false
	}
	return m.offering.Price, true
}
