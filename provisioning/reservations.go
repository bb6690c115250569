package provisioning

import v1 "github.com/dovetail-sdk/dovetail/api/v1"

// stocks are the reservations of a catalog.
type stocks struct {
	number map[string]int // by reservation: one more than its index
	sizes  []int          // what each has left
}

// newStocks counts what each reservation has left. Where offerings disagree
// over one, the least counts, also of those that are not available now.
func newStocks(pools []pool) stocks {
	s := stocks{number: map[string]int{}}
	for i := range pools {
		for _, t := range pools[i].types {
			for j := range t.Offerings {
				o := &t.Offerings[j]
				if o.CapacityType != v1.CapacityTypeReserved {
					continue
				}
				id := s.number[o.ReservationID]
				if id == 0 {
					s.sizes = append(s.sizes, o.ReservationCapacity)
					id = len(s.sizes)
					s.number[o.ReservationID] = id
				}
				s.sizes[id-1] = min(s.sizes[id-1], o.ReservationCapacity)
			}
		}
	}
	return s
}

// of numbers the reservation of an option: one more than its index, 0 if the
// option draws on none.
func (s *stocks) of(o *option) int {
	if o.Offering.CapacityType != v1.CapacityTypeReserved {
		return 0
	}
	return s.number[o.Offering.ReservationID]
}
