package main

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/examples/internal/output"
)

// TestOutput holds what the program prints against the text that README.md shows.
func TestOutput(t *testing.T) { output.Check(t, main) }

// TestSecondPlan checks that the NodeClaims of a second plan, whose names begin anew, get
// machines of their own.
func TestSecondPlan(t *testing.T) {
	c := &cluster{meant: map[string][]*corev1.Pod{}}
	for _, step := range []func(context.Context) error{c.begin, c.provision, c.join} {
		require.NoError(t, step(t.Context()))
	}
	c.pods = append(c.pods, pods("batch", 4, "cpu=8, memory=16Gi")...)
	first := len(c.claims)
	require.NoError(t, c.provision(t.Context()))
	require.Greater(t, len(c.claims), first)
	machines, names := map[string]bool{}, map[string]bool{}
	for _, claim := range c.claims {
		machines[claim.Status.ProviderID], names[claim.Name] = true, true
	}
	require.Len(t, machines, len(c.claims))
	require.Len(t, names, len(c.claims))
}
