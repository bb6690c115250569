package nomination_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/provisioning/nomination"
)

func TestReserve(t *testing.T) {
	claim := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "a"}}
	c, err := nomination.Reserve(noon, claim, []*corev1.Pod{pod("x", "rs")}, nil)
	require.NoError(t, err)
	require.Empty(t, claim.Annotations, "what is given stays as it is")
	require.Equal(t, []corev1.Taint{{Key: nomination.TaintKey, Value: "a", Effect: corev1.TaintEffectNoSchedule}}, c.Spec.StartupTaints)

	again, err := nomination.Reserve(noon, c, []*corev1.Pod{pod("y", "rs"), pod("x", "rs")}, nil)
	require.NoError(t, err)
	require.Equal(t, c.Spec.StartupTaints, again.Spec.StartupTaints, "one taint is enough")

	c.UID = "there"
	c.Spec.StartupTaints = nil
	there, err := nomination.Reserve(noon, c, []*corev1.Pod{pod("y", "rs")}, nil)
	require.NoError(t, err)
	require.Empty(t, there.Spec.StartupTaints, "the spec of a NodeClaim does not change")

	none, err := nomination.Reserve(noon, claim, nil, nil)
	require.NoError(t, err)
	require.Equal(t, claim, none)

	open, err := nomination.Reserve(noon, claim, []*corev1.Pod{pod("x", "")}, &nomination.Options{NoTaint: true})
	require.NoError(t, err)
	require.Empty(t, open.Spec.StartupTaints)
	require.NotEmpty(t, open.Annotations[nomination.AnnotationKey])

	long, err := nomination.Reserve(noon, &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: strings.Repeat("a", 70)}}, []*corev1.Pod{pod("x", "")}, nil)
	require.NoError(t, err)
	require.Less(t, len(long.Spec.StartupTaints[0].Value), 20)
}

// All faults are told at once, each with what to do.
func TestReserveRefuses(t *testing.T) {
	_, err := nomination.Reserve(noon, nil, nil, nil)
	require.EqualError(t, err, "nomination: no NodeClaim is given")
	bad := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{nomination.AnnotationKey: "["}}}
	_, err = nomination.Reserve(noon, bad, []*corev1.Pod{nil, pod("", ""), pod("x", ""), pod("x", "")}, &nomination.Options{Hold: -1, Launch: -1, Move: -1})
	require.EqualError(t, err, strings.Join([]string{
		"nomination: Options.Hold is -1ns; give a duration above zero, or none for the default",
		"nomination: Options.Launch is -1ns; give a duration above zero, or none for the default",
		"nomination: Options.Move is -1ns; give a duration above zero, or none for the default",
		"nomination: the NodeClaim has no name: give it one before it is created",
		"nomination: NodeClaim : annotation dovetail-sdk.github.io/nominated-pods: unexpected EOF; delete the annotation to give its promises up",
		"nomination: pod 0 is nil",
		"nomination: pod web/ has no UID: take it from the cluster",
		"nomination: pod web/x is there twice",
	}, "\n"))
	_, err = nomination.Reserve(time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC), &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "a"}}, nil, nil)
	require.EqualError(t, err, "nomination: now is in the year 10000")
	_, err = nomination.Review(noon, nomination.Input{}, &nomination.Options{Hold: -1})
	require.Error(t, err)
}

