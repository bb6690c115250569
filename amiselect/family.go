package amiselect

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// Family is an operating system that nodes boot, spelled as in the field
// amiFamily of an EC2NodeClass.
type Family string

// The families.
const (
	// FamilyAL2 is Amazon Linux 2. AWS publishes no image of it for Kubernetes
	// 1.33 and later.
	FamilyAL2 Family = "AL2"
	// FamilyAL2023 is Amazon Linux 2023.
	FamilyAL2023 Family = "AL2023"
	// FamilyBottlerocket is Bottlerocket.
	FamilyBottlerocket Family = "Bottlerocket"
	// FamilyWindows2019 is Windows Server 2019 Core.
	FamilyWindows2019 Family = "Windows2019"
	// FamilyWindows2022 is Windows Server 2022 Core.
	FamilyWindows2022 Family = "Windows2022"
	// FamilyWindows2025 is Windows Server 2025 Core. AWS publishes no image of it
	// for Kubernetes before 1.35.
	FamilyWindows2025 Family = "Windows2025"
	// FamilyCustom stands for images that join the cluster without generated user data. It has no
	// alias.
	FamilyCustom Family = "Custom"
)

// Families returns all families, sorted by name. The slice is the caller's.
func Families() []Family {
	return []Family{FamilyAL2, FamilyAL2023, FamilyBottlerocket, FamilyCustom,
		FamilyWindows2019, FamilyWindows2022, FamilyWindows2025}
}

// AliasName returns the part of an alias before the "@": the family in lower
// case. It is empty for FamilyCustom and for unknown families, which have no
// alias.
func (f Family) AliasName() string {
	if f == FamilyCustom || !slices.Contains(Families(), f) {
		return ""
	}
	return strings.ToLower(string(f))
}

// Windows reports whether the family is a version of Windows Server.
func (f Family) Windows() bool {
	return f == FamilyWindows2019 || f == FamilyWindows2022 || f == FamilyWindows2025
}

// windowsYear returns the year in the name of a Windows family.
func (f Family) windowsYear() string { return strings.TrimPrefix(string(f), "Windows") }

// windowsBuild returns the value of the label node.kubernetes.io/windows-build.
func (f Family) windowsBuild() string {
	switch f {
	case FamilyWindows2019:
		return "10.0.17763"
	case FamilyWindows2022:
		return "10.0.20348"
	case FamilyWindows2025:
		return "10.0.26100"
	}
	return ""
}

// aliasNames lists the names allowed before the "@" of an alias.
func aliasNames() (names []string) {
	for _, f := range Families() {
		if name := f.AliasName(); name != "" {
			names = append(names, name)
		}
	}
	return names
}

// ResolveFamily says which family the nodes of an EC2NodeClass boot, given its
// amiFamily, empty if it has none, and its terms:
//
//  1. amiFamily, if it is set: it must be a family, and with an alias among the
//     terms it must be the family of that alias or FamilyCustom.
//  2. Else the family of the alias.
//  3. Without alias it is an error, because the family decides how to configure a node.
//
// The faults have paths below path, which is that of the EC2NodeClass's spec and may be nil.
// ValidateTerms reports the faults of the terms themselves.
func ResolveFamily(path *field.Path, family Family, terms []Term) (Family, field.ErrorList) {
	at := path.Child("amiFamily")
	var faults field.ErrorList
	if family != "" && !slices.Contains(Families(), family) {
		faults = append(faults, field.NotSupported(at, family, Families()))
	}
	var alias Family
	for i := range terms {
		if a, err := ParseAlias(terms[i].Alias); err == nil {
			alias = a.Family
			break
		}
	}
	switch {
	case len(faults) > 0:
		return "", faults
	case family == "" && alias == "":
		return "", field.ErrorList{field.Required(at, "say which family the images are of, or select by alias")}
	case family == "":
		return alias, nil
	case alias != "" && family != alias && family != FamilyCustom:
		return "", field.ErrorList{field.Invalid(at, family,
			fmt.Sprintf("the alias is of family %s: write that, or %s, or leave the field out", alias, FamilyCustom))}
	}
	return family, nil
}

// Variant is the kind of machine that an image of an alias is made for.
type Variant string

// The variants.
const (
	// VariantStandard is for machines without GPU and without accelerator.
	VariantStandard Variant = "standard"
	// VariantNVIDIA is for machines with GPUs. It is also used for GPUs of other makers, because
	// AWS publishes no other image for them.
	VariantNVIDIA Variant = "nvidia"
	// VariantNeuron is for machines with Inferentia or Trainium.
	VariantNeuron Variant = "neuron"
	// VariantWindows is for nodes of one build of Windows Server.
	VariantWindows Variant = "windows"
	// VariantAny is for images that are not selected by alias: only their architecture is known, so
	// they boot every machine with it.
	VariantAny Variant = ""
)

// The labels of machines with accelerators.
const (
	labelGPUCount         = "karpenter.k8s.aws/instance-gpu-count"
	labelAcceleratorCount = "karpenter.k8s.aws/instance-accelerator-count"
)

// The architectures as EC2 spells them; other images boot no node.
const (
	archX86 = "x86_64"
	archARM = "arm64"
)

// kubernetesArch returns the value of the label kubernetes.io/arch, or "" if nodes cannot have the
// architecture.
func kubernetesArch(ec2 string) string {
	switch ec2 {
	case archX86:
		return "amd64"
	case archARM:
		return "arm64"
	}
	return ""
}

// requirementsOf returns the requirements on machines that boot images of a variant and an
// architecture (in EC2's spelling). build is the build of Windows.
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
