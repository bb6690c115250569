package compile_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/dovetail-sdk/dovetail/internal/engine/compile"
	"github.com/dovetail-sdk/dovetail/internal/engine/model"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
)

// TestHostRulesAreReadOnce: every solution of a problem, and every class, begins with the
// same count of a constraint; another skew is another constraint.
func TestHostRulesAreReadOnce(t *testing.T) {
	labels := map[string]string{"app": "web"}
	var in model.Input
	honor, ignore := corev1.NodeInclusionPolicyHonor, corev1.NodeInclusionPolicyIgnore
	for i, s := range []struct {
		skew  int32
		taint *corev1.NodeInclusionPolicy
	}{{1, &ignore}, {1, &ignore}, {2, &ignore}, {}, {1, &honor}} {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: fmt.Sprint("pod-", i), Labels: labels}}
		requests := resources.MustParse(fmt.Sprintf("cpu=%d", i+1)).ResourceList() // each is a class of its own
		pod.Spec.Containers = []corev1.Container{{Name: "main", Resources: corev1.ResourceRequirements{Requests: requests}}}
		if s.skew > 0 {
			pod.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{
				MaxSkew: s.skew, TopologyKey: corev1.LabelHostname, WhenUnsatisfiable: corev1.DoNotSchedule,
				LabelSelector: &metav1.LabelSelector{MatchLabels: labels}, NodeTaintsPolicy: s.taint,
			}}
		}
		in.Pods = append(in.Pods, pod)
	}
	var f model.Faults
	p := compile.NewProblem(in, nil, model.Options{}, nil, nil, &f)
	require.NoError(t, f.Err())
	of := func(pod int) []int { return p.Rules.ByClass[p.ClassOf[pod]].Hosts }
	rule := func(pod int) *compile.HostRule { return p.HostRule(of(pod)[0]) }
	require.Len(t, of(0), 1)
	require.Equal(t, of(0), of(1))
	require.NotEqual(t, of(0), of(2))
	require.Equal(t, rule(0).Way, rule(2).Way, "both look at all nodes")
	require.NotEqual(t, rule(0).Way, rule(4).Way)
	require.Empty(t, of(3))
	require.Len(t, p.Rules.ByClass[p.ClassOf[3]].Among, 3, "they count it all the same")
	require.Same(t, rule(0), rule(1))
}
