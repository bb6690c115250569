package awstest

import (
	"slices"
	"strings"

	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
)

// reservation is a capacity reservation and what is left of it.
type reservation struct {
	ec2types.CapacityReservation
	free int
}

// SetReservation adds a capacity reservation, or changes one of the same ID. What
// is left out is: active, default, open, one machine, all of it available.
func (c *Cloud) SetReservation(r ec2types.CapacityReservation) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.addReservation(r)
}

func (c *Cloud) addReservation(r ec2types.CapacityReservation) {
	setDefault(&r.State, ec2types.CapacityReservationStateActive)
	setDefault(&r.ReservationType, ec2types.CapacityReservationTypeDefault)
	setDefault(&r.InstanceMatchCriteria, ec2types.InstanceMatchCriteriaOpen)
	setDefaultPointer(&r.OwnerId, c.opts.Account)
	setDefaultPointer(&r.TotalInstanceCount, 1)
	setDefaultPointer(&r.AvailableInstanceCount, *r.TotalInstanceCount)
	setDefaultPointer(&r.AvailabilityZoneId, c.zoneID(value(r.AvailabilityZone)))
	c.reservations = slices.DeleteFunc(c.reservations, func(o *reservation) bool {
		return value(o.CapacityReservationId) == value(r.CapacityReservationId)
	})
	c.reservations = append(c.reservations, &reservation{r, int(*r.AvailableInstanceCount)})
	slices.SortFunc(c.reservations, func(a, b *reservation) int {
		return strings.Compare(value(a.CapacityReservationId), value(b.CapacityReservationId))
	})
}

func (c *Cloud) reservation(id string) *reservation {
	for _, r := range c.reservations {
		if value(r.CapacityReservationId) == id {
			return r
		}
	}
	return nil
}

type xmlReservation struct {
	ID            string   `xml:"capacityReservationId"`
	Owner         string   `xml:"ownerId"`
	Type          string   `xml:"instanceType"`
	Platform      string   `xml:"instancePlatform"`
	Zone          string   `xml:"availabilityZone"`
	ZoneID        string   `xml:"availabilityZoneId"`
	Tenancy       string   `xml:"tenancy"`
	Total         int32    `xml:"totalInstanceCount"`
	Available     int      `xml:"availableInstanceCount"`
	State         string   `xml:"state"`
	End           *string  `xml:"endDate"`
	EndType       string   `xml:"endDateType"`
	Criteria      string   `xml:"instanceMatchCriteria"`
	Kind          string   `xml:"reservationType"`
	Interruptible *bool    `xml:"interruptible"`
	Tags          []xmlTag `xml:"tagSet>item"`
}

func (c *Cloud) describeCapacityReservations(q *request) (any, *fault) {
	ids := q.form.strs("CapacityReservationId")
	if err := known(ids, func(id string) bool { return c.reservation(id) != nil }, "InvalidCapacityReservationId.NotFound",
		"The capacity reservation ID '%s' was not found"); err != nil {
		return nil, err
	}
	var list []xmlReservation
	for _, r := range c.reservations {
		tags := tagMap(r.Tags)
		ok, err := matches(q.form.list("Filter"), table(map[string][]string{
			"state": {string(r.State)}, "owner-id": {value(r.OwnerId)}, "instance-type": {value(r.InstanceType)},
			"availability-zone": {value(r.AvailabilityZone)}, "instance-match-criteria": {string(r.InstanceMatchCriteria)},
		}, tags))
		if err != nil {
			return nil, err
		}
		if ok && (len(ids) == 0 || slices.Contains(ids, value(r.CapacityReservationId))) {
			list = append(list, describeReservation(r, tags))
		}
	}
	page, next, err := pageOf(c, q, list, func(r xmlReservation) string { return r.ID }, 1, 1000, 1000)
	return struct {
		Reservations []xmlReservation `xml:"capacityReservationSet>item"`
		Next         *string          `xml:"nextToken"`
	}{page, next}, err
}

func describeReservation(r *reservation, tags map[string]string) xmlReservation {
	x := xmlReservation{
		ID: value(r.CapacityReservationId), Owner: value(r.OwnerId), Type: value(r.InstanceType), Platform: "Linux/UNIX",
		Zone: value(r.AvailabilityZone), ZoneID: value(r.AvailabilityZoneId), Tenancy: "default",
		Total: value(r.TotalInstanceCount), Available: r.free, State: string(r.State), EndType: "unlimited",
		Criteria: string(r.InstanceMatchCriteria), Kind: string(r.ReservationType), Interruptible: r.Interruptible, Tags: xmlTags(tags),
	}
	if r.EndDate != nil {
		x.End, x.EndType = pointer(r.EndDate.UTC().Format(timeFormat)), "limited"
	}
	return x
}
