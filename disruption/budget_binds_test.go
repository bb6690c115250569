package disruption_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/disruption"
)

// Nodes could become one that is cheaper than they are together, but the budget lets fewer
// go. It is what keeps them, and no price: fewer have no cheaper place. The reason says so
// whichever search comes upon them.
func TestTheBudgetThatKeepsNodesFromGoingTogether(t *testing.T) {
	pair := []*cloudprovider.InstanceType{sized("c.2", 2, 0.2), sized("c.4", 4, 0.3), sized("c.3", 3, 0.25)}
	five := []*cloudprovider.InstanceType{sized("c.2", 2, 0.12), sized("c.10", 10, 0.5), sized("c.1", 1, 0.06)}
	const one = "n0, n1 would save 0.1 USD/h together, and budgets[0] of NodePool \"web\" lets 1 node go"
	for _, tt := range []struct {
		name         string
		types        []*cloudprovider.InstanceType // the first is that of the small nodes, the last that of the others
		small, other int
		ample, tight string // budgets
		want         string
	}{
		{"all sets", pair, 2, 1, "2", "20%", one},
		{"neighbours", pair, 2, 8, "2", "1", one},
		{"many at once", five, 5, 8, "5", "4", "n0, n1, n2, n3 and 1 more would save 0.1 USD/h together, and budgets[0] of NodePool \"web\" lets 4 nodes go"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			scene := func(budget string) *disruption.Proposal {
				in := roomyInput()
				in.InstanceTypes["web"], in.Nodes = tt.types, nil
				for i := range tt.small {
					cheap := func(p *corev1.Pod) {
						asking("950m")(p)
						p.Annotations = map[string]string{corev1.PodDeletionCost: "-134217728"}
					}
					in.Nodes = append(in.Nodes, roomy(fmt.Sprint("n", i), "c.2", 2, newPod(fmt.Sprint("a", i), cheap), newPod(fmt.Sprint("b", i), cheap)))
				}
				last := tt.types[len(tt.types)-1]
				room := last.Capacity.ResourceList()
				for i := range tt.other { // full, of a type that their pods select
					cpu := room.Cpu().Value()
					pod := newPod(fmt.Sprint("c", i), asking(fmt.Sprintf("%d900m", cpu-1)))
					pod.Spec.NodeSelector = map[string]string{corev1.LabelInstanceTypeStable: last.Name}
					pod.Annotations = map[string]string{corev1.PodDeletionCost: "2147483647"}
					in.Nodes = append(in.Nodes, roomy(fmt.Sprint("other", i), last.Name, cpu, pod))
				}
				in.NodePools[0].Spec.Disruption.Budgets = newPool("web", budgetOf(budget)).Spec.Disruption.Budgets
				return propose(t, in, &disruption.Options{Consolidation: disruption.ConsolidationOptions{MinimumScore: -1}})
			}
			require.Len(t, scene(tt.ample).Actions, 1, "with all of them")
			p := scene(tt.tight)
			require.Empty(t, p.Actions)
			var said []string
			for _, b := range p.Blocked {
				if b.Method == disruption.MethodConsolidation && b.Code == disruption.CodeBudget {
					require.Equal(t, tt.want, b.Detail, b.Node)
					said = append(said, b.Node)
				}
			}
			require.Equal(t, []string{"n0", "n1", "n2", "n3", "n4"}[:tt.small], said)
		})
	}
}
