package main

import (
	"errors"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/disruption"
	"github.com/dovetail-sdk/dovetail/fake"
)

// TestDue has launches fail for good. A NodeClaim is given up in the turn of the
// loop in which its time is over, and not at the next look at the fleet.
func TestDue(t *testing.T) {
	s, err := newSimulation(1, io.Discard, false)
	require.NoError(t, err)
	s.events = nil
	require.NoError(t, s.cluster.Cloud.Script(fake.Fault{Op: fake.OpCreate, Err: errors.New("out of order")}))
	created := map[string]time.Time{}
	for length := tick; length <= 25*time.Minute; length += tick {
		require.NoError(t, s.play(t.Context(), length))
		now := s.cluster.Now()
		for _, claim := range s.cluster.Claims.All() {
			created[claim.Name] = claim.CreationTimestamp.Time
		}
		for name, since := range created {
			if _, there := s.cluster.Claims.Get(name); !there {
				require.InDelta(t, (5 * time.Minute).Seconds(), now.Sub(since).Seconds(), 2*tick.Seconds(), name)
				delete(created, name)
			}
		}
	}
	given := 0
	for _, d := range s.journal.disruptions {
		require.Equal(t, disruption.LaunchTimeout, d.reason)
		given += d.nodes
	}
	require.GreaterOrEqual(t, given, 3*len(s.cluster.Claims.All()))
	require.NotZero(t, given)
}
