package nomination_test

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/provisioning/nomination"
)

// A node is launched for two pods. It is kept for them until both are bound.
func Example() {
	pods := []*corev1.Pod{pod("web-1", "web"), pod("web-2", "web")}
	claim, err := nomination.Reserve(noon, &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "general-7"}}, pods, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(claim.Spec.StartupTaints[0].ToString())

	// It is created, and a minute later its Node is ready.
	claim.CreationTimestamp = metav1.NewTime(noon)
	node := ready(claim, noon.Add(time.Minute))
	show := func() {
		in := nomination.Input{NodeClaims: []*v1.NodeClaim{claim}, Nodes: []*corev1.Node{node}, Pods: pods}
		state, err := nomination.Review(noon.Add(time.Minute), in, nil)
		if err != nil {
			fmt.Println(err)
		}
		for i, p := range state.Pods {
			fmt.Println(p.Pod.Name, "goes to", p.Node, "and lacks its toleration:", p.Toleration != nil)
			if p.Toleration != nil {
				pods[i] = tolerating(p)
			}
		}
		for _, n := range state.Nodes {
			fmt.Println(n.Node, n.Phase, "pending", n.Pending, "until", n.Until.Format(time.TimeOnly))
		}
	}
	show()
	pods[0] = on(pods[0], node.Name)
	show()
	pods[1] = on(pods[1], node.Name)
	show()
	// Output:
	// dovetail-sdk.github.io/nominated=general-7:NoSchedule
	// web-1 goes to node-general-7 and lacks its toleration: true
	// web-2 goes to node-general-7 and lacks its toleration: true
	// node-general-7 Filling pending 2 until 12:02:30
	// web-2 goes to node-general-7 and lacks its toleration: false
	// node-general-7 Filling pending 1 until 12:02:30
	// node-general-7 Open pending 0 until 12:02:30
}

func ExampleReserve() {
	claim := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "general-7"}}
	claim, err := nomination.Reserve(noon, claim, []*corev1.Pod{pod("web-1", "")}, nil)
	fmt.Println(claim.Annotations[nomination.AnnotationKey], err)
	// Output: [{"at":"2026-03-02T12:00:00Z","pods":["web-1"]}] <nil>
}

// A promise of a node that is there is in memory only.
func ExampleBind() {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-1"}}
	pods := []*corev1.Pod{pod("web-1", "web")}
	state, err := nomination.Review(noon, nomination.Input{Nodes: []*corev1.Node{node}, Pods: pods,
		Bindings: nomination.Bind("node-1", pods, noon.Add(30*time.Second))}, nil)
	fmt.Println(state.Pods[0].Pod.Name, state.Pods[0].Node, state.Next.Format(time.TimeOnly), err)
	// Output: web-1 node-1 12:00:30 <nil>
}

func ExampleReview() {
	claim, _ := nomination.Reserve(noon, &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "general-7"}}, []*corev1.Pod{pod("web-1", "web")}, nil)
	claim.CreationTimestamp = metav1.NewTime(noon)
	in := nomination.Input{NodeClaims: []*v1.NodeClaim{claim}, Pods: []*corev1.Pod{pod("web-1", "web"), pod("job-1", "")}}
	state, err := nomination.Review(noon, in, nil)
	for _, p := range state.Pods {
		fmt.Println(p.Pod.Name, p.NodeClaim, p.Until.Format(time.TimeOnly))
	}
	fmt.Println(err)
	// Output:
	// web-1 general-7 12:15:00
	// <nil>
}

func ExampleState_Nominations() {
	claim, _ := nomination.Reserve(noon, &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "general-7"}}, []*corev1.Pod{pod("web-1", "web")}, nil)
	claim.CreationTimestamp = metav1.NewTime(noon)
	in := nomination.Input{NodeClaims: []*v1.NodeClaim{claim}, Pods: []*corev1.Pod{pod("web-1", "web")}}
	state, _ := nomination.Review(noon, in, nil)
	for name, until := range state.Nominations() {
		fmt.Println(name, until.Format(time.TimeOnly))
	}
	// Output: general-7 12:15:00
}

func ExampleOptions_Validate() {
	fmt.Println((&nomination.Options{Hold: -time.Second}).Validate())
	// Output: nomination: Options.Hold is -1s; give a duration above zero, or none for the default
}
