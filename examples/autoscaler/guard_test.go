package main

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/cloudprovider/guard"
)

// broken panics in every call: the provider in it is nil.
type broken struct {
	cloudprovider.CloudProvider
	cloudprovider.DriftDetector
	cloudprovider.InterruptionSource
	cloudprovider.InterruptionAcknowledger
}

// TestLoopSurvivesPanics plays with a provider that panics in every call for its
// first ten minutes: nothing comes up, and then everything does.
func TestLoopSurvivesPanics(t *testing.T) {
	var out bytes.Buffer
	s, err := newSimulation(1, &out, true)
	require.NoError(t, err)
	s.events = nil
	cloud := s.autoscaler.Cloud
	s.autoscaler.Cloud = guard.New(broken{})
	require.NoError(t, s.play(t.Context(), 10*time.Minute))
	require.Contains(t, out.String(), "the provider panicked: ")
	require.Empty(t, s.cluster.Nodes.All())
	require.NotZero(t, s.history.waiting)

	s.autoscaler.Cloud = cloud
	require.NoError(t, s.play(t.Context(), 20*time.Minute))
	require.NotEmpty(t, s.cluster.Nodes.All())
	require.Zero(t, s.history.waiting)
}
