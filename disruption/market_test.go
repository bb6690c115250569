package disruption_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/disruption"
)

// TestAMarketChangesNoAnswer passes the market on from proposal to proposal, and
// asks each time without as well.
func TestAMarketChangesNoAnswer(t *testing.T) {
	n := 30
	if testing.Short() || underRace {
		n = 5
	}
	used := 0
	for seed := range n {
		m := newMaker(uint64(7000 + seed))
		in, opts := m.mixed(12)
		now := noon
		for range 3 {
			with := propose(t, in, opts)
			in.Market = nil
			require.Equal(t, text(t, propose(t, in, opts)), text(t, with), "seed %d", seed)
			now = now.Add(3 * time.Hour)
			after, err := disruption.After(now, in, with.Actions, opts)
			require.NoError(t, err)
			if in = after; with.Market != nil {
				used++
			}
			in.Market = with.Market
		}
	}
	require.Greater(t, used, n/2)
}

// TestAMarketOfOtherPoolsIsNotUsed changes what a market is made from.
func TestAMarketOfOtherPoolsIsNotUsed(t *testing.T) {
	small, medium, large, all := sizes()
	input := func(types ...*cloudprovider.InstanceType) disruption.Input {
		return fleetOf(types, machine("n1", "default", large, load("a", 1500)), machine("n2", "default", large, load("b", 3900), load("c", 3900)))
	}
	in := input(all...)
	p := propose(t, in, anySaving())
	require.Equal(t, []string{"Underutilized n1 -> small saves 0.300"}, deeds(p.Actions))
	require.NotNil(t, p.Market)

	again := in
	again.Market = p.Market
	require.Equal(t, deeds(p.Actions), deeds(propose(t, again, anySaving()).Actions))
	require.Same(t, p.Market, propose(t, again, anySaving()).Market, "it is passed on")

	tests := []struct {
		name string
		in   disruption.Input
		want []string
	}{
		{"a type less", input(medium, large), []string{"Underutilized n1 -> medium saves 0.200"}},
		{"other prices", input(sizedType("small", 2, 0.39), medium, large), []string{"Underutilized n1 -> medium saves 0.200"}},
		{"a limit", func() disruption.Input {
			in := input(all...)
			in.NodePools[0].Spec.Limits = v1.Limits{corev1.ResourceCPU: *resource.NewQuantity(9, resource.DecimalSI)}
			return in
		}(), []string{}},
		{"a DaemonSet", func() disruption.Input {
			in := input(all...)
			in.DaemonSetPods = []*corev1.Pod{load("daemon", 1000)}
			in.Nodes[1].Pods = in.Nodes[1].Pods[:1]
			return in
		}(), []string{"Underutilized n1 ->  saves 0.400"}},
		{"a shortage", func() disruption.Input {
			in := input(all...)
			in.Shortages = []disruption.Shortage{{Offering: small.Offerings[0].Key("small"), At: noon}}
			return in
		}(), []string{"Underutilized n1 -> medium saves 0.200"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			want := propose(t, tt.in, anySaving())
			require.Equal(t, tt.want, deeds(want.Actions))
			tt.in.Market = p.Market
			require.Equal(t, text(t, want), text(t, propose(t, tt.in, anySaving())))
		})
	}
}

// The market of a proposal is for the next one, if the pools and catalogs are
// still the same objects.
func ExampleMarket() {
	small, _, large, all := sizes()
	in := fleetOf(all, machine("n1", "default", large, load("web", 1500)), machine("n2", "default", small, load("db", 1900)))
	for range 2 {
		p, err := disruption.Propose(context.Background(), noon, in, nil)
		if err != nil {
			panic(err)
		}
		fmt.Println(len(p.Actions), "actions with a market:", in.Market != nil)
		if in, err = disruption.After(noon, in, p.Actions, nil); err != nil {
			panic(err)
		}
		in.Market = p.Market
	}
	// Output:
	// 1 actions with a market: false
	// 0 actions with a market: true
}
