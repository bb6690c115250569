package disruption_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/dovetail-sdk/dovetail/disruption"
	"github.com/dovetail-sdk/dovetail/internal/corpus"
)

// TestCorpusOfProposals: what is proposed for clusters of all kinds is as it was.
func TestCorpusOfProposals(t *testing.T) {
	t.Parallel()
	var cases []corpus.Case
	add := func(name string, seeds uint64, input func(seed uint64) (disruption.Input, *disruption.Options)) {
		for seed := range seeds {
			cases = append(cases, corpus.Case{Name: fmt.Sprintf("%s/%d", name, seed), Answer: func() (corpus.Answer, error) {
				in, opts := input(seed)
				p, _, err := disruption.Propose(context.Background(), noon, in, opts)
				if err != nil {
					return corpus.Answer{}, err
				}
				return corpus.Answer{Value: p, Cost: p.CostAfter, Left: len(p.Blocked), Steps: p.Stats.Steps}, nil
			}})
		}
	}
	add("mixed", 60, func(seed uint64) (disruption.Input, *disruption.Options) { return newMaker(seed).mixed(20) })
	add("worn", 20, func(seed uint64) (disruption.Input, *disruption.Options) { return newMaker(seed).worn() })
	add("odd", 100, func(seed uint64) (disruption.Input, *disruption.Options) { return newMaker(seed).input() })
	corpus.Check(t, "plans/proposals.txt", 3, cases, corpus.Bounds{Left: 0.001, Mean: 0, Worst: 0.01})
}
