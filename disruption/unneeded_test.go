package disruption_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/disruption"
)

// sparse returns four nodes with a pod each. Any one of the nodes has room for all four pods.
func sparse() disruption.Input {
	_, medium, _, all := sizes()
	return fleetOf(all, machine("a", "default", medium, load("a", 900)), machine("b", "default", medium, load("b", 800)),
		machine("c", "default", medium, load("c", 700)), machine("d", "default", medium, load("d", 600)))
}

// TestUnneeded: budgets and consolidateAfter keep no node back, unless they keep all for good.
func TestUnneeded(t *testing.T) {
	for name, row := range map[string]struct {
		edit     func(in *disruption.Input)
		proposed int // nodes that may go now
		want     []string
	}{
		"all that may go now": {edit: func(in *disruption.Input) {}, proposed: 3, want: []string{"a", "b", "c"}},
		"also what budgets hold back": {edit: func(in *disruption.Input) { budgetOf("1")(in.NodePools[0]) },
			proposed: 1, want: []string{"a", "b", "c"}},
		"also what consolidateAfter holds back": {edit: func(in *disruption.Input) {
			in.NodePools[0].Spec.Disruption.ConsolidateAfter = v1.NewDuration(time.Hour)
			in.PodEvents = map[string]time.Time{"a": noon, "b": noon, "c": noon, "d": noon}
		}, want: []string{"a", "b", "c"}},
		"nothing where budgets let nothing go": {edit: func(in *disruption.Input) { budgetOf("0")(in.NodePools[0]) }},
		"nothing where consolidateAfter is Never": {edit: func(in *disruption.Input) {
			in.NodePools[0].Spec.Disruption.ConsolidateAfter = v1.NillableDuration{}
			require.NoError(t, in.NodePools[0].Spec.Disruption.ConsolidateAfter.UnmarshalJSON([]byte(`"Never"`)))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			in := sparse()
			row.edit(&in)
			p := propose(t, in, nil)
			gone := 0
			for _, a := range p.Actions {
				gone += len(a.Targets)
			}
			require.Equal(t, row.proposed, gone)
			unneeded, err := observe(t, in, nil).Unneeded(t.Context())
			require.NoError(t, err)
			require.Equal(t, row.want, unneeded)
		})
	}
}

// TestUnneededAsksWhatProposeAsks: the options are those of Propose, also where a negative value says
// that there is no limit.
func TestUnneededAsksWhatProposeAsks(t *testing.T) {
	_, medium, _, _ := sizes()
	large := sizedType("large", 8, 0.3)
	in := fleetOf([]*cloudprovider.InstanceType{medium, large}, machine("n1", "default", large, load("a", 3000)))
	for score, want := range map[float64][]string{0: nil, -1: {"n1"}} { // a third of the cost is less than the default asks for
		opts := &disruption.Options{Consolidation: disruption.ConsolidationOptions{MinimumScore: score}}
		require.Len(t, propose(t, in, opts).Actions, len(want))
		unneeded, err := observe(t, in, opts).Unneeded(t.Context())
		require.NoError(t, err)
		require.Equal(t, want, unneeded)
	}
}

func TestUnneededEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := observe(t, sparse(), nil).Unneeded(ctx)
	require.ErrorIs(t, err, context.Canceled)
}

// A budget lets one node go at a time. The others that will follow are known already, and new pods
// should not go there.
func ExampleCluster_Unneeded() {
	in := sparse()
	in.NodePools[0].Spec.Disruption.Budgets = []v1.Budget{{Nodes: "1"}}
	cluster := look(in, nil)
	unneeded, err := cluster.Unneeded(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(unneeded)
	for _, t := range cluster.SoftTaints(unneeded...) {
		fmt.Println(t.Node.Name, t.EditNode().Spec.Taints[0].Effect)
	}
	// Output:
	// [a b c]
	// a PreferNoSchedule
	// b PreferNoSchedule
	// c PreferNoSchedule
}
