package provisioning

import v1 "github.com/dovetail-sdk/dovetail/api/v1"

// setStocks counts what each reservation has left. Where offerings disagree
// over one, the least counts, also of those that are not available now.
func (p *Problem) setStocks() {
	p.stocks = map[string]int{}
	for i := range p.pools {
		for _, t := range p.pools[i].types {
			for j := range t.Offerings {
				o := &t.Offerings[j]
				if o.CapacityType != v1.CapacityTypeReserved {
					continue
				}
				id := p.stocks[o.ReservationID]
				if id == 0 {
					p.stockSizes = append(p.stockSizes, o.ReservationCapacity)
					id = len(p.stockSizes)
					p.stocks[o.ReservationID] = id
				}
				p.stockSizes[id-1] = min(p.stockSizes[id-1], o.ReservationCapacity)
			}
		}
	}
}

// stock numbers the reservation of an option: one more than its index, 0 if
// the option draws on none.
func (p *Problem) stock(o *option) int {
	if o.Offering.CapacityType != v1.CapacityTypeReserved {
		return 0
	}
	return p.stocks[o.Offering.ReservationID]
}
