package disruption_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/disruption"
	"github.com/dovetail-sdk/dovetail/provisioning"
)

// decoder reads a small cluster from bytes: each choice takes one, and where there are
// none left it is the first. So any bytes are a cluster, and a change of one byte is a
// change of one thing.
type decoder struct{ left []byte }

// below returns a number from 0 to n-1.
func (d *decoder) below(n int) int {
	if len(d.left) == 0 {
		return 0
	}
	b := d.left[0]
	d.left = d.left[1:]
	return int(b) % n
}

func (d *decoder) word(list ...string) string { return list[d.below(len(list))] }

// once says yes to one byte in n, and no where there is none.
func (d *decoder) once(n int) bool { return d.below(n) == n-1 }

// cluster has up to two pools, eight nodes in three zones and four pods to a node.
func (d *decoder) cluster() (disruption.Input, *disruption.Options) {
	var types []*cloudprovider.InstanceType
	for i, cpu := range []int64{2, 4, 8} {
		price := float64(cpu) * (0.04 + 0.01*float64(d.below(3)))
		var offerings []cloudprovider.Offering
		for k, zone := range []string{"a", "b", "c"} {
			offerings = append(offerings, onDemand(zone, price), spot(zone, price*(0.4+0.1*float64(k))))
		}
		offerings[d.below(len(offerings))].Available = !d.once(4)
		types = append(types, sizedType(fmt.Sprintf("t%d", i), cpu, price, offerings...))
	}
	in := fleetOf(types)
	in.Drift, in.MarkedForDeletion = map[string]cloudprovider.Drift{}, map[string]disruption.Reason{}
	in.Nominations, in.PodEvents = map[string]time.Time{}, map[string]time.Time{}
	in.RepairPolicies = policies()
	if d.once(2) {
		in.NodePools = append(in.NodePools, newPool("other"))
		in.InstanceTypes["other"] = types[1:]
	}
	for i := range d.below(9) {
		in.Nodes = append(in.Nodes, d.node(&in, fmt.Sprintf("n%d", i), types))
	}
	for _, pool := range in.NodePools {
		d.pool(pool, in.Nodes)
	}
	for i := range d.below(3) {
		app := d.word("web", "api", "db")
		in.PodDisruptionBudgets = append(in.PodDisruptionBudgets, newPDB(fmt.Sprintf("%s-%d", app, i), int32(d.below(3))))
		in.PodDisruptionBudgets[i].Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}}
	}
	for i := range d.below(3) {
		in.Pods = append(in.Pods, d.pod(fmt.Sprintf("waiting-%d", i)))
	}
	return in, d.options()
}

func (d *decoder) options() *disruption.Options {
	opts := &disruption.Options{EvictAtOnce: d.once(4)}
	opts.Consolidation.MinimumScore = []float64{-1, 0, 0.2}[d.below(3)]
	opts.Consolidation.NoReplacements = d.once(6)
	opts.Consolidation.NoSpotToSpot = d.once(3)
	opts.Consolidation.SpotFloor = []int{-1, 0, 2}[d.below(3)]
	opts.Consolidation.MaxNodes = d.below(4)
	opts.Repair.Share = []float64{1, 0}[d.below(2)]
	if d.once(4) {
		opts.Provisioning = &provisioning.Options{DefaultSpread: []corev1.TopologySpreadConstraint{
			{MaxSkew: 1, TopologyKey: corev1.LabelTopologyZone, WhenUnsatisfiable: corev1.DoNotSchedule}}}
	}
	opts.Consolidation.HalveScoreAfter = time.Duration(d.below(3)) * 10 * time.Minute
	return opts
}

