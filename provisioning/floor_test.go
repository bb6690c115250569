package provisioning_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/scenes"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
	"github.com/dovetail-sdk/dovetail/provisioning/verify"
)

// TestLowerBoundOfAllPlans tries, for tiny problems, all plans that place the
// same pods for less than some floor, and holds them against verify.Plan: below
// LowerBound there is none. Below PackingBound there are some, or the test would
// prove nothing.
func TestLowerBoundOfAllPlans(t *testing.T) {
	t.Parallel()
	cheaper, tight := 0, 0
	for seed := range lawSeeds(800, 150) {
		r := newTinyProblem(seed)
		for _, opts := range []*provisioning.Options{nil, {Preferences: provisioning.Ignore, NodeFee: 0.05}}[:1+seed%2] {
			plan := solved(t, r.in, opts)
			require.LessOrEqual(t, plan.LowerBound, plan.PackingBound, "seed %d", seed)
			require.LessOrEqual(t, plan.PackingBound, plan.Cost, "seed %d", seed)
			if plan.LowerBound > 0.999*plan.Cost && plan.Cost > 0 {
				tight++
			}
			e := &enumeration{in: r.in, opts: opts, like: plan}
			if found := e.cheaperThan(plan.LowerBound); found != nil {
				t.Fatalf("seed %d: LowerBound is %v, and this plan costs %v:\n%s", seed, plan.LowerBound, found.Cost, sketch(found))
			}
			if seed%4 == 0 && e.cheaperThan(plan.PackingBound) != nil {
				cheaper++
			}
		}
	}
	require.Greater(t, tight, enough(20))
	require.Greater(t, cheaper, enough(0))
}

// TestLowerBoundKnowsOtherDomains: four small pods spread over two zones take two
// nodes, and would fit on one, as a zone without nodes does not count.
func TestLowerBoundKnowsOtherDomains(t *testing.T) {
	in := provisioning.Input{NodePools: []*v1.NodePool{scenes.Pool("general")}}
	in.InstanceTypes = map[string][]*cloudprovider.InstanceType{"general": {scenes.Type("m", "cpu=4, memory=8Gi, pods=20", 0.2, "linux")}}
	workload(&in, "web", 4, 750, map[string]string{"app": "web"}, func(p *corev1.Pod) {
		scenes.Spread(p, corev1.LabelTopologyZone, 1, selects("web"))
	})
	plan := solvedInFull(t, in)
	require.Len(t, plan.Create, 2)
	require.InDelta(t, 0.2, plan.Cost, 1e-9)
	require.InDelta(t, 0.1, plan.LowerBound, 1e-6, "one node for all")
	require.InDelta(t, 0.2, plan.PackingBound, 1e-6, "one in each zone")
	require.InDelta(t, 1, plan.Gap(), 1e-5)
	for _, p := range in.Pods {
		p.Spec.TopologySpreadConstraints = nil
	}
	plan = solvedInFull(t, in)
	require.Equal(t, plan.PackingBound, plan.LowerBound, "nothing but nodes to choose")
}

// TestBoundsKnowZones: pods of one zone share no node with pods of another, and nodes are whole. A node
// has room for 4 CPU and costs 0.24 USD/h.
func TestBoundsKnowZones(t *testing.T) {
	type group struct {
		zone            string // empty for any
		count, milliCPU int
	}
	for name, tt := range map[string]struct {
		groups []group
		nodes  float64
	}{
		"one pod beside whole nodes of another zone": {[]group{{"a", 3, 2000}, {"b", 1, 2000}}, 3},
		"half a node over in each zone":              {[]group{{"a", 3, 2000}, {"b", 3, 2000}}, 4},
		"three thirds of a node":                     {[]group{{"a", 5, 1000}, {"b", 3, 1000}}, 3},
		"pods of any zone do not hide it":            {[]group{{"a", 3, 2000}, {"b", 1, 2000}, {"", 3, 500}}, 3},
		"nor do they where they fill both":           {[]group{{"a", 1, 2500}, {"b", 1, 2500}, {"", 1, 1000}}, 2},
	} {
		in := provisioning.Input{NodePools: []*v1.NodePool{scenes.Pool("general")}}
		in.InstanceTypes = map[string][]*cloudprovider.InstanceType{"general": {scenes.Type("m", "cpu=4100m, memory=8Gi, pods=20", 0.48, "linux")}}
		for i, g := range tt.groups {
			workload(&in, fmt.Sprintf("group-%d", i), g.count, g.milliCPU, nil, func(p *corev1.Pod) {
				if g.zone != "" {
					p.Spec.NodeSelector = map[string]string{corev1.LabelTopologyZone: g.zone}
				}
			})
		}
		plan := solvedInFull(t, in)
		require.InDelta(t, 0.24*tt.nodes, plan.Cost, 1e-9, name)
		require.InDelta(t, plan.Cost, plan.PackingBound, 1e-9, name)
		require.InDelta(t, plan.Cost, plan.LowerBound, 1e-9, name)
	}
}

