package instancetype

import (
	"fmt"
	"strconv"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// The drivers of dynamic resource allocation whose devices are known.
const (
	// gpuDriver is the one of NVIDIA for GPUs.
	gpuDriver = "gpu.nvidia.com"
	// EFADriver is the one for network interfaces, of which elastic fabric
	// adapters are known.
	EFADriver = "dra.net"
)

// pcieRoot is the attribute by which devices are told apart that are close to one
// another.
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
				return "", model, nil, fmt.Errorf("%q is no GPU model", words[0])
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

// entries are the lines of a table.
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
		return resourcev1.Device{}, fmt.Errorf("%d parts, and there are 5", len(parts))
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

// efaAdapter reads the generation of adapters, and returns the words that are left.
func efaAdapter(words []string) (resourcev1.Device, []string) {
	generation, rest, rdma := words[0], words[1:], true
	if len(rest) > 0 && rest[0] == "no-rdma" {
		rest, rdma = rest[1:], false
	}
	return resourcev1.Device{Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{
		"dra.net/pciDevice":    {StringValue: new("Elastic Fabric Adapter (EFA)")},
		"dra.net/pciSubsystem": {StringValue: &generation},
		"dra.net/pciVendor":    {StringValue: new("Amazon.com, Inc.")},
		"dra.net/rdma":         {BoolValue: &rdma},
	}}, rest
}

// readLine reads which devices some instance types have: of what kind, as the words
// behind the equals sign say, and where.
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
			return fmt.Errorf("%s is there twice, or has no device", name)
		}
		out[name] = devices
	}
	return nil
}

// placed reads domain:bus, how many devices are there if they are several, and the
// NUMA node if it is known, as in 0000:44x4@1.
func placed(model resourcev1.Device, place string) (resourcev1.Device, int, error) {
	rest, node, hasNode := strings.Cut(place, "@")
	root, number, several := strings.Cut(rest, "x")
	count, device := 1, *model.DeepCopy()
	var err error
	if several {
		if count, err = strconv.Atoi(number); err != nil || count < 2 {
			return device, 0, fmt.Errorf("%q: %q is no number of devices above one", place, number)
		}
	}
	if len(root) != len("0000:00") || root[4] != ':' {
		return device, 0, fmt.Errorf("%q: %q is no domain:bus", place, root)
	}
	device.Attributes[pcieRoot] = resourcev1.DeviceAttribute{StringValue: new("pci" + root)}
	if hasNode {
		n, err := strconv.ParseInt(node, 10, 64)
		if err != nil {
			return device, 0, fmt.Errorf("%q: %q is no NUMA node", place, node)
		}
		device.Attributes["dra.net/numaNode"] = resourcev1.DeviceAttribute{IntValue: &n}
	}
	return device, count, nil
}

// devices are those that drivers will publish on nodes of a machine. The adapters of
// a class that lists its interfaces are only known if it lists them all.
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

// The tables below say which devices the drivers of dynamic resource allocation
// publish on instance types of AWS. EC2 does not report it. The facts are those that
// Karpenter 1.15 was published with, read off running instances.

// gpuModels are NVIDIA GPUs: a name for the next table, architecture, brand, compute
// capability, memory and product.
const gpuModels = `
A100-40 = Ampere / Nvidia / 8.0.0 / 40320Mi / NVIDIA A100-SXM4-40GB
A100-80 = Ampere / Nvidia / 8.0.0 / 80Gi / NVIDIA A100-SXM4-80GB
A10G = Ampere / Nvidia / 8.6.0 / 23028Mi / NVIDIA A10G
B200 = Blackwell / Nvidia / 10.0.0 / 182784Mi / NVIDIA B200
B300 = Blackwell / Nvidia / 10.3.0 / 268Gi / NVIDIA B300 SXM6 AC
H100 = Hopper / Nvidia / 9.0.0 / 81152Mi / NVIDIA H100 80GB HBM3
H200 = Hopper / Nvidia / 9.0.0 / 140Gi / NVIDIA H200
L4 = Ada Lovelace / Nvidia / 8.9.0 / 23034Mi / NVIDIA L4
L4-12Q = Ada Lovelace / NvidiaVWS / 8.9.0 / 12Gi / NVIDIA L4-12Q
L4-3Q = Ada Lovelace / NvidiaVWS / 8.9.0 / 3Gi / NVIDIA L4-3Q
L4-6Q = Ada Lovelace / NvidiaVWS / 8.9.0 / 6Gi / NVIDIA L4-6Q
L40S = Ada Lovelace / Nvidia / 8.9.0 / 46068Mi / NVIDIA L40S
T4 = Turing / Nvidia / 7.5.0 / 15Gi / Tesla T4
T4G = Turing / Nvidia / 7.5.0 / 15Gi / NVIDIA T4G
T4G-16 = Turing / Nvidia / 7.5.0 / 16Gi / NVIDIA T4G
V100 = Volta / Tesla / 7.0.0 / 32Gi / Tesla V100-SXM2-32GB
`

