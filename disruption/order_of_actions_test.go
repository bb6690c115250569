package disruption_test

import (
	"cmp"
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/disruption"
	"github.com/dovetail-sdk/dovetail/internal/testlong"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/verify"
)

// More clusters for a longer run: DOVETAIL_LONG=all go test -run HoldInTurn -worn 5000
var (
	manyWorn  = flag.Int("worn", 200, "how many clusters of worn nodes are looked at")
	firstWorn = flag.Int("first-worn", 0, "seed of the first of them")
)

// worn returns a cluster of three zones in which many nodes have drifted or are sick, and
// the pods are tied to each other: by topology spreads that have no room to spare, or
// are broken, by affinity and anti-affinity over zones and nodes, and by host ports.
// In some, one zone is not allowed any more, or has nothing left to sell, or all pods
// are spread by default.
func (m *maker) worn() (disruption.Input, *disruption.Options) {
	in := zonal(2+m.IntN(3), 0)
	for app := range 2 + m.IntN(6) {
		m.replicas(&in, fmt.Sprintf("app-%d", app))
	}
	in.Drift = map[string]cloudprovider.Drift{}
	in.RepairPolicies = policies()
	for i := range in.Nodes {
		n := &in.Nodes[i]
		switch {
		case m.chance(45):
			in.Drift[n.NodeClaim.Name] = cloudprovider.Drift{Reason: "AMIDrift"}
		case m.chance(35):
			nodeCondition(corev1.NodeReady, corev1.ConditionFalse, "KubeletStopped", -time.Hour)(n)
		}
	}
	pool := in.NodePools[0]
	switch m.IntN(6) {
	case 0: // all nodes of a zone have drifted, and their pods cannot stay there
		pool.Spec.Template.Spec.Requirements = append(pool.Spec.Template.Spec.Requirements, v1.NodeSelectorRequirementWithMinValues{
			Key: corev1.LabelTopologyZone, Operator: corev1.NodeSelectorOpIn, Values: []string{"a", "b"}})
	case 1:
		for _, t := range in.InstanceTypes["web"] {
			t.Offerings[m.IntN(3)].Available = false
		}
	case 2:
		in.InstanceTypes["web"] = in.InstanceTypes["web"][:1]
	case 3: // zones differ in price, so that pods are drawn to one
		for _, t := range in.InstanceTypes["web"] {
			t.Offerings[m.IntN(3)].Price *= 0.8
		}
	}
	opts := &disruption.Options{Consolidation: disruption.ConsolidationOptions{MinimumScore: -1}, Repair: disruption.RepairOptions{Share: 1}}
	if m.chance(20) {
		pool.Spec.Limits = v1.Limits{corev1.ResourceCPU: *resource.NewQuantity(int64(8*len(in.Nodes)+2*m.IntN(8)), resource.DecimalSI)}
	}
	if m.chance(30) {
		opts.Provisioning = &provisioning.Options{DefaultSpread: []corev1.TopologySpreadConstraint{
			{MaxSkew: int32(1 + m.IntN(2)), TopologyKey: pick(m, corev1.LabelTopologyZone, corev1.LabelTopologyZone, corev1.LabelHostname), WhenUnsatisfiable: corev1.DoNotSchedule}}}
		for app := range 8 {
			in.Services = append(in.Services, &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: fmt.Sprint(app)},
				Spec: corev1.ServiceSpec{Selector: map[string]string{"app": fmt.Sprintf("app-%d", app)}}})
		}
	}
	return in, opts
}

// replicas adds the pods of a workload.
func (m *maker) replicas(in *disruption.Input, name string) {
	favourite, skew, spread := m.IntN(3), int32(1+m.IntN(2)), m.chance(65)
	edit := m.tie(name)
	key := corev1.LabelTopologyZone
	if m.chance(20) {
		key = corev1.LabelHostname
	}
	even := m.chance(50)
	for k := range 1 + m.IntN(6) {
		zone := (favourite + k) % 3
		if !even && m.chance(50) {
			zone = m.IntN(3)
		}
		n := &in.Nodes[zone+3*m.IntN(len(in.Nodes)/3)]
		p := newPod(fmt.Sprintf("%s-%d", name, k), asking(fmt.Sprintf("%dm", 300*(1+m.IntN(6)))), ofApp(name))
		p.OwnerReferences[0].Name = name
		if spread {
			spreading(name, key)(p)
			p.Spec.TopologySpreadConstraints[0].MaxSkew = skew
			if m.chance(10) {
				p.Spec.TopologySpreadConstraints = nil
			}
		}
		edit(p)
		p.Spec.NodeName = n.Name()
		n.Pods = append(n.Pods, p)
	}
}

