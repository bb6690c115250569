package nodeclass

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/arczonalshift"
	shifttypes "github.com/aws/aws-sdk-go-v2/service/arczonalshift/types"

	"github.com/dovetail-sdk/dovetail/aws/internal/api"
)

// shift is a zonal shift that is in force.
type shift struct {
	zone string    // id
	ends time.Time // zero if it is not said when
}

// ShiftedZones returns the ids of the zones that traffic of the cluster is shifted
// away from now, sorted: by zonal shifts that are applied and have not expired, and
// by autoshifts that are applied. It is nil without a client. While they cannot be
// read it is those read last, and none if there were never any: that no shift is
// known must not keep nodes from being launched. Health says so. The only error is
// that of ctx.
func (s *Sources) ShiftedZones(ctx context.Context) ([]string, error) {
	if s.clients.ZonalShift == nil {
		return nil, ctx.Err()
	}
	shifts, _, err := s.shifts.Get(ctx, s.readShifts)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, nil //nolint:nilerr // see above
	}
	now := s.opts.Now()
	var zones []string
	for _, sh := range shifts {
		if sh.ends.IsZero() || sh.ends.After(now) {
			zones = append(zones, sh.zone)
		}
	}
	slices.Sort(zones)
	return slices.Compact(zones), nil
}

func (s *Sources) readShifts(ctx context.Context) ([]shift, error) {
	cluster, _, err := s.Cluster(ctx)
	if err != nil {
		return nil, err
	}
	if cluster.ARN == "" {
		return nil, errors.New("the ARN of the cluster is not known; give it, or a client for EKS")
	}
	out, err := s.clients.ZonalShift.GetManagedResource(ctx, &arczonalshift.GetManagedResourceInput{ResourceIdentifier: &cluster.ARN})
	if api.NotFound(err) { // zonal shifts are not turned on for the cluster
		return nil, nil
	}
	if err != nil || out == nil {
		return nil, api.Wrap("GetManagedResource", cluster.ARN, err)
	}
	var shifts []shift
	for _, z := range out.ZonalShifts {
		if z.AppliedStatus == shifttypes.AppliedStatusApplied && text(z.AwayFrom) != "" {
			sh := shift{zone: *z.AwayFrom}
			if z.ExpiryTime != nil {
				sh.ends = *z.ExpiryTime
			}
			shifts = append(shifts, sh)
		}
	}
	for _, z := range out.Autoshifts {
		if z.AppliedStatus == shifttypes.AutoshiftAppliedStatusApplied && text(z.AwayFrom) != "" {
			shifts = append(shifts, shift{zone: *z.AwayFrom})
		}
	}
	return shifts, nil
}
