package randproblem

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/provisioning"
)

// Feature is something that Draw may add much of to a problem of New. Features are combined with |.
type Feature uint

// The features, in the order they are drawn.
const (
	Crowds       Feature = 1 << iota // workloads of small pods with labels in common, pending and bound
	Places                           // zones that only existing nodes have, zones without offerings, racks
	Spread                           // topology spread constraints
	Affinity                         // required pod affinity and anti-affinity, of bound pods too
	Ports                            // host ports
	Volumes                          // claims, volumes, classes and attach limits
	Preferences                      // preferred terms of all three kinds
	Reservations                     // reserved offerings that last for a node or two
	Overlays                         // price and capacity overlays, some at odds with each other
	Buffers                          // spare room
	Static                           // pools with a fixed number of nodes
	Priorities                       // pods of several priorities
	Outsiders                        // gated pods, pods on their way out, pods of another scheduler
	Defaults                         // services and owners, for default spread constraints
	allFeatures  = iota
)

// All is every feature.
const All Feature = 1<<allFeatures - 1

// Extra is something that only a problem whose Config names it has, so that the problems of all
// other tests, and their recorded plans, stay unchanged. Extras are combined with |.
type Extra uint

// The extras, in the order they are drawn, after all features.
const (
	// Fields are the fields of pods, nodes and storage objects that kube-scheduler reads and that
	// no Feature uses.
	Fields Extra = 1 << iota
	// DaemonLabels are labels of DaemonSets that constraints of other pods select.
	DaemonLabels
	// FreeVolumes are claims of several pods that could all be bound to the same free volume.
	// The engine looks for the volumes of each pod by itself, so that it plans for more pods
	// than there are volumes. General laws leave them out until it counts volumes.
	FreeVolumes
	// Devices are devices of nodes and instance types, and claims of them. Selectors are
	// expressions: the caller must set Devices.Matcher.
	Devices
)

// Config says what to draw. The zero value draws every feature and no extra.
type Config struct {
	// Without lists what to leave out.
	Without Feature
	// With lists what to add.
	With Extra
}

// Plain returns a Config that leaves out all features: Draw then returns the problem of New.
func Plain() Config { return Config{Without: All} }

// Draw returns the problem with the given number: the problem of New, with the features that the
// Config has not left out. Each feature has its own random numbers, so that leaving one out changes
// the others as little as possible.
func Draw(seed uint64, c Config) provisioning.Input {
	p := newProblem(seed)
	for i, draw := range []func(){
		p.drawCrowds, p.drawPlaces, p.drawSpread, p.drawPodAffinity, p.drawPorts, p.drawVolumes, p.drawPreferences,
		p.drawReservations, p.drawOverlays, p.drawBuffers, p.drawStatic, p.drawPriorities, p.drawOutsiders, p.drawDefaults,
	} {
		if c.Without&(1<<i) != 0 {
			continue
		}
		p.source = &source{state: seed ^ uint64(i+1)<<48}
		p.next() // seeds that are neighbours drift apart
		draw()
	}
	p.contested = c.With&FreeVolumes != 0
	for i, draw := range []func(){p.drawRareFields, p.drawDaemonLabels, nil, p.drawDevices} {
		if c.With&(1<<i) == 0 || draw == nil {
			continue
		}
		p.source = &source{state: seed ^ uint64(i+0x80)<<48}
		p.next()
		draw()
	}
	return p.in
}

