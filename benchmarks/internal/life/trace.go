package life

import (
	"cmp"
	"time"

	appsv1 "k8s.io/api/apps/v1"

	v1 "github.com/dovetail-sdk/dovetail/api/v1"
	"github.com/dovetail-sdk/dovetail/cloudprovider"
	"github.com/dovetail-sdk/dovetail/fake"
	"github.com/dovetail-sdk/dovetail/internal/simcluster"
)

// Trace is what happens to a cluster. Its parts are used up by one play.
type Trace struct {
	Name string
	// Length is how long it is measured, after Warmup.
	Warmup, Length time.Duration
	// Tick is the length of a turn; zero is that of the package. Warmup, Sample and Length are
	// multiples of it.
	Tick time.Duration
	// Sample is how often a plan from empty is made.
	Sample time.Duration

	Cloud *fake.Cloud
	// Provider is Cloud as contenders call it.
	Provider  cloudprovider.CloudProvider
	Pools     []*v1.NodePool
	Daemon    *appsv1.DaemonSet
	Workloads []*simcluster.Workload
	// Events have their time from the start of the warm-up.
	Events []simcluster.Event
}

func (t *Trace) tick() time.Duration { return cmp.Or(t.Tick, Tick) }
