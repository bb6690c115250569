package provisioning_test

import (
	"context"
	"fmt"
	"log"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// twoNodes returns a cluster of two nodes with room, and nothing pending.
func twoNodes() *provisioning.Problem {
	in := shop()
	in.Pods = nil
	for _, name := range []string{"n1", "n2"} {
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}
		node.Status.Allocatable = resources.MustParse("cpu=3920m, memory=14Gi, pods=58").ResourceList()
		in.Nodes = append(in.Nodes, provisioning.Node{Node: node, Pods: []*corev1.Pod{shopPod("cart-"+name, "cpu=1500m, memory=5Gi")}})
	}
	return prepared(provisioning.Prepare(in, nil))
}

// prepared is for examples whose input is good.
func prepared(p *provisioning.Problem, err error) *provisioning.Problem {
	if err != nil {
		log.Fatal(err)
	}
	return p
}

// tell prints a plan in a line.
func tell(question string, p *provisioning.Problem) {
	plan, err := p.Solve(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	bound := 0
	for _, b := range plan.Bind {
		bound += len(b.Pods)
	}
	fmt.Printf("%s: %d pods on nodes there are, %d new nodes, %d pods pending\n", question, bound, len(plan.Create), len(plan.Unplaced))
}

// May a node go? Its pods find room on the other one.
func ExampleProblem_Without() {
	problem := twoNodes()
	tell("without n1", prepared(problem.Without("n1")))

	_, err := problem.Without("n3")
	fmt.Println(err)

	// Output:
	// without n1: 1 pods on nodes there are, 0 new nodes, 0 pods pending
	// provisioning: there is no node "n3" to leave out; name a node of the input
}

// In a rolling update a new pod waits for the room of the old one, which is gone in 30 seconds, where
// a new node would be ready in a minute.
func ExampleNode_EndingBy() {
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	in := shop()
	in.Pods = []*corev1.Pod{shopPod("cart-new", "cpu=3")}
	old := shopPod("cart-old", "cpu=3")
	old.DeletionTimestamp = &metav1.Time{Time: now.Add(30 * time.Second)}
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1"}}
	node.Status.Allocatable = resources.MustParse("cpu=3920m, memory=14Gi, pods=58").ResourceList()
	in.Nodes = []provisioning.Node{{Node: node, Pods: []*corev1.Pod{old}}}
	tell("the old pod counts", prepared(provisioning.Prepare(in, nil)))

	in.Nodes[0] = in.Nodes[0].EndingBy(now, now.Add(time.Minute))
	problem := prepared(provisioning.Prepare(in, nil))
	tell("it ends", problem)
	plan, err := problem.Solve(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s goes to %s after %s\n", plan.Bind[0].Pods[0].Name, plan.Bind[0].Node, plan.Bind[0].After[0].Name)

	// Output:
	// the old pod counts: 0 pods on nodes there are, 1 new nodes, 0 pods pending
	// it ends: 1 pods on nodes there are, 0 new nodes, 0 pods pending
	// cart-new goes to n1 after cart-old
}

// What would a batch of pods need, before anybody creates them?
func ExampleProblem_With() {
	problem := twoNodes()
	tell("one more", prepared(problem.With(shopPod("report", "cpu=2"))))
	tell("two more and a large one", prepared(problem.With(shopPod("a", "cpu=2"), shopPod("b", "cpu=2"), shopPod("c", "cpu=6"))))

	// Output:
	// one more: 1 pods on nodes there are, 0 new nodes, 0 pods pending
	// two more and a large one: 2 pods on nodes there are, 1 new nodes, 0 pods pending
}

// Without pools the question is what fits on the nodes that exist.
func ExampleProblem_WithPools() {
	problem := prepared(twoNodes().With(shopPod("small", "cpu=2"), shopPod("large", "cpu=6")))
	tell("with the pool", problem)
	tell("without any", prepared(problem.WithPools(nil, nil)))

	// Output:
	// with the pool: 1 pods on nodes there are, 1 new nodes, 0 pods pending
	// without any: 1 pods on nodes there are, 0 new nodes, 1 pods pending
}

// The next look at a cluster: other nodes, other pods, the same pools and prices,
// which are not compiled again.
func ExampleProblem_WithNodes() {
	problem := twoNodes()
	tell("at first", problem)
	tell("a minute later", prepared(problem.WithNodes(nil, []*corev1.Pod{shopPod("cart", "cpu=1500m, memory=5Gi")})))

	// Output:
	// at first: 0 pods on nodes there are, 0 new nodes, 0 pods pending
	// a minute later: 0 pods on nodes there are, 1 new nodes, 0 pods pending
}

// A controller hands over what it has each time, and pays for what has changed.
func ExampleProblem_WithInput() {
	in := shop()
	problem := prepared(provisioning.Prepare(in, nil))
	tell("at first", problem)

	room := resources.MustParse("cpu=3920m, memory=14Gi, pods=58").ResourceList()
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1"}}
	node.Status.Capacity, node.Status.Allocatable = room, room
	in.Nodes = []provisioning.Node{{Node: node}}
	problem = prepared(problem.WithInput(in))
	tell("with a node", problem)

	in.Nodes = []provisioning.Node{{Node: node, Pods: in.Pods[:1]}} // the Node is the same, its pods are others
	in.Pods = in.Pods[1:]
	tell("with a pod on it", prepared(problem.WithInput(in)))

	// Output:
	// at first: 0 pods on nodes there are, 2 new nodes, 0 pods pending
	// with a node: 2 pods on nodes there are, 1 new nodes, 0 pods pending
	// with a pod on it: 1 pods on nodes there are, 1 new nodes, 0 pods pending
}

// Pods of a plan that is a moment old keep their places, where these still hold.
func ExampleProblem_Nominating() {
	in := shop()
	room := resources.MustParse("cpu=4, memory=16Gi, pods=10").ResourceList()
	for _, name := range []string{"a", "b"} {
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}
		node.Status.Capacity, node.Status.Allocatable = room, room
		in.Nodes = append(in.Nodes, provisioning.Node{Node: node})
	}
	in.Pods = in.Pods[:1]
	problem, err := provisioning.Prepare(in, nil)
	if err != nil {
		log.Fatal(err)
	}
	held, err := problem.Nominating(map[types.NamespacedName]string{{Namespace: "shop", Name: "web-0"}: "b"})
	if err != nil {
		log.Fatal(err)
	}
	for _, p := range []*provisioning.Problem{problem, held} {
		plan, err := p.Solve(context.Background())
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(plan.Bind[0].Pods[0].Name, "on", plan.Bind[0].Node)
	}

	// Output:
	// web-0 on a
	// web-0 on b
}
