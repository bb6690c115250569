package disruption_test

import (
	"fmt"
	"testing"
	"time"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/disruption"
)

// herd returns a cluster of the given number of nodes with twenty pods each, of which every tenth
// has drifted and every twentieth is empty.
func herd(nodes int) disruption.Input {
	in := newInput()
	in.Drift = map[string]cloudprovider.Drift{}
	in.NodePools = []*v1.NodePool{newPool("web", budgetOf("10%"))}
	for i := range nodes {
		n := newNode(fmt.Sprintf("n%05d", i), "web")
		for j := range 20 {
			p := newPod(fmt.Sprintf("%s-%d", n.Name(), j))
			p.Labels = map[string]string{"app": fmt.Sprint(i % 100)}
			if i%20 == 0 {
				owner("apps/v1", "DaemonSet")(p)
			}
			n.Pods = append(n.Pods, p)
		}
		in.Nodes = append(in.Nodes, n)
		if i%10 == 3 {
			in.Drift[n.Name()+"-claim"] = cloudprovider.Drift{Reason: "AMIDrift"}
		}
	}
	for i := range 100 {
		b := newPDB(fmt.Sprintf("pdb-%d", i), 1)
		b.Spec.Selector.MatchLabels["app"] = fmt.Sprint(i)
		in.PodDisruptionBudgets = append(in.PodDisruptionBudgets, b)
	}
	return in
}

func BenchmarkObserve(b *testing.B) {
	for _, nodes := range []int{100, 1000, 5000} {
		in := herd(nodes)
		b.Run(fmt.Sprintf("nodes=%d", nodes), func(b *testing.B) {
			for b.Loop() {
				observe(b, in, nil)
			}
		})
	}
}

func BenchmarkActions(b *testing.B) {
	for _, nodes := range []int{100, 1000, 5000} {
		f := observe(b, herd(nodes), nil)
		b.Run(fmt.Sprintf("nodes=%d", nodes), func(b *testing.B) {
			for b.Loop() {
				if len(f.Pace(f.Actions().Actions).Go) == 0 {
					b.Fatal("nothing goes")
				}
			}
		})
	}
}

func BenchmarkCandidates(b *testing.B) {
	f := observe(b, herd(1000), nil)
	for _, m := range methods() {
		b.Run("method="+string(m), func(b *testing.B) {
			for b.Loop() {
				f.Candidates(m)
			}
		})
	}
	b.Run("next", func(b *testing.B) {
		for b.Loop() {
			if f.Next() != (time.Time{}) {
				b.Fatal("time changes nothing here")
			}
		}
	})
}
