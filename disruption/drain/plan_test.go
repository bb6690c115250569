package drain_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/disruption/drain"
	"github.com/dovetail-sdk/dovetail/internal/testlong"
)

var drainStart = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)

// drainPod returns a ready pod of an app with a grace of 30 seconds.
func drainPod(name, app string, change func(*drain.Pod)) drain.Pod {
	p := drain.Pod{Namespace: "ns", Name: name, Labels: map[string]string{"app": app},
		Phase: corev1.PodRunning, Ready: corev1.ConditionTrue, Grace: 30 * time.Second}
	if change != nil {
		change(&p)
	}
	return p
}

func drainBudget(app string, allowed int) *policyv1.PodDisruptionBudget {
	return anyBudget(app, &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}}, int32(allowed), 0)
}

// anyBudget returns a budget with as many healthy pods as it asks for.
func anyBudget(name string, selector *metav1.LabelSelector, allowed, healthy int32) *policyv1.PodDisruptionBudget {
	return &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name},
		Spec:   policyv1.PodDisruptionBudgetSpec{Selector: selector},
		Status: policyv1.PodDisruptionBudgetStatus{DisruptionsAllowed: allowed, CurrentHealthy: healthy, DesiredHealthy: healthy}}
}

// grantedTo returns a budget that has counted the eviction of a pod.
func grantedTo(pod string, b *policyv1.PodDisruptionBudget) *policyv1.PodDisruptionBudget {
	b.Status.DisruptedPods = map[string]metav1.Time{pod: {}}
	return b
}

// alwaysAllowing returns a budget that lets pods go which are not ready.
func alwaysAllowing(b *policyv1.PodDisruptionBudget) *policyv1.PodDisruptionBudget {
	always := policyv1.AlwaysAllow
	b.Spec.UnhealthyPodEvictionPolicy = &always
	return b
}

// elsewhere returns a budget of another namespace.
func elsewhere(b *policyv1.PodDisruptionBudget) *policyv1.PodDisruptionBudget {
	b.Namespace = "other"
	return b
}

// drainLines returns the steps of the only node, one line each.
func drainLines(t *testing.T, now time.Time, n drain.Node, opts *drain.Options, budgets ...*policyv1.PodDisruptionBudget) []string {
	n.Name = "node"
	plan, err := drain.Plan(now, drain.Input{Nodes: []drain.Node{n}, Budgets: budgets}, opts)
	require.NoError(t, err)
	var out []string
	p := plan.Nodes[0]
	for _, list := range [][]drain.PodPlan{p.Delete, p.Evict, p.Blocked, p.Ignored} {
		for _, s := range list {
			out = append(out, s.String())
		}
	}
	return out
}

func TestPlanGroups(t *testing.T) {
	pods := []drain.Pod{
		drainPod("node-agent", "x", func(p *drain.Pod) { p.Daemon, p.PriorityClass = true, "system-node-critical" }),
		drainPod("dns", "x", func(p *drain.Pod) { p.PriorityClass = "system-cluster-critical" }),
		drainPod("by-number", "x", func(p *drain.Pod) { p.Priority = 2_000_000_000 }),
		drainPod("logs", "x", func(p *drain.Pod) { p.Daemon = true }),
		drainPod("web", "x", nil),
		drainPod("batch", "x", func(p *drain.Pod) { p.Priority = -1 }),
		drainPod("sick", "x", func(p *drain.Pod) { p.Ready = corev1.ConditionFalse }),
		drainPod("slow", "x", func(p *drain.Pod) { p.Grace = time.Hour }),
	}
	group := func(want ...string) {
		t.Helper()
		plan, err := drain.Plan(drainStart, drain.Input{Nodes: []drain.Node{{Name: "n", Pods: pods}}}, nil)
		require.NoError(t, err)
		var got []string
		for _, s := range plan.Nodes[0].Evict {
			got = append(got, s.Name)
			require.Equal(t, plan.Nodes[0].Group, s.Group)
		}
		require.Equal(t, want, got)
		pods = slices.DeleteFunc(pods, func(p drain.Pod) bool { return slices.Contains(want, p.Name) })
		require.Len(t, plan.Nodes[0].Blocked, len(pods))
		for _, s := range plan.Nodes[0].Blocked {
			require.Equal(t, drain.GroupWaits, s.Code)
		}
	}
	group("batch", "sick", "slow", "web")
	group("logs")
	group("dns", "by-number")
	group("node-agent")
}

