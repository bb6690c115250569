package fleet_test

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/disruption"
	"github.com/dovetail-sdk/dovetail/disruption/command"
	"github.com/dovetail-sdk/dovetail/disruption/fleet"
	"github.com/dovetail-sdk/dovetail/fake"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// general is a pool with the catalog of the fake cloud, added to what was read.
func general(f *fleet.Fleet) {
	pool := &v1.NodePool{}
	pool.Name = "general"
	pool.Spec.Template.Spec.Requirements = requirements.MustParse("karpenter.sh/capacity-type = on-demand").NodeSelectorRequirements()
	pool.Default()
	f.Input.NodePools = []*v1.NodePool{pool}
	f.Input.InstanceTypes = map[string][]*cloudprovider.InstanceType{"general": fake.Catalog()}
	f.Input.Vocabulary = fake.Vocabulary()
}

// A NodePool that cannot be read is told so, and keeps no other from its plan.
func ExampleFleet_Prepare() {
	f, err := fleet.Read(noon, fleet.Objects{Pods: []*corev1.Pod{pod("web", "", "ReplicaSet")}}, fleet.Memory{})
	if err != nil {
		panic(err)
	}
	general(f)
	odd := f.Input.NodePools[0].DeepCopy()
	odd.Name, odd.Spec.Template.Spec.Requirements[0].Operator = "odd", "Equals"
	f.Input.NodePools = append(f.Input.NodePools, odd)
	problem, faults, err := f.Prepare(nil)
	for _, fault := range faults {
		fmt.Println(fault.Reason, "of", fault.Err.Object, "at", fault.Err.Field)
	}
	if err != nil {
		panic(err)
	}
	plan, err := problem.Solve(context.Background())
	if err != nil {
		panic(err)
	}
	for _, n := range plan.Create {
		fmt.Println(n.Name, "for", n.Pods[0].Name)
	}
	// Output:
	// FailedValidation of NodePool "odd" at spec.template.spec.requirements[0].operator
	// general-0001 for web
}

// A pod is pending, and the only node is full. One node for the pods of both costs less than two.
func ExampleFleet_Enlarge() {
	claim, node, running, pending := claim("n1"), node("n1"), pod("running", "n1", "ReplicaSet"), pod("pending", "", "ReplicaSet")
	for _, p := range []*corev1.Pod{running, pending} {
		p.Spec.Containers = []corev1.Container{{Name: "c", Resources: corev1.ResourceRequirements{Requests: resources.MustParse("cpu=1500m").ResourceList()}}}
	}
	for key, value := range map[string]string{v1.NodePoolLabelKey: "general", v1.NodeInitializedLabelKey: "true", corev1.LabelInstanceTypeStable: "r6a.large",
		corev1.LabelTopologyZone: "us-east-1a", v1.CapacityTypeLabelKey: "on-demand"} {
		node.Labels[key] = value
	}
	claim.Labels = node.Labels
	claim.Status.Conditions = []metav1.Condition{{Type: v1.ConditionTypeInitialized, Status: metav1.ConditionTrue, LastTransitionTime: metav1.NewTime(noon.Add(-time.Hour))}}
	node.Status.Allocatable = resources.MustParse("cpu=1900m, memory=14Gi, pods=29").ResourceList()
	node.Status.Capacity = node.Status.Allocatable
	f, err := fleet.Read(noon, fleet.Objects{NodeClaims: []*v1.NodeClaim{claim}, Nodes: []*corev1.Node{node}, Pods: []*corev1.Pod{running, pending}}, fleet.Memory{})
	if err != nil {
		panic(err)
	}
	general(f)
	pool := &f.Input.NodePools[0].Spec.Template.Spec
	pool.Requirements = append(pool.Requirements, requirements.MustParse("node.kubernetes.io/instance-type in (r6a.large, c6a.xlarge)").NodeSelectorRequirements()...)
	problem, _, err := f.Prepare(nil)
	if err != nil {
		panic(err)
	}
	plan, err := problem.Solve(context.Background())
	if err != nil {
		panic(err)
	}
	larger, unneeded, err := f.Enlarge(context.Background(), problem, plan, nil)
	if err != nil {
		panic(err)
	}
	fmt.Println(plan.Create[0].Options[0].InstanceType.Name)
	fmt.Println(larger.Create[0].Options[0].InstanceType.Name, "in place of", unneeded)
	// Output:
	// r6a.large
	// c6a.xlarge in place of [n1]
}