func (d *decoder) pool(p *v1.NodePool, all []provisioning.Node) {
	nodes, cpus := int64(0), int64(0)
	for _, n := range all {
		if n.Node.Labels[v1.NodePoolLabelKey] == p.Name {
			nodes, cpus = nodes+1, cpus+n.Node.Status.Capacity.Cpu().Value()
		}
	}
	switch d.below(5) {
	case 1:
		budgetOf("1")(p)
	case 2:
		budgetOf("30%")(p)
	case 3:
		budgetOf("2", v1.DisruptionReasonUnderutilized)(p)
	case 4:
		budgetOf("0", v1.DisruptionReasonDrifted)(p)
	}
	switch d.below(6) {
	case 1:
		p.Spec.Limits = v1.Limits{v1.ResourceNodes: *resource.NewQuantity(nodes+int64(d.below(2)), resource.DecimalSI)}
	case 2:
		p.Spec.Limits = v1.Limits{corev1.ResourceCPU: *resource.NewQuantity(cpus+int64(d.below(8)), resource.DecimalSI)}
	case 3:
		p.Spec.Disruption.ConsolidationPolicy = v1.ConsolidationPolicyBalanced
	case 4:
		p.Spec.Disruption.ConsolidationPolicy = v1.ConsolidationPolicyWhenEmpty
	case 5:
		p.Spec.Disruption.ConsolidateAfter = v1.NewDuration(time.Minute)
	}
}

func (d *decoder) node(in *disruption.Input, name string, types []*cloudprovider.InstanceType) provisioning.Node {
	pool := in.NodePools[d.below(len(in.NodePools))].Name
	n := with(machine(name, pool, types[d.below(len(types))]), withLabel(corev1.LabelTopologyZone, d.word("a", "b", "c")),
		withLabel(v1.CapacityTypeLabelKey, d.word(v1.CapacityTypeOnDemand, v1.CapacityTypeSpot)))
	for i := range d.below(5) {
		p := d.pod(fmt.Sprintf("%s-%d", name, i))
		p.Spec.NodeName = name
		n.Pods = append(n.Pods, p)
	}
	switch d.below(16) {
	case 8, 9, 10:
		in.Drift[n.NodeClaim.Name] = cloudprovider.Drift{Reason: "AMIDrift"}
	case 11:
		nodeCondition(corev1.NodeReady, corev1.ConditionFalse, "KubeletStopped", -time.Hour)(&n)
	case 12:
		in.MarkedForDeletion[name] = disruption.Drifted
	case 13:
		n.Node.Annotations[v1.DoNotDisruptAnnotationKey] = "true"
	case 14:
		in.PodEvents[name] = noon.Add(-time.Second)
	case 15:
		n.NodeClaim.Spec.ExpireAfter = v1.NewDuration(time.Hour)
	case 7:
		in.Nominations[name] = noon.Add(time.Minute)
	case 6:
		n.Node.Spec.Unschedulable = true
	case 5:
		n.NodeClaim.DeletionTimestamp = new(at(-time.Minute))
	}
	return n
}

// pod returns one of three workloads that are spread, kept together or kept apart.
func (d *decoder) pod(name string) *corev1.Pod {
	app := d.word("web", "api", "db")
	p := load(name, 200*int64(1+d.below(12)), ofApp(app))
	p.OwnerReferences[0].Name = app
	switch d.below(12) {
	case 1, 2:
		spreading(app, corev1.LabelTopologyZone)(p)
	case 3:
		spreading(app, corev1.LabelHostname)(p)
	case 4:
		bondedTo(app, false)(p)
	case 5:
		bondedTo(d.word("web", "api", "db"), true)(p)
	case 6:
		bondedTo(app, true)(p)
		p.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution[0].TopologyKey = corev1.LabelHostname
	case 7:
		p.Spec.NodeSelector = map[string]string{corev1.LabelTopologyZone: d.word("a", "b", "c")}
	case 8:
		p.Spec.Containers[0].Ports = []corev1.ContainerPort{{HostPort: 8080, ContainerPort: 8080}}
	case 9:
		note(v1.DoNotDisruptAnnotationKey, "true")(p)
	case 10: // counted by nobody, as it goes with its node
		p.OwnerReferences[0].Kind, p.Labels = "DaemonSet", map[string]string{"app": "agent"}
	}
	return p
}