func TestPlanGroupTimeout(t *testing.T) {
	n := drain.Node{Since: drainStart, Pods: []drain.Pod{
		drainPod("stuck", "x", func(p *drain.Pod) { p.DoNotDisrupt = "true" }),
		drainPod("logs", "x", func(p *drain.Pod) { p.Daemon = true }),
		drainPod("dns", "x", func(p *drain.Pod) { p.PriorityClass = "system-cluster-critical" }),
	}}
	opts := &drain.Options{GroupTimeout: time.Minute}
	require.Equal(t, []string{"ns/stuck is not to be disrupted",
		"ns/logs is daemon and waits for pods of earlier groups until 2026-03-02T09:01:00Z",
		"ns/dns is critical and waits for pods of earlier groups until 2026-03-02T09:02:00Z"},
		drainLines(t, drainStart, n, opts))
	require.Equal(t, []string{"evict ns/logs", "ns/stuck is not to be disrupted",
		"ns/dns is critical and waits for pods of earlier groups until 2026-03-02T09:02:00Z"},
		drainLines(t, drainStart.Add(time.Minute), n, opts))
	require.Equal(t, []string{"evict ns/logs", "evict ns/dns", "ns/stuck is not to be disrupted"},
		drainLines(t, drainStart.Add(2*time.Minute), n, opts))
}

func TestPlanBudgets(t *testing.T) {
	two := []drain.Pod{drainPod("a", "web", nil), drainPod("b", "web", nil)}
	with := func(change func(*drain.Pod)) drain.Node {
		return drain.Node{Pods: []drain.Pod{drainPod("a", "web", change)}}
	}
	sick := func(p *drain.Pod) { p.Ready = corev1.ConditionFalse }
	for name, c := range map[string]struct {
		node    drain.Node
		budgets []*policyv1.PodDisruptionBudget
		want    []string
	}{
		"no budget":  {drain.Node{Pods: two}, nil, []string{"evict ns/a", "evict ns/b"}},
		"one of two": {drain.Node{Pods: two}, []*policyv1.PodDisruptionBudget{drainBudget("web", 1)}, []string{"evict ns/a, counted by ns/web", "ns/b may not be evicted: ns/web allows no more disruptions"}},
		"both":       {drain.Node{Pods: two}, []*policyv1.PodDisruptionBudget{drainBudget("web", 2)}, []string{"evict ns/a, counted by ns/web", "evict ns/b, counted by ns/web"}},
		// The evictor of a ended after the budget had counted it.
		"granted":        {drain.Node{Pods: two}, []*policyv1.PodDisruptionBudget{grantedTo("a", drainBudget("web", 0))}, []string{"delete ns/a with 30s of grace", "ns/b may not be evicted: ns/web allows no more disruptions"}},
		"granted, gone":  {drain.Node{Pods: two}, []*policyv1.PodDisruptionBudget{grantedTo("c", drainBudget("web", 1))}, []string{"evict ns/a, counted by ns/web", "ns/b may not be evicted: ns/web allows no more disruptions"}},
		"granted, going": {with(func(p *drain.Pod) { p.DeletionTime = drainStart.Add(time.Minute) }), []*policyv1.PodDisruptionBudget{grantedTo("a", drainBudget("web", 0))}, []string{"ns/a is terminating until 2026-03-02T09:01:00Z"}},
		"granted, kept":  {with(func(p *drain.Pod) { p.DoNotDisrupt = "true" }), []*policyv1.PodDisruptionBudget{grantedTo("a", drainBudget("web", 0))}, []string{"ns/a is not to be disrupted"}},
		"granted, hasty": {with(func(p *drain.Pod) { p.Grace = 0 }), []*policyv1.PodDisruptionBudget{grantedTo("a", drainBudget("web", 0))}, []string{"delete ns/a with 1s of grace"}},
		"of another":     {drain.Node{Pods: two}, []*policyv1.PodDisruptionBudget{drainBudget("db", 0)}, []string{"evict ns/a", "evict ns/b"}},
		"all pods":       {with(nil), []*policyv1.PodDisruptionBudget{anyBudget("all", &metav1.LabelSelector{}, 0, 0)}, []string{"ns/a may not be evicted: ns/all allows no more disruptions"}},
		"no selector":    {with(nil), []*policyv1.PodDisruptionBudget{anyBudget("none", nil, 0, 0)}, []string{"evict ns/a"}},
		"elsewhere":      {with(nil), []*policyv1.PodDisruptionBudget{elsewhere(anyBudget("all", &metav1.LabelSelector{}, 0, 0))}, []string{"evict ns/a"}},
		"overlap":        {with(nil), []*policyv1.PodDisruptionBudget{drainBudget("web", 9), anyBudget("all", &metav1.LabelSelector{}, 9, 0)}, []string{"ns/a cannot be evicted: several budgets select it (ns/all,ns/web); leave one"}},
		"pending":        {with(func(p *drain.Pod) { p.Phase = corev1.PodPending }), []*policyv1.PodDisruptionBudget{drainBudget("web", 0)}, []string{"evict ns/a"}},
		"sick":           {with(sick), []*policyv1.PodDisruptionBudget{drainBudget("web", 0)}, []string{"ns/a may not be evicted: ns/web allows no more disruptions"}},
		"sick, spare":    {with(sick), []*policyv1.PodDisruptionBudget{anyBudget("web", &metav1.LabelSelector{}, 0, 3)}, []string{"evict ns/a"}},
		"always allow":   {with(sick), []*policyv1.PodDisruptionBudget{alwaysAllowing(anyBudget("web", &metav1.LabelSelector{}, 0, 0))}, []string{"evict ns/a"}},
		"healthy, none":  {with(nil), []*policyv1.PodDisruptionBudget{alwaysAllowing(anyBudget("web", &metav1.LabelSelector{}, 0, 3))}, []string{"ns/a may not be evicted: ns/web allows no more disruptions"}},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, c.want, drainLines(t, drainStart, c.node, nil, c.budgets...))
		})
	}
}