// TestRichLawBounds: of rich problems, each plan costs at least what the bounds of
// all plans for the same pods say, however these came about.
func TestRichLawBounds(t *testing.T) {
	t.Parallel()
	compared, below := 0, 0
	for seed := range lawSeeds(1_200, 150) {
		in, opts := richProblem(seed, everything)
		for _, pool := range in.NodePools {
			pool.Spec.Weight = nil // options that make pods go to lower weights would open other choices
		}
		var plans []*provisioning.Plan
		for i, change := range []func(o *provisioning.Options){
			func(*provisioning.Options) {},
			func(o *provisioning.Options) { o.Preferences = provisioning.Ignore },
			func(o *provisioning.Options) { o.MaxSteps = 1 },
			func(o *provisioning.Options) { o.NodeFee = 1 },
			func(o *provisioning.Options) { o.SpotFlexibility = 3 },
		} {
			other := *opts
			change(&other)
			plan := solved(t, in, &other)
			require.GreaterOrEqual(t, plan.LowerBound, 0.0, "seed %d, change %d", seed, i)
			require.LessOrEqual(t, plan.LowerBound, plan.PackingBound, "seed %d, change %d", seed, i)
			require.LessOrEqual(t, plan.PackingBound, plan.Cost, "seed %d, change %d", seed, i)
			if plan.LowerBound < plan.PackingBound {
				below++
			}
			plans = append(plans, plan)
		}
		for i, a := range plans {
			for j, b := range plans {
				// A CapacityMix goes by which pods are alike, and so by preferences.
				if i == j || opts.CapacityMix != nil || !slices.Equal(left(a), left(b)) || !slices.Equal(leftOfBuffers(a), leftOfBuffers(b)) {
					continue
				}
				compared++
				require.LessOrEqual(t, a.LowerBound, b.Cost*(1+1e-9), "seed %d: the bound of change %d, the cost of change %d", seed, i, j)
			}
		}
	}
	require.Greater(t, compared, enough(500))
	require.Greater(t, below, enough(50))
}

// leftOfBuffers lists how many pods of each buffer have no place.
func leftOfBuffers(plan *provisioning.Plan) []int {
	var out []int
	for _, b := range plan.Buffers {
		out = append(out, b.Unplaced)
	}
	return out
}

// enumeration tries all plans for the pods that one plan places.
type enumeration struct {
	in      provisioning.Input
	opts    *provisioning.Options
	like    *provisioning.Plan
	pods    []*corev1.Pod
	options []choice
	below   float64
	at      []int // by pod: its group
	groups  []group
	found   *provisioning.Plan
}

// choice is one way to launch a node.
type choice struct {
	pool   int
	option cloudprovider.LaunchOption
	free   resources.List
}

// group is pods on one node.
type group struct {
	pods  []*corev1.Pod
	sum   resources.List
	node  int // that exists, -1 for a new one
	which int // of the choices
}

// cheaperThan returns a valid plan that costs less, nil if there is none. A node
// of one option is a node of the fewest surprises: what is valid with more is
// valid with the cheapest of them alone.
func (e *enumeration) cheaperThan(floor float64) *provisioning.Plan {
	e.below, e.found, e.groups = floor*(1-1e-9)-1e-12, nil, nil
	e.pods = slices.Clone(e.like.Order)
	slices.SortFunc(e.pods, func(a, b *corev1.Pod) int { return strings.Compare(a.Name, b.Name) })
	e.at = make([]int, len(e.pods))
	e.options = nil
	for i, pool := range e.in.NodePools {
		for _, it := range e.in.InstanceTypes[pool.Name] {
			free, _ := it.Allocatable()
			for j := range it.Offerings {
				if it.Offerings[j].Available {
					e.options = append(e.options, choice{i, cloudprovider.LaunchOption{InstanceType: it, Offering: &it.Offerings[j]}, free})
				}
			}
		}
	}
	if e.below > 0 {
		e.place(0, 0)
	}
	return e.found
}

