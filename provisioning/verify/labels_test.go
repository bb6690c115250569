package verify_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/scenes"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
	"github.com/dovetail-sdk/dovetail/provisioning/resources"
	"github.com/dovetail-sdk/dovetail/provisioning/verify"
)

func TestNewNodeLabels(t *testing.T) {
	selects := func(selector map[string]string) func(*scene) {
		return func(s *scene) { s.Night.Spec.NodeSelector = selector }
	}
	terms := func(terms ...corev1.NodeSelectorTerm) func(*scene) {
		return func(s *scene) {
			s.Night.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
				RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: terms},
			}}
		}
	}
	on := func(key string, op corev1.NodeSelectorOperator, values ...string) corev1.NodeSelectorTerm {
		return corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: key, Operator: op, Values: values}}}
	}
	asks := func(text string) func(*scene) {
		return func(s *scene) { s.Second().Requirements = requirements.MustParse(text) }
	}
	onOpen := func(s *scene) {
		s.Second().Options = scenes.Options(s.Open)
		s.Plan.Cost += 0.05
	}
	broken := rules(verify.RuleRequirements)
	judge(t, []verdict{
		{"zone", selects(map[string]string{corev1.LabelTopologyZone: "a"}), broken, "refuses option small/b/spot, which may come up with topology.kubernetes.io/zone=b (so do 2"},
		{"zone by its old name", selects(map[string]string{corev1.LabelFailureDomainBetaZone: "a"}), broken, "failure-domain.beta.kubernetes.io/zone=b"},
		{"region by its old name", selects(map[string]string{corev1.LabelFailureDomainBetaRegion: "r"}), nil, ""},
		{"instance type", selects(map[string]string{corev1.LabelInstanceTypeStable: "small"}), nil, ""},
		{"pool, class and state", selects(map[string]string{
			v1.NodePoolLabelKey: "batch", "example.com/nodeclass": "default", v1.NodeInitializedLabelKey: "true", v1.NodeRegisteredLabelKey: "true",
		}), nil, ""},
		{"other pool", selects(map[string]string{v1.NodePoolLabelKey: "general"}), broken, ""},
		{"label that nobody gives", selects(map[string]string{"moon": "full"}), broken, "no moon"},
		{"label that only Requirements give", all(selects(map[string]string{"moon": "full"}), asks("team = red, moon = full")),
			broken, `cannot agree on label moon: option does not name it, NodePool does not name it, Requirements says "moon = full"`},
		{"host name of an existing node", selects(map[string]string{corev1.LabelHostname: "old"}), broken, ""},
		{"name of an existing node", terms(corev1.NodeSelectorTerm{MatchFields: []corev1.NodeSelectorRequirement{
			{Key: "metadata.name", Operator: corev1.NodeSelectorOpIn, Values: []string{"old"}},
		}}), broken, ""},
		{"not an existing node", terms(corev1.NodeSelectorTerm{MatchFields: []corev1.NodeSelectorRequirement{
			{Key: "metadata.name", Operator: corev1.NodeSelectorOpNotIn, Values: []string{"old"}},
		}}), nil, ""},
		{"one term of two", terms(on("moon", corev1.NodeSelectorOpExists), on(corev1.LabelTopologyZone, corev1.NodeSelectorOpExists)), nil, ""},
		{"a term for each zone", terms(on(corev1.LabelTopologyZone, corev1.NodeSelectorOpIn, "a"), on(corev1.LabelTopologyZone, corev1.NodeSelectorOpIn, "b")), nil, ""},
		{"empty term", terms(corev1.NodeSelectorTerm{}), broken, ""},
		{"no terms", terms(), broken, ""},
		{"unreadable term", terms(on("team", "Near", "red")), broken, ""},
		{"absent label", terms(on("moon", corev1.NodeSelectorOpDoesNotExist), on("moon", corev1.NodeSelectorOpNotIn, "full")), nil, ""},
		{"label that must be absent", terms(on("team", corev1.NodeSelectorOpDoesNotExist)), broken, "team=red"},
		{"value left open", asks("team in (red, green), example.org/line = night"), broken, "team=green"},
		{"any value left open", asks("team, example.org/line = night"), broken, "team=(any other value)"},
		{"other value asked for", asks("team = green, example.org/line = night"), broken, "team=green"},
		{"wider than the pool", func(s *scene) { s.First().Requirements = requirements.Set{} }, broken,
			`its Requirements lack "kubernetes.io/arch = amd64" of NodePool general`},
		{"wider than the pool in one key", func(s *scene) {
			s.First().Requirements = requirements.MustParse("kubernetes.io/arch in (amd64, arm64)")
		}, broken,
			`"kubernetes.io/arch in (amd64, arm64)" is wider than "kubernetes.io/arch = amd64"`},
		{"against the pool's label", asks("team = red, example.org/line = day"), broken, "example.org/line"},
		{"system left open", all(onOpen, selects(map[string]string{"team": "red", corev1.LabelOSStable: "linux"})), broken, "kubernetes.io/os=windows"},
		{"system settled", all(onOpen, selects(map[string]string{"team": "red", corev1.LabelOSStable: "linux"}),
			asks("team = red, kubernetes.io/os = linux")), nil, ""},
		{"systems at odds", all(onOpen, func(s *scene) {
			other := s.Night.DeepCopy()
			s.Night.Spec.NodeSelector[corev1.LabelOSStable] = "linux"
			other.Name, other.Spec.NodeSelector[corev1.LabelOSStable] = "night-2", "windows"
			s.In.Pods = append(s.In.Pods, other)
			s.Plan.Stats.Pods++
			s.Second().Pods = append(s.Second().Pods, other)
			s.Second().Requests = resources.MustParse("cpu=2, memory=2Gi, pods=2")
			s.Reorder()
		}), broken, "default/night-2: its node selection refuses option open/a/spot, which may come up with"},
		{"system the type does not have", asks("team = red, kubernetes.io/os = windows"), broken, "cannot agree on label kubernetes.io/os"},
		{"number above bound", all(asks("team > 5"), func(s *scene) { s.Night.Spec.NodeSelector = nil }, terms(on("team", corev1.NodeSelectorOpGt, "5"))), nil, ""},
		{"number too low", all(asks("team > 4"), func(s *scene) { s.Night.Spec.NodeSelector = nil }, terms(on("team", corev1.NodeSelectorOpGt, "5"))), broken, "team=5"},
		{"well-known label nobody names", func(s *scene) {
			s.Small.Requirements = s.Small.Requirements.Without(corev1.LabelWindowsBuild)
			s.Night.Spec.NodeSelector[corev1.LabelWindowsBuild] = "10"
			s.Second().Requirements = s.Second().Requirements.With(requirements.In(corev1.LabelWindowsBuild, "10"))
		}, nil, ""},
		{"well-known label nobody settles", func(s *scene) {
			s.Small.Requirements = s.Small.Requirements.Without(corev1.LabelWindowsBuild)
			s.Night.Spec.NodeSelector[corev1.LabelWindowsBuild] = "10"
		}, broken, "node.kubernetes.io/windows-build=(any other value)"},
	})
}
