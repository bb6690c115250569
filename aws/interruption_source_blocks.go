package aws

import (
	"context"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"

	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/aws/internal/instancetype"
	"github.com/dovetail-sdk/dovetail/aws/internal/launch"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// blockNotices are the notices that capacity blocks come to their end, one for each
// instance in them. EC2 sends none for the nodes, and takes the instances back while
// the block still has its last half hour.
func (p *Provider) blockNotices(ctx context.Context, now time.Time) []cloudprovider.Interruption {
	if p.opts.NoReservedCapacity {
		return nil
	}
	if _, err := p.book.Hydrate(ctx); err != nil {
		p.warn(WarnInterruptions, "", "instances in capacity blocks were not looked up: %v", err)
	}
	members := map[string][]launch.Machine{}
	var terms []awsv1.CapacityReservationSelectorTerm
	for _, k := range p.book.InBlocks() {
		id := k.ReservationID()
		if members[id] == nil {
			terms = append(terms, awsv1.CapacityReservationSelectorTerm{ID: id})
		}
		members[id] = append(members[id], k)
	}
	blocks, _, err := p.sources.Reservations(ctx, terms)
	if err != nil {
		p.warn(WarnInterruptions, "", "the ends of %d capacity blocks were not looked up: %v", len(terms), err)
		return nil
	}
	var notices []cloudprovider.Interruption
	for i := range blocks {
		drain, taken, ok := instancetype.BlockEnd(&blocks[i])
		if !ok || now.Before(drain) {
			continue
		}
		id := awssdk.ToString(blocks[i].CapacityReservationId)
		for _, k := range members[id] {
			notices = append(notices, cloudprovider.Interruption{
				InstanceID: k.ProviderID(), Kind: cloudprovider.InterruptionReservation, At: drain.UTC(), Deadline: taken.UTC(),
				Detail: "capacity block " + id + " ends at " + blocks[i].EndDate.UTC().Format(time.RFC3339),
			})
		}
	}
	return notices
}
