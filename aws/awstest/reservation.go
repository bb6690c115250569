package awstest

import (
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
)

// reservation is a capacity reservation and its free instances.
type reservation struct {
	ec2types.CapacityReservation
	free int
}

// SetReservation adds a capacity reservation, or changes the one with its ID. Omitted fields
// default to active, default, open, one machine, and fully available.
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

func (c *Cloud) describeCapacityReservations(q *request) (any, *fault) {
	id := func(r *reservation) string { return value(r.CapacityReservationId) }
	list, err := selected(q, c.reservations, func(r *reservation) attributes {
		return table(map[string][]string{
			"state": {string(r.State)}, "owner-id": {value(r.OwnerId)}, "instance-type": {value(r.InstanceType)},
			"availability-zone": {value(r.AvailabilityZone)}, "instance-match-criteria": {string(r.InstanceMatchCriteria)},
		}, tagMap(r.Tags))
	}, selector[*reservation]{"CapacityReservationId", id, "InvalidCapacityReservationId.NotFound", "The capacity reservation ID '%s' was not found"})
	if err != nil {
		return nil, err
	}
	page, next, err := pageOf(c, q, list, id, 1, 1000, 1000)
	out := &ec2.DescribeCapacityReservationsOutput{NextToken: next}
	for _, r := range page {
		out.CapacityReservations = append(out.CapacityReservations, describeReservation(r))
	}
	return out, err
}

func describeReservation(r *reservation) ec2types.CapacityReservation {
	now := r.CapacityReservation
	now.AvailableInstanceCount, now.EndDateType = new(int32(r.free)), ec2types.EndDateTypeUnlimited
	now.InstancePlatform, now.Tenancy = ec2types.CapacityReservationInstancePlatformLinuxUnix, ec2types.CapacityReservationTenancyDefault
	if r.EndDate != nil {
		now.EndDateType = ec2types.EndDateTypeLimited
	}
	return now
}
