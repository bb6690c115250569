package disruption_test

import (
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
func look(in disruption.Input, opts *disruption.Options) *disruption.Fleet {
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

// A pool of five nodes with a budget of one: what is to be done, and what of it
// now.
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

	pacing := fleet.Pace(result.Actions)
	fmt.Println()
	for _, action := range pacing.Go {
		fmt.Println("now:", action.Targets[0])
	}
	for _, waiting := range pacing.Wait {
		fmt.Printf("later: %s, as %s\n", waiting.Targets[0], waiting.Why)
	}
	fmt.Println("ask again:", fleet.Next().Format(time.TimeOnly))
	// Output:
	// Delete idle-1 (Empty): no pod on it needs another place
	// Delete idle-2 (Empty): no pod on it needs another place
	// Replace old (Drifted): booted ami-1, and ami-2 is asked for now
	// Drift of reserved: Pod "shop/batch" has the annotation karpenter.sh/do-not-disrupt, until 2026-03-02T12:30:00Z
	//
	// now: idle-1
	// later: idle-2, as budgets[0] of NodePool "web" lets 1 node go, and 1 counts already
	// later: old, as budgets[0] of NodePool "web" lets 1 node go, and 1 counts already
	// ask again: 12:30:00
}

// Faults are listed all at once, and the rest is judged all the same.
func ExampleObserve() {
	in := newInput(newNode("idle", "web"), newNode("twice", "web"), newNode("twice", "web"))
	in.NodePools = append(in.NodePools, newPool("batch", budgetOf("plenty", v1.DisruptionReasonEmpty)))
	fleet, err := disruption.Observe(noon, in, nil)
	fmt.Println(err)
	show(fleet.Emptiness().Actions)
	// Output:
	// Node "twice": is listed twice; list each node once, with its NodeClaim beside it
	// NodePool "batch": spec.disruption.budgets[0].nodes: Invalid value: "plenty": want a count such as "5" or a share from "0%" to "100%"
	// Delete idle (Empty): no pod on it needs another place
}

// Every reason that keeps a node is listed, so that nobody has to remove them
// one by one.
func ExampleFleet_Candidates() {
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

func ExampleFleet_Emptiness() {
	in := newInput(newNode("idle", "web", withPods(newPod("logs", owner("apps/v1", "DaemonSet")))), newNode("spare", "web"))
	in.BufferNodes = []string{"spare"}
	result := look(in, nil).Emptiness()
	show(result.Actions)
	show(result.Blocked)
	// Output:
	// Delete idle (Empty): no pod on it needs another place
	// Emptiness of spare: spare room is kept on it
}

func ExampleFleet_Drift() {
	in := newInput(newNode("a", "web", withPods(newPod("web-1"))))
	in.NodePools[0].Spec.Template.Spec.Requirements = []v1.NodeSelectorRequirementWithMinValues{
		{Key: corev1.LabelTopologyZone, Operator: corev1.NodeSelectorOpIn, Values: []string{"b", "c"}}}
	show(look(in, nil).Drift().Actions)
	// Output:
	// Replace a (Drifted): wanted topology.kubernetes.io/zone in (b, c), but have topology.kubernetes.io/zone = a
}

func ExampleFleet_Drifts() {
	in := newInput(newNode("a", "web"), newNode("b", "web"))
	in.Drift = driftOf("b", "AMIDrift")
	for _, s := range look(in, nil).Drifts() {
		fmt.Printf("%s: %q\n", s.NodeClaim, s.Reason)
	}
	// Output:
	// a-claim: ""
	// b-claim: "AMIDrift"
}

func ExampleFleet_Expiration() {
	in := newInput(newNode("old", "web", expiresAfter(v1.NewDuration(24*time.Hour))), newNode("young", "web", expiresAfter(v1.NewDuration(72*time.Hour))))
	result := look(in, nil).Expiration()
	show(result.Actions)
	fmt.Println("next:", result.Next.Format(time.RFC3339))
	// Output:
	// Delete old (Expired): expireAfter 24h0m0s has passed since 2026-02-28T12:00:00Z
	// next: 2026-03-03T12:00:00Z
}

func ExampleFleet_Repair() {
	in := crowd(9, newNode("sick", "web", withPods(newPod("train")), nodeCondition(gpu, corev1.ConditionFalse, "XID 48", -time.Hour)))
	in.RepairPolicies = policies(gpuPolicy(`\b48\b`, cloudprovider.RebootNode, 10, new(time.Duration)))
	for _, a := range look(in, nil).Repair().Actions {
		fmt.Println(a)
		fmt.Println("drain:", *a.DrainBound)
	}
	// Output:
	// Reboot sick (Unhealthy): condition AcceleratedHardwareReady is False since 2026-03-02T11:00:00Z (XID 48)
	// drain: 0s
}

func ExampleFleet_Interruption() {
	in := newInput(newNode("a", "web", withLabel(v1.CapacityTypeLabelKey, v1.CapacityTypeSpot)))
	in.Interruptions = []cloudprovider.Interruption{{InstanceID: "cloud://a", Kind: cloudprovider.InterruptionSpot,
		At: noon, Deadline: noon.Add(2 * time.Minute)}}
	result := look(in, nil).Interruption()
	for _, a := range result.Actions {
		fmt.Println(a)
		fmt.Println("drain by", a.DrainBy.Format(time.TimeOnly))
	}
	show(result.Unavailable)
	// Output:
	// Delete a (Interrupted): the cloud gave notice: SpotInterrupted
	// drain by 12:02:00
	// m.large/a/spot
}

func ExampleFleet_Liveness() {
	in := newInput(newNode("a", "web", func(n *provisioning.Node) {
		n.Node = nil
		setCondition(n.NodeClaim, v1.ConditionTypeRegistered, metav1.ConditionUnknown, noon.Add(-15*time.Minute))
	}))
	show(look(in, nil).Liveness().Actions)
	// Output:
	// Delete a-claim (RegistrationTimeout): condition Registered has not been True for 15m0s, since 2026-03-02T11:45:00Z
}

func ExampleFleet_Garbage() {
	in := newInput(newNode("a", "web"), newNode("lost", "web", nodeCondition(corev1.NodeReady, corev1.ConditionUnknown, "NodeStatusUnknown", -time.Hour)))
	in.Instances = []*cloudprovider.Instance{{ID: "cloud://a", CreatedAt: born}, {ID: "cloud://orphan", CreatedAt: born}}
	show(look(in, nil).Garbage().Actions)
	// Output:
	// Delete lost (GarbageCollected): the cloud has no machine cloud://lost any more
	// Terminate cloud://orphan (GarbageCollected): no NodeClaim speaks for the machine
}

func ExampleFleet_ScaleDown() {
	in := newInput(newNode("busy", "web", withPods(newPod("web-1"))), newNode("idle", "web"))
	in.NodePools = []*v1.NodePool{newPool("web", replicas(1, 0))}
	show(look(in, nil).ScaleDown().Actions)
	// Output:
	// Delete idle (ScaledDown): NodePool "web" has 2 nodes, and spec.replicas is 1
}

// Two nodes hold pods of one application, of which one may be away at a time.
func ExampleFleet_Pace() {
	fleet := look(shelters(1, 1, 1), nil)
	pacing := fleet.Pace(fleet.Drift().Actions)
	show(pacing.Go)
	for _, w := range pacing.Wait {
		fmt.Printf("%s waits: %s\n", w.Targets[0], w.Why)
	}
	// Output:
	// Replace n0 (Drifted): the provider says so: AMIDrift
	// n1 waits: PodDisruptionBudget "shop/web" lets 1 pod go now, and actions before it use up 1
}

func ExampleFleet_Settling() {
	in := newInput(newNode("a", "web"), newNode("b", "web"))
	in.NodePools[0].Spec.Disruption.ConsolidateAfter = v1.NewDuration(10 * time.Minute)
	in.PodEvents = map[string]time.Time{"b": noon.Add(-4 * time.Minute)}
	for _, s := range look(in, nil).Settling() {
		fmt.Println(s.Node, "until", s.Until.Format(time.TimeOnly))
	}
	// Output:
	// b until 12:06:00
}

func ExampleFleet_Warnings() {
	in := newInput(newNode("a", "web", withPods(newPod("web-1", note(v1.DoNotDisruptAnnotationKey, "yes")))))
	for _, w := range look(in, nil).Warnings() {
		fmt.Println(w)
	}
	// Output:
	// Pod "shop/web-1": metadata.annotations[karpenter.sh/do-not-disrupt]: "yes" counts for nothing; write true, or a duration above zero such as 30m
}

func ExampleEvictionCost() {
	pod := newPod("web-1", note(v1.DisruptionCostAnnotationKey, "67108864")) // 2^26
	fmt.Println(disruption.EvictionCost(pod, false))
	// Output: 1.5
}

func ExampleMerge() {
	in := newInput(newNode("a", "web"))
	in.Drift = driftOf("a", "AMIDrift")
	fleet := look(in, nil)
	show(disruption.Merge(fleet.Drift(), fleet.Emptiness()).Actions)
	// Output:
	// Delete a (Drifted): the image is old
}

// After an upgrade that changes how hashes are made, claims that had not drifted
// should not begin to.
func ExampleMigrateHashes() {
	pool := newPool("web")
	pool.Annotations = map[string]string{v1.NodePoolHashAnnotationKey: "1", v1.NodePoolHashVersionAnnotationKey: "v2"}
	claim := newNode("a", "web").NodeClaim
	claim.Annotations = map[string]string{v1.NodePoolHashAnnotationKey: "1", v1.NodePoolHashVersionAnnotationKey: "v2"}
	migration := disruption.MigrateHashes(pool, []*v1.NodeClaim{claim})
	for _, c := range migration.Claims {
		fmt.Println(c.Name, c.Annotations[v1.NodePoolHashVersionAnnotationKey], c.Annotations[v1.NodePoolHashAnnotationKey] == pool.Hash())
	}
	fmt.Println(migration.Pool[v1.NodePoolHashVersionAnnotationKey])
	// Output:
	// a-claim v3 true
	// v3
}

// Fifteen seconds after the decision a pod has come.
func ExampleFleet_Recheck() {
	action := look(newInput(newNode("idle", "web")), nil).Emptiness().Actions[0]
	fresh := look(newInput(newNode("idle", "web", withPods(newPod("web-1")))), nil)
	show(fresh.Recheck(action))
	// Output:
	// Emptiness of idle: it is not empty: 1 pod without a place elsewhere
}
