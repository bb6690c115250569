package provisioning_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

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
	// InstanceTypes["general"]: instance type m6i.2xlarge: offering 0 (m6i.2xlarge/us-east-1a/on-demand): price: -0.1; use a price in USD per hour, above zero and at most 1e+09
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

// labelled gives pods a label that constraints can select.
func labelled(pods []*corev1.Pod) *metav1.LabelSelector {
	for _, pod := range pods {
		pod.Labels = map[string]string{"app": "web"}
	}
	return &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}
}

// printZones shows how many pods each new node takes, and the zones where it may
// come up.
func printZones(plan *provisioning.Plan) {
	for _, node := range plan.Create {
		var zones []string
		for _, option := range node.Options {
			if zone := option.Offering.Zone; !strings.Contains(strings.Join(zones, " "), zone) {
				zones = append(zones, zone)
			}
		}
		fmt.Printf("%s: %d pods, %s\n", node.Name, len(node.Pods), strings.Join(zones, " or "))
	}
}

// Pods that are spread over zones get nodes in several of them, each pinned to
// its zone.
func ExampleSolve_topologySpread() {
	in := shop()
	web := labelled(in.Pods)
	for _, pod := range in.Pods {
		pod.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{
			MaxSkew: 1, TopologyKey: corev1.LabelTopologyZone, WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: web,
		}}
	}
	printZones(solveShop(in))

	// Output:
	// general-0001: 4 pods, us-east-1a
	// general-0002: 2 pods, us-east-1b
	// general-0003: 1 pods, us-east-1b
}

// One pod a node: as many nodes as pods, of the cheapest type that holds one,
// in one plan.
func ExampleSolve_antiAffinity() {
	in := shop()
	in.Pods = in.Pods[:3]
	web := labelled(in.Pods)
	for _, pod := range in.Pods {
		pod.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{
				TopologyKey: corev1.LabelHostname, LabelSelector: web,
			}},
		}}
	}
	printZones(solveShop(in))

	// Output:
	// general-0001: 1 pods, us-east-1b or us-east-1a
	// general-0002: 1 pods, us-east-1b or us-east-1a
	// general-0003: 1 pods, us-east-1b or us-east-1a
}

// The pod goes where its volume is.
func ExampleSolve_volume() {
	in := shop()
	in.Pods = in.Pods[:1]
	in.Pods[0].Spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{
		PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data"},
	}}}
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{
		Namespace: "shop", Name: "data", Annotations: map[string]string{"pv.kubernetes.io/bind-completed": "yes"},
	}}
	claim.Spec.VolumeName, claim.Status.Phase = "disk-1", corev1.ClaimBound
	disk := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: "disk-1"}}
	disk.Spec.NodeAffinity = &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
		MatchExpressions: []corev1.NodeSelectorRequirement{{
			Key: corev1.LabelTopologyZone, Operator: corev1.NodeSelectorOpIn, Values: []string{"us-east-1b"},
		}},
	}}}}
	in.Volumes.Claims = []*corev1.PersistentVolumeClaim{claim}

	fmt.Println(solveShop(in).Unplaced[0].Explanation)
	in.Volumes.Volumes = []*corev1.PersistentVolume{disk}
	printZones(solveShop(in))

	// Output:
	// PersistentVolumeClaim "shop/data" is bound to volume "disk-1", which does not exist; bring the volume back or create the claim anew
	// general-0001: 1 pods, us-east-1b
}

// A fault of one pod keeps that pod pending, and nobody else.
func ExampleSolve_faultOfAPod() {
	in := shop()
	in.Pods[0].Spec.Containers[0].Resources.Requests[corev1.ResourceCPU] = resource.MustParse("-1")
	plan, err := provisioning.Solve(context.Background(), in, nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, u := range plan.Unplaced {
		fmt.Printf("%s: %s\n", u.Explanation.Cause, u.Explanation)
	}
	fmt.Printf("%d pods have a place\n", len(plan.Order))

	// Output:
	// Invalid: container main: resource cpu: -1: negative request; use zero or more
	// 6 pods have a place
}

// Constraints that a cluster gives to pods that have none of their own. What
// counts as alike is deduced from the Services that select a pod.
func ExampleOptions_defaultSpread() {
	in := shop()
	labelled(in.Pods)
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"}}
	service.Spec.Selector = map[string]string{"app": "web"}
	in.Services = []*corev1.Service{service}
	plan, err := provisioning.Solve(context.Background(), in, &provisioning.Options{
		DefaultSpread: []corev1.TopologySpreadConstraint{{
			MaxSkew: 1, TopologyKey: corev1.LabelTopologyZone, WhenUnsatisfiable: corev1.DoNotSchedule,
		}},
	})
	if err != nil {
		log.Fatal(err)
	}
	printZones(plan)

	// Output:
	// general-0001: 4 pods, us-east-1a
	// general-0002: 2 pods, us-east-1b
	// general-0003: 1 pods, us-east-1b
}

// A quick plan answers at once whether pods fit and about what they cost; the full
// search also proves how much less it could be at most.
func ExampleOptions_quick() {
	in := shop()
	for i := range 40 {
		in.Pods = append(in.Pods, shopPod(fmt.Sprintf("job-%d", i), fmt.Sprintf("cpu=%dm, memory=%dMi", 200+35*i, 512+67*i)))
	}
	for _, opts := range []provisioning.Options{{Quick: true}, {}} {
		plan, err := provisioning.Solve(context.Background(), in, &opts)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%.3f USD/h, at least %.3f, %d pods left over\n", plan.Cost, plan.LowerBound, len(plan.Unplaced))
	}
	// Output:
	// 0.713 USD/h, at least 0.000, 0 pods left over
	// 0.713 USD/h, at least 0.688, 0 pods left over
}

// A plan says which preferences it gives up, and why: arm64 costs too much more, and no
// node can be launched in the zone.
func ExampleGivenUpPreference_String() {
	in := shop()
	prefer := func(weight int32, key, value string) corev1.PreferredSchedulingTerm {
		return corev1.PreferredSchedulingTerm{Weight: weight, Preference: corev1.NodeSelectorTerm{
			MatchExpressions: []corev1.NodeSelectorRequirement{{Key: key, Operator: corev1.NodeSelectorOpIn, Values: []string{value}}},
		}}
	}
	for _, pod := range in.Pods {
		pod.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
			PreferredDuringSchedulingIgnoredDuringExecution: []corev1.PreferredSchedulingTerm{
				prefer(10, corev1.LabelArchStable, "arm64"), prefer(10, corev1.LabelTopologyZone, "us-east-1c"),
			},
		}}
	}
	plan := solveShop(in)
	for i := range plan.GivenUp {
		given := &plan.GivenUp[i]
		fmt.Printf("%d pods, %s: %s\n", len(given.Pods), given.Cause, given)
	}

	// Output:
	// 7 pods, Cost: preferred node affinity of weight 10 to kubernetes.io/arch = arm64: it costs 31.1% more for each pod, and PreferenceCost allows 1%
	// 7 pods, Unavailable: preferred node affinity of weight 10 to topology.kubernetes.io/zone = us-east-1c: no new node can satisfy it; NodePool general: no instance type of the pool has topology.kubernetes.io/zone = us-east-1c
}

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