// A node's way from the plan to all pods.
func TestReview(t *testing.T) {
	x, y, other := pod("x", "rs"), pod("y", ""), pod("other", "rs")
	c := created(t, "a", []*corev1.Pod{x, y}, nil)
	in := nomination.Input{NodeClaims: []*v1.NodeClaim{nil, c}, Pods: []*corev1.Pod{y, nil, other, x}}

	s := review(t, in, noon)
	require.Len(t, s.Pods, 2, "other belongs into the next plan")
	require.Equal(t, "x", s.Pods[0].Pod.Name)
	require.Equal(t, noon.Add(nomination.DefaultLaunch), s.Pods[0].Until)
	require.Equal(t, &corev1.Toleration{Key: nomination.TaintKey, Operator: corev1.TolerationOpEqual, Value: "a", Effect: corev1.TaintEffectNoSchedule}, s.Pods[0].Toleration)
	require.Equal(t, []nomination.Node{{NodeClaim: "a", Phase: nomination.Coming, Until: noon.Add(15 * time.Minute), Pending: 2}}, s.Nodes)
	require.Equal(t, noon.Add(15*time.Minute), s.Next)
	require.Equal(t, map[string]time.Time{"a": noon.Add(15 * time.Minute)}, s.Nominations())

	x, y = tolerating(s.Pods[0]), tolerating(s.Pods[1])
	up := noon.Add(time.Minute)
	in.Nodes, in.Pods = []*corev1.Node{ready(c, up), nil}, []*corev1.Pod{x, y, other}
	s = review(t, in, up)
	require.Nil(t, s.Pods[0].Toleration, "it has it")
	require.Equal(t, "node-a", s.Pods[0].Node)
	require.Equal(t, []nomination.Node{{NodeClaim: "a", Node: "node-a", Phase: nomination.Filling, Until: up.Add(nomination.DefaultHold), Pending: 2}}, s.Nodes)

	in.Pods = []*corev1.Pod{on(x, "node-a"), y, other}
	s = review(t, in, up)
	require.Equal(t, nomination.Filling, s.Nodes[0].Phase)
	require.Equal(t, 1, s.Nodes[0].Pending)

	in.Pods = []*corev1.Pod{on(x, "node-a"), on(y, "elsewhere"), other}
	s = review(t, in, up)
	require.Empty(t, s.Pods)
	require.Equal(t, nomination.Open, s.Nodes[0].Phase)
	require.Empty(t, s.Nodes[0].Opened.Spec.Taints)
	require.NotEmpty(t, in.Nodes[0].Spec.Taints, "what is given stays as it is")
	require.Empty(t, s.Nominations())

	in.Nodes = []*corev1.Node{s.Nodes[0].Opened}
	s = review(t, in, up)
	require.Equal(t, nomination.Open, s.Nodes[0].Phase)
	require.Nil(t, s.Nodes[0].Opened, "there is nothing left to do")
	require.True(t, s.Next.IsZero())
}

