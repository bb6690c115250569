package disruption_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
)

// TestQuestionsGrowWithPods counts what it allocates to ask about each of three nodes alone,
// whose pods are kept in their zones until then: less than three times as much where each has
// four times as many pods, and not sixteen times.
func TestQuestionsGrowWithPods(t *testing.T) {
	allocations := func(pods int) float64 {
		large := sizedType("large", 96, 4, onDemand("a", 4), onDemand("b", 4), onDemand("c", 4))
		in := fleetOf([]*cloudprovider.InstanceType{large})
		for _, zone := range []string{"a", "b", "c"} {
			n := with(machine("n-"+zone, "default", large), withLabel(corev1.LabelTopologyZone, zone))
			for i := range pods {
				p := load(fmt.Sprintf("%s-%03d", zone, i), 96_000/int64(pods), spreading("app", corev1.LabelTopologyZone))
				p.Spec.NodeName = n.Node.Name
				n.Pods = append(n.Pods, p)
			}
			in.Nodes = append(in.Nodes, n)
		}
		return testing.AllocsPerRun(2, func() {
			p := propose(t, in, nil)
			require.Empty(t, p.Actions)
			require.GreaterOrEqual(t, p.Stats.Simulations, 3)
		})
	}
	few, many := allocations(25), allocations(100)
	t.Log(few, many)
	require.Less(t, many, 3*few)
}