// place puts the next pod with a group that is there, or begins a group.
func (e *enumeration) place(next int, cost float64) {
	if e.found != nil {
		return
	}
	if next == len(e.pods) {
		e.judge(cost)
		return
	}
	pod := e.pods[next]
	want, _ := resources.PodRequests(pod)
	// Pods that are alike go to groups in their order: the rest is the same again.
	first := 0
	alike := next > 0 && e.pods[next-1].Labels["app"] == pod.Labels["app"]
	if alike {
		first = e.at[next-1]
	}
	for i := first; i < len(e.groups); i++ {
		e.at[next] = i
		g := &e.groups[i]
		before := *g
		sum, _ := g.sum.Add(want)
		if g.node >= 0 || sum.Fits(e.options[g.which].free) {
			g.sum, g.pods = sum, append(slices.Clone(g.pods), pod)
			e.place(next+1, cost)
			e.groups[i] = before
		}
	}
	begin := func(g group, price float64) {
		if alike {
			if last := e.groups[e.at[next-1]]; len(last.pods) == 1 && last.pods[0] == e.pods[next-1] && (g.node > last.node || g.node == last.node && g.which < last.which) {
				return
			}
		}
		if e.found == nil && cost+price < e.below {
			e.at[next] = len(e.groups)
			g.pods, g.sum = []*corev1.Pod{pod}, want
			e.groups = append(e.groups, g)
			e.place(next+1, cost+price)
			e.groups = e.groups[:len(e.groups)-1]
		}
	}
	for i := range e.in.Nodes {
		if !slices.ContainsFunc(e.groups, func(g group) bool { return g.node == i }) {
			begin(group{node: i}, 0)
		}
	}
	for i := range e.options {
		if want.Fits(e.options[i].free) {
			begin(group{node: -1, which: i}, e.options[i].option.Offering.Price)
		}
	}
}

// judge asks the referee about the groups, in each order of binding.
func (e *enumeration) judge(cost float64) {
	for _, g := range e.groups {
		if g.node >= 0 {
			continue
		}
		pool := e.options[g.which].pool
		takes := func(pod *corev1.Pod) bool { return e.heavierTakes(pod, pool) }
		suits := func(pod *corev1.Pod) bool { return e.heavierSuits(pod, pool, false) }
		if slices.ContainsFunc(g.pods, takes) && !slices.ContainsFunc(g.pods, func(pod *corev1.Pod) bool { return !suits(pod) }) {
			return // nor is the node launched for a pod that no heavier pool can take
		}
	}
	plan := &provisioning.Plan{Unplaced: e.like.Unplaced, Cost: cost, Stats: e.like.Stats}
	for i, g := range e.groups {
		if g.node >= 0 {
			plan.Bind = append(plan.Bind, provisioning.Binding{Node: e.in.Nodes[g.node].Name(), Pods: g.pods})
			continue
		}
		c := &e.options[g.which]
		plan.Create = append(plan.Create, provisioning.NewNode{
			Name: fmt.Sprint("new-", i), Pool: e.in.NodePools[c.pool], Pods: g.pods, Requests: g.sum,
			Requirements: requirements.Set{}, Options: []cloudprovider.LaunchOption{c.option},
		})
	}
	plan.Order = e.pods
	// Only what depends on turns may be right in another order.
	hopeless := func(v verify.Violation) bool {
		return !slices.Contains([]verify.Rule{verify.RuleSpread, verify.RuleAffinity}, v.Rule) && !formal(v)
	}
	if found := verify.Plan(e.in, plan, e.opts); !slices.ContainsFunc(found, hopeless) {
		e.permute(plan, slices.Clone(e.pods), 0)
	}
}

