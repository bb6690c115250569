package instancetype

import (
	"cmp"
	"math"
	"slices"
	"strings"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	karpv1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// machine has the properties of an instance type that do not depend on the class. Immutable.
type machine struct {
	name  string
	names names
	arch  string
	// labels are those that do not depend on class, zone or purchase.
	labels requirements.Set
	limits Machine

	capacityTypes []string // on-demand and spot, if sold so, sorted
	zones         []string // that have it, sorted

	cards       []card // network cards, sorted by index
	efa         int64  // EFA interfaces at most
	ena         bool
	nitro       bool
	nested      bool // nested virtualization
	enclaves    bool
	strategies  []ec2types.PlacementGroupStrategy
	branches    int64
	storeGB     int64 // disks of the machine
	storeDisks  int64
	attachments int64 // volumes of EBS at most; 0 if EC2 does not say
	shared      bool  // interfaces and disks count against attachments

	gpus   []devices
	neuron int64
	cores  int64

	// Devices for dynamic resource allocation.
	gpuDevices, efaDevices []cloudprovider.InstanceDevice
}

// card is a network card.
type card struct {
	index, interfaces int64
}

// devices is a number of GPUs of one maker.
type devices struct {
	maker string
	count int64
}

// newMachine reads an instance type. It returns a reason if the type cannot be a
// node.
func newMachine(t *ec2types.InstanceTypeInfo, branches map[string]int64) (machine, string) {
	m := machine{name: string(t.InstanceType)}
	if m.name == "" {
		return m, "it has no name"
	}
	m.names = parseName(m.name)
	m.limits.Name = m.name
	m.arch = architecture(t)
	if m.arch == "" {
		return m, "none of its architectures is x86_64 or arm64"
	}
	m.limits.Arm64 = m.arch == karpv1.ArchitectureArm64
	if v := t.VCpuInfo; v != nil {
		m.limits.VCPUs = value(v.DefaultVCpus)
	}
	if v := t.MemoryInfo; v != nil && v.SizeInMiB != nil {
		m.limits.MemoryMiB = *v.SizeInMiB
	}
	if m.limits.VCPUs <= 0 || m.limits.MemoryMiB <= 0 {
		return m, "it has no vCPUs or no memory"
	}
	m.nitro = t.Hypervisor == ec2types.InstanceTypeHypervisorNitro
	m.limits.Prefixes = m.nitro || t.BareMetal != nil && *t.BareMetal
	m.enclaves = t.NitroEnclavesSupport == ec2types.NitroEnclavesSupportSupported
	m.readNetwork(t.NetworkInfo)
	m.readUsage(t.SupportedUsageClasses)
	m.readStorage(t)
	m.readDevices(t)
	if p := t.ProcessorInfo; p != nil {
		m.nested = slices.Contains(p.SupportedFeatures, ec2types.SupportedAdditionalProcessorFeatureNestedVirtualization)
	}
	if p := t.PlacementGroupInfo; p != nil {
		m.strategies = slices.Clone(p.SupportedStrategies)
	}
	m.branches = branches[m.name]
	m.labels = m.describe(t)
	return m, ""
}

// architecture returns the first architecture of the type that Kubernetes has a name for.
func architecture(t *ec2types.InstanceTypeInfo) string {
	if t.ProcessorInfo == nil {
		return ""
	}
	for _, a := range t.ProcessorInfo.SupportedArchitectures {
		switch a {
		case ec2types.ArchitectureTypeX8664:
			return karpv1.ArchitectureAmd64
		case ec2types.ArchitectureTypeArm64:
			return karpv1.ArchitectureArm64
		}
	}
	return ""
}

func (m *machine) readNetwork(n *ec2types.NetworkInfo) {
	if n == nil {
		return
	}
	m.ena = n.EnaSupport == ec2types.EnaSupportSupported || n.EnaSupport == ec2types.EnaSupportRequired
	m.limits.Card = value(n.DefaultNetworkCardIndex)
	m.limits.Addresses = value(n.Ipv4AddressesPerInterface)
	if len(n.NetworkCards) == 0 {
		m.limits.Interfaces = value(n.MaximumNetworkInterfaces)
	}
	for i := range n.NetworkCards {
		c := card{index: int64(i), interfaces: value(n.NetworkCards[i].MaximumNetworkInterfaces)}
		if n.NetworkCards[i].NetworkCardIndex != nil {
			c.index = value(n.NetworkCards[i].NetworkCardIndex)
		}
		m.cards = append(m.cards, c)
		if c.index == m.limits.Card {
			m.limits.Interfaces = c.interfaces
		}
	}
	slices.SortStableFunc(m.cards, func(a, b card) int { return cmp.Compare(a.index, b.index) })
	if n.EfaInfo != nil && n.EfaSupported != nil && *n.EfaSupported {
		m.efa = value(n.EfaInfo.MaximumEfaInterfaces)
	}
}

func (m *machine) readUsage(classes []ec2types.UsageClassType) {
	for _, c := range classes {
		switch c {
		case ec2types.UsageClassTypeOnDemand:
			m.capacityTypes = append(m.capacityTypes, karpv1.CapacityTypeOnDemand)
		case ec2types.UsageClassTypeSpot:
			m.capacityTypes = append(m.capacityTypes, karpv1.CapacityTypeSpot)
		}
	}
	slices.Sort(m.capacityTypes)
	m.capacityTypes = slices.Compact(m.capacityTypes)
}

func (m *machine) readStorage(t *ec2types.InstanceTypeInfo) {
	if s := t.InstanceStorageInfo; s != nil && s.TotalSizeInGB != nil {
		m.storeGB = max(*s.TotalSizeInGB, 0)
		for _, d := range s.Disks {
			m.storeDisks += value(d.Count)
		}
	}
	if e := t.EbsInfo; e != nil {
		m.attachments = value(e.MaximumEbsAttachments)
		m.shared = e.AttachmentLimitType == ec2types.AttachmentLimitTypeShared
	}
}

func (m *machine) readDevices(t *ec2types.InstanceTypeInfo) {
	if t.GpuInfo != nil {
		for _, g := range t.GpuInfo.Gpus {
			m.gpus = append(m.gpus, devices{awssdk.ToString(g.Manufacturer), value(g.Count)})
		}
	}
	if t.NeuronInfo != nil {
		for _, n := range t.NeuronInfo.NeuronDevices {
			m.neuron += value(n.Count)
			if n.CoreInfo != nil {
				m.cores += value(n.Count) * value(n.CoreInfo.Count)
			}
		}
	}
}

// value returns a number of EC2, or zero if it is missing or negative.
func value(n *int32) int64 {
	if n == nil {
		return 0
	}
	return int64(max(*n, 0))
}

// rounded returns a number in thousandths of its unit, rounded to an integer. It returns false if
// the result is not above zero or not below 2^53.
func rounded(thousands float64) (int64, bool) {
	n := math.Round(thousands * 1000)
	if !(n > 0 && n < 1<<53) {
		return 0, false
	}
	return int64(n), true
}

// names are the parts of the name of an instance type.
type names struct {
	family, size         string
	category, generation string
}

// parseName splits a name. Family and size are the texts before and behind the dot, if there is
// exactly one. The category is the letters at the beginning of the family, and the generation the
// first digits behind them; a size of memory in between, as in u-6tb1, belongs to neither. Missing
// parts are empty.
func parseName(name string) names {
	var n names
	family, size, found := strings.Cut(name, ".")
	if found && family != "" && size != "" && !strings.Contains(size, ".") {
		n.family, n.size = family, size
	}
	rest := strings.TrimLeft(family, "abcdefghijklmnopqrstuvwxyz")
	category := family[:len(family)-len(rest)]
	if memory, ok := strings.CutPrefix(rest, "-"); ok {
		if behind, ok := strings.CutPrefix(strings.TrimLeft(memory, digits), "tb"); ok && !strings.HasPrefix(memory, "tb") {
			rest = behind
		}
	}
	generation := rest[:len(rest)-len(strings.TrimLeft(rest, digits))]
	if category != "" && generation != "" {
		n.category, n.generation = category, generation
	}
	return n
}

const digits = "0123456789"

// kebab writes a name of a device or a maker as a label value.
func kebab(text string) string { return strings.ReplaceAll(strings.ToLower(text), " ", "-") }