// tie is what the pods of a workload have beside a spread.
func (m *maker) tie(name string) func(*corev1.Pod) {
	other := fmt.Sprintf("app-%d", m.IntN(5))
	overNodes := m.chance(40)
	bond := func(app string, apart bool) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			bondedTo(app, apart)(p)
			if !overNodes {
				return
			}
			if a := p.Spec.Affinity.PodAntiAffinity; a != nil {
				a.RequiredDuringSchedulingIgnoredDuringExecution[0].TopologyKey = corev1.LabelHostname
			} else {
				p.Spec.Affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution[0].TopologyKey = corev1.LabelHostname
			}
		}
	}
	policy := pick(m, corev1.NodeInclusionPolicyHonor, corev1.NodeInclusionPolicyIgnore)
	switch m.IntN(10) {
	case 0:
		return bond(other, false)
	case 1:
		return bond(other, true)
	case 2:
		return bond(name, false)
	case 3:
		return bond(name, true)
	case 4:
		return func(p *corev1.Pod) {
			p.Spec.Containers[0].Ports = []corev1.ContainerPort{{HostPort: 8080, ContainerPort: 8080}}
		}
	case 5:
		return func(p *corev1.Pod) {
			for i := range p.Spec.TopologySpreadConstraints {
				p.Spec.TopologySpreadConstraints[i].NodeTaintsPolicy = &policy
			}
		}
	case 6:
		return func(p *corev1.Pod) {
			if len(p.Spec.TopologySpreadConstraints) > 0 {
				p.Spec.TopologySpreadConstraints[0].MinDomains = new(int32(3))
			}
		}
	}
	return func(*corev1.Pod) {}
}

// standsAlone returns the faults of an action in a cluster, once its nodes have gone, and
// while they are still there and on their way out.
func standsAlone(in disruption.Input, a disruption.Action, opts *provisioning.Options) []string {
	alone, plan := byItself(in, a)
	if out := faultsInAnyOrder(alone, plan, opts); len(out) > 0 {
		return out
	}
	alone, plan = whileItDrains(in, a)
	return faultsInAnyOrder(alone, plan, opts)
}

// whileItDrains returns the plan of an action while its nodes are still there, empty and on
// their way out: they count as domains of a topology spread then.
func whileItDrains(in disruption.Input, a disruption.Action) (provisioning.Input, *provisioning.Plan) {
	alone, plan := byItself(in, a)
	moved := map[string]bool{}
	for _, p := range plan.Order {
		moved[p.Name] = true
	}
	for _, t := range a.Targets {
		i := slices.IndexFunc(in.Nodes, func(n provisioning.Node) bool { return n.Name() == t.Node })
		n := in.Nodes[i]
		n.Node = n.Node.DeepCopy()
		n.Node.DeletionTimestamp = new(metav1.NewTime(noon))
		n.NodeClaim = n.NodeClaim.DeepCopy()
		n.NodeClaim.DeletionTimestamp = new(metav1.NewTime(noon))
		n.Pods = slices.DeleteFunc(slices.Clone(n.Pods), func(p *corev1.Pod) bool { return moved[p.Name] })
		alone.Nodes = append(alone.Nodes, n)
	}
	return alone, plan
}

// faultsInAnyOrder are those of faultsOf, if there is no order in which a plan has none.
func faultsInAnyOrder(in provisioning.Input, plan *provisioning.Plan, opts *provisioning.Options) []string {
	out := faultsOf(in, plan, opts)
	if len(out) > 0 && someOrder(in, plan, opts) {
		return nil
	}
	return out
}

// faultsOf returns the faults of a plan that have to do with where pods are, in the order in
// which there are fewest: those with spreads of their own come first or last, and pods
// that are kept out are tried again after the others, or before them.
func faultsOf(in provisioning.Input, plan *provisioning.Plan, opts *provisioning.Options) []string {
	own := func(a, b *corev1.Pod) int {
		return cmp.Compare(len(a.Spec.TopologySpreadConstraints), len(b.Spec.TopologySpreadConstraints))
	}
	var out []string
	for way := range 4 {
		order := slices.SortedStableFunc(slices.Values(plan.Order), func(a, b *corev1.Pod) int { return (1 - way&2) * own(b, a) })
		other := faultsInOrder(in, plan, opts, order, way&1 != 0)
		if len(other) == 0 {
			return nil
		}
		if way == 0 || len(other) < len(out) {
			out = other
		}
	}
	return out
}

