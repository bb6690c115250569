package amiselect_test

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/amiselect"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

const account = "111122223333"

func date(text string) time.Time {
	t, err := time.Parse("2006-01-02", text)
	if err != nil {
		panic(err)
	}
	return t
}

var now = date("2024-09-01")

// mine returns an image of the account.
func mine(id, name, arch, created string, tags ...string) amiselect.Image {
	i := amiselect.Image{ID: id, Name: name, OwnerID: account, Architecture: arch, Created: date(created), State: "available"}
	for n := 0; n < len(tags); n += 2 {
		if i.Tags == nil {
			i.Tags = map[string]string{}
		}
		i.Tags[tags[n]] = tags[n+1]
	}
	return i
}

// amazons returns an image that AWS publishes.
func amazons(id, name, arch, created string) amiselect.Image {
	i := mine(id, name, arch, created)
	i.OwnerID, i.OwnerAlias = "602401143452", "amazon"
	return i
}

// al2023 lists the five images of releases, dated like them, ids in the form
// ami-x86std20240807.
func al2023(kubernetes string, releases ...string) (out []amiselect.Image) {
	for _, release := range releases {
		at, err := time.Parse("20060102", release)
		if err != nil {
			panic(err)
		}
		for _, row := range [][3]string{
			{"x86std", "x86_64", "standard"}, {"x86nvidia", "x86_64", "nvidia"}, {"x86neuron", "x86_64", "neuron"},
			{"armstd", "arm64", "standard"}, {"armnvidia", "arm64", "nvidia"},
		} {
			id := fmt.Sprintf("ami-%s%s", row[0], release)
			if kubernetes != "1.31" {
				id += "k" + kubernetes[2:]
			}
			name := fmt.Sprintf("amazon-eks-node-al2023-%s-%s-%s-v%s", row[1], row[2], kubernetes, release)
			out = append(out, amazons(id, name, row[1], at.Format("2006-01-02")))
		}
	}
	return out
}

func alias(text string) []amiselect.Term { return []amiselect.Term{{Alias: text}} }

func on(version string) *amiselect.Options {
	return &amiselect.Options{Environment: amiselect.Environment{KubernetesVersion: version, Account: account}}
}

func mustSelect(t testing.TB, terms []amiselect.Term, images []amiselect.Image, opts *amiselect.Options) amiselect.Selection {
	t.Helper()
	s, err := amiselect.Select(now, terms, images, opts)
	require.NoError(t, err)
	return s
}

// ids are those of what is selected.
func ids(s amiselect.Selection) (out []string) {
	for _, i := range s.Images() {
		out = append(out, i.ID)
	}
	return out
}

// machine returns an instance type with these labels besides architecture and Linux.
func machine(name, arch string, with ...requirements.Requirement) *cloudprovider.InstanceType {
	s := requirements.NewSet(requirements.In(corev1.LabelArchStable, arch), requirements.In(corev1.LabelOSStable, "linux"),
		requirements.DoesNotExist("karpenter.k8s.aws/instance-gpu-count"), requirements.DoesNotExist("karpenter.k8s.aws/instance-accelerator-count"))
	for _, r := range with {
		s = s.Without(r.Key()).With(r)
	}
	return &cloudprovider.InstanceType{Name: name, Requirements: s}
}

var (
	m5     = machine("m5.large", "amd64")
	m7g    = machine("m7g.large", "arm64")
	g5     = machine("g5.xlarge", "amd64", requirements.In("karpenter.k8s.aws/instance-gpu-count", "1"))
	g5g    = machine("g5g.xlarge", "arm64", requirements.In("karpenter.k8s.aws/instance-gpu-count", "1"))
	inf2   = machine("inf2.xlarge", "amd64", requirements.In("karpenter.k8s.aws/instance-accelerator-count", "1"))
	win    = machine("m5.large", "amd64", requirements.In(corev1.LabelOSStable, "windows"), requirements.In(corev1.LabelWindowsBuild, "10.0.20348"))
	anyone = []*cloudprovider.InstanceType{m5, m7g, g5, g5g, inf2}
)
