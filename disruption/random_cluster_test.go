package disruption_test

import (
	"fmt"
	"math/rand/v2"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/budgets"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/disruption"
	"github.com/dovetail-sdk/dovetail/provisioning"
)

// maker makes random inputs. The same seed makes the same input.
type maker struct{ *rand.Rand }

func newMaker(seed uint64) *maker { return &maker{rand.New(rand.NewPCG(seed, 17))} }

func (m *maker) chance(percent int) bool { return m.IntN(100) < percent }

func pick[T any](m *maker, list ...T) T { return list[m.IntN(len(list))] }

// ago returns an instant in the past, at times a round one, at times in the future.
func (m *maker) ago() time.Duration {
	d := pick(m, time.Second, time.Minute, 5*time.Minute, 15*time.Minute, 30*time.Minute, time.Hour, 24*time.Hour, 48*time.Hour)
	if m.chance(40) {
		d = time.Duration(m.Int64N(int64(d)))
	}
	if m.chance(5) {
		return d
	}
	return -d
}

func (m *maker) input() (disruption.Input, *disruption.Options) {
	in := newInput()
	in.NodePools = nil
	in.Drift, in.MarkedForDeletion = map[string]cloudprovider.Drift{}, map[string]disruption.Reason{}
	in.Nominations, in.PodEvents = map[string]time.Time{}, map[string]time.Time{}
	in.Reboots = map[types.UID][]time.Time{}
	for i := range 1 + m.IntN(3) {
		p := m.pool(fmt.Sprintf("pool-%d", i))
		in.NodePools = append(in.NodePools, p)
		in.InstanceTypes[p.Name] = catalog(newType("m.large", 0.1), newType("m.xlarge", 0.2))
		if m.chance(5) {
			delete(in.InstanceTypes, p.Name)
		}
	}
	for i := range m.IntN(14) {
		in.Nodes = append(in.Nodes, m.node(fmt.Sprintf("n%02d", i), pick(m, in.NodePools...).Name))
	}
	for i := range in.Nodes {
		m.marks(&in, in.Nodes[i])
	}
	for i := range m.IntN(4) {
		in.PodDisruptionBudgets = append(in.PodDisruptionBudgets, m.pdb(fmt.Sprintf("pdb-%d", i)))
	}
	if m.chance(60) {
		in.RepairPolicies = policies(gpuPolicy("48", cloudprovider.RebootNode, m.IntN(3)*50, pick(m, nil, new(time.Minute))),
			gpuPolicy("4", cloudprovider.ReplaceNode, 7, nil))
	}
	m.machines(&in)
	opts := &disruption.Options{Consolidation: disruption.ConsolidationOptions{FreePodsAreEmpty: m.chance(30)}, EvictAtOnce: m.chance(30), Drift: disruption.DriftOptions{TerminateFirst: m.chance(50)}, Repair: disruption.RepairOptions{TerminateFirst: m.chance(50)}, Lifecycle: disruption.LifecycleOptions{ActOnRebalance: m.chance(50)}}
	if m.chance(30) {
		opts.Policies = map[string]*budgets.Policy{"pool-0": {ExpiryUnderBudgets: true,
			Only: []budgets.Only{{Openings: []budgets.Opening{{Schedule: pick(m, "0 12 * * *", "0 1 * * *"), Duration: time.Hour}}}}}}
	}
	return in, opts
}

