package report_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/disruption"
	"github.com/dovetail-sdk/dovetail/disruption/compare"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/advice"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
	"github.com/dovetail-sdk/dovetail/report"
)

// A plan as a page for a terminal.
func ExamplePlan_Format() {
	in, plan := planned()
	fmt.Print(report.NewPlan(in, plan, nil).Format(nil))
	// Output:
	// Plan for 10 pods
	// 9 pods need 2 new nodes, 1 pod stays pending.
	//
	// NEW  POOL     TYPE         ZONE        CAPACITY      ALT  PODS  CPU  MEM   USD/H
	//  1×  general  m6i.2xlarge  us-east-1a  on-demand       1     5  94%  87%  0.3840
	//       general-0001: web ×5
	//  1×  general  m6i.2xlarge  us-east-1a  on-demand       1     4  75%  69%  0.3840
	//       general-0002: web ×4
	//
	// STILL PENDING                                                              1 pod
	//    1× Deployment shop/trainer
	//       NodePool general: the pod asks for nvidia.com/gpu=1, but no suitable
	//         instance type has any
	//
	// COST                                             0.7680 USD/h   560.64 USD/month
	// No plan can cost less than                                          0.7680 USD/h
	// This plan is above the optimum by at most                                 0.00 %
	//
	// Read 1 NodePool, 7 instance types, 0 nodes, 10 pods to place and 0 DaemonSets.
	// Weighed 2 kinds of pods against 6 ways to launch a node.
}

// A plan for programs.
func ExampleNewPlan() {
	in, plan := planned()
	text, err := json.Marshal(report.NewPlan(in, plan, &report.PlanOptions{MaxOptions: 1}))
	if err != nil {
		log.Fatal(err)
	}
	var read struct {
		Schema   string
		NewNodes []struct{ Name, InstanceType string }
	}
	if err := json.Unmarshal(text, &read); err != nil {
		log.Fatal(err)
	}
	fmt.Println(read.Schema)
	for _, n := range read.NewNodes {
		fmt.Println(n.Name, n.InstanceType)
	}
	// Output:
	// dovetail.whatif/v1
	// general-0001 m6i.2xlarge
	// general-0002 m6i.2xlarge
}

