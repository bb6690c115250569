package main

import (
	"bytes"
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/cloudprovider/guard"
)

// broken panics in whatever is asked of it, with an error or another value.
type broken struct{ value any }

func (b broken) InstanceTypes(context.Context, *v1.NodePool) ([]*cloudprovider.InstanceType, error) {
	panic(b.value)
}

func (b broken) Create(context.Context, cloudprovider.LaunchRequest) (*cloudprovider.Instance, error) {
	panic(b.value)
}
func (b broken) Delete(context.Context, string) error { panic(b.value) }
func (b broken) Get(context.Context, string) (*cloudprovider.Instance, error) {
	panic(b.value)
}
func (b broken) List(context.Context) ([]*cloudprovider.Instance, error) { panic(b.value) }
func (b broken) IsDrifted(context.Context, *v1.NodeClaim) (cloudprovider.Drift, error) {
	panic(b.value)
}
func (b broken) Interruptions(context.Context) ([]cloudprovider.Interruption, error) {
	panic(b.value)
}
func (b broken) Acknowledge(context.Context, ...string) error { panic(b.value) }

// TestLoopSurvivesPanics plays with a provider that panics in every call for its
// first ten minutes: nothing comes up, and then everything does.
func TestLoopSurvivesPanics(t *testing.T) {
	var out bytes.Buffer
	s, err := newSimulation(1, &out, true)
	require.NoError(t, err)
	s.events = nil
	cloud := s.autoscaler.Cloud
	s.autoscaler.Cloud = guard.New(broken{"out of cheese"})
	require.NoError(t, s.play(t.Context(), 10*time.Minute))
	require.Contains(t, out.String(), "the provider panicked: out of cheese")
	require.Empty(t, s.cluster.Nodes.All())
	require.NotZero(t, s.history.waiting)

	s.autoscaler.Cloud = cloud
	require.NoError(t, s.play(t.Context(), 20*time.Minute))
	require.NotEmpty(t, s.cluster.Nodes.All())
	require.Zero(t, s.history.waiting)
}
