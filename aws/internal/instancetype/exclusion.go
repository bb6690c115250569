package instancetype

import (
	"fmt"
	"slices"
	"strings"

	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/dovetail-sdk/dovetail/amiselect"
	karpv1 "github.com/dovetail-sdk/dovetail/api/v1"
	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
)

// Exclusion says that a class cannot launch an instance type, and why. There is
// one for each reason.
type Exclusion struct {
	// InstanceType is the name of the type.
	InstanceType string
	// Field is the field of the EC2NodeClass that the type does not support.
	Field string
	// Detail is what the type lacks, and the remedy.
	Detail string
}

// String returns one line.
func (e Exclusion) String() string { return e.InstanceType + ": " + e.Field + ": " + e.Detail }

// exclusions lists why the class cannot launch the machine, in a fixed order. It
// is empty if it can.
func (b *builder) exclusions(m *machine) []Exclusion {
	var out []Exclusion
	add := func(field, format string, args ...any) {
		out = append(out, Exclusion{m.name, field, fmt.Sprintf(format, args...)})
	}
	b.checkInterfaces(m, add)
	if b.family == amiselect.FamilyAL2023 && strings.HasPrefix(m.name, "a1.") {
		add("spec.amiFamily", "AL2023 does not run on the first generation of Graviton; use another family of images or newer instance types")
	}
	if b.family.Windows() && m.arch != karpv1.ArchitectureAmd64 {
		add("spec.amiFamily", "%s runs on amd64 only, and the type is %s", b.family, m.arch)
	}
	if c := b.class.Spec.CPUOptions; c != nil && c.NestedVirtualization != nil && *c.NestedVirtualization == awsv1.Enabled && !m.nested {
		add("spec.cpuOptions.nestedVirtualization", "the type does not support nested virtualization; leave the field out or use types that do, such as c8i")
	}
	if e := b.class.Spec.EnclaveOptions; e != nil && e.Enabled != nil && *e.Enabled && !m.enclaves {
		add("spec.enclaveOptions.enabled", "the type does not support Nitro Enclaves; use false or types that do, such as m5.xlarge")
	}
	if b.class.Spec.ConnectionTracking != nil && !m.nitro {
		add("spec.connectionTracking", "the type does not run on the Nitro hypervisor; leave the field out or use types that do")
	}
	if s := b.group.strategy; s != "" && !slices.Contains(m.strategies, ec2types.PlacementGroupStrategy(s)) {
		add("spec.placementGroupSelector", "the type cannot be in a group of strategy %s", s)
	}
	return out
}

// checkInterfaces compares the network interfaces of the class with the cards of
// the machine.
func (b *builder) checkInterfaces(m *machine, add func(field, format string, args ...any)) {
	const field = "spec.networkInterfaces"
	if len(b.class.Spec.NetworkInterfaces) == 0 {
		return
	}
	if !m.ena {
		add(field, "the type has no elastic network adapter")
	}
	for i, n := range b.class.Spec.NetworkInterfaces {
		at, found := slices.BinarySearchFunc(m.cards, int64(n.NetworkCardIndex), func(c card, index int64) int { return int(c.index - index) })
		switch {
		case !found:
			add(field, "[%d]: the type has no network card %d; it has %d", i, n.NetworkCardIndex, len(m.cards))
		case n.DeviceIndex < 0 || int64(n.DeviceIndex) >= m.cards[at].interfaces:
			add(field, "[%d]: network card %d of the type has no device %d; it supports %d interfaces",
				i, n.NetworkCardIndex, n.DeviceIndex, m.cards[at].interfaces)
		}
	}
	if int64(b.efaOnly) > m.efa {
		add(field, "%d interfaces of type %s, and the type supports %d", b.efaOnly, awsv1.InterfaceTypeEFAOnly, m.efa)
	}
}
