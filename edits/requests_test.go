package edits_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/edits"
)

func texts(t *testing.T, before, after *corev1.Node) (out []string) {
	t.Helper()
	requests, err := edits.Requests(before, after)
	require.NoError(t, err)
	for _, r := range requests {
		out = append(out, r.String())
	}
	return out
}

func TestWhatDiffersIsSent(t *testing.T) {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "a", UID: "1", ResourceVersion: "7", Labels: map[string]string{"x": "1", "y": "2"}},
		Spec: corev1.NodeSpec{Taints: []corev1.Taint{{Key: "k", Effect: corev1.TaintEffectNoSchedule}}}, Status: corev1.NodeStatus{Phase: "Pending"}}
	require.Empty(t, texts(t, node, node))
	other := node.DeepCopy()
	other.ResourceVersion, other.ManagedFields = "8", []metav1.ManagedFieldsEntry{{Manager: "kubelet"}}
	require.Empty(t, texts(t, node, other), "what the API server writes is not sent")
	other.Labels = map[string]string{"x": "1", "z": "3"}
	require.Equal(t, []string{`{"metadata":{"labels":{"y":null,"z":"3"}}}`}, texts(t, node, other))
	other.Spec.Taints = nil
	require.Equal(t, []string{`{"metadata":{"labels":{"y":null,"z":"3"}},"spec":{"taints":null}}`}, texts(t, node, other))
	other.Status.Phase = ""
	require.Equal(t, []string{`{"metadata":{"labels":{"y":null,"z":"3"}},"spec":{"taints":null}}`, `status {"status":{"phase":null}}`}, texts(t, node, other), "the status comes last")
	requests, err := edits.Requests(node, other)
	require.NoError(t, err)
	require.JSONEq(t, `{"metadata":{"labels":{"y":null,"z":"3"},"resourceVersion":"7"},"spec":{"taints":null}}`, string(requests[0].Patch("7")))
	require.JSONEq(t, `{"metadata":{"resourceVersion":"9"},"status":{"phase":null}}`, string(requests[1].Patch("9")))
	require.Equal(t, `{"metadata":{"labels":{"y":null,"z":"3"}},"spec":{"taints":null}}`, requests[0].String(), "a version stays where it was asked for")
	require.Equal(t, `{}`, string(edits.Request{}.Patch("")))
	require.Equal(t, `{"metadata":{"resourceVersion":"1"}}`, string(edits.Request{}.Patch("1")))
}

func TestWhatCannotBeSent(t *testing.T) {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "a", UID: "1"}}
	for _, other := range []*corev1.Node{{ObjectMeta: metav1.ObjectMeta{Name: "b", UID: "1"}}, {ObjectMeta: metav1.ObjectMeta{Name: "a", UID: "2"}}} {
		_, err := edits.Requests(node, other)
		require.ErrorContains(t, err, "give the same object twice")
	}
	_, err := edits.Requests(node, nil)
	require.ErrorContains(t, err, "an object is nil")
	var none metav1.Object
	_, err = edits.Requests(none, none)
	require.ErrorContains(t, err, "an object is nil")
}

// apply is RFC 7386, from its text.
func apply(target, patch map[string]any) map[string]any {
	if target == nil {
		target = map[string]any{}
	}
	for key, value := range patch {
		inner, isMap := value.(map[string]any)
		switch {
		case value == nil:
			delete(target, key)
		case isMap:
			was, _ := target[key].(map[string]any)
			target[key] = apply(was, inner)
		default:
			target[key] = value
		}
	}
	return target
}

// Patches make of one random NodeClaim what the other says, and nothing is left to send.
func TestPatchesMakeWhatWasWanted(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	claim := func() *v1.NodeClaim {
		c := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "a", UID: "1"}}
		for i := range rng.IntN(4) {
			metav1.SetMetaDataLabel(&c.ObjectMeta, fmt.Sprint("l", i), fmt.Sprint(rng.IntN(2)))
			metav1.SetMetaDataAnnotation(&c.ObjectMeta, fmt.Sprint("a", rng.IntN(4)), fmt.Sprint(rng.IntN(2)))
			c.Status.Conditions = append(c.Status.Conditions, metav1.Condition{Type: fmt.Sprint(i), LastTransitionTime: metav1.NewTime(time.Unix(int64(rng.IntN(3)), 0).UTC())})
			c.Spec.StartupTaints = append(c.Spec.StartupTaints, corev1.Taint{Key: fmt.Sprint(rng.IntN(2))})
		}
		if rng.IntN(2) == 0 {
			c.Finalizers, c.Status.ProviderID = []string{v1.TerminationFinalizer}, "cloud://1"
		}
		return c
	}
	for range 500 {
		before, after := claim(), claim()
		requests, err := edits.Requests(before, after)
		require.NoError(t, err)
		text, err := json.Marshal(before)
		require.NoError(t, err)
		var have map[string]any
		require.NoError(t, json.Unmarshal(text, &have))
		for _, r := range requests {
			var patch map[string]any
			require.NoError(t, json.Unmarshal(r.Patch(""), &patch))
			have = apply(have, patch)
		}
		text, err = json.Marshal(have)
		require.NoError(t, err)
		var got v1.NodeClaim
		require.NoError(t, json.Unmarshal(text, &got))
		left, err := edits.Requests(&got, after)
		require.NoError(t, err)
		require.Empty(t, left)
	}
}

// A Node is registered: its labels are one request, and its status would be another.
func ExampleRequests() {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "ip-10-0-0-1", ResourceVersion: "41"}}
	after := node.DeepCopy()
	after.Labels = map[string]string{v1.NodeRegisteredLabelKey: "true"}
	after.Status.Phase = corev1.NodeRunning
	requests, err := edits.Requests(node, after)
	if err != nil {
		fmt.Println(err)
		return
	}
	version := node.ResourceVersion
	for _, r := range requests {
		fmt.Println(r.Subresource, string(r.Patch(version)))
		version = "42" // of the answer
	}
	// Output:
	//  {"metadata":{"labels":{"karpenter.sh/registered":"true"},"resourceVersion":"41"}}
	// status {"metadata":{"resourceVersion":"42"},"status":{"phase":"Running"}}
}
