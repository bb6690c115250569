package provisioning_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/fake"
	"github.com/dovetail-sdk/dovetail/fake/catalog"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// shop returns the input of the examples: a pool for everything on a small part of
// EC2, and a few pods.
func shop() provisioning.Input {
	pool := &v1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "general"}}
	pool.Spec.Template.Spec.NodeClassRef = &v1.NodeClassReference{Group: "karpenter.k8s.aws", Kind: "EC2NodeClass", Name: "default"}
	catalog, err := catalog.New(&catalog.Options{
		Zones:    []catalog.Zone{{Name: "us-east-1a"}, {Name: "us-east-1b"}},
		Families: []string{"m6i", "m7g"},
		Where:    requirements.MustParse("karpenter.k8s.aws/instance-cpu < 9"),
	})
	if err != nil {
		log.Fatal(err)
	}
	in := provisioning.Input{
		NodePools:     []*v1.NodePool{pool},
		InstanceTypes: map[string][]*cloudprovider.InstanceType{"general": catalog},
		Vocabulary:    fake.Vocabulary(),
	}
	for i := range 7 {
		in.Pods = append(in.Pods, shopPod(fmt.Sprintf("web-%d", i), "cpu=1500m, memory=5Gi"))
	}
	return in
}

func shopPod(name, requests string) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name}}
	pod.Spec.Containers = []corev1.Container{{Name: "main", Resources: corev1.ResourceRequirements{
		Requests: resources.MustParse(requests).ResourceList(),
	}}}
	return pod
}

// solveShop is for examples that are about the plan.
func solveShop(in provisioning.Input) *provisioning.Plan {
	plan, err := provisioning.Solve(context.Background(), in, nil)
	if err != nil {
		log.Fatal(err)
	}
	return plan
}

// A Problem is compiled once and solved as often as needed, by several
// goroutines if need be.
func ExamplePrepare() {
	problem, err := provisioning.Prepare(shop(), &provisioning.Options{MinValues: provisioning.BestEffort})
	if err != nil {
		log.Fatal(err)
	}
	for range 2 {
		plan, err := problem.Solve(context.Background())
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%d nodes for %.4f USD/h\n", len(plan.Create), plan.Cost)
	}

	// Output:
	// 2 nodes for 0.1882 USD/h
	// 2 nodes for 0.1882 USD/h
}

// Under BestEffort a node is launched of which fewer values can be had than its pool
// demands, and says so.
func ExampleNewNode_MissedMinValues() {
	in, three := shop(), 3
	in.NodePools[0].Spec.Template.Spec.Requirements = []v1.NodeSelectorRequirementWithMinValues{
		{Key: "karpenter.k8s.aws/instance-family", Operator: corev1.NodeSelectorOpExists, MinValues: &three},
	}
	plan, err := provisioning.Solve(context.Background(), in, &provisioning.Options{MinValues: provisioning.BestEffort})
	if err != nil {
		log.Fatal(err)
	}
	for _, m := range plan.Create[0].MissedMinValues() {
		fmt.Println(m)
	}

	// Output:
	// minValues of karpenter.k8s.aws/instance-family is 2 instead of 3
}

// Nodes that exist are filled before any is launched.
func ExampleProblem_Solve() {
	in := shop()
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "ip-10-0-17-21"}}
	node.Status.Allocatable = resources.MustParse("cpu=3920m, memory=14Gi, pods=58").ResourceList()
	in.Nodes = []provisioning.Node{{Node: node, Pods: []*corev1.Pod{shopPod("cart-1", "cpu=500m")}}}
	in.Pods = append(in.Pods, shopPod("report", "cpu=16"))

	problem, err := provisioning.Prepare(in, nil)
	if err != nil {
		log.Fatal(err)
	}
	plan, err := problem.Solve(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	for _, n := range plan.Create {
		fmt.Printf("launch %s for %d pods, as %s\n", n.Name, len(n.Pods), n.Options[0].Key())
	}
	for _, b := range plan.Bind {
		fmt.Printf("%s has room for %d pods\n", b.Node, len(b.Pods))
	}
	for _, u := range plan.Unplaced {
		fmt.Printf("%s stays pending: %s\n", u.Pod.Name, u.Explanation)
	}

	// Output:
	// launch general-0001 for 5 pods, as m6i.2xlarge/us-east-1a/spot
	// ip-10-0-17-21 has room for 2 pods
	// report stays pending: NodePool general: the pod asks for cpu=16, but no suitable instance type has more than 7.91 (m6i.2xlarge); the only existing node has too little room
}

