package classtypes

import (
	"fmt"
	"time"

	"github.com/dovetail-sdk/dovetail/aws/internal/instancetype"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// Catalog has the instance types that one class can launch at one instant. The caller owns it, but
// the instance types are read-only and share parts with the facts.
type Catalog struct {
	// Types are the instance types, sorted by name, each with its offerings in the order of
	// OfferingKey. A type that the class cannot use stays, with offerings that are not Available,
	// because nodes of it may run, and their price is needed.
	Types []*cloudprovider.InstanceType
	// Exclusions say why the class cannot launch a type, sorted by type.
	Exclusions []Exclusion
	// Problems are about types that are not in the catalog, sorted by type.
	Problems []Problem
	// Unpriced are the offerings without a price, which are not Available, and Stale
	// those whose price is out of date. Both are sorted.
	Unpriced, Stale []cloudprovider.OfferingKey
}

// Exclusion says that a class cannot launch an instance type, and why. There is one for
// each reason.
type Exclusion struct {
	// InstanceType is the name of the type.
	InstanceType string
	// Field is the field of the EC2NodeClass that the type does not support.
	Field string
	// Detail says what the type lacks, and the remedy.
	Detail string
}

// String returns one line.
func (e Exclusion) String() string { return instancetype.Exclusion(e).String() }

// Build returns the catalog of a class at an instant: prices are those of now, and reservations that
// have ended by then are not Available. For each type of the facts, in this order:
//
//  1. Labels: every well-known label of awsv1.Vocabulary, with its values or with
//     DoesNotExist.
//  2. Image: the first in status.amis whose requirements go with these labels. If there
//     are amis and none does, the type is excluded.
//  3. Capacity. Memory is the amount in Learned that nodes of the type have reported with that
//     image; or else that of the machine, minus 64 MiB on arm64, minus MemoryOverhead. Ephemeral
//     storage is that of the machine's disks, if instanceStorePolicy is RAID0 and it has some; or
//     else of the volume that pods write to: the first that exists of the mapping marked as
//     rootVolume, for images of family Custom the last mapping, the mapping of the device that the
//     family writes to, the family's default for that device, and 20 GiB. Pods are maxPods of
//     spec.kubelet; or else the number of addresses of the network interfaces, or 110 for families
//     that do not count addresses, and on Windows; at most podsPerCore for each vCPU.
//  4. Overhead: the reserves and thresholds of the images of EKS, replaced name by name by those
//     of spec.kubelet.
//  5. Exclusions: each field of the class that the type does not support.
//  6. Offerings: one for each zone that has the type and each of on-demand and spot in which it
//     is sold, and one for each capacity reservation of the class.
//  7. Prices: those of Input.Prices at now, plus the cost by NodeRates of what a node of
//     the class has in addition to its instance.
//
// An offering is Available if the type has no Exclusion, the class has a subnet in its zone, no
// traffic is shifted away from the zone, the placement group exists if the class names one, and the
// offering has a price or is in a reservation that has neither ended nor is about to.
//
// The error lists every fault: no region or class, a zone with two ids, kubelet settings
// or requirements of an image that cannot be read, an option out of its range.
func (f *Facts) Build(now time.Time, in Input) (*Catalog, error) {
	input, opts, err := in.parse(now)
	if err != nil {
		return nil, fmt.Errorf("classtypes: %w", err)
	}
	var inventory *instancetype.Inventory
	if f != nil {
		inventory = f.inventory
	}
	made, err := inventory.Build(input, opts)
	if err != nil {
		return nil, err
	}
	out := &Catalog{Types: made.Types, Problems: problemsOf(made.Problems), Unpriced: made.Unpriced, Stale: made.Stale}
	for _, e := range made.Exclusions {
		out.Exclusions = append(out.Exclusions, Exclusion(e))
	}
	return out, nil
}
