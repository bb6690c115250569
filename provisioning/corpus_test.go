package provisioning_test

import (
	"context"
	"flag"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dovetail-sdk/dovetail/internal/corpus"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/randproblem"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/scenario"
	"github.com/dovetail-sdk/dovetail/provisioning/verify"
)

// TestCorpusOfStories: the plans of the stories of testdata are as they were.
func TestCorpusOfStories(t *testing.T) {
	t.Parallel()
	corpus.Check(t, "plans/stories.txt", 4, stories(t), corpus.Bounds{Left: 0.001, Mean: 0.001})
}

// TestCorpusOfRandomProblems: the plans of random problems are as they were, with all
// features at once and each by itself.
func TestCorpusOfRandomProblems(t *testing.T) {
	t.Parallel()
	corpus.Check(t, "plans/random.txt", 20, randomCases(), corpus.Bounds{Left: 0.001})
}

// stories returns the cases of testdata, by file and title.
func stories(t *testing.T) (cases []corpus.Case) {
	t.Helper()
	eachStory(t, func(name string, w *scenario.World) {
		cases = append(cases, corpus.Case{Name: name, Answer: func() (corpus.Answer, error) {
			in, opts := scenarioInput(w)
			plan, err := solveLess(in, opts)
			if err != nil {
				return corpus.Answer{Value: faultsText(err)}, nil
			}
			return planAnswer(in, plan, opts), nil
		}})
	})
	return cases
}

// eachStory tells of the cases of testdata by file and title.
func eachStory(t *testing.T, tell func(name string, w *scenario.World)) {
	t.Helper()
	for _, file := range storyFiles(t) {
		_, f := storyOf(t, file)
		for _, c := range f.Cases {
			tell(strings.TrimSuffix(filepath.Base(file), ".txt")+"/"+strings.ReplaceAll(c.Title, " ", "-"), c.World)
		}
	}
}

// randomCases are 4,000 problems with all features at once, and 250 with each.
func randomCases() (cases []corpus.Case) {
	add := func(name string, seeds uint64, c randproblem.Config) {
		for seed := range seeds {
			cases = append(cases, corpus.Case{Name: fmt.Sprintf("%s/%d", name, seed), Answer: func() (corpus.Answer, error) {
				in, opts := richProblem(seed, c)
				plan, err := solveLess(in, opts)
				if err != nil {
					return corpus.Answer{}, err
				}
				return planAnswer(in, plan, opts), nil
			}})
		}
	}
	add("all", 4_000, everything)
	for i, name := range []string{
		"crowds", "places", "spread", "affinity", "ports", "volumes", "preferences",
		"reservations", "overlays", "buffers", "static", "priorities", "outsiders", "defaults",
	} {
		add(name, 250, randproblem.Config{Without: randproblem.All &^ (1 << i)})
	}
	return cases
}

// planAnswer is what the files keep of a plan.
func planAnswer(in provisioning.Input, plan *provisioning.Plan, opts *provisioning.Options) corpus.Answer {
	return corpus.Answer{
		Value: plan, Cost: plan.Cost, Left: len(plan.Unplaced), Steps: plan.Stats.Steps,
		Proven: len(plan.Unplaced) == 0 && plan.Cost <= plan.LowerBound*(1+1e-9),
		Faults: func() int { return len(verify.Plan(in, plan, opts)) },
	}
}

var withoutPasses = flag.String("without", "", "strategies and passes that the plans compared are made without")

// solveLess is Solve without what the flag names.
func solveLess(in provisioning.Input, opts *provisioning.Options) (*provisioning.Plan, error) {
	if *withoutPasses == "" {
		return provisioning.Solve(context.Background(), in, opts)
	}
	plan, _, _, err := provisioning.SolveWithout(context.Background(), in, opts, strings.Split(*withoutPasses, ",")...)
	return plan, err
}
