package provisioning_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/provisioning/internal/scenario"
	"github.com/dovetail-sdk/dovetail/provisioning/verify"
)

// packedOut is a problem in which a limit leaves room for some nodes only, each of
// the same size, and several workloads are spread over them.
type packedOut struct {
	nodes, existing int   // to be launched at most, and there already
	size            int   // of a node, in pods
	zones           int   // of which all nodes can be
	counts          []int // by workload: its pods
	skews           []int
	overZones       []bool
}

func drawPackedOut(seed uint64) packedOut {
	r := rand.New(rand.NewPCG(seed, 11))
	c := packedOut{size: 2 + r.IntN(9), zones: 1 + r.IntN(3)}
	c.nodes = c.zones * (1 + r.IntN(3))
	if c.zones == 1 {
		c.existing = r.IntN(3)
	}
	for room := c.size; room > 0 && len(c.counts) < 3; {
		each := 1 + r.IntN(room) // on every node
		room -= each
		all := c.nodes + c.existing
		c.counts = append(c.counts, (each-1)*all+1+r.IntN(all))
		c.skews = append(c.skews, 1+r.IntN(2))
		c.overZones = append(c.overZones, c.zones > 1 && r.IntN(2) == 0)
	}
	return c
}

// text states the problem.
func (c packedOut) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Crowded.\n\ntype m cpu=%d, memory=64Gi\n  offer %s on-demand 0.20\npool general\n  limits nodes=%d\n",
		c.size, strings.Join([]string{"a", "b", "c"}[:c.zones], ","), c.nodes)
	for i := range c.existing {
		fmt.Fprintf(&b, "node old-%d\n  labels zone=a\n  allocatable cpu=%d, memory=64Gi, pods=110\n", i, c.size)
	}
	for i, n := range c.counts {
		fmt.Fprintf(&b, "pod app-%d x%d\n  labels app=app-%d\n  request cpu=1\n  spread hostname skew %d\n", i, n, i, c.skews[i])
		if c.overZones[i] {
			fmt.Fprintln(&b, "  spread zone")
		}
	}
	b.WriteString("----\n")
	return b.String()
}

// TestLawNodesRiseTogether: where every node can have its even share of each
// workload that is spread over nodes, no pod is left over, although the limits
// leave room for fewer nodes than maxSkew pods on each would take.
func TestLawNodesRiseTogether(t *testing.T) {
	t.Parallel()
	seeds := lawSeeds(2_000, 200)
	raised := 0
	for seed := range seeds {
		c := drawPackedOut(seed)
		f, err := scenario.Parse(c.text())
		require.NoError(t, err, "seed %d", seed)
		in, opts := scenarioInput(f.Cases[0].World)
		plan := solved(t, in, opts)
		require.Empty(t, verify.Plan(in, plan, opts), "seed %d", seed)
		require.Empty(t, plan.Unplaced, "seed %d: %s", seed, c.text())
		for i, n := range c.counts {
			if n > (c.nodes+c.existing)*c.skews[i] {
				raised++
				break
			}
		}
	}
	require.Greater(t, raised, int(seeds/2))
}

// TestDomainsMayComeWhereNoSpreadLeansOnTheirAbsence: pods that others count, but that have
// no spread themselves, may be many in a domain; that keeps no further domain away from
// those that have one and are well placed whatever domains there are.
func TestDomainsMayComeWhereNoSpreadLeansOnTheirAbsence(t *testing.T) {
	t.Parallel()
	left := 0
	for _, seed := range []uint64{2030, 2701, 3247, 3282} {
		in, opts := richProblem(seed, everything)
		plan := solved(t, in, opts)
		left += len(plan.Unplaced)
		require.Empty(t, verify.Plan(in, plan, opts), "seed %d", seed)
	}
	require.LessOrEqual(t, left, 118) // of 4 problems
}
