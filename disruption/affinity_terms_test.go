package disruption_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/disruption"
	"github.com/dovetail-sdk/dovetail/provisioning"
)

// bondedTo asks for the zone of some pods, or for another.
func bondedTo(app string, apart bool) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		terms := []corev1.PodAffinityTerm{{TopologyKey: corev1.LabelTopologyZone, LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}}}}
		p.Spec.Affinity = &corev1.Affinity{PodAffinity: &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: terms}}
		if apart {
			p.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: terms}}
		}
	}
}

func ofApp(app string) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Labels = map[string]string{"app": app} }
}

// bondedZones has two small pods on large nodes of zone a, and room for both in
// zone b; in zone a there is room where stay says so.
func bondedZones(first, second *corev1.Pod, stay bool) disruption.Input {
	large := sizedType("large", 8, 0.4, onDemand("a", 0.4), onDemand("b", 0.4))
	node := func(name, zone string, pods ...*corev1.Pod) provisioning.Node {
		return with(machine(name, "default", large, pods...), withLabel(corev1.LabelTopologyZone, zone))
	}
	in := fleetOf([]*cloudprovider.InstanceType{large}, node("n1", "a", first), node("n2", "a", second), node("b1", "b", load("b1", 4000)), node("b2", "b", load("b2", 4000)))
	if stay {
		in.Nodes = append(in.Nodes, node("a1", "a", load("a1", 4000)))
	}
	return in
}

// besides adds a node of zone b that goes, so that others go only beside it, and moves
// says whether a pod does.
func besides(in disruption.Input) disruption.Input {
	spare := load("spare", 100)
	spare.Spec.NodeSelector = map[string]string{corev1.LabelTopologyZone: "b"}
	large := in.InstanceTypes["default"][0]
	in.Nodes = append(in.Nodes, with(machine("b3", "default", large, spare), withLabel(corev1.LabelTopologyZone, "b")))
	return in
}

func moves(p *disruption.Proposal, pod string) bool {
	return slices.ContainsFunc(p.Actions, func(a disruption.Action) bool {
		return slices.ContainsFunc(a.Moves, func(m disruption.Move) bool { return m.Pod.Name == pod })
	})
}

// TestEachActionKeepsAffinityByItself: two pods that belong together over zones
// leave their nodes by actions of their own, and stay in their zone.
func TestEachActionKeepsAffinityByItself(t *testing.T) {
	for _, apart := range []bool{false, true} {
		web := load("web", 1000, ofApp("web"), bondedTo("db", apart))
		db := load("db", 1000, ofApp("db"))
		if apart { // it keeps away from what is not there
			db.Labels["app"] = "other"
		}
		p := propose(t, bondedZones(web, db, true), anySaving())
		require.NotEmpty(t, p.Actions)
		for _, a := range p.Actions {
			for _, m := range a.Moves {
				if m.Pod.Name == "web" || m.Pod.Name == "db" && !apart {
					require.Equal(t, "a", zoneOf(bondedZones(web, db, true), m.Node), "%s of %s", m.Pod.Name, a)
				}
			}
		}
	}
}

// A pod whose affinity does not hold as things are may leave its zone.
func TestPodsWithoutTheirKinAreFree(t *testing.T) {
	web := load("web", 1000, ofApp("web"), bondedTo("db", false))
	in := bondedZones(web, load("other", 7000), false)
	in.Nodes[2].Pods = append(in.Nodes[2].Pods, load("db", 500, ofApp("db")))
	in.Nodes[3].Pods = append(in.Nodes[3].Pods, load("full", 3500))
	p := propose(t, in, anySaving())
	require.Contains(t, deeds(p.Actions), "Underutilized n1 ->  saves 0.400")
	for _, a := range p.Actions {
		for _, m := range a.Moves {
			if m.Pod.Name == "web" {
				require.Equal(t, "b", zoneOf(in, m.Node), "where db is")
			}
		}
	}
}

// pinnedBy checks whether web keeps db in its zone. The only place for db is in another, and that pays.
func pinnedBy(t *testing.T, db, web *corev1.Pod, pinned bool, namespaces []*corev1.Namespace) {
	t.Helper()
	in := bondedZones(db, web, false)
	for _, n := range in.Nodes[2:] {
		n.Node.Annotations[v1.DoNotDisruptAnnotationKey] = "true"
	}
	in.Namespaces = namespaces
	p := propose(t, besides(in), &disruption.Options{Consolidation: disruption.ConsolidationOptions{MinimumScore: -1, NoReplacements: true}})
	require.True(t, moves(p, "spare"))
	require.Equal(t, !pinned, moves(p, "db"), "%v %v", p.Actions, p.Blocked)
}

