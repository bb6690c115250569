package disruption_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/disruption"
	"github.com/dovetail-sdk/dovetail/internal/testlong"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/verify"
)

// cluster returns a random cluster of two pools, one of them tainted, in three zones, with
// on-demand and spot nodes. Some pods have a topology spread over zones, some anti-affinity,
// some ask for a zone. Budgets are of all kinds.
func (m *maker) cluster(most int) disruption.Input {
	var types []*cloudprovider.InstanceType
	for i, cpu := range []int64{2, 4, 8, 16} {
		price := float64(cpu) * (0.04 + 0.02*m.Float64())
		var offerings []cloudprovider.Offering
		for _, zone := range []string{"a", "b", "c"} {
			offerings = append(offerings, onDemand(zone, price), spot(zone, price*(0.3+0.4*m.Float64())))
		}
		types = append(types, sizedType(fmt.Sprintf("t%d", i), cpu, price, offerings...))
	}
	in := fleetOf(types)
	taint := corev1.Taint{Key: "team", Value: "x", Effect: corev1.TaintEffectNoSchedule}
	in.NodePools = append(in.NodePools, newPool("tainted", func(p *v1.NodePool) { p.Spec.Template.Spec.Taints = []corev1.Taint{taint} }))
	in.InstanceTypes["tainted"] = types
	for _, p := range in.NodePools {
		if m.chance(50) {
			budgetOf(pick(m, "1", "2", "30%", "100%"))(p)
		}
		if m.chance(20) {
			p.Spec.Disruption.ConsolidationPolicy = v1.ConsolidationPolicyBalanced
		}
	}
	next := 0
	for i := range 2 + m.IntN(most) {
		in.Nodes = append(in.Nodes, m.host(fmt.Sprintf("n%02d", i), pick(m, "default", "default", "tainted"), pick(m, types...), taint, &next))
	}
	for _, app := range []string{"web", "api", "db"} {
		if m.chance(40) {
			in.PodDisruptionBudgets = append(in.PodDisruptionBudgets, newPDB(app, int32(m.IntN(3)+m.IntN(2))))
			in.PodDisruptionBudgets[len(in.PodDisruptionBudgets)-1].Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}}
		}
	}
	if m.chance(30) {
		in.Pods = append(in.Pods, load("waiting", 1500))
	}
	return in
}

// host returns a node with random pods.
func (m *maker) host(name, pool string, t *cloudprovider.InstanceType, taint corev1.Taint, next *int) provisioning.Node {
	zone := pick(m, "a", "b", "c")
	n := with(machine(name, pool, t), withLabel(corev1.LabelTopologyZone, zone),
		withLabel(v1.CapacityTypeLabelKey, pick(m, v1.CapacityTypeOnDemand, v1.CapacityTypeSpot)))
	var tolerations []corev1.Toleration
	if pool == "tainted" {
		n.Node.Spec.Taints = []corev1.Taint{taint}
		tolerations = []corev1.Toleration{{Key: "team", Operator: corev1.TolerationOpExists}}
	}
	free := t.Capacity.Get(corev1.ResourceCPU)
	apart := map[string]bool{}
	for range m.IntN(6) {
		size := 100 * (1 + m.Int64N(20))
		app := pick(m, "web", "api", "db")
		if size > free {
			continue
		}
		*next++
		p := load(fmt.Sprintf("%s-%d", app, *next), size)
		p.Labels = map[string]string{"app": app}
		p.Spec.NodeName, p.Spec.Tolerations = name, tolerations
		selector := &metav1.LabelSelector{MatchLabels: p.Labels}
		switch {
		case m.chance(15):
			p.Spec.NodeSelector = map[string]string{corev1.LabelTopologyZone: zone}
		case m.chance(10) && !apart[app]:
			apart[app] = true
			p.Labels = map[string]string{"app": app, "apart": app}
			p.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{
				TopologyKey: corev1.LabelHostname, LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"apart": app}}}}}}
		case m.chance(15):
			p.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{MaxSkew: 1, TopologyKey: corev1.LabelTopologyZone,
				WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: selector}}
		}
		free -= size
		n.Pods = append(n.Pods, p)
	}
	return n
}

