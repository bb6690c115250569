package disruption_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/disruption"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/verify"
)

// byDefault takes the topology spreads of pods away, and has pods without any be spread
// in the same way by default: what a default counts is deduced from a Service of each
// workload, or from its controller.
func byDefault(in *disruption.Input, byService bool) *provisioning.Options {
	apps := map[string]bool{}
	for _, n := range in.Nodes {
		for _, p := range n.Pods {
			app := p.Labels["app"]
			p.Spec.TopologySpreadConstraints = nil
			p.OwnerReferences[0].UID = types.UID(app)
			if apps[app] {
				continue
			}
			apps[app] = true
			if byService {
				in.Services = append(in.Services, &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: p.Namespace, Name: app},
					Spec: corev1.ServiceSpec{Selector: map[string]string{"app": app}}})
			} else {
				in.Controllers = append(in.Controllers, provisioning.Controller{UID: types.UID(app),
					Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}}})
			}
		}
	}
	return &provisioning.Options{DefaultSpread: []corev1.TopologySpreadConstraint{
		{MaxSkew: 1, TopologyKey: corev1.LabelTopologyZone, WhenUnsatisfiable: corev1.DoNotSchedule}}}
}

// Pods that are spread by default are treated as those that ask for it themselves.
func TestDefaultSpreadIsReadAsThatOfPods(t *testing.T) {
	acted := 0
	for seed := range 8 {
		for _, byService := range []bool{true, false} {
			own, other := uneven(seed), uneven(seed)
			want := propose(t, own, anySaving())
			opts := anySaving()
			opts.Provisioning = byDefault(&other, byService)
			got := propose(t, other, opts)
			require.Equal(t, text(t, want), text(t, got), "seed %d", seed)
			acted += len(got.Actions)
			for _, a := range got.Actions {
				require.Empty(t, standsAlone(other, a, opts.Provisioning), "seed %d: %s", seed, a)
			}
		}
	}
	require.Greater(t, acted, 16)
}

// Why names the spread that keeps a pod in its zone, also one by default.
func TestWhyNamesADefaultSpread(t *testing.T) {
	in := zonesOf(newPod("web-0", asking("500m"), ofApp("web")), newPod("web-1", asking("500m"), ofApp("web")))
	in.Nodes[0].Node.Annotations[v1.DoNotDisruptAnnotationKey] = "true"
	spare := zonesOf(newPod("spare", asking("10m"), ofApp("spare"))).Nodes[0] // it goes, beside which others keep their zones
	withLabel(corev1.LabelTopologyZone, "b")(&spare)
	spare.Node.Name, spare.NodeClaim.Name, spare.NodeClaim.Status.NodeName = "spare", "spare", "spare"
	spare.Pods[0].Spec.NodeName = "spare"
	in.Nodes = append(in.Nodes, spare)
	opts := anySaving()
	opts.Provisioning = byDefault(&in, true)
	opts.Provisioning.DefaultSpread[0].MaxSkew = 3
	p := propose(t, in, opts)
	stay, err := p.Explain(t.Context(), in.Nodes[0].Name())
	require.NoError(t, err)
	var rules []verify.Rule
	for _, pod := range stay.Pods {
		for _, b := range pod.Conflicts {
			require.Contains(t, b.Detail, "it stays where topology.kubernetes.io/zone is a")
			rules = append(rules, b.Rule)
		}
	}
	require.Equal(t, []verify.Rule{verify.RuleSpread}, rules, "the other pod may change its zone: %v", stay)
}