// What a budget allows is shared by all nodes, and goes to the one that has to
// be empty first.
func TestPlanSharesBudgets(t *testing.T) {
	in := drain.Input{Budgets: []*policyv1.PodDisruptionBudget{drainBudget("web", 1)}, Nodes: []drain.Node{
		{Name: "a", Pods: []drain.Pod{drainPod("1", "web", nil)}},
		{Name: "b", Pods: []drain.Pod{drainPod("2", "web", nil)}, Deadline: drainStart.Add(2 * time.Hour)},
		{Name: "c", Pods: []drain.Pod{drainPod("3", "web", nil)}, Deadline: drainStart.Add(time.Hour)},
	}}
	plan, err := drain.Plan(drainStart, in, nil)
	require.NoError(t, err)
	require.Empty(t, plan.Nodes[0].Evict)
	require.Empty(t, plan.Nodes[1].Evict)
	require.Equal(t, "3", plan.Nodes[2].Evict[0].Name)
}

func TestPlanBadSelector(t *testing.T) {
	bad := drainBudget("web", 0)
	bad.Spec.Selector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: "Like"}}}
	plan, err := drain.Plan(drainStart, drain.Input{Budgets: []*policyv1.PodDisruptionBudget{bad},
		Nodes: []drain.Node{{Name: "n", Pods: []drain.Pod{drainPod("a", "web", nil)}}}}, nil)
	require.NoError(t, err)
	require.Len(t, plan.Nodes[0].Evict, 1)
	require.ErrorContains(t, plan.Faults, "budget ns/web: selector: ")
}

func TestPlanDoNotDisrupt(t *testing.T) {
	for _, c := range []struct {
		value   string
		started time.Time
		want    string
	}{
		{"true", drainStart, "ns/a is not to be disrupted"},
		{"30m", drainStart.Add(-29 * time.Minute), "ns/a is not to be disrupted until 2026-03-02T09:01:00Z"},
		{"30m", drainStart.Add(-30 * time.Minute), "evict ns/a"},
		{"30m", time.Time{}, "ns/a is not to be disrupted"},
		{"True", drainStart, "evict ns/a"}, {"0s", drainStart, "evict ns/a"}, {"-1h", drainStart, "evict ns/a"},
		{"1d", drainStart, "evict ns/a"}, {"false", drainStart, "evict ns/a"}, {"", drainStart, "evict ns/a"},
	} {
		n := drain.Node{Pods: []drain.Pod{drainPod("a", "x", func(p *drain.Pod) {
			p.DoNotDisrupt, p.StartTime = c.value, c.started
		})}}
		require.Equal(t, []string{c.want}, drainLines(t, drainStart, n, nil), "%s", c.value)
	}
}

