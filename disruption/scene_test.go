package disruption_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/disruption"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// noon is the instant of every scene, and born when its nodes were asked for.
var (
	noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	born = noon.Add(-48 * time.Hour)
)

// at returns an instant relative to noon.
func at(d time.Duration) metav1.Time { return metav1.NewTime(noon.Add(d)) }

// newType returns a type with an offering in zone a for each capacity type.
func newType(name string, price float64, offerings ...cloudprovider.Offering) *cloudprovider.InstanceType {
	if len(offerings) == 0 {
		offerings = []cloudprovider.Offering{
			{Zone: "a", CapacityType: v1.CapacityTypeOnDemand, Price: price, Available: true},
			{Zone: "a", CapacityType: v1.CapacityTypeSpot, Price: price / 2, Available: true},
		}
	}
	return &cloudprovider.InstanceType{Name: name, Requirements: requirements.MustParse(
		"node.kubernetes.io/instance-type = " + name), Offerings: offerings}
}

func newPool(name string, edits ...func(*v1.NodePool)) *v1.NodePool {
	p := &v1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: name}}
	p.Spec.Template.Spec.Requirements = []v1.NodeSelectorRequirementWithMinValues{}
	p.Spec.Template.Spec.NodeClassRef = &v1.NodeClassReference{Group: "example.com", Kind: "Class", Name: "default"}
	p.Default()
	p.Spec.Disruption.Budgets = []v1.Budget{}
	for _, edit := range edits {
		edit(p)
	}
	return p
}

func budgetOf(nodes string, reasons ...v1.DisruptionReason) func(*v1.NodePool) {
	return func(p *v1.NodePool) {
		p.Spec.Disruption.Budgets = append(p.Spec.Disruption.Budgets, v1.Budget{Nodes: nodes, Reasons: reasons})
	}
}

func replicas(n, limit int64) func(*v1.NodePool) {
	return func(p *v1.NodePool) {
		p.Spec.Replicas = &n
		if limit > 0 {
			p.Spec.Limits = v1.Limits{v1.ResourceNodes: *resource.NewQuantity(limit, resource.DecimalSI)}
		}
	}
}

// newNode returns an initialized node of a pool: m.large, on-demand, in zone a.
func newNode(name, pool string, edits ...func(*provisioning.Node)) provisioning.Node {
	labels := map[string]string{
		v1.NodePoolLabelKey:            pool,
		v1.CapacityTypeLabelKey:        v1.CapacityTypeOnDemand,
		corev1.LabelInstanceTypeStable: "m.large",
		corev1.LabelTopologyZone:       "a",
	}
	claim := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: name + "-claim", UID: types.UID(name + "-uid"),
		CreationTimestamp: metav1.NewTime(born), Labels: labels, Annotations: map[string]string{}}}
	claim.Status.ProviderID = "cloud://" + name
	for _, kind := range []string{v1.ConditionTypeLaunched, v1.ConditionTypeRegistered, v1.ConditionTypeInitialized} {
		setCondition(claim, kind, metav1.ConditionTrue, born)
	}
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, CreationTimestamp: metav1.NewTime(born),
		Annotations: map[string]string{}, Labels: map[string]string{
			v1.NodeRegisteredLabelKey: "true", v1.NodeInitializedLabelKey: "true"}}}
	for key, value := range labels {
		node.Labels[key] = value
	}
	node.Spec.ProviderID = claim.Status.ProviderID
	node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue,
		LastTransitionTime: metav1.NewTime(born)}}
	n := provisioning.Node{Node: node, NodeClaim: claim}
	for _, edit := range edits {
		edit(&n)
	}
	return n
}

func setCondition(claim *v1.NodeClaim, kind string, status metav1.ConditionStatus, since time.Time) {
	for i := range claim.Status.Conditions {
		if c := &claim.Status.Conditions[i]; c.Type == kind {
			c.Status, c.LastTransitionTime = status, metav1.NewTime(since)
			return
		}
	}
	claim.Status.Conditions = append(claim.Status.Conditions,
		metav1.Condition{Type: kind, Status: status, LastTransitionTime: metav1.NewTime(since)})
}

func withCondition(kind string, status metav1.ConditionStatus, since time.Duration) func(*provisioning.Node) {
	return func(n *provisioning.Node) { setCondition(n.NodeClaim, kind, status, noon.Add(since)) }
}

func withoutCondition(kind string) func(*provisioning.Node) {
	return func(n *provisioning.Node) {
		var kept []metav1.Condition
		for _, c := range n.NodeClaim.Status.Conditions {
			if c.Type != kind {
				kept = append(kept, c)
			}
		}
		n.NodeClaim.Status.Conditions = kept
	}
}