// DrawOptions returns random options for the problem with the given number, for the features that
// the Config has not left out. MaxSteps stays at its default.
func DrawOptions(seed uint64, c Config) *provisioning.Options {
	s := &source{state: seed ^ 0xff<<48}
	s.next()
	has := func(f Feature, percent int) bool {
		drawn := s.chance(percent)
		return drawn && c.Without&f == 0
	}
	o := &provisioning.Options{}
	if s.chance(30) {
		o.MinValues = provisioning.BestEffort
	}
	if has(Preferences, 20) {
		o.Preferences = provisioning.Ignore
	}
	if has(Preferences, 40) {
		o.PreferenceCost = pick(s, []float64{0.01, 0.5, 2})
	}
	if has(Defaults, 30) {
		o.DefaultSpread = []corev1.TopologySpreadConstraint{
			{MaxSkew: 1, TopologyKey: corev1.LabelTopologyZone, WhenUnsatisfiable: corev1.DoNotSchedule},
			{MaxSkew: 2, TopologyKey: corev1.LabelHostname, WhenUnsatisfiable: corev1.ScheduleAnyway},
		}[:s.between(1, 2)]
	}
	if has(Outsiders, 50) {
		o.SchedulerNames = []string{corev1.DefaultSchedulerName}
	}
	if has(Reservations, 30) {
		o.Reserved = provisioning.ReservedStrict
	}
	if has(Crowds, 15) {
		o.NodeFee = pick(s, []float64{0.01, 0.1})
	}
	if has(Crowds, 15) {
		o.CapacityMix = &provisioning.CapacityMix{OnDemandBase: s.below(3), OnDemandPercent: pick(s, []int{0, 20, 50, 100})}
	}
	if has(Crowds, 10) {
		o.SpotFlexibility = s.between(2, 3)
	}
	if s.chance(50) && c.Without&All != All {
		o.Kubernetes = pick(s, []string{"1.34", "1.35", "1.36", "1.37", "1.38"})
	}
	return o
}

// workloads lists the pods by workload. The names of the pods of a workload differ only
// in the number at the end. Workloads are in the order of their names.
func (p *problem) workloads() [][]*corev1.Pod {
	byName := map[string][]*corev1.Pod{}
	for _, pod := range p.in.Pods {
		name := pod.Namespace + "/" + pod.Name[:strings.LastIndexByte(pod.Name, '-')]
		byName[name] = append(byName[name], pod)
	}
	var out [][]*corev1.Pod
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		pods := byName[name]
		slices.SortFunc(pods, func(a, b *corev1.Pod) int { return cmp.Compare(a.Name, b.Name) })
		out = append(out, pods)
	}
	return out
}

// someWorkloads returns percent out of 100 workloads.
func (p *problem) someWorkloads(percent int) [][]*corev1.Pod {
	var out [][]*corev1.Pod
	for _, pods := range p.workloads() {
		if p.chance(percent) {
			out = append(out, pods)
		}
	}
	return out
}

// bound lists the pods that run on nodes.
func (p *problem) bound() []*corev1.Pod {
	var out []*corev1.Pod
	for i := range p.in.Nodes {
		out = append(out, p.in.Nodes[i].Pods...)
	}
	return out
}

// machines lists the indices of nodes that pods can run on.
func (p *problem) machines() []int {
	var out []int
	for i := range p.in.Nodes {
		if n := &p.in.Nodes[i]; n.Node != nil || n.NodeClaim.Status.Allocatable != nil {
			out = append(out, i)
		}
	}
	return out
}

// types lists each instance type of the pools once, by pool.
func (p *problem) types() []*cloudprovider.InstanceType {
	seen := map[*cloudprovider.InstanceType]bool{}
	var out []*cloudprovider.InstanceType
	for _, pool := range slices.Sorted(maps.Keys(p.in.InstanceTypes)) {
		for _, t := range p.in.InstanceTypes[pool] {
			if !seen[t] {
				seen[t] = true
				out = append(out, t)
			}
		}
	}
	return out
}

// label puts a label on a node, and on the claim if it is there.
func label(n *provisioning.Node, key, value string) {
	if n.Node != nil && n.Node.Labels[corev1.LabelInstanceTypeStable] != "" {
		n.Node.Labels[key] = value
	}
	if n.NodeClaim != nil {
		n.NodeClaim.Labels[key] = value
	}
	if n.Node != nil && n.NodeClaim == nil {
		n.Node.Labels[key] = value
	}
}
