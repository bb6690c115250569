package disruption_test

import (
	"context"
	"fmt"
	"log"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/disruption"
	"github.com/dovetail-sdk/dovetail/provisioning"
)

// look is for examples whose input has no fault.
func look(in disruption.Input, opts *disruption.Options) *disruption.Cluster {
	fleet, err := disruption.Observe(noon, in, opts)
	if err != nil {
		log.Fatal(err)
	}
	return fleet
}

func show[T fmt.Stringer](list []T) {
	for _, one := range list {
		fmt.Println(one)
	}
}

// A pool of five nodes: what the rules want, and what keeps them from a node. Propose
// says what of it may begin now.
func Example() {
	in := newInput(
		newNode("busy", "web", withPods(newPod("web-1"))),
		newNode("idle-1", "web"),
		newNode("idle-2", "web"),
		newNode("old", "web", withPods(newPod("web-2"))),
		newNode("reserved", "web", withPods(newPod("batch", note(v1.DoNotDisruptAnnotationKey, "90m")))),
	)
	in.NodePools = []*v1.NodePool{newPool("web", budgetOf("1"))}
	in.Drift = map[string]cloudprovider.Drift{
		"old-claim":      {Reason: "AMIDrift", Detail: "booted ami-1, and ami-2 is asked for now"},
		"reserved-claim": {Reason: "AMIDrift", Detail: "booted ami-1, and ami-2 is asked for now"},
	}
	fleet := look(in, nil)
	result := fleet.Actions()
	show(result.Actions)
	show(result.Blocked)
	fmt.Println("ask again:", result.Next.Format(time.TimeOnly))
	// Output:
	// Delete idle-1 (Empty): no pod on it needs another place
	// Delete idle-2 (Empty): no pod on it needs another place
	// Replace old (Drifted): booted ami-1, and ami-2 is asked for now
	// Drift of reserved: Pod "shop/batch" has the annotation karpenter.sh/do-not-disrupt, until 2026-03-02T12:30:00Z
	// ask again: 12:30:00
}

// Faults are listed all at once, and the rest is judged all the same.
func ExampleObserve() {
	in := newInput(newNode("idle", "web"), newNode("twice", "web"), newNode("twice", "web"))
	in.NodePools = append(in.NodePools, newPool("batch", budgetOf("plenty", v1.DisruptionReasonEmpty)))
	fleet, err := disruption.Observe(noon, in, nil)
	fmt.Println(err)
	show(fleet.Actions(disruption.Empty).Actions)
	// Output:
	// Node "twice": is listed twice; list each node once, with its NodeClaim beside it
	// NodePool "batch": spec.disruption.budgets[0].nodes: Invalid value: "plenty": want a count such as "5" or a share from "0%" to "100%"
	// Delete idle (Empty): no pod on it needs another place
}

// Every reason that keeps a node is listed, so that nobody has to remove them
// one by one.
func ExampleCluster_Candidates() {
	in := newInput(
		newNode("a", "web", withPods(newPod("web-1"))),
		newNode("b", "web", withPods(newPod("web-2", note(v1.DoNotDisruptAnnotationKey, "true"))), withLabel(corev1.LabelInstanceTypeStable, "m3.old")),
	)
	in.Nominations = map[string]time.Time{"b": noon.Add(20 * time.Second)}
	candidates, blocked := look(in, nil).Candidates(disruption.MethodConsolidation)
	for _, c := range candidates {
		fmt.Printf("%s costs %.2f USD per hour, its pods %.0f\n", c.Node, c.Price, c.DisruptionCost)
	}
	show(blocked)
	// Output:
	// a costs 0.10 USD per hour, its pods 2
	// Consolidation of b: a place on it was promised to a pending pod, until 2026-03-02T12:00:20Z
	// Consolidation of b: Pod "shop/web-2" has the annotation karpenter.sh/do-not-disrupt
	// Consolidation of b: its instance type "m3.old" is not in the catalog of its NodePool "web"
}

