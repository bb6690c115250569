package podterm_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/dovetail-sdk/dovetail/internal/minors"
	"github.com/dovetail-sdk/dovetail/internal/podterm"
)

func pod(edits ...func(*corev1.Pod)) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", Labels: map[string]string{"app": "web", "version": "2"}}}
	for _, edit := range edits {
		edit(p)
	}
	return p
}

func app(name string) *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: map[string]string{"app": name}}
}

func unreadable() *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "app", Operator: "Near"}}}
}

func snapshot() *podterm.Namespaces {
	return &podterm.Namespaces{
		Declared: []*corev1.Namespace{nil, {ObjectMeta: metav1.ObjectMeta{Name: "stock", Labels: map[string]string{"team": "blue"}}},
			{ObjectMeta: metav1.ObjectMeta{Name: "bank", Labels: map[string]string{"team": "red"}}}},
		Pods: slices.Values([]*corev1.Pod{nil, pod(), pod(func(p *corev1.Pod) { p.Namespace = "used" })}),
	}
}

func TestAffinityIsAboutTheNamespacesThatATermNames(t *testing.T) {
	team := func(name string) *metav1.LabelSelector {
		return &metav1.LabelSelector{MatchLabels: map[string]string{"team": name}}
	}
	for _, tt := range []struct {
		name     string
		listed   []string
		selected *metav1.LabelSelector
		want     []string
	}{
		{"says nothing", nil, nil, []string{"shop"}},
		{"lists", []string{"stock", "bank", "stock"}, nil, []string{"bank", "stock"}},
		{"selects all", []string{"stock"}, &metav1.LabelSelector{}, nil},
		{"selects by a label", nil, team("blue"), []string{"stock"}},
		{"lists and selects", []string{"other"}, team("blue"), []string{"other", "stock"}},
		{"selects by name one that is only used", nil, &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: "used"}}, []string{"used"}},
		{"selects none", nil, team("green"), []string{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := snapshot().Affinity(pod(), &corev1.PodAffinityTerm{TopologyKey: "zone", LabelSelector: app("db"), Namespaces: tt.listed, NamespaceSelector: tt.selected})
			require.NoError(t, err)
			require.Equal(t, tt.want, got.Namespaces)
			for _, namespace := range []string{"shop", "stock", "bank", "used", "other"} {
				require.Equal(t, tt.want == nil || slices.Contains(tt.want, namespace), got.Select(namespace, labels.Set{"app": "db"}), namespace)
			}
			require.False(t, got.Select("stock", labels.Set{"app": "web"}))
		})
	}
}

func TestIncomingIsAboutAllNamespacesWhereTheSelectorMatchesNoLabels(t *testing.T) {
	for _, tt := range []struct {
		name     string
		operator metav1.LabelSelectorOperator
		values   []string
		affinity []string // nil is all
		incoming []string
	}{
		{"NotIn", metav1.LabelSelectorOpNotIn, []string{"blue"}, []string{"bank", "shop", "used"}, nil},
		{"DoesNotExist", metav1.LabelSelectorOpDoesNotExist, nil, []string{"shop", "used"}, nil},
		{"In", metav1.LabelSelectorOpIn, []string{"blue"}, []string{"stock"}, []string{"stock"}},
		{"Exists", metav1.LabelSelectorOpExists, nil, []string{"bank", "stock"}, []string{"bank", "stock"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			term := &corev1.PodAffinityTerm{TopologyKey: "zone", LabelSelector: app("db"), NamespaceSelector: &metav1.LabelSelector{
				MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "team", Operator: tt.operator, Values: tt.values}},
			}}
			bound, err := snapshot().Affinity(pod(), term)
			require.NoError(t, err)
			require.Equal(t, tt.affinity, bound.Namespaces)
			incoming, err := snapshot().Incoming(pod(), term)
			require.NoError(t, err)
			require.Equal(t, tt.incoming, incoming.Namespaces)
		})
	}
}

