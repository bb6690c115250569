package amiselect

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// Variant is the kind of machine that an image of an alias is made for.
type Variant string

// The variants.
const (
	// VariantStandard is for machines without GPU and without accelerator.
	VariantStandard Variant = "standard"
	// VariantNVIDIA is for machines with GPUs. It is also chosen for those with
	// GPUs of other makers, as AWS publishes no other image for them.
	VariantNVIDIA Variant = "nvidia"
	// VariantNeuron is for machines with Inferentia or Trainium.
	VariantNeuron Variant = "neuron"
	// VariantWindows is for nodes of one build of Windows Server.
	VariantWindows Variant = "windows"
	// VariantAny is of images that are not selected by alias: nothing is known
	// of them but the architecture, so they serve every machine that has it.
	VariantAny Variant = ""
)

// Labels that tell machines with accelerators from others.
const (
	labelGPUCount         = "karpenter.k8s.aws/instance-gpu-count"
	labelAcceleratorCount = "karpenter.k8s.aws/instance-accelerator-count"
)

// The architectures as EC2 spells them; other images boot no node.
const (
	archX86 = "x86_64"
	archARM = "arm64"
)

// kubernetesArch is the value of kubernetes.io/arch, or empty if nodes of the
// architecture cannot be had.
func kubernetesArch(ec2 string) string {
	switch ec2 {
	case archX86:
		return "amd64"
	case archARM:
		return "arm64"
	}
	return ""
}

// requirementsOf says which machines boot images of a variant and an
// architecture (as EC2 spells it). The build is of Windows.
func requirementsOf(v Variant, arch, build string) requirements.Set {
	s := requirements.NewSet(requirements.In(corev1.LabelArchStable, kubernetesArch(arch)))
	switch v {
	case VariantStandard:
		return s.With(requirements.DoesNotExist(labelAcceleratorCount), requirements.DoesNotExist(labelGPUCount))
	case VariantNVIDIA:
		return s.With(requirements.Exists(labelGPUCount))
	case VariantNeuron:
		return s.With(requirements.Exists(labelAcceleratorCount))
	case VariantWindows:
		return s.With(requirements.In(corev1.LabelOSStable, "windows"), requirements.In(corev1.LabelWindowsBuild, build))
	}
	return s
}