// A pod with 300 s of grace on a node with an hour goes after 55 minutes.
func TestPlanDeadline(t *testing.T) {
	protect := func(grace time.Duration) func(p *drain.Pod) {
		return func(p *drain.Pod) { p.DoNotDisrupt, p.Grace = "true", grace }
	}
	n := drain.Node{Since: drainStart, Deadline: drainStart.Add(time.Hour), Pods: []drain.Pod{
		drainPod("five", "x", protect(5*time.Minute)),
		drainPod("long", "x", protect(2*time.Hour)),
		drainPod("zero", "x", protect(0)),
		drainPod("dying", "x", func(p *drain.Pod) { p.Grace, p.DeletionTime = 2*time.Hour, drainStart.Add(90*time.Minute) }),
		drainPod("soon", "x", func(p *drain.Pod) { p.DeletionTime = drainStart.Add(30 * time.Second) }),
	}}
	const shielded = "is not to be disrupted, deleted at 2026-03-02T"
	require.Equal(t, []string{"delete ns/dying with 1h0m0s of grace", "delete ns/long with 1h0m0s of grace",
		"ns/five " + shielded + "09:55:00Z", "ns/soon is terminating until 2026-03-02T09:00:30Z", "ns/zero " + shielded + "10:00:00Z"},
		drainLines(t, drainStart, n, nil))

	n.Pods = []drain.Pod{n.Pods[0], n.Pods[2]}
	require.Equal(t, []string{"ns/five " + shielded + "09:55:00Z", "ns/zero " + shielded + "10:00:00Z"}, drainLines(t, drainStart.Add(55*time.Minute-1), n, nil))
	require.Equal(t, []string{"delete ns/five with 5m0s of grace", "ns/zero " + shielded + "10:00:00Z"}, drainLines(t, drainStart.Add(55*time.Minute), n, nil))
	require.Equal(t, []string{"delete ns/five with 4m59s of grace", "ns/zero " + shielded + "10:00:00Z"}, drainLines(t, drainStart.Add(55*time.Minute+1), n, nil))
	require.Equal(t, []string{"delete ns/five with 1s of grace", "delete ns/zero with 1s of grace"}, drainLines(t, drainStart.Add(time.Hour), n, nil))
}

// Pods past the deadline hold up no group, and a pod that is told to end by the
// deadline is not told again.
func TestPlanForcedPods(t *testing.T) {
	n := drain.Node{Deadline: drainStart.Add(time.Minute), Pods: []drain.Pod{
		drainPod("slow", "x", func(p *drain.Pod) { p.Grace, p.DoNotDisrupt = time.Hour, "true" }),
		drainPod("logs", "x", func(p *drain.Pod) { p.Daemon = true }),
	}}
	require.Equal(t, []string{"delete ns/slow with 1m0s of grace", "evict ns/logs"}, drainLines(t, drainStart, n, nil))
	n.Pods[0].DeletionTime = drainStart.Add(time.Minute)
	require.Equal(t, []string{"ns/slow is terminating until 2026-03-02T09:01:00Z",
		"ns/logs is daemon and waits for pods of earlier groups, deleted at 2026-03-02T09:00:30Z"}, drainLines(t, drainStart, n, nil))
}

func TestPlanLeaves(t *testing.T) {
	n := drain.Node{Since: drainStart.Add(-time.Hour), Deadline: drainStart, Pods: []drain.Pod{
		drainPod("a", "x", func(p *drain.Pod) { p.DoNotDisrupt, p.Volumes = "true", []string{"pv"} })},
		Attachments: []drain.Attachment{{Name: "va", Volume: "pv"}}}
	opts := &drain.Options{Mode: drain.Leave}
	require.Equal(t, []string{"ns/a is not to be disrupted"}, drainLines(t, drainStart.Add(-1), n, opts))
	require.Equal(t, []string{"ns/a is not waited for: left"}, drainLines(t, drainStart, n, opts))
	n.Name = "node"
	plan, err := drain.Plan(drainStart, drain.Input{Nodes: []drain.Node{n}}, opts)
	require.NoError(t, err)
	require.Equal(t, drain.Done, plan.Nodes[0].State)
}

func TestPlanIgnores(t *testing.T) {
	n := drain.Node{Pods: []drain.Pod{
		drainPod("mirror", "x", func(p *drain.Pod) { p.Mirror, p.DoNotDisrupt = true, "true" }),
		drainPod("stays", "x", func(p *drain.Pod) { p.ToleratesDisruption = true }),
		drainPod("over", "x", func(p *drain.Pod) { p.Phase = corev1.PodSucceeded }),
		drainPod("broken", "x", func(p *drain.Pod) { p.Phase = corev1.PodFailed }),
		drainPod("stuck", "x", func(p *drain.Pod) { p.DeletionTime = drainStart.Add(-time.Minute - 1) }),
		drainPod("late", "x", func(p *drain.Pod) { p.DeletionTime = drainStart.Add(-time.Minute) }),
	}}
	require.Equal(t, []string{"ns/late is terminating until 2026-03-02T08:59:00Z",
		"ns/broken is not waited for: ended", "ns/mirror is not waited for: mirror", "ns/over is not waited for: ended",
		"ns/stays is not waited for: tolerates", "ns/stuck is not waited for: stuck"}, drainLines(t, drainStart, n, nil))
}