func TestReadingsAreThoseOfTheVersions(t *testing.T) {
	term := &corev1.PodAffinityTerm{TopologyKey: "zone", LabelSelector: app("db"), NamespaceSelector: &metav1.LabelSelector{
		MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "team", Operator: metav1.LabelSelectorOpNotIn, Values: []string{"blue"}}},
	}}
	some := []string{"bank", "shop", "used"}
	for kubernetes, want := range map[string][][]string{"1.36": {nil}, "1.37": {some}, "": {some, nil}} {
		versions, err := minors.Parse(kubernetes)
		require.NoError(t, err)
		var got [][]string
		for _, read := range snapshot().Readings(versions) {
			pods, err := read(pod(), term)
			require.NoError(t, err)
			got = append(got, pods.Namespaces)
		}
		require.Equal(t, want, got, kubernetes)
	}
}

func TestTheValuesOfThePodNarrowASelector(t *testing.T) {
	term := &corev1.PodAffinityTerm{TopologyKey: "zone", LabelSelector: app("web"), MatchLabelKeys: []string{"version", "missing"}}
	got, err := snapshot().Affinity(pod(), term)
	require.NoError(t, err)
	require.True(t, got.Select("shop", labels.Set{"app": "web", "version": "2"}))
	require.False(t, got.Select("shop", labels.Set{"app": "web", "version": "1"}))

	term.MatchLabelKeys, term.MismatchLabelKeys = nil, []string{"version"}
	got, err = snapshot().Affinity(pod(), term)
	require.NoError(t, err)
	require.False(t, got.Select("shop", labels.Set{"app": "web", "version": "2"}))
	require.True(t, got.Select("shop", labels.Set{"app": "web", "version": "1"}))

	spread := &corev1.TopologySpreadConstraint{LabelSelector: app("web"), MatchLabelKeys: []string{"version"}}
	counted, err := podterm.Spread(pod(), spread, minors.Range{})
	require.NoError(t, err)
	require.True(t, counted.Select("shop", labels.Set{"app": "web", "version": "2"}))
	require.False(t, counted.Select("shop", labels.Set{"app": "web", "version": "1"}))
	require.False(t, counted.Select("bank", labels.Set{"app": "web", "version": "2"}))
}

func TestSelectorsThatSayNothing(t *testing.T) {
	web := labels.Set{"app": "web"}
	for kubernetes, everybody := range map[string]bool{"1.34": false, "1.37": false, "1.38": true, "": true} {
		versions, err := minors.Parse(kubernetes)
		require.NoError(t, err)
		counted, err := podterm.Spread(pod(), &corev1.TopologySpreadConstraint{}, versions)
		require.NoError(t, err)
		require.False(t, counted.Select("shop", web), "a spread without a selector counts nobody in %s", kubernetes)
		counted, err = podterm.Spread(pod(), &corev1.TopologySpreadConstraint{LabelSelector: &metav1.LabelSelector{}}, versions)
		require.NoError(t, err)
		require.Equal(t, everybody, counted.Select("shop", web), kubernetes)
		require.False(t, counted.Select("stock", web))
		counted, err = podterm.Spread(pod(), &corev1.TopologySpreadConstraint{LabelSelector: &metav1.LabelSelector{}, MatchLabelKeys: []string{"version"}}, versions)
		require.NoError(t, err)
		require.True(t, counted.Select("shop", labels.Set{"version": "2"}), "the keys are part of the selector in %s", kubernetes)
		require.False(t, counted.Select("shop", web))
	}
	all, err := snapshot().Affinity(pod(), &corev1.PodAffinityTerm{TopologyKey: "zone", LabelSelector: &metav1.LabelSelector{}})
	require.NoError(t, err)
	require.True(t, all.Select("shop", nil))
	nobody, err := snapshot().Affinity(pod(), &corev1.PodAffinityTerm{TopologyKey: "zone"})
	require.NoError(t, err)
	require.False(t, nobody.Select("shop", nil))
	require.NotEqual(t, all.Text(), nobody.Text())
	again, err := snapshot().Affinity(pod(), &corev1.PodAffinityTerm{TopologyKey: "node", LabelSelector: &metav1.LabelSelector{}})
	require.NoError(t, err)
	require.Equal(t, all.Text(), again.Text())
}

