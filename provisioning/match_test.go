package provisioning_test

import (
	"fmt"
	"math/rand"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/provisioning"
)

func joinNode(name, id string) *corev1.Node {
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}
	n.Spec.ProviderID = id
	return n
}

func joinClaim(name, node, id string) *v1.NodeClaim {
	c := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: name}}
	c.Status.NodeName, c.Status.ProviderID = node, id
	return c
}

func joinPod(name, node string, edits ...func(*corev1.Pod)) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name}}
	p.Spec.NodeName = node
	for _, edit := range edits {
		edit(p)
	}
	return p
}

func ofKind(kind string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		yes := true
		p.OwnerReferences = []metav1.OwnerReference{{Kind: kind, Controller: &yes}}
	}
}

func inPhase(phase corev1.PodPhase) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Status.Phase = phase }
}

func gated(p *corev1.Pod) { p.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "g"}} }

func mirrored(p *corev1.Pod) {
	p.Annotations = map[string]string{corev1.MirrorPodAnnotationKey: "x"}
}

// joined writes the outcome down: node=claim[pods], and the names of other pods.
func joined(j provisioning.Matched) (nodes, pending, strays []string) {
	names := func(pods []*corev1.Pod) (out []string) {
		for _, p := range pods {
			out = append(out, p.Name)
		}
		return out
	}
	for _, n := range j.Nodes {
		claim := ""
		if n.NodeClaim != nil {
			claim = n.NodeClaim.Name
		}
		nodes = append(nodes, fmt.Sprintf("%s=%s%v", n.Name(), claim, names(n.Pods)))
	}
	return nodes, names(j.Pending), names(j.Strays)
}

func TestJoin(t *testing.T) {
	nodes := []*corev1.Node{joinNode("n1", "id-1"), joinNode("n2", "id-2"), joinNode("n3", "")}
	claims := []*v1.NodeClaim{
		joinClaim("by-name", "n1", ""), joinClaim("by-id", "", "id-2"), joinClaim("launching", "", "id-9"), joinClaim("new", "", ""),
		joinClaim("before", "n1", "id-7"), // of a machine whose Node had the same name
	}
	pods := []*corev1.Pod{
		joinPod("web", "n1"), joinPod("api", "n1"), joinPod("agent", "n2", ofKind("DaemonSet")), joinPod("done", "n1", inPhase(corev1.PodSucceeded)),
		joinPod("late", "gone"), joinPod("wait", ""), joinPod("held", "", gated), joinPod("agent-2", "", ofKind("DaemonSet")),
		joinPod("static", "", mirrored), joinPod("failed", "", inPhase(corev1.PodFailed)), joinPod("job", "", ofKind("Job")),
	}
	r := rand.New(rand.NewSource(1))
	for range 20 { // in any order
		r.Shuffle(len(nodes), func(i, k int) { nodes[i], nodes[k] = nodes[k], nodes[i] })
		r.Shuffle(len(claims), func(i, k int) { claims[i], claims[k] = claims[k], claims[i] })
		r.Shuffle(len(pods), func(i, k int) { pods[i], pods[k] = pods[k], pods[i] })
		j, err := provisioning.Match(nodes, claims, pods)
		require.NoError(t, err)
		on, pending, strays := joined(j)
		require.Equal(t, []string{"before=before[]", "launching=launching[]", "n1=by-name[api web]", "n2=by-id[agent]", "n3=[]", "new=new[]"}, on)
		require.Equal(t, []string{"held", "job", "wait"}, pending)
		require.Equal(t, []string{"late"}, strays)
	}
}

// A pod for which kube-scheduler makes room is not pending while it does, and is again once
// it has: a name in its status alone may be out of date.
func TestJoinPreempting(t *testing.T) {
	nominated := func(node string) func(*corev1.Pod) {
		return func(p *corev1.Pod) { p.Status.NominatedNodeName = node }
	}
	ending := func(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{} }
	target := func(reason string, status corev1.ConditionStatus) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			p.Status.Conditions = []corev1.PodCondition{{Type: corev1.DisruptionTarget, Status: status, Reason: reason}}
		}
	}
	victim := target(corev1.PodReasonPreemptionByScheduler, corev1.ConditionTrue)
	leaves := joinNode("leaves", "")
	leaves.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)}
	nodes := []*corev1.Node{joinNode("n", ""), joinNode("quiet", ""), leaves}
	for _, c := range []struct {
		name       string
		pods       []*corev1.Pod
		preempting bool
	}{
		{"room is being made", []*corev1.Pod{joinPod("web", "", nominated("n")), joinPod("victim", "n", ending, victim)}, true},
		{"whatever the order", []*corev1.Pod{joinPod("web", "", nominated("n")), joinPod("a-victim", "n", ending, victim)}, true},
		{"it is made", []*corev1.Pod{joinPod("web", "", nominated("n"))}, false},
		{"the victim has ended", []*corev1.Pod{joinPod("web", "", nominated("n")), joinPod("victim", "n", ending, victim, inPhase(corev1.PodFailed))}, false},
		{"the victim was let off", []*corev1.Pod{joinPod("web", "", nominated("n")), joinPod("victim", "n", victim)}, false},
		{"it ends for another reason", []*corev1.Pod{joinPod("web", "", nominated("n")), joinPod("other", "n", ending, target("EvictionByEvictionAPI", corev1.ConditionTrue))}, false},
		{"the condition is false", []*corev1.Pod{joinPod("web", "", nominated("n")), joinPod("victim", "n", ending, target(corev1.PodReasonPreemptionByScheduler, corev1.ConditionFalse))}, false},
		{"room is made elsewhere", []*corev1.Pod{joinPod("web", "", nominated("quiet")), joinPod("victim", "n", ending, victim)}, false},
		{"the node leaves", []*corev1.Pod{joinPod("web", "", nominated("leaves")), joinPod("victim", "leaves", ending, victim)}, false},
		{"there is no such node", []*corev1.Pod{joinPod("web", "", nominated("gone")), joinPod("victim", "gone", ending, victim)}, false},
		{"nothing is nominated", []*corev1.Pod{joinPod("web", ""), joinPod("victim", "n", ending, victim)}, false},
	} {
		j, err := provisioning.Match(nodes, nil, c.pods)
		require.NoError(t, err)
		in, out := j.Preempting, j.Pending
		if !c.preempting {
			in, out = out, in
		}
		require.Equal(t, c.pods[:1], in, c.name)
		require.Empty(t, out, c.name)
	}
}