func withPods(pods ...*corev1.Pod) func(*provisioning.Node) {
	return func(n *provisioning.Node) { n.Pods = append(n.Pods, pods...) }
}

// withLabel sets a label of Node and NodeClaim; an empty value removes it.
func withLabel(key, value string) func(*provisioning.Node) {
	return func(n *provisioning.Node) {
		for _, labels := range []map[string]string{n.Node.Labels, n.NodeClaim.Labels} {
			labels[key] = value
			if value == "" {
				delete(labels, key)
			}
		}
	}
}

func withGrace(d time.Duration) func(*provisioning.Node) {
	return func(n *provisioning.Node) { n.NodeClaim.Spec.TerminationGracePeriod = &metav1.Duration{Duration: d} }
}

func nodeCondition(kind corev1.NodeConditionType, status corev1.ConditionStatus, reason string, since time.Duration) func(*provisioning.Node) {
	return func(n *provisioning.Node) {
		c := corev1.NodeCondition{Type: kind, Status: status, Reason: reason, LastTransitionTime: at(since)}
		for i := range n.Node.Status.Conditions {
			if n.Node.Status.Conditions[i].Type == kind {
				n.Node.Status.Conditions[i] = c
				return
			}
		}
		n.Node.Status.Conditions = append(n.Node.Status.Conditions, c)
	}
}

func newPod(name string, edits ...func(*corev1.Pod)) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, Labels: map[string]string{"app": "web"}}}
	p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web", Controller: new(true)}}
	p.Status.Phase = corev1.PodRunning
	p.Status.StartTime = new(at(-time.Hour))
	for _, edit := range edits {
		edit(p)
	}
	return p
}

func owner(version, kind string) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.OwnerReferences[0].APIVersion, p.OwnerReferences[0].Kind = version, kind }
}

func note(key, value string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		if p.Annotations == nil {
			p.Annotations = map[string]string{}
		}
		p.Annotations[key] = value
	}
}

func terminating(p *corev1.Pod) { p.DeletionTimestamp = new(at(-time.Minute)) }

func newPDB(name string, allowed int32, edits ...func(*policyv1.PodDisruptionBudget)) *policyv1.PodDisruptionBudget {
	b := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name}}
	b.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}
	b.Status.DisruptionsAllowed = allowed
	for _, edit := range edits {
		edit(b)
	}
	return b
}

// newInput returns a snapshot of one dynamic pool, web, with the nodes given.
func newInput(nodes ...provisioning.Node) disruption.Input {
	var in disruption.Input
	in.NodePools = []*v1.NodePool{newPool("web")}
	in.InstanceTypes = map[string][]*cloudprovider.InstanceType{"web": {newType("m.large", 0.1), newType("m.xlarge", 0.2)}}
	in.Nodes = nodes
	return in
}

func observe(t testing.TB, in disruption.Input, opts *disruption.Options) *disruption.Cluster {
	t.Helper()
	f, err := disruption.Observe(noon, in, opts)
	require.NoError(t, err)
	return f
}

// objectionsTo returns what speaks against an action now.
func objectionsTo(t testing.TB, now time.Time, in disruption.Input, a disruption.Action, opts *disruption.Options) []disruption.Objection {
	t.Helper()
	objections, err := disruption.Confirm(t.Context(), now, in, a, opts)
	require.NoError(t, err)
	return objections
}

// carriedOut returns a cluster once some actions are done.
func carriedOut(t testing.TB, now time.Time, in disruption.Input, actions []disruption.Action, opts *disruption.Options) disruption.Input {
	t.Helper()
	in, err := disruption.After(now, in, actions, opts)
	require.NoError(t, err)
	return in
}

// brief writes actions as "Operation node[,node] Cause".
func brief(actions []disruption.Action) []string {
	out := []string{}
	for _, a := range actions {
		text := string(a.Operation)
		for _, target := range a.Targets {
			text += " " + target.String()
		}
		if a.Cause != "" {
			text += " " + a.Cause
		}
		if a.OperationCause != "" {
			text += " (" + a.OperationCause + ")"
		}
		out = append(out, text)
	}
	return out
}

// rules writes reasons as "node Rule", with what they are about and until when.
func rules(blocked []disruption.Blocked) []string {
	out := []string{}
	for _, b := range blocked {
		text := fmt.Sprintf("%s %s", b.Node, disruption.RuleOf(b))
		if b.Object != "" {
			text += " " + b.Object
		}
		if !b.Until.IsZero() {
			text += " +" + b.Until.Sub(noon).String()
		}
		out = append(out, text)
	}
	return out
}

func waits(list []disruption.Waiting) []string {
	out := []string{}
	for _, w := range list {
		out = append(out, fmt.Sprintf("%s: %s", w.Targets[0], w.For))
	}
	return out
}
