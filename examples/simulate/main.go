// Command simulate is the shortest use of the library: it plans nodes for pending pods, launches
// them on the fake cloud, follows them until they are initialized, and proposes which to replace
// once pods are gone. Your program calls the same functions, and reads and writes the API server
// instead of the fields of cluster.
package main

import (
	"context"
	"fmt"
	"log"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/disruption"
	"github.com/dovetail-sdk/dovetail/fake"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/nodeclaim"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

const manifest = `
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: general}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements:
      - {key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}
      - {key: karpenter.k8s.aws/instance-category, operator: In, values: [c, m, r]}
  disruption: {consolidateAfter: 1m, budgets: [{nodes: "100%"}]}
`

// cluster is the objects that the API server stores for a real autoscaler, and the cloud.
type cluster struct {
	cloud  *fake.Cloud
	pool   *v1.NodePool
	types  []*cloudprovider.InstanceType
	pods   []*corev1.Pod
	claims []*v1.NodeClaim
	nodes  []*corev1.Node
	made   int                      // number of NodeClaims made so far
	meant  map[string][]*corev1.Pod // by NodeClaim: the pods that it was planned for
}

func main() {
	c := &cluster{meant: map[string][]*corev1.Pod{}}
	for _, step := range []func(context.Context) error{c.begin, c.provision, c.join, c.finish, c.propose} {
		if err := step(context.Background()); err != nil {
			log.Fatal(err)
		}
	}
}

// begin makes a NodePool with its instance types, and pending pods.
func (c *cluster) begin(ctx context.Context) (err error) {
	c.pods = append(pods("report", 8, "cpu=2, memory=4Gi"), pods("web", 9, "cpu=500m, memory=1Gi")...)
	if c.cloud, err = fake.New(nil); err != nil {
		return err
	}
	if c.pool, err = v1.DecodeNodePool([]byte(manifest)); err != nil {
		return err
	}
	c.pool.Default() // as the API server does
	c.types, err = c.cloud.InstanceTypes(ctx, c.pool)
	return err
}

// pods returns n pending pods of a workload.
func pods(workload string, n int, requests string) (list []*corev1.Pod) {
	for i := range n {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: fmt.Sprintf("%s-%d", workload, i)}}
		p.Spec.Containers = []corev1.Container{{Resources: corev1.ResourceRequirements{Requests: resources.MustParse(requests).ResourceList()}}}
		list = append(list, p)
	}
	return list
}

// snapshot returns the input of every decision: all objects in their present state.
func (c *cluster) snapshot() (provisioning.Input, error) {
	joined, err := provisioning.Match(c.nodes, c.claims, c.pods)
	return provisioning.Input{
		NodePools:     []*v1.NodePool{c.pool},
		InstanceTypes: map[string][]*cloudprovider.InstanceType{c.pool.Name: c.types},
		Vocabulary:    c.cloud.Vocabulary(),
		Nodes:         joined.Nodes,
		Pods:          joined.Pending,
	}, err
}

// provision plans nodes for the pending pods, and launches them.
func (c *cluster) provision(ctx context.Context) error {
	in, err := c.snapshot()
	if err != nil {
		return err
	}
	plan, err := provisioning.Solve(ctx, in, nil)
	if err != nil {
		return err
	}
	fmt.Printf("plan: %d new nodes for %d pods, %.4f USD/h, at most %.1f%% above the optimum\n",
		len(plan.Create), len(in.Pods)-len(plan.Unplaced), plan.Cost, 100*plan.Gap())
	for _, u := range plan.Unplaced {
		fmt.Printf("  %s stays pending: %s\n", u.Pod.Name, u.Explanation)
	}
	for _, n := range plan.Create {
		claim := n.NodeClaim()
		// The API server does this when the claim is created, before the launch. Names of a
		// plan begin anew with the next one. The UID does not: it is the token of the launch,
		// and a claim with that of another would get its machine.
		c.made++
		claim.Name, claim.UID = fmt.Sprintf("%s-%04d", c.pool.Name, c.made), types.UID(fmt.Sprintf("uid-%04d", c.made))
		claim.CreationTimestamp = metav1.NewTime(c.cloud.Now())
		request, err := nodeclaim.Request(claim, c.types, in.Vocabulary)
		if err != nil {
			return err
		}
		instance, err := c.cloud.Create(ctx, request) // nodeclaim.Launched says what to do about an error
		if err != nil {
			return err
		}
		c.claims = append(c.claims, nodeclaim.Launched(nil).EditClaim(c.cloud.Now(), claim, instance))
		c.meant[claim.Name] = n.Pods // package nomination remembers this in the cluster
		fmt.Printf("  %s for %d pods: %s, %.4f USD/h\n", claim.Name, len(n.Pods), instance.OfferingKey(), instance.Price)
	}
	return nil
}

// join follows the machines until they are initialized. kube-scheduler binds the pods.
func (c *cluster) join(context.Context) error {
	c.cloud.Advance(2 * time.Minute)
	for i, claim := range c.claims {
		node, after := nodeclaim.Join(c.cloud.Now(), claim, c.cloud.Nodes(), nil)
		c.claims[i] = after
		c.nodes = append(c.nodes, node)
		for _, p := range c.meant[claim.Name] {
			p.Spec.NodeName = node.Name
		}
	}
	fmt.Printf("two minutes later: %d nodes are ready\n", len(c.nodes))
	return nil
}

// finish lets an hour pass, in which the workload report ends: the first eight pods.
func (c *cluster) finish(context.Context) error {
	c.cloud.Advance(time.Hour)
	c.pods = c.pods[8:]
	fmt.Printf("an hour later: the report has ended, %d pods are left\n", len(c.pods))
	return nil
}

// propose finds nodes to remove or replace. Packages command and drain carry such actions out: see
// examples/autoscaler.
func (c *cluster) propose(ctx context.Context) error {
	in, err := c.snapshot()
	if err != nil {
		return err
	}
	proposal, _, err := disruption.Propose(ctx, c.cloud.Now(), disruption.Input{Input: in}, nil)
	if err != nil {
		return err
	}
	fmt.Printf("proposal: from %.4f to %.4f USD/h\n", proposal.CostBefore, proposal.CostAfter)
	for _, a := range proposal.Actions {
		fmt.Printf("  %s %d nodes, as they are %s; it saves %.4f USD/h\n", a.Operation, len(a.Targets), a.Reason, a.Savings)
		for _, r := range a.Replacements { // launched as the nodes of a plan are
			fmt.Printf("    with a new %s\n", r.Options[0].Key())
		}
	}
	for _, b := range proposal.Blocked {
		fmt.Printf("  %s stays: %s\n", b.NodeClaim, b.Code)
	}
	return nil
}
