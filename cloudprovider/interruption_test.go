package cloudprovider_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// Notices are ordered by when they are for first, then by machine, kind and ID.
func TestInterruptionCompare(t *testing.T) {
	at := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	want := []cloudprovider.Interruption{
		{At: at, InstanceID: "i-2", Kind: "b", ID: "2"},
		{At: at.Add(time.Second), InstanceID: "i-1", Kind: "b", ID: "2"},
		{At: at.Add(time.Second), InstanceID: "i-2", Kind: "a", ID: "2"},
		{At: at.Add(time.Second), InstanceID: "i-2", Kind: "b", ID: "1"},
		{At: at.Add(time.Second), InstanceID: "i-2", Kind: "b", ID: "2"},
	}
	got := slices.Clone(want)
	slices.Reverse(got)
	slices.SortFunc(got, cloudprovider.Interruption.Compare)
	require.Equal(t, want, got)
	require.Zero(t, want[0].Compare(want[0]))
}