// addClusters adds clusters to begin with: bytes of any kind make one.
func addClusters(f *testing.F) {
	f.Add([]byte{})
	for seed := range uint64(8) {
		m := newMaker(seed)
		data := make([]byte, 40+m.IntN(160))
		for i := range data {
			data[i] = byte(m.IntN(256))
		}
		f.Add(data)
	}
}

// FuzzPropose holds proposals for small clusters to what they promise: the same input
// has the same answer; the actions keep to the budgets of pools; each is confirmed; and
// in the order listed the referee finds nothing wrong with the places of pods.
func FuzzPropose(f *testing.F) {
	addClusters(f)
	f.Fuzz(keepsItsPromise)
}

func keepsItsPromise(t *testing.T, data []byte) {
	in, opts := (&decoder{data}).cluster()
	p := propose(t, in, opts)
	again, _ := (&decoder{data}).cluster()
	slices.Reverse(again.Nodes)
	slices.Reverse(again.NodePools)
	require.Equal(t, text(t, p), text(t, propose(t, again, opts)))
	withinBudgets(t, in, p.Actions)
	still := settled(in)
	for _, a := range p.Actions {
		world := in
		if still {
			world = upTo(t, noon, in, p.Actions, a)
		}
		objections := objectionsTo(t, noon, world, a, opts)
		if still && settled(world) {
			require.Empty(t, objections, "%s", a)
		}
	}
	if !still {
		return
	}
	for _, a := range p.Actions {
		if a.Simulated {
			require.Empty(t, standsAlone(in, a, opts.Provisioning), "%s", a)
		}
		in = carriedOut(t, noon, in, []disruption.Action{a}, opts)
		if !settled(in) {
			return
		}
	}
}

// settled reports whether all pods have a place. Those that wait are taken to find one
// before others move: which, the referee does not know, and it may be another where only
// one of the actions is asked about.
func settled(in disruption.Input) bool {
	return len(in.Pods)+len(in.MarkedForDeletion) == 0 && !slices.ContainsFunc(in.Nodes, func(n provisioning.Node) bool {
		return !n.NodeClaim.DeletionTimestamp.IsZero()
	})
}

// withinBudgets counts the nodes that go for voluntary reasons against the budgets of
// their pools.
func withinBudgets(t testing.TB, in disruption.Input, actions []disruption.Action) {
	t.Helper()
	nodes, goes := map[string]int{}, map[string]map[disruption.Reason]int{}
	for _, n := range in.Nodes {
		nodes[n.Node.Labels[v1.NodePoolLabelKey]]++
	}
	for _, a := range actions {
		for _, target := range a.Targets {
			if goes[target.NodePool] == nil {
				goes[target.NodePool] = map[disruption.Reason]int{}
			}
			goes[target.NodePool][a.Reason]++
		}
	}
	for _, pool := range in.NodePools {
		for _, b := range pool.Spec.Disruption.Budgets {
			limit := intstr.Parse(b.Nodes)
			most, err := intstr.GetScaledValueFromIntOrPercent(&limit, nodes[pool.Name], true)
			require.NoError(t, err)
			for reason, count := range goes[pool.Name] {
				if disruption.Voluntary(reason) && (len(b.Reasons) == 0 || slices.Contains(b.Reasons, v1.DisruptionReason(reason))) {
					require.LessOrEqual(t, count, most, "%s of %s", reason, pool.Name)
				}
			}
		}
	}
}