func TestFaultsNameTheField(t *testing.T) {
	long := pod(func(p *corev1.Pod) { p.Labels["bad"] = "no value of a label" })
	for field, term := range map[string]*corev1.PodAffinityTerm{
		"topologyKey":       {LabelSelector: app("web")},
		"labelSelector":     {TopologyKey: "zone", LabelSelector: unreadable()},
		"namespaceSelector": {TopologyKey: "zone", LabelSelector: app("web"), NamespaceSelector: unreadable()},
		"matchLabelKeys":    {TopologyKey: "zone", LabelSelector: app("web"), MatchLabelKeys: []string{"bad"}},
		"mismatchLabelKeys": {TopologyKey: "zone", LabelSelector: app("web"), MismatchLabelKeys: []string{"bad"}},
	} {
		_, err := snapshot().Affinity(long, term)
		faults := podterm.Faults(err)
		require.Len(t, faults, 1, field)
		require.Equal(t, field, faults[0].Field)
		require.ErrorContains(t, err, field+" ")
	}
	for field, c := range map[string]*corev1.TopologySpreadConstraint{
		"labelSelector":  {LabelSelector: unreadable()},
		"matchLabelKeys": {LabelSelector: app("web"), MatchLabelKeys: []string{"bad"}},
	} {
		_, err := podterm.Spread(long, c, minors.Range{})
		faults := podterm.Faults(err)
		require.Len(t, faults, 1, field)
		require.Equal(t, field, faults[0].Field)
	}
	require.Empty(t, podterm.Faults(nil))
	_, err := snapshot().Affinity(long, &corev1.PodAffinityTerm{LabelSelector: unreadable(), NamespaceSelector: unreadable()})
	require.Len(t, podterm.Faults(err), 3, "all are said at once")
}

func TestDefaultsAreForPodsWithNoneOfTheirOwn(t *testing.T) {
	services := []*corev1.Service{nil, {ObjectMeta: metav1.ObjectMeta{Namespace: "shop"}, Spec: corev1.ServiceSpec{Selector: map[string]string{"app": "web"}}},
		{ObjectMeta: metav1.ObjectMeta{Namespace: "shop"}}, {ObjectMeta: metav1.ObjectMeta{Namespace: "bank"}, Spec: corev1.ServiceSpec{Selector: map[string]string{"version": "2"}}}}
	controllers := map[types.UID]*metav1.LabelSelector{"set": {MatchLabels: map[string]string{"version": "2"}}}
	defaults := podterm.NewDefaults([]corev1.TopologySpreadConstraint{{TopologyKey: "zone", MaxSkew: 1}}, services, controllers)
	ownedBy := func(kind, uid string) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			yes := true
			p.OwnerReferences = []metav1.OwnerReference{{Kind: kind, UID: types.UID(uid), Controller: &yes}}
		}
	}
	counted := func(p *corev1.Pod) podterm.Pods {
		list, own := defaults.Of(p)
		require.False(t, own)
		require.Len(t, list, 1)
		out, err := podterm.Spread(p, &list[0], minors.Range{})
		require.NoError(t, err)
		return out
	}
	byService := counted(pod())
	require.True(t, byService.Select("shop", labels.Set{"app": "web"}))
	require.False(t, byService.Select("bank", labels.Set{"app": "web"}))
	for _, kind := range []string{"ReplicaSet", "ReplicationController"} {
		both := counted(pod(ownedBy(kind, "set")))
		require.True(t, both.Select("shop", labels.Set{"app": "web", "version": "2"}))
		require.False(t, both.Select("shop", labels.Set{"app": "web", "version": "1"}), "what all of them select")
	}
	list, own := defaults.Of(pod(func(p *corev1.Pod) { p.Labels = nil }))
	require.False(t, own)
	require.Empty(t, list, "nothing selects it")
	list, own = defaults.Of(pod(func(p *corev1.Pod) { p.Spec.TopologySpreadConstraints = make([]corev1.TopologySpreadConstraint, 2) }))
	require.True(t, own)
	require.Len(t, list, 2)

	none := podterm.NewDefaults(nil, services, controllers)
	list, _ = none.Of(pod())
	require.Empty(t, list)
	list, own = none.Of(pod(func(p *corev1.Pod) { p.Spec.TopologySpreadConstraints = make([]corev1.TopologySpreadConstraint, 2) }))
	require.True(t, own)
	require.Len(t, list, 2)
}
