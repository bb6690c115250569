package provisioning_test

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/internal/corpus"
	"github.com/dovetail-sdk/dovetail/internal/testlong"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/scenario"
	"github.com/dovetail-sdk/dovetail/provisioning/verify"
)

var passes = flag.Uint64("passes", 0, "on how many random problems to print what each strategy and pass is worth")

// TestRichLawPassesMayBeLeftOut: a plan is valid whatever strategies and passes are left
// out.
func TestRichLawPassesMayBeLeftOut(t *testing.T) {
	t.Parallel()
	asked, after := map[string]bool{}, map[string]bool{}
	for seed := range lawSeeds(3_000, 150) {
		r := rand.New(rand.NewPCG(seed, 19))
		var off []string
		for share, i := r.IntN(100), 0; i < len(provisioning.LeftOut()); i++ {
			if r.IntN(100) < share {
				off = append(off, provisioning.LeftOut()[i])
			}
		}
		in, opts := richProblem(seed, everything)
		plan, asks, ends, err := provisioning.SolveWithout(context.Background(), in, opts, off...)
		require.NoError(t, err)
		require.Empty(t, verify.Plan(in, plan, opts), "seed %d without %v", seed, off)
		merge(asked, asks)
		merge(after, ends)
	}
	if testlong.On() {
		for _, name := range provisioning.LeftOut() {
			require.True(t, asked[name], "no problem comes to %s", name)
		}
	}
	for _, name := range []string{"replay", "insert", "eject", "search", "letting-in", "capacity-type", "cells-as-found", "coarsely"} {
		require.True(t, after[name], "%s does not say what it came to", name)
	}
}

func merge(into, from map[string]bool) {
	for k := range from {
		into[k] = true
	}
}

// worth is what became of plans without a pass.
type worth struct {
	asked, changed     int // problems
	fewer, more        int // problems that leave fewer pods over without it, and more
	left               int // pods left over without it, less those with it
	cheaper, dearer    int // problems that leave as many over
	cost, before       float64
	steps, stepsBefore int
	invalid            int
}

// TestPassesAreWorth prints what each strategy and pass is worth: problems that come to it,
// those whose answer is another without it, pods left over, cost where as many are
// left over, and steps. It needs the flag -passes.
func TestPassesAreWorth(t *testing.T) {
	if *passes == 0 {
		t.Skip("make passes runs it")
	}
	table := map[string]*worth{}
	for _, name := range provisioning.LeftOut() {
		table[name] = &worth{}
	}
	total := 0
	judge := func(in provisioning.Input, opts *provisioning.Options) {
		total++
		plan, asked, _, err := provisioning.SolveWithout(context.Background(), in, opts)
		if err != nil {
			return // a story about faults
		}
		for _, name := range provisioning.LeftOut() {
			if !asked[name] {
				continue
			}
			other, _, _, err := provisioning.SolveWithout(context.Background(), in, opts, name)
			require.NoError(t, err)
			table[name].add(plan, other)
			if len(verify.Plan(in, other, opts)) > 0 {
				table[name].invalid++
			}
		}
	}
	for seed := range *passes {
		judge(richProblem(seed, everything))
	}
	eachStory(t, func(_ string, w *scenario.World) { judge(scenarioInput(w)) })
	var out strings.Builder
	fmt.Fprintf(&out, "%-18s %6s %8s  %-16s %-28s %7s %8s\n", "without", "reach", "changed", "left (fewer/more)", "cost (cheaper/dearer)", "steps", "invalid")
	for _, name := range provisioning.LeftOut() {
		fmt.Fprintf(&out, "%-18s %s\n", name, table[name])
	}
	t.Logf("%d problems\n%s", total, &out)
}

func (w *worth) add(plan, other *provisioning.Plan) {
	w.asked++
	if corpus.Hash(plan) == corpus.Hash(other) {
		return
	}
	w.changed++
	d := len(other.Unplaced) - len(plan.Unplaced)
	w.left += d
	switch {
	case d < 0:
		w.fewer++
	case d > 0:
		w.more++
	default:
		w.cost, w.before = w.cost+other.Cost, w.before+plan.Cost
		if other.Cost < plan.Cost*(1-1e-9) {
			w.cheaper++
		} else if other.Cost > plan.Cost*(1+1e-9) {
			w.dearer++
		}
	}
	w.steps, w.stepsBefore = w.steps+other.Stats.Steps, w.stepsBefore+plan.Stats.Steps
}

func (w *worth) String() string {
	return fmt.Sprintf("%6d %8d  %+5d (%d/%d)%s %+9.3f of %.2f (%d/%d)  %+7d %8d", w.asked, w.changed, w.left, w.fewer, w.more,
		strings.Repeat(" ", max(0, 8-len(fmt.Sprint(w.fewer, w.more)))), w.cost-w.before, w.before, w.cheaper, w.dearer, w.steps-w.stepsBefore, w.invalid)
}
