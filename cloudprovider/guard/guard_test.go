package guard_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

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
func (b broken) Reboot(context.Context, string, string) error { panic(b.value) }
func (b broken) NodeClassReady(context.Context, v1.NodeClassReference) error {
	panic(b.value)
}

// bare has no ability at all.
type bare struct{ cloudprovider.CloudProvider }

// calls returns all calls of a provider, by name.
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
		"Reboot":        func() error { return cloudprovider.Reboot(ctx, p, "i", "op") },
		"NodeClassReady": func() error {
			return cloudprovider.NodeClassReady(ctx, p, v1.NodeClassReference{Group: "g", Kind: "k", Name: "n"})
		},
		"Acknowledge": func() error { return cloudprovider.Acknowledge(ctx, p, cloudprovider.Interruption{ID: "1"}) },
	}
}

func TestPanicsBecomeErrors(t *testing.T) {
	for _, value := range []any{"out of cheese", errors.New("out of cheese")} {
		for op, call := range calls(guard.New(broken{value})) {
			err := call()
			require.EqualError(t, err, op+": the provider panicked: out of cheese")
			require.Equal(t, cloudprovider.KindUnknown, cloudprovider.KindOf(err), "what was asked for may have happened")
			var p *guard.PanicError
			require.ErrorAs(t, err, &p)
			require.Contains(t, string(p.Stack), "broken", "the stack is that of the panic")
		}
	}
}

// TestGuardHidesNothing checks that a provider without abilities does not seem to
// have them.
func TestGuardHidesNothing(t *testing.T) {
	c := calls(guard.New(bare{}))
	require.ErrorIs(t, c["Interruptions"](), cloudprovider.ErrUnsupported)
	require.ErrorIs(t, c["IsDrifted"](), cloudprovider.ErrUnsupported)
	require.ErrorIs(t, c["Acknowledge"](), cloudprovider.ErrUnsupported)
	require.Equal(t, cloudprovider.Reboot(t.Context(), bare{}, "i", "op"), c["Reboot"]())
	require.NoError(t, c["NodeClassReady"](), "a provider that says nothing takes every class for ready")
	require.Empty(t, cloudprovider.Name(guard.New(bare{})))
}

func ExampleNew() {
	p := guard.New(broken{"out of cheese"})
	_, err := p.List(context.Background())
	fmt.Println(err)
	// Output: List: the provider panicked: out of cheese
}
