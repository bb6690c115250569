package instancetype

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/dovetail-sdk/dovetail/amiselect"
	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
)

// blockLead and ultraServerLead are how long before the end of a capacity block its nodes are
// drained: drainTime before EC2 begins to take the instances back, which is half an hour before the
// end, and an hour for UltraServers.
const (
	drainTime       = 10 * time.Minute
	blockLead       = 30*time.Minute + drainTime
	ultraServerLead = 60*time.Minute + drainTime
)

// ReadReservations turns the answer of DescribeCapacityReservations at the instant
// now, all pages of all questions, into the status of a class whose images are of
// the family. In order:
//
//  1. Reservations that are not active or have ended by now are left out, and so are duplicates. An
//     empty type of reservation means the default one.
//  2. A reservation is left out with a Problem if it has no id, instance type or zone; if its type
//     or match criteria are unknown; or if it is for Windows and the family is not, or the reverse.
//  3. The state is expiring for a capacity block that ends within 40 minutes, or
//     within 70 if it is of UltraServers, whose instances EC2 takes back earlier.
//
// The result is sorted by id.
func ReadReservations(
	now time.Time, family amiselect.Family, list []ec2types.CapacityReservation,
) ([]awsv1.CapacityReservation, []Problem) {
	var out []awsv1.CapacityReservation
	var problems []Problem
	for i := range list {
		r := &list[i]
		if r.State != ec2types.CapacityReservationStateActive || r.EndDate != nil && !now.Before(*r.EndDate) {
			continue
		}
		if fault := reservationFault(r, family); fault != "" {
			problems = append(problems, Problem{awssdk.ToString(r.InstanceType),
				fmt.Sprintf("capacity reservation %s: %s; left out", awssdk.ToString(r.CapacityReservationId), fault)})
			continue
		}
		c := awsv1.CapacityReservation{
			AvailabilityZone:      *r.AvailabilityZone,
			ID:                    *r.CapacityReservationId,
			InstanceMatchCriteria: string(r.InstanceMatchCriteria),
			InstanceType:          *r.InstanceType,
			OwnerID:               awssdk.ToString(r.OwnerId),
			ReservationType:       cmp.Or(awsv1.CapacityReservationType(r.ReservationType), awsv1.CapacityReservationTypeDefault),
			Interruptible:         r.Interruptible != nil && *r.Interruptible,
		}
		if r.EndDate != nil {
			c.EndTime = &metav1.Time{Time: *r.EndDate}
		}
		c.State = stateAt(now, &c)
		out = append(out, c)
	}
	slices.SortStableFunc(out, func(a, b awsv1.CapacityReservation) int { return compareReservations(&a, &b) })
	out = slices.CompactFunc(out, func(a, b awsv1.CapacityReservation) bool { return a.ID == b.ID })
	slices.SortFunc(problems, compareProblems)
	return out, slices.Compact(problems)
}

// reservationFault says why a reservation cannot be used, or "".
func reservationFault(r *ec2types.CapacityReservation, family amiselect.Family) string {
	windows := strings.HasPrefix(string(r.InstancePlatform), "Windows")
	switch {
	case awssdk.ToString(r.CapacityReservationId) == "" || awssdk.ToString(r.InstanceType) == "" || awssdk.ToString(r.AvailabilityZone) == "":
		return "without id, instance type or zone"
	case r.ReservationType != "" && r.ReservationType != ec2types.CapacityReservationTypeDefault &&
		r.ReservationType != ec2types.CapacityReservationTypeCapacityBlock:
		return fmt.Sprintf("its type %q is not known", r.ReservationType)
	case r.InstanceMatchCriteria != ec2types.InstanceMatchCriteriaOpen && r.InstanceMatchCriteria != ec2types.InstanceMatchCriteriaTargeted:
		return fmt.Sprintf("its match criteria %q are not known", r.InstanceMatchCriteria)
	case r.InstancePlatform != "" && windows != family.Windows():
		return fmt.Sprintf("it is for %s, and the images are %s", r.InstancePlatform, family)
	}
	return ""
}

// drainAt returns when the nodes of a capacity block have to be drained, and false for other
// reservations.
func drainAt(r *awsv1.CapacityReservation) (time.Time, bool) {
	if r.ReservationType != awsv1.CapacityReservationTypeCapacityBlock || r.EndTime == nil {
		return time.Time{}, false
	}
	lead := blockLead
	// These families are sold as UltraServers, several machines in one.
	if strings.HasPrefix(r.InstanceType, "p6e-") || strings.HasPrefix(r.InstanceType, "trn2u.") {
		lead = ultraServerLead
	}
	return r.EndTime.Add(-lead), true
}

// BlockEnd returns when the nodes of a capacity block have to be drained and when EC2 begins to
// take its instances back, and false for other reservations.
func BlockEnd(r *ec2types.CapacityReservation) (drain, taken time.Time, ok bool) {
	if r.EndDate == nil {
		return time.Time{}, time.Time{}, false
	}
	drain, ok = drainAt(&awsv1.CapacityReservation{
		InstanceType: awssdk.ToString(r.InstanceType), ReservationType: awsv1.CapacityReservationType(r.ReservationType),
		EndTime: &metav1.Time{Time: *r.EndDate},
	})
	return drain, drain.Add(drainTime), ok
}

