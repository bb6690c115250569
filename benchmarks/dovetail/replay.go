package main

import (
	"context"
	"fmt"
	"io"

	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/replay"
)

// replayPlan prints what becomes of a plan when kube-scheduler binds its pods, with nodes
// that are open to all and with nodes that are kept for their pods.
func replayPlan(out io.Writer, in provisioning.Input, plan *provisioning.Plan, options *provisioning.Options, runs int) error {
	for _, reserved := range []bool{false, true} {
		report, err := replay.Plan(context.Background(), in, plan, &replay.Options{Engine: options, Reserved: reserved, Runs: runs})
		if err != nil {
			return err
		}
		nodes, elsewhere, left := 0, 0, 0
		for _, run := range report.Runs {
			nodes, elsewhere, left = nodes+run.Nodes, elsewhere+run.Elsewhere, left+len(run.Left)
		}
		all := float64(len(report.Runs))
		fmt.Fprintf(out, "replayed %d times, reserved %t: planned %d nodes at $%.3f/h, become %.1f at $%.3f/h (%+.2f%%), worst $%.3f/h; %.1f pods elsewhere, %.1f left\n",
			len(report.Runs), reserved, len(plan.Create), report.Planned, float64(nodes)/all, report.Expected(),
			100*(report.Expected()/report.Planned-1), report.Worst(), float64(elsewhere)/all, float64(left)/all)
	}
	return nil
}
