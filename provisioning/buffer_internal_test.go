package provisioning

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/internal/engine/model"
)

func TestSortedBuffers(t *testing.T) {
	var f model.Faults
	sorted := sortedBuffers([]Buffer{
		{Namespace: "b", Name: "x"}, {Namespace: "a", Name: "y", Replicas: 2}, {Namespace: "a", Name: "x"},
	}, &f)
	require.NoError(t, f.Err())
	var names []string
	for _, b := range sorted {
		names = append(names, b.Namespace+"/"+b.Name)
	}
	require.Equal(t, []string{"a/x", "a/y", "b/x"}, names)
}

func TestBufferFaults(t *testing.T) {
	var f model.Faults
	sortedBuffers([]Buffer{
		{Namespace: "shop", Name: "few", Replicas: -1},
		{Namespace: "shop"},
		{Namespace: "shop", Name: "many", Replicas: MaxBufferReplicas + 1},
		{Namespace: "shop", Name: "most", Replicas: MaxBufferReplicas},
		{Namespace: "shop", Name: "twice"},
		{Namespace: "other", Name: "twice"},
		{Namespace: "shop", Name: "twice"},
	}, &f)
	require.Equal(t, []string{
		`Buffer "shop/few": Replicas: is -1; use zero or more`,
		`Buffers[1]: Name: is empty; buffers are told apart by namespace and name`,
		`Buffer "shop/many": Replicas: is 150001; use at most 150000, or several buffers`,
		`Buffer "shop/twice": is listed twice in Buffers; list each buffer once`,
	}, strings.Split(f.Err().Error(), "\n"))
}