func TestPlanVolumes(t *testing.T) {
	n := drain.Node{Name: "n", Pods: []drain.Pod{
		drainPod("stays", "x", func(p *drain.Pod) { p.ToleratesDisruption, p.Volumes = true, []string{"kept"} }),
		drainPod("over", "x", func(p *drain.Pod) { p.Phase, p.Volumes = corev1.PodSucceeded, []string{"pv"} }),
	}, Attachments: []drain.Attachment{{Name: "z", Volume: "pv"}, {Name: "y", Volume: "kept"}, {Name: "x"}}}
	for _, c := range []struct {
		since, deadline time.Duration
		detached        bool
		state           drain.State
		next            time.Duration
	}{
		{0, 0, false, drain.Evicting, 5 * time.Second}, // too early to say
		{-4 * time.Second, 0, true, drain.Evicting, time.Second},
		{-5 * time.Second, 0, false, drain.Detaching, 0},
		{-5 * time.Second, time.Minute, false, drain.Detaching, time.Minute},
		{-5 * time.Second, -1, false, drain.Done, 0},
		{-5 * time.Second, 0, true, drain.Done, 0},
	} {
		n := n
		n.Since = drainStart.Add(c.since)
		if c.since == 0 {
			n.Since = time.Time{}
		}
		if c.deadline != 0 {
			n.Deadline = drainStart.Add(c.deadline)
		}
		if c.detached {
			n.Attachments = n.Attachments[1:]
		}
		plan, err := drain.Plan(drainStart, drain.Input{Nodes: []drain.Node{n}}, nil)
		require.NoError(t, err)
		require.Equal(t, c.state, plan.Nodes[0].State, "%+v", c)
		if c.state == drain.Detaching {
			require.Equal(t, []string{"z"}, plan.Nodes[0].Volumes)
		}
		if c.deadline < 0 {
			require.Equal(t, []string{"z"}, plan.Nodes[0].Abandoned)
		}
		if c.next > 0 {
			require.Equal(t, drainStart.Add(c.next), plan.Next, "%+v", c)
		} else {
			require.Zero(t, plan.Next)
		}
	}
}

func TestPlanFaults(t *testing.T) {
	pod := drainPod("a", "x", func(p *drain.Pod) { p.Grace = -1 })
	_, err := drain.Plan(drainStart, drain.Input{
		Nodes:   []drain.Node{{Name: "n", Pods: []drain.Pod{pod, pod, {}}}, {Name: "n"}, {}},
		Budgets: []*policyv1.PodDisruptionBudget{drainBudget("web", 1), drainBudget("web", 1), {}, nil},
	}, &drain.Options{Mode: "gently", GroupTimeout: -1})
	for _, want := range []string{"options.mode", "options.groupTimeout", "nodes[1].name", "nodes[2].name", "nodes[0].pods[1]",
		"nodes[0].pods[2]", "nodes[0].pods[0].grace", "budgets[1]", "budgets[2]", "budgets[3]"} {
		require.ErrorContains(t, err, want)
	}
}