func ExampleCluster_Actions_emptiness() {
	in := newInput(newNode("idle", "web", withPods(newPod("logs", owner("apps/v1", "DaemonSet")))), newNode("spare", "web"))
	in.BufferNodes = []string{"spare"}
	result := look(in, nil).Actions(disruption.Empty)
	show(result.Actions)
	show(result.Blocked)
	// Output:
	// Delete idle (Empty): no pod on it needs another place
	// Emptiness of spare: spare room is kept on it
}

func ExampleCluster_Actions_drift() {
	in := newInput(newNode("a", "web", withPods(newPod("web-1"))))
	in.NodePools[0].Spec.Template.Spec.Requirements = []v1.NodeSelectorRequirementWithMinValues{
		{Key: corev1.LabelTopologyZone, Operator: corev1.NodeSelectorOpIn, Values: []string{"b", "c"}}}
	show(look(in, nil).Actions(disruption.Drifted).Actions)
	// Output:
	// Replace a (Drifted): wanted topology.kubernetes.io/zone in (b, c), but have topology.kubernetes.io/zone = a
}

func ExampleCluster_Drifts() {
	in := newInput(newNode("a", "web"), newNode("b", "web"))
	in.Drift = driftOf("b", "AMIDrift")
	for _, s := range look(in, nil).Drifts() {
		fmt.Printf("%s: %q\n", s.NodeClaim, s.Reason)
	}
	// Output:
	// a-claim: ""
	// b-claim: "AMIDrift"
}

func ExampleCluster_Actions_expiration() {
	in := newInput(newNode("old", "web", expiresAfter(v1.NewDuration(24*time.Hour))), newNode("young", "web", expiresAfter(v1.NewDuration(72*time.Hour))))
	result := look(in, nil).Actions(disruption.Expired)
	show(result.Actions)
	fmt.Println("next:", result.Next.Format(time.RFC3339))
	// Output:
	// Delete old (Expired): expireAfter 24h0m0s has passed since 2026-02-28T12:00:00Z
	// next: 2026-03-03T12:00:00Z
}

func ExampleCluster_Actions_repair() {
	in := crowd(9, newNode("sick", "web", withPods(newPod("train")), nodeCondition(gpu, corev1.ConditionFalse, "XID 48", -time.Hour)))
	in.RepairPolicies = policies(gpuPolicy(`\b48\b`, cloudprovider.RebootNode, 10, new(time.Duration)))
	for _, a := range look(in, nil).Actions(disruption.Unhealthy).Actions {
		fmt.Println(a)
		fmt.Println("drain:", *a.DrainBound)
	}
	// Output:
	// Reboot sick (Unhealthy): condition AcceleratedHardwareReady is False since 2026-03-02T11:00:00Z (XID 48)
	// drain: 0s
}

func ExampleCluster_Actions_liveness() {
	in := newInput(newNode("a", "web", func(n *provisioning.Node) {
		n.Node = nil
		setCondition(n.NodeClaim, v1.ConditionTypeRegistered, metav1.ConditionUnknown, noon.Add(-15*time.Minute))
	}))
	show(look(in, nil).Actions(disruption.LaunchTimeout, disruption.RegistrationTimeout).Actions)
	// Output:
	// Delete a-claim (RegistrationTimeout): condition Registered has not been True for 15m0s, since 2026-03-02T11:45:00Z
}

func ExampleCluster_Actions_garbage() {
	in := newInput(newNode("a", "web"), newNode("lost", "web", nodeCondition(corev1.NodeReady, corev1.ConditionUnknown, "NodeStatusUnknown", -time.Hour)))
	in.Instances = []*cloudprovider.Instance{{ID: "cloud://a", CreatedAt: born}, {ID: "cloud://orphan", CreatedAt: born}}
	show(look(in, nil).Actions(disruption.GarbageCollected).Actions)
	// Output:
	// Delete lost (GarbageCollected): the cloud has no machine cloud://lost any more
	// Terminate cloud://orphan (GarbageCollected): no NodeClaim speaks for the machine
}

