package report

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/internal/golden"
	"github.com/dovetail-sdk/dovetail/provisioning/advice"
)

func spread(object string) advice.Constraint {
	return advice.Constraint{Kind: advice.KindTopologySpread, Object: object, Field: "spec.topologySpreadConstraints[0]", Text: "over zones", Pods: 3}
}

// Prices that find pods a place come first and have no bounds; the others say how far the
// optimum may be.
func TestFigures(t *testing.T) {
	r := NewAdvice(&advice.Report{Cost: 2, LowerBound: 1.6, Nodes: 4, Pods: 9, Free: 1, Prices: []advice.Price{
		{Constraints: []advice.Constraint{spread("shop/web")}, Saves: -0.25, Placed: []string{"shop/web-1", "shop/web-2"}},
		{Constraints: []advice.Constraint{spread("shop/db")}, Saves: 0.5, AtLeast: 0.1, AtMost: 0.9},
	}}, nil)
	require.Equal(t, 0.25, *r.Cost.Gap)
	require.Equal(t, "+2, 0.2500 USD/h more", r.figure(r.Prices[0]))
	require.Equal(t, "shop/web-1 among them", r.Prices[0].about())
	require.Equal(t, "0.5000 (25.0%)", r.figure(r.Prices[1]))
	require.Equal(t, "between 0.1000 and 0.9000 at the optimum", r.Prices[1].about())
	text := r.Format(nil)
	golden.Fits(t, text)
	require.Less(t, strings.Index(text, "PODS THAT FIND A PLACE"), strings.Index(text, "USD/H LESS"))
	require.Contains(t, text, "1 constraint costs nothing.")
	require.Contains(t, r.Lines(nil)[0], "2 pods more find a place")
}

// What was not asked is told apart: requests, and constraints that promised less.
func TestNotAsked(t *testing.T) {
	r := NewAdvice(&advice.Report{NotAsked: []advice.Constraint{
		spread("shop/web"), {Kind: advice.KindRequest, Object: "shop/db", Text: "cpu"}, {Kind: advice.KindRequest, Object: "shop/api", Text: "memory"},
	}}, nil)
	require.Equal(t, "No constraint costs anything. 1 constraint was not asked about, as others promised more. What less of a request is worth was not asked of 2 more, "+
		"such as cpu of shop/db. Ask more.", r.rest(Hints{NotAsked: "Ask more."}))
	require.Nil(t, r.Cost.Gap, "there is no bound")
	require.Equal(t, "No constraint costs anything, of 2 that were asked about.", NewAdvice(&advice.Report{Free: 2}, nil).rest(Hints{}))
}
