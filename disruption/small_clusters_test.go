package disruption_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/disruption"
	"github.com/dovetail-sdk/dovetail/internal/testlong"
)

// oracle is a tiny cluster: nodes, and pods that ask for CPU only in effect, as
// memory is in proportion.
type oracle struct {
	types []*cloudprovider.InstanceType
	kinds []int // of nodes, by type
	pods  [][]int64
}

func (m *maker) oracle() oracle {
	o := oracle{}
	cpus := []int64{2, 4, 8, 16}
	for n := range 2 + m.IntN(3) {
		// Prices near proportion, so that every size has its use.
		price := float64(cpus[n]) * (0.03 + 0.04*m.Float64())
		o.types = append(o.types, sizedType(fmt.Sprintf("t%d", n), cpus[n], price))
	}
	pods := 0
	for range 2 + m.IntN(5) {
		k := m.IntN(len(o.types))
		free := cpus[k] * 1000
		var list []int64
		for range 1 + m.IntN(3) {
			size := 100 * (1 + m.Int64N(25))
			if size <= free && pods < 9 {
				list = append(list, size)
				free -= size
				pods++
			}
		}
		if len(list) > 0 {
			o.kinds = append(o.kinds, k)
			o.pods = append(o.pods, list)
		}
	}
	return o
}

func (o oracle) input() disruption.Input {
	in := fleetOf(o.types)
	for i, k := range o.kinds {
		var pods []*corev1.Pod
		for j, size := range o.pods[i] {
			pods = append(pods, load(fmt.Sprintf("p%d-%d", i, j), size))
		}
		in.Nodes = append(in.Nodes, machine(fmt.Sprintf("n%d", i), "default", o.types[k], pods...))
	}
	return in
}

func (o oracle) price(kind int) float64 { return o.types[kind].Offerings[0].Price }
func (o oracle) room(kind int) int64    { return []int64{2000, 4000, 8000, 16000}[kind] }

// optimum returns the least that the cluster can cost after one joint action: some
// nodes go, and their pods are on nodes that stay, which keep their own pods, or
// on new nodes, none of a type that goes. Every way is tried.
func (o oracle) optimum() float64 {
	best := math.Inf(1)
	for set := range 1 << len(o.kinds) {
		best = min(best, o.costWithout(set))
	}
	return best
}

func (o oracle) costWithout(set int) float64 {
	var loose []int64
	kept, free := 0.0, []int64{}
	gone := map[int]bool{}
	for i, k := range o.kinds {
		if set&(1<<i) != 0 {
			loose = append(loose, o.pods[i]...)
			gone[k] = true
			continue
		}
		kept += o.price(k)
		room := o.room(k)
		for _, size := range o.pods[i] {
			room -= size
		}
		free = append(free, room)
	}
	all := 1<<len(loose) - 1
	sum := make([]int64, all+1)
	for mask := 1; mask <= all; mask++ {
		for i, size := range loose {
			if mask&(1<<i) != 0 {
				sum[mask] += size
			}
		}
	}
	// fresh[mask] is what new nodes for those pods cost at least.
	fresh := make([]float64, all+1)
	for mask := 1; mask <= all; mask++ {
		fresh[mask] = math.Inf(1)
		for sub := mask; sub > 0; sub = (sub - 1) & mask {
			for k := range o.types {
				if !gone[k] && sum[sub] <= o.room(k) {
					fresh[mask] = min(fresh[mask], o.price(k)+fresh[mask&^sub])
				}
			}
		}
	}
	// Then the nodes that stay, one by one.
	for _, room := range free {
		next := make([]float64, all+1)
		for mask := 0; mask <= all; mask++ {
			next[mask] = fresh[mask]
			for sub := mask; sub > 0; sub = (sub - 1) & mask {
				if sum[sub] <= room {
					next[mask] = min(next[mask], fresh[mask&^sub])
				}
			}
		}
		fresh = next
	}
	return kept + fresh[all]
}

// quiet carries out what is proposed until nothing is proposed, and shows look each proposal with its
// cluster and instant. It returns the last cluster.
func quiet(t testing.TB, in disruption.Input, opts *disruption.Options, look func(time.Time, disruption.Input, *disruption.Proposal)) disruption.Input {
	t.Helper()
	now := noon
	for range 60 {
		p := proposeAt(t, now, in, opts)
		look(now, in, p)
		if len(p.Actions) == 0 {
			return in
		}
		now = now.Add(2 * time.Hour)
		in = carriedOut(t, now, in, p.Actions, opts)
		now = now.Add(2 * time.Hour)
	}
	t.Fatal("it does not come to rest")
	return in
}

func TestSmallClustersReachTheOptimum(t *testing.T) {
	t.Parallel()
	n := int(testlong.Problems(300, 15))
	reached, better := 0, 0
	for seed := range n {
		o := newMaker(uint64(seed)).oracle()
		if len(o.kinds) == 0 {
			reached++
			continue
		}
		in := o.input()
		want := o.optimum()
		var first, last *disruption.Proposal
		quiet(t, in, anySaving(), func(_ time.Time, _ disruption.Input, p *disruption.Proposal) {
			if first == nil {
				first = p
			}
			last = p
		})
		if last.CostBefore > want+1e-6 {
			t.Logf("seed %d: %.4f at first, %.4f in the end, and the optimum is %.4f: %v %v", seed, first.CostBefore, last.CostBefore, want, o.kinds, o.pods)
		} else {
			reached++
		}
		if last.CostBefore < want-1e-6 {
			better++
		}
	}
	require.Equal(t, n, reached)
	t.Logf("%d of %d reach the optimum of one joint action, %d fall below it by several", reached, n, better)
}
