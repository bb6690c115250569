package instancetype

import (
	_ "embed"
	"fmt"
	"strconv"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// The drivers of dynamic resource allocation whose devices are known.
const (
	// gpuDriver is NVIDIA's driver for GPUs.
	gpuDriver = "gpu.nvidia.com"
	// EFADriver is the driver for network interfaces. Of its devices only elastic fabric adapters
	// are known here.
	EFADriver = "dra.net"
)

// pcieRoot is the attribute that is equal for devices close to one another.
const pcieRoot resourcev1.QualifiedName = "resource.kubernetes.io/pcieRoot"

// deviceTables are devices by instance type.
type deviceTables struct {
	gpus, adapters map[string][]cloudprovider.InstanceDevice
}

// readDevices reads the tables of devices.
func readDevices(models, gpus, adapters string) (deviceTables, error) {
	known := map[string]resourcev1.Device{}
	for line := range entries(models) {
		name, text, _ := strings.Cut(line, " = ")
		model, err := gpuModel(text)
		if err != nil {
			return deviceTables{}, fmt.Errorf("GPU models: %q: %w", line, err)
		}
		known[name] = model
	}
	out := deviceTables{map[string][]cloudprovider.InstanceDevice{}, map[string][]cloudprovider.InstanceDevice{}}
	for line := range entries(gpus) {
		err := readLine(out.gpus, line, func(words []string) (string, resourcev1.Device, []string, error) {
			model, found := known[words[0]]
			if !found {
				return "", model, nil, fmt.Errorf("%q is not a GPU model", words[0])
			}
			return gpuDriver, model, words[1:], nil
		})
		if err != nil {
			return deviceTables{}, fmt.Errorf("GPUs: %q: %w", line, err)
		}
	}
	for line := range entries(adapters) {
		err := readLine(out.adapters, line, func(words []string) (string, resourcev1.Device, []string, error) {
			adapter, rest := efaAdapter(words)
			return EFADriver, adapter, rest, nil
		})
		if err != nil {
			return deviceTables{}, fmt.Errorf("EFAs: %q: %w", line, err)
		}
	}
	return out, nil
}

// entries yields the lines of a table.
func entries(table string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for line := range strings.Lines(table) {
			if line = strings.TrimSpace(line); line != "" && !yield(line) {
				return
			}
		}
	}
}

// gpuModel reads architecture, brand, compute capability, memory and product.
func gpuModel(text string) (resourcev1.Device, error) {
	parts := strings.Split(text, " / ")
	if len(parts) != 5 {
		return resourcev1.Device{}, fmt.Errorf("%d parts, want 5", len(parts))
	}
	memory, err := resource.ParseQuantity(parts[3])
	if err != nil {
		return resourcev1.Device{}, err
	}
	return resourcev1.Device{
		Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{
			"architecture":          {StringValue: &parts[0]},
			"brand":                 {StringValue: &parts[1]},
			"cudaComputeCapability": {VersionValue: &parts[2]},
			"productName":           {StringValue: &parts[4]},
			"type":                  {StringValue: new("gpu")},
		},
		Capacity: map[resourcev1.QualifiedName]resourcev1.DeviceCapacity{"memory": {Value: memory}},
	}, nil
}

// unknown stands in the tables for a generation or a PCIe root that is not known.
const unknown = "-"

// efaAdapter reads the generation of adapters, and returns the remaining words.
func efaAdapter(words []string) (resourcev1.Device, []string) {
	generation, rest, rdma := words[0], words[1:], true
	if len(rest) > 0 && rest[0] == "no-rdma" {
		rest, rdma = rest[1:], false
	}
	adapter := resourcev1.Device{Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{
		"dra.net/pciDevice": {StringValue: new("Elastic Fabric Adapter (EFA)")},
		"dra.net/pciVendor": {StringValue: new("Amazon.com, Inc.")},
		"dra.net/rdma":      {BoolValue: &rdma},
	}}
	if generation != unknown {
		adapter.Attributes["dra.net/pciSubsystem"] = resourcev1.DeviceAttribute{StringValue: &generation}
	}
	return adapter, rest
}

