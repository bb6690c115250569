package randproblem

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/provisioning"
)

// stage says how far a node has come.
type stage int

const (
	unmanaged   stage = iota // no NodeClaim
	requested                // a NodeClaim that nothing is launched for
	launched                 // a NodeClaim and no Node
	joined                   // a Node that is not registered yet
	registered               // not initialized yet
	initialized              // ready
	rebooting                // initialized, and on its way down and up
	stageCount               // number of stages
)

func (p *problem) drawNodes() {
	for i := range p.between(0, p.size.nodes) {
		name, at := fmt.Sprintf("node-%02d", i), stage(p.below(int(stageCount)))
		if at == requested {
			// Nothing can run there.
			p.in.Nodes = append(p.in.Nodes, p.drawRequest(name))
			continue
		}
		node := p.drawNode(name, at)
		p.drawBound(&node, i)
		p.in.Nodes = append(p.in.Nodes, node)
	}
}

func (p *problem) drawNode(name string, at stage) provisioning.Node {
	t := pick(p.source, p.catalog)
	o := &t.Offerings[p.below(len(t.Offerings))]
	labels := p.nodeLabels(name, t, o)
	allocatable, err := t.Allocatable()
	if err != nil {
		allocatable = t.Capacity
	}
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}}
	node.Status.Capacity = t.Capacity.ResourceList()
	node.Status.Allocatable = allocatable.ResourceList()
	for key, quantity := range node.Status.Allocatable {
		if quantity.Sign() < 0 {
			// The kubelet reports no debts.
			quantity.Set(0)
			node.Status.Allocatable[key] = quantity
		}
	}
	if at == unmanaged {
		node.Spec.Taints = p.drawTaints(25)
		p.trouble(node, nil)
		return provisioning.Node{Node: node}
	}

	claim := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "claim-" + name, Labels: map[string]string{}}}
	claim.Spec.NodeClassRef = &v1.NodeClassReference{Group: "example.com", Kind: "NodeClass", Name: "default"}
	claim.Spec.Requirements = []v1.NodeSelectorRequirementWithMinValues{}
	claim.Spec.Taints = p.drawTaints(20)
	if p.chance(30) {
		claim.Spec.StartupTaints = []corev1.Taint{startupTaint()}
	}
	claim.Status.Capacity = node.Status.Capacity.DeepCopy()
	claim.Status.Allocatable = node.Status.Allocatable.DeepCopy()
	p.manage(node, claim, at)
	p.trouble(node, claim)
	if at == launched {
		return provisioning.Node{NodeClaim: claim}
	}
	return provisioning.Node{Node: node, NodeClaim: claim}
}

// nodeLabels returns the labels of an initialized node of a type in one of the pools.
func (p *problem) nodeLabels(name string, t *cloudprovider.InstanceType, o *cloudprovider.Offering) map[string]string {
	labels := map[string]string{
		corev1.LabelHostname:           name,
		corev1.LabelInstanceTypeStable: t.Name,
		corev1.LabelTopologyZone:       o.Zone,
		v1.CapacityTypeLabelKey:        o.CapacityType,
	}
	for r := range t.Requirements.All() {
		if _, known := labels[r.Key()]; known {
			continue
		}
		if value, ok := r.Any(); ok {
			labels[r.Key()] = value
		}
	}
	if p.chance(50) {
		labels["beta.kubernetes.io/arch"] = labels[corev1.LabelArchStable]
	}
	if p.chance(30) {
		labels[teamLabel] = pick(p.source, teams())
	}
	if p.chance(10) {
		labels[rankLabel] = "3"
	}
	return labels
}