// The last node of a plan is rarely full, which shows where there are few nodes;
// the gap of a large plan is far smaller.
func ExamplePlan_Gap() {
	plan := solveShop(shop())
	fmt.Printf("%.4f USD/h, at least %.4f: at most %.1f%% above the optimum\n", plan.Cost, plan.LowerBound, 100*plan.Gap())

	// Output:
	// 0.1882 USD/h, at least 0.1684: at most 11.8% above the optimum
}

func ExampleNewNode_Price() {
	n := solveShop(shop()).Create[0]
	fmt.Printf("%.4f USD/h as %s\n", n.Price(), n.Options[0].Key())
	dearest := n.Options[len(n.Options)-1]
	fmt.Printf("%.4f USD/h if all else is sold out, as %s\n", dearest.Offering.Price, dearest.Key())

	// Output:
	// 0.1188 USD/h as m6i.2xlarge/us-east-1a/spot
	// 0.3840 USD/h if all else is sold out, as m6i.2xlarge/us-east-1b/on-demand
}

// A node goes to a CloudProvider as a LaunchRequest, which lists every option by
// itself.
func ExampleNewNode_Request() {
	cloud, err := fake.New(nil)
	if err != nil {
		log.Fatal(err)
	}
	plan := solveShop(shop())
	for i := range plan.Create {
		request := plan.Create[i].Request(fmt.Sprintf("plan-17/%s", plan.Create[i].Name))
		instance, err := cloud.Create(context.Background(), request)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s of %d options: %s\n", plan.Create[i].Name, len(request.Options), instance.OfferingKey())
	}

	// Output:
	// general-0001 of 8 options: m6i.2xlarge/us-east-1a/spot
	// general-0002 of 16 options: m6i.xlarge/us-east-1a/spot
}

// A node goes to a cluster as a NodeClaim.
func ExampleNewNode_NodeClaim() {
	in := shop()
	in.NodePools[0].Spec.Template.Spec.Requirements = requirements.MustParse("team").NodeSelectorRequirements()
	in.Pods[0].Spec.NodeSelector = map[string]string{"team": "checkout", corev1.LabelArchStable: "amd64"}
	in.Pods = in.Pods[:1]

	claim := solveShop(in).Create[0].NodeClaim()
	fmt.Println(claim.Kind, claim.GenerateName, claim.Labels["team"])
	for _, r := range claim.Spec.Requirements {
		fmt.Println(r.Key, r.Operator, r.Values)
	}

	// Output:
	// NodeClaim general- checkout
	// karpenter.k8s.aws/ec2nodeclass In [default]
	// karpenter.sh/capacity-type In [on-demand spot]
	// karpenter.sh/nodepool In [general]
	// kubernetes.io/arch In [amd64]
	// node.kubernetes.io/instance-type In [m6i.2xlarge m6i.large m6i.xlarge]
	// team In [checkout]
	// topology.kubernetes.io/zone In [us-east-1a us-east-1b]
}

// An Explanation is data: String is for people, the fields are for programs.
func ExampleExplanation_String() {
	in := shop()
	in.Pods = []*corev1.Pod{shopPod("report", "cpu=16, memory=8Gi")}
	reason := solveShop(in).Unplaced[0].Explanation
	fmt.Println(reason)

	for _, pool := range reason.Pools {
		if pool.Cause != provisioning.CauseResources {
			continue
		}
		for _, s := range pool.Shortfalls {
			fmt.Printf("%s of %s are missing\n", resources.Format(s.Resource, s.Requested-s.Largest), s.Resource)
		}
	}

	// Output:
	// NodePool general: the pod asks for cpu=16, but no suitable instance type has more than 7.91 (m6i.2xlarge)
	// 8090m of cpu are missing
}

func ExamplePoolExplanation_String() {
	reason := provisioning.PoolExplanation{
		NodePool: "batch",
		Cause:    provisioning.CauseTaints,
		Taints:   []corev1.Taint{{Key: "dedicated", Value: "batch", Effect: corev1.TaintEffectNoSchedule}},
	}
	fmt.Println(reason.String())

	// Output:
	// NodePool batch: its taint dedicated=batch:NoSchedule is not tolerated
}

