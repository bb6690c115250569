package disruption_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/disruption"
	"github.com/dovetail-sdk/dovetail/internal/testlong"
)

// zonesOf returns a cluster of two zones: a node to remove in zone a that runs some pods,
// a full one beside it, and one with room in zone b.
func zonesOf(pods ...*corev1.Pod) disruption.Input {
	in := zonal(1, 1)
	in.Nodes = in.Nodes[:3]
	withLabel(corev1.LabelTopologyZone, "a")(&in.Nodes[1])
	withLabel(corev1.LabelTopologyZone, "b")(&in.Nodes[2])
	for i, milli := range []string{"10m", "7900m", "4"} {
		other := newPod(fmt.Sprintf("other-%d", i), asking(milli))
		other.Spec.NodeName = in.Nodes[i].Name()
		in.Nodes[i].Pods = []*corev1.Pod{other}
		if i > 0 {
			in.Nodes[i].Node.Annotations[v1.DoNotDisruptAnnotationKey] = "true"
		}
	}
	in.Nodes[0].Pods = nil
	for _, p := range pods {
		p.Spec.NodeName = in.Nodes[0].Name()
		in.Nodes[0].Pods = append(in.Nodes[0].Pods, p)
	}
	return in
}

func TestPodsMayChangeZonesOneOfEachSpread(t *testing.T) {
	web := func(name string) *corev1.Pod {
		return newPod(name, asking("500m"), spreading("web", corev1.LabelTopologyZone))
	}
	tests := []struct {
		name    string
		input   func() disruption.Input
		crossed int
	}{
		{"the only pod of its spread goes where there is room", func() disruption.Input { return zonesOf(web("web-0")) }, 1},
		{"of two, either of which might go, one does", func() disruption.Input {
			a, b := web("web-0"), web("web-1")
			a.Spec.TopologySpreadConstraints[0].MaxSkew, b.Spec.TopologySpreadConstraints[0].MaxSkew = 2, 2
			return zonesOf(a, b)
		}, 1},
		{"one that keeps the balance where it is stays", func() disruption.Input {
			in := zonesOf(web("web-0"))
			there := web("web-1")
			there.Spec.NodeName = in.Nodes[2].Name()
			in.Nodes[2].Pods = append(in.Nodes[2].Pods, there)
			return in
		}, 0},
		{"one of its like waits, and may come anywhere", func() disruption.Input {
			in := zonesOf(web("web-0"))
			waits := web("web-1")
			waits.Spec.NodeName, waits.Spec.NodeSelector = "", map[string]string{"nobody": "has-it"}
			in.Pods = append(in.Pods, waits)
			return in
		}, 0},
		{"another spread counts it as well", func() disruption.Input {
			in := zonesOf(web("web-0"))
			other := newPod("db", asking("10m"), spreading("web", corev1.LabelTopologyZone))
			other.Labels["app"] = "db"
			other.Spec.TopologySpreadConstraints[0].LabelSelector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
				{Key: "app", Operator: metav1.LabelSelectorOpExists}}}
			other.Spec.NodeName = in.Nodes[1].Name()
			in.Nodes[1].Pods = append(in.Nodes[1].Pods, other)
			return in
		}, 0},
		{"it needs more zones than there are", func() disruption.Input {
			p := web("web-0")
			p.Spec.TopologySpreadConstraints[0].MinDomains = new(int32)
			*p.Spec.TopologySpreadConstraints[0].MinDomains = 2
			return zonesOf(p)
		}, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in := tt.input()
			crossed := 0
			p := propose(t, in, anySaving())
			for _, a := range p.Actions {
				alone := in
				alone.Pods = nil
				require.Empty(t, spreadFaults(alone, a), "%s", a)
				for _, m := range a.Moves {
					if m.Node != "" && zoneOf(in, m.Node) != zoneOf(in, m.From) && m.Pod.Labels["app"] == "web" {
						crossed++
					}
				}
			}
			require.Equal(t, tt.crossed, crossed, "%v %v", p.Actions, p.Blocked)
		})
	}
}

// Actions that take pods to other zones hold by themselves as well, whichever of them
// is carried out first or alone, once those are done that they come after.
func TestActionsThatChangeZonesHoldInTurn(t *testing.T) {
	testlong.Alone(t)
	t.Parallel()
	crossed, seen, seeds := 0, 0, int(testlong.Problems(12, 2))
	for seed := range seeds {
		quiet(t, uneven(seed), nil, func(now time.Time, in disruption.Input, p *disruption.Proposal) {
			seen, crossed = seen+len(p.Actions), crossed+crossings(in, p.Actions)
			for _, a := range p.Actions {
				require.Empty(t, spreadFaults(upTo(t, now, in, p.Actions, a), a), "seed %d: %s", seed, a)
			}
			back := slices.Clone(p.Actions)
			slices.Reverse(back)
			holdInTurn(t, seed, now, in, inTurn(back), spreadFaults)
		})
	}
	require.Greater(t, seen, 5*min(seeds, 4))
	require.Greater(t, crossed, min(seeds, 5))
}

// uneven returns a cluster of three zones with workloads of a few pods, which have one
// more in some zones than in others.
func uneven(seed int) disruption.Input {
	in := zonal(4, 3)
	for i := range in.Nodes {
		in.Nodes[i].Pods = in.Nodes[i].Pods[:1]
	}
	for app := range 10 {
		for k := range 1 + (app+seed)%5 {
			zone := (app*seed + k) % 3
			n := &in.Nodes[zone+3*((app+2*k+seed)%4)]
			p := newPod(fmt.Sprintf("small-%d-%d", app, k), asking("600m"), spreading(fmt.Sprintf("small-%d", app), corev1.LabelTopologyZone))
			p.Spec.NodeName = n.Name()
			n.Pods = append(n.Pods, p)
		}
	}
	return in
}
