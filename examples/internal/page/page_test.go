package page_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/disruption/compare"
	"github.com/dovetail-sdk/dovetail/examples/internal/page"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/advice"
	"github.com/dovetail-sdk/dovetail/report"
)

// A cluster without managed nodes has no picture of them, and its page says so.
func TestNoPictureOfNothing(t *testing.T) {
	c := &compare.Comparison{Old: compare.Outcome{Fresh: &compare.Fresh{Plan: &provisioning.Plan{}}, Settled: &compare.Settled{}}}
	c.New = c.Old
	p := page.Comparison("new.yaml", report.NewComparison(time.Time{}, compare.Side{}, c, report.Change{File: "new.yaml"}), compare.Side{}, c)
	require.Empty(t, p.Figures)
	require.Equal(t, "Nothing would change.", p.Verdict)
	text, err := p.HTML()
	require.NoError(t, err)
	require.Contains(t, text, "No managed node runs today.")
}

// Prices have a picture with a bar each, and are told in words.
func TestAdvice(t *testing.T) {
	found := &advice.Report{Cost: 2, Nodes: 4, Pods: 9, Prices: []advice.Price{
		{Constraints: []advice.Constraint{{Kind: advice.KindTaint, Object: "NodePool a", Text: "x"}}, Saves: 0.5, AtLeast: 0.1, AtMost: 0.9}}}
	p := page.Advice(report.NewAdvice(found, nil), found, report.Hints{})
	require.Len(t, p.Figures, 1)
	text, err := p.HTML()
	require.NoError(t, err)
	require.Contains(t, text, "0.5000 USD/h less without")
}
