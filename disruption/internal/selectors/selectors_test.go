package selectors

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// TestASelectorIndexMissesNone asks all selectors about pods, and the index.
func TestASelectorIndexMissesNone(t *testing.T) {
	texts := []string{"", "app=a", "app in (a,b)", "app in (b)", "app=a,tier=x", "app!=a", "!app", "app", "tier notin (x),app=b", "app=a,app=b"}
	spaces := [][]string{nil, {"one"}, {"two", "one"}, {"two"}}
	type known struct {
		selector labels.Selector
		spaces   []string
	}
	var all []known
	x := NewIndex()
	for _, text := range texts {
		for _, in := range spaces {
			selector, err := labels.Parse(text)
			require.NoError(t, err)
			x.Add(len(all), selector, in)
			all = append(all, known{selector, in})
		}
	}
	x.Add(len(all), labels.Nothing(), nil)
	all = append(all, known{labels.Nothing(), nil})
	random, found := rand.New(rand.NewPCG(1, 2)), 0
	for range 200 {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: []string{"one", "two", "three"}[random.IntN(3)], Labels: map[string]string{}}}
		for _, key := range []string{"app", "tier"} {
			if value := []string{"", "a", "b", "x"}[random.IntN(4)]; value != "" {
				p.Labels[key] = value
			}
		}
		candidates := x.Candidates(p)
		require.True(t, slices.IsSorted(candidates))
		for i, k := range all {
			if (k.spaces == nil || slices.Contains(k.spaces, p.Namespace)) && k.selector.Matches(labels.Set(p.Labels)) {
				require.Contains(t, candidates, i, "%v of %v", k.selector, p.Labels)
				found++
			}
		}
	}
	require.Greater(t, found, 1000)
}
