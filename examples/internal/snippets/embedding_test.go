package snippets_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"maps"
	"os"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/cloudprovider/machine"
	"github.com/dovetail-sdk/dovetail/disruption"
	"github.com/dovetail-sdk/dovetail/disruption/fleet"
	"github.com/dovetail-sdk/dovetail/fake"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/nodeclaim"
	"github.com/dovetail-sdk/dovetail/provisioning/nomination"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

func Example_read() {
	dump, err := os.ReadFile("testdata/cluster.yaml") // kubectl get nodepools,nodeclaims,nodes,pods -A -o yaml
	if err != nil {
		log.Fatal(err)
	}
	docs, err := v1.Documents(dump)
	faults := []error{err}
	var nodes []*corev1.Node
	var claims []*v1.NodeClaim
	var pods []*corev1.Pod
	in := provisioning.Input{Vocabulary: fake.Vocabulary(), InstanceTypes: map[string][]*cloudprovider.InstanceType{}}
	for _, d := range docs {
		switch d.GroupVersionKind().Kind {
		case v1.NodePoolKind:
			pool := &v1.NodePool{}
			if err := d.Into(v1.GroupVersion.WithKind(v1.NodePoolKind), pool); err != nil {
				faults = append(faults, err)
				continue
			}
			pool.Default()
			faults = append(faults, pool.Validate().ToAggregate())
			in.NodePools = append(in.NodePools, pool)
			in.InstanceTypes[pool.Name] = fake.Catalog() // of your cloud: CloudProvider.InstanceTypes
		case v1.NodeClaimKind:
			claim := &v1.NodeClaim{}
			faults = append(faults, d.Into(v1.GroupVersion.WithKind(v1.NodeClaimKind), claim))
			claims = append(claims, claim)
		case "Node":
			node := &corev1.Node{}
			nodes, faults = append(nodes, node), append(faults, json.Unmarshal(d.JSON(), node))
		case "Pod":
			pod := &corev1.Pod{}
			pods, faults = append(pods, pod), append(faults, json.Unmarshal(d.JSON(), pod))
		}
	}
	joined, err := provisioning.Match(nodes, claims, pods)
	if err = errors.Join(append(faults, err)...); err != nil {
		log.Fatal(err) // every fault of every object
	}
	in.Nodes, in.Pods = joined.Nodes, joined.Pending

	plan, err := provisioning.Solve(context.Background(), in, nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, n := range plan.Create {
		fmt.Println(n.Name, "for", len(n.Pods), "pod:", n.Options[0])
	}

	// Output:
	// general-0001 for 1 pod: c6g.large/us-east-1a/on-demand at 0.068 USD/h
}

func Example_clusterAutoscaler() {
	groups := []struct { // as CloudProvider.NodeGroups and TemplateNodeInfo say
		name, machine, size, zone string
		price                     float64
		now, most                 int
	}{
		{"small-a", "c6i.xlarge", "cpu=4, memory=8Gi, pods=58", "a", 0.17, 3, 10},
		{"small-b", "c6i.xlarge", "cpu=4, memory=8Gi, pods=58", "b", 0.17, 10, 10},
		{"large-a", "m6i.4xlarge", "cpu=16, memory=64Gi, pods=234", "a", 0.768, 0, 2},
	}
	in := provisioning.Input{InstanceTypes: map[string][]*cloudprovider.InstanceType{}, Pods: pods("web", 40, "cpu=900m, memory=1500Mi")}
	for _, g := range groups {
		t, err := machine.Machine{
			Name: g.machine, Arch: v1.ArchitectureAmd64, Capacity: resources.MustParse(g.size),
			Offerings: []cloudprovider.Offering{{Zone: g.zone, CapacityType: v1.CapacityTypeOnDemand, Price: g.price, Available: g.now < g.most}},
		}.InstanceType()
		if err != nil {
			log.Fatal(err)
		}
		group := &v1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: g.name}}
		group.Spec.Template.Spec.NodeClassRef = &v1.NodeClassReference{Group: "example.com", Kind: "NodeGroup", Name: g.name}
		group.Spec.Limits = v1.Limits{v1.ResourceNodes: *resource.NewQuantity(int64(g.most-g.now), resource.DecimalSI)}
		in.NodePools = append(in.NodePools, group)
		in.InstanceTypes[g.name] = []*cloudprovider.InstanceType{t}
	}
	plan, err := provisioning.Solve(context.Background(), in, nil)
	if err != nil {
		log.Fatal(err)
	}
	more := map[string]int{}
	for i := range plan.Create {
		order := plan.Create[i].Request("the UID of the NodeClaim") // what a CloudProvider is asked to create
		if err := order.Validate(); err != nil {
			log.Fatal(err)
		}
		more[order.NodePool]++
	}
	for _, name := range slices.Sorted(maps.Keys(more)) {
		fmt.Printf("IncreaseSize(%s, %d)\n", name, more[name])
	}
	fmt.Printf("%d pods wait, %.2f USD/h\n", len(plan.Unplaced), plan.Cost)

	// Output:
	// IncreaseSize(large-a, 1)
	// IncreaseSize(small-a, 6)
	// 0 pods wait, 1.79 USD/h
}

