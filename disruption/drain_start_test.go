package disruption_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/disruption"
	"github.com/dovetail-sdk/dovetail/provisioning"
)

const deadlineKey = v1.NodeClaimTerminationTimestampAnnotationKey

func withDeadline(text string) func(*provisioning.Node) {
	return func(n *provisioning.Node) { n.NodeClaim.Annotations[deadlineKey] = text }
}

func deleted(n *provisioning.Node) { n.NodeClaim.DeletionTimestamp = ptr(at(-time.Minute)) }

func TestDrainDeadline(t *testing.T) {
	for _, tt := range []struct {
		name  string
		edits []func(*provisioning.Node)
		want  string
		fault string
	}{
		{"none", nil, "", ""},
		{"grace from now", []func(*provisioning.Node){withGrace(time.Hour)}, "13:00:00", ""},
		{"grace from the deletion", []func(*provisioning.Node){withGrace(time.Hour), deleted}, "12:59:00", ""},
		{"grace below zero", []func(*provisioning.Node){withGrace(-time.Hour)}, "12:00:00", ""},
		{"annotation", []func(*provisioning.Node){withGrace(time.Minute), withDeadline("2026-03-02T14:00:00+01:00")}, "13:00:00", ""},
		{"malformed", []func(*provisioning.Node){withGrace(time.Hour), withDeadline("soon")}, "13:00:00", `NodeClaim "n-claim": metadata.annotations`},
		{"malformed alone", []func(*provisioning.Node){withDeadline("soon")}, "", `"soon" is no instant`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			by, err := disruption.DrainDeadline(newNode("n", "web", tt.edits...).NodeClaim, noon)
			if tt.fault == "" {
				require.NoError(t, err)
			} else {
				require.ErrorContains(t, err, tt.fault)
			}
			if tt.want == "" {
				require.Zero(t, by)
			} else {
				require.Equal(t, tt.want, by.Format(time.TimeOnly))
			}
		})
	}
	by, err := disruption.DrainDeadline(nil, noon)
	require.NoError(t, err)
	require.Zero(t, by)
}

func TestActionEditClaim(t *testing.T) {
	for _, tt := range []struct {
		name   string
		action disruption.Action
		edits  []func(*provisioning.Node)
		want   string // "" is none
		same   bool
	}{
		{"nothing", disruption.Action{}, nil, "", true},
		{"a user's deletion", disruption.Action{}, []func(*provisioning.Node){withGrace(time.Hour), deleted}, "12:59:00", false},
		{"a bound", disruption.Action{DrainBound: ptr(time.Minute)}, []func(*provisioning.Node){withGrace(time.Hour)}, "12:01:00", false},
		{"no drain", disruption.Action{DrainBound: ptr(time.Duration(0))}, nil, "12:00:00", false},
		{"the earlier of two", disruption.Action{DrainBound: ptr(time.Hour), DrainBy: noon.Add(time.Minute)}, nil, "12:01:00", false},
		{"never put off", disruption.Action{DrainBound: ptr(time.Hour)}, []func(*provisioning.Node){withDeadline("2026-03-02T12:30:00Z")}, "12:30:00", true},
		{"brought forward", disruption.Action{DrainBy: noon}, []func(*provisioning.Node){withDeadline("2026-03-02T12:30:00Z")}, "12:00:00", false},
		{"malformed", disruption.Action{DrainBy: noon}, []func(*provisioning.Node){withDeadline("soon")}, "12:00:00", false},
		{"malformed alone", disruption.Action{}, []func(*provisioning.Node){withDeadline("soon")}, "", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			claim := newNode("n", "web", tt.edits...).NodeClaim
			before := claim.DeepCopy()
			got := tt.action.EditClaim(claim, noon)
			require.Equal(t, before, claim)
			require.Equal(t, tt.same, got == claim)
			text := got.Annotations[deadlineKey]
			if tt.want == "" {
				require.NotContains(t, got.Annotations, deadlineKey)
			} else {
				require.Equal(t, "2026-03-02T"+tt.want+"Z", text)
			}
			require.Same(t, got, tt.action.EditClaim(got, noon.Add(time.Hour)), "later it is the same deadline")
		})
	}
	require.Nil(t, disruption.Action{}.EditClaim(nil, noon))
	bare := disruption.Action{DrainBy: noon}.EditClaim(&v1.NodeClaim{}, noon)
	require.Len(t, bare.Annotations, 1)
}

