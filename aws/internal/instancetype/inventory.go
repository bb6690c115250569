package instancetype

import (
	"reflect"
	"slices"
	"strings"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
)

// Inventory describes the instance types of a region. It is immutable and may be shared. The zero
// value and nil are empty.
type Inventory struct {
	machines []machine // sorted by name
	zones    []string  // all zones that have any type, sorted
}

// Problem is something in the answers of EC2 that the catalog could not use.
type Problem struct {
	// InstanceType is the name of the type it is about. Empty if it has none.
	InstanceType string
	// Detail says what is wrong and how the catalog treats it.
	Detail string
}

// String returns one line.
func (p Problem) String() string {
	if p.InstanceType == "" {
		return "instance type without a name: " + p.Detail
	}
	return p.InstanceType + ": " + p.Detail
}

func compareProblems(a, b Problem) int {
	if c := strings.Compare(a.InstanceType, b.InstanceType); c != 0 {
		return c
	}
	return strings.Compare(a.Detail, b.Detail)
}

// NewInventory reads the answers of DescribeInstanceTypes, and of
// DescribeInstanceTypeOfferings with the location type availability-zone, all
// pages of both. The order of the lists does not matter.
//
// A type is left out, with a Problem, if it has no name, neither of the architectures x86_64 and
// arm64, no vCPUs or no memory; of a type that is listed twice the first counts. A type without
// offerings is kept: no zone has it. Offerings of other types or by another kind of location are
// ignored. Problems are sorted by instance type.
func NewInventory(types []ec2types.InstanceTypeInfo, offerings []ec2types.InstanceTypeOffering) (*Inventory, []Problem) {
	branches, published := branchLimits(), readDevices()
	zonesOf := map[string][]string{}
	inv := &Inventory{}
	for i := range offerings {
		o := &offerings[i]
		if zone := awssdk.ToString(o.Location); zone != "" && o.LocationType == ec2types.LocationTypeAvailabilityZone {
			zonesOf[string(o.InstanceType)] = append(zonesOf[string(o.InstanceType)], zone)
			inv.zones = append(inv.zones, zone)
		}
	}
	var problems []Problem
	seen := make(map[string]bool, len(types))
	for i := range types {
		m, reason := newMachine(&types[i], branches)
		m.gpuDevices, m.efaDevices = published.gpus[m.name], published.adapters[m.name]
		switch {
		case reason != "":
			problems = append(problems, Problem{m.name, reason + "; left out"})
		case seen[m.name]:
			problems = append(problems, Problem{m.name, "listed twice; the first one counts"})
		default:
			seen[m.name] = true
			m.zones = sorted(zonesOf[m.name])
			inv.machines = append(inv.machines, m)
		}
	}
	inv.zones = sorted(inv.zones)
	slices.SortFunc(inv.machines, func(a, b machine) int { return strings.Compare(a.name, b.name) })
	slices.SortFunc(problems, compareProblems)
	return inv, problems
}

// sorted sorts s in place and removes duplicates.
func sorted(s []string) []string {
	slices.Sort(s)
	return slices.Compact(s)
}

// Len returns the number of instance types.
func (i *Inventory) Len() int {
	if i == nil {
		return 0
	}
	return len(i.machines)
}

// Zones returns the names of the zones that have any instance type, sorted. The
// slice is the caller's.
func (i *Inventory) Zones() []string {
	if i == nil {
		return nil
	}
	return slices.Clone(i.zones)
}

// MemoryMiB returns the memory of the machine as EC2 states it, and false for an unknown type. Pass
// it to Learned.Observe.
func (i *Inventory) MemoryMiB(instanceType string) (int64, bool) {
	if i == nil {
		return 0, false
	}
	j, found := slices.BinarySearchFunc(i.machines, instanceType, func(m machine, name string) int { return strings.Compare(m.name, name) })
	if !found {
		return 0, false
	}
	return i.machines[j].limits.MemoryMiB, true
}

// Equal reports whether two inventories give the same catalogs, so that what was
// built from one need not be built again.
func (i *Inventory) Equal(o *Inventory) bool {
	if i.Len() == 0 && o.Len() == 0 {
		return true
	}
	return i.Len() == o.Len() && reflect.DeepEqual(i, o)
}
