package family

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
)

// poolAge is the age of all pools.
const poolAge = 60 * 24 * time.Hour

// addPool adds a pool to the scenario, with the fields that all pools have in common. Its budget
// lets any number of nodes be disrupted at once.
func (m *maker) addPool(name string, spec v1.NodePoolSpec) *v1.NodePool {
	class := &v1.NodeClassReference{Group: "karpenter.test.sh", Kind: "TestNodeClass", Name: "default"}
	if m.spec.Types == awsTypes {
		class = &v1.NodeClassReference{Group: "karpenter.k8s.aws", Kind: "EC2NodeClass", Name: "default"}
	}
	spec.Template.Spec.NodeClassRef = class
	if spec.Template.Spec.Requirements == nil {
		spec.Template.Spec.Requirements = []v1.NodeSelectorRequirementWithMinValues{}
	}
	created := epoch.Add(-poolAge)
	pool := &v1.NodePool{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1.GroupVersion.String(), Kind: v1.NodePoolKind},
		ObjectMeta: metav1.ObjectMeta{Name: name, UID: m.uid(), Generation: 1, CreationTimestamp: metav1.NewTime(created)},
		Spec:       spec,
	}
	pool.Spec.Disruption.Budgets = []v1.Budget{{Nodes: "100%"}}
	pool.Default()
	pool.Status.Conditions = met(created, v1.ConditionTypeValidationSucceeded, v1.ConditionTypeNodeClassReady, v1.ConditionTypeReady)
	m.out.NodePools = append(m.out.NodePools, pool)
	return pool
}

// met returns conditions that have been true since an instant.
func met(since time.Time, types ...string) []metav1.Condition {
	var out []metav1.Condition
	for _, t := range types {
		out = append(out, metav1.Condition{Type: t, Status: metav1.ConditionTrue, Reason: t, LastTransitionTime: metav1.NewTime(since)})
	}
	return out
}

// pending completes a pod for which the scheduler found no node.
func (m *maker) pending(meta metav1.ObjectMeta, spec corev1.PodSpec, waited time.Duration) *corev1.Pod {
	created := epoch.Add(-waited)
	meta.UID = m.uid()
	meta.CreationTimestamp = metav1.NewTime(created)
	return &corev1.Pod{
		ObjectMeta: meta,
		Spec:       spec,
		Status: corev1.PodStatus{
			Phase: corev1.PodPending,
			Conditions: []corev1.PodCondition{{
				Type:               corev1.PodScheduled,
				Status:             corev1.ConditionFalse,
				Reason:             corev1.PodReasonUnschedulable,
				LastTransitionTime: metav1.NewTime(created.Add(time.Second)),
			}},
		},
	}
}

// amounts returns requests of CPU, in thousandths, and memory, in MiB.
func amounts(milli, mebi int64) corev1.ResourceList {
	return corev1.ResourceList{
		corev1.ResourceCPU:    *resource.NewMilliQuantity(milli, resource.DecimalSI),
		corev1.ResourceMemory: *resource.NewQuantity(mebi<<20, resource.BinarySI),
	}
}

// spread returns a topology spread constraint with a skew of one.
func spread(key string, otherwise corev1.UnsatisfiableConstraintAction, labels map[string]string) corev1.TopologySpreadConstraint {
	return corev1.TopologySpreadConstraint{
		MaxSkew:           1,
		TopologyKey:       key,
		WhenUnsatisfiable: otherwise,
		LabelSelector:     &metav1.LabelSelector{MatchLabels: labels},
	}
}

// near returns an affinity term about the pods with these labels.
func near(key string, labels map[string]string) corev1.PodAffinityTerm {
	return corev1.PodAffinityTerm{TopologyKey: key, LabelSelector: &metav1.LabelSelector{MatchLabels: labels}}
}

func labelIn(key string, values ...string) corev1.NodeSelectorTerm {
	return corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{
		{Key: key, Operator: corev1.NodeSelectorOpIn, Values: values},
	}}
}

// tolerate adds a toleration of the taint.
func tolerate(spec *corev1.PodSpec, taint corev1.Taint) {
	spec.Tolerations = append(spec.Tolerations, corev1.Toleration{
		Key: taint.Key, Operator: corev1.TolerationOpEqual, Value: taint.Value, Effect: taint.Effect,
	})
}