// Room on a node that is open to all is promised in memory: the next look has the pod there,
// and no plan is due for it.
func ExampleFleet_Bind() {
	web := pod("web", "", "ReplicaSet")
	objects := fleet.Objects{NodeClaims: []*v1.NodeClaim{claim("n1")}, Nodes: []*corev1.Node{node("n1")}, Pods: []*corev1.Pod{web}}
	f, err := fleet.Read(noon, objects, fleet.Memory{})
	if err != nil {
		panic(err)
	}
	fmt.Println(len(f.Waiting()), "pod waits")
	claims, err := f.Bind([]provisioning.Binding{{Node: "n1", Pods: []*corev1.Pod{web}}}) // Plan.Bind
	if err != nil {
		panic(err)
	}
	fmt.Println(len(claims), "NodeClaims to store")
	for _, later := range []time.Duration{time.Second, fleet.BoundWithin} {
		next, err := fleet.Read(noon.Add(later), objects, f.Memory)
		if err != nil {
			panic(err)
		}
		fmt.Println("after", later, len(next.Waiting()), "waits,", len(next.Input.Nodes[0].Pods), "on n1")
	}
	// Output:
	// 1 pod waits
	// 0 NodeClaims to store
	// after 1s 0 waits, 1 on n1
	// after 30s 1 waits, 0 on n1
}

// A NodeClaim that is being deleted has its Node closed and its pods evicted first.
func ExampleFleet_Leave() {
	objects := fleet.Objects{NodeClaims: []*v1.NodeClaim{deleted(claim("n1"))}, Nodes: []*corev1.Node{node("n1")},
		Pods: []*corev1.Pod{pod("web", "n1", "ReplicaSet")}}
	for _, at := range []time.Duration{0, time.Minute} {
		f, err := fleet.Read(noon.Add(at), objects, fleet.Memory{})
		if err != nil {
			panic(err)
		}
		d, err := f.Leave(nil)
		if err != nil {
			panic(err)
		}
		for _, n := range d.Nodes {
			fmt.Println("close", n.Name, "by", n.Spec.Taints[0].ToString())
		}
		for _, n := range d.Drain {
			for _, s := range n.Evict {
				fmt.Println("evict", s.Name, "from", n.Node)
			}
		}
		for _, c := range d.Empty {
			fmt.Println("end the machine", c.Status.ProviderID)
		}
		objects.Nodes, objects.Pods = d.Nodes, nil // stored, and evicted
	}
	// Output:
	// close n1 by karpenter.sh/disrupted:NoSchedule
	// evict web from n1
	// end the machine fake://n1
}

// A node waits for a budget, while another one goes. It may go when the budget lets it, without a further
// wait.
func ExampleFleet_Foreseen() {
	goes := func(node string) disruption.Action {
		return disruption.Action{Targets: []disruption.Target{{Node: node}}, Reason: disruption.Empty}
	}
	var memory fleet.Memory
	for i, p := range []*disruption.Proposal{
		{Actions: []disruption.Action{goes("n1")}, Waiting: []disruption.Waiting{{Action: goes("n2")}}},
		{Actions: []disruption.Action{goes("n2")}},
	} {
		f, err := fleet.Read(noon.Add(time.Duration(i)*time.Minute), fleet.Objects{}, memory)
		if err != nil {
			fmt.Println(err)
			return
		}
		since := f.Foreseen(p)
		fmt.Println(p.Actions[0].Targets[0].Node, "for", f.Now.Sub(since[0]))
		memory = f.Memory
	}
	// Output:
	// n1 for 0s
	// n2 for 1m0s
}

// An action is confirmed on what is read a moment later, and begun.
func ExampleFleet_Confirm() {
	empty := claim("n1")
	empty.Labels = map[string]string{}
	empty.Status.Conditions = []metav1.Condition{{Type: v1.ConditionTypeInitialized, Status: metav1.ConditionTrue, LastTransitionTime: empty.CreationTimestamp}}
	machine := node("n1")
	for key, value := range map[string]string{v1.NodePoolLabelKey: "general", v1.NodeInitializedLabelKey: "true",
		corev1.LabelInstanceTypeStable: "m6i.large", corev1.LabelTopologyZone: "us-east-1a", v1.CapacityTypeLabelKey: v1.CapacityTypeOnDemand} {
		machine.Labels[key], empty.Labels[key] = value, value
	}
	objects := fleet.Objects{NodeClaims: []*v1.NodeClaim{empty}, Nodes: []*corev1.Node{machine}}
	f, err := fleet.Read(noon.Add(time.Minute), objects, fleet.Memory{})
	if err != nil {
		panic(err)
	}
	general(f)
	proposal, _, err := disruption.Propose(context.Background(), f.Now, f.Input, nil)
	if err != nil {
		panic(err)
	}
	f, err = fleet.Read(noon.Add(2*time.Minute), objects, f.Memory)
	if err != nil {
		panic(err)
	}
	general(f)
	var book command.Book // kept by the program
	for _, action := range proposal.Actions {
		prepared, objections, err := f.Confirm(context.Background(), action, nil)
		if err != nil || len(objections) > 0 {
			fmt.Println(objections, err)
			continue
		}
		writes, err := book.Begin(f.Now, prepared, f.CommandInput())
		fmt.Println(action, writes, err)
	}
	// Output:
	// Delete n1 (Empty): no pod on it needs another place [record nodeclaim/n1: takes part in command 21375b298596] <nil>
}