// mustHold checks the places of pods, the savings and the budgets of a proposal.
func mustHold(t testing.TB, in disruption.Input, p *disruption.Proposal) {
	t.Helper()
	nodes := map[string]provisioning.Node{}
	used := map[string]int64{}
	for _, n := range in.Nodes {
		nodes[n.Name()] = n
		for _, pod := range n.Pods {
			used[n.Name()] += pod.Spec.Containers[0].Resources.Requests.Cpu().MilliValue()
		}
	}
	gone := map[string]bool{}
	perPool := map[string]int{}
	for _, a := range p.Actions {
		for _, target := range a.Targets {
			require.False(t, gone[target.Node], "%s goes twice", target.Node)
			gone[target.Node] = true
			perPool[target.NodePool]++
		}
	}
	for _, a := range p.Actions {
		if !a.Simulated {
			continue
		}
		if a.Reason == disruption.Underutilized {
			require.Positive(t, a.Savings, a)
		}
		moved := map[string]bool{}
		load := make([]int64, len(a.Replacements))
		for _, move := range a.Moves {
			moved[move.Pod.Name] = true
			cpu := move.Pod.Spec.Containers[0].Resources.Requests.Cpu().MilliValue()
			if move.Node == "" {
				load[move.Replacement] += cpu
				continue
			}
			require.False(t, gone[move.Node], "%s goes to %s, which goes", move.Pod.Name, move.Node)
			n := nodes[move.Node]
			used[move.Node] += cpu
			for key, value := range move.Pod.Spec.NodeSelector {
				require.Equal(t, value, n.Node.Labels[key], "%s on %s", move.Pod.Name, move.Node)
			}
			require.True(t, len(n.Node.Spec.Taints) == 0 || len(move.Pod.Spec.Tolerations) > 0, "%s on %s", move.Pod.Name, move.Node)
		}
		for _, target := range a.Targets {
			for _, pod := range nodes[target.Node].Pods {
				require.True(t, moved[pod.Name], "%s of %s has no place", pod.Name, target.Node)
			}
		}
		for i, n := range a.Replacements {
			for _, o := range n.Options {
				require.LessOrEqual(t, load[i], o.InstanceType.Capacity.Get(corev1.ResourceCPU))
			}
		}
	}
	for name, cpu := range used {
		require.LessOrEqual(t, cpu, nodes[name].Node.Status.Allocatable.Cpu().MilliValue(), "%s is overfull", name)
	}
	for _, pool := range in.NodePools {
		for _, b := range pool.Spec.Disruption.Budgets {
			most := map[string]int{"1": 1, "2": 2}[b.Nodes]
			if most > 0 {
				require.LessOrEqual(t, perPool[pool.Name], most)
			}
		}
	}
}

func TestProposalsComeToRest(t *testing.T) {
	testlong.Alone(t)
	t.Parallel()
	n := int(testlong.Problems(20, 1))
	saved := 0
	for seed := range n {
		in := newMaker(uint64(1000 + seed)).cluster(14)
		var before float64
		rest := quiet(t, in, anySaving(), func(_ time.Time, in disruption.Input, p *disruption.Proposal) {
			mustHold(t, in, p)
			require.LessOrEqual(t, p.CostAfter, p.CostBefore+1e-9)
			if before != 0 {
				require.LessOrEqual(t, p.CostBefore, before+1e-9, "seed %d", seed)
			}
			before = p.CostBefore
			if p.CostAfter < p.CostBefore {
				saved++
			}
		})
		again, _, err := disruption.Propose(t.Context(), noon.Add(300*time.Hour), rest, anySaving())
		require.NoError(t, err)
		require.Empty(t, again.Actions, "seed %d: a second run finds nothing", seed)
	}
	require.Greater(t, saved, n/4, "the random clusters have too few savings to test")
}

