package provisioning_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/scenes"
	"github.com/dovetail-sdk/dovetail/provisioning/verify"
)

// ready returns a node that takes pods.
func ready(name string, pods ...*corev1.Pod) provisioning.Node {
	labels := map[string]string{v1.NodeRegisteredLabelKey: "true", v1.NodeInitializedLabelKey: "true"}
	return provisioning.Node{Node: scenes.Node(name, labels), Pods: pods}
}

// TestNodesThatDifferByDaemonSets: of two nodes with equal labels one runs the pod of a DaemonSet
// that pods must be with. Such pods go there or to new nodes, whichever node comes first, and so
// whether or not there are pods that differ from them in this affinity alone.
func TestNodesThatDifferByDaemonSets(t *testing.T) {
	for _, with := range []string{"a", "b"} {
		for kinds := range 3 {
			in := scenes.Generic(0, 20)
			in.NodePools[0].Spec.Template.Labels = map[string]string{"agent": "true"}
			agent := scenes.Pod("agent", "100m", "64Mi")
			agent.Spec.NodeSelector = map[string]string{"agent": "true"}
			in.DaemonSetPods = []*corev1.Pod{agent}
			for _, name := range []string{"a", "b"} {
				node := ready(name)
				if name == with {
					running := agent.DeepCopy()
					running.Name, running.Spec.NodeName = "agent-x", name
					node.Pods = append(node.Pods, running)
					node.Node.Labels["agent"] = "true"
				}
				in.Nodes = append(in.Nodes, node)
			}
			for i := range 6 {
				pod := scenes.Pod(fmt.Sprintf("web-%d", i), "500m", "64Mi")
				pod.Labels = nil
				if kinds == 0 || i%2 == kinds-1 {
					scenes.Follow(pod, corev1.PodAffinityTerm{
						TopologyKey: corev1.LabelHostname, LabelSelector: &metav1.LabelSelector{MatchLabels: agent.Labels},
					})
				}
				in.Pods = append(in.Pods, pod)
			}
			plan := solved(t, in, nil)
			require.Empty(t, verify.Plan(in, plan, nil))
			require.Empty(t, plan.Unplaced)
			require.Equal(t, kinds == 0, len(plan.Create) > 0, "with the agent on %s, kinds %d", with, kinds)
		}
	}
}

// TestNodesThatShareAHostname: nodes with one hostname take no pods that are kept apart over it, and
// the node with a hostname of its own takes one, whichever comes first.
func TestNodesThatShareAHostname(t *testing.T) {
	for _, own := range []string{"a", "b", "c"} {
		in := provisioning.Input{}
		for _, name := range []string{"a", "b", "c"} {
			node := ready(name)
			if name != own {
				node.Node.Labels[corev1.LabelHostname] = "shared"
			}
			in.Nodes = append(in.Nodes, node)
		}
		for i := range 3 {
			pod := scenes.Pod(fmt.Sprintf("web-%d", i), "500m", "64Mi")
			pod.Labels = map[string]string{"team": "web"}
			scenes.Avoid(pod, scenes.AffinityTerm(corev1.LabelHostname, "web"))
			in.Pods = append(in.Pods, pod)
		}
		plan := solved(t, in, nil)
		require.Empty(t, verify.Plan(in, plan, nil))
		require.Len(t, plan.Bind, 1)
		require.Equal(t, own, plan.Bind[0].Node)
	}
}

// TestPodsThatFollowDifferentDaemonSets: pods that differ only in the DaemonSet whose pods they must
// be with get nodes of the pool on which that DaemonSet runs.
func TestPodsThatFollowDifferentDaemonSets(t *testing.T) {
	in := scenes.Generic(0, 20)
	types := in.InstanceTypes["default"]
	in.NodePools = nil
	for _, name := range []string{"red", "blue"} {
		pool := scenes.Pool(name)
		pool.Spec.Template.Labels = map[string]string{"agent": name}
		in.NodePools = append(in.NodePools, pool)
		in.InstanceTypes[name] = types
		agent := scenes.Pod("agent-"+name, "100m", "64Mi")
		agent.Spec.NodeSelector = map[string]string{"agent": name}
		in.DaemonSetPods = append(in.DaemonSetPods, agent)
		pod := scenes.Pod("with-"+name, "500m", "64Mi")
		pod.Labels = nil
		scenes.Follow(pod, corev1.PodAffinityTerm{
			TopologyKey: corev1.LabelHostname, LabelSelector: &metav1.LabelSelector{MatchLabels: agent.Labels},
		})
		in.Pods = append(in.Pods, pod)
	}
	require.Len(t, solvedInFull(t, in).Create, 2)
}
