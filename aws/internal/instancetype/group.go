package instancetype

import (
	"strconv"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// group is the placement group of a class. The zero value is none.
type group struct {
	missing    bool // the class names a group that does not exist
	id         string
	strategy   string
	partitions []string
}

// MaxPartitions bounds the number of label values that a malformed answer can cause. EC2 allows
// seven in a zone.
const MaxPartitions = 1000

func newGroup(in *Input) group {
	p := in.PlacementGroup
	if in.Class.Spec.PlacementGroupSelector == nil {
		return group{}
	}
	if p == nil || awssdk.ToString(p.GroupId) == "" || p.State != "" && p.State != ec2types.PlacementGroupStateAvailable {
		return group{missing: true}
	}
	g := group{id: *p.GroupId, strategy: string(p.Strategy)}
	if p.Strategy == ec2types.PlacementStrategyPartition {
		for n := range min(value(p.PartitionCount), MaxPartitions) {
			g.partitions = append(g.partitions, strconv.FormatInt(n+1, 10))
		}
	}
	return g
}

// labels returns the labels of the placement group. Without a group their requirements are
// DoesNotExist.
func (g *group) labels() []requirements.Requirement {
	id := requirements.DoesNotExist(awsv1.LabelPlacementGroupID)
	if g.id != "" {
		id = requirements.In(awsv1.LabelPlacementGroupID, g.id)
	}
	partition := requirements.DoesNotExist(awsv1.LabelPlacementGroupPartition)
	if len(g.partitions) > 0 {
		partition = requirements.In(awsv1.LabelPlacementGroupPartition, g.partitions...)
	}
	return []requirements.Requirement{id, partition}
}