func TestObservePod(t *testing.T) {
	deleted, started := metav1.NewTime(drainStart), metav1.NewTime(drainStart.Add(-time.Hour))
	grace, priority := int64(7), int32(5)
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "a", UID: "u", Labels: map[string]string{"app": "x"},
		Annotations: map[string]string{v1.DoNotDisruptAnnotationKey: "1h"}, DeletionTimestamp: &deleted,
		OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "DaemonSet"}}},
		Spec:   corev1.PodSpec{TerminationGracePeriodSeconds: &grace, Priority: &priority, PriorityClassName: "high"},
		Status: corev1.PodStatus{Phase: corev1.PodRunning, StartTime: &started, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}}}
	require.Equal(t, drain.Pod{Namespace: "ns", Name: "a", UID: "u", Labels: map[string]string{"app": "x"}, Priority: 5, PriorityClass: "high",
		Daemon: true, Phase: corev1.PodRunning, Ready: corev1.ConditionTrue, Grace: 7 * time.Second, DeletionTime: drainStart,
		DoNotDisrupt: "1h", StartTime: drainStart.Add(-time.Hour), Volumes: []string{"pv"}}, drain.ObservePod(pod, []string{"pv"}))

	plain := drain.ObservePod(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "Node"}, {APIVersion: "v2", Kind: "DaemonSet"}}}}, nil)
	require.Equal(t, drain.Pod{Mirror: true, Grace: drain.DefaultGrace}, plain)

	for _, c := range []struct {
		t    corev1.Toleration
		want bool
	}{
		{corev1.Toleration{Operator: corev1.TolerationOpExists}, true},
		{corev1.Toleration{Key: v1.DisruptedTaintKey, Operator: corev1.TolerationOpExists}, true},
		{corev1.Toleration{Key: v1.DisruptedTaintKey}, true},
		{corev1.Toleration{Key: v1.DisruptedTaintKey, Value: "yes"}, false},
		{corev1.Toleration{Key: v1.DisruptedTaintKey, Effect: corev1.TaintEffectNoExecute}, false},
		{corev1.Toleration{Key: v1.DisruptedTaintKey, Effect: corev1.TaintEffectNoSchedule}, true},
		{corev1.Toleration{Key: "other", Operator: corev1.TolerationOpExists}, false},
		{corev1.Toleration{}, false},
		{corev1.Toleration{Key: v1.DisruptedTaintKey, Operator: "Near"}, false},
	} {
		got := drain.ObservePod(&corev1.Pod{Spec: corev1.PodSpec{Tolerations: []corev1.Toleration{c.t}}}, nil)
		require.Equal(t, c.want, got.ToleratesDisruption, "%+v", c.t)
	}
}

// anyDrain returns a random cluster to drain.
func anyDrain(rng *rand.Rand) drain.Input {
	var in drain.Input
	second := func(n int) time.Duration { return time.Duration(rng.IntN(n)) * time.Second }
	apps := []string{"web", "db", "none"}
	for i := range 1 + rng.IntN(3) {
		n := drain.Node{Name: fmt.Sprint("node-", i)}
		if rng.IntN(2) == 0 {
			n.Since = drainStart.Add(-second(20))
		}
		if rng.IntN(2) == 0 {
			n.Deadline = drainStart.Add(second(600) - 30*time.Second)
		}
		for j := range rng.IntN(6) {
			n.Pods = append(n.Pods, drainPod(fmt.Sprint("pod-", i, "-", j), apps[rng.IntN(3)], func(p *drain.Pod) {
				p.Daemon, p.Mirror, p.ToleratesDisruption = rng.IntN(4) == 0, rng.IntN(12) == 0, rng.IntN(12) == 0
				p.Priority, p.Grace = int32(rng.IntN(3)), second(400)
				p.DoNotDisrupt = []string{"", "", "", "true", "2m", "junk"}[rng.IntN(6)]
				p.StartTime = drainStart.Add(-second(200))
				if rng.IntN(5) == 0 {
					p.PriorityClass = "system-node-critical"
				}
				if rng.IntN(6) == 0 {
					p.DeletionTime = drainStart.Add(second(400) - 2*time.Minute)
				}
				if rng.IntN(5) == 0 {
					p.Ready = corev1.ConditionFalse
				}
				p.Phase = []corev1.PodPhase{corev1.PodRunning, corev1.PodRunning, corev1.PodRunning, corev1.PodPending, corev1.PodSucceeded}[rng.IntN(5)]
				p.Volumes = []string{"pv-" + p.Name}
			}))
			n.Attachments = append(n.Attachments, drain.Attachment{Name: fmt.Sprint("va-", i, "-", j), Volume: "pv-" + n.Pods[j].Name})
		}
		in.Nodes = append(in.Nodes, n)
	}
	in.Budgets = []*policyv1.PodDisruptionBudget{drainBudget("web", rng.IntN(3)), drainBudget("db", rng.IntN(2))}
	return in
}

func shuffledDrain(rng *rand.Rand, in drain.Input) drain.Input {
	out := drain.Input{Nodes: slices.Clone(in.Nodes), Budgets: slices.Clone(in.Budgets)}
	rng.Shuffle(len(out.Nodes), func(i, j int) { out.Nodes[i], out.Nodes[j] = out.Nodes[j], out.Nodes[i] })
	rng.Shuffle(len(out.Budgets), func(i, j int) { out.Budgets[i], out.Budgets[j] = out.Budgets[j], out.Budgets[i] })
	for k := range out.Nodes {
		pods := slices.Clone(out.Nodes[k].Pods)
		rng.Shuffle(len(pods), func(i, j int) { pods[i], pods[j] = pods[j], pods[i] })
		out.Nodes[k].Pods = pods
	}
	return out
}

