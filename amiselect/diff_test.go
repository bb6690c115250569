package amiselect_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/amiselect"
)

// fleet makes nodes named prefix-0 and on, each a day younger than the last.
func fleet(pool, image string, count int) (out []amiselect.Node) {
	for n := range count {
		out = append(out, amiselect.Node{Name: fmt.Sprintf("%s-%d", pool, n), NodePool: pool, ImageID: image,
			InstanceType: m5, Created: date("2024-05-01").AddDate(0, 0, n)})
	}
	return out
}

func selections(t *testing.T) (old, next amiselect.Selection) {
	images := al2023("1.31", "20240605", "20240703", "20240807")
	return mustSelect(t, alias("al2023@v20240703"), images, on("1.31")), mustSelect(t, alias("al2023@v20240807"), images, on("1.31"))
}

func TestDiff(t *testing.T) {
	old, next := selections(t)
	nodes := fleet("a", "ami-x86std20240703", 4)
	nodes = append(nodes, fleet("b", "ami-x86std20240703", 2)...)
	nodes[3].ImageID = "ami-x86std20240605" // had drifted before
	nodes = append(nodes,
		amiselect.Node{Name: "settled", NodePool: "a", ImageID: "ami-x86std20240807", InstanceType: m5},
		amiselect.Node{Name: "unknown", NodePool: "a", InstanceType: m5},
		amiselect.Node{Name: "c-gpu", NodePool: "c", ImageID: "ami-x86std20240807", InstanceType: g5},
		amiselect.Node{Name: "c-typeless", NodePool: "c", ImageID: "ami-x86std20240703"})
	r, err := amiselect.Diff(old, next, nodes)
	require.NoError(t, err)
	var names []string
	for _, n := range r.Drifted {
		names = append(names, n.Name)
	}
	require.Equal(t, []string{"a-3", "a-0", "a-1", "a-2", "b-0", "b-1", "c-gpu", "c-typeless"}, names)
	require.Equal(t, []string{"settled"}, r.NoLongerDrifted)
	require.Equal(t, []string{"unknown"}, r.Unjudged)
	require.Empty(t, r.Kept)
	require.True(t, r.Drifted[0].Already)
	require.False(t, r.Drifted[1].Already)
	require.Equal(t, "ami-x86std20240807", r.Drifted[1].To.ID)
	require.Equal(t, amiselect.CodeRelease, r.Drifted[1].Explanation.Code)
	require.Equal(t, "ami-x86nvidia20240807", r.Drifted[6].To.ID, "an image of another variant is replaced")
	require.Empty(t, r.Drifted[7].To.ID, "the type is not known, nor what it boots")

	same, err := amiselect.Diff(old, old, fleet("a", "ami-x86std20240703", 1))
	require.NoError(t, err)
	require.Equal(t, amiselect.Difference{Kept: []string{"a-0"}}, same)

	// Nobody had drifted before there were terms.
	first, err := amiselect.Diff(amiselect.Selection{}, next, nodes[3:4])
	require.NoError(t, err)
	require.False(t, first.Drifted[0].Already)
}

func TestDiffFaults(t *testing.T) {
	_, err := amiselect.Diff(amiselect.Selection{}, amiselect.Selection{}, []amiselect.Node{{}, {Name: "a"}, {Name: "a"}})
	require.EqualError(t, err, `diff: the new selection is empty; an empty selection replaces nothing
nodes[0]: has no name
nodes[2]: "a" is listed twice; remove one`)
}
