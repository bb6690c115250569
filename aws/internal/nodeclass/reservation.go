package nodeclass

import (
	"context"
	"errors"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/aws/internal/api"
	"github.com/dovetail-sdk/dovetail/aws/internal/cache"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

const reservationsPerPage = 1000

// reservationQuery is the question of one term: an id, or filters.
type reservationQuery struct {
	id string
	lookup
}

// Reservations returns the active capacity reservations that the terms select, each once, sorted by
// id: one call for each distinct term. An id that does not exist selects nothing. Their free
// instances go into Stock. The error of a term that has neither id nor tags nor match criteria is
// of KindDenied.
func (s *Sources) Reservations(
	ctx context.Context, terms []awsv1.CapacityReservationSelectorTerm,
) ([]ec2types.CapacityReservation, cache.Reading, error) {
	var lookups []lookup
	ids := map[string]string{} // of the lookups by id
	for i := range terms {
		q, err := newReservationQuery(i, &terms[i])
		if err != nil {
			return nil, cache.Reading{}, err
		}
		ids[q.key()] = q.id
		lookups = append(lookups, q.lookup)
	}
	return gather(ctx, s.reserved, distinct(lookups),
		func(ctx context.Context, l lookup) ([]ec2types.CapacityReservation, error) {
			return s.readReservations(ctx, reservationQuery{ids[l.key()], l})
		},
		func(r ec2types.CapacityReservation) string { return awssdk.ToString(r.CapacityReservationId) })
}

// reservationID stands for the parameter of that name, which is no filter.
const reservationID = "capacity-reservation-id"

func newReservationQuery(i int, t *awsv1.CapacityReservationSelectorTerm) (reservationQuery, error) {
	if t.ID != "" {
		return reservationQuery{t.ID, lookup{[]ec2types.Filter{filter(reservationID, t.ID)}}}, nil
	}
	if len(t.Tags) == 0 && t.InstanceMatchCriteria == "" {
		return reservationQuery{}, emptyTerm("capacityReservationSelectorTerms", i, "an id, tags or instanceMatchCriteria")
	}
	filters := []ec2types.Filter{filter("state", string(ec2types.CapacityReservationStateActive))}
	if t.OwnerID != "" {
		filters = append(filters, filter("owner-id", t.OwnerID))
	}
	if t.InstanceMatchCriteria != "" {
		filters = append(filters, filter("instance-match-criteria", t.InstanceMatchCriteria))
	}
	return reservationQuery{"", lookup{append(filters, tagFilters(t.Tags)...)}}, nil
}

func (s *Sources) readReservations(ctx context.Context, q reservationQuery) ([]ec2types.CapacityReservation, error) {
	at := s.opts.Now()
	out, err := s.describeReservations(ctx, q)
	if q.id != "" && api.NotFound(err) {
		out, err = nil, nil
	}
	if err != nil {
		return nil, api.Wrap("DescribeCapacityReservations", q.key(), err)
	}
	s.observe(at, out)
	return out, nil
}

// observe updates the stock from an answer, and drops reservations that no answer has.
func (s *Sources) observe(at time.Time, answer []ec2types.CapacityReservation) {
	var ids []string
	for _, list := range append(s.reserved.Answers(), answer) {
		for i := range list {
			ids = append(ids, awssdk.ToString(list[i].CapacityReservationId))
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stock = s.stock.Observe(at, answer).Keep(ids...)
}

func (s *Sources) describeReservations(ctx context.Context, q reservationQuery) (out []ec2types.CapacityReservation, err error) {
	input, limit := &ec2.DescribeCapacityReservationsInput{Filters: q.filters}, int32(reservationsPerPage)
	if q.id != "" {
		// EC2 does not page an answer by ids.
		input.CapacityReservationIds, limit = []string{q.id}, 0
		input.Filters = []ec2types.Filter{filter("state", string(ec2types.CapacityReservationStateActive))}
	}
	pages := ec2.NewDescribeCapacityReservationsPaginator(s.clients.EC2, input,
		func(o *ec2.DescribeCapacityReservationsPaginatorOptions) { o.Limit = limit })
	err = api.Pages(ctx, pages, func(page *ec2.DescribeCapacityReservationsOutput) {
		for _, r := range page.CapacityReservations {
			if awssdk.ToString(r.CapacityReservationId) != "" {
				out = append(out, r)
			}
		}
	})
	return out, err
}

// PlacementGroup returns the placement group that the selector names, and nil without an error if
// the selector is nil or there is no available group of that name. A selector without name and id
// is an error of KindDenied.
func (s *Sources) PlacementGroup(
	ctx context.Context, selector *awsv1.PlacementGroupSelector,
) (*ec2types.PlacementGroup, cache.Reading, error) {
	if selector == nil {
		return nil, cache.Reading{}, ctx.Err()
	}
	input := &ec2.DescribePlacementGroupsInput{
		Filters: []ec2types.Filter{filter("state", string(ec2types.PlacementGroupStateAvailable))},
	}
	var key string
	switch {
	case awssdk.ToString(selector.ID) != "":
		input.GroupIds = []string{*selector.ID}
		key = lookup{[]ec2types.Filter{filter("group-id", *selector.ID)}}.key()
	case awssdk.ToString(selector.Name) != "":
		input.GroupNames = []string{*selector.Name}
		key = lookup{[]ec2types.Filter{filter("group-name", *selector.Name)}}.key()
	default:
		return nil, cache.Reading{}, &cloudprovider.Error{Op: "Read", Object: "placementGroupSelector", Kind: cloudprovider.KindDenied,
			Err: errors.New("names nothing; give it a name or an id")}
	}
	return s.placements.Get(ctx, key, func(ctx context.Context) (*ec2types.PlacementGroup, error) {
		return s.readPlacementGroup(ctx, key, input)
	})
}

func (s *Sources) readPlacementGroup(
	ctx context.Context, key string, input *ec2.DescribePlacementGroupsInput,
) (*ec2types.PlacementGroup, error) {
	out, err := s.clients.EC2.DescribePlacementGroups(ctx, input)
	if api.NotFound(err) {
		return nil, nil
	}
	if err == nil && out == nil {
		err = errors.New("there is no answer")
	}
	if err != nil {
		return nil, api.Wrap("DescribePlacementGroups", key, err)
	}
	for i := range out.PlacementGroups {
		if g := &out.PlacementGroups[i]; awssdk.ToString(g.GroupId) != "" {
			return g, nil
		}
	}
	return nil, nil
}
