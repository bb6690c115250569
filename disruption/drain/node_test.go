package drain_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/disruption/drain"
)

func TestDeadline(t *testing.T) {
	for _, tt := range []struct {
		name  string
		edits []func(*v1.NodeClaim)
		want  string
		fault string
	}{
		{"none", nil, "", ""},
		{"grace from now", []func(*v1.NodeClaim){withGrace(time.Hour)}, "13:00:00", ""},
		{"grace from the deletion", []func(*v1.NodeClaim){withGrace(time.Hour), deleted}, "12:59:00", ""},
		{"grace below zero", []func(*v1.NodeClaim){withGrace(-time.Hour)}, "", "spec.terminationGracePeriod is -1h0m0s"},
		{"annotation", []func(*v1.NodeClaim){withGrace(time.Minute), withDeadline("2026-03-02T14:00:00+01:00")}, "13:00:00", ""},
		{"malformed", []func(*v1.NodeClaim){withGrace(time.Hour), withDeadline("soon")}, "13:00:00", `NodeClaim "n-claim": metadata.annotations`},
		{"malformed alone", []func(*v1.NodeClaim){withDeadline("soon")}, "", `"soon" is no instant`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			by, err := drain.Deadline(noon, newClaim(tt.edits...))
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
	by, err := drain.Deadline(noon, nil)
	require.NoError(t, err)
	require.Zero(t, by)
}

func TestCloseNode(t *testing.T) {
	node := newNode()
	node.Spec.Taints = []corev1.Taint{{Key: v1.DisruptedTaintKey, Effect: corev1.TaintEffectNoExecute}, {Key: "other"}}
	before := node.DeepCopy()
	closed := drain.CloseNode(node)
	require.Equal(t, before, node)
	require.Equal(t, []corev1.Taint{{Key: "other"}, v1.DisruptedNoScheduleTaint()}, closed.Spec.Taints)
	require.Equal(t, "karpenter", closed.Labels[corev1.LabelNodeExcludeBalancers])
	require.Same(t, closed, drain.CloseNode(closed))
	require.Nil(t, drain.CloseNode(nil))

	twice := closed.DeepCopy()
	twice.Spec.Taints = append(twice.Spec.Taints, corev1.Taint{Key: v1.DisruptedTaintKey, Effect: corev1.TaintEffectNoExecute})
	require.Equal(t, closed, drain.CloseNode(twice))
	require.Len(t, drain.CloseNode(&corev1.Node{}).Labels, 1)
}

func TestObserve(t *testing.T) {
	claim, node := newClaim(withGrace(time.Hour), deleted), newNode()
	node.DeletionTimestamp = at(-30 * time.Second)
	got, err := drain.Observe(noon, claim, node, []*corev1.Pod{newPod("a"), nil, newPod("b")})
	require.NoError(t, err)
	require.Equal(t, "n", got.Name)
	require.Equal(t, noon.Add(-time.Minute), got.Since, "the earlier of the two")
	require.Equal(t, noon.Add(59*time.Minute), got.Deadline)
	require.Equal(t, []drain.Pod{drain.ObservePod(newPod("a"), nil), drain.ObservePod(newPod("b"), nil)}, got.Pods)

	got, err = drain.Observe(noon, nil, node, nil)
	require.NoError(t, err)
	require.Equal(t, drain.Node{Name: "n", Since: noon.Add(-30 * time.Second)}, got)

	_, err = drain.Observe(noon, claim, nil, nil)
	require.ErrorContains(t, err, "the Node is nil")
	withDeadline("soon")(claim)
	got, err = drain.Observe(noon, claim, node, []*corev1.Pod{newPod("a")})
	require.ErrorContains(t, err, `NodeClaim "n-claim"`)
	require.Len(t, got.Pods, 1)
}

// A deadline is brought forward and never put off.
func ExampleBound() {
	claim := newClaim(withGrace(time.Hour))
	for _, bound := range []time.Duration{2 * time.Hour, 10 * time.Minute, 30 * time.Minute} {
		claim = drain.Bound(noon, claim, time.Time{}, &bound)
		fmt.Println(bound, claim.Annotations[v1.NodeClaimTerminationTimestampAnnotationKey])
	}
	// Output:
	// 2h0m0s 2026-03-02T13:00:00Z
	// 10m0s 2026-03-02T12:10:00Z
	// 30m0s 2026-03-02T12:10:00Z
}

func ExampleDeadline() {
	claim := newClaim(withGrace(time.Hour))
	by, err := drain.Deadline(noon, claim)
	fmt.Println(by.Format(time.TimeOnly), err)
	claim.Annotations[v1.NodeClaimTerminationTimestampAnnotationKey] = "2026-03-02T12:10:00Z"
	by, err = drain.Deadline(noon, claim)
	fmt.Println(by.Format(time.TimeOnly), err)
	// Output:
	// 13:00:00 <nil>
	// 12:10:00 <nil>
}

func ExampleCloseNode() {
	node := drain.CloseNode(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}})
	fmt.Println(node.Spec.Taints[0].ToString(), node.Labels)
	// Output:
	// karpenter.sh/disrupted:NoSchedule map[node.kubernetes.io/exclude-from-external-load-balancers:karpenter]
}

func ExampleObserve() {
	claim := newClaim()
	claim.DeletionTimestamp = at(-10 * time.Second)
	node, err := drain.Observe(noon, claim, newNode(), []*corev1.Pod{newPod("web-1"), newPod("web-2")})
	fmt.Println(node.Name, node.Since.Format(time.TimeOnly), len(node.Pods), err)
	// Output:
	// n 11:59:50 2 <nil>
}

// An object that is gone from a cache is nil; to read it is no reason to panic.
func TestObserveNothing(t *testing.T) {
	require.Zero(t, drain.ObservePod(nil, nil))
}

// Nothing ends before a deletionTimestamp that lies in the future, so it is reported. Clocks
// may differ a little.
func TestObserveDeletionInTheFuture(t *testing.T) {
	claim, node := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "c"}}, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}}
	at := metav1.NewTime(noon.Add(drain.Minimum))
	claim.DeletionTimestamp, node.DeletionTimestamp = &at, &at
	_, err := drain.Observe(noon, claim, node, nil)
	require.NoError(t, err)
	_, err = drain.Observe(noon.Add(-time.Second), claim, node, nil)
	require.ErrorContains(t, err, `NodeClaim "c": metadata.deletionTimestamp: `)
	require.ErrorContains(t, err, `Node "n": metadata.deletionTimestamp: `)
	require.ErrorContains(t, err, "lies in the future, and the drain does not end before; compare the clock")
}
