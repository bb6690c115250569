package provisioning_test

import (
	"flag"
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dovetail-sdk/dovetail/cloudprovider/devicecel"
	"github.com/dovetail-sdk/dovetail/internal/chance"
	"github.com/dovetail-sdk/dovetail/internal/kubescheduler"
	"github.com/dovetail-sdk/dovetail/provisioning"
	"github.com/dovetail-sdk/dovetail/provisioning/internal/randproblem"
)

var (
	schedulers = flag.String("kubescheduler", "", "programs of benchmarks/kubescheduler, as MINOR=PATH, separated by commas")
	placements = flag.Int("placements", 500, "how many pods of random plans the programs of -kubescheduler bind")
)

func startSchedulers(t *testing.T) *binder {
	return &binder{t: t, programs: kubescheduler.ForTest(t, *schedulers)}
}

// binder has programs bind the pods of plans, and reports what they refuse.
type binder struct {
	t              *testing.T
	programs       []*kubescheduler.Program
	bound, refused int
}

// binds asks whether the pods of a plan for in can be bound in its order, where each new node
// comes up as an option that dice choose.
func (b *binder) binds(name string, in provisioning.Input, opts *provisioning.Options, dice *chance.Stream) {
	plan, err := provisioning.Solve(b.t.Context(), in, opts)
	if err != nil { // some stories are about faults of the input
		return
	}
	for _, o := range b.programs {
		if !slices.Contains(plan.Kubernetes, o.Minor) {
			continue
		}
		refused, err := o.Refusals(in, plan, func(options int) int { return int(dice.Next() % uint64(options)) })
		require.NoError(b.t, err, name)
		b.bound += len(plan.Order)
		for _, r := range refused {
			if b.refused++; b.refused <= 20 {
				b.t.Errorf("%s: %s: %s", o.Minor, name, r)
			}
		}
	}
}

// kube-scheduler binds the pods of a plan in its order, each to its node, when the nodes are up.
func TestKubeSchedulerBindsPlans(t *testing.T) {
	b := startSchedulers(t)
	for seed := uint64(0); b.bound < *placements; seed++ {
		dice := chance.New(0, seed)
		b.binds(fmt.Sprintf("seed %d", seed), planned(seed), nil, &dice)
	}
	t.Logf("%d pods bound, %d refused", b.bound, b.refused)
}

// kube-scheduler binds the plans of the stories of testdata too.
func TestKubeSchedulerBindsScenarios(t *testing.T) {
	b := startSchedulers(t)
	for _, file := range storyFiles(t) {
		_, f := storyOf(t, file)
		for i := range f.Cases {
			in, opts := scenarioInput(f.Cases[i].World)
			dice := chance.New(0, uint64(i))
			b.binds(filepath.Base(file)+", "+f.Cases[i].Title, kubescheduler.WithoutSharedClaims(kubescheduler.Started(in)), opts, &dice)
		}
	}
	t.Logf("%d pods bound, %d refused", b.bound, b.refused)
}

// matcher reads the selectors of devices.
var matcher = devicecel.New()

// planned returns a random problem whose nodes all are up.
func planned(seed uint64) provisioning.Input {
	in := randproblem.Draw(seed, randproblem.Config{Without: randproblem.Buffers | randproblem.Static, With: randproblem.Devices})
	in.Devices.Matcher = matcher
	in.Nodes = slices.DeleteFunc(slices.Clone(in.Nodes), func(n provisioning.Node) bool { return n.Node == nil })
	for i := range in.Nodes {
		in.Nodes[i].NodeClaim = nil
	}
	return kubescheduler.WithoutSharedClaims(in)
}