func TestWhatEndsPromises(t *testing.T) {
	up := noon.Add(time.Minute)
	for _, tt := range []struct {
		name   string
		change func(in *nomination.Input, now *time.Time)
		pods   int              // that have a promise
		phase  nomination.Phase // of the node; empty for none
		opened bool
	}{
		{"nothing", func(*nomination.Input, *time.Time) {}, 2, nomination.Filling, false},
		{"a launch that found no capacity", func(in *nomination.Input, _ *time.Time) {
			gone := metav1.NewTime(noon)
			in.NodeClaims[0].DeletionTimestamp, in.Nodes = &gone, nil
		}, 0, "", false},
		{"a claim that is gone while its node is not", func(in *nomination.Input, _ *time.Time) { in.NodeClaims = nil }, 0, nomination.Open, true},
		{"time, once the node is ready", func(_ *nomination.Input, now *time.Time) { *now = up.Add(nomination.DefaultHold) }, 0, nomination.Open, true},
		{"not a moment sooner", func(_ *nomination.Input, now *time.Time) { *now = up.Add(nomination.DefaultHold - 1) }, 2, nomination.Filling, false},
		{"time, while it is not", func(in *nomination.Input, now *time.Time) {
			in.Nodes, *now = nil, noon.Add(nomination.DefaultLaunch)
		}, 0, nomination.Coming, false},
		{"pods that are gone, and nobody makes again", func(in *nomination.Input, _ *time.Time) { in.Pods = in.Pods[:1] }, 1, nomination.Filling, false},
		{"pods that have finished", func(in *nomination.Input, _ *time.Time) {
			in.Pods[0].Status.Phase, in.Pods[1].Status.Phase = corev1.PodSucceeded, corev1.PodFailed
		}, 0, nomination.Open, true},
		{"pods that may not be changed", func(in *nomination.Input, _ *time.Time) {
			in.Refused = map[types.UID]bool{"x": true, "y": true}
		}, 2, nomination.Open, true},
		{"a node that is not ready is kept", func(in *nomination.Input, now *time.Time) {
			in.Nodes[0].Status.Conditions, *now = nil, up.Add(nomination.DefaultHold)
		}, 2, nomination.Coming, false},
		{"another startup taint", func(in *nomination.Input, now *time.Time) {
			cni := corev1.Taint{Key: "cni.example.com/starting", Effect: corev1.TaintEffectNoExecute}
			in.NodeClaims[0].Spec.StartupTaints = append(in.NodeClaims[0].Spec.StartupTaints, cni)
			in.Nodes[0].Spec.Taints = in.NodeClaims[0].Spec.StartupTaints
			*now = up.Add(nomination.DefaultHold)
		}, 2, nomination.Coming, false},
		{"a taint that goes by itself", func(in *nomination.Input, _ *time.Time) {
			in.Nodes[0].Spec.Taints = append(in.Nodes[0].Spec.Taints, corev1.Taint{Key: "readiness.k8s.io/net", Effect: corev1.TaintEffectNoSchedule})
		}, 2, nomination.Coming, false},
		{"registration counts as well", func(in *nomination.Input, now *time.Time) {
			in.NodeClaims[0].Status.Conditions = []metav1.Condition{{Type: v1.ConditionTypeRegistered, Status: metav1.ConditionTrue, LastTransitionTime: metav1.NewTime(up.Add(time.Minute))}}
			*now = up.Add(nomination.DefaultHold)
		}, 2, nomination.Filling, false},
		{"a later plan", func(in *nomination.Input, _ *time.Time) {
			c, err := nomination.Reserve(noon.Add(time.Second), &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "0"}}, in.Pods, nil)
			require.NoError(t, err)
			c.CreationTimestamp = metav1.NewTime(up)
			in.NodeClaims = append(in.NodeClaims, c)
		}, 2, nomination.Open, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := created(t, "a", []*corev1.Pod{pod("x", ""), pod("y", "")}, nil)
			in := nomination.Input{NodeClaims: []*v1.NodeClaim{c}, Nodes: []*corev1.Node{ready(c, up)}, Pods: []*corev1.Pod{pod("x", ""), pod("y", "")}}
			now := up
			tt.change(&in, &now)
			s := review(t, in, now)
			require.Len(t, s.Pods, tt.pods)
			if tt.phase == "" {
				require.Empty(t, s.Nodes)
				return
			}
			last := s.Nodes[len(s.Nodes)-1]
			require.Equal(t, tt.phase, last.Phase)
			require.Equal(t, tt.opened, last.Opened != nil)
			for _, p := range s.Pods {
				require.Equal(t, tt.phase == nomination.Open && p.NodeClaim == "a", p.NodeClaim == "a" && p.Toleration == nil)
				require.True(t, p.Until.After(now))
			}
		})
	}
}

// Pods that are evicted come back under new names, and find the place kept.
func TestPodsThatComeBack(t *testing.T) {
	old := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "old"}}
	running := []*corev1.Pod{on(pod("x", "rs"), "old"), on(pod("y", "rs"), "old"), on(pod("solo", ""), "old")}
	c := created(t, "a", running, nil)
	up := noon.Add(time.Minute)
	in := nomination.Input{NodeClaims: []*v1.NodeClaim{c}, Nodes: []*corev1.Node{old, ready(c, up)}, Pods: running}

	late := up.Add(10 * time.Minute) // an eviction takes its time
	s := review(t, in, late)
	require.Empty(t, s.Pods)
	require.Equal(t, nomination.Node{NodeClaim: "a", Node: "node-a", Phase: nomination.Filling, Until: noon.Add(nomination.DefaultMove), Moving: 3}, s.Nodes[0])
	require.Len(t, s.Moving, 3, "the next plan leaves them out")
	require.Equal(t, nomination.Place{Pod: running[2], NodeClaim: "a", Node: "node-a", Until: noon.Add(nomination.DefaultMove)}, s.Moving[0])

	big := pod("big", "rs")
	big.Spec.Containers[0].Resources.Requests["cpu"] = resource.MustParse("2")
	in.Pods = []*corev1.Pod{big, pod("stranger", "other"), running[1]} // x and solo were evicted
	s = review(t, in, late)
	require.Empty(t, s.Pods, "they are not alike")
	require.Equal(t, 1, s.Nodes[0].Missing, "nobody makes solo again")

	again := func(name string) *corev1.Pod {
		p := pod(name, "rs")
		p.CreationTimestamp = metav1.NewTime(late)
		return p
	}
	in.Pods = append(in.Pods, again("x2"), again("x3"))
	s = review(t, in, late)
	require.Len(t, s.Pods, 1, "one place was kept")
	require.Equal(t, "x2", s.Pods[0].Pod.Name)
	in.Pods[3] = tolerating(s.Pods[0])
	in.Pods = append(in.Pods, again("a1")) // comes first by name
	s = review(t, in, late)
	require.Len(t, s.Pods, 1)
	require.Equal(t, "x2", s.Pods[0].Pod.Name, "who has the toleration keeps the place")
	end := late.Add(nomination.DefaultHold)
	require.Equal(t, end, s.Pods[0].Until, "as long as for a pod that was pending from the start")
	require.Equal(t, end, s.Next)
	s = review(t, in, end.Add(-1))
	require.Len(t, s.Pods, 1)
	s = review(t, in, end)
	require.Empty(t, s.Pods, "kube-scheduler does not bind it there")
	require.Equal(t, nomination.Node{NodeClaim: "a", Node: "node-a", Phase: nomination.Filling, Until: noon.Add(nomination.DefaultMove), Moving: 1}, s.Nodes[0], "y may still come")

	in.Pods = []*corev1.Pod{on(pod("x2", "rs"), "node-a"), on(pod("y2", "rs"), "node-a"), pod("x3", "rs")}
	s = review(t, in, late)
	require.Empty(t, s.Pods)
	require.Equal(t, nomination.Open, s.Nodes[0].Phase, "both places are taken")

	in.Pods, in.Nodes = in.Pods[:1], in.Nodes[1:]
	s = review(t, in, late)
	require.Equal(t, nomination.Open, s.Nodes[0].Phase, "the node they come from is gone, and so is who would come")
}

