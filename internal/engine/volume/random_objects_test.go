package volume_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/dovetail-sdk/dovetail/internal/engine/volume"
	"github.com/dovetail-sdk/dovetail/internal/minors"
	"github.com/dovetail-sdk/dovetail/internal/testlong"
	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

type resourceQuantity = resource.Quantity

func pick[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }

// randomObjects makes a small cluster in which most things can happen, and do
// so often.
func randomObjects(r *rand.Rand) volume.Objects {
	list := []any{
		classOf("fast", ebs, allowed("zone", "a", "b")),
		classOf("free", ebs),
		classOf("local", "kubernetes.io/no-provisioner"),
		classOf("now", ebs, immediate),
	}
	affinities := [][]string{nil, {"zone = a"}, {"zone = b"}, {"zone in (a, b)"}, {"host = n1"}, {"host = n2"}, {"zone = a", "zone = b"},
		{"zone = a, host = n1", "zone = b"}, {"zone notin (a)"}, {"x > 3"}, {"!x"}, {}}
	for i := range 1 + r.IntN(6) {
		v := volumeOf(fmt.Sprintf("v%d", i), pick(r, "fast", "free", "local", "local"), capacity(pick(r, "5Gi", "10Gi", "20Gi")))
		if terms := pick(r, affinities...); terms != nil {
			on(terms...)(v)
		}
		if r.IntN(4) == 0 {
			oddTerm(r, v)
		}
		switch r.IntN(6) {
		case 0:
			labelled(zoneKey, pick(r, "a", "b", "a__b"))(v)
		case 1:
			reservedFor(pick(r, "c0", "c1", "other"))(v)
		case 2:
			v.Status.Phase = corev1.VolumeReleased
		}
		list = append(list, v)
	}
	for i := range 3 {
		c := claimOf(fmt.Sprintf("c%d", i), pick(r, "fast", "free", "local", "local", "now", "gone"), sized(pick(r, "4Gi", "8Gi", "16Gi")))
		switch r.IntN(8) {
		case 0, 1, 2:
			boundTo(fmt.Sprintf("v%d", r.IntN(6)))(c)
		case 3:
			c.Annotations[chosen] = pick(r, "n1", "n2")
		case 4:
			c.Spec.VolumeName = "v0"
		}
		list = append(list, c)
	}
	return objects(list...)
}

// oddTerm adds a term that is empty or faulty, or that asks about fields.
func oddTerm(r *rand.Rand, v *corev1.PersistentVolume) {
	expression := func(key string, op corev1.NodeSelectorOperator, values ...string) corev1.NodeSelectorTerm {
		return corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: key, Operator: op, Values: values}}}
	}
	field := func(key string, op corev1.NodeSelectorOperator, values ...string) corev1.NodeSelectorTerm {
		return corev1.NodeSelectorTerm{MatchFields: []corev1.NodeSelectorRequirement{{Key: key, Operator: op, Values: values}}}
	}
	if v.Spec.NodeAffinity == nil {
		v.Spec.NodeAffinity = &corev1.VolumeNodeAffinity{}
	}
	if v.Spec.NodeAffinity.Required == nil {
		v.Spec.NodeAffinity.Required = &corev1.NodeSelector{}
	}
	s := v.Spec.NodeAffinity.Required
	s.NodeSelectorTerms = append(s.NodeSelectorTerms, pick(r,
		corev1.NodeSelectorTerm{},
		expression("x", "Near", "1"),
		expression("x", corev1.NodeSelectorOpIn),
		expression("x", corev1.NodeSelectorOpGt, "two"),
		expression("x", corev1.NodeSelectorOpGt, "2"),
		expression("x", corev1.NodeSelectorOpExists, "2"),
		expression("not a key", corev1.NodeSelectorOpExists),
		expression("x", corev1.NodeSelectorOpNotIn, "2", "7"),
		field("metadata.name", corev1.NodeSelectorOpIn, "n1"),
		field("metadata.name", corev1.NodeSelectorOpIn, "n1", "n2"),
		field("metadata.uid", corev1.NodeSelectorOpIn, "n1"),
	))
}

// someLabels are those of nodes that the random clusters may have.
func someLabels() []map[string]string {
	var out []map[string]string
	for _, zone := range []string{"a", "b", "c"} {
		for _, host := range []string{"n1", "n2", "n3"} {
			for _, x := range []string{"", ",x=2", ",x=7"} {
				out = append(out, labelsOf("zone="+zone+",host="+host+x))
			}
		}
	}
	return out
}

