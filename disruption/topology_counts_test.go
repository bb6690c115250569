package disruption_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/disruption"
	"github.com/dovetail-sdk/dovetail/internal/testlong"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/verify"
)

// spreading makes a pod one of a workload that is spread over a topology.
func spreading(app, key string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Labels["app"], p.OwnerReferences[0].Name = app, app
		p.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{MaxSkew: 1, TopologyKey: key,
			WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}}}}
	}
}

// zonal returns a cluster of three zones, of the given number of nodes of eight CPUs each, on
// which pods of some workloads run in turn, one zone after the other. Without workloads there are no pods.
func zonal(nodes, workloads int) disruption.Input {
	var list []provisioning.Node
	zones := []string{"a", "b", "c"}
	for i := range 3 * nodes {
		n := roomy(fmt.Sprintf("n%02d", i), "c.8", 8)
		withLabel(corev1.LabelTopologyZone, zones[i%3])(&n)
		list = append(list, n)
	}
	for i := range 3 * nodes {
		for k := range 1 + (i/3)%2 {
			if workloads == 0 {
				break
			}
			app := fmt.Sprintf("app-%d", (i/3+k)%workloads)
			p := newPod(fmt.Sprintf("%s-%02d-%d", app, i, k), asking("1100m"), spreading(app, corev1.LabelTopologyZone))
			p.Spec.NodeName = list[i].Name()
			list[i].Pods = append(list[i].Pods, p)
		}
	}
	in := roomyInput()
	in.Nodes = list
	for _, t := range in.InstanceTypes["web"] {
		offering := t.Offerings[0]
		t.Offerings = nil
		for _, zone := range zones {
			offering.Zone = zone
			t.Offerings = append(t.Offerings, offering)
		}
	}
	return in
}

// byItself returns an action as a plan for a cluster without its nodes.
func byItself(in disruption.Input, a disruption.Action) (provisioning.Input, *provisioning.Plan) {
	alone, plan := in.Input, &provisioning.Plan{Create: a.Replacements}
	gone := map[string]bool{}
	for _, t := range a.Targets {
		gone[t.Node] = true
	}
	alone.Nodes = nil
	for _, n := range in.Nodes {
		if !gone[n.Name()] {
			alone.Nodes = append(alone.Nodes, n)
		}
	}
	bind := map[string]int{}
	fresh := map[string]*corev1.Pod{}
	for _, m := range a.Moves {
		free := m.Pod.DeepCopy()
		free.Spec.NodeName = ""
		alone.Pods, plan.Order = append(alone.Pods, free), append(plan.Order, free)
		fresh[free.Name] = free
		if m.Replacement < 0 {
			if _, found := bind[m.Node]; !found {
				bind[m.Node] = len(plan.Bind)
				plan.Bind = append(plan.Bind, provisioning.Binding{Node: m.Node})
			}
			b := &plan.Bind[bind[m.Node]]
			b.Pods = append(b.Pods, free)
		}
	}
	plan.Create = append([]provisioning.NewNode{}, a.Replacements...)
	for i := range plan.Create {
		var pods []*corev1.Pod
		for _, p := range plan.Create[i].Pods {
			pods = append(pods, fresh[p.Name])
		}
		plan.Create[i].Pods = pods
	}
	whereNodesAre(alone, plan)
	return alone, plan
}

// whereNodesAre has the pods to place ask for the domains of their spreads that have a node, as
// a spread finds them when kube-scheduler places the pods of an action: the domains in which a
// node could be launched are those of a plan for pending pods.
func whereNodesAre(in provisioning.Input, plan *provisioning.Plan) {
	for _, pod := range plan.Order {
		for _, c := range pod.Spec.TopologySpreadConstraints {
			if c.WhenUnsatisfiable != corev1.DoNotSchedule || c.TopologyKey == corev1.LabelHostname {
				continue
			}
			var values []string
			for _, n := range in.Nodes {
				if n.Node != nil && n.Node.Labels[c.TopologyKey] != "" {
					values = append(values, n.Node.Labels[c.TopologyKey])
				}
			}
			for _, n := range plan.Create {
				for _, o := range n.Options {
					if r, ok := o.Requirements().Get(c.TopologyKey); ok {
						own, _ := r.Values()
						values = append(values, own...)
					}
				}
			}
			if pod.Spec.Affinity == nil {
				pod.Spec.Affinity = &corev1.Affinity{}
			}
			if pod.Spec.Affinity.NodeAffinity == nil {
				pod.Spec.Affinity.NodeAffinity = &corev1.NodeAffinity{}
			}
			required := &pod.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution
			if *required == nil {
				*required = &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{}}}
			}
			for i := range (*required).NodeSelectorTerms {
				term := &(*required).NodeSelectorTerms[i]
				term.MatchExpressions = append(term.MatchExpressions, corev1.NodeSelectorRequirement{Key: c.TopologyKey, Operator: corev1.NodeSelectorOpIn, Values: values})
			}
		}
	}
}