// heavierTakes says whether a pod can always go to a pool of more weight than one:
// nothing limits that, and nobody else has a say in where the pod goes.
func (e *enumeration) heavierTakes(pod *corev1.Pod, pool int) bool {
	spec := &pod.Spec
	respect := e.opts == nil || e.opts.Preferences != provisioning.Ignore
	spread := slices.ContainsFunc(spec.TopologySpreadConstraints, func(c corev1.TopologySpreadConstraint) bool {
		return respect || c.WhenUnsatisfiable == corev1.DoNotSchedule
	})
	if spread || respect && spec.Affinity != nil && spec.Affinity.NodeAffinity != nil || e.concerned(pod) {
		return false
	}
	return e.heavierSuits(pod, pool, true)
}

// heavierSuits says whether a pool of more weight than one has an option for a pod, or
// one that it can always launch.
func (e *enumeration) heavierSuits(pod *corev1.Pod, pool int, always bool) bool {
	spec := &pod.Spec
	want, _ := resources.PodRequests(pod)
	return slices.ContainsFunc(e.options, func(c choice) bool {
		heavier, this := e.in.NodePools[c.pool], e.in.NodePools[pool]
		zone, pinned := spec.NodeSelector[corev1.LabelTopologyZone]
		return heavier.Spec.Weight != nil && this.Spec.Weight == nil &&
			(len(heavier.Spec.Template.Spec.Taints) == 0 || len(spec.Tolerations) > 0) &&
			(!pinned || zone == c.option.Offering.Zone) && want.Fits(c.free) &&
			(!always || heavier.Spec.Limits == nil && c.option.Offering.ReservationID == "")
	})
}

// concerned says whether a pod has, or is meant by, an affinity, or an
// anti-affinity over more than the name of a node.
func (e *enumeration) concerned(pod *corev1.Pod) bool {
	return slices.ContainsFunc(e.in.Pods, func(p *corev1.Pod) bool {
		var terms []corev1.PodAffinityTerm
		if a := p.Spec.Affinity; a != nil && a.PodAffinity != nil {
			terms = append(terms, a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution...)
		}
		if a := p.Spec.Affinity; a != nil && a.PodAntiAffinity != nil {
			for _, t := range a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution {
				if t.TopologyKey != corev1.LabelHostname {
					terms = append(terms, t)
				}
			}
		}
		return slices.ContainsFunc(terms, func(t corev1.PodAffinityTerm) bool {
			return p == pod || t.LabelSelector.MatchLabels["app"] == pod.Labels["app"]
		})
	})
}

func (e *enumeration) permute(plan *provisioning.Plan, order []*corev1.Pod, at int) {
	if e.found != nil {
		return
	}
	if at >= len(order)-1 {
		plan.Order = order
		if !slices.ContainsFunc(verify.Plan(e.in, plan, e.opts), func(v verify.Violation) bool { return !formal(v) }) {
			e.found = plan
		}
		return
	}
	for i := at; i < len(order); i++ {
		again := slices.Clone(order)
		again[at], again[i] = again[i], again[at]
		e.permute(plan, again, at+1)
	}
}

// formal says whether a violation is one of form.
func formal(v verify.Violation) bool {
	return v.Rule == verify.RuleOrder || v.Rule == verify.RuleAccounts || v.Rule == verify.RuleReason
}

func sketch(plan *provisioning.Plan) string {
	out := ""
	for _, n := range plan.Create {
		out += fmt.Sprintf("%s %s %s/%s/%s:", n.Name, n.Pool.Name, n.Options[0].InstanceType.Name, n.Options[0].Offering.Zone, n.Options[0].Offering.CapacityType)
		for _, p := range n.Pods {
			out += " " + p.Name
		}
		out += "\n"
	}
	for _, b := range plan.Bind {
		out += b.Node + ":"
		for _, p := range b.Pods {
			out += " " + p.Name
		}
		out += "\n"
	}
	return out
}

// TestGapCountsTheFee: a fee for nodes is part of what plans are compared by, and so
// of how far one is from the best.
func TestGapCountsTheFee(t *testing.T) {
	in := scenes.Generic(40, 300)
	for _, fee := range []float64{0.001, 0.05, 1, 20} {
		opts := &provisioning.Options{NodeFee: fee}
		plan := solved(t, in, opts)
		require.Empty(t, verify.Plan(in, plan, opts))
		objective := plan.Cost + fee*float64(len(plan.Create))
		require.InDelta(t, objective/plan.ObjectiveBound-1, plan.Gap(), 1e-9)
		require.Less(t, plan.Gap(), 0.25, "fee %v: %v USD/h, %d nodes", fee, plan.Cost, len(plan.Create))
	}
}

