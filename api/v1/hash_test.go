package v1_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
)

// TestHashVectors compares with the values that Karpenter computes.
func TestHashVectors(t *testing.T) {
	objects, err := v1.DecodeAll(readFile(t, "hash_vectors.yaml"))
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(objects), 40)
	distinct := map[string]bool{}
	for _, obj := range objects {
		p := obj.(*v1.NodePool)
		before := p.DeepCopy()
		require.Equal(t, v1.NodePoolHashVersion, p.Annotations[v1.NodePoolHashVersionAnnotationKey])
		require.Equal(t, p.Annotations[v1.NodePoolHashAnnotationKey], p.Hash(), p.Name)
		require.Equal(t, before, p, "inputs are not changed")
		distinct[p.Hash()] = true
	}
	require.Greater(t, len(distinct), 30, "the vectors tell fields apart")
}

// TestHashOfTimesIsTheSameEverywhere: a taint's time is decoded into the zone of
// the machine, which must not matter.
func TestHashOfTimesIsTheSameEverywhere(t *testing.T) {
	instant := time.Date(2026, 3, 1, 12, 30, 45, 0, time.UTC)
	hash := func(zone *time.Location) string {
		at := metav1.NewTime(instant.In(zone))
		p := pool()
		p.Spec.Template.Spec.Taints = []corev1.Taint{{Key: "a", Effect: corev1.TaintEffectNoSchedule, TimeAdded: &at}}
		return p.Hash()
	}
	want := hash(time.UTC)
	require.Equal(t, "5077154894249930609", want, "the vector taint-time")
	for _, offset := range []int{0, 3600, -5*3600 - 1800, 86399 * 400} {
		require.Equal(t, want, hash(time.FixedZone("", offset)))
	}
}

func TestHashOfNothing(t *testing.T) {
	require.Equal(t, (&v1.NodePool{}).Hash(), (*v1.NodePool)(nil).Hash())
	zero := metav1.Time{}
	p := pool()
	p.Spec.Template.Spec.Taints = []corev1.Taint{{TimeAdded: &zero}}
	require.NotEmpty(t, p.Hash())
}