func ExampleCluster_Actions_scaleDown() {
	in := newInput(newNode("busy", "web", withPods(newPod("web-1"))), newNode("idle", "web"))
	in.NodePools = []*v1.NodePool{newPool("web", replicas(1, 0))}
	show(look(in, nil).Actions(disruption.ScaledDown).Actions)
	// Output:
	// Delete idle (ScaledDown): NodePool "web" has 2 nodes, and spec.replicas is 1
}

func ExampleCluster_Warnings() {
	in := newInput(newNode("a", "web", withPods(newPod("web-1", note(v1.DoNotDisruptAnnotationKey, "yes")))))
	for _, w := range look(in, nil).Warnings() {
		fmt.Println(w)
	}
	// Output:
	// Pod "shop/web-1": metadata.annotations[karpenter.sh/do-not-disrupt]: "yes" counts for nothing; write true, or a duration above zero such as 30m
}

// Budgets and protection hold for what is the autoscaler's own choice.
func ExampleVoluntary() {
	fmt.Println(disruption.Voluntary(disruption.Drifted), disruption.Voluntary(disruption.Interrupted))
	// Output: true false
}

func ExampleCluster_Price() {
	in := newInput(newNode("n1", "web"))
	cluster, err := disruption.Observe(noon, in, nil)
	if err != nil {
		fmt.Println(err)
	}
	fmt.Println(cluster.Price("n1"))
	fmt.Println(cluster.Price("n2"))
	// Output:
	// 0.1 true
	// 0 false
}

// wasteful returns a cluster of three nodes that two smaller ones could do for.
func wasteful() disruption.Input {
	_, medium, large, all := sizes()
	return fleetOf(all,
		machine("n1", "default", large, load("api", 2500), load("db", 1200)),
		machine("n2", "default", medium, load("web", 3500)),
		machine("n3", "default", medium, load("cache", 200)))
}

func ExamplePropose() {
	p, faults, err := disruption.Propose(context.Background(), noon, wasteful(), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, fault := range faults {
		fmt.Println(fault) // an object that is left alone
	}
	show(p.Actions)
	show(p.Blocked)
	fmt.Printf("%.2f USD/h now, %.2f then, %.2f less\n", p.CostBefore, p.CostAfter, p.Savings())
	// Output:
	// Delete n1 (Underutilized): it costs 0.4 USD/h; there is room for 2 pods on 1 other node
	// Consolidation of n2: no cheaper place for its pods: the cheapest that holds what finds no room elsewhere is medium/a/on-demand at 0.2 USD/h, and it costs 0.2 USD/h
	// Consolidation of n3: Pod "shop/api" is about to come here
	// 0.80 USD/h now, 0.40 then, 0.40 less
}

// Two nodes have room for the pod of n1, and something that it cannot share.
func ExampleProposal_Explain() {
	p, _, err := disruption.Propose(context.Background(), noon, keeping(binding(80)), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	stay, err := p.Explain(context.Background(), "n1")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(stay.Report())
	// Output:
	// Pod "shop/web-1" finds no place on 3 other nodes: 1 has no room, 2 have room
	//   n2: it asks for port 80/TCP, which shop/web-2 has there
	//   n3: it asks for port 80/TCP, which shop/web-3 has there
}

func ExampleConfirm() {
	p, _, _ := disruption.Propose(context.Background(), noon, wasteful(), nil)
	// A quarter of a minute later another pod has come.
	fresh := wasteful()
	fresh.Nodes[2].Pods = append(fresh.Nodes[2].Pods, load("late", 3000))
	for _, a := range p.Actions {
		objections, err := disruption.Confirm(context.Background(), noon.Add(15*time.Second), fresh, a, nil)
		if err != nil {
			fmt.Println(err)
			return
		}
		show(objections)
	}
	// Output:
	// Destination: Node "n3" has no room left for Pod "shop/api": no other place for Pod "shop/api": there is no NodePool to launch a node from; of 2 existing nodes, 2 have too little room
}
