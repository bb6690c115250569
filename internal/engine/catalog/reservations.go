package catalog

import (
	"github.com/dovetail-sdk/dovetail/api/v1"
)

// reservations are those of a catalog.
type reservations struct {
	number map[string]int // by reservation: one more than its index
	Sizes  []int          // what each has left
}

// newReservations counts what each reservation has left. Where offerings disagree
// over one, the least counts, also of those that are not available now.
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

// Of numbers the reservation of an option: one more than its index, 0 if the
// option draws on none.
func (s *reservations) Of(o *Option) int {
	if o.Offering.CapacityType != v1.CapacityTypeReserved {
		return 0
	}
	return s.number[o.Offering.ReservationID]
}