// A machine may join before the claim says that it is its own: it is kept, and if the claim
// never says so, until that is gone.
func TestNodesThatJoinEarly(t *testing.T) {
	c := created(t, "a", []*corev1.Pod{pod("x", "rs")}, nil)
	early := ready(c, noon)
	c.Status.NodeName = ""
	in := nomination.Input{NodeClaims: []*v1.NodeClaim{c}, Nodes: []*corev1.Node{early}, Pods: []*corev1.Pod{pod("x", "rs")}}
	s := review(t, in, noon)
	require.Len(t, s.Nodes, 1)
	require.Nil(t, s.Nodes[0].Opened)
	require.Equal(t, nomination.Coming, s.Nodes[0].Phase)
	in.NodeClaims = nil
	require.NotNil(t, review(t, in, noon).Nodes[0].Opened, "nobody else would open it")
}

func TestBindings(t *testing.T) {
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}}
	pods := []*corev1.Pod{pod("x", ""), nil, pod("y", "")}
	in := nomination.Input{Nodes: []*corev1.Node{n}, Pods: pods,
		Bindings: append(nomination.Bind("n", pods, noon.Add(time.Minute)), nomination.Bind("gone", pods, noon.Add(time.Hour))...)}
	s := review(t, in, noon)
	require.Len(t, s.Pods, 2)
	require.Equal(t, nomination.Place{Pod: pods[0], Node: "n", Until: noon.Add(time.Minute)}, s.Pods[0])
	require.Len(t, s.Bindings, 2)
	require.Equal(t, noon.Add(time.Minute), s.Next)
	require.Equal(t, map[string]time.Time{"n": noon.Add(time.Minute)}, s.Nominations())

	in.Pods = []*corev1.Pod{on(pods[0], "m"), pods[2]}
	require.Len(t, review(t, in, noon).Pods, 1)
	require.Empty(t, review(t, in, noon.Add(time.Minute)).Bindings)

	in.NodeClaims = []*v1.NodeClaim{created(t, "a", []*corev1.Pod{pod("y", "")}, nil)}
	s = review(t, in, noon)
	require.Equal(t, "a", s.Pods[0].NodeClaim, "a claim is meant for it")
	require.Empty(t, s.Bindings)
}

func TestWithoutTaint(t *testing.T) {
	opts := &nomination.Options{NoTaint: true}
	c := created(t, "a", []*corev1.Pod{pod("x", "")}, opts)
	in := nomination.Input{NodeClaims: []*v1.NodeClaim{c}, Pods: []*corev1.Pod{pod("x", "")}, Nodes: []*corev1.Node{ready(c, noon)}}
	s, err := nomination.Review(noon, in, opts)
	require.NoError(t, err)
	require.Nil(t, s.Pods[0].Toleration)
	require.Equal(t, "node-a", s.Pods[0].Node)
	require.Equal(t, nomination.Open, s.Nodes[0].Phase)
	require.Nil(t, s.Nodes[0].Opened)
	require.Equal(t, 1, s.Nodes[0].Pending)
}

