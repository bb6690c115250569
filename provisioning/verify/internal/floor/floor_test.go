package floor_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/provisioning/verify/internal/floor"
)

func TestOf(t *testing.T) {
	options := []floor.Option{{Price: 1, Room: []int64{4, 8, 0}}, {Price: 3, Room: []int64{16, 16, 0}}}
	require.Zero(t, floor.Of(nil, options))
	require.Zero(t, floor.Of([]int64{4, 8, 1}, nil))
	require.InDelta(t, 1.5, floor.Of([]int64{8, 8, 0}, options), 1e-9, "eight of the first resource, at 3 for 16")
	require.InDelta(t, 2, floor.Of([]int64{8, 16, 0}, options), 1e-9, "sixteen of the second, at 1 for 8")
	require.InDelta(t, 1.5, floor.Of([]int64{8, 8, 9}, options), 1e-9, "a resource that nobody has")
	require.Zero(t, floor.Of([]int64{8, 8, 0}, append(options, floor.Option{Room: []int64{1, 1, 1}})), "what is free")
}
