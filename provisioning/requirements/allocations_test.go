package requirements_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/provisioning/requirements"
)

// numbered returns an In of n values, such as the zones or types of a catalog.
func numbered(n int) requirements.Requirement {
	values := make([]string, n)
	for i := range values {
		values[i] = fmt.Sprintf("value-%04d", i)
	}
	return requirements.In(key, values...)
}

func pairs() map[string][2]requirements.Requirement {
	return map[string][2]requirements.Requirement{
		"In1/In1":        {numbered(1), numbered(1)},
		"In3/In8":        {numbered(3), numbered(8)},
		"In8/NotIn3":     {numbered(8), requirements.NotIn(key, "value-0001", "value-0003", "other")},
		"In1/In700":      {requirements.In(key, "value-0600"), numbered(700)},
		"In700/In700":    {numbered(700), numbered(700)},
		"In8/Exists":     {numbered(8), requirements.Exists(key)},
		"In4/Gt":         {requirements.In(key, "2", "4", "8", "16"), requirements.Gt(key, 4)},
		"InWords/Gt":     {numbered(8), requirements.Gt(key, 4)},
		"Gt/Lt":          {requirements.Gt(key, 4), requirements.Lt(key, 64)},
		"Exists/Absent":  {requirements.Exists(key), requirements.DoesNotExist(key)},
		"NotIn3/NotIn3":  {requirements.NotIn(key, "a", "b", "c"), requirements.NotIn(key, "b", "c", "d")},
		"NotIn1/Between": {requirements.NotIn(key, "8"), requirements.Gt(key, 4).Intersect(requirements.Lt(key, 64))},
	}
}

func poolSet() requirements.Set {
	return requirements.MustParse("karpenter.sh/capacity-type in (on-demand, spot), karpenter.sh/nodepool = general, " +
		"kubernetes.io/arch = amd64, kubernetes.io/os = linux, karpenter.k8s.aws/ec2nodeclass = default, " +
		"karpenter.k8s.aws/instance-category in (c, m, r), karpenter.k8s.aws/instance-generation > 2, team")
}

func TestNoAllocations(t *testing.T) {
	for name, p := range pairs() {
		require.Zero(t, testing.AllocsPerRun(100, func() { p[0].Overlaps(p[1]) }), "Overlaps %s", name)
		require.Zero(t, testing.AllocsPerRun(100, func() { p[1].Overlaps(p[0]) }), "Overlaps %s reversed", name)
	}
	have, want, v := poolSet(), requirements.MustParse("kubernetes.io/arch = amd64, topology.kubernetes.io/zone in (us-east-1a, us-east-1b), "+
		"karpenter.k8s.aws/instance-generation > 4, team = shop, !gpu"), requirements.DefaultVocabulary()
	labels := map[string]string{"team": "shop", "kubernetes.io/arch": "amd64"}
	other := requirements.MustParse("kubernetes.io/arch = arm64, zone = a")
	require.Zero(t, testing.AllocsPerRun(100, func() {
		have.Compatible(want, v)
		have.Compatible(other, v)
		have.Compatible(want, requirements.EmptyVocabulary())
		want.Matches(labels)
	}))
	r := numbered(3)
	buffer := make([]byte, 0, 256)
	require.Zero(t, testing.AllocsPerRun(100, func() { buffer, _ = r.AppendText(buffer[:0]) }))
	require.LessOrEqual(t, testing.AllocsPerRun(100, func() { _ = r.String() }), 1.0)
}
