package nomination_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/provisioning/nomination"
)

// unplaced returns a copy of a pod that kube-scheduler found no room for.
func unplaced(p *corev1.Pod) *corev1.Pod {
	p = p.DeepCopy()
	p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable}}
	return p
}

// tried returns a pod that kube-scheduler has bound, or found no place for, at an instant.
func tried(p *corev1.Pod, at time.Time) *corev1.Pod {
	p = p.DeepCopy()
	p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable, LastTransitionTime: metav1.NewTime(at)}}
	if p.Spec.NodeName != "" {
		p.Status.Conditions[0].Status, p.Status.Conditions[0].Reason = corev1.ConditionTrue, ""
	}
	return p
}

// A pod waits for node a, and one of the same ReplicaSet runs on a node that goes and has
// its place on node b: a spread that still counts that one there keeps the first from a, and
// a budget that counts the first keeps the second from leaving. So they change places.
func TestPodsThatAreAlikeChangePlaces(t *testing.T) {
	p, q, other := pod("p", "rs"), on(pod("q", "rs"), "old"), tried(on(pod("r", "others"), "old"), noon)
	a, b, c := created(t, "a", []*corev1.Pod{p}, nil), created(t, "b", []*corev1.Pod{q}, nil), created(t, "c", []*corev1.Pod{other}, nil)
	in := nomination.Input{NodeClaims: []*v1.NodeClaim{a, b, c}, Nodes: []*corev1.Node{ready(a, noon), ready(b, noon), ready(c, noon), {}}}
	in.Nodes[3].Name = "old"
	find := func(pods ...*corev1.Pod) nomination.Place {
		in.Pods = append(pods, q, other)
		s := review(t, in, noon.Add(20*time.Second))
		require.Len(t, s.Pods, 1)
		require.Equal(t, "a", s.Pods[0].NodeClaim)
		return s.Pods[0]
	}
	first := find(p)
	require.Equal(t, "a", first.Toleration.Value)
	p = tolerating(first)
	require.Nil(t, find(p).Toleration, "kube-scheduler has not tried yet")

	p = unplaced(p)
	s := review(t, in, noon.Add(19*time.Second))
	require.Nil(t, s.Pods[0].Toleration, "it is early")
	in.Pods = []*corev1.Pod{p, q, other}
	require.Equal(t, noon.Add(20*time.Second), review(t, in, noon.Add(19*time.Second)).Next)
	busy := on(pod("busy", "rs"), "elsewhere")
	busy.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(noon.Add(5 * time.Second))}}
	in.Pods = []*corev1.Pod{p, q, other, busy}
	s = review(t, in, noon.Add(20*time.Second))
	require.Nil(t, s.Pods[0].Toleration, "kube-scheduler is about it")
	require.Equal(t, noon.Add(25*time.Second), s.Next)
	second := find(p)
	require.Equal(t, "b", second.Toleration.Value, "c is kept for others")
	p = tolerating(second)
	require.Nil(t, find(p).Toleration, "it has all")

	// It goes to b. Node a is opened, as nobody is awaited there; q may leave now, and who
	// comes back for it finds room on a.
	in.Pods = []*corev1.Pod{on(p, "node-b"), q, other}
	for _, n := range review(t, in, noon.Add(21*time.Second)).Nodes {
		require.Equal(t, n.NodeClaim == "a", n.Phase == nomination.Open, n.NodeClaim)
	}
	// Once q is gone, p has taken its place, and b is opened as well.
	in.Pods = []*corev1.Pod{on(p, "node-b"), pod("q2", "rs"), other}
	s = review(t, in, noon.Add(22*time.Second))
	require.Empty(t, s.Pods, "q2 belongs into the next plan, which sees the room on a")
	for _, n := range s.Nodes {
		require.Equal(t, n.NodeClaim != "c", n.Phase == nomination.Open, n.NodeClaim)
	}
}

