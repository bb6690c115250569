package instancetype

import (
	"strconv"
	"strings"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	awsv1 "github.com/dovetail-sdk/dovetail/aws/api/v1"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// description collects the labels of a machine.
type description struct {
	reqs []requirements.Requirement
}

// is sets a label. An empty value is a value.
func (d *description) is(key, value string) { d.reqs = append(d.reqs, requirements.In(key, value)) }

// may sets a label, or DoesNotExist if the value is "".
func (d *description) may(key, value string) {
	if value == "" {
		d.reqs = append(d.reqs, requirements.DoesNotExist(key))
		return
	}
	d.is(key, value)
}

// number sets a label to a number, or DoesNotExist unless ok.
func (d *description) number(key string, n int64, ok bool) {
	if !ok {
		d.may(key, "")
		return
	}
	d.is(key, strconv.FormatInt(n, 10))
}

// truth sets a label to true or false.
func (d *description) truth(key string, b bool) { d.is(key, strconv.FormatBool(b)) }

// describe returns a requirement for every label that does not depend on class,
// zone or purchase.
func (m *machine) describe(t *ec2types.InstanceTypeInfo) requirements.Set {
	var d description
	d.may(awsv1.LabelInstanceCategory, m.names.category)
	d.may(awsv1.LabelInstanceGeneration, m.names.generation)
	d.may(awsv1.LabelInstanceFamily, m.names.family)
	d.may(awsv1.LabelInstanceSize, m.names.size)
	d.truth(awsv1.LabelInstanceCapabilityFlex, strings.Contains(m.names.family, "-flex"))
	// Bare metal has no hypervisor: the label has an empty value.
	d.is(awsv1.LabelInstanceHypervisor, string(t.Hypervisor))
	d.number(awsv1.LabelInstanceCPU, m.limits.VCPUs, true)
	d.number(awsv1.LabelInstanceMemory, m.limits.MemoryMiB, true)
	d.reqs = append(d.reqs, requirements.In(awsv1.LabelInstanceTenancy, awsv1.TenancyDedicated, awsv1.TenancyDefault))
	d.processor(t.ProcessorInfo)
	d.network(t.NetworkInfo)
	d.storage(t)
	d.gpu(t.GpuInfo)
	d.accelerator(t)
	return requirements.NewSet(d.reqs...)
}

func (d *description) processor(p *ec2types.ProcessorInfo) {
	maker, clock, ok := "", int64(0), false
	if p != nil {
		maker = kebab(awssdk.ToString(p.Manufacturer))
		if p.SustainedClockSpeedInGhz != nil {
			clock, ok = rounded(*p.SustainedClockSpeedInGhz)
		}
	}
	d.may(awsv1.LabelInstanceCPUManufacturer, maker)
	d.number(awsv1.LabelInstanceCPUSustainedClockSpeedMhz, clock, ok)
}

// network sets the bandwidth to the figure in EC2's text, if it has one, else to the sum of the
// baselines of all network cards. The text goes first because the sum may exceed the bandwidth of
// the machine, as for c6in.32xlarge, and EC2 does not list the whole baseline of some types.
// Karpenter's table has the figures of the text too.
func (d *description) network(n *ec2types.NetworkInfo) {
	d.truth(awsv1.LabelInstanceEncryptionInTransitSupported,
		n != nil && n.EncryptionInTransitSupported != nil && *n.EncryptionInTransitSupported)
	gbps := 0.0
	if n != nil {
		gbps = steadyGbps(awssdk.ToString(n.NetworkPerformance))
		if gbps == 0 {
			gbps = baselineGbps(n.NetworkCards)
		}
	}
	mbps, ok := rounded(gbps)
	d.number(awsv1.LabelInstanceNetworkBandwidth, mbps, ok)
}

func baselineGbps(cards []ec2types.NetworkCardInfo) (sum float64) {
	for i := range cards {
		if base := cards[i].BaselineBandwidthInGbps; base != nil {
			sum += *base
		}
	}
	return sum
}

// steadyGbps reads the permanent bandwidth in a text of EC2, such as "200 Gigabit" and "4x 100
// Gigabit". It is zero for words, such as "Moderate", and for temporary bandwidth, such as "Up to
// 25 Gigabit".
func steadyGbps(performance string) float64 {
	figure, found := strings.CutSuffix(performance, " Gigabit")
	if !found {
		return 0
	}
	times := uint64(1)
	if n, each, several := strings.Cut(figure, "x "); several {
		var err error
		if times, err = strconv.ParseUint(n, 10, 16); err != nil {
			return 0
		}
		figure = each
	}
	gbps, err := strconv.ParseFloat(figure, 64)
	if err != nil || !(gbps > 0 && gbps < 1e6) { // refuses NaN too
		return 0
	}
	return float64(times) * gbps
}

func (d *description) storage(t *ec2types.InstanceTypeInfo) {
	var mbps, gb int64
	if e := t.EbsInfo; e != nil && e.EbsOptimizedInfo != nil && e.EbsOptimizedSupport == ec2types.EbsOptimizedSupportDefault {
		mbps = value(e.EbsOptimizedInfo.MaximumBandwidthInMbps)
	}
	d.number(awsv1.LabelInstanceEBSBandwidth, mbps, mbps > 0)
	if s := t.InstanceStorageInfo; s != nil && s.TotalSizeInGB != nil {
		if s.NvmeSupport == ec2types.EphemeralNvmeSupportSupported || s.NvmeSupport == ec2types.EphemeralNvmeSupportRequired {
			gb = *s.TotalSizeInGB
		}
	}
	d.number(awsv1.LabelInstanceLocalNVME, gb, gb > 0)
}

// gpu sets the labels of the GPUs, if all are of one model: the labels cannot describe two.
func (d *description) gpu(info *ec2types.GpuInfo) {
	if info == nil || len(info.Gpus) != 1 {
		for _, key := range []string{awsv1.LabelInstanceGPUName, awsv1.LabelInstanceGPUManufacturer,
			awsv1.LabelInstanceGPUCount, awsv1.LabelInstanceGPUMemory} {
			d.may(key, "")
		}
		return
	}
	g := &info.Gpus[0]
	d.may(awsv1.LabelInstanceGPUName, kebab(awssdk.ToString(g.Name)))
	d.may(awsv1.LabelInstanceGPUManufacturer, kebab(awssdk.ToString(g.Manufacturer)))
	d.number(awsv1.LabelInstanceGPUCount, value(g.Count), true)
	var memory int64
	if g.MemoryInfo != nil {
		memory = value(g.MemoryInfo.SizeInMiB)
	}
	d.number(awsv1.LabelInstanceGPUMemory, memory, memory > 0)
}

// accelerator sets the labels of the accelerators: those that EC2 lists as
// Neuron devices, or else for inference, if all are of one model.
func (d *description) accelerator(t *ec2types.InstanceTypeInfo) {
	name, maker, count := "", "", int64(0)
	switch {
	case t.NeuronInfo != nil && len(t.NeuronInfo.NeuronDevices) == 1:
		n := &t.NeuronInfo.NeuronDevices[0]
		name, maker, count = kebab(awssdk.ToString(n.Name)), "aws", value(n.Count)
	case t.NeuronInfo == nil && t.InferenceAcceleratorInfo != nil && len(t.InferenceAcceleratorInfo.Accelerators) == 1:
		a := &t.InferenceAcceleratorInfo.Accelerators[0]
		name, maker, count = kebab(awssdk.ToString(a.Name)), kebab(awssdk.ToString(a.Manufacturer)), value(a.Count)
	}
	d.may(awsv1.LabelInstanceAcceleratorName, name)
	d.may(awsv1.LabelInstanceAcceleratorManufacturer, maker)
	d.number(awsv1.LabelInstanceAcceleratorCount, count, count > 0)
}