// TestLawObjectiveBound: no plan for the same pods is below the bound of another, with
// whatever fee it was made.
func TestLawObjectiveBound(t *testing.T) {
	t.Parallel()
	fees, compared := []float64{0, 0.01, 0.3, 5}, 0
	for seed := range lawSeeds(500, 100) {
		in, opts := richProblem(seed, everything)
		var plans []*provisioning.Plan
		for _, fee := range fees {
			own := *opts
			own.NodeFee = fee
			plans = append(plans, solved(t, in, &own))
			require.Empty(t, verify.Plan(in, plans[len(plans)-1], &own), "seed %d", seed)
		}
		for i, plan := range plans {
			for _, other := range plans {
				if len(plan.Unplaced)+len(other.Unplaced) > 0 {
					continue
				}
				compared++
				objective := other.Cost + fees[i]*float64(len(other.Create))
				require.LessOrEqual(t, plan.ObjectiveBound, objective*(1+1e-9)+1e-9, "seed %d, fee %v", seed, fees[i])
			}
			if fees[i] == 0 {
				require.Equal(t, plan.LowerBound, plan.ObjectiveBound, "seed %d", seed)
			}
		}
	}
	require.Greater(t, compared, enough(50))
}

// tinyProblem is small enough for all plans to be tried: up to four pods of two
// workloads, with all constraints that pods can have towards each other; up to
// two nodes that exist; one or two pools; two or three instance types in two
// zones, some of them reserved.
type tinyProblem struct {
	shuffler
	in provisioning.Input
}

func (r *tinyProblem) chance(percent int) bool { return r.below(100) < percent }

func newTinyProblem(seed uint64) *tinyProblem {
	r := &tinyProblem{shuffler: shuffler{state: seed*2654435761 + 12345}}
	r.below(2) // seeds that are neighbours drift apart
	types := r.types()
	r.in.InstanceTypes = map[string][]*cloudprovider.InstanceType{}
	for i := range 1 + r.below(2) {
		pool := scenes.Pool(fmt.Sprintf("pool-%d", i))
		if r.chance(20) {
			pool.Spec.Limits = v1.Limits(resources.MustParse(fmt.Sprintf("cpu=%d", 2+r.below(7))).ResourceList())
		}
		if i > 0 && r.chance(30) {
			weight := int32(10)
			pool.Spec.Weight = &weight
		}
		if i > 0 && r.chance(30) {
			pool.Spec.Template.Spec.Taints = []corev1.Taint{{Key: "dedicated", Value: "x", Effect: corev1.TaintEffectNoSchedule}}
		}
		r.in.NodePools = append(r.in.NodePools, pool)
		r.in.InstanceTypes[pool.Name] = types[r.below(2):]
	}
	for i := range r.below(3) {
		r.in.Nodes = append(r.in.Nodes, r.node(fmt.Sprintf("node-%d", i)))
	}
	for w, n := range [][2]int{{1, 3}, {2, 2}, {3, 1}, {4, 0}, {2, 1}}[r.below(5)] {
		r.workload(string(rune('a'+w)), n)
	}
	return r
}

func (r *tinyProblem) types() []*cloudprovider.InstanceType {
	var out []*cloudprovider.InstanceType
	for i, cpu := range []int{2, 4, 8}[:2+r.below(2)] {
		t := scenes.Type(fmt.Sprintf("type-%d", i), fmt.Sprintf("cpu=%d, memory=%dGi, pods=%d", cpu, 2*cpu, 3+r.below(4)), 1, "linux")
		t.Offerings = nil
		for _, zone := range []string{"a", "b"} {
			price := 0.05 * float64(cpu) * float64(70+r.below(60)) / 100
			t.Offerings = append(t.Offerings, cloudprovider.Offering{Zone: zone, CapacityType: "on-demand", Price: price, Available: r.chance(85)})
			if r.chance(40) {
				t.Offerings = append(t.Offerings, cloudprovider.Offering{Zone: zone, CapacityType: "spot", Price: price * 0.6, Available: true})
			}
		}
		if r.chance(25) {
			t.Requirements = t.Requirements.Without(v1.CapacityTypeLabelKey).With(requirements.In(v1.CapacityTypeLabelKey, "on-demand", "spot", "reserved"))
			t.Offerings = append(t.Offerings, cloudprovider.Offering{
				Zone: "a", CapacityType: v1.CapacityTypeReserved, Price: 0.001 * float64(1+r.below(20)), Available: true,
				ReservationID: fmt.Sprintf("r-%d", i), ReservationCapacity: 1 + r.below(2),
			})
		}
		out = append(out, t)
	}
	return out
}

