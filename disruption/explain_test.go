package disruption_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/disruption"
	"github.com/dovetail-sdk/dovetail/provisioning/verify"
)

// apartBy keeps pods of an application apart over a label of nodes.
func apartBy(app, key string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Labels = map[string]string{"app": app}
		p.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{
			TopologyKey: key, LabelSelector: &metav1.LabelSelector{MatchLabels: p.Labels}}}}}
	}
}

func binding(port int32) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Spec.Containers[0].Ports = []corev1.ContainerPort{{HostPort: port, ContainerPort: port}}
	}
}

func withDisk(id string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Spec.Volumes = []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{
			AWSElasticBlockStore: &corev1.AWSElasticBlockStoreVolumeSource{VolumeID: id}}}}
	}
}

// keeping returns a full node, two with room where pods like that of the first node run,
// and one with room for nothing.
func keeping(edit func(*corev1.Pod)) disruption.Input {
	small, medium, _, all := sizes()
	pod := func(name string) *corev1.Pod {
		p := load(name, 1500)
		edit(p)
		return p
	}
	in := fleetOf(all, machine("n1", "default", small, pod("web-1")),
		machine("n2", "default", medium, pod("web-2"), load("x", 900)), machine("n3", "default", medium, pod("web-3"), load("y", 900)),
		machine("n4", "default", small, load("z", 2000)))
	for _, n := range in.Nodes[1:] {
		n.Node.Annotations[v1.DoNotDisruptAnnotationKey] = "true"
	}
	return in
}

// Of a node that new ones would not be cheaper than it is said on request which pod
// finds no room elsewhere, and why.
func TestWhyPodsFindNoOtherNode(t *testing.T) {
	tests := []struct {
		name string
		in   disruption.Input
		want string
	}{
		{"anti-affinity over nodes", keeping(apartBy("web", corev1.LabelHostname)),
			`Pod "shop/web-1" finds no place on 3 other nodes: 1 has no room, 2 have room
  n2: its anti-affinity excludes it from the domain of shop/web-2, and both may be in kubernetes.io/hostname=n2
  n2: the anti-affinity of shop/web-2 excludes it, and both may be in kubernetes.io/hostname=n2
  n3: its anti-affinity excludes it from the domain of shop/web-3, and both may be in kubernetes.io/hostname=n3
  n3: the anti-affinity of shop/web-3 excludes it, and both may be in kubernetes.io/hostname=n3
`},
		{"a host port", keeping(binding(80)),
			`Pod "shop/web-1" finds no place on 3 other nodes: 1 has no room, 2 have room
  n2: it asks for port 80/TCP, which shop/web-2 has there
  n3: it asks for port 80/TCP, which shop/web-3 has there
`},
		{"a disk", keeping(withDisk("vol-1")),
			`Pod "shop/web-1" finds no place on 3 other nodes: 1 has no room, 2 have room
  n2: it asks for volume vol-1, which shop/web-2 has there
  n3: it asks for volume vol-1, which shop/web-3 has there
`},
		{"a taint, and another zone", func() disruption.Input {
			in := keeping(func(*corev1.Pod) {})
			in.Nodes = in.Nodes[:3]
			in.Nodes[0].Pods[0].Spec.NodeSelector = map[string]string{corev1.LabelTopologyZone: "a"}
			in.Nodes[1].Node.Spec.Taints = []corev1.Taint{{Key: "gpu", Effect: corev1.TaintEffectNoSchedule}}
			withLabel(corev1.LabelTopologyZone, "b")(&in.Nodes[2])
			return in
		}(), `Pod "shop/web-1" finds no place on 2 other nodes: labels or taints rule out 2
  n2: it does not tolerate gpu:NoSchedule
  n3: its node selection refuses the node, which has topology.kubernetes.io/zone=b
`},
		{"a lack of room", func() disruption.Input {
			in := keeping(func(*corev1.Pod) {})
			for i := range 2 {
				full := load(fmt.Sprintf("full-%d", i), 1500)
				full.Spec.NodeName = in.Nodes[1+i].Name()
				in.Nodes[1+i].Pods = append(in.Nodes[1+i].Pods, full)
			}
			return in
		}(), "Pod \"shop/web-1\" finds no place on 3 other nodes: 3 have no room\n"},
		{"a spread that holds it in its zone", func() disruption.Input {
			in := keeping(spreading("web", corev1.LabelTopologyZone))
			for i := range 2 {
				withLabel(corev1.LabelTopologyZone, "b")(&in.Nodes[1+i])
			}
			in.Nodes[2].Pods = in.Nodes[2].Pods[1:]
			return in
		}(), `Pod "shop/web-1" finds no place on 3 other nodes: 1 has no room, 2 have room
  its topology spread constraint over topology.kubernetes.io/zone with maxSkew 1 lets it only into a, where it finds no room; matching pods by value: a 1, b 3; the only existing node there has too little room
  n2: when it is bound, topology.kubernetes.io/zone=b may have 3 of the pods that its topology spread counts, another domain 1; with the pod the skew is above 1
  n3: when it is bound, topology.kubernetes.io/zone=b may have 3 of the pods that its topology spread counts, another domain 1; with the pod the skew is above 1
`},
		{"an affinity of another pod, which wants it in its zone", func() disruption.Input {
			in := keeping(ofApp("leader"))
			for i := range 2 {
				withLabel(corev1.LabelTopologyZone, "b")(&in.Nodes[1+i])
			}
			in.Nodes[1].Pods, in.Nodes[2].Pods = in.Nodes[1].Pods[1:], in.Nodes[2].Pods[1:]
			bondedTo("leader", false)(in.Nodes[3].Pods[0])
			_, medium, _, _ := sizes()
			in.Nodes = append(in.Nodes, machine("n5", "default", medium, load("spare", 600))) // beside which it stays
			return in
		}(), `Pod "shop/web-1" finds no place on 3 other nodes: 1 has no room, 2 have room
  n2: it stays where topology.kubernetes.io/zone is a, so that constraints over that label hold whatever becomes of other pods
  n3: it stays where topology.kubernetes.io/zone is a, so that constraints over that label hold whatever becomes of other pods
`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := propose(t, tt.in, anySaving())
			i := 0
			for ; p.Blocked[i].Node != "n1" || p.Blocked[i].Code != disruption.CodeNotCheaper; i++ {
			}
			require.Equal(t, `Pod "shop/web-1"`, p.Blocked[i].Object)
			s, err := p.Explain(t.Context(), "n1")
			require.NoError(t, err)
			require.Equal(t, tt.want, s.Report())
		})
	}
}