// text returns a proposal as text.
func text(t testing.TB, p *disruption.Proposal) string {
	t.Helper()
	type brief struct {
		Actions []disruption.Action
		Names   []string
		Waiting []string
		Blocked []disruption.Blocked
		Next    time.Time
		Costs   []float64
		Stats   disruption.SearchStats
	}
	b := brief{Blocked: p.Blocked, Next: p.Next, Costs: []float64{p.CostBefore, p.CostAfter}, Stats: p.Stats, Names: deeds(p.Actions)}
	for _, w := range p.Waiting {
		b.Waiting = append(b.Waiting, w.Action.String()+w.Why)
	}
	for _, a := range p.Actions {
		for _, m := range a.Moves {
			b.Names = append(b.Names, fmt.Sprint(m.Pod.Name, m.From, m.Node, m.Replacement))
		}
		a.Replacements, a.Moves = nil, nil
		b.Actions = append(b.Actions, a)
	}
	out, err := json.Marshal(b)
	require.NoError(t, err)
	return string(out)
}

// parallel returns options with which n goroutines work on a proposal.
func parallel(opts *disruption.Options, n int) *disruption.Options {
	var out disruption.Options
	if opts != nil {
		out = *opts
	}
	var engine provisioning.Options
	if out.Provisioning != nil {
		engine = *out.Provisioning
	}
	engine.Parallel = n
	out.Provisioning = &engine
	return &out
}

// A proposal depends neither on the order of its input nor on the number of goroutines.
func TestProposalsDoNotDependOnOrder(t *testing.T) {
	t.Parallel()
	n := 60
	if !testlong.On() {
		n = 8
	}
	for seed := range n {
		m := newMaker(uint64(seed))
		in := m.cluster(20)
		want := text(t, propose(t, in, parallel(nil, 1)))
		require.Equal(t, want, text(t, propose(t, m.shuffle(in), parallel(nil, 1+seed%3))), "seed %d", seed)
	}
}

func TestProposeTakesAnyInput(t *testing.T) {
	n := rounds() / 4
	if !testlong.On() {
		n = 20
	}
	for seed := range n {
		m := newMaker(uint64(seed))
		in, opts := m.input()
		if m.chance(30) {
			m.spoil(&in)
		}
		before, err := json.Marshal(in.Nodes)
		require.NoError(t, err)
		p, _, err := disruption.Propose(t.Context(), noon, in, parallel(opts, 1))
		require.NoError(t, err)
		after, err := json.Marshal(in.Nodes)
		require.NoError(t, err)
		require.Equal(t, string(before), string(after), "the input is not changed")
		for _, a := range p.Actions {
			objectionsTo(t, noon, in, a, opts)
		}
		again, _, err := disruption.Propose(t.Context(), noon, m.shuffle(in), parallel(opts, 1+seed%3))
		require.NoError(t, err)
		require.Equal(t, places.ReplaceAllString(text(t, p), "[]"), places.ReplaceAllString(text(t, again), "[]"), "seed %d", seed)
	}
}

// places matches the indexes of lists in a message: a shuffle of the input changes them.
var places = regexp.MustCompile(`\[\d+\]`)

// A proposal mentions every node: in an action, among the waiting ones or among the blocked.
func TestEveryNodeIsSpokenOf(t *testing.T) {
	n := rounds() / 4
	if !testlong.On() {
		n = 40
	}
	emptyStatic := 0
	for seed := range n {
		m := newMaker(uint64(seed))
		in, opts := m.input()
		if seed%2 == 0 {
			in, opts = m.mixed(10)
		}
		p, faults, err := disruption.Propose(t.Context(), noon, in, opts)
		require.NoError(t, err)
		if len(faults) > 0 {
			continue
		}
		spoken := map[string]bool{}
		for _, a := range p.Actions {
			for _, target := range a.Targets {
				spoken[target.Node] = true
			}
		}
		for _, w := range p.Waiting {
			for _, target := range w.Targets {
				spoken[target.Node] = true
			}
		}
		for _, b := range p.Blocked {
			spoken[b.Node] = true
			if b.Method == disruption.MethodEmptiness && disruption.RuleOf(b) == "Static" {
				emptyStatic++
			}
		}
		for _, node := range in.Nodes {
			require.True(t, spoken[node.Name()], "seed %d: the proposal does not mention %s", seed, node.Name())
		}
	}
	require.Positive(t, emptyStatic)
}