// manage makes node and claim look as they do at a stage.
func (p *problem) manage(node *corev1.Node, claim *v1.NodeClaim, at stage) {
	if len(p.in.NodePools) > 0 {
		node.Labels[v1.NodePoolLabelKey] = pick(p.source, p.in.NodePools).Name
	}
	for key, value := range node.Labels {
		if key != corev1.LabelHostname {
			claim.Labels[key] = value
		}
	}
	starting := append([]corev1.Taint{}, claim.Spec.StartupTaints...)
	switch at {
	case joined:
		// Labels and taints of the claim are put on the node when it registers.
		node.Labels = map[string]string{corev1.LabelHostname: node.Name}
		node.Spec.Taints = append(starting, v1.UnregisteredNoExecuteTaint(),
			corev1.Taint{Key: corev1.TaintNodeNotReady, Effect: corev1.TaintEffectNoSchedule})
		p.unreported(node)
	case registered:
		node.Labels[v1.NodeRegisteredLabelKey] = "true"
		node.Spec.Taints = append(append(starting, claim.Spec.Taints...),
			corev1.Taint{Key: corev1.TaintNodeNotReady, Effect: corev1.TaintEffectNoExecute},
			corev1.Taint{Key: "readiness.k8s.io/network", Effect: corev1.TaintEffectNoSchedule})
		p.unreported(node)
	case initialized, rebooting:
		node.Labels[v1.NodeRegisteredLabelKey] = "true"
		node.Labels[v1.NodeInitializedLabelKey] = "true"
		node.Spec.Taints = append([]corev1.Taint{}, claim.Spec.Taints...)
		if p.chance(15) {
			// After initialization a startup taint is a taint like any other.
			node.Spec.Taints = append(node.Spec.Taints, startupTaint())
		}
	}
	if at == rebooting {
		node.Spec.Taints = append(node.Spec.Taints, v1.RebootingNoScheduleTaint())
		claim.Status.Conditions = append(claim.Status.Conditions, metav1.Condition{
			Type: v1.ConditionTypeRebooting, Status: metav1.ConditionTrue, Reason: v1.ReasonRebootRequested,
		})
	}
}

// unreported drops what the kubelet has not reported yet.
func (p *problem) unreported(node *corev1.Node) {
	if _, has := node.Status.Allocatable[gpuResource]; has {
		node.Status.Allocatable[gpuResource] = quantity("0")
	}
	if p.chance(30) {
		node.Status.Allocatable, node.Status.Capacity = nil, nil
	}
}

// trouble makes some nodes go away or take nothing.
func (p *problem) trouble(node *corev1.Node, claim *v1.NodeClaim) {
	switch n := p.below(100); {
	case n < 4:
		node.DeletionTimestamp = deletedAt()
		if claim != nil {
			claim.DeletionTimestamp = deletedAt()
		}
	case n < 7 && claim != nil:
		claim.DeletionTimestamp = deletedAt()
	case n < 10 && claim != nil:
		claim.Status.Conditions = append(claim.Status.Conditions, metav1.Condition{
			Type: v1.ConditionTypeInstanceTerminating, Status: metav1.ConditionTrue, Reason: "Terminating",
		})
	case n < 14:
		node.Spec.Unschedulable = true
		node.Spec.Taints = append(node.Spec.Taints, corev1.Taint{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule})
	case n < 17:
		node.Spec.Unschedulable = true // the taint has not followed yet
	case n < 20:
		node.Spec.Taints = append(node.Spec.Taints, v1.DisruptedNoScheduleTaint())
	}
}

// drawBound draws the pods on a node: some of its DaemonSets, some workloads,
// some that are done.
func (p *problem) drawBound(node *provisioning.Node, index int) {
	for i, representative := range p.in.DaemonSetPods {
		if !p.chance(40) {
			continue
		}
		pod := representative.DeepCopy()
		set := pod.Name
		if len(pod.OwnerReferences) > 0 {
			set = pod.OwnerReferences[0].Name
		}
		pod.Name = fmt.Sprintf("%s-on-%02d-%d", set, index, i)
		pod.OwnerReferences = ownedByDaemonSet(set)
		p.run(node, pod)
	}
	for i := range p.below(4) {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
			Namespace: pick(p.source, namespaces()), Name: fmt.Sprintf("bound-%02d-%d", index, i),
			Labels: map[string]string{"app": pick(p.source, apps())},
		}}
		requests := p.drawDaemonRequests()
		if p.chance(15) {
			// Now and then more than the node has, as evictions take time.
			requests = p.drawRequests()
		}
		pod.Spec.Containers = []corev1.Container{{Name: "main", Resources: requests}}
		if p.chance(3) {
			pod.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
				RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{
					TopologyKey:   pick(p.source, []string{corev1.LabelHostname, corev1.LabelTopologyZone, "example.org/rack"}),
					LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": pick(p.source, apps())}},
				}},
			}}
		}
		p.run(node, pod)
		if p.chance(15) {
			node.Pods[len(node.Pods)-1].Status.Phase = pick(p.source, []corev1.PodPhase{corev1.PodSucceeded, corev1.PodFailed})
		}
	}
}

func (p *problem) run(node *provisioning.Node, pod *corev1.Pod) {
	pod.Spec.NodeName = node.Name()
	pod.Status.Phase = corev1.PodRunning
	node.Pods = append(node.Pods, pod)
}
