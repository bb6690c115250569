package nodeindex

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
)

func TestOf(t *testing.T) {
	node := func(name, id string) *corev1.Node {
		return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.NodeSpec{ProviderID: id}}
	}
	x := New([]*corev1.Node{nil, node("b", "1"), node("a", "1"), node("c", "2"), node("d", "")})
	for _, tt := range []struct{ why, name, id, want string }{
		{"nothing is known", "", "", ""},
		{"by name alone", "c", "", "c"},
		{"by ID alone", "", "2", "c"},
		{"both", "c", "2", "c"},
		{"the Node has no ID yet", "d", "7", "d"},
		{"the name is of another machine", "c", "7", ""},
		{"the name is of another machine, and the ID of a third", "c", "1", "a"},
		{"the ID is of another Node than the name", "d", "2", "c"},
		{"two Nodes have the ID", "", "1", "a"},
		{"two Nodes have the ID, one of them the name", "b", "1", "b"},
		{"the Node is gone", "gone", "9", ""},
	} {
		got := x.Of(&v1.NodeClaim{Status: v1.NodeClaimStatus{NodeName: tt.name, ProviderID: tt.id}})
		if tt.want == "" {
			require.Nil(t, got, tt.why)
			continue
		}
		require.NotNil(t, got, tt.why)
		require.Equal(t, tt.want, got.Name, tt.why)
	}
	require.Nil(t, Index{}.Of(&v1.NodeClaim{}), "the zero Index has no Nodes")
}
