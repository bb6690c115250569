package family

import (
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/dovetail-sdk/dovetail/benchmarks/scenario"
)

// Spec says which scenario to make.
type Spec struct {
	// Family is one of Names.
	Family string
	// Pods is the number of pending pods. Consolidate has none.
	Pods int
	// Nodes is the number of existing nodes. Mixedexisting and consolidate need at least one,
	// constrained may have some, and the others have none.
	Nodes int
	// Types names the catalog: "aws", or "fake" and the number of types.
	Types string
	// Seed selects one of the scenarios of the same shape.
	Seed uint64
}

// Name identifies the scenario: "production-5000-aws-seed1".
func (s Spec) Name() string {
	parts := []string{s.Family}
	if !families[s.Family].onlyNodes {
		parts = append(parts, fmt.Sprint(s.Pods))
	}
	if s.Nodes > 0 {
		parts = append(parts, fmt.Sprintf("%dnodes", s.Nodes))
	}
	return strings.Join(append(parts, s.Types, fmt.Sprintf("seed%d", s.Seed)), "-")
}

// recipe makes the scenarios of a family.
type recipe struct {
	build func(*maker)
	// needsAWS: the pools use labels that only the types of the AWS catalog have.
	needsAWS bool
	// hasNodes: some nodes exist. onlyNodes: and no pods are pending. anyNodes: some nodes may
	// exist.
	hasNodes, onlyNodes, anyNodes bool
}

var families = map[string]recipe{
	"generic":       {build: generic},
	"generic10":     {build: generic10},
	"diverse":       {build: diverse},
	"preferences":   {build: preferences},
	"production":    {build: production, needsAWS: true},
	"mixedexisting": {build: mixedExisting, needsAWS: true, hasNodes: true},
	"constrained":   {build: constrained, needsAWS: true, anyNodes: true},
	"consolidate":   {build: consolidate, needsAWS: true, hasNodes: true, onlyNodes: true},
}

// Names lists the families, sorted.
func Names() []string { return slices.Sorted(maps.Keys(families)) }

// epoch is the time of every scenario.
var epoch = time.Date(2026, time.March, 2, 9, 0, 0, 0, time.UTC)

// Generate makes a scenario. The error says what is wrong with the Spec.
func Generate(spec Spec) (*scenario.Scenario, error) {
	recipe, ok := families[spec.Family]
	switch {
	case !ok:
		return nil, fmt.Errorf("there is no family %q; use one of %s", spec.Family, strings.Join(Names(), ", "))
	case recipe.needsAWS && spec.Types != awsTypes:
		return nil, fmt.Errorf("family %s has pools for %s types; use those instead of %q", spec.Family, awsTypes, spec.Types)
	case spec.Pods < 0 || spec.Pods == 0 && !recipe.onlyNodes:
		return nil, fmt.Errorf("family %s with %d pods; ask for 1 or more", spec.Family, spec.Pods)
	case recipe.hasNodes && spec.Nodes < 1:
		return nil, fmt.Errorf("family %s with %d nodes; ask for 1 or more", spec.Family, spec.Nodes)
	case !recipe.hasNodes && !recipe.anyNodes && spec.Nodes != 0:
		return nil, fmt.Errorf("family %s has no nodes, and %d were asked for", spec.Family, spec.Nodes)
	}
	// Families with the same seed should not draw the same numbers.
	stream := fnv.New64a()
	stream.Write([]byte(spec.Family))
	m, err := newMaker(spec.Name(), spec, rand.NewPCG(spec.Seed, stream.Sum64()))
	if err != nil {
		return nil, err
	}
	recipe.build(m)
	return m.out, nil
}

// maker holds a scenario while it is being made.
type maker struct {
	dice
	catalog
	spec Spec
	out  *scenario.Scenario

	named   map[string]bool // names of pods, as scenario.PodKey
	claimed map[string]bool // names of workloads whose pods have volumes
}

// newMaker returns a scenario without pools and pods.
func newMaker(name string, spec Spec, source rand.Source) (*maker, error) {
	c, err := catalogByName(spec.Types)
	return &maker{
		dice: dice{rand.New(source)}, catalog: c, spec: spec, named: map[string]bool{}, claimed: map[string]bool{},
		out: &scenario.Scenario{Name: name, Now: epoch, InstanceTypes: c.types,
			Options: scenario.Options{PreferencePolicy: "Respect", MinValuesPolicy: "Strict"}},
	}, err
}

// addNamespaces adds namespaces with the label that the API server gives them.
func (m *maker) addNamespaces(names ...string) {
	for _, name := range names {
		m.out.Namespaces = append(m.out.Namespaces, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
			Name: name, UID: m.uid(), Labels: map[string]string{corev1.LabelMetadataName: name},
		}})
	}
}
