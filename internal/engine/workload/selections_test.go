package workload

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	operator "k8s.io/apimachinery/pkg/selection"

	"github.com/dovetail-sdk/dovetail/internal/podterm"
)

// The index finds the selections that select a pod, as asking each of them does.
func TestLawIndexFindsWhatSelects(t *testing.T) {
	for seed := range uint64(2_000) {
		r := rand.New(rand.NewPCG(seed, 1))
		pick := func(prefix string, n int) string { return fmt.Sprintf("%s%d", prefix, r.IntN(n)) }
		selector := func() labels.Selector {
			if r.IntN(8) == 0 {
				return labels.Nothing()
			}
			out := labels.NewSelector()
			for range r.IntN(4) {
				values := []string{pick("v", 4)}
				op := []operator.Operator{operator.In, operator.In, operator.Equals, operator.NotIn, operator.Exists, operator.DoesNotExist}[r.IntN(6)]
				switch op {
				case operator.In:
					values = append(values, pick("v", 4))
				case operator.Exists, operator.DoesNotExist:
					values = nil
				}
				requirement, err := labels.NewRequirement(pick("k", 3), op, values)
				require.NoError(t, err)
				out = out.Add(*requirement)
			}
			return out
		}
		var selections []Selection
		for range r.IntN(12) {
			var conjuncts []podterm.Pods
			for range 1 + r.IntN(2) {
				conjuncts = append(conjuncts, podterm.Pods{Selector: selector(), Namespaces: [][]string{nil, {}, {"n0"}, {"n1"}, {"n0", "n1"}}[r.IntN(5)]})
			}
			selections = append(selections, newSelection(conjuncts...))
		}
		index := NewSelectorIndex(selections)
		for range 20 {
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: pick("n", 3), Labels: map[string]string{}}}
			for range r.IntN(4) {
				pod.Labels[pick("k", 4)] = pick("v", 4)
			}
			number := index.Of(pod)
			for i := range selections {
				require.Equal(t, selections[i].selects(pod.Namespace, pod.Labels), index.Members[number].Has(i), "seed %d: selection %d, pod %v in %s", seed, i, pod.Labels, pod.Namespace)
			}
		}
	}
}
