package replay

import (
	"fmt"
	"maps"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/benchmarks/scenario"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/internal/kubescheduler"
)

// launch makes the node that results from the cheapest launch of a claim.
func (c *Cluster) launch(n *scenario.NewNodeClaim, index int) (scenario.Node, error) {
	options, err := c.Options(n)
	if err != nil {
		return scenario.Node{}, err
	}
	option := options[0]
	allocatable, err := option.InstanceType.AllocatableFor(option.Offering)
	if err != nil {
		return scenario.Node{}, err
	}
	name := fmt.Sprintf("launched-%05d", c.launched+index+1)
	template := c.template(n.NodePool)
	labels := labelsOf(n, option, template)
	claim := c.claim(n, name, labels, template)
	claim.Status.ProviderID = fmt.Sprintf("aws:///%s/i-%s", option.Offering.Zone, name)
	claim.Status.Capacity, claim.Status.Allocatable = option.InstanceType.Capacity.ResourceList(), allocatable.ResourceList()

	labels = maps.Clone(labels)
	labels[corev1.LabelHostname], labels[v1.NodeRegisteredLabelKey], labels[v1.NodeInitializedLabelKey] = name, "true", "true"
	out := scenario.Node{NodeClaim: claim, Node: &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID("node-" + name), Labels: labels, CreationTimestamp: claim.CreationTimestamp,
			Finalizers: []string{v1.TerminationFinalizer}},
		Spec: corev1.NodeSpec{ProviderID: claim.Status.ProviderID, Taints: n.Taints},
		Status: corev1.NodeStatus{Capacity: claim.Status.Capacity, Allocatable: claim.Status.Allocatable,
			Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue, LastTransitionTime: claim.CreationTimestamp}}},
	}}
	out.Pods = c.daemons(out.Node)
	return out, nil
}

// template returns the template of a pool, or the zero value if there is no such pool.
func (c *Cluster) template(pool string) v1.NodeClaimTemplateSpec {
	for _, p := range c.scenario.NodePools {
		if p.Name == pool {
			return p.Spec.Template.Spec
		}
	}
	return v1.NodeClaimTemplateSpec{}
}

// labelsOf returns the labels of the launch, of the claim, and of the requirements that leave one
// value.
func labelsOf(n *scenario.NewNodeClaim, option cloudprovider.LaunchOption, template v1.NodeClaimTemplateSpec) map[string]string {
	labels := option.NodeLabels()
	maps.Copy(labels, n.Labels)
	for _, r := range n.Requirements {
		if _, set := labels[r.Key]; !set && r.Operator == corev1.NodeSelectorOpIn && len(r.Values) == 1 {
			labels[r.Key] = r.Values[0]
		}
	}
	if class := template.NodeClassRef; class != nil {
		labels[v1.NodeClassLabelKey(class.GroupKind())] = class.Name
	}
	return labels
}

// claim returns the NodeClaim of a node that has just come up and counts as quiet for an hour.
func (c *Cluster) claim(n *scenario.NewNodeClaim, name string, labels map[string]string, template v1.NodeClaimTemplateSpec) *v1.NodeClaim {
	quiet := metav1.NewTime(c.scenario.Now.Add(-time.Hour))
	claim := &v1.NodeClaim{
		TypeMeta: metav1.TypeMeta{APIVersion: v1.GroupVersion.String(), Kind: v1.NodeClaimKind},
		ObjectMeta: metav1.ObjectMeta{Name: n.NodePool + "-" + name, UID: types.UID("claim-" + name), Generation: 1,
			Labels: labels, CreationTimestamp: metav1.NewTime(c.scenario.Now), Finalizers: []string{v1.TerminationFinalizer}},
		Spec: v1.NodeClaimSpec{Taints: n.Taints, StartupTaints: n.StartupTaints, Requirements: n.Requirements,
			NodeClassRef: template.NodeClassRef, ExpireAfter: template.ExpireAfter},
		Status: v1.NodeClaimStatus{NodeName: name, LastPodEventTime: quiet},
	}
	for _, kind := range []string{v1.ConditionTypeLaunched, v1.ConditionTypeRegistered, v1.ConditionTypeInitialized, v1.ConditionTypeConsolidatable, v1.ConditionTypeReady} {
		claim.Status.Conditions = append(claim.Status.Conditions,
			metav1.Condition{Type: kind, Status: metav1.ConditionTrue, Reason: kind, LastTransitionTime: quiet})
	}
	return claim
}

// daemons returns the pods that DaemonSets start on a node.
func (c *Cluster) daemons(node *corev1.Node) []*corev1.Pod {
	var out []*corev1.Pod
	for _, d := range c.scenario.DaemonSetPods {
		if !kubescheduler.RunsOn(d, node) {
			continue
		}
		pod := d.DeepCopy()
		pod.Name = d.Name + "-" + strings.TrimPrefix(node.Name, "launched-")
		pod.UID = types.UID(d.Namespace + "/" + d.Name + "-" + node.Name)
		pod.Spec.NodeName, pod.Status.Phase = node.Name, corev1.PodRunning
		out = append(out, pod)
	}
	return out
}