// A pod that tolerates everything needs nothing.
func TestTolerations(t *testing.T) {
	for _, tt := range []struct {
		have  corev1.Toleration
		needs bool
	}{
		{corev1.Toleration{Operator: corev1.TolerationOpExists}, false},
		{corev1.Toleration{Key: nomination.TaintKey, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule}, false},
		{corev1.Toleration{Key: nomination.TaintKey, Value: "a"}, false},
		{corev1.Toleration{Key: nomination.TaintKey, Value: "b"}, true},
		{corev1.Toleration{Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute}, true},
		{corev1.Toleration{Key: "other", Operator: corev1.TolerationOpExists}, true},
	} {
		p := pod("x", "")
		p.Spec.Tolerations = []corev1.Toleration{tt.have}
		c := created(t, "a", []*corev1.Pod{p}, nil)
		s := review(t, nomination.Input{NodeClaims: []*v1.NodeClaim{c}, Pods: []*corev1.Pod{p}}, noon)
		require.Equal(t, tt.needs, s.Pods[0].Toleration != nil, "%+v", tt.have)
	}
}

// One annotation that cannot be read takes nothing from the others.
func TestUnreadable(t *testing.T) {
	for text, want := range map[string]string{
		"{}":                              "cannot unmarshal object",
		`[{"at":"2026-03-02T12:00:00Z"}]`: "[0].pods: missing",
		`[{"pods":["x"]}]`:                "[0].at: missing",
		`[{"pods":[""],"at":"2026-03-02T12:00:00Z"}]`:                    "[0].pods: a UID is empty",
		`[{"pods":["x"],"names":["a","b"],"at":"2026-03-02T12:00:00Z"}]`: "[0].names: 2 for 1 pods",
		`[{"newer":1}]`: `unknown field "newer"`,
		`[] []`:         "something follows the list",
	} {
		bad, good := created(t, "bad", []*corev1.Pod{pod("x", "")}, nil), created(t, "good", []*corev1.Pod{pod("y", "")}, nil)
		bad.Annotations[nomination.AnnotationKey] = text
		in := nomination.Input{NodeClaims: []*v1.NodeClaim{bad, good}, Pods: []*corev1.Pod{pod("x", ""), pod("y", "")}, Nodes: []*corev1.Node{ready(bad, noon)}}
		s, err := nomination.Review(noon, in, nil)
		require.ErrorContains(t, err, "nomination: NodeClaim bad: annotation "+nomination.AnnotationKey+": ")
		require.ErrorContains(t, err, want)
		require.Len(t, s.Pods, 1)
		require.NotNil(t, s.Nodes[0].Opened, "nothing is left tainted")
	}
}

// FuzzReview looks for annotations that make Reserve or Review panic, or that are read
// and then refused.
func FuzzReview(f *testing.F) {
	c := created(f, "a", []*corev1.Pod{pod("x", "rs"), on(pod("y", "rs"), "old")}, nil)
	f.Add(c.Annotations[nomination.AnnotationKey], int64(60))
	f.Add(`[{"at":"2026-03-02T12:00:00Z","owner":"rs","pods":["x","x"]}]`, int64(0))
	f.Fuzz(func(t *testing.T, text string, seconds int64) {
		c := c.DeepCopy()
		c.Annotations[nomination.AnnotationKey] = text
		now := noon.Add(time.Duration(seconds%1e6) * time.Second)
		in := nomination.Input{NodeClaims: []*v1.NodeClaim{c}, Pods: []*corev1.Pod{pod("x", "rs"), pod("z", "rs")}, Nodes: []*corev1.Node{ready(c, noon)}}
		_, err := nomination.Review(now, in, nil)
		more, reserved := nomination.Reserve(noon, c, []*corev1.Pod{pod("z", "rs")}, nil)
		require.Equal(t, err == nil, reserved == nil)
		if err == nil {
			in.NodeClaims[0] = more
			_, err = nomination.Review(now, in, nil)
			require.NoError(t, err)
		}
	})
}
