package disruption_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/disruption"
	"github.com/dovetail-sdk/dovetail/provisioning"
)

func TestLeaving(t *testing.T) {
	gone := newNode("d", "web")
	gone.Node.DeletionTimestamp = new(at(0))
	unjoined := newNode("c", "web", deleted)
	unjoined.Node = nil
	nodes := []provisioning.Node{newNode("z", "web", deleted), newNode("stays", "web"), gone, unjoined, {},
		newNode("b", "web", withCondition(v1.ConditionTypeInstanceTerminating, metav1.ConditionTrue, 0)),
		newNode("b", "web", deleted), {Node: newNode("unmanaged", "web").Node}}
	require.Equal(t, []string{"b", "c-claim", "d", "z"}, disruption.Leaving(nodes))
	require.Empty(t, disruption.Leaving(nil))
	for seed := range uint64(50) {
		m := newMaker(seed)
		in, _ := m.input()
		require.Equal(t, disruption.Leaving(in.Nodes), disruption.Leaving(m.shuffle(in).Nodes))
	}
}

func ExampleLeaving() {
	goes := newNode("goes", "web")
	goes.NodeClaim.DeletionTimestamp = new(at(0))
	fmt.Println(disruption.Leaving([]provisioning.Node{newNode("stays", "web"), goes}))
	// Output:
	// [goes]
}
