package provisioning_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/dovetail-sdk/dovetail/provisioning"
)

// staticPod makes a pod on a node, with annotations in pairs.
func staticPod(name string, annotations ...string) *corev1.Pod {
	pod := shopPod(name, "cpu=100m")
	pod.Annotations = map[string]string{}
	for i := 0; i < len(annotations); i += 2 {
		pod.Annotations[annotations[i]] = annotations[i+1]
	}
	return pod
}

func staticOwned(kind string, pod *corev1.Pod) *corev1.Pod {
	controller := true
	pod.OwnerReferences = []metav1.OwnerReference{{Kind: kind, Name: "owner", Controller: &controller}}
	return pod
}

func staticRanked(priority int32, pod *corev1.Pod) *corev1.Pod {
	pod.Spec.Priority = &priority
	return pod
}

const (
	staticDoNotDisrupt   = "karpenter.sh/do-not-disrupt"
	staticDisruptionCost = "karpenter.sh/disruption-cost"
	staticDeletionCost   = "controller.kubernetes.io/pod-deletion-cost"
)

func TestStaticPoolRemove(t *testing.T) {
	aged := func(n provisioning.Node, seconds int64) provisioning.Node {
		n.NodeClaim.CreationTimestamp = metav1.Unix(seconds, 0)
		return n
	}
	gone := func(pod *corev1.Pod) *corev1.Pod {
		pod.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)}
		return pod
	}
	finished := func(pod *corev1.Pod) *corev1.Pod {
		pod.Status.Phase = corev1.PodSucceeded
		return pod
	}
	annotated := func(n provisioning.Node) provisioning.Node {
		n.Node.Annotations = map[string]string{staticDoNotDisrupt: "true"}
		return n
	}
	unclaimed := func(name string, seconds int64) provisioning.Node {
		n := provisioning.Node{Node: staticNode("web", name).Node}
		n.Node.CreationTimestamp = metav1.Unix(seconds, 0)
		return n
	}
	tests := []struct {
		name  string
		nodes []provisioning.Node // in the order wanted
	}{
		{"nodes without claims", []provisioning.Node{unclaimed("b", 10), unclaimed("a", 20)}},
		{"the turns", []provisioning.Node{
			staticClaim("web", "z"),
			staticNode("web", "y", staticOwned("DaemonSet", staticPod("d"))),
			staticNode("web", "x", staticPod("p")),
			staticNode("web", "w", staticOwned("DaemonSet", staticPod("d", staticDoNotDisrupt, "true"))),
		}},
		{"a launched claim without a node has had its turn", []provisioning.Node{
			staticClaim("web", "z"),
			func() provisioning.Node {
				n := staticClaim("web", "a")
				n.NodeClaim.Status.ProviderID = "fake:///a"
				return n
			}(),
		}},
		{"pods that make no difference", []provisioning.Node{
			staticNode("web", "a", finished(staticPod("p"))),
			staticNode("web", "b", gone(staticPod("p", staticDoNotDisrupt, "true"))),
			staticNode("web", "c", staticOwned("Node", staticPod("p"))),
			staticNode("web", "d", staticPod("p", corev1.MirrorPodAnnotationKey, "hash")),
			staticNode("web", "e", staticOwned("DaemonSet", staticRanked(1<<30, staticPod("p")))),
			staticNode("web", "f", nil...),
			staticNode("web", "g", staticOwned("ReplicaSet", staticPod("p"))),
		}},
		{"the annotation", []provisioning.Node{
			staticNode("web", "y", staticPod("p", staticDoNotDisrupt, "false")),
			staticNode("web", "z", staticPod("p", staticDoNotDisrupt, "-1h"), staticPod("q")),
			annotated(staticNode("web", "a")),
			staticNode("web", "b", staticPod("p", staticDoNotDisrupt, "1h")),
			annotated(staticNode("web", "c", staticPod("p"), staticPod("q"))),
		}},
		{"the cost", []provisioning.Node{
			staticNode("web", "k", staticPod("p", staticDeletionCost, "-2147483648")), // -10
			staticNode("web", "j", staticPod("p", staticDeletionCost, "-268435456")),  // -1
			staticNode("web", "i", staticRanked(-1<<25, staticPod("p"))),              // 0
			staticNode("web", "h", staticPod("p")),                                    // 1
			staticNode("web", "g", staticPod("p", staticDisruptionCost, "1.5", staticDeletionCost, "268435456"), staticPod("q", staticDeletionCost, "-67108864")), // 1.5
			staticNode("web", "f", staticRanked(1<<25, staticPod("p"))),                                                                  // 2
			staticNode("web", "e", staticPod("p"), staticPod("q"), staticPod("r")),                                                       // 3
			staticNode("web", "d", staticPod("p", staticDisruptionCost, "402653184", staticDeletionCost, "-268435456")),                  // 4
			staticNode("web", "c", staticPod("p", staticDisruptionCost, "2147483647"), staticPod("q", staticDeletionCost, "-134217728")), // 10
			staticNode("web", "b", staticRanked(math.MaxInt32, staticPod("p")), staticRanked(math.MaxInt32, staticPod("q"))),             // 20
		}},
		{"age, then name", []provisioning.Node{
			aged(staticNode("web", "b", staticPod("p")), 10),
			aged(staticNode("web", "c", staticPod("p")), 10),
			aged(staticNode("web", "a", staticPod("p")), 20),
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var want []string
			for _, n := range test.nodes {
				want = append(want, n.Name())
			}
			require.Equal(t, want, staticOnly(t, staticPool("web", 0), test.nodes...).Remove)
			require.Equal(t, want[:1], staticOnly(t, staticPool("web", int64(len(want)-1)), test.nodes...).Remove)
		})
	}
}