func ExampleShortfall_String() {
	shortfall := provisioning.Shortfall{
		Resource:     corev1.ResourceMemory,
		Requested:    34 << 30,
		Daemons:      2 << 30,
		Largest:      29 << 30,
		InstanceType: "m6i.2xlarge",
	}
	fmt.Println(shortfall.String())

	// Output:
	// the pod asks for memory=32Gi and DaemonSets for memory=2Gi, but no suitable instance type has more than 29Gi (m6i.2xlarge)
}

func ExampleNode_Name() {
	onItsWay := provisioning.Node{NodeClaim: &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "general-x7k2p"}}}
	fmt.Println(onItsWay.Name())
	joined := onItsWay
	joined.Node = &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "ip-10-0-17-21"}}
	fmt.Println(joined.Name())

	// Output:
	// general-x7k2p
	// ip-10-0-17-21
}

func ExampleOptions_Validate() {
	opts := provisioning.Options{MinValues: "best-effort", MaxSteps: -1}
	fmt.Println(opts.Validate())

	// Output:
	// MinValues is "best-effort"; use "Strict" or "BestEffort"
	// MaxSteps is -1; use 0 for the default, or a positive number
}

// Bad input is reported all at once, each fault with its object, field and
// remedy.
func ExampleFaults() {
	in := shop()
	in.Pods[1].Spec.NodeName = "ip-10-0-17-21"
	in.NodePools[0].Spec.Limits = v1.Limits(resources.MustParse("nodes=-5").ResourceList())
	in.InstanceTypes["general"][0].Offerings[0].Price = -0.1

	_, err := provisioning.Solve(context.Background(), in, nil)
	for _, fault := range provisioning.Faults(err) {
		fmt.Println(fault)
	}

	// Output:
	// Pod "shop/web-1": spec.nodeName: is "ip-10-0-17-21"; a bound pod belongs in Node.Pods, not among the pods to place
	// InstanceTypes["general"]: instance type m6i.2xlarge: offering 0 (m6i.2xlarge/us-east-1a/on-demand): price: -0.1; use a price in USD per hour
	// NodePool "general": spec.limits[nodes]: is negative; a limit is zero or more
}

func ExampleInputError() {
	in := shop()
	in.Pods[0].Spec.NodeName = "ip-10-0-17-21"
	_, err := provisioning.Solve(context.Background(), in, nil)

	var fault *provisioning.InputError
	if errors.As(err, &fault) {
		fmt.Println("object:", fault.Object)
		fmt.Println("field: ", fault.Field)
		fmt.Println("detail:", fault.Detail)
	}

	// Output:
	// object: Pod "shop/web-0"
	// field:  spec.nodeName
	// detail: is "ip-10-0-17-21"; a bound pod belongs in Node.Pods, not among the pods to place
}

// Why was a larger machine not taken, and could it be had at all?
func ExamplePlan_Why() {
	plan := solveShop(shop())
	for _, name := range []string{"m6i.2xlarge", "m7g.2xlarge", "m6i.large"} {
		why, err := plan.Why("general-0001", name)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(why)
	}
	_, err := plan.Why("general-0009", "m6i.large")
	fmt.Println(err)

	// Output:
	// m6i.2xlarge/us-east-1a/spot is the cheapest option of node general-0001
	// m7g.2xlarge/us-east-1a/spot is option 3 of node general-0001, 0.0388 USD/h dearer than the cheapest
	// m6i.large/us-east-1a/spot is no option of node general-0001: pods and daemons of the node need cpu=7500m, and it has 1930m; memory=25600Mi, and it has 6903Mi
	// provisioning: the plan has no new node "general-0009"; name one of Plan.Create
}

// In full, a reason says what removed how many of the ways to launch a node.
func ExampleExplanation_Report() {
	in := shop()
	in.Pods = []*corev1.Pod{shopPod("forecast", "cpu=20, memory=8Gi")}
	fmt.Print(solveShop(in).Unplaced[0].Explanation.Report())

	// Output:
	// NodePool general
	//       28 ways to launch a node
	//      -28  room for cpu=20
	//   nearest miss: needs cpu=20, largest allowed 7.91 (m6i.2xlarge)
}
