package disruption

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/dovetail-sdk/dovetail/provisioning"
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
	x := newSelectorIndex()
	for _, text := range texts {
		for _, in := range spaces {
			selector, err := labels.Parse(text)
			require.NoError(t, err)
			x.add(len(all), selector, in)
			all = append(all, known{selector, in})
		}
	}
	x.add(len(all), labels.Nothing(), nil)
	all = append(all, known{labels.Nothing(), nil})
	random, found := rand.New(rand.NewPCG(1, 2)), 0
	for range 200 {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: []string{"one", "two", "three"}[random.IntN(3)], Labels: map[string]string{}}}
		for _, key := range []string{"app", "tier"} {
			if value := []string{"", "a", "b", "x"}[random.IntN(4)]; value != "" {
				p.Labels[key] = value
			}
		}
		candidates := x.candidates(p)
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

// A pod that is on no node may keep away from pods that no other keeps away from:
// its company has no place for them.
func TestCompanyOfAPodThatIsOnNoNode(t *testing.T) {
	pod := func(app string) *corev1.Pod {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: app, Labels: map[string]string{"app": app}}}
		p.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{
			TopologyKey: corev1.LabelHostname, LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}}}}}}
		return p
	}
	var pods []*corev1.Pod
	for i := range 64 {
		pods = append(pods, pod(fmt.Sprint(i)))
	}
	e := &estimate{w: &world{kinds: newPodKinds(0), in: provisioning.Input{Nodes: []provisioning.Node{{Pods: pods}}}}}
	c := e.readCompanies()
	require.True(t, c.of(c.kinds.of(pods[63])).Alone())
	require.False(t, c.of(c.kinds.of(pod("new"))).Alone())
	require.Len(t, c.of(c.kinds.of(pod("new"))).Of, 1)
}