func (m *maker) pool(name string) *v1.NodePool {
	p := newPool(name)
	for range m.IntN(3) {
		b := v1.Budget{Nodes: pick(m, "0", "1", "2", "30%", "100%")}
		if m.chance(40) {
			b.Reasons = []v1.DisruptionReason{pick(m, v1.DisruptionReasons()...)}
		}
		if m.chance(40) {
			b.Schedule, b.Duration = new(pick(m, "0 9 * * *", "*/10 * * * *", "0 0 * * *")), &metav1.Duration{Duration: pick(m, time.Minute, 8*time.Hour)}
		}
		p.Spec.Disruption.Budgets = append(p.Spec.Disruption.Budgets, b)
	}
	p.Spec.Disruption.ConsolidateAfter = pick(m, v1.NewDuration(0), v1.NewDuration(5*time.Minute), v1.NeverDuration())
	p.Spec.Disruption.ConsolidationPolicy = pick(m, v1.ConsolidationPolicyWhenEmpty, v1.ConsolidationPolicyWhenEmptyOrUnderutilized)
	if m.chance(30) {
		replicas(int64(m.IntN(8)), int64(m.IntN(10)))(p)
	}
	if m.chance(20) {
		p.Spec.Template.Spec.Requirements = []v1.NodeSelectorRequirementWithMinValues{{Key: v1.CapacityTypeLabelKey,
			Operator: corev1.NodeSelectorOpIn, Values: []string{pick(m, "spot", "on-demand")}}}
	}
	return p
}

func (m *maker) node(name, pool string) provisioning.Node {
	n := newNode(name, pool, withLabel(v1.CapacityTypeLabelKey, pick(m, "spot", "on-demand", "on-demand", "reserved")),
		withLabel(corev1.LabelInstanceTypeStable, pick(m, "m.large", "m.large", "m.xlarge", "gone")))
	n.NodeClaim.CreationTimestamp = at(m.ago())
	n.Node.CreationTimestamp = n.NodeClaim.CreationTimestamp
	n.NodeClaim.Spec.ExpireAfter = pick(m, v1.NeverDuration(), v1.NewDuration(time.Hour), v1.NewDuration(720*time.Hour))
	for _, kind := range []string{v1.ConditionTypeLaunched, v1.ConditionTypeRegistered, v1.ConditionTypeInitialized} {
		setCondition(n.NodeClaim, kind, pick(m, metav1.ConditionTrue, metav1.ConditionTrue, metav1.ConditionTrue, metav1.ConditionUnknown), noon.Add(m.ago()))
	}
	for _, kind := range []string{v1.ConditionTypeDrifted, v1.ConditionTypeRebooting, v1.ConditionTypeInstanceTerminating, v1.ConditionTypeDisruptionReason} {
		if m.chance(10) {
			setCondition(n.NodeClaim, kind, pick(m, metav1.ConditionTrue, metav1.ConditionFalse), noon.Add(m.ago()))
		}
	}
	for _, labels := range []map[string]string{n.Node.Labels, n.NodeClaim.Labels} {
		if m.chance(5) {
			delete(labels, v1.NodePoolLabelKey)
		}
	}
	for _, key := range []string{v1.NodeInitializedLabelKey, v1.NodeRegisteredLabelKey} {
		if m.chance(10) {
			delete(n.Node.Labels, key)
		}
	}
	for _, key := range []string{v1.DoNotDisruptAnnotationKey, v1.DoNotRepairAnnotationKey} {
		if m.chance(8) {
			n.Node.Annotations[key] = pick(m, "true", "1h")
		}
	}
	if m.chance(30) {
		n.NodeClaim.Spec.TerminationGracePeriod = &metav1.Duration{Duration: pick(m, 0, time.Hour)}
	}
	if m.chance(30) {
		nodeCondition(pick(m, corev1.NodeReady, gpu), corev1.ConditionFalse, pick(m, "48", "4", "Melted"), m.ago())(&n)
	}
	for i := range m.IntN(4) {
		n.Pods = append(n.Pods, m.pod(fmt.Sprintf("%s-%d", name, i)))
	}
	switch m.IntN(12) {
	case 0:
		n.NodeClaim = nil
	case 1:
		n.Node = nil
	case 2:
		n.NodeClaim.DeletionTimestamp = new(at(-time.Minute))
	}
	return n
}