func stateAt(now time.Time, r *awsv1.CapacityReservation) awsv1.CapacityReservationState {
	if at, drained := drainAt(r); drained && !now.Before(at) {
		return awsv1.CapacityReservationStateExpiring
	}
	return awsv1.CapacityReservationStateActive
}

// NextReservationChange returns the first instant after now at which a reservation of a status
// ends, or a block has to be drained, and false if there is none. Read the reservations again by
// then.
func NextReservationChange(now time.Time, list []awsv1.CapacityReservation) (next time.Time, found bool) {
	consider := func(at time.Time) {
		if at.After(now) && (!found || at.Before(next)) {
			next, found = at, true
		}
	}
	for i := range list {
		if list[i].EndTime != nil {
			consider(list[i].EndTime.Time)
		}
		if at, drained := drainAt(&list[i]); drained {
			consider(at)
		}
	}
	return next, found
}

// reservationsByType sorts the reservations of a class by type and id. One
// without id, type or zone cannot be launched into and is left out.
func reservationsByType(class *awsv1.EC2NodeClass) map[string][]*awsv1.CapacityReservation {
	by := map[string][]*awsv1.CapacityReservation{}
	for i := range class.Status.CapacityReservations {
		r := &class.Status.CapacityReservations[i]
		if r.ID != "" && r.InstanceType != "" && r.AvailabilityZone != "" {
			by[r.InstanceType] = append(by[r.InstanceType], r)
		}
	}
	for _, list := range by {
		slices.SortStableFunc(list, compareReservations)
	}
	return by
}

// compareReservations orders by id. Other fields follow so that the order in the status does not
// matter even if two have one id, which EC2 rules out.
func compareReservations(a, b *awsv1.CapacityReservation) int {
	return cmp.Or(
		strings.Compare(a.ID, b.ID),
		strings.Compare(a.AvailabilityZone, b.AvailabilityZone),
		strings.Compare(string(a.ReservationType), string(b.ReservationType)),
		strings.Compare(string(a.State), string(b.State)),
		strings.Compare(strconv.FormatBool(a.Interruptible), strconv.FormatBool(b.Interruptible)),
	)
}

// holds reports whether nodes can be launched into a reservation at now, whenever its state was
// read.
func holds(now time.Time, r *awsv1.CapacityReservation) bool {
	return r.State != awsv1.CapacityReservationStateExpiring && stateAt(now, r) == awsv1.CapacityReservationStateActive &&
		(r.EndTime == nil || now.Before(r.EndTime.Time))
}

// Stock has the free instances of capacity reservations: EC2's last answer, minus launches and plus
// terminations since. It is immutable; its methods return a changed copy. The zero value is empty.
//
// It may be too high: EC2 refuses a launch into a full reservation, and Full records that.
type Stock struct {
	by map[string]holding
}

// holding is the stock of one reservation.
type holding struct {
	left  int
	at    time.Time
	moves []move // launches and terminations after at
}

// move is a change of the free instances: below zero for launches, above for terminations.
type move struct {
	at time.Time
	by int
}

// Observe returns s with an answer of DescribeCapacityReservations from the instant at. Launches
// and terminations up to then are in the answer and are dropped; later ones still count. An answer
// older than the last one changes nothing.
func (s Stock) Observe(at time.Time, list []ec2types.CapacityReservation) Stock {
	by := maps.Clone(s.by)
	if by == nil {
		by = map[string]holding{}
	}
	for i := range list {
		if id := awssdk.ToString(list[i].CapacityReservationId); id != "" {
			by[id] = by[id].observed(at, int(value(list[i].AvailableInstanceCount)))
		}
	}
	return Stock{by: by}
}

func (h holding) observed(at time.Time, left int) holding {
	if at.Before(h.at) {
		return h
	}
	next := holding{left: left, at: at}
	for _, m := range h.moves {
		if m.at.After(at) {
			next.moves = append(next.moves, m)
		}
	}
	return next
}

// Launched returns s with one free instance fewer in a reservation. The instant is that of the
// launch.
func (s Stock) Launched(at time.Time, id string) Stock { return s.moved(at, id, -1) }

// Terminated returns s with one free instance more in a reservation. The instant is that at which
// EC2 no longer had the instance.
func (s Stock) Terminated(at time.Time, id string) Stock { return s.moved(at, id, 1) }

func (s Stock) moved(at time.Time, id string, by int) Stock {
	h := s.by[id]
	// Clipped, so that append copies the array that other values share.
	h.moves = append(slices.Clip(h.moves), move{at, by})
	return s.with(id, h)
}

// Full returns s with nothing left in a reservation at the instant at, at which EC2
// refused a launch into it.
func (s Stock) Full(at time.Time, id string) Stock { return s.with(id, s.by[id].observed(at, 0)) }

func (s Stock) with(id string, h holding) Stock {
	by := maps.Clone(s.by)
	if by == nil {
		by = map[string]holding{}
	}
	by[id] = h
	return Stock{by: by}
}

// Left returns the free instances of a reservation, and zero for an unknown one.
func (s Stock) Left(id string) int {
	h := s.by[id]
	left := h.left
	for _, m := range h.moves {
		if m.at.After(h.at) {
			left += m.by
		}
	}
	return max(left, 0)
}

// Keep returns s with these reservations and no others, so that ended ones take no memory.
func (s Stock) Keep(ids ...string) Stock {
	by := map[string]holding{}
	for _, id := range ids {
		if h, found := s.by[id]; found {
			by[id] = h
		}
	}
	return Stock{by: by}
}
