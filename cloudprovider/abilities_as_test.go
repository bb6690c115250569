package cloudprovider_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// rebooting restarts machines.
type rebooting struct{ cloudprovider.CloudProvider }

func (rebooting) Reboot(_ context.Context, id, _ string) error {
	return fmt.Errorf("reboot of %s", id)
}

// guarded stands before the Rebooter within it, if there is one.
type guarded struct{ cloudprovider.CloudProvider }

func (g guarded) Unwrap() cloudprovider.CloudProvider { return g.CloudProvider }

func (g guarded) As(target any) bool {
	t, wanted := target.(*cloudprovider.Rebooter)
	if !wanted {
		return false
	}
	inner, found := cloudprovider.As[cloudprovider.Rebooter](g.CloudProvider)
	if found {
		*t = guard{inner}
	}
	return found
}

type guard struct{ cloudprovider.Rebooter }

func (g guard) Reboot(ctx context.Context, id, operation string) error {
	return fmt.Errorf("guarded %w", g.Rebooter.Reboot(ctx, id, operation))
}

// A wrapper may offer an ability only where what it wraps has it.
func TestWrapperOffersAbility(t *testing.T) {
	for _, test := range []struct {
		name     string
		provider cloudprovider.CloudProvider
		want     string
	}{
		{"there", guarded{rebooting{}}, "guarded reboot of i-1"},
		{"twice", guarded{guarded{rebooting{}}}, "guarded guarded reboot of i-1"},
		{"behind another wrapper", guarded{struct{ rebooting }{}}, "guarded reboot of i-1"},
	} {
		t.Run(test.name, func(t *testing.T) {
			require.EqualError(t, cloudprovider.Reboot(t.Context(), test.provider, "i-1", "op"), test.want)
		})
	}
	err := cloudprovider.Reboot(t.Context(), guarded{guarded{nil}}, "i-1", "op")
	require.Equal(t, cloudprovider.KindUnsupported, cloudprovider.KindOf(err), "absent within, absent without")
	_, found := cloudprovider.As[cloudprovider.DriftDetector](guarded{rebooting{}})
	require.False(t, found)
}