func Example_controller() {
	ctx, now := context.Background(), noon // of Reconcile
	var objects fleet.Objects              // what the caches have: here two workloads that are pending
	for _, p := range append(pods("web", 12, "cpu=1300m, memory=3Gi"), pod("huge", "cpu=1000")) {
		p.UID = types.UID(p.Name)
		objects.Pods = append(objects.Pods, p)
	}
	f, err := fleet.Read(now, objects, fleet.Memory{}) // in each pass with the Memory of the one before
	if err != nil {
		log.Println(err) // the rest is right
	}
	in := snapshot([]*v1.NodePool{pool("general", "karpenter.sh/capacity-type = on-demand")}, f.Input.Pods...)
	in.Nodes, in.DaemonSetPods = f.Input.Nodes, f.Input.DaemonSetPods
	f.Input.Input = in
	problem, faults, err := f.Prepare(nil)
	for _, fault := range faults {
		log.Println(fault.Reason, fault.Err) // an event on fault.Object, which is left out
	}
	if err == nil {
		problem, err = problem.With(disruption.Displaced(now, f.Input)...) // pods of nodes that go need a place as well
	}
	if err != nil {
		log.Fatal(err)
	}
	plan, err := problem.Solve(ctx)
	if err != nil {
		return // the manager is stopping; nothing was decided
	}
	for _, n := range plan.Create {
		claim := n.NodeClaim()
		claim.Name, claim.CreationTimestamp = claim.GenerateName+"x7k2p", metav1.NewTime(now)
		if claim, err = nomination.Reserve(now, claim, f.Stored(n.Pods), nil); err != nil {
			log.Fatal(err)
		}
		objects.NodeClaims = append(objects.NodeClaims, claim) // create it, with an event on each pod
	}
	for _, u := range plan.Unplaced {
		fmt.Println("event on", u.Pod.Name+":", u.Explanation)
	}
	f, err = fleet.Read(now.Add(time.Second), objects, f.Memory)
	fmt.Println(len(f.Waiting()), "pod waits,", len(f.Promises.Pods), "have a promise of", f.Promises.Pods[0].NodeClaim, err)

	// Output:
	// event on huge: NodePool general: the pod asks for cpu=1000, but no suitable instance type has more than 893.69 (u7i-12tb.224xlarge)
	// 1 pod waits, 12 have a promise of general-x7k2p <nil>
}

func Example_nodeClaim() {
	ctx := context.Background()
	cloud, err := fake.New(nil) // in its place your provider
	if err != nil {
		log.Fatal(err)
	}
	general := pool("general", "karpenter.sh/capacity-type = on-demand")
	general.Spec.Template.Spec.NodeClassRef = &v1.NodeClassReference{Group: "fake.example.com", Kind: "FakeNodeClass", Name: "default"}
	types, err := cloud.InstanceTypes(ctx, general)
	if err != nil {
		log.Fatal(err)
	}
	in := snapshot([]*v1.NodePool{general}, pods("web", 3, "cpu=1, memory=1Gi")...)
	in.InstanceTypes["general"] = types
	plan, err := provisioning.Solve(ctx, in, nil)
	if err != nil {
		log.Fatal(err)
	}
	claim := plan.Create[0].NodeClaim()
	claim.Name, claim.UID = "general-x7k2p", "3f0c9a1e" // the API server does this when it is stored

	// Launch: now, after a failure, and after a restart.
	order, err := nodeclaim.Request(claim, types, cloud.Vocabulary())
	var machine *cloudprovider.Instance
	if err == nil {
		machine, err = cloud.Create(ctx, order)
	}
	launched := nodeclaim.Launched(err)
	if launched.Delete != "" {
		return // delete the NodeClaim: its pods are planned for anew
	}
	claim = launched.EditClaim(cloud.Now(), claim, machine) // update its status
	in.Nodes = []provisioning.Node{{NodeClaim: claim}}      // until it joins: its pods find their place there

	// Join: whenever a Node or the NodeClaim changes.
	cloud.Advance(5 * time.Minute)
	registered := nodeclaim.Register(claim, cloud.Nodes())
	claim = registered.EditClaim(cloud.Now(), claim)
	ready := nodeclaim.Initialize(claim, registered.Node, nil)
	claim = ready.EditClaim(cloud.Now(), claim)
	node := ready.EditNode(registered.Node) // update both
	in.Nodes = []provisioning.Node{{NodeClaim: claim, Node: node}}

	for _, c := range claim.Status.Conditions {
		fmt.Println(c.Type, c.Status)
	}

	// Output:
	// Launched True
	// Ready True
	// Registered True
	// Initialized True
}