// A term that looks for namespaces by their labels is about pods in those only: pods
// elsewhere with the same labels are free to change their zone.
func TestBondsKeepToTheNamespacesThatTheySelect(t *testing.T) {
	for _, tt := range []struct {
		name   string
		listed []string
		want   *metav1.LabelSelector
		pinned bool
	}{
		{"all", nil, &metav1.LabelSelector{}, true},
		{"by a label of the namespace", nil, &metav1.LabelSelector{MatchLabels: map[string]string{"team": "blue"}}, true},
		{"by a label of another", nil, &metav1.LabelSelector{MatchLabels: map[string]string{"team": "red"}}, false},
		{"by a label of none", nil, &metav1.LabelSelector{MatchLabels: map[string]string{"team": "green"}}, false},
		{"by name", nil, &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: "stock"}}, true},
		{"by name of another", nil, &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: "shop"}}, false},
		{"listed beside another that is selected", []string{"stock"}, &metav1.LabelSelector{MatchLabels: map[string]string{"team": "red"}}, true},
		{"that cannot be read", nil, &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "team", Operator: "Near"}}}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			db := load("db", 1000, ofApp("db"))
			db.Namespace = "stock"
			web := load("web", 7900, ofApp("web"), bondedTo("db", false))
			term := &web.Spec.Affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution[0]
			term.Namespaces, term.NamespaceSelector = tt.listed, tt.want
			pinnedBy(t, db, web, tt.pinned, []*corev1.Namespace{nil, {ObjectMeta: metav1.ObjectMeta{Name: "stock", Labels: map[string]string{"team": "blue"}}},
				{ObjectMeta: metav1.ObjectMeta{Name: "shop", Labels: map[string]string{"team": "red"}}}})
		})
	}
}

// A term is about pods with its owner's own value of matchLabelKeys only: db of another
// version is free to leave the zone, and one whose kin is of another version as well.
func TestBondsTakeValuesFromTheirOwners(t *testing.T) {
	for _, tt := range []struct {
		name    string
		version string
		edit    func(*corev1.PodAffinityTerm)
		pinned  bool
	}{
		{"the same", "1", func(t *corev1.PodAffinityTerm) { t.MatchLabelKeys = []string{"version"} }, true},
		{"another", "2", func(t *corev1.PodAffinityTerm) { t.MatchLabelKeys = []string{"version"} }, false},
		{"the same is shunned", "1", func(t *corev1.PodAffinityTerm) { t.MismatchLabelKeys = []string{"version"} }, false},
		{"another is not shunned", "2", func(t *corev1.PodAffinityTerm) { t.MismatchLabelKeys = []string{"version"} }, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			db := load("db", 1000, ofApp("db"))
			db.Labels["version"] = tt.version
			web := load("web", 7900, ofApp("web"), bondedTo("db", false))
			web.Labels["version"] = "1"
			tt.edit(&web.Spec.Affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution[0])
			pinnedBy(t, db, web, tt.pinned, nil)
		})
	}
}

// Nothing is asked of pods that stay: one whose affinity will not hold any more keeps
// nobody in its zone, once there is nothing else to do.
func TestPodsThatStayAskNothing(t *testing.T) {
	for _, apart := range []bool{false, true} {
		in := bondedZones(load("db", 1000, ofApp("db")), load("web", 7900, ofApp("web"), bondedTo("db", false)), false)
		for _, n := range in.Nodes[2:] {
			n.Node.Annotations[v1.DoNotDisruptAnnotationKey] = "true"
		}
		if apart { // it stays away from pods in zone b
			bondedTo("db", true)(in.Nodes[2].Pods[0])
		}
		opts := &disruption.Options{Consolidation: disruption.ConsolidationOptions{MinimumScore: -1, NoReplacements: true}}
		p := propose(t, in, opts)
		require.Equal(t, !apart, moves(p, "db"), "%v %v", p.Actions, p.Blocked)
		for _, a := range p.Actions {
			objections := objectionsTo(t, noon, in, a, opts)
			require.Empty(t, objections)
		}
	}
}
