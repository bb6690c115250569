package report_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/disruption"
	"github.com/dovetail-sdk/dovetail/disruption/compare"
	"github.com/dovetail-sdk/dovetail/internal/golden"
	"github.com/dovetail-sdk/dovetail/provisioning/advice"
	"github.com/dovetail-sdk/dovetail/report"
)

// everything is options under which a text leaves nothing out.
var everything = &report.Options{All: true, Hints: report.Hints{Explain: "Ask about %s.", Why: "Ask about %s/%s.", More: "; ask for all", LeftAlone: "Ask for all.", NotAsked: "Ask more."}}

// equal holds that a text is that of a golden file, and that it fits on 80 columns.
func equal(t *testing.T, text, file string) {
	t.Helper()
	golden.Equal(t, text, "golden", file)
	golden.Fits(t, text)
}

func proposal(t *testing.T) *report.Proposal {
	t.Helper()
	side := halfEmpty()
	p, _, err := disruption.Propose(t.Context(), noon, side.Input, side.Options)
	require.NoError(t, err)
	return report.NewProposal(noon, side.Input, p, nil, side.Options)
}

func TestProposal(t *testing.T) {
	r := proposal(t)
	require.NoError(t, r.Follow(t.Context()))
	require.NoError(t, r.AddWithout(t.Context(), r.Actions[0].Nodes[0].Node))
	require.NoError(t, r.AddWhy(t.Context(), r.LeftAlone[0].Node))
	equal(t, r.Format(everything), "proposal.txt")
	golden.JSON(t, "golden/proposal", r)
}

func TestProposalThatConverges(t *testing.T) {
	r := proposal(t)
	require.NoError(t, r.Converge(t.Context()))
	require.True(t, r.Converged)
	equal(t, r.Format(everything), "converged.txt")
}

func TestProposalIsAskedAboutOtherNodes(t *testing.T) {
	r := proposal(t)
	for _, err := range []error{
		r.AddWithout(t.Context(), "nowhere"), r.AddWhy(t.Context(), "nowhere"), r.AddWhy(t.Context(), r.Actions[0].Nodes[0].Node),
	} {
		require.ErrorAs(t, err, &report.NoSuchNode{})
	}
}

func TestProposalEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, proposal(t).Converge(ctx), context.Canceled)
}

func TestComparison(t *testing.T) {
	before := halfEmpty()
	policies := before.Policies()
	policies.NodePools = []*v1.NodePool{pool(v1.ArchitectureArm64)}
	after, err := before.With(policies)
	require.NoError(t, err)
	c, err := compare.Compare(t.Context(), noon, before, after, nil)
	require.NoError(t, err)
	r := report.NewComparison(noon, before, c, report.Change{File: "arm.yaml", Lines: []string{"NodePool general is changed"}})
	golden.JSON(t, "golden/comparison", r)
	require.Len(t, r.Figures()[0], 4)
	require.Contains(t, r.Format(nil), strings.Fields(r.Verdict())[3])
	for _, words := range append(r.Remarks(), r.Reasons()...) {
		require.Contains(t, strings.Join(strings.Fields(r.Format(nil)), " "), words)
	}
}

func TestAdvice(t *testing.T) {
	found, err := advice.Ask(t.Context(), shop(), &advice.Options{Questions: 1})
	require.NoError(t, err)
	r := report.NewAdvice(found, nil)
	equal(t, r.Format(everything), "advice.txt")
	golden.JSON(t, "golden/advice", r)
	require.Equal(t, "between", strings.Fields(strings.Split(r.Lines(nil)[1], "without, ")[1])[0])
}
