package amiselect

import "strings"

// published is one line of the images that AWS publishes for an alias: an SSM parameter, the names
// of its images, and their machines.
type published struct {
	arch      string // in EC2's spelling
	variants  []Variant
	parameter string   // of the release in the alias, or of the latest
	names     []string // prefixes of names up to the release
	tail      string   // pattern of the text after the release in a name
}

// The roots of the SSM parameters that AWS publishes.
const (
	rootEKS          = "/aws/service/eks/optimized-ami/"
	rootBottlerocket = "/aws/service/bottlerocket/"
	rootWindows      = "/aws/service/ami-windows-latest/"
	leaf             = "/image_id"
)

// publishedFor returns the lines of an alias, in a fixed order.
func publishedFor(a Alias, kubernetes string) []published {
	switch {
	case a.Family == FamilyAL2:
		return publishedAL2(a, kubernetes)
	case a.Family == FamilyAL2023:
		return publishedAL2023(a, kubernetes)
	case a.Family == FamilyBottlerocket:
		return publishedBottlerocket(a, kubernetes)
	case a.Family.Windows():
		name := "Windows_Server-" + a.Family.windowsYear() + "-English-Core-EKS_Optimized-" + kubernetes
		return []published{{archX86, []Variant{VariantWindows}, rootWindows + name + leaf, []string{name + "-"}, ""}}
	}
	return nil
}

func publishedAL2(a Alias, kubernetes string) (out []published) {
	for _, row := range []struct {
		arch, folder, name string
		variants           []Variant
	}{
		{archX86, "amazon-linux-2", "amazon-eks-node-", []Variant{VariantStandard}},
		{archARM, "amazon-linux-2-arm64", "amazon-eks-arm64-node-", []Variant{VariantStandard}},
		// One image has the drivers of both variants.
		{archX86, "amazon-linux-2-gpu", "amazon-eks-gpu-node-", []Variant{VariantNeuron, VariantNVIDIA}},
	} {
		prefix := row.name + kubernetes + "-"
		out = append(out, published{row.arch, row.variants,
			rootEKS + kubernetes + "/" + row.folder + "/" + recommended(a, prefix) + leaf, []string{prefix}, ""})
	}
	return out
}

func publishedAL2023(a Alias, kubernetes string) (out []published) {
	for _, row := range []struct {
		arch    string
		variant Variant
	}{
		{archX86, VariantStandard},
		{archX86, VariantNVIDIA},
		{archX86, VariantNeuron},
		{archARM, VariantStandard},
		{archARM, VariantNVIDIA},
	} {
		prefix := "amazon-eks-node-al2023-" + row.arch + "-" + string(row.variant) + "-" + kubernetes + "-"
		out = append(out, published{row.arch, []Variant{row.variant},
			rootEKS + kubernetes + "/amazon-linux-2023/" + row.arch + "/" + string(row.variant) + "/" + recommended(a, prefix) + leaf,
			[]string{prefix}, ""})
	}
	return out
}

// recommended returns the parameter folder of the latest release, or that of the release in the
// alias, which has the name of the image.
func recommended(a Alias, prefix string) string {
	if !a.Static() {
		return "recommended"
	}
	return prefix + a.Version
}

func publishedBottlerocket(a Alias, kubernetes string) (out []published) {
	version := latest
	if a.Static() {
		version = strings.TrimLeft(a.Version, "v")
	}
	for _, row := range []struct {
		suffix, arch string
		variants     []Variant
	}{
		{"", archX86, []Variant{VariantStandard, VariantNeuron}},
		{"", archARM, []Variant{VariantStandard}},
		{"-nvidia", archX86, []Variant{VariantNVIDIA}},
		{"-nvidia", archARM, []Variant{VariantNVIDIA}},
	} {
		base := "aws-k8s-" + kubernetes + row.suffix
		names := []string{"bottlerocket-" + base + "-" + row.arch + "-"}
		if row.arch == archARM {
			// Parameters use arm64, names of images aarch64.
			names = append(names, "bottlerocket-"+base+"-aarch64-")
		}
		out = append(out, published{row.arch, row.variants,
			rootBottlerocket + base + "/" + row.arch + "/" + version + leaf, names, "-*"})
	}
	return out
}

// patterns returns patterns of the image names of an architecture and variant: those of the release
// in the alias, or of all releases.
func (p published) patterns(a Alias) (out []string) {
	for _, name := range p.names {
		switch {
		case !a.Static():
			out = append(out, name+"*")
		case a.Family == FamilyBottlerocket:
			version := "v" + strings.TrimLeft(a.Version, "v")
			out = append(out, name+version, name+version+p.tail)
		default:
			out = append(out, name+a.Version)
		}
	}
	return out
}

// release returns the release in the name of an image, without the build number that follows it for
// Bottlerocket. It reports false if the name does not belong to this architecture and variant.
func (p published) release(family Family, name string) (string, bool) {
	for _, prefix := range p.names {
		rest, ok := strings.CutPrefix(name, prefix)
		if !ok {
			continue
		}
		switch {
		case family == FamilyBottlerocket:
			release, _, _ := strings.Cut(rest, "-")
			return release, strings.HasPrefix(release, "v") && isRelease(bottlerocketForm, release)
		case family.Windows():
			return rest, rest != ""
		default:
			return rest, isRelease(amazonLinuxForm, rest)
		}
	}
	return "", false
}
