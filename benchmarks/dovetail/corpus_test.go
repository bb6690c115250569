package main

import (
	"context"
	"testing"

	"github.com/dovetail-sdk/dovetail/benchmarks/internal/family"
	"github.com/dovetail-sdk/dovetail/benchmarks/internal/snapshot"
	"github.com/dovetail-sdk/dovetail/internal/corpus"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/verify"
)

// TestCorpusOfFamilies: the plans of the benchmark families are as they were, and so
// are the quick ones.
func TestCorpusOfFamilies(t *testing.T) {
	var cases []corpus.Case
	for _, spec := range planSpecs() {
		for _, quick := range []bool{false, true} {
			name := spec.Name()
			if quick {
				name += "-quick"
			}
			cases = append(cases, corpus.Case{Name: name, Answer: func() (corpus.Answer, error) { return familyAnswer(spec, quick) }})
		}
	}
	corpus.Check(t, "plans/families.txt", 7, cases, corpus.Bounds{Mean: 0.001, Worst: 0.01})
}

// TestCorpusOfConsolidation: what is proposed for clusters to consolidate is as it was.
func TestCorpusOfConsolidation(t *testing.T) {
	var cases []corpus.Case
	for seed := range uint64(4) {
		for _, nodes := range []int{12, 40} {
			spec := family.Spec{Family: "consolidate", Nodes: nodes, Types: "aws", Seed: seed + 1}
			cases = append(cases, corpus.Case{Name: spec.Name(), Answer: func() (corpus.Answer, error) {
				s, err := family.Generate(spec)
				if err != nil {
					return corpus.Answer{}, err
				}
				p, _, _, err := new(asker).propose(context.Background(), s)
				if err != nil {
					return corpus.Answer{}, err
				}
				return corpus.Answer{Value: p, Cost: p.CostAfter, Left: len(p.Blocked), Steps: p.Stats.Steps}, nil
			}})
		}
	}
	corpus.Check(t, "plans/consolidate.txt", 4, cases, corpus.Bounds{Left: 0.001, Worst: 0.01})
}

// planSpecs are thirty scenarios, small and middle-sized.
func planSpecs() (specs []family.Spec) {
	for seed := range uint64(3) {
		for _, s := range []family.Spec{
			{Family: "generic", Pods: 1000, Types: "aws"},
			{Family: "generic10", Pods: 1000, Types: "fake400"},
			{Family: "diverse", Pods: 200, Types: "fake400"},
			{Family: "diverse", Pods: 1000, Types: "aws"},
			{Family: "preferences", Pods: 300, Types: "fake400"},
			{Family: "production", Pods: 300, Types: "aws"},
			{Family: "production", Pods: 1500, Types: "aws"},
			{Family: "mixedexisting", Pods: 200, Nodes: 20, Types: "aws"},
			{Family: "mixedexisting", Pods: 500, Nodes: 50, Types: "aws"},
			{Family: "mixedexisting", Pods: 1000, Nodes: 60, Types: "aws"},
		} {
			s.Seed = seed + 1
			specs = append(specs, s)
		}
	}
	return specs
}

// familyAnswer is the plan of a scenario.
func familyAnswer(spec family.Spec, quick bool) (corpus.Answer, error) {
	s, err := family.Generate(spec)
	if err != nil {
		return corpus.Answer{}, err
	}
	in, err := snapshot.Input(s)
	if err != nil {
		return corpus.Answer{}, err
	}
	options := snapshot.Options(s)
	options.Quick = quick
	plan, err := provisioning.Solve(context.Background(), in, options)
	if err != nil {
		return corpus.Answer{}, err
	}
	return corpus.Answer{
		Value: plan, Cost: plan.Cost, Left: len(plan.Unplaced), Steps: plan.Stats.Steps,
		Proven: len(plan.Unplaced) == 0 && plan.Cost <= plan.LowerBound*(1+1e-9),
		Faults: func() int { return len(verify.Plan(in, plan, options)) },
	}, nil
}