// spreadFaults returns the pods of an action that its spreads keep out, in every
// order in which pods that are kept out are tried again after the others.
func spreadFaults(in disruption.Input, a disruption.Action) []string {
	alone, plan := byItself(in, a)
	var out []string
	for range 2 + len(plan.Order) {
		out = nil
		late := map[string]bool{}
		for _, v := range verify.Plan(alone, plan, nil) {
			if v.Rule == verify.RuleSpread || v.Rule == verify.RuleResources || v.Rule == verify.RuleCompleteness {
				out, late[v.Pod] = append(out, v.String()), true
			}
		}
		if len(out) == 0 {
			return nil
		}
		var first, last []*corev1.Pod
		for _, p := range plan.Order {
			if late[p.Namespace+"/"+p.Name] {
				last = append(last, p)
			} else {
				first = append(first, p)
			}
		}
		plan.Order = append(first, last...)
	}
	return out
}

// Each action of a proposal keeps the spreads by itself, as the cluster is when
// those before it are done, until nothing is left to do.
func TestEachActionKeepsSpreadsByItself(t *testing.T) {
	testlong.Alone(t)
	for _, workloads := range []int{1, 5, 2, 3}[:testlong.Seeds(1, 4)] {
		seen := 0
		quiet(t, zonal(8, workloads), nil, func(now time.Time, in disruption.Input, p *disruption.Proposal) {
			seen += len(p.Actions)
			holdInTurn(t, workloads, now, in, p.Actions, spreadFaults)
			require.Zero(t, crossings(in, p.Actions), "%v", p.Actions)
		})
		require.Greater(t, seen, 3)
	}
}

func zoneOf(in disruption.Input, node string) string {
	for _, n := range in.Nodes {
		if n.Name() == node {
			return n.Node.Labels[corev1.LabelTopologyZone]
		}
	}
	return ""
}

// A workload that is out of balance can be put right: its pods are free.
func TestPodsOfTooFullADomainMayLeaveIt(t *testing.T) {
	in := zonal(1, 1)
	for i := range in.Nodes {
		other := newPod(fmt.Sprintf("other-%d", i), asking("5"))
		other.Labels["app"], other.Spec.NodeName = "other", in.Nodes[i].Name()
		in.Nodes[i].Pods = []*corev1.Pod{other}
		in.Nodes[i].Node.Annotations[v1.DoNotDisruptAnnotationKey] = "true"
	}
	for i := range 2 {
		p := newPod(fmt.Sprintf("web-%d", i), asking("1500m"), spreading("web", corev1.LabelTopologyZone))
		p.Spec.NodeName = in.Nodes[0].Name()
		in.Nodes[0].Pods = append(in.Nodes[0].Pods, p)
	}
	small := roomy("small", "c.8", 8, newPod("extra", asking("500m"), spreading("web", corev1.LabelTopologyZone)))
	withLabel(corev1.LabelTopologyZone, "a")(&small)
	in.Nodes = append(in.Nodes, small)
	p := propose(t, in, nil)
	require.Equal(t, []string{"Delete small"}, brief(p.Actions))
	require.Empty(t, spreadFaults(in, p.Actions[0]))
	require.Contains(t, []string{"n01", "n02"}, p.Actions[0].Moves[0].Node, "to a zone that has none, as the spread wants it")
}

// A pod that asks for another zone than that of its node, as the labels of the node have
// changed, goes where it asks to be: the spread that holds does not keep it.
func TestASpreadKeepsNoPodWhereItAsksNotToBe(t *testing.T) {
	large := sizedType("large", 8, 0.4, onDemand("a", 0.4), onDemand("b", 0.4))
	stray := load("stray", 1000, spreading("web", corev1.LabelTopologyZone))
	stray.Spec.NodeSelector = map[string]string{corev1.LabelTopologyZone: "a"}
	in := fleetOf([]*cloudprovider.InstanceType{large}, with(machine("n1", "default", large, stray), withLabel(corev1.LabelTopologyZone, "b")))
	in.Drift = driftOf("n1", "AMIDrift")
	p := propose(t, in, nil)
	require.Len(t, p.Actions, 1)
	require.Len(t, p.Actions[0].Replacements, 1)
	for _, o := range p.Actions[0].Replacements[0].Options {
		require.Equal(t, "a", o.Offering.Zone)
	}
}