// After an outage of the API server kube-scheduler learns of a node late, and says of pods what
// it found before: they are not let onto other nodes before it has been at work for a while.
// Nor are they while the claim does not say yet that its Node has registered.
func TestNoPlacesChangeBeforeSchedulerWorks(t *testing.T) {
	p := tried(pod("p", "rs"), noon.Add(-time.Minute))
	p.Spec.Tolerations = []corev1.Toleration{{Key: nomination.TaintKey, Operator: corev1.TolerationOpEqual, Value: "a", Effect: corev1.TaintEffectNoSchedule}}
	q, other := tried(pod("q", "rs"), noon.Add(-time.Minute)), pod("other", "others")
	a, b := created(t, "a", []*corev1.Pod{p}, nil), created(t, "b", []*corev1.Pod{q}, nil)
	in := nomination.Input{NodeClaims: []*v1.NodeClaim{a, b}, Nodes: []*corev1.Node{ready(a, noon), ready(b, noon)}}
	let := func(other *corev1.Pod, at time.Duration) bool {
		in.Pods = []*corev1.Pod{p, q, other}
		s := review(t, in, noon.Add(at))
		require.Len(t, s.Pods, 2)
		return s.Pods[0].Toleration != nil
	}
	require.False(t, let(other, 80*time.Second), "it has said nothing since the node is ready")
	require.False(t, let(tried(other, noon.Add(-time.Second)), 80*time.Second), "nor now")
	for name, works := range map[string]*corev1.Pod{"bound": tried(on(other, "node"), noon.Add(40*time.Second)), "no place": tried(other, noon.Add(40*time.Second))} {
		require.False(t, let(works, 59*time.Second), name)
		require.True(t, let(works, 60*time.Second), name)
	}
	works := tried(on(other, "node"), noon.Add(40*time.Second))
	for _, status := range []metav1.ConditionStatus{metav1.ConditionUnknown, metav1.ConditionTrue} {
		a.Status.Conditions = []metav1.Condition{{Type: v1.ConditionTypeRegistered, Status: status, LastTransitionTime: metav1.NewTime(noon)}}
		require.Equal(t, status == metav1.ConditionTrue, let(works, 60*time.Second))
	}
}

// A plan has pod p on a node that is there, in a zone that a node leaves. kube-scheduler counts
// the pods of that one, so p waits; a budget lets none of them go while it does, and the other
// zones have room on a node that is kept for them: nobody would ever move.
func TestAPodForANodeThatIsThereChangesPlacesToo(t *testing.T) {
	p, q, sign := unplaced(pod("p", "rs")), on(pod("q", "rs"), "old"), tried(on(pod("r", "others"), "open"), noon.Add(time.Second))
	b := created(t, "b", []*corev1.Pod{q}, nil)
	nodes := []*corev1.Node{ready(b, noon), {ObjectMeta: metav1.ObjectMeta{Name: "old"}}, {ObjectMeta: metav1.ObjectMeta{Name: "open"}}}
	in := nomination.Input{NodeClaims: []*v1.NodeClaim{b}, Nodes: nodes, Pods: []*corev1.Pod{p, q, sign}, Bindings: []nomination.Binding{{Pod: "p", Node: "open", Until: noon.Add(time.Minute)}}}
	find := func(after time.Duration) nomination.Place {
		s := review(t, in, noon.Add(after))
		require.Len(t, s.Pods, 1)
		require.Equal(t, "open", s.Pods[0].Node)
		return s.Pods[0]
	}
	require.Nil(t, find(20*time.Second).Toleration, "it is early")
	require.Equal(t, noon.Add(21*time.Second), review(t, in, noon.Add(20*time.Second)).Next)
	let := find(21 * time.Second)
	require.Equal(t, "b", let.Toleration.Value)
	in.Pods[0] = tolerating(let)
	require.Nil(t, find(22*time.Second).Toleration, "it may go to all of them")

	in.Pods[0], in.Refused = p, map[types.UID]bool{"p": true}
	require.Nil(t, find(22*time.Second).Toleration, "it may not be changed")
	in.Refused, in.Pods[0] = nil, pod("p", "rs")
	require.Nil(t, find(22*time.Second).Toleration, "kube-scheduler has not tried yet")
}