func Example_batch() {
	ctx := context.Background()
	cluster, err := provisioning.Prepare(snapshot([]*v1.NodePool{pool("batch", "karpenter.sh/capacity-type = spot")}), nil)
	if err != nil {
		log.Fatal(err)
	}
	queue := map[string][]*corev1.Pod{
		"train":  pods("train", 4, "cpu=30, memory=100Gi"),
		"report": pods("report", 20, "cpu=1, memory=2Gi"),
		"vast":   pods("vast", 2, "cpu=4000"),
	}
	for _, name := range slices.Sorted(maps.Keys(queue)) {
		job, err := cluster.With(queue[name]...) // cheap: the cluster is compiled once
		if err != nil {
			log.Fatal(err)
		}
		plan, err := job.Solve(ctx)
		if err != nil {
			log.Fatal(err)
		}
		if len(plan.Unplaced) > 0 { // all or nothing
			fmt.Printf("%s waits: %s\n", name, plan.Unplaced[0].Explanation)
			continue
		}
		fmt.Printf("%s starts: %d nodes more, %.2f USD/h\n", name, len(plan.Create), plan.Cost)
	}

	// Output:
	// report starts: 5 nodes more, 0.20 USD/h
	// train starts: 2 nodes more, 1.60 USD/h
	// vast waits: NodePool batch: the pod asks for cpu=4000, but no suitable instance type has more than 382.97 (m8i.96xlarge)
}

func Example_faults() {
	in := snapshot([]*v1.NodePool{pool("general", "kubernetes.io/arch = amd64")}, pod("web", "cpu=1"))
	in.NodePools[0].Spec.Template.Spec.Requirements[0].Operator = "Equals"
	in.Nodes = []provisioning.Node{{Node: &corev1.Node{}}}

	_, err := provisioning.Prepare(in, nil)
	for _, fault := range provisioning.Faults(err) {
		fmt.Println(fault)
	}
	var first *provisioning.InputError
	fmt.Println(errors.As(err, &first))

	// Output:
	// Nodes[0]: metadata.name: is empty; nodes are told apart by name
	// NodePool "general": spec.template.spec.requirements[0].operator: Invalid value: "Equals": label "kubernetes.io/arch": operator "Equals" is not known; use one of In, NotIn, Exists, DoesNotExist, Gt, Gte, Lt, Lte
	// true
}

func Example_propose() {
	ctx := context.Background()
	running := map[string][]*corev1.Pod{
		"n1": {pod("web", "cpu=1, memory=2Gi")},
		"n2": {pod("cron", "cpu=300m, memory=1Gi")},
	}
	in := cluster(running, "n1", "n2", "n3")
	in.NodePools[0].Spec.Disruption.Budgets = []v1.Budget{{Nodes: "2"}}
	proposal, faults, err := disruption.Propose(ctx, noon, in, nil)
	if err != nil {
		log.Fatal(err) // only ever that of ctx
	}
	for _, fault := range faults {
		fmt.Println(fault) // an object that is left alone
	}
	for _, action := range proposal.Actions {
		fmt.Println(action)
		for _, m := range action.Moves {
			fmt.Println("  ", m.Pod.Name, "goes from", m.From, "to", m.Node)
		}
	}
	for _, b := range proposal.Blocked {
		fmt.Println(b)
	}
	fmt.Printf("saves %.3f of %.3f USD/h\n", proposal.Savings(), proposal.CostBefore)

	// A minute later the caches have moved on: a pod has come to n1.
	running["n1"] = append(running["n1"], pod("late", "cpu=200m, memory=1Gi"))
	fresh := cluster(running, "n1", "n2", "n3")
	fresh.NodePools = in.NodePools
	for _, action := range proposal.Actions {
		objections, err := disruption.Confirm(ctx, noon.Add(time.Minute), fresh, action, nil)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s, objections: %d\n", action.Targets[0].Node, len(objections))
		for _, o := range objections {
			fmt.Println("  ", o)
		}
	}

	// Output:
	// Delete n3 (Empty): no pod on it needs another place
	// Delete n1 (Underutilized): it costs 0.096 USD/h; there is room for 1 pod on 1 other node
	//    web goes from n1 to n2
	// Consolidation of n2: Pod "shop/web" is about to come here
	// saves 0.192 of 0.288 USD/h
	// n3, objections: 0
	// n1, objections: 1
	//    NewPods of n1: Pod "shop/late" has come to it since
}
