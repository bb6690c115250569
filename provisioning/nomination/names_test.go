package nomination_test

import (
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/provisioning/nomination"
)

// of returns a pod of a controller of a kind. An API server gives it a UID of its own each time.
func of(kind, name, uid string) *corev1.Pod {
	p := pod(name, "db")
	p.OwnerReferences[0].Kind, p.UID = kind, types.UID(uid)
	if kind != "Cluster" { // an operator's, which names its pods itself
		p.GenerateName = "db-"
	}
	return p
}

// moved returns the NodeClaims a and b that pods db-0 and db-1 are to move to, and where each of some pods
// is promised a place then.
func moved(t *testing.T, kind string, pods ...*corev1.Pod) (places map[string]string, s nomination.State) {
	t.Helper()
	a := created(t, "a", []*corev1.Pod{on(of(kind, "db-0", "first-0"), "old")}, nil)
	b := created(t, "b", []*corev1.Pod{on(of(kind, "db-1", "first-1"), "old")}, nil)
	old := &corev1.Node{}
	old.Name = "old"
	s = review(t, nomination.Input{NodeClaims: []*v1.NodeClaim{a, b}, Nodes: []*corev1.Node{ready(a, noon), ready(b, noon), old}, Pods: pods}, noon.Add(time.Second))
	places = map[string]string{}
	for _, p := range s.Pods {
		places[p.Pod.Name] = p.NodeClaim
	}
	return places, s
}

// A StatefulSet's pod comes back under its name, and takes the place of no other: its volume may be in
// the zone of the node that was launched for it.
func TestSuccessorsByName(t *testing.T) {
	again := func(kind, name string, created time.Duration) *corev1.Pod {
		p := of(kind, name, "second-"+name)
		p.CreationTimestamp = metav1.NewTime(noon.Add(created))
		return p
	}
	for _, kind := range []string{"StatefulSet", "Cluster"} {
		places, _ := moved(t, kind, again(kind, "db-1", 0), again(kind, "db-0", time.Second))
		require.Equal(t, map[string]string{"db-0": "a", "db-1": "b"}, places, "of kind %s, the younger first", kind)
	}
	places, _ := moved(t, "ReplicaSet", again("ReplicaSet", "db-x", 0))
	require.Equal(t, map[string]string{"db-x": "a"}, places, "names are drawn")
	places, _ = moved(t, "Cluster", again("Cluster", "db-2", 0))
	require.Equal(t, map[string]string{"db-2": "a"}, places, "this operator counts on")

	// While the one is still on its node, the other waits for its own place only.
	set := "StatefulSet"
	places, s := moved(t, set, on(of(set, "db-0", "first-0"), "old"), again(set, "db-1", 0))
	require.Equal(t, map[string]string{"db-1": "b"}, places)
	require.Len(t, s.Moving, 1)
	places, s = moved(t, set, again(set, "db-1", 0), again(set, "db-2", 0))
	require.Equal(t, map[string]string{"db-1": "b"}, places, "db-2 was promised nothing")
	require.Equal(t, 1, s.Nodes[0].Missing)

	// Bound elsewhere, it gives up its own place and no other.
	places, s = moved(t, set, on(again(set, "db-1", time.Second), "elsewhere"))
	require.Empty(t, places)
	require.Equal(t, nomination.Filling, s.Nodes[0].Phase)
	require.Equal(t, nomination.Open, s.Nodes[1].Phase)
	_, s = moved(t, set, on(again(set, "db-1", 0), "node-a"), again(set, "db-0", 0))
	require.Equal(t, 1, s.Nodes[0].Pending, "a sibling on the node of db-0 is not db-0")
	_, s = moved(t, set, on(again(set, "db-0", 0), "node-a"), on(again(set, "db-1", 0), "node-b"))
	require.Equal(t, []nomination.Phase{nomination.Open, nomination.Open}, []nomination.Phase{s.Nodes[0].Phase, s.Nodes[1].Phase})
}

// sizeless returns the annotation of a claim, with SIZE for the names of amounts.
func sizeless(c *v1.NodeClaim) string {
	return regexp.MustCompile(`"size":"[^"]*"`).ReplaceAllString(c.Annotations[nomination.AnnotationKey], `"size":"SIZE"`)
}

// A pod that is promised another node takes its name along, and a promise that was written without
// names is for any pod of the StatefulSet.
func TestNamesOfPromises(t *testing.T) {
	set := "StatefulSet"
	pods := []*corev1.Pod{of(set, "db-1", "u1"), of(set, "db-0", "u2"), of(set, "db-2", "u0")}
	claim := created(t, "a", pods, nil)
	const text = `[{"at":"2026-03-02T12:00:00Z","owner":"db","size":"SIZE","pods":["u0","u1","u2"],"names":["db-2","db-1","db-0"]}]`
	require.Equal(t, text, sizeless(claim))
	claim, err := nomination.Reserve(noon.Add(time.Minute), claim, pods[:1], nil)
	require.NoError(t, err)
	require.Equal(t, `[{"at":"2026-03-02T12:00:00Z","owner":"db","size":"SIZE","pods":["u0","u2"],"names":["db-2","db-0"]},`+
		`{"at":"2026-03-02T12:01:00Z","owner":"db","size":"SIZE","pods":["u1"],"names":["db-1"]}]`, sizeless(claim))

	mixed := created(t, "a", []*corev1.Pod{of("ReplicaSet", "db-x", "u1"), of("Cluster", "db-1", "u2"), of("ReplicaSet", "db-y", "u0")}, nil)
	require.Equal(t, `[{"at":"2026-03-02T12:00:00Z","owner":"db","size":"SIZE","pods":["u0","u1","u2"],"names":["","","db-1"]}]`, sizeless(mixed))
	require.NotContains(t, sizeless(created(t, "a", []*corev1.Pod{of("ReplicaSet", "db-x", "u1")}, nil)), "names")

	unnamed := created(t, "a", []*corev1.Pod{of("ReplicaSet", "db-x", "u1")}, nil)
	s := review(t, nomination.Input{NodeClaims: []*v1.NodeClaim{unnamed}, Pods: []*corev1.Pod{of(set, "db-0", "u2")}}, noon)
	require.Len(t, s.Pods, 1)
}
