package catalog

import (
	"github.com/dovetail-sdk/dovetail/api/v1"
)

// reservations are the capacity reservations of a catalog.
type reservations struct {
	number map[string]int // by reservation ID: 1 + its index
	Sizes  []int          // by reservation: instances left
}

// newReservations counts the instances that each reservation has left. If offerings state different
// counts for one reservation, the least one counts, unavailable offerings included.
func newReservations(pools []Pool) reservations {
	s := reservations{number: map[string]int{}}
	for i := range pools {
		for _, t := range pools[i].Types {
			for j := range t.Offerings {
				o := &t.Offerings[j]
				if o.CapacityType != v1.CapacityTypeReserved {
					continue
				}
				id := s.number[o.ReservationID]
				if id == 0 {
					s.Sizes = append(s.Sizes, o.ReservationCapacity)
					id = len(s.Sizes)
					s.number[o.ReservationID] = id
				}
				s.Sizes[id-1] = min(s.Sizes[id-1], o.ReservationCapacity)
			}
		}
	}
	return s
}

// Of returns 1 + the index of the reservation of an option, 0 if the option uses none.
func (s *reservations) Of(o *Option) int {
	if o.Offering.CapacityType != v1.CapacityTypeReserved {
		return 0
	}
	return s.number[o.Offering.ReservationID]
}
