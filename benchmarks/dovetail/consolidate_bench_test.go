package main

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/benchmarks/internal/family"
	"github.com/dovetail-sdk/dovetail/benchmarks/internal/replay"
	"github.com/dovetail-sdk/dovetail/disruption"
)

// BenchmarkLastRound asks about a cluster of which consolidation has come to its end, with the
// catalog kept from round to round: each node is asked about alone, and none goes. It reports
// the CPU time of a proposal, and the questions that the engine is asked for it.
func BenchmarkLastRound(b *testing.B) {
	for _, seed := range []uint64{1, 2, 3} {
		b.Run(fmt.Sprintf("nodes=100/seed=%d", seed), func(b *testing.B) {
			s := generate(b, family.Spec{Family: "consolidate", Types: "aws", Nodes: 100, Seed: seed})
			cluster, err := replay.New(s)
			require.NoError(b, err)
			a := new(asker)
			var p *disruption.Proposal
			for p == nil || len(p.Actions) > 0 {
				p, _, _, err = a.propose(b.Context(), cluster.Scenario())
				require.NoError(b, err)
				for _, action := range p.Actions {
					require.NoError(b, cluster.Apply(describeAction(action)))
				}
			}
			b.ReportAllocs()
			began := cpu(b)
			for b.Loop() {
				p, _, err = disruption.Propose(b.Context(), s.Now, a.in, proposing(s))
				require.NoError(b, err)
			}
			b.ReportMetric(float64((cpu(b)-began).Microseconds())/1000/float64(b.N), "cpu-ms/op")
			b.ReportMetric(float64(p.Stats.Simulations), "questions")
		})
	}
}