// A pod without a controller has no kind, and a node that is not ready is no place.
func TestPodsThatChangeNoPlaces(t *testing.T) {
	for name, owner := range map[string]string{"of nobody": "", "of a ReplicaSet": "rs"} {
		p, q := unplaced(pod("p", owner)), on(pod("q", owner), "old")
		a, b := created(t, "a", []*corev1.Pod{p}, nil), created(t, "b", []*corev1.Pod{q}, nil)
		nodes := []*corev1.Node{ready(a, noon), {}}
		nodes[1].Name = "old"
		p.Spec.Tolerations = []corev1.Toleration{{Key: nomination.TaintKey, Operator: corev1.TolerationOpEqual, Value: "a", Effect: corev1.TaintEffectNoSchedule}}
		if owner == "" {
			nodes = append(nodes, ready(b, noon))
		}
		s := review(t, nomination.Input{NodeClaims: []*v1.NodeClaim{a, b}, Nodes: nodes, Pods: []*corev1.Pod{p, q}, Refused: map[types.UID]bool{}}, noon.Add(time.Minute))
		require.Len(t, s.Pods, 1, name)
		require.Nil(t, s.Pods[0].Toleration, name)
	}
}

// A pod that comes back under another name and is bound to a node that is open gives up the
// place of the one that is gone; one that was there before the promise does not.
func TestPodsThatCameBackElsewhere(t *testing.T) {
	p, q := on(pod("p", "rs"), "old"), on(pod("q", "rs"), "open")
	a := created(t, "a", []*corev1.Pod{p}, nil)
	nodes := []*corev1.Node{ready(a, noon), {}, {}}
	nodes[1].Name, nodes[2].Name = "old", "open"
	in := nomination.Input{NodeClaims: []*v1.NodeClaim{a}, Nodes: nodes, Pods: []*corev1.Pod{q}}
	s := review(t, in, noon.Add(time.Second))
	require.Equal(t, 1, s.Nodes[0].Missing)
	require.Equal(t, nomination.Filling, s.Nodes[0].Phase)

	again := on(pod("again", "rs"), "open")
	again.CreationTimestamp.Time = noon.Add(time.Second)
	in.Pods = append(in.Pods, again)
	s = review(t, in, noon.Add(2*time.Second))
	require.Equal(t, nomination.Open, s.Nodes[0].Phase)
	require.NotNil(t, s.Nodes[0].Opened)
}

// While kube-scheduler binds pods of the kind it has not come to those of this node yet.
func TestKeptWhileOthersAreBound(t *testing.T) {
	p := pod("p", "rs")
	a := created(t, "a", []*corev1.Pod{p}, nil)
	in := nomination.Input{NodeClaims: []*v1.NodeClaim{a}, Nodes: []*corev1.Node{ready(a, noon)}}
	kept := func(owner string, bound, at time.Duration) bool {
		other := on(pod("other", owner), "elsewhere")
		other.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(noon.Add(bound))}}
		in.Pods = []*corev1.Pod{p, other}
		s := review(t, in, noon.Add(at))
		return s.Nodes[0].Phase == nomination.Filling
	}
	require.True(t, kept("rs", 75*time.Second, 94*time.Second))
	require.False(t, kept("rs", 75*time.Second, 95*time.Second))
	require.False(t, kept("others", 75*time.Second, 94*time.Second), "another kind")
	require.True(t, kept("rs", 260*time.Second, 269*time.Second))
	require.False(t, kept("rs", 265*time.Second, 270*time.Second), "three times as long")
}