func TestPlanLaws(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range testlong.Seeds(1000, 3000) {
		in := anyDrain(rng)
		copied := fmt.Sprintf("%+v", in)
		opts := &drain.Options{GroupTimeout: time.Duration(rng.IntN(2)) * time.Minute}
		plan, err := drain.Plan(drainStart, in, opts)
		require.NoError(t, err)
		require.Equal(t, copied, fmt.Sprintf("%+v", in), "the input is not changed")
		again, err := drain.Plan(drainStart, shuffledDrain(rng, in), opts)
		require.NoError(t, err)
		require.Equal(t, plan, again, "order has no meaning")

		spent := map[string]int{}
		pods, seen := 0, map[string]bool{}
		for _, n := range in.Nodes {
			pods += len(n.Pods)
		}
		for _, n := range plan.Nodes {
			for _, s := range slices.Concat(n.Evict, n.Delete, n.Blocked, n.Ignored) {
				seen[s.Name] = true
			}
			for _, s := range n.Evict {
				spent[s.Budget]++
				require.Empty(t, s.Code)
			}
			require.Equal(t, n.Group == 0, len(n.Evict)+len(n.Blocked) == 0)
		}
		require.Len(t, seen, pods, "each pod is somewhere")
		for _, b := range in.Budgets {
			require.LessOrEqual(t, spent["ns/"+b.Name], int(b.Status.DisruptionsAllowed))
		}

		// Nothing changes before Next, and Next is not in the past.
		if plan.Next.IsZero() {
			plan.Next = drainStart.Add(1000 * time.Hour)
		}
		require.True(t, plan.Next.After(drainStart))
		between := drainStart.Add(time.Duration(rng.Int64N(int64(plan.Next.Sub(drainStart)))))
		for i := range in.Nodes {
			if in.Nodes[i].Since.IsZero() {
				in.Nodes[i].Since = drainStart
			}
		}
		later, err := drain.Plan(between, in, opts)
		require.NoError(t, err)
		require.Equal(t, drainNames(plan), drainNames(later), "from %s to %s", drainStart, between)
	}
}

// drainNames returns a plan without the grace, which shrinks.
func drainNames(p drain.Result) string {
	var b strings.Builder
	for _, n := range p.Nodes {
		fmt.Fprintln(&b, n.Node, n.State, n.Group, n.Volumes, n.Abandoned)
		for _, s := range slices.Concat(n.Evict, n.Delete, n.Blocked, n.Ignored) {
			fmt.Fprintln(&b, s.Name, s.Code, s.Budget, s.Grace > 0, s.Until, s.ForceAt)
		}
	}
	return b.String()
}

// played carries out what is planned until nothing changes any more: a pod takes so
// long to end, at most its grace, and its budget does not recover. It tells when each
// pod was deleted by force.
func played(t *testing.T, in drain.Input, stop time.Duration) (end drain.Result, forced map[string]time.Time) {
	t.Helper()
	ends, forced := map[string]time.Time{}, map[string]time.Time{}
	for i := range in.Nodes {
		if in.Nodes[i].Since.IsZero() {
			in.Nodes[i].Since = drainStart
		}
	}
	for now := drainStart; ; {
		plan, err := drain.Plan(now, in, nil)
		require.NoError(t, err)
		next := plan.Next
		for i := range in.Nodes {
			n := &in.Nodes[i]
			told := plan.Nodes[slices.IndexFunc(plan.Nodes, func(p drain.NodePlan) bool { return p.Node == n.Name })]
			n.Pods = slices.Clone(n.Pods)
			for j := range n.Pods {
				p := &n.Pods[j]
				is := func(s drain.PodPlan) bool { return s.Name == p.Name && s.Namespace == p.Namespace }
				if k := slices.IndexFunc(told.Delete, is); k >= 0 {
					p.DeletionTime = now.Add(told.Delete[k].Grace)
					forced[p.Name], ends[p.Name] = now, now.Add(min(told.Delete[k].Grace, stop))
				} else if slices.ContainsFunc(told.Evict, is) {
					p.DeletionTime = now.Add(p.Grace)
					ends[p.Name] = now.Add(min(p.Grace, stop))
				} else if _, known := ends[p.Name]; !known && !p.DeletionTime.IsZero() {
					ends[p.Name] = p.DeletionTime
				}
			}
			n.Pods = slices.DeleteFunc(n.Pods, func(p drain.Pod) bool {
				at, ok := ends[p.Name]
				if ok && at.After(now) && (next.IsZero() || at.Before(next)) {
					next = at
				}
				return ok && !at.After(now)
			})
		}
		if next.IsZero() {
			if again, err := drain.Plan(now, in, nil); err != nil || reflect.DeepEqual(plan, again) {
				require.NoError(t, err)
				return again, forced
			}
			next = now // a pod that ended at once lets others go
		}
		now = next
	}
}

