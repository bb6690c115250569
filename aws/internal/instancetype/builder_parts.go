package instancetype

import (
	"context"
	"slices"

	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"k8s.io/apimachinery/pkg/api/equality"

	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider/pricing"
)

// parts is the input of a catalog.
type parts struct {
	class     *awsv1.EC2NodeClass
	inventory *Inventory
	book      *pricing.Book
	zones     []Zone
	shifted   []string
	left      []int // free instances of each reservation of the class, in the order of its status
	group     *ec2types.PlacementGroup
	learned   Learned
	lessons   uint64
}

// gather asks for all parts.
func (b *Builder) gather(ctx context.Context, class *awsv1.EC2NodeClass) (parts, error) {
	p := parts{class: class, zones: b.src.Zones()}
	var err error
	if p.inventory, _, err = b.src.Inventory(ctx); err != nil {
		return parts{}, err
	}
	known, err := b.src.Prices(ctx)
	if err != nil {
		return parts{}, err
	}
	p.book = known.Book()
	if p.shifted, err = b.src.ShiftedZones(ctx); err != nil {
		return parts{}, err
	}
	if p.group, _, err = b.src.PlacementGroup(ctx, class.Spec.PlacementGroupSelector); err != nil {
		return parts{}, err
	}
	stock := b.src.Stock()
	for _, r := range class.Status.CapacityReservations {
		p.left = append(p.left, stock.Left(r.ID))
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	p.learned, p.lessons = b.learned, b.lessons
	return p, nil
}

// equal reports whether the catalogs of two inputs are the same except for the time.
func (p *parts) equal(o *parts) bool {
	return p.inventory == o.inventory && p.book == o.book && p.lessons == o.lessons &&
		slices.Equal(p.zones, o.zones) && slices.Equal(p.shifted, o.shifted) && slices.Equal(p.left, o.left) &&
		sameGroup(p.group, o.group) && sameClass(p.class, o.class)
}

func sameGroup(a, b *ec2types.PlacementGroup) bool {
	if a == nil || b == nil {
		return a == b
	}
	return equality.Semantic.DeepEqual(a.GroupId, b.GroupId) && equality.Semantic.DeepEqual(a.PartitionCount, b.PartitionCount) &&
		a.State == b.State && a.Strategy == b.Strategy
}

// sameClass ignores the conditions, which change without a change of the catalog.
func sameClass(a, b *awsv1.EC2NodeClass) bool {
	return equality.Semantic.DeepEqual(a.Spec, b.Spec) && equality.Semantic.DeepEqual(a.Status.Subnets, b.Status.Subnets) &&
		equality.Semantic.DeepEqual(a.Status.AMIs, b.Status.AMIs) &&
		equality.Semantic.DeepEqual(a.Status.CapacityReservations, b.Status.CapacityReservations)
}