// While kube-scheduler binds pods late to the nodes that are kept for them, it has not come to others
// either, of whatever kind. Pods that it binds soon, and those that no node is kept for, say nothing.
func TestKeptWhileSchedulerIsBehind(t *testing.T) {
	p, early := pod("p", "rs"), pod("early", "rs")
	a, b := created(t, "a", []*corev1.Pod{p}, nil), created(t, "b", []*corev1.Pod{pod("q", "others")}, nil)
	in := nomination.Input{NodeClaims: []*v1.NodeClaim{a, b}, Nodes: []*corev1.Node{ready(a, noon), ready(b, noon.Add(20*time.Second)), {ObjectMeta: metav1.ObjectMeta{Name: "open"}}},
		Bindings: nomination.Bind("open", []*corev1.Pod{early}, noon.Add(30*time.Second))}
	kept := func(node string, bound, at time.Duration) (claim, binding bool) {
		q := tried(on(pod("q", "others"), node), noon.Add(bound))
		in.Pods = []*corev1.Pod{p, q, early}
		s := review(t, in, noon.Add(at))
		require.Equal(t, len(s.Bindings) > 0, !s.Nominations()["open"].IsZero())
		return s.Nodes[0].Phase == nomination.Filling, len(s.Bindings) > 0
	}
	for _, tt := range []struct {
		node           string
		bound, at      time.Duration // since noon
		claim, binding bool          // whether the node is kept, and the room on the open one
	}{
		{"node-b", 75 * time.Second, 94 * time.Second, true, true},
		{"node-b", 75 * time.Second, 95 * time.Second, false, false},
		{"node-b", 49 * time.Second, 60 * time.Second, true, false}, // soon enough: 29 s
		{"node-b", 50 * time.Second, 60 * time.Second, true, true},
		{"elsewhere", 75 * time.Second, 94 * time.Second, false, false},
		{"node-b", 10 * time.Minute, 10*time.Minute + 19*time.Second, true, true},
		{"node-b", 15 * time.Minute, 15*time.Minute + time.Second, false, true}, // the node would be given up by now
	} {
		claim, binding := kept(tt.node, tt.bound, tt.at)
		require.Equal(t, tt.claim, claim, "%+v", tt)
		require.Equal(t, tt.binding, binding, "%+v", tt)
	}
}

// Pod p is meant for node a and goes to b, where pod q was meant to go: now q waits for a, which
// is not opened before q is there. So does one whose place that is taken in turn.
func TestWhoLosesAPlaceGetsTheOneThatWasLeft(t *testing.T) {
	p, q, r := pod("p", "rs"), pod("q", "rs"), pod("r", "rs")
	other := pod("other", "others")
	a, b, c := created(t, "a", []*corev1.Pod{p}, nil), created(t, "b", []*corev1.Pod{q, other}, nil), created(t, "c", []*corev1.Pod{r}, nil)
	in := nomination.Input{NodeClaims: []*v1.NodeClaim{a, b, c}, Nodes: []*corev1.Node{ready(a, noon), ready(b, noon), ready(c, noon)}}
	at := func(pods ...*corev1.Pod) (places map[string]string, open []string) {
		in.Pods = pods
		s := review(t, in, noon.Add(30*time.Second))
		places = map[string]string{}
		for _, place := range s.Pods {
			places[place.Pod.Name] = place.NodeClaim
			require.Equal(t, "node-"+place.NodeClaim, place.Node)
		}
		for _, n := range s.Nodes {
			if n.Phase == nomination.Open {
				open = append(open, n.NodeClaim)
			}
		}
		return places, open
	}
	places, open := at(p, q, r, other)
	require.Equal(t, map[string]string{"p": "a", "q": "b", "other": "b", "r": "c"}, places)
	require.Empty(t, open)

	places, open = at(on(p, "node-b"), q, r, other)
	require.Equal(t, map[string]string{"q": "a", "other": "b", "r": "c"}, places)
	require.Empty(t, open)

	places, open = at(on(p, "node-b"), on(q, "node-c"), r, other)
	require.Equal(t, map[string]string{"r": "a", "other": "b"}, places, "in a circle")
	require.Equal(t, []string{"c"}, open)

	places, open = at(on(p, "node-b"), q, on(r, "node-c"), on(other, "node-b"))
	require.Equal(t, map[string]string{"q": "a"}, places)
	require.Equal(t, []string{"b", "c"}, open)

	places, open = at(on(p, "elsewhere"), q, r, other)
	require.Equal(t, map[string]string{"q": "b", "other": "b", "r": "c"}, places, "nobody has lost a place")
	require.Equal(t, []string{"a"}, open)

	opened := in.Nodes[0].DeepCopy()
	opened.Spec.Taints = nil
	in.Nodes[0] = opened
	places, _ = at(on(p, "node-b"), q, r, other)
	require.Equal(t, "b", places["q"], "nothing is kept on a node that was opened")
}