// Why does the trainer stay pending?
func ExampleExplainPod() {
	in, plan := planned()
	text, err := report.ExplainPod("shop/trainer", in, plan, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(text)
	// Output:
	// Pod shop/trainer-6f7d-0 of Deployment trainer stays pending.
	//
	//   asks for    cpu=1, nvidia.com/gpu=1, pods=1
	//
	// NodePool general: the pod asks for nvidia.com/gpu=1, but no suitable instance
	//     type has any
	//
	// NodePool general
	//        6 ways to launch a node
	//       -6  room for nvidia.com/gpu=1
	//   nearest miss: needs nvidia.com/gpu=1, no instance type allowed has any
}

// How does an ARM machine stand with the new node?
func ExampleExplainInstanceType() {
	in, plan := planned()
	text, err := report.ExplainInstanceType(plan.Create[0].Name, "m7g.2xlarge", in, plan)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(text)
	// Output:
	// How instance type m7g.2xlarge stands with new node general-0001 of NodePool
	// general:
	//
	// m7g.2xlarge/us-east-1a/on-demand 0.3264 USD/h: NodePool general wants
	//     kubernetes.io/arch = amd64
	// m7g.2xlarge/us-east-1a/spot 0.1576 USD/h: NodePool general wants
	//     karpenter.sh/capacity-type = on-demand
	// m7g.2xlarge/us-east-1b/on-demand 0.3264 USD/h: NodePool general wants
	//     kubernetes.io/arch = amd64
	// m7g.2xlarge/us-east-1b/spot 0.1777 USD/h: NodePool general wants
	//     karpenter.sh/capacity-type = on-demand
}

// What may be removed now, and what the cluster costs before and after.
func ExampleProposal_Format() {
	side := halfEmpty()
	p, _, err := disruption.Propose(context.Background(), noon, side.Input, side.Options)
	if err != nil {
		log.Fatal(err)
	}
	r := report.NewProposal(noon, side.Input, p, nil, side.Options)
	if err := r.Follow(context.Background()); err != nil {
		log.Fatal(err)
	}
	fmt.Print(r.Format(nil))
	// Output:
	// 2 nodes at 0.7680 USD/h                                   2 March 2026 12:00 UTC
	// 1 action may begin now, to remove 1 node: 1 node is left at 0.3840 USD/h, 50%
	// less.
	//
	// DO NOW                                                               SAVES USD/H
	//   1  Remove 1 node: Underutilized                                         0.3840
	//      remove  general-0002-69a56db0-0, m6i.2xlarge, on-demand, general, 0.3840
	//              USD/h
	//      move    shop/web ×2 to general-0001-69a56db0-0
	//      because it costs 0.384 USD/h; there is room for 2 pods on 1 other node
	//
	// LEFT ALONE                                                                1 node
	//   Nominated                                                               1 node
	//       Pod "shop/web-6f7d-5" is about to come here
	//       general-0001-69a56db0-0
	//
	// POOL               NODES      USD/H   CPU                   MEMORY
	// general     before     2     0.7680   ███████░░░░░░░  47%   ██████░░░░░░░░  43%
	//             after      1     0.3840   █████████████░  94%   ████████████░░  87%
	// all         before     2     0.7680   ███████░░░░░░░  47%   ██████░░░░░░░░  43%
	//             after      1     0.3840   █████████████░  94%   ████████████░░  87%
	//                           saves 0.3840 USD/h, 280.32 USD in a month of 730 hours
	//
	// The search weighed 2 candidates in 4 what-ifs and 4 simulations. The answer can
	// change at 1 April 11:00 UTC at the earliest, by time alone.
}

// What if the nodes of the pool were ARM machines?
func ExampleComparison_Format() {
	before := halfEmpty()
	policies := before.Policies()
	policies.NodePools = []*v1.NodePool{pool(v1.ArchitectureArm64)}
	after, err := before.With(policies)
	if err != nil {
		log.Fatal(err)
	}
	c, err := compare.Compare(context.Background(), noon, before, after, nil)
	if err != nil {
		log.Fatal(err)
	}
	r := report.NewComparison(noon, before, c, report.Change{File: "arm.yaml", Lines: []string{"NodePool general is changed"}})
	fmt.Print(r.Format(nil))
	// Output:
	// What would change with arm.yaml
	// At rest the new policies cost 15.0% less, 0.3840 → 0.3264 USD/h, on 1 node;
	// planned from empty as well, beyond the gap of the search.
	//   - NodePool general is changed
	//
	//                                                TODAY'S     NEW            CHANGE
	// planned from empty, USD/h                       0.3840  0.3264  -0.0576 (-15.0%)
	//   above the least there is, at most             0.0000  0.0000    beyond the gap
	//   nodes                                              1       1                 -
	//   pods without a place                               0       0                 -
	// what runs, at rest, USD/h                       0.3840  0.3264  -0.0576 (-15.0%)
	//   nodes                                              1       1                 -
	//   pods without a place                               0       0                 -
	// the way: nodes drifted                               0       2                +2
	//   nodes at once                                      2       3                +1
	//   nodes launched                                     0       1                +1
	//   pods evicted                                       2       5                +3
	//   hours                                            0.0     0.0                 -
	//
	// 2 managed nodes run today for 0.7680 USD/h.
	// Planned from empty, both at their best, the new side costs between 0.0576 less
	// and 0.0576 less: the difference is beyond the gap of the search.
	//
	// WHY
	//   Planned from empty: 0.3264 USD/h instead of 0.3840 USD/h: 1 fewer
	//     m6i.2xlarge on-demand of general, 1 more m7g.2xlarge on-demand of general
	//   After what may begin now: 0.3264 USD/h instead of 0.3840 USD/h: 1 action
	//     begins now, was 1 action
	//   At rest: 0.3264 USD/h instead of 0.3840 USD/h: 1 fewer m6i.2xlarge on-demand
	//     of general, 1 more m7g.2xlarge on-demand of general
	//   Drift, general-0001-69a56db0-0 and 1 more: gone at once instead of not
	//     drifted: RequirementsDrifted: wanted kubernetes.io/arch = arm64, but have
	//     kubernetes.io/arch = amd64
	//   Nodes at once: 3 instead of 2: at 2026-03-02T12:00:00Z, with 1 node launched
	//   Pods evicted: 5 instead of 2: 1 round, was 1 round
	//   Nodes launched: 1 instead of 0: 1 round, was 1 round
}

// What do the constraints of the pool and the pods cost?
func ExampleAdvice_Format() {
	found, err := advice.Ask(context.Background(), shop(), nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(report.NewAdvice(found, nil).Format(nil))
	// Output:
	// What the constraints of 10 pods cost
	// Planned from empty they need 2 nodes for 0.7680 USD/h, at most 0.0% above the
	// optimum; 1 pod has no place.
	//
	// WITHOUT A PLACE                                                            1 pod
	// 1× Deployment shop/trainer
	//   NodePool general: the pod asks for nvidia.com/gpu=1, but no suitable
	//     instance type has any
	//
	// WITHOUT                                                               USD/H LESS
	// NodePool general: requirement karpenter.sh/capacity-type In [on-demand]
	//                                                                   0.5304 (69.1%)
	//   between 0.5304 and 0.5504 at the optimum
	// NodePool general: requirement kubernetes.io/arch In [amd64]       0.1152 (15.0%)
	//   between 0.1152 and 0.1680 at the optimum
	//
	// WITH HALF OF THE REQUEST  FOR                          PODS  USD/H LESS  FOR ONE
	// Deployment shop/trainer   core                            1      0.0000   0.0000
	// Deployment shop/web       core                            9      0.0000   0.0000
	// Deployment shop/web       GiB                             9      0.0000   0.0000
}

// How full is a node?
func ExampleUtilization() {
	side := halfEmpty()
	cpu, memory, known := report.Utilization(&side.Input.Nodes[0])
	fmt.Printf("CPU %.2f, memory %.2f, %t\n", cpu, memory, known)
	// Output:
	// CPU 0.57, memory 0.52, true
}

// A Node that runs has less memory than the catalog promises for its instance type.
func ExampleLessThanPromised() {
	in, plan := planned()
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "ip-10-0-17-21", Labels: map[string]string{
		v1.NodePoolLabelKey: "general", corev1.LabelInstanceTypeStable: "m6i.2xlarge"}}}
	node.Status.Allocatable = resources.MustParse("cpu=7900m, memory=24Gi, pods=58").ResourceList()
	in.Nodes = []provisioning.Node{{Node: node}}
	for _, line := range report.LessThanPromised(in, plan) {
		fmt.Println(line)
	}
	// Output:
	// NodePool general: instance type m6i.2xlarge has less than promised: memory of ip-10-0-17-21 is 24Gi, and the catalog promises 29317Mi. The pods of 1 new node would not fit; exclude the type in the requirements of the NodePool, or correct the catalog
}
