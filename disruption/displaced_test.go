package disruption_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/disruption"
	"github.com/dovetail-sdk/dovetail/provisioning"
)

func podNames(pods []*corev1.Pod) []string {
	out := []string{}
	for _, p := range pods {
		out = append(out, p.Name)
	}
	return out
}

// held returns a pod that nothing may evict, with a grace period of a minute.
func held(text string) *corev1.Pod {
	p := newPod("held", note(v1.DoNotDisruptAnnotationKey, text), asking("1"))
	p.Spec.TerminationGracePeriodSeconds = new(int64(60))
	return p
}

// A pod that nothing may evict needs a place LaunchAhead before it is ended by force, and not before.
func TestDisplaced(t *testing.T) {
	going := func(p *corev1.Pod, edits ...func(*provisioning.Node)) provisioning.Node {
		return newNode("goes", "web", append([]func(*provisioning.Node){deleted, withPods(p)}, edits...)...)
	}
	never := func(edit func(*policyv1.PodDisruptionBudget)) *policyv1.PodDisruptionBudget {
		return newPDB("web", 0, edit)
	}
	maxUnavailable := never(func(b *policyv1.PodDisruptionBudget) { b.Spec.MaxUnavailable = new(intstr.FromInt32(0)) })
	minAvailable := never(func(b *policyv1.PodDisruptionBudget) { b.Spec.MinAvailable = new(intstr.FromString("100%")) })
	deadline := going(held("true"), withGrace(time.Hour)).NodeClaim.DeletionTimestamp.Add(time.Hour)
	due := deadline.Add(-time.Minute - disruption.LaunchAhead)
	for _, c := range []struct {
		name string
		node provisioning.Node
		pdbs []*policyv1.PodDisruptionBudget
		at   time.Time
		want bool
	}{
		{"a pod that can be evicted", going(newPod("held")), nil, noon, true},
		{"one behind a spent budget", going(newPod("held")), pdbs(newPDB("web", 0)), noon, true},
		{"on a node that stays", newNode("stays", "web", withPods(newPod("held"))), nil, noon, false},
		{"of a DaemonSet", going(newPod("held", owner("apps/v1", "DaemonSet"))), nil, noon, false},
		{"held, without a deadline", going(held("true")), nil, noon.Add(1000 * time.Hour), false},
		{"held, before it is due", going(held("true"), withGrace(time.Hour)), nil, due.Add(-1), false},
		{"held, when it is due", going(held("true"), withGrace(time.Hour)), nil, due, true},
		{"held for a time, before", going(held("2h")), nil, noon.Add(time.Hour - disruption.LaunchAhead - 1), false},
		{"held for a time, due", going(held("2h")), nil, noon.Add(time.Hour - disruption.LaunchAhead), true},
		{"a budget without evictions", going(newPod("held")), pdbs(maxUnavailable), noon, false},
		{"a budget for all pods", going(newPod("held")), pdbs(minAvailable), noon, false},
		{"a budget for all pods, and a deadline", going(held("no"), withGrace(time.Hour)), pdbs(minAvailable), due, true},
		{"several budgets", going(newPod("held")), pdbs(newPDB("web", 5), newPDB("all", 5)), noon, false},
		{"the machine is being ended", going(held("true"), withCondition(v1.ConditionTypeInstanceTerminating, metav1.ConditionTrue, 0)), nil, noon, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := newInput(c.node)
			in.PodDisruptionBudgets = c.pdbs
			want := []string{}
			if c.want {
				want = []string{"held"}
			}
			got := disruption.Displaced(c.at, in)
			require.Equal(t, want, podNames(got))
			for _, p := range got {
				require.Empty(t, p.Spec.NodeName)
			}
		})
	}
}

// A node that expires with a pod that nothing may evict stays: no place is planned for, and
// nothing is saved. With a deadline it goes.
func TestNodeThatStaysForItsPods(t *testing.T) {
	expired := roomy("n", "c.2", 2, held("true"), newPod("free", asking("500m")))
	expired.NodeClaim.Spec.ExpireAfter = v1.NewDuration(time.Minute)
	expired.NodeClaim.CreationTimestamp = at(-time.Hour)
	in := newInput(expired)
	in.InstanceTypes["web"] = []*cloudprovider.InstanceType{sized("c.2", 2, 0.2)}

	p := propose(t, in, nil)
	require.Len(t, p.Actions, 1)
	require.Contains(t, p.Actions[0].Detail, `; nothing may evict Pod "shop/held", and nothing bounds the drain, so that the node stays until the pod ends; `+
		"its pod is for the next plan: 1 new node for 1 pod, c.2/a/")
	require.Equal(t, []string{"held"}, podNames(p.Actions[0].Held()))
	require.Zero(t, p.Savings())
	after := carriedOut(t, noon, in, p.Actions, nil)
	require.Equal(t, []string{"n"}, disruption.Leaving(after.Nodes))
	require.Equal(t, []string{"held"}, podNames(after.Nodes[0].Pods))
	require.Equal(t, []string{"free"}, podNames(after.Pods))
	again := propose(t, after, nil)
	require.Empty(t, again.Actions)
	require.Contains(t, again.Blocked[0].Detail, `it is being deleted; nothing may evict Pod "shop/held"`)

	in.Nodes[0].NodeClaim.Spec.TerminationGracePeriod = &metav1.Duration{Duration: time.Hour}
	p = propose(t, in, nil)
	require.Contains(t, p.Actions[0].Detail, `; nothing may evict Pod "shop/held" yet, and a place is planned for at 2026-`)
	require.Empty(t, p.Actions[0].Held())
	require.Equal(t, 0.2, p.Savings())
	after = carriedOut(t, noon, in, p.Actions, nil)
	require.Empty(t, after.Nodes)
	require.ElementsMatch(t, []string{"free", "held"}, podNames(after.Pods))

	// While it drains, the answer changes when the pod becomes due.
	in.Nodes[0].NodeClaim.DeletionTimestamp = new(at(0))
	p = propose(t, in, nil)
	require.Equal(t, noon.Add(time.Hour-time.Minute-disruption.LaunchAhead), p.Next.UTC())
	require.Contains(t, p.Blocked[0].Detail, "it is being deleted; nothing may evict")
}

func TestLeaving(t *testing.T) {
	gone := newNode("d", "web")
	gone.Node.DeletionTimestamp = new(at(0))
	unjoined := newNode("c", "web", deleted)
	unjoined.Node = nil
	nodes := []provisioning.Node{newNode("z", "web", deleted), newNode("stays", "web"), gone, unjoined, {},
		newNode("b", "web", withCondition(v1.ConditionTypeInstanceTerminating, metav1.ConditionTrue, 0)),
		newNode("b", "web", deleted), {Node: newNode("unmanaged", "web").Node}}
	require.Equal(t, []string{"b", "c-claim", "d", "z"}, disruption.Leaving(nodes))
	require.Empty(t, disruption.Leaving(nil))
	for seed := range uint64(50) {
		m := newMaker(seed)
		in, _ := m.input()
		require.Equal(t, disruption.Leaving(in.Nodes), disruption.Leaving(m.shuffle(in).Nodes))
	}
}

func ExampleLeaving() {
	goes := newNode("goes", "web")
	goes.NodeClaim.DeletionTimestamp = new(at(0))
	fmt.Println(disruption.Leaving([]provisioning.Node{newNode("stays", "web"), goes}))
	// Output:
	// [goes]
}
