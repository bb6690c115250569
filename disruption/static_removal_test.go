package disruption_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/disruption"
	"github.com/dovetail-sdk/dovetail/provisioning"
)

// A static pool of two nodes that wants one gives up the one in want.
func TestWhichNodeAStaticPoolGivesUp(t *testing.T) {
	aged := func(age time.Duration) func(*provisioning.Node) {
		return func(n *provisioning.Node) {
			n.NodeClaim.CreationTimestamp = at(-age)
			n.NodeClaim.Spec.ExpireAfter = v1.NewDuration(720 * time.Hour)
		}
	}
	daemon := func(hold string) *corev1.Pod {
		return newPod("agent", owner("apps/v1", "DaemonSet"), note(v1.DoNotDisruptAnnotationKey, hold))
	}
	dear := newPod("a", note(v1.PodDeletionCostAnnotationKey, "2147483647"))
	ignoring := &disruption.Options{IgnorePodDeletionCost: true}
	for _, test := range []struct {
		name string
		opts *disruption.Options
		a, b provisioning.Node
		want string
	}{
		{"the one whose pods cost less", nil, newNode("a", "web", withPods(newPod("p"), newPod("q"))), newNode("b", "web", withPods(newPod("r"))), "b"},
		{"of equals the first by name", nil, newNode("a", "web", withPods(newPod("p"))), newNode("b", "web", withPods(newPod("r"))), "a"},
		{"of equals the older before that", nil, newNode("a", "web"), newNode("b", "web", aged(720*time.Hour)), "b"},
		{"a deletion cost counts", nil, newNode("a", "web", withPods(dear)), newNode("b", "web", withPods(newPod("b"))), "b"},
		{"unless it is ignored", ignoring, newNode("a", "web", withPods(dear)), newNode("b", "web", withPods(newPod("b"))), "a"},
		{"costs are less at the end of a lifetime", nil, newNode("a", "web", aged(time.Hour), withPods(newPod("p"))),
			newNode("b", "web", aged(719*time.Hour), withPods(newPod("q"), newPod("r"))), "b"},
		{"an empty one before others", nil, newNode("a", "web", aged(720*time.Hour), withPods(newPod("p"))), newNode("b", "web", aged(time.Hour)), "b"},
		{"what asks not to be disrupted goes last", nil, newNode("a", "web", withPods(daemon("61m"))), newNode("b", "web", withPods(newPod("p"), newPod("q"))), "b"},
		{"but not when the time has passed", nil, newNode("a", "web", withPods(newPod("p"), newPod("q"))), newNode("b", "web", withPods(daemon("1m"))), "b"},
		{"and so does a node that asks itself", nil, newNode("a", "web", func(n *provisioning.Node) {
			n.NodeClaim.Annotations[v1.DoNotDisruptAnnotationKey] = "true"
		}), newNode("b", "web", withPods(newPod("p"))), "b"},
		{"one without a machine before all", nil, newNode("a", "web"), newNode("b", "web", withPods(daemon("true")), func(n *provisioning.Node) {
			n.Node, n.NodeClaim.Status.ProviderID = nil, ""
		}), "b-claim"},
	} {
		t.Run(test.name, func(t *testing.T) {
			in := newInput(test.a, test.b)
			in.NodePools = []*v1.NodePool{newPool("web", replicas(1, 0))}
			require.Equal(t, []string{"Delete " + test.want}, brief(observe(t, in, test.opts).Actions(disruption.ScaledDown).Actions))
		})
	}
}