// change is something that happens to a cluster between decision and deed.
func (d *decoder) change(in *disruption.Input) {
	if len(in.Nodes) == 0 {
		return
	}
	i := d.below(len(in.Nodes))
	n := &in.Nodes[i]
	switch d.below(8) {
	case 0:
		in.Nodes = slices.Delete(in.Nodes, i, i+1)
	case 1:
		p := d.pod("new")
		p.Spec.NodeName = n.Name()
		n.Pods = append(n.Pods, p)
	case 2:
		in.MarkedForDeletion[n.Name()] = disruption.Expired
	case 3:
		in.Pods = append(in.Pods, d.pod("come"))
	case 4:
		for _, t := range in.InstanceTypes["default"] {
			t.Offerings[d.below(6)].Available = false
		}
	case 5:
		n.Node.Spec.Taints = append(n.Node.Spec.Taints, corev1.Taint{Key: "team", Effect: corev1.TaintEffectNoSchedule})
	case 6:
		in.NodePools = in.NodePools[:len(in.NodePools)/2]
	case 7:
		for _, t := range in.InstanceTypes["default"] {
			for k := range t.Offerings {
				t.Offerings[k].Price *= 1 + float64(d.below(4))/4
			}
		}
	}
}

// FuzzConfirm asks about actions in clusters that have changed since. The same input
// has the same answer. What is not objected to is there to be done: its nodes and those
// that pods go to are there and stay, some option of each replacement is for sale, and
// of the resources there is enough for all pods.
func FuzzConfirm(f *testing.F) {
	addClusters(f)
	f.Fuzz(seesChanges)
}

func seesChanges(t *testing.T, data []byte) {
	in, opts := (&decoder{data}).cluster()
	p := propose(t, in, opts)
	d := &decoder{data}
	now, _ := d.cluster()
	for range 1 + d.below(3) {
		d.change(&now)
	}
	for _, w := range p.Waiting {
		p.Actions = append(p.Actions, w.Action)
	}
	for _, a := range p.Actions {
		objections := objectionsTo(t, noon, now, a, opts)
		again := objectionsTo(t, noon, now, a, opts)
		require.Equal(t, objections, again)
		if len(objections) == 0 {
			possible(t, now, a)
		}
	}
}

// possible checks what an action needs at the least.
func possible(t testing.TB, in disruption.Input, a disruption.Action) {
	t.Helper()
	room, gone := int64(0), map[string]bool{}
	for _, target := range a.Targets {
		gone[target.Node] = true
	}
	there := map[string]bool{}
	for _, n := range in.Nodes {
		there[n.Name()] = true
		if in.MarkedForDeletion[n.Name()] != "" || n.NodeClaim.DeletionTimestamp != nil {
			there[n.Name()] = false
			continue
		}
		used, moves := int64(0), int64(0)
		for _, p := range n.Pods {
			cpu := p.Spec.Containers[0].Resources.Requests.Cpu().MilliValue()
			if used += cpu; p.OwnerReferences[0].Kind != "DaemonSet" {
				moves += cpu
			}
		}
		if gone[n.Name()] {
			room -= moves
		} else {
			room += max(0, n.Node.Status.Allocatable.Cpu().MilliValue()-used)
		}
	}
	for _, target := range a.Targets {
		require.Contains(t, there, target.Node, "%s", a)
	}
	if !a.Simulated {
		return
	}
	for _, m := range a.Moves {
		require.True(t, m.Node == "" || there[m.Node], "%s goes where nothing is: %s", m, a)
	}
	for i := range a.Replacements {
		room += sold(t, in, &a.Replacements[i])
	}
	require.GreaterOrEqual(t, room, int64(0), "%s", a)
}

// sold returns the most CPU, in thousandths, that an option of a replacement has that is for
// sale.
func sold(t testing.TB, in disruption.Input, n *provisioning.NewNode) int64 {
	t.Helper()
	most := int64(0)
	for _, o := range n.Options {
		for _, now := range in.InstanceTypes[n.Pool.Name] {
			if now.Name != o.InstanceType.Name {
				continue
			}
			if offering, found := now.Offering(o.Key()); found && offering.Launchable() {
				most = max(most, now.Capacity.Get(corev1.ResourceCPU))
			}
		}
	}
	require.Positive(t, most, "nothing of %s is for sale", n.Name)
	return most
}