func randomPod(r *rand.Rand) *corev1.Pod {
	names := []string{"c0", "c1", "c2"}
	r.Shuffle(3, func(i, j int) { names[i], names[j] = names[j], names[i] })
	return podOf(names[:1+r.IntN(3)]...)
}

func TestAgreesWithOracle(t *testing.T) {
	nodes := someLabels()
	schedulable, faulty, seeds := 0, 0, testlong.Seeds(2000, 6000)
	for seed := range uint64(seeds) {
		r := rand.New(rand.NewPCG(seed, 1))
		o := &oracle{randomObjects(r)}
		// Among volumes reserved for one claim the choice is not defined.
		if reservedTwice(o.Volumes) {
			continue
		}
		pod := randomPod(r)
		x, err := volume.New(o.Objects, nil, minors.Range{})
		require.NoError(t, err)
		n, err := x.Of(pod)
		if err != nil {
			faulty++
		} else {
			schedulable++
		}
		for _, labels := range nodes {
			node := labels[corev1.LabelHostname]
			want := o.admits(pod, node, labels)
			got := err == nil && x.Admits(&n, node, labels, false)
			require.Equal(t, want, got, "seed %d: node %v: %v", seed, labels, err)
			if err != nil || n.NodeName != "" && n.NodeName != node {
				continue
			}
			admitted := n.Alternatives == nil || slices.ContainsFunc(n.Alternatives, func(s requirements.Set) bool { return s.Matches(labels) })
			if len(n.Unbound) < 2 {
				require.Equal(t, got, admitted, "seed %d: node %v: %v", seed, labels, n.Alternatives)
			}
			require.True(t, admitted || !got, "seed %d: node %v: %v", seed, labels, n.Alternatives)
		}
	}
	require.Greater(t, schedulable, seeds/6)
	require.Greater(t, faulty, seeds/6)
}

func reservedTwice(volumes []*corev1.PersistentVolume) bool {
	seen := map[string]bool{}
	for _, v := range volumes {
		if ref := v.Spec.ClaimRef; ref != nil {
			if seen[ref.Name] {
				return true
			}
			seen[ref.Name] = true
		}
	}
	return false
}

func TestOrderOfObjectsDoesNotMatter(t *testing.T) {
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 2))
		o, pod := randomObjects(r), randomPod(r)
		want, wantErr := of(t, o, pod)
		for range 3 {
			shuffle(r, o.Claims)
			shuffle(r, o.Volumes)
			shuffle(r, o.Classes)
			got, err := of(t, o, pod)
			require.Equal(t, want, got, "seed %d", seed)
			require.Equal(t, wantErr, err, "seed %d", seed)
		}
	}
}

func shuffle[T any](r *rand.Rand, s []T) {
	r.Shuffle(len(s), func(i, j int) { s[i], s[j] = s[j], s[i] })
}

// of returns the answer in words.
func of(t *testing.T, o volume.Objects, pod *corev1.Pod) (needs, fault string) {
	t.Helper()
	x, err := volume.New(o, nil, minors.Range{})
	require.NoError(t, err)
	n, err := x.Of(pod)
	if err != nil {
		fault = err.Error()
	}
	return n.Key(), fault
}

func TestAlternativesAreSimple(t *testing.T) {
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 3))
		x, err := volume.New(randomObjects(r), nil, minors.Range{})
		require.NoError(t, err)
		n, err := x.Of(randomPod(r))
		if err != nil {
			require.NotContains(t, err.Error(), "\n")
			continue
		}
		var texts []string
		for _, s := range n.Alternatives {
			require.False(t, s.Impossible(), "seed %d", seed)
			require.NotZero(t, s.Len(), "seed %d", seed)
			texts = append(texts, s.String())
		}
		require.True(t, slices.IsSorted(texts), "seed %d: %v", seed, texts)
		require.Len(t, slices.Compact(slices.Clone(texts)), len(texts), "seed %d", seed)
	}
}

// A volume that nobody can use changes nothing for others.
func TestUnrelatedObjects(t *testing.T) {
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 4))
		o, pod := randomObjects(r), randomPod(r)
		want, wantErr := of(t, o, pod)
		o.Volumes = append(o.Volumes, volumeOf("unrelated", "unrelated", on("zone = c")))
		o.Claims = append(o.Claims, claimOf("unrelated", "unrelated"))
		o.Classes = append(o.Classes, classOf("unrelated", ebs))
		o.CSINodes = append(o.CSINodes, &storagev1.CSINode{ObjectMeta: o.Classes[0].ObjectMeta})
		got, err := of(t, o, pod)
		require.Equal(t, want, got, "seed %d", seed)
		require.Equal(t, wantErr, err, "seed %d", seed)
	}
}