// A node with a deadline is empty by then, whatever protects its pods: a pod is
// deleted in time for its grace, or with at least a second if it came too late.
func TestDeadlinesAreKept(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	deleted, done := 0, 0
	for range 1500 {
		in := anyDrain(rng)
		graces, deadlines := map[string]time.Duration{}, map[string]time.Time{}
		for _, n := range in.Nodes {
			n.Attachments = nil
			for _, p := range n.Pods {
				graces[p.Name], deadlines[p.Name] = p.Grace, n.Deadline
			}
		}
		end, forced := played(t, in, time.Duration(rng.IntN(60))*time.Second)
		for name, at := range forced {
			deleted++
			require.False(t, at.Before(deadlines[name].Add(-graces[name])) && at.After(drainStart), "%s is deleted before it must be", name)
			require.False(t, at.After(deadlines[name].Add(-graces[name])) && at.After(drainStart) && at.Before(deadlines[name]), "%s is deleted later than its grace allows", name)
		}
		for i, n := range end.Nodes {
			if j := slices.IndexFunc(in.Nodes, func(d drain.Node) bool { return d.Name == n.Node }); !in.Nodes[j].Deadline.IsZero() {
				require.Empty(t, n.Blocked, "node %d with a deadline comes to an end", i)
				require.Equal(t, drain.Done, n.State)
				done++
			}
		}
	}
	require.Greater(t, deleted, 100)
	require.Greater(t, done, 300)
}

func FuzzPlan(f *testing.F) {
	f.Add(uint64(1), "true", int64(30), int64(0))
	f.Add(uint64(2), "10m", int64(1<<40), int64(-1))
	f.Fuzz(func(t *testing.T, seed uint64, shield string, grace, deadline int64) {
		in := anyDrain(rand.New(rand.NewPCG(seed, 0)))
		for i := range in.Nodes {
			in.Nodes[i].Deadline = drainStart.Add(time.Duration(deadline))
			for j := range in.Nodes[i].Pods {
				in.Nodes[i].Pods[j].DoNotDisrupt, in.Nodes[i].Pods[j].Grace = shield, time.Duration(grace)
			}
		}
		if _, err := drain.Plan(drainStart, in, nil); err != nil {
			require.Negative(t, grace)
		}
	})
}

func TestRequests(t *testing.T) {
	evict := drain.PodPlan{Namespace: "ns", Name: "a", UID: "u"}
	require.Equal(t, "u", string(*evict.Eviction().DeleteOptions.Preconditions.UID))
	require.Equal(t, "a", evict.Eviction().Name)
	require.Nil(t, evict.DeleteOptions())
	forced := drain.PodPlan{Namespace: "ns", Name: "a", Grace: 90 * time.Second}
	require.Nil(t, forced.Eviction())
	require.Equal(t, int64(90), *forced.DeleteOptions().GracePeriodSeconds)
	require.Nil(t, forced.DeleteOptions().Preconditions)
	require.Nil(t, drain.PodPlan{Code: drain.BudgetSpent}.Eviction())
}

// A machine that is gone runs no pod: nothing is evicted or waited for, whatever protects it.
func TestPlanOfAMachineThatIsGone(t *testing.T) {
	n := drain.Node{Name: "n", Pods: []drain.Pod{{Namespace: "shop", Name: "p", DoNotDisrupt: "true"}},
		Attachments: []drain.Attachment{{Name: "a", Volume: "v"}}}
	plan, err := drain.Plan(noon, drain.Input{Nodes: []drain.Node{n}}, nil)
	require.NoError(t, err)
	require.Equal(t, drain.Evicting, plan.Nodes[0].State)
	n.Gone = true
	plan, err = drain.Plan(noon, drain.Input{Nodes: []drain.Node{n}}, nil)
	require.NoError(t, err)
	require.Equal(t, []drain.NodePlan{{Node: "n", State: drain.Done}}, plan.Nodes)
	require.Zero(t, plan.Next)
}