func (m *maker) pod(name string) *corev1.Pod {
	p := newPod(name, owner("apps/v1", pick(m, "ReplicaSet", "ReplicaSet", "DaemonSet", "StatefulSet")))
	p.Namespace, p.Labels = pick(m, "shop", "bank"), map[string]string{"app": pick(m, "web", "db", "cache")}
	p.Status.StartTime = new(at(m.ago()))
	if m.chance(20) {
		note(v1.DoNotDisruptAnnotationKey, pick(m, "true", "2h", "10m", "1h30m", "no"))(p)
	}
	if m.chance(20) {
		note(v1.DisruptionCostAnnotationKey, pick(m, "-134217728", "2147483647", "x"))(p)
	}
	if m.chance(10) {
		terminating(p)
	}
	return p
}

func (m *maker) pdb(name string) *policyv1.PodDisruptionBudget {
	b := newPDB(name, int32(m.IntN(3)))
	b.Namespace = pick(m, "shop", "bank")
	b.Spec.Selector.MatchLabels["app"] = pick(m, "web", "db", "cache")
	b.Spec.MaxUnavailable = new(intstr.FromInt32(int32(m.IntN(2))))
	return b
}

// marks says things about a node that are not in it.
func (m *maker) marks(in *disruption.Input, n provisioning.Node) {
	name := n.Name()
	if m.chance(10) {
		in.MarkedForDeletion[name] = disruption.Drifted
	}
	if m.chance(15) {
		in.Nominations[name] = noon.Add(m.ago() * pick(m, time.Duration(1), -1))
	}
	if m.chance(30) {
		in.PodEvents[name] = noon.Add(m.ago())
	}
	if m.chance(5) {
		in.BufferNodes = append(in.BufferNodes, name)
	}
	if n.NodeClaim == nil {
		return
	}
	if m.chance(25) {
		in.Drift[n.NodeClaim.Name] = cloudprovider.Drift{Reason: "AMIDrift", Detail: "another image"}
	}
	if m.chance(20) {
		in.Reboots[n.NodeClaim.UID] = []time.Time{noon.Add(m.ago()), noon.Add(m.ago()), noon.Add(-25 * time.Hour)}
	}
	if m.chance(15) {
		kind := pick(m, cloudprovider.InterruptionSpot, cloudprovider.InterruptionUnhealthy, cloudprovider.InterruptionRebalance,
			cloudprovider.InterruptionMaintenance, "Meteor")
		in.Interruptions = append(in.Interruptions, cloudprovider.Interruption{ID: name, InstanceID: "cloud://" + name, Kind: kind,
			At: noon.Add(m.ago()), Deadline: noon.Add(-m.ago())})
	}
}

// machines lists what the cloud has: most of the nodes, and some that nobody
// knows.
func (m *maker) machines(in *disruption.Input) {
	if m.chance(50) {
		return
	}
	in.Instances = instances()
	for _, n := range in.Nodes {
		if m.chance(80) {
			in.Instances = append(in.Instances, &cloudprovider.Instance{ID: "cloud://" + n.Name(), CreatedAt: born})
		}
	}
	for i := range m.IntN(3) {
		in.Instances = append(in.Instances, &cloudprovider.Instance{ID: fmt.Sprintf("orphan-%d", i),
			Name: pick(m, "", "n00-claim"), CreatedAt: noon.Add(m.ago()), Deleting: m.chance(20)})
	}
}