// TestFewCandidatesOfALargeCluster proposes for a cluster with six candidates: it takes few
// simulations, and saves as much on 2000 nodes as on 100.
func TestFewCandidatesOfALargeCluster(t *testing.T) {
	found := map[int]float64{}
	for _, nodes := range []int{100, 2000} {
		in := halfFull(nodes)
		for i := range in.Nodes[6:] {
			in.Nodes[6+i].Node.Annotations = map[string]string{v1.DoNotDisruptAnnotationKey: "true"}
		}
		p := propose(t, in, nil)
		require.Equal(t, 6, p.Stats.Candidates)
		require.LessOrEqual(t, p.Stats.Simulations, 20)
		found[nodes] = p.Savings()
	}
	require.Positive(t, found[100])
	require.InDelta(t, found[100], found[2000], 1e-9)
}

// byDefault removes the topology spreads of all pods and returns options with the same spread
// as a default. It adds a Service or a controller for each workload, whose selector says
// which pods the default spread counts.
func byDefault(in *disruption.Input, byService bool) *provisioning.Options {
	apps := map[string]bool{}
	for _, n := range in.Nodes {
		for _, p := range n.Pods {
			app := p.Labels["app"]
			p.Spec.TopologySpreadConstraints = nil
			p.OwnerReferences[0].UID = types.UID(app)
			if apps[app] {
				continue
			}
			apps[app] = true
			if byService {
				in.Services = append(in.Services, &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: p.Namespace, Name: app},
					Spec: corev1.ServiceSpec{Selector: map[string]string{"app": app}}})
			} else {
				in.Controllers = append(in.Controllers, provisioning.Controller{UID: types.UID(app),
					Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}}})
			}
		}
	}
	return &provisioning.Options{DefaultSpread: []corev1.TopologySpreadConstraint{
		{MaxSkew: 1, TopologyKey: corev1.LabelTopologyZone, WhenUnsatisfiable: corev1.DoNotSchedule}}}
}

// A default spread gives the same proposal as the same spread in the specs of the pods.
func TestDefaultSpreadIsReadAsThatOfPods(t *testing.T) {
	acted := 0
	for seed := range 8 {
		for _, byService := range []bool{true, false} {
			own, other := uneven(seed), uneven(seed)
			want := propose(t, own, anySaving())
			opts := anySaving()
			opts.Provisioning = byDefault(&other, byService)
			got := propose(t, other, opts)
			require.Equal(t, text(t, want), text(t, got), "seed %d", seed)
			acted += len(got.Actions)
			for _, a := range got.Actions {
				require.Empty(t, standsAlone(other, a, opts.Provisioning), "seed %d: %s", seed, a)
			}
		}
	}
	require.Greater(t, acted, 16)
}

// Explain names the spread that keeps a pod in its zone, also if it is a default spread.
func TestWhyNamesADefaultSpread(t *testing.T) {
	in := zonesOf(newPod("web-0", asking("500m"), ofApp("web")), newPod("web-1", asking("500m"), ofApp("web")))
	in.Nodes[0].Node.Annotations[v1.DoNotDisruptAnnotationKey] = "true"
	spare := zonesOf(newPod("spare", asking("10m"), ofApp("spare"))).Nodes[0] // this node can be removed; web-0 and web-1 keep their zones
	withLabel(corev1.LabelTopologyZone, "b")(&spare)
	spare.Node.Name, spare.NodeClaim.Name, spare.NodeClaim.Status.NodeName = "spare", "spare", "spare"
	spare.NodeClaim.Status.ProviderID, spare.Node.Spec.ProviderID = "cloud://spare", "cloud://spare"
	spare.Pods[0].Spec.NodeName = "spare"
	in.Nodes = append(in.Nodes, spare)
	opts := anySaving()
	opts.Provisioning = byDefault(&in, true)
	opts.Provisioning.DefaultSpread[0].MaxSkew = 3
	p := propose(t, in, opts)
	stay, err := p.Explain(t.Context(), in.Nodes[0].Name())
	require.NoError(t, err)
	var rules []verify.Rule
	for _, pod := range stay.Pods {
		for _, b := range pod.Conflicts {
			require.Contains(t, b.Detail, "it stays where topology.kubernetes.io/zone is a")
			rules = append(rules, b.Rule)
		}
	}
	require.Equal(t, []verify.Rule{verify.RuleSpread}, rules, "the other pod may change its zone: %v", stay)
}