// Deadlines only ever come forward, however many want one, and the edited claim says
// the one that DrainDeadline reads.
func TestDeadlinesComeForward(t *testing.T) {
	for seed := range uint64(200) {
		m := newMaker(seed)
		n := newNode("n", "web")
		if m.chance(50) {
			withGrace(time.Duration(m.IntN(100)) * time.Minute)(&n)
		}
		claim, last := n.NodeClaim, time.Time{}
		now := noon
		for range 10 {
			now = now.Add(time.Duration(m.IntN(100)) * time.Second)
			var a disruption.Action
			if m.chance(50) {
				a.DrainBound = ptr(time.Duration(m.IntN(7200)) * time.Second)
			}
			if m.chance(50) {
				a.DrainBy = now.Add(time.Duration(m.IntN(7200)) * time.Second)
			}
			claim = a.EditClaim(claim, now)
			by, err := disruption.DrainDeadline(claim, now)
			require.NoError(t, err)
			require.True(t, last.IsZero() || !by.After(last))
			for _, limit := range []time.Time{a.DrainBy, now.Add(deref(a.DrainBound, 24*time.Hour))} {
				require.True(t, limit.IsZero() || by.IsZero() && a.DrainBound == nil && a.DrainBy.IsZero() || !by.After(limit))
			}
			last = by
		}
	}
}

func deref[T any](p *T, otherwise T) T {
	if p == nil {
		return otherwise
	}
	return *p
}

func TestCloseNode(t *testing.T) {
	node := newNode("n", "web").Node
	node.Spec.Taints = []corev1.Taint{{Key: v1.DisruptedTaintKey, Effect: corev1.TaintEffectNoExecute}, {Key: "other"}}
	before := node.DeepCopy()
	closed := disruption.CloseNode(node)
	require.Equal(t, before, node)
	require.Equal(t, []corev1.Taint{{Key: "other"}, v1.DisruptedNoScheduleTaint()}, closed.Spec.Taints)
	require.Equal(t, "karpenter", closed.Labels[corev1.LabelNodeExcludeBalancers])
	require.Same(t, closed, disruption.CloseNode(closed))
	require.Nil(t, disruption.CloseNode(nil))

	twice := closed.DeepCopy()
	twice.Spec.Taints = append(twice.Spec.Taints, corev1.Taint{Key: v1.DisruptedTaintKey, Effect: corev1.TaintEffectNoExecute})
	require.Equal(t, closed, disruption.CloseNode(twice))
	require.Len(t, disruption.CloseNode(&corev1.Node{}).Labels, 1)
}

func TestObserveDrainNode(t *testing.T) {
	n := newNode("n", "web", withGrace(time.Hour), deleted)
	n.Node.DeletionTimestamp = ptr(at(-30 * time.Second))
	got, err := disruption.ObserveDrainNode(n.NodeClaim, n.Node, []*corev1.Pod{newPod("a"), nil, newPod("b")}, noon)
	require.NoError(t, err)
	require.Equal(t, "n", got.Name)
	require.Equal(t, noon.Add(-time.Minute), got.Since, "the earlier of the two")
	require.Equal(t, noon.Add(59*time.Minute), got.Deadline)
	require.Equal(t, []disruption.DrainPod{disruption.ObserveDrainPod(newPod("a"), nil), disruption.ObserveDrainPod(newPod("b"), nil)}, got.Pods)

	got, err = disruption.ObserveDrainNode(nil, n.Node, nil, noon)
	require.NoError(t, err)
	require.Equal(t, disruption.DrainNode{Name: "n", Since: noon.Add(-30 * time.Second)}, got)

	_, err = disruption.ObserveDrainNode(n.NodeClaim, nil, nil, noon)
	require.ErrorContains(t, err, "the Node is nil")
	withDeadline("soon")(&n)
	got, err = disruption.ObserveDrainNode(n.NodeClaim, n.Node, []*corev1.Pod{newPod("a")}, noon)
	require.ErrorContains(t, err, `NodeClaim "n-claim"`)
	require.Len(t, got.Pods, 1)
}