func (r *tinyProblem) node(name string) provisioning.Node {
	node := scenes.Node(name, map[string]string{
		corev1.LabelTopologyZone: string(rune('a' + r.below(2))), v1.CapacityTypeLabelKey: "on-demand",
	})
	n := provisioning.Node{Node: node}
	for i := range r.below(3) {
		pod := scenes.Pod(fmt.Sprintf("%s-bound-%d", name, i), fmt.Sprintf("%dm", 200+100*r.below(6)), "256Mi")
		pod.Labels = map[string]string{"app": string(rune('a' + r.below(2)))}
		pod.Spec.NodeName = name
		if r.chance(15) {
			r.apart(pod, corev1.LabelHostname, "a")
		}
		n.Pods = append(n.Pods, pod)
	}
	return n
}

// workload adds pods that are alike.
func (r *tinyProblem) workload(app string, n int) {
	model := scenes.Pod(app, fmt.Sprintf("%dm", 200+150*r.below(16)), fmt.Sprintf("%dMi", 256*(1+r.below(8))))
	model.Labels = map[string]string{"app": app}
	if r.chance(50) {
		r.spread(model, corev1.LabelTopologyZone, app)
	}
	if r.chance(20) {
		r.spread(model, corev1.LabelHostname, app)
	}
	if r.chance(10) {
		r.spread(model, v1.CapacityTypeLabelKey, app)
	}
	if r.chance(15) {
		r.apart(model, []string{corev1.LabelHostname, corev1.LabelTopologyZone}[r.below(2)], string(rune('a'+r.below(2))))
	}
	if r.chance(15) {
		r.together(model, []string{corev1.LabelHostname, corev1.LabelTopologyZone}[r.below(2)], string(rune('a'+r.below(2))))
	}
	if r.chance(15) {
		model.Spec.NodeSelector = map[string]string{corev1.LabelTopologyZone: string(rune('a' + r.below(2)))}
	}
	if r.chance(20) {
		model.Spec.Tolerations = []corev1.Toleration{{Key: "dedicated", Operator: corev1.TolerationOpExists}}
	}
	if r.chance(10) {
		model.Spec.Containers[0].Ports = []corev1.ContainerPort{{HostPort: 80, ContainerPort: 80, Protocol: corev1.ProtocolTCP}}
	}
	if r.chance(20) {
		r.prefer(model)
	}
	for i := range n {
		pod := model.DeepCopy()
		pod.Name = fmt.Sprintf("%s-%d", app, i)
		r.in.Pods = append(r.in.Pods, pod)
	}
}

func selects(app string) *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}}
}

func (r *tinyProblem) spread(pod *corev1.Pod, key, app string) {
	scenes.Spread(pod, key, int32(1+r.below(2)), selects(app), func(c *corev1.TopologySpreadConstraint) {
		if r.chance(15) {
			c.MinDomains = new(int32(2))
		}
		if r.chance(15) {
			c.WhenUnsatisfiable, c.MinDomains = corev1.ScheduleAnyway, nil
		}
	})
}

func (r *tinyProblem) apart(pod *corev1.Pod, key, app string) {
	scenes.Avoid(pod, corev1.PodAffinityTerm{TopologyKey: key, LabelSelector: selects(app)})
}

func (r *tinyProblem) together(pod *corev1.Pod, key, app string) {
	scenes.Follow(pod, corev1.PodAffinityTerm{TopologyKey: key, LabelSelector: selects(app)})
}

func (r *tinyProblem) prefer(pod *corev1.Pod) {
	if pod.Spec.Affinity == nil {
		pod.Spec.Affinity = &corev1.Affinity{}
	}
	pod.Spec.Affinity.NodeAffinity = &corev1.NodeAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.PreferredSchedulingTerm{{
		Weight: 100,
		Preference: corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{
			{Key: corev1.LabelTopologyZone, Operator: corev1.NodeSelectorOpIn, Values: []string{string(rune('a' + r.below(2)))}},
		}},
	}}}
}
