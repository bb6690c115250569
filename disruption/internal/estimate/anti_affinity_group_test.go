package estimate

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/dovetail-sdk/dovetail/disruption/internal/podclass"
	"github.com/dovetail-sdk/dovetail/provisioning"
)

func TestWhoSharesANodeWithWhom(t *testing.T) {
	pod := func(namespace, name, app string, terms ...corev1.PodAffinityTerm) *corev1.Pod {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{"app": app}}}
		p.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: terms}}
		return p
	}
	term := func(app, key string, namespaces ...string) corev1.PodAffinityTerm {
		return corev1.PodAffinityTerm{TopologyKey: key, Namespaces: namespaces,
			LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}}}
	}
	web := pod("shop", "web-1", "web", term("web", corev1.LabelHostname))
	db := pod("shop", "db-1", "db", term("web", corev1.LabelHostname, "shop", "bank"))
	zonal := pod("shop", "zonal-1", "api", term("web", corev1.LabelTopologyZone))
	unread := pod("shop", "unread-1", "api", corev1.PodAffinityTerm{TopologyKey: corev1.LabelHostname, NamespaceSelector: &metav1.LabelSelector{}})
	other := pod("bank", "web-1", "web")
	plain := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "plain"}}
	pods := []*corev1.Pod{web, db, zonal, unread, other, plain}
	e := &Estimate{in: Input{Classes: podclass.New(0, false), Entries: []provisioning.Node{{Pods: append(pods, nil)}}}}
	c := e.readGroups()
	require.Len(t, c.groups, 2)

	// shares reports whether a pod may come to where others are.
	shares := func(p *corev1.Pod, there ...*corev1.Pod) bool {
		mine, theirs := c.of(c.kinds.Of(p)), c.all(there)
		for i := range mine.Of {
			if mine.Excludes[i]&theirs.Of[i]|mine.Of[i]&theirs.Excludes[i] != 0 {
				return false
			}
		}
		return true
	}
	require.False(t, shares(web, web), "its like")
	require.True(t, c.of(c.kinds.Of(web)).Alone())
	require.False(t, shares(web, db), "whom they shun")
	require.False(t, shares(db, web), "who shuns them")
	require.True(t, shares(db, db))
	require.False(t, c.of(c.kinds.Of(db)).Alone())
	require.False(t, shares(db, other), "in a namespace that is named")
	require.True(t, shares(web, other), "in another namespace")
	for _, p := range []*corev1.Pod{zonal, unread, plain} {
		require.True(t, shares(p, web, db, p), p.Name)
	}
	require.False(t, shares(web, plain, nil, db), "one of many")
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
	e := &Estimate{in: Input{Classes: podclass.New(0, false), Entries: []provisioning.Node{{Pods: pods}}}}
	c := e.readGroups()
	require.True(t, c.of(c.kinds.Of(pods[63])).Alone())
	require.False(t, c.of(c.kinds.Of(pod("new"))).Alone())
	require.Len(t, c.of(c.kinds.Of(pod("new"))).Of, 1)
}