func TestLeaving(t *testing.T) {
	gone := newNode("d", "web")
	gone.Node.DeletionTimestamp = ptr(at(0))
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

// A spot machine is taken back in two minutes; its claim would have drained for an
// hour.
func ExampleAction_EditClaim() {
	n := newNode("n", "web", withGrace(time.Hour), withPods(newPod("web-1")))
	action := disruption.Action{Reason: disruption.Interrupted, Step: disruption.Delete, DrainBy: noon.Add(2 * time.Minute)}
	claim := action.EditClaim(n.NodeClaim, noon)
	claim.DeletionTimestamp = ptr(at(0)) // what the API server does when it is told to delete it
	node := disruption.CloseNode(n.Node)

	drain, err := disruption.ObserveDrainNode(claim, node, n.Pods, noon)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("no more pods:", node.Spec.Taints[0].ToString())
	fmt.Println("drain", len(drain.Pods), "pod by", drain.Deadline.Format(time.TimeOnly))
	// Output:
	// no more pods: karpenter.sh/disrupted:NoSchedule
	// drain 1 pod by 12:02:00
}

func ExampleDrainDeadline() {
	claim := newNode("n", "web", withGrace(time.Hour)).NodeClaim
	by, err := disruption.DrainDeadline(claim, noon)
	fmt.Println(by.Format(time.TimeOnly), err)
	claim.Annotations[v1.NodeClaimTerminationTimestampAnnotationKey] = "2026-03-02T12:10:00Z"
	by, err = disruption.DrainDeadline(claim, noon)
	fmt.Println(by.Format(time.TimeOnly), err)
	// Output:
	// 13:00:00 <nil>
	// 12:10:00 <nil>
}

func ExampleCloseNode() {
	node := disruption.CloseNode(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}})
	fmt.Println(node.Spec.Taints[0].ToString(), node.Labels)
	// Output:
	// karpenter.sh/disrupted:NoSchedule map[node.kubernetes.io/exclude-from-external-load-balancers:karpenter]
}

func ExampleObserveDrainNode() {
	n := newNode("n", "web", withPods(newPod("web-1"), newPod("web-2", terminating)))
	n.NodeClaim.DeletionTimestamp = ptr(at(-10 * time.Second))
	drain, err := disruption.ObserveDrainNode(n.NodeClaim, n.Node, n.Pods, noon)
	fmt.Println(drain.Name, drain.Since.Format(time.TimeOnly), len(drain.Pods), err)
	// Output:
	// n 11:59:50 2 <nil>
}

func ExampleLeaving() {
	goes := newNode("goes", "web")
	goes.NodeClaim.DeletionTimestamp = ptr(at(0))
	fmt.Println(disruption.Leaving([]provisioning.Node{newNode("stays", "web"), goes}))
	// Output:
	// [goes]
}

// An object that is gone from a cache is nil; to read it is no reason to panic.
func TestObserveNothing(t *testing.T) {
	require.Zero(t, disruption.ObserveDrainPod(nil, nil))
	require.Zero(t, disruption.ObserveDrainBudget(nil))
	require.Zero(t, disruption.ObserveCommandClaim(nil, nil, 3))
	require.Zero(t, disruption.ObserveCommandNode(nil))
}
