package v1_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
)

func TestToNodeClaim(t *testing.T) {
	p := pool()
	p.Spec.Template = v1.NodeClaimTemplate{
		ObjectMeta: v1.ObjectMeta{Labels: map[string]string{"a": "b"}, Annotations: map[string]string{"c": "d"}},
		Spec: v1.NodeClaimTemplateSpec{
			Taints:                 []corev1.Taint{{Key: "t"}},
			StartupTaints:          []corev1.Taint{{Key: "s"}},
			Requirements:           []v1.NodeSelectorRequirementWithMinValues{{Key: "k", Operator: "In", Values: []string{"v"}, MinValues: new(1)}},
			NodeClassRef:           nodeClass(),
			TerminationGracePeriod: &metav1.Duration{Duration: time.Hour},
			ExpireAfter:            v1.NewDuration(time.Hour),
		},
	}
	before := p.DeepCopy()
	c := p.Spec.Template.ToNodeClaim()
	tmpl := p.Spec.Template
	require.Equal(t, tmpl.Labels, c.Labels)
	require.Equal(t, tmpl.Annotations, c.Annotations)
	require.Equal(t, v1.NodeClaimSpec{
		Taints: tmpl.Spec.Taints, StartupTaints: tmpl.Spec.StartupTaints, Requirements: tmpl.Spec.Requirements,
		NodeClassRef: tmpl.Spec.NodeClassRef, TerminationGracePeriod: tmpl.Spec.TerminationGracePeriod, ExpireAfter: tmpl.Spec.ExpireAfter,
	}, c.Spec)
	c.Labels["a"], c.Spec.Requirements[0].Values[0], c.Spec.NodeClassRef.Name, *c.Spec.ExpireAfter.Duration = "x", "x", "x", 0
	require.Equal(t, before, p, "nothing is shared")
}

func TestRequirementConversion(t *testing.T) {
	values := []string{"a", "b"}
	got := v1.NodeSelectorRequirementWithMinValues{Key: "k", Operator: "In", Values: values, MinValues: new(2)}.NodeSelectorRequirement()
	require.Equal(t, corev1.NodeSelectorRequirement{Key: "k", Operator: "In", Values: []string{"a", "b"}}, got)
	require.Equal(t, got, v1.NodeSelectorRequirement{Key: "k", Operator: "In", Values: values}.NodeSelectorRequirement())
	got.Values[0] = "x"
	require.Equal(t, []string{"a", "b"}, values)
}
