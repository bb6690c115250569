package nomination_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/provisioning/nomination"
)

func TestPlainTakesOffWhatPromisesLeft(t *testing.T) {
	owners := corev1.Toleration{Key: "gpu", Operator: corev1.TolerationOpExists}
	promised := corev1.Toleration{Key: nomination.TaintKey, Operator: corev1.TolerationOpEqual, Value: "general-7"}
	for name, c := range map[string]struct{ have, want []corev1.Toleration }{
		"none":          {nil, nil},
		"only promises": {[]corev1.Toleration{promised, promised}, nil},
		"both":          {[]corev1.Toleration{promised, owners, promised}, []corev1.Toleration{owners}},
	} {
		p := pod("web-1", "web")
		p.Spec.Tolerations = c.have
		before := p.DeepCopy()
		plain := nomination.Plain(p)
		require.Equal(t, c.want, plain.Spec.Tolerations, name)
		require.Equal(t, before, p, "%s: the pod given has changed", name)
		plain = plain.DeepCopy()
		plain.Spec.Tolerations = p.Spec.Tolerations
		require.Equal(t, p, plain, "%s: something else has changed", name)
	}
}

func TestPlainIsThePodItselfWhereNothingIsPromised(t *testing.T) {
	p := pod("web-1", "web")
	p.Spec.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}}
	require.Same(t, p, nomination.Plain(p))
	require.Nil(t, nomination.Plain(nil))
}

func ExamplePlain() {
	p := pod("web-1", "web")
	p.Spec.Tolerations = []corev1.Toleration{{Key: nomination.TaintKey, Operator: corev1.TolerationOpEqual, Value: "general-7"}}
	fmt.Println(len(nomination.Plain(p).Spec.Tolerations), len(p.Spec.Tolerations))
	// Output: 0 1
}
