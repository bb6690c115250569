package main

import (
	"context"
	"fmt"
	"os"
	"time"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/benchmarks/internal/life"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/disruption"
	"github.com/dovetail-sdk/dovetail/internal/autoscaler"
	"github.com/dovetail-sdk/dovetail/internal/simcluster"
	"github.com/dovetail-sdk/dovetail/provisioning"
)

// dovetail runs the control loop of examples/autoscaler as a contender.
type dovetail struct{ *autoscaler.Autoscaler }

// Step runs one turn of the loop. It returns only the error of ctx: what fails is retried in the
// next turn, as in a cluster.
func (d dovetail) Step(ctx context.Context) error {
	d.Autoscaler.Step(ctx)
	return ctx.Err()
}

// startDovetail returns a function that starts the loop with a MinimumScore and a HalveScoreAfter.
func startDovetail(score float64, halve time.Duration, verbose bool) life.Start {
	return func(site life.Site) (life.Contender, error) {
		a, err := autoscaler.New(autoscaler.Config{
			Cluster: site.Cluster, Cloud: site.Provider, Pools: site.Pools, Journal: &journal{site.Cluster, verbose}, Every: site.Every,
			Options: &disruption.Options{Consolidation: disruption.ConsolidationOptions{MinimumScore: score, HalveScoreAfter: halve}},
		})
		return dovetail{a}, err
	}
}

// journal implements the loop's log. It prints if verbose is set, and otherwise does nothing.
type journal struct {
	cluster *simcluster.Cluster
	verbose bool
}

// Trouble prints a formatted line with the time of the cluster.
func (j *journal) Trouble(format string, args ...any) {
	if j.verbose {
		fmt.Fprintln(os.Stderr, j.cluster.Now().Format("15:04:05"), fmt.Sprintf(format, args...))
	}
}

// Detail prints like Trouble.
func (j *journal) Detail(format string, args ...any) { j.Trouble(format, args...) }

// Planned prints the size, the cost and the unplaced pods of a plan.
func (j *journal) Planned(plan *provisioning.Plan) {
	j.Trouble("plan: %d new nodes at %.3f USD/h, %d pods unplaced", len(plan.Create), plan.Cost, len(plan.Unplaced))
}

// Launched prints a launch.
func (j *journal) Launched(claim *v1.NodeClaim, i *cloudprovider.Instance) {
	j.Trouble("launched %s: %s", claim.Name, i.OfferingKey())
}

// Refused prints a launch that failed.
func (j *journal) Refused(claim *v1.NodeClaim, err error) {
	j.Trouble("launch of %s: %v", claim.Name, err)
}

// EndLaunches does nothing.
func (j *journal) EndLaunches() {}

// Disrupted prints an action.
func (j *journal) Disrupted(action disruption.Action) { j.Trouble("%s", action) }
