package awstest

import (
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
)

// The element names of EC2, for what describes an instance type.

type xmlType struct {
	Name           string                      `xml:"instanceType"`
	Current        *bool                       `xml:"currentGeneration"`
	BareMetal      *bool                       `xml:"bareMetal"`
	Burstable      *bool                       `xml:"burstablePerformanceSupported"`
	Hypervisor     string                      `xml:"hypervisor,omitempty"`
	Enclaves       string                      `xml:"nitroEnclavesSupport,omitempty"`
	Usage          []string                    `xml:"supportedUsageClasses>item"`
	Virtualization []string                    `xml:"supportedVirtualizationTypes>item"`
	Processor      *xmlProcessor               `xml:"processorInfo"`
	VCPUs          *xmlVCPUs                   `xml:"vCpuInfo"`
	Memory         *xmlMemory                  `xml:"memoryInfo"`
	Network        *xmlNetwork                 `xml:"networkInfo"`
	EBS            *xmlEBS                     `xml:"ebsInfo"`
	HasStorage     *bool                       `xml:"instanceStorageSupported"`
	Storage        *xmlStorage                 `xml:"instanceStorageInfo"`
	GPUs           *xmlList[xmlAccelerator]    `xml:"gpuInfo>gpus"`
	Inference      *xmlMembers[xmlAccelerator] `xml:"inferenceAcceleratorInfo>accelerators"`
	Neuron         *xmlList[xmlAccelerator]    `xml:"neuronInfo>neuronDevices"`
	Placement      []string                    `xml:"placementGroupInfo>supportedStrategies>item"`
}

// xmlList is a list that is missing where there is nothing in it.
type xmlList[T any] struct {
	Items []T `xml:"item"`
}

// xmlMembers is a list whose elements are called otherwise.
type xmlMembers[T any] struct {
	Items []T `xml:"member"`
}

func listOf[T any](items []T) *xmlList[T] {
	if len(items) == 0 {
		return nil
	}
	return &xmlList[T]{items}
}

type xmlProcessor struct {
	Architectures []string         `xml:"supportedArchitectures>item"`
	Features      *xmlList[string] `xml:"supportedFeatures"`
	Manufacturer  *string          `xml:"manufacturer"`
	GHz           *float64         `xml:"sustainedClockSpeedInGhz"`
}

type xmlVCPUs struct {
	Default *int32 `xml:"defaultVCpus"`
	Cores   *int32 `xml:"defaultCores"`
	Threads *int32 `xml:"defaultThreadsPerCore"`
}

type xmlMemory struct {
	MiB *int64 `xml:"sizeInMiB"`
}

type xmlNetwork struct {
	Interfaces  *int32    `xml:"maximumNetworkInterfaces"`
	IPv4        *int32    `xml:"ipv4AddressesPerInterface"`
	IPv6        *int32    `xml:"ipv6AddressesPerInterface"`
	HasIPv6     *bool     `xml:"ipv6Supported"`
	Cards       *int32    `xml:"maximumNetworkCards"`
	DefaultCard *int32    `xml:"defaultNetworkCardIndex"`
	ENA         string    `xml:"enaSupport,omitempty"`
	EFA         *bool     `xml:"efaSupported"`
	MaxEFA      *int32    `xml:"efaInfo>maximumEfaInterfaces"`
	Encrypted   *bool     `xml:"encryptionInTransitSupported"`
	Performance *string   `xml:"networkPerformance"`
	CardInfo    []xmlCard `xml:"networkCards>item"`
}

type xmlCard struct {
	Index      *int32   `xml:"networkCardIndex"`
	Interfaces *int32   `xml:"maximumNetworkInterfaces"`
	Baseline   *float64 `xml:"baselineBandwidthInGbps"`
	Peak       *float64 `xml:"peakBandwidthInGbps"`
}

type xmlEBS struct {
	Optimized      string `xml:"ebsOptimizedSupport,omitempty"`
	MaxBandwidth   *int32 `xml:"ebsOptimizedInfo>maximumBandwidthInMbps"`
	Baseline       *int32 `xml:"ebsOptimizedInfo>baselineBandwidthInMbps"`
	Attachments    *int32 `xml:"maximumEbsAttachments"`
	AttachmentType string `xml:"attachmentLimitType,omitempty"`
}

type xmlStorage struct {
	GB    *int64    `xml:"totalSizeInGB"`
	NVMe  string    `xml:"nvmeSupport,omitempty"`
	Disks []xmlDisk `xml:"disks>item"`
}

type xmlDisk struct {
	GB    *int64 `xml:"sizeInGB"`
	Count *int32 `xml:"count"`
	Type  string `xml:"type,omitempty"`
}

type xmlAccelerator struct {
	Name         *string `xml:"name"`
	Manufacturer *string `xml:"manufacturer"`
	Count        *int32  `xml:"count"`
	MiB          *int32  `xml:"memoryInfo>sizeInMiB"`
	Cores        *int32  `xml:"coreInfo>count"`
	CoreVersion  *int32  `xml:"coreInfo>version"`
}