func TestJoinFaults(t *testing.T) {
	j, err := provisioning.Match(
		[]*corev1.Node{nil, joinNode("n", "id")},
		[]*v1.NodeClaim{joinClaim("b", "n", ""), joinClaim("c", "", "id"), nil, joinClaim("a", "n", "")},
		[]*corev1.Pod{joinPod("p", "n"), nil})
	require.EqualError(t, err, `nodes[0]: is nil; leave it out
claims[2]: is nil; leave it out
NodeClaim "b": status.nodeName: is that of Node "n", which NodeClaim "a" has already; leave one of the two out
NodeClaim "c": status.providerID: is that of Node "n", which NodeClaim "a" has already; leave one of the two out
pods[1]: is nil; leave it out`)
	require.Len(t, provisioning.Faults(err), 5)
	on, _, _ := joined(j)
	require.Equal(t, []string{"n=a[p]"}, on)

	j, err = provisioning.Match(nil, nil, nil)
	require.NoError(t, err)
	require.Zero(t, j)
}

// What kubectl lists is joined, and pods without a node are planned for.
func ExampleMatch() {
	joined, err := provisioning.Match(
		[]*corev1.Node{joinNode("ip-10-0-1-7", "aws:///a/i-1")},
		[]*v1.NodeClaim{joinClaim("general-x7k2p", "", "aws:///a/i-1"), joinClaim("general-b4c9d", "", "aws:///a/i-2")},
		[]*corev1.Pod{joinPod("web-1", "ip-10-0-1-7"), joinPod("web-2", "")})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, n := range joined.Nodes {
		fmt.Println(n.Name(), "of", n.NodeClaim.Name, "with", len(n.Pods), "pods")
	}
	fmt.Println(len(joined.Pending), "pod without a node")
	// Output:
	// general-b4c9d of general-b4c9d with 0 pods
	// ip-10-0-1-7 of general-x7k2p with 1 pods
	// 1 pod without a node
}

// A list that is behind another one is no fault: the pods of a Node that is not listed yet, or not
// any more, are strays, and pods may name the Node of a NodeClaim before it is there.
func TestListsBehindOneAnotherAreNoFault(t *testing.T) {
	in := newScene().In
	nodes, claims := []*corev1.Node{joinNode("n1", "id-1")}, []*v1.NodeClaim{joinClaim("coming", "n2", "id-2")}
	pods := []*corev1.Pod{joinPod("here", "n1"), joinPod("early", "n2"), joinPod("late", "gone"), joinPod("done", "gone", inPhase(corev1.PodFailed))}
	j, err := provisioning.Match(nodes, claims, pods)
	require.NoError(t, err)
	_, _, strays := joined(j)
	require.Equal(t, []string{"early", "late"}, strays)
	in.Nodes = j.Nodes
	problemOf(t, in, nil)
	for i := range in.Nodes { // by a program that knows better which machine a pod is on
		if in.Nodes[i].Node == nil {
			in.Nodes[i].Pods = []*corev1.Pod{pods[1]}
		} else {
			in.Nodes[i].Pods = []*corev1.Pod{pods[0], pods[3], joinPod("promised", "")}
		}
	}
	problemOf(t, in, nil)
	for i := range in.Nodes {
		if in.Nodes[i].Node != nil {
			in.Nodes[i].Pods = append(in.Nodes[i].Pods, pods[1], pods[2])
		} else {
			in.Nodes[i].Pods = nil
		}
	}
	_, err = provisioning.Prepare(in, nil)
	require.Equal(t, []string{
		`Pod "shop/early": spec.nodeName: is "n2", but the pod is listed under Node "n1"; list it under the node that it is bound to`,
		`Pod "shop/late": spec.nodeName: is "gone", but the pod is listed under Node "n1"; list it under the node that it is bound to`,
	}, texts(provisioning.Faults(err)))
}
