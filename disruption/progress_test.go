package disruption_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/disruption"
	"github.com/dovetail-sdk/dovetail/provisioning/progress"
)

// The receiver gets the progress of the proposal, and not of the plans within it.
func TestProposeTellsHowFarItIs(t *testing.T) {
	var events []progress.Event
	ctx := progress.With(context.Background(), func(e progress.Event) { events = append(events, e) })
	p, _, err := disruption.Propose(ctx, noon, wasteful(), nil)
	require.NoError(t, err)

	asked, searched := 0, 0
	for _, e := range events {
		assert.Equal(t, "disruption.Propose", e.Work)
		switch e.Stage {
		case "what-ifs":
			asked = e.Done
		case "search":
			searched = e.Done
			assert.Equal(t, disruption.DefaultMaxSteps, e.Total)
		}
	}
	assert.Equal(t, p.Stats.Simulations, asked)
	assert.Equal(t, p.Stats.Steps, searched)
	assert.Equal(t, "disruption.Propose: rules", events[0].String())
}