// gpuTable says of instance types which GPU they have, and at which PCIe roots: as
// domain:bus, times how many.
const gpuTable = `
g4dn.12xlarge = T4 0000:00x4
g4dn.metal = T4 0000:17x2 0000:34x2 0000:e6x2 0000:f3x2
g4dn.xlarge g4dn.2xlarge g4dn.4xlarge g4dn.8xlarge g4dn.16xlarge = T4 0000:00
g5.12xlarge g5.24xlarge = A10G 0000:00x4
g5.48xlarge = A10G 0000:00x8
g5.xlarge g5.2xlarge g5.4xlarge g5.8xlarge g5.16xlarge = A10G 0000:00
g5g.16xlarge = T4G 0000:00x2
g5g.metal = T4G-16 0002:00x2
g5g.xlarge g5g.2xlarge g5g.4xlarge g5g.8xlarge = T4G 0000:00
g6.12xlarge = L4 0000:37 0000:39 0000:3b 0000:3d
g6.16xlarge = L4 0000:4c
g6.24xlarge = L4 0000:5e 0000:60 0000:62 0000:64
g6.48xlarge = L4 0000:9e 0000:a0 0000:a2 0000:a4 0000:ad 0000:af 0000:b1 0000:b3
g6.4xlarge gr6.4xlarge = L4 0000:34
g6.8xlarge gr6.8xlarge = L4 0000:35
g6.xlarge g6.2xlarge = L4 0000:30
g6e.12xlarge = L40S 0000:37 0000:39 0000:3b 0000:3d
g6e.16xlarge = L40S 0000:4c
g6e.24xlarge = L40S 0000:62 0000:64 0000:66 0000:68
g6e.48xlarge = L40S 0000:9d 0000:9f 0000:a1 0000:a3 0000:c5 0000:c7 0000:c9 0000:cb
g6e.4xlarge = L40S 0000:33
g6e.8xlarge = L40S 0000:35
g6e.xlarge g6e.2xlarge = L40S 0000:2f
g6f.2xlarge = L4-6Q 0000:30
g6f.4xlarge gr6f.4xlarge = L4-12Q 0000:34
g6f.large g6f.xlarge = L4-3Q 0000:30
p3dn.24xlarge = V100 0000:00x8
p4d.24xlarge = A100-40 0000:10x2 0000:20x2 0000:90x2 0000:a0x2
p4de.24xlarge = A100-80 0000:10x2 0000:20x2 0000:90x2 0000:a0x2
p5.48xlarge = H100 0000:44 0000:55 0000:66 0000:77 0000:88 0000:99 0000:aa 0000:bb
p5.4xlarge = H100 0000:24
p5e.48xlarge = H200 0000:44 0000:55 0000:66 0000:77 0000:88 0000:99 0000:aa 0000:bb
p5en.48xlarge = H200 0000:44x2 0000:5dx2 0000:76x2 0000:8fx2
p6-b200.48xlarge = B200 0000:44x2 0000:55x2 0000:66x2 0000:79x2
p6-b300.48xlarge = B300 0000:4b 0000:5a 0000:69 0000:78 0000:87 0000:96 0000:a5 0000:b4
`

// efaTable says of instance types which generation of EFA they have, and at which
// PCIe roots: as domain:bus, times how many, @ the NUMA node if there is more to it
// than one.
const efaTable = `
g4dn.8xlarge g4dn.12xlarge g4dn.16xlarge g5.8xlarge g5.12xlarge g5.16xlarge g5.24xlarge g5.48xlarge p3dn.24xlarge = efa0 0000:00
g4dn.metal = efa0 no-rdma 0000:c2@1
g6.16xlarge g6e.16xlarge = efa1 0000:34
g6.24xlarge = efa1 0000:44
g6.48xlarge = efa1 0000:84@0
g6.8xlarge g6.12xlarge g6e.8xlarge g6e.12xlarge gr6.8xlarge p5.4xlarge = efa1 0000:24
g6e.24xlarge = efa1 0000:44x2
g6e.48xlarge = efa1 0000:84x2@0 0000:a5x2@1
p4d.24xlarge p4de.24xlarge = efa0 0000:10@0 0000:20@0 0000:90@1 0000:a0@1
p5.48xlarge = efa1 0000:44x4@0 0000:55x4@0 0000:66x4@0 0000:77x4@0 0000:88x4@1 0000:99x4@1 0000:aax4@1 0000:bbx4@1
p5e.48xlarge = efa1 0000:44x4@1 0000:55x4@1 0000:66x4@0 0000:77x4@0 0000:88x4@3 0000:99x4@3 0000:aax4@2 0000:bbx4@2
p5en.48xlarge = efa2 0000:44x4@0 0000:5dx4@0 0000:76x4@1 0000:8fx4@1
p6-b200.48xlarge = efa3 0000:44x2@0 0000:55x2@0 0000:66x2@1 0000:79x2@1
p6-b300.48xlarge = efa3 0000:4bx2@0 0000:5ax2@0 0000:69x2@0 0000:78x2@0 0000:87x2@1 0000:96x2@1 0000:a5x2@1 0000:b4x2@1
`
