package classtypes

import (
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/dovetail-sdk/dovetail/aws/internal/instancetype"
)

// Facts has EC2's descriptions of the instance types of a region. It is immutable and may be
// shared. The zero value and nil have no types.
type Facts struct{ inventory *instancetype.Inventory }

// Problem is something that a catalog could not use: a part of the facts, or a type in combination
// with a class.
type Problem struct {
	// InstanceType is the name of the type it is about. Empty if it has none.
	InstanceType string
	// Detail says what is wrong and how a catalog treats it.
	Detail string
}

// String returns one line.
func (p Problem) String() string { return instancetype.Problem(p).String() }

// Read reads all pages of DescribeInstanceTypes, and of DescribeInstanceTypeOfferings
// with the location type availability-zone. The order of the lists does not matter.
//
// These properties of a type are used: name, processor (architecture, maker, clock, features),
// vCPUs, memory, hypervisor, bare metal, enclaves, network (interfaces, addresses, cards,
// bandwidth, encryption, fabric adapters), disks, bandwidth and number of volumes, GPUs and other
// accelerators, usage classes and placement strategies. A missing property counts as absent, and a
// missing limit of volumes as no limit. The number of branch interfaces, which EC2 does not report,
// is built in.
//
// A type is left out, with a Problem, if it has no name, neither of the architectures x86_64 and
// arm64, no vCPUs or no memory; of a type that is listed twice the first counts. A type without
// offerings is kept, and no zone has it. Offerings of other types or by another kind of location
// are ignored. Problems are sorted by instance type. The error is nil: the built-in tables,
// whose faults it had, are tested.
func Read(types []ec2types.InstanceTypeInfo, offerings []ec2types.InstanceTypeOffering) (*Facts, []Problem, error) {
	inventory, problems := instancetype.NewInventory(types, offerings)
	return &Facts{inventory}, problemsOf(problems), nil
}

func problemsOf(list []instancetype.Problem) []Problem {
	var out []Problem
	for _, p := range list {
		out = append(out, Problem(p))
	}
	return out
}
