package randproblem

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// Labels of the made-up provider, well-known in the vocabulary of a problem.
const (
	// FamilyLabel groups instance types: general, compute, memory, gpu.
	FamilyLabel = "node.example.com/family"
	// CPULabel is the number of CPUs of an instance type, an integer.
	CPULabel = "node.example.com/cpu"
	// GPULabel is the model of GPU; types without GPUs say it does not exist.
	GPULabel = "node.example.com/gpu"
	// FlavorLabel is left open by some instance types: red or blue.
	FlavorLabel = "node.example.com/flavor"
	// ZoneIDLabel is a label of an offering.
	ZoneIDLabel = "node.example.com/zone-id"
	// zoneAlias is another name of the zone label.
	zoneAlias = "storage.example.com/zone"
)

// Labels that only pools know.
const (
	teamLabel = "team"
	tierLabel = "example.org/tier"
	rankLabel = "example.org/rank" // an integer
)

const (
	gpuResource = corev1.ResourceName("example.com/gpu")
	fpgaOnly    = corev1.ResourceName("example.com/fpga") // no instance type has it
	hugePages   = corev1.ResourceName(corev1.ResourceHugePagesPrefix + "2Mi")
)

func zones() []string { return []string{"zone-a", "zone-b", "zone-c"} }
func teams() []string { return []string{"blue", "green", "red"} }

// size bounds how much of everything a problem has.
type size struct {
	pools, types, daemons, nodes, shapes, copies int
}

// problem is one problem being drawn.
type problem struct {
	*source
	size    size
	catalog []*cloudprovider.InstanceType
	in      provisioning.Input

	contested bool // several pods may have claims to the same free volumes
	claimed   bool // a pod has a claim to free volumes
}

// New returns the problem with the given number, without the features that Draw adds. Problems
// share no data, so the caller may change the result.
func New(seed uint64) provisioning.Input { return newProblem(seed).in }

func newProblem(seed uint64) *problem {
	p := &problem{source: &source{state: seed}}
	// Small problems show a fault in the fewest objects and run fastest, so
	// they are most of what is drawn.
	switch n := p.below(100); {
	case n < 55:
		p.size = size{pools: 2, types: 4, daemons: 1, nodes: 2, shapes: 3, copies: 2}
	case n < 93:
		p.size = size{pools: 4, types: 9, daemons: 3, nodes: 6, shapes: 8, copies: 5}
	default:
		p.size = size{pools: 5, types: 24, daemons: 4, nodes: 12, shapes: 14, copies: 12}
	}
	if p.chance(90) {
		p.in.Vocabulary = requirements.DefaultVocabulary().Extend(requirements.Extension{
			WellKnown: []string{FamilyLabel, CPULabel, GPULabel, FlavorLabel, ZoneIDLabel},
			Aliases:   map[string]string{zoneAlias: corev1.LabelTopologyZone},
		})
	}
	p.drawCatalog()
	p.drawPools()
	p.drawDaemons()
	p.drawNodes()
	p.drawPods()
	return p
}

func quantity(text string) resource.Quantity { return resource.MustParse(text) }
