package main

import (
	"bytes"
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
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

// bare has no ability at all.
type bare struct{ cloudprovider.CloudProvider }

// calls are all that the loop asks of a provider.
func calls(p cloudprovider.CloudProvider) map[string]func() error {
	ctx := context.Background()
	return map[string]func() error{
		"InstanceTypes": func() error { _, err := p.InstanceTypes(ctx, nil); return err },
		"Create":        func() error { _, err := p.Create(ctx, cloudprovider.LaunchRequest{}); return err },
		"Delete":        func() error { return p.Delete(ctx, "") },
		"Get":           func() error { _, err := p.Get(ctx, ""); return err },
		"List":          func() error { _, err := p.List(ctx); return err },
		"IsDrifted":     func() error { _, err := cloudprovider.IsDrifted(ctx, p, &v1.NodeClaim{}); return err },
		"Interruptions": func() error { _, err := cloudprovider.Interruptions(ctx, p); return err },
		"Acknowledge":   func() error { return cloudprovider.Acknowledge(ctx, p, cloudprovider.Interruption{ID: "1"}) },
	}
}

func TestPanicsBecomeErrors(t *testing.T) {
	for _, value := range []any{"out of cheese", errors.New("out of cheese")} {
		for op, call := range calls(guarded{broken{value}}) {
			err := call()
			require.EqualError(t, err, op+": the provider panicked: out of cheese")
			require.Equal(t, cloudprovider.KindUnknown, cloudprovider.KindOf(err), "what was asked for may have happened")
			var p *panicked
			require.ErrorAs(t, err, &p)
			require.Contains(t, string(p.stack), "broken", "the stack is that of the panic")
		}
	}
}

// TestGuardHidesNothing holds that a provider without abilities does not seem to
// have them.
func TestGuardHidesNothing(t *testing.T) {
	c := calls(guarded{bare{}})
	require.ErrorIs(t, c["Interruptions"](), errors.ErrUnsupported)
	require.NoError(t, c["IsDrifted"]())
	require.NoError(t, c["Acknowledge"]())
	require.Empty(t, cloudprovider.Name(guarded{bare{}}))
}

// TestLoopSurvivesPanics plays with a provider that panics in every call for its
// first ten minutes: nothing comes up, and then everything does.
func TestLoopSurvivesPanics(t *testing.T) {
	var out bytes.Buffer
	s, err := newSimulation(1, &out, true)
	require.NoError(t, err)
	s.events = nil
	cloud := s.autoscaler.cloud
	s.autoscaler.cloud = guarded{broken{"out of cheese"}}
	require.NoError(t, s.play(t.Context(), 10*time.Minute))
	require.Contains(t, out.String(), "the provider panicked: out of cheese")
	require.Empty(t, s.cluster.nodes.all())
	require.NotZero(t, s.history.waiting)

	s.autoscaler.cloud = cloud
	require.NoError(t, s.play(t.Context(), 20*time.Minute))
	require.NotEmpty(t, s.cluster.nodes.all())
	require.Zero(t, s.history.waiting)
}