func TestWhyOfMoreThanOnePod(t *testing.T) {
	in := keeping(binding(80))
	in.Nodes[0].Pods[0] = load("web-1", 100)
	binding(80)(in.Nodes[0].Pods[0])
	in.Nodes[0].Pods[0].Spec.NodeName = "n1"
	for i := range 3 {
		p := load(fmt.Sprintf("more-%d", i), 100)
		p.Spec.NodeName = "n1"
		in.Nodes[0].Pods = append(in.Nodes[0].Pods, p)
	}
	s, err := propose(t, in, anySaving()).Explain(t.Context(), "n1")
	require.NoError(t, err)
	require.Equal(t, 3, s.Placed)
	require.Equal(t, 3, s.Others)
	require.Len(t, s.Pods, 1)
	require.Equal(t, 2, s.Pods[0].Open)
	require.Equal(t, verify.RuleHostPorts, s.Pods[0].Conflicts[0].Rule)
	require.Equal(t, `Pod "shop/web-1" finds no place on 3 other nodes: 1 has no room, 2 have room; n2: it asks for port 80/TCP, which shop/web-2 has there`, s.String())
}

func TestWhyRefuses(t *testing.T) {
	p := propose(t, wasteful(), nil)
	_, err := p.Explain(t.Context(), "nobody")
	require.ErrorContains(t, err, `no node "nobody"`)
	_, err = p.Explain(t.Context(), p.Actions[0].Targets[0].Node)
	require.ErrorContains(t, err, "does not stay")
	_, err = new(disruption.Proposal).Explain(t.Context(), "n1")
	require.Error(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = p.Explain(ctx, "n2")
	require.ErrorIs(t, err, context.Canceled)
}

// Whatever the cluster, there is an answer for each node that stays, and the same
// every time.
func TestWhyOfAnyNode(t *testing.T) {
	asked, barriers := 0, 0
	for seed := range 40 {
		in, opts := newMaker(uint64(seed)).mixed(8)
		p := propose(t, in, opts)
		goes := map[string]bool{}
		for _, a := range p.Actions {
			for _, target := range a.Targets {
				goes[target.Node] = true
			}
		}
		for _, n := range in.Nodes {
			if goes[n.Name()] {
				continue
			}
			s, err := p.Explain(t.Context(), n.Name())
			require.NoError(t, err)
			again, err := p.Explain(t.Context(), n.Name())
			require.NoError(t, err)
			require.Equal(t, s.Report(), again.Report())
			asked++
			for _, pod := range s.Pods {
				barriers += len(pod.Conflicts)
			}
		}
	}
	require.Greater(t, asked, 50)
	require.Greater(t, barriers, 50)
}