func describeType(t *ec2types.InstanceTypeInfo) xmlType {
	x := xmlType{
		Name: string(t.InstanceType), Current: t.CurrentGeneration, BareMetal: t.BareMetal, Burstable: t.BurstablePerformanceSupported,
		Hypervisor: string(t.Hypervisor), Enclaves: string(t.NitroEnclavesSupport), HasStorage: t.InstanceStorageSupported,
		Usage: texts(t.SupportedUsageClasses), Virtualization: texts(t.SupportedVirtualizationTypes),
	}
	if p := t.ProcessorInfo; p != nil {
		x.Processor = &xmlProcessor{texts(p.SupportedArchitectures), listOf(texts(p.SupportedFeatures)), p.Manufacturer, p.SustainedClockSpeedInGhz}
	}
	if v := t.VCpuInfo; v != nil {
		x.VCPUs = &xmlVCPUs{v.DefaultVCpus, v.DefaultCores, v.DefaultThreadsPerCore}
	}
	if t.MemoryInfo != nil {
		x.Memory = &xmlMemory{t.MemoryInfo.SizeInMiB}
	}
	if t.PlacementGroupInfo != nil {
		x.Placement = texts(t.PlacementGroupInfo.SupportedStrategies)
	}
	x.Network, x.EBS, x.Storage = describeNetwork(t.NetworkInfo), describeEBS(t.EbsInfo), describeStorage(t.InstanceStorageInfo)
	x.describeAccelerators(t)
	return x
}

func describeNetwork(n *ec2types.NetworkInfo) *xmlNetwork {
	if n == nil {
		return nil
	}
	x := &xmlNetwork{
		Interfaces: n.MaximumNetworkInterfaces, IPv4: n.Ipv4AddressesPerInterface, IPv6: n.Ipv6AddressesPerInterface, HasIPv6: n.Ipv6Supported,
		Cards: n.MaximumNetworkCards, DefaultCard: n.DefaultNetworkCardIndex, ENA: string(n.EnaSupport), EFA: n.EfaSupported,
		Encrypted: n.EncryptionInTransitSupported, Performance: n.NetworkPerformance,
	}
	if n.EfaInfo != nil {
		x.MaxEFA = n.EfaInfo.MaximumEfaInterfaces
	}
	for _, c := range n.NetworkCards {
		x.CardInfo = append(x.CardInfo, xmlCard{c.NetworkCardIndex, c.MaximumNetworkInterfaces, c.BaselineBandwidthInGbps, c.PeakBandwidthInGbps})
	}
	return x
}

func describeEBS(e *ec2types.EbsInfo) *xmlEBS {
	if e == nil {
		return nil
	}
	x := &xmlEBS{Optimized: string(e.EbsOptimizedSupport), Attachments: e.MaximumEbsAttachments, AttachmentType: string(e.AttachmentLimitType)}
	if e.EbsOptimizedInfo != nil {
		x.MaxBandwidth, x.Baseline = e.EbsOptimizedInfo.MaximumBandwidthInMbps, e.EbsOptimizedInfo.BaselineBandwidthInMbps
	}
	return x
}

func describeStorage(s *ec2types.InstanceStorageInfo) *xmlStorage {
	if s == nil {
		return nil
	}
	x := &xmlStorage{GB: s.TotalSizeInGB, NVMe: string(s.NvmeSupport)}
	for _, d := range s.Disks {
		x.Disks = append(x.Disks, xmlDisk{d.SizeInGB, d.Count, string(d.Type)})
	}
	return x
}

func (x *xmlType) describeAccelerators(t *ec2types.InstanceTypeInfo) {
	if t.GpuInfo != nil {
		var list []xmlAccelerator
		for _, g := range t.GpuInfo.Gpus {
			a := xmlAccelerator{Name: g.Name, Manufacturer: g.Manufacturer, Count: g.Count}
			if g.MemoryInfo != nil {
				a.MiB = g.MemoryInfo.SizeInMiB
			}
			list = append(list, a)
		}
		x.GPUs = listOf(list)
	}
	if t.InferenceAcceleratorInfo != nil {
		x.Inference = &xmlMembers[xmlAccelerator]{}
		for _, i := range t.InferenceAcceleratorInfo.Accelerators {
			x.Inference.Items = append(x.Inference.Items, xmlAccelerator{Name: i.Name, Manufacturer: i.Manufacturer, Count: i.Count})
		}
	}
	if t.NeuronInfo != nil {
		var list []xmlAccelerator
		for _, n := range t.NeuronInfo.NeuronDevices {
			a := xmlAccelerator{Name: n.Name, Count: n.Count}
			if n.CoreInfo != nil {
				a.Cores, a.CoreVersion = n.CoreInfo.Count, n.CoreInfo.Version
			}
			if n.MemoryInfo != nil {
				a.MiB = n.MemoryInfo.SizeInMiB
			}
			list = append(list, a)
		}
		x.Neuron = listOf(list)
	}
}

// texts are the strings of a list of names.
func texts[T ~string](list []T) (out []string) {
	for _, v := range list {
		out = append(out, string(v))
	}
	return out
}