// readLine reads the devices of some instance types: their kind from the words behind the equals
// sign, and their places.
func readLine(
	out map[string][]cloudprovider.InstanceDevice, line string,
	kind func(words []string) (driver string, device resourcev1.Device, rest []string, err error),
) error {
	types, text, found := strings.Cut(line, " = ")
	words := strings.Fields(text)
	if !found || len(words) == 0 {
		return fmt.Errorf("nothing after an equals sign")
	}
	driver, model, places, err := kind(words)
	if err != nil {
		return err
	}
	var devices []cloudprovider.InstanceDevice
	for _, place := range places {
		device, count, err := placed(model, place)
		if err != nil {
			return err
		}
		devices = append(devices, cloudprovider.InstanceDevice{Driver: driver, Device: device, Count: count})
	}
	for _, name := range strings.Fields(types) {
		if out[name] != nil || devices == nil {
			return fmt.Errorf("%s is listed twice, or has no device", name)
		}
		out[name] = devices
	}
	return nil
}

// placed reads the place of devices, as in 0000:44x4@1: domain:bus, or - if it is not known; the
// number of devices at it if there are several; and the NUMA node if it is known.
func placed(model resourcev1.Device, place string) (resourcev1.Device, int, error) {
	rest, node, hasNode := strings.Cut(place, "@")
	root, number, several := strings.Cut(rest, "x")
	count, device := 1, *model.DeepCopy()
	var err error
	if several {
		if count, err = strconv.Atoi(number); err != nil || count < 2 {
			return device, 0, fmt.Errorf("%q: %q is not a number of devices above one", place, number)
		}
	}
	switch {
	case root == unknown:
	case len(root) == len("0000:00") && root[4] == ':':
		device.Attributes[pcieRoot] = resourcev1.DeviceAttribute{StringValue: new("pci" + root)}
	default:
		return device, 0, fmt.Errorf("%q: %q is not a domain:bus", place, root)
	}
	if hasNode {
		n, err := strconv.ParseInt(node, 10, 64)
		if err != nil {
			return device, 0, fmt.Errorf("%q: %q is not a NUMA node", place, node)
		}
		device.Attributes["dra.net/numaNode"] = resourcev1.DeviceAttribute{IntValue: &n}
	}
	return device, count, nil
}

// FirstEFACard returns the index of the first network card of an instance type that takes an
// elastic fabric adapter. The index is zero for all types except p6-b300. The first of the 17
// cards of p6-b300 takes plain interfaces only. EC2 does not report it.
func FirstEFACard(instanceType string) int32 {
	if strings.HasPrefix(instanceType, "p6-b300.") {
		return 1
	}
	return 0
}

// devices returns the devices that drivers will publish on nodes of a machine. If the class lists
// its interfaces, adapters are known only if it lists all of them.
func (b *builder) devices(m *machine) []cloudprovider.InstanceDevice {
	var out []cloudprovider.InstanceDevice
	if b.family.Windows() {
		return nil
	}
	if b.opts.NVIDIADevices {
		out = append(out, m.gpuDevices...)
	}
	if b.opts.EFADevices && b.adapters(m) == m.efa {
		out = append(out, m.efaDevices...)
	}
	return out
}

// The tables below say which devices the drivers of dynamic resource allocation publish on instance
// types of AWS. EC2 does not report this. The facts are those of version 1.15.2 of Karpenter's AWS
// provider, which were read on running instances.

// gpuModels are NVIDIA GPUs: a name for the next table, architecture, brand, compute
// capability, memory and product.
//
//go:embed tables/models.txt
var gpuModels string

// gpuTable has the GPU model of instance types and their PCIe roots, each as domain:bus x number of
// devices.
//
//go:embed tables/gpus.txt
var gpuTable string

// efaTable has the EFA generation of instance types and their PCIe roots, each as domain:bus x
// number of devices, and @ NUMA node if the machine has more than one. A generation and a root that
// are not known are written as -.
//
//go:embed tables/adapters.txt
var efaTable string