func faultsInOrder(in provisioning.Input, plan *provisioning.Plan, opts *provisioning.Options, order []*corev1.Pod, forward bool) []string {
	var out []string
	for range 2 + len(order) {
		var late map[string]bool
		if out, late = placeFaults(in, plan, opts, order); len(out) == 0 {
			return nil
		}
		refused := slices.DeleteFunc(slices.Clone(order), func(p *corev1.Pod) bool { return !late[p.Namespace+"/"+p.Name] })
		others := slices.DeleteFunc(slices.Clone(order), func(p *corev1.Pod) bool { return late[p.Namespace+"/"+p.Name] })
		if order = slices.Concat(others, refused); forward {
			order = slices.Concat(refused, others)
		}
	}
	return out
}

// someOrder reports whether there is an order in which a plan of few pods has no fault. What
// lets a pod in is who is there before it, and not in which order they came.
func someOrder(in provisioning.Input, plan *provisioning.Plan, opts *provisioning.Options) bool {
	if len(plan.Order) > 12 {
		return false
	}
	order, inVain := slices.Clone(plan.Order), map[string]bool{}
	var from func(done int) bool
	from = func(done int) bool {
		if done == len(order) {
			out, _ := placeFaults(in, plan, opts, order)
			return len(out) == 0
		}
		var names []string
		for _, p := range order[:done] {
			names = append(names, p.Namespace+"/"+p.Name)
		}
		slices.Sort(names)
		there := strings.Join(names, " ")
		if inVain[there] {
			return false
		}
		before := slices.Clone(order)
		for next := done; next < len(order); next++ {
			order = slices.Concat(before[:done], before[next:next+1], before[done:next], before[next+1:])
			if _, late := placeFaults(in, plan, opts, order); !late[before[next].Namespace+"/"+before[next].Name] && from(done+1) {
				return true
			}
		}
		order, inVain[there] = before, true
		return false
	}
	return from(0)
}

// placeFaults returns the faults of a plan that have to do with where pods are, and the pods that
// they are about.
func placeFaults(in provisioning.Input, plan *provisioning.Plan, opts *provisioning.Options, order []*corev1.Pod) (out []string, late map[string]bool) {
	bound := *plan
	bound.Order, late = order, map[string]bool{}
	for _, v := range verify.Plan(in, &bound, opts) {
		switch v.Rule {
		case verify.RuleSpread, verify.RuleAffinity, verify.RuleAntiAffinity, verify.RuleHostPorts, verify.RuleVolumes,
			verify.RuleResources, verify.RuleCompleteness, verify.RuleLimits, verify.RuleReservation, verify.RuleRequirements:
			out, late[v.Pod] = append(out, v.String()), true
		}
	}
	return out, late
}

// In whatever order the actions of a proposal are carried out in which each comes after
// those that it names, each holds: also those that replace drifted and sick nodes. Those that could not are told to wait
// for others, and go in a later round.
func TestReplacementsHoldInTurn(t *testing.T) {
	testlong.Alone(t)
	t.Parallel()
	n := int(testlong.Problems(*manyWorn, 10))
	actions, several, waiting := map[disruption.Reason]int{}, 0, 0
	for seed := *firstWorn; seed < *firstWorn+n; seed++ {
		in, opts := newMaker(uint64(20_000 + seed)).worn()
		p := propose(t, in, opts)
		for _, a := range p.Actions {
			actions[a.Reason]++
		}
		for _, b := range p.Blocked {
			if disruption.RuleOf(b) == "NotSearched" && b.Method != disruption.MethodConsolidation {
				require.Contains(t, b.Detail, "ties its pods to those of others in this proposal, which go first; ask again after them")
				waiting++
			}
		}
		if len(p.Actions) > 1 {
			several++
		}
		for _, order := range orders(p.Actions) {
			holdInTurn(t, seed, noon, in, order, func(in disruption.Input, a disruption.Action) []string { return standsAlone(in, a, opts.Provisioning) })
		}
	}
	t.Logf("%d proposals, %d of several actions, %v, %d wait for others", n, several, actions, waiting)
	require.Greater(t, several, n/2)
	require.Greater(t, actions[disruption.Drifted], n)
	require.Greater(t, actions[disruption.Unhealthy], n/2)
	require.Less(t, waiting, (actions[disruption.Drifted]+actions[disruption.Unhealthy])/5)
}