// spoil adds faults to an input.
func (m *maker) spoil(in *disruption.Input) {
	faults := []func(){
		func() { in.Nodes = append(in.Nodes, provisioning.Node{}) },
		func() { in.Nodes = append(in.Nodes, provisioning.Node{Node: &corev1.Node{}}) },
		func() { in.Nodes = append(in.Nodes, newNode("n00", "pool-0")) },
		func() {
			in.Nodes = append(in.Nodes, newNode("bare", "pool-0", withPods(nil, &corev1.Pod{}), func(n *provisioning.Node) {
				*n.NodeClaim, *n.Node = v1.NodeClaim{}, corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "bare"}}
			}))
		},
		func() { in.NodePools = append(in.NodePools, nil, &v1.NodePool{}, newPool("pool-0")) },
		func() { in.NodePools = append(in.NodePools, newPool("minus", replicas(-3, 0))) },
		func() { in.NodePools = append(in.NodePools, newPool("odd", budgetOf("lots"), budgetOf("-1%"))) },
		func() {
			p := newPool("torn", replicas(1, 0))
			p.Spec.Template.Spec.Requirements = []v1.NodeSelectorRequirementWithMinValues{{Key: "a b", Operator: "Near"}}
			in.NodePools, in.Nodes = append(in.NodePools, p), append(in.Nodes, newNode("torn-node", "torn"))
		},
		func() { in.InstanceTypes["pool-0"] = catalog(nil, newType("m.large", 1), newType("m.large", 2)) },
		func() {
			bad := newPDB("bad", 0)
			bad.Spec.Selector.MatchExpressions = []metav1.LabelSelectorRequirement{{Key: "app", Operator: "Near"}}
			in.PodDisruptionBudgets = append(in.PodDisruptionBudgets, nil, bad, newPDB("pdb-0", -7))
		},
		func() { in.RepairPolicies = append(in.RepairPolicies, cloudprovider.RepairPolicy{ReasonRegex: "("}) },
		func() {
			in.Instances = append(in.Instances, nil, &cloudprovider.Instance{}, &cloudprovider.Instance{ID: "i"}, &cloudprovider.Instance{ID: "i", Deleting: true})
		},
		func() { in.Overlays = append(in.Overlays, nil) },
		func() { in.Interruptions = append(in.Interruptions, cloudprovider.Interruption{}) },
	}
	for _, f := range faults {
		if m.chance(40) {
			f()
		}
	}
}

// shuffle changes the order of everything whose order has no meaning.
func (m *maker) shuffle(in disruption.Input) disruption.Input {
	mix := func(n int, swap func(i, j int)) { m.Shuffle(n, swap) }
	in.Nodes = append([]provisioning.Node{}, in.Nodes...)
	for i := range in.Nodes {
		pods := append([]*corev1.Pod{}, in.Nodes[i].Pods...)
		mix(len(pods), func(a, b int) { pods[a], pods[b] = pods[b], pods[a] })
		in.Nodes[i].Pods = pods
	}
	mix(len(in.Nodes), func(a, b int) { in.Nodes[a], in.Nodes[b] = in.Nodes[b], in.Nodes[a] })
	in.NodePools = append([]*v1.NodePool{}, in.NodePools...)
	mix(len(in.NodePools), func(a, b int) { in.NodePools[a], in.NodePools[b] = in.NodePools[b], in.NodePools[a] })
	in.PodDisruptionBudgets = append([]*policyv1.PodDisruptionBudget{}, in.PodDisruptionBudgets...)
	mix(len(in.PodDisruptionBudgets), func(a, b int) {
		in.PodDisruptionBudgets[a], in.PodDisruptionBudgets[b] = in.PodDisruptionBudgets[b], in.PodDisruptionBudgets[a]
	})
	in.RepairPolicies = append([]cloudprovider.RepairPolicy{}, in.RepairPolicies...)
	mix(len(in.RepairPolicies), func(a, b int) {
		in.RepairPolicies[a], in.RepairPolicies[b] = in.RepairPolicies[b], in.RepairPolicies[a]
	})
	if in.Instances != nil {
		in.Instances = instances(in.Instances...)
		mix(len(in.Instances), func(a, b int) { in.Instances[a], in.Instances[b] = in.Instances[b], in.Instances[a] })
	}
	in.Interruptions = append([]cloudprovider.Interruption{}, in.Interruptions...)
	mix(len(in.Interruptions), func(a, b int) { in.Interruptions[a], in.Interruptions[b] = in.Interruptions[b], in.Interruptions[a] })
	return in
}
